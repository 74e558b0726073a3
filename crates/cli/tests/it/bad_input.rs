//! Bad input: a clear error naming place and remedy, exit code 2, no panic, nothing written.

use std::fs;

use crate::command::{Answer, Bench, shop};

/// Runs `plan` and `context` on a plan with these bytes; both must end with 2 and name `code`.
fn refuse(bytes: &[u8], code: &str) -> Answer {
    let bench = Bench::with(&[("src/lib.rs", "pub fn a() {}\n")]);
    fs::write(bench.path("plan.md"), bytes).unwrap();
    let before = bench.listing();
    let shown = bench.run(&["plan", "../plan.md"]);
    assert_eq!(shown.code, Some(2), "{shown:?}");
    assert!(shown.out.contains(code), "{code} is missing in {shown:?}");
    assert!(shown.out.contains("plan.md") && shown.out.contains("help"), "{shown:?}");
    let faults = bench.run(&["plan", "../plan.md", "--json"]).json()["faults"].clone();
    assert!(faults.as_array().unwrap().iter().any(|fault| fault["code"] == code), "{faults}");
    let context = bench.run(&["context", "../plan.md", "a"]);
    assert_eq!(context.code, Some(2), "{context:?}");
    assert!(!context.err.contains("panicked") && !shown.err.contains("panicked"));
    assert_eq!(bench.listing(), before, "something was written");
    shown
}

fn native(tasks: &str) -> Vec<u8> {
    format!("---\nsequester: 1\n---\n# P\n\n{tasks}").into_bytes()
}

#[test]
fn an_empty_plan() {
    refuse(b"", "SQ0101");
    refuse(b" \n\t\n", "SQ0101");
}

#[test]
fn a_binary_file_and_invalid_utf8() {
    refuse(b"\x7fELF\x02\x01\x01\0\0\0\0", "SQ0102");
    refuse(b"# Plan\n\n### Task 1: \xff\xfe bad\n\ntext\n", "SQ0102");
}

#[test]
fn a_plan_with_no_tasks() {
    refuse(b"# A letter\n\nDear reader, nothing is to be done.\n", "SQ0104");
}

#[test]
fn a_plan_of_100_megabytes() {
    let mut plan = b"# Plan\n\n".to_vec();
    plan.resize(100 << 20, b'x');
    refuse(&plan, "SQ0103");
}

#[test]
fn a_cycle_a_doubled_id_and_an_unknown_need() {
    let task = |id: &str, needs: &str| {
        format!("## [{id}] T\n\n```task\nneeds: [{needs}]\n```\n\nText.\n\n")
    };
    refuse(&native(&(task("a", "b") + &task("b", "a"))), "SQ0107");
    refuse(&native(&(task("a", "") + &task("a", ""))), "SQ0105");
    refuse(&native(&task("a", "nowhere")), "SQ0106");
}

#[test]
fn a_path_that_leaves_the_repository_is_ignored_with_a_warning() {
    let bench = Bench::with(&[("README.md", "Paths\n")]);
    for path in ["../x.rs", "/etc/passwd", "a/../../x", "~/x"] {
        let task = format!("## [a] T\n\n```task\nfiles: {{modify: [\"{path}\"]}}\n```\n\nText.\n");
        fs::write(bench.path("plan.md"), native(&task)).unwrap();
        let answer = bench.run(&["plan", "../plan.md", "--json"]);
        assert_eq!(answer.code, Some(0), "{answer:?}");
        let shown = answer.json();
        assert_eq!(shown["warnings"][0]["code"], "SQ0111", "{shown}");
        assert_eq!(shown["tasks"][0]["files"].as_array().map(Vec::len), Some(0), "{shown}");
    }
}

/// A plan that cannot be read at all.
fn unreadable(bench: &Bench, plan: &str) {
    for command in [&["plan", plan][..], &["context", plan, "a"]] {
        let answer = bench.run(command);
        assert_eq!(answer.code, Some(2), "{answer:?}");
        assert!(answer.err.contains("SQ0002") && answer.err.contains(plan), "{answer:?}");
        assert!(answer.err.contains("help"), "{answer:?}");
    }
    let error = bench.run(&["plan", plan, "--json"]).json()["error"].clone();
    for key in ["code", "message", "place", "hint"] {
        assert!(error[key].is_string(), "{key} in {error}");
    }
}

#[test]
fn a_folder_and_a_missing_file_instead_of_a_plan() {
    let bench = Bench::with(&[("src/lib.rs", "")]);
    unreadable(&bench, "src");
    unreadable(&bench, "nowhere.md");
}

#[test]
fn a_plan_that_may_not_be_read() {
    let (bench, _) = shop();
    bench.write("closed.md", "# Plan\n");
    bench.forbid("closed.md");
    // Who runs as root may read everything: then there is nothing to refuse.
    if fs::read(bench.repo().join("closed.md")).is_err() {
        unreadable(&bench, "closed.md");
    }
}

#[test]
fn an_unknown_task_agent_or_format() {
    let (bench, plan) = shop();
    let task = bench.run(&["context", &plan, "zzz"]);
    assert_eq!(task.code, Some(2));
    assert!(task.err.contains("no task `zzz`") && task.err.contains("a, b, c"), "{task:?}");
    let agent = bench.run(&["context", &plan, "a", "--agent", "nobody"]);
    assert_eq!(agent.code, Some(2));
    assert!(agent.err.contains("no agent `nobody`") && agent.err.contains("Explore"), "{agent:?}");
    let format = bench.run(&["plan", &plan, "--format", "docx"]);
    assert_eq!(format.code, Some(2));
    assert!(format.err.contains("superpowers"), "{format:?}");
}

#[test]
fn a_repository_that_is_not_there() {
    let (bench, plan) = shop();
    let answer = bench.run(&["plan", &plan, "--repo", "../nowhere"]);
    assert_eq!(answer.code, Some(2));
    assert!(answer.err.contains("--repo") && answer.err.contains("nowhere"), "{answer:?}");
}

#[test]
fn a_task_that_is_larger_than_a_context() {
    let bench = Bench::with(&[("src/lib.rs", "")]);
    let text = "many words of one task that never ends ".repeat(10_000);
    fs::write(bench.path("plan.md"), native(&format!("## [a] T\n\n{text}\n"))).unwrap();
    let answer = bench.run(&["context", "../plan.md", "a"]);
    assert_eq!(answer.code, Some(2));
    assert!(answer.err.contains("SQ0115") && answer.err.contains("Split the task"), "{answer:?}");
}

#[test]
fn arguments_that_cannot_be_understood() {
    let (bench, _) = shop();
    for arguments in [&["plan"][..], &["dance"], &["files", "text", "--top", "many"]] {
        let answer = bench.run(arguments);
        assert_eq!(answer.code, Some(2), "{answer:?}");
        assert!(answer.err.contains("--help"), "{answer:?}");
        let asked = [arguments, &["--json"]].concat();
        let answer = bench.run(&asked);
        assert_eq!(answer.code, Some(2), "{answer:?}");
        assert_eq!(answer.json()["error"]["code"], "SQ0006");
    }
}
