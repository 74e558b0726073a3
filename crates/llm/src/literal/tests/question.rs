//! Questions that a task spells out.

use super::*;

#[test]
fn questions_come_first_and_only_until_they_are_answered() {
    let task = "Ask: Which store?\n\n- sqlite\n- files\n\nDefault: sqlite\n\nRun `make`.\n";
    let asked = Workspace::default().play(task, "");
    assert_eq!(asked.name, "ask");
    assert_eq!(asked.arguments["questions"][0]["question"], "Which store?");
    assert_eq!(asked.arguments["questions"][0]["default"], "sqlite");
    assert_eq!(asked.arguments["questions"][0]["options"][1]["label"], "files");
    let answered = "# Task\n\n# Clarifications\n\n- Which store?\n  files\n\n# Files\n";
    let report = Workspace::default().play(task, answered);
    assert_eq!((report.name.as_str(), &report.arguments["status"]), ("report", &json!("complete")));
    let below = task.replace("Default: sqlite\n", "Default: sqlite\nAnswer: files\n");
    let said = |answer: &str| format!("{task}\n# Constraints\n\n- {answer}\n\n# Interfaces\n");
    for (task, prompt) in [
        (below.as_str(), String::new()),
        (task, said("Which store?: files")),
        (task, said("Which store? files")),
    ] {
        let report = Workspace::default().play(task, &prompt);
        let summary = report.arguments["context_summary"].as_str().unwrap_or_default();
        assert!(summary.contains("`Which store?` is answered: files."), "{report:?}");
        assert_eq!(report.arguments["issues"], json!([]));
    }
    for other in ["Which store?", "Which store?:", "Which store?files", "files"] {
        assert_eq!(Workspace::default().play(task, &said(other)).name, "ask", "{other}");
    }
}
