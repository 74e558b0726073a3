//! A person edits a task's change, ticks a box, or lets a run go on with other models.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use sequester_testkit::model::Request;
use serde_json::{Value, json};

use super::by_person::{tasks, waiting, wrong};
use super::{Row, deliver, own, plan};

impl Row {
    fn open(&self, run: &str, task: &str) -> PathBuf {
        PathBuf::from(self.json(&["open", run, task])["directory"].as_str().unwrap())
    }

    fn worktrees(&self) -> usize {
        self.git(&["worktree", "list"]).lines().count()
    }
}

#[test]
fn an_edit_is_opened_handed_back_verified_and_committed_with_the_persons_name() {
    let (row, run) = waiting(&tasks("grep right a.txt"), wrong);
    row.answer("Edit it myself");
    row.resume(&run).ended(3, "waiting");
    let text = row.question()["question"].as_str().unwrap().to_owned();
    assert!(text.contains("`sequester hand-back RUN a` takes the edit."), "{text}");
    // Nothing of the repository runs for a worktree.
    let hooks = row.bench.path(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    let mark = row.bench.path("hooked");
    fs::write(hooks.join("post-checkout"), format!("#!/bin/sh\ntouch {}\n", mark.display()))
        .unwrap();
    fs::set_permissions(hooks.join("post-checkout"), Permissions::from_mode(0o755)).unwrap();
    row.git(&["config", "filter.evil.smudge", &format!("touch {}", mark.display())]);
    fs::create_dir_all(row.bench.path(".git/info")).unwrap();
    fs::write(row.bench.path(".git/info/attributes"), "* filter=evil\n").unwrap();
    let at = row.open(&run, "a");
    assert_eq!(fs::read_to_string(at.join("a.txt")).unwrap(), "wrong");
    assert_eq!((row.worktrees(), mark.exists()), (2, false));
    assert!(!row.git(&["status", "--porcelain"]).contains("open"));
    let second = row.tell(&["open", &run, "a", "--json"]);
    second.failed(2, "SQ0006", "open already");

    fs::write(at.join("a.txt"), "still wrong\n").unwrap();
    let back = row.json(&["hand-back", &run, "a"]);
    assert_eq!((&back["removed"], &back["files"]), (&json!(true), &json!(1)), "{back}");
    assert_eq!((row.worktrees(), at.exists()), (1, false));
    row.resume(&run).ended(3, "waiting");
    let question = row.question();
    assert!(question["question"].as_str().unwrap().contains("handed back"), "{question}");
    assert!(question["options"].to_string().contains("Accept as it is"), "{question}");
    let attempts = row.tried(&run, "a");

    let at = row.open(&run, "a");
    assert_eq!(fs::read_to_string(at.join("a.txt")).unwrap(), "still wrong\n");
    fs::write(at.join("a.txt"), "right\n").unwrap();
    row.json(&["hand-back", &run, "a"]);
    row.resume(&run).ended(0, "done");
    assert_eq!((row.file(&run, "a.txt"), row.file(&run, "b.txt")), ("right\n".into(), "b".into()));
    assert_eq!(row.tried(&run, "a"), attempts, "no subagent worked on it again");
    let message = row.git(&["log", "--format=%B", &format!("sequester/{run}")]);
    assert!(message.contains("Sequester-Handed-Back-By: "), "{message}");
    let audit = row.json(&["audit", &run]);
    assert_eq!(audit["persons"][0]["verified"], json!(true), "{audit}");
    assert_eq!(row.person(&run, "a")["choice"], "handed_back");
    row.is_proved(&run);
    row.tell(&["open", &run, "a", "--json"]).failed(2, "SQ0006", "is done");
}

#[test]
fn what_no_commit_may_hold_stays_out_of_what_is_handed_back() {
    let (row, run) = waiting(&tasks("true"), |request: &Request| match own(request) {
        // It writes nothing: the evidence is against it.
        "a" => deliver(request, "/tmp/a.txt", "nothing"),
        own => deliver(request, &format!("{own}.txt"), own),
    });
    let at = row.open(&run, "a");
    fs::write(at.join("a.txt"), "right\n").unwrap();
    fs::create_dir_all(at.join(".vscode")).unwrap();
    fs::write(at.join(".vscode/tasks.json"), "{}\n").unwrap();
    fs::write(at.join(".env"), "A=1\n").unwrap();
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    fs::write(at.join("key.py"), format!("key = \"{token}\"\n")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", at.join("link")).unwrap();
    let back = row.json(&["hand-back", &run, "a"]);
    let left_out = back["left_out"].to_string();
    for path in [".vscode/tasks.json", ".env", "key.py", "link"] {
        assert!(left_out.contains(path), "{path} in {left_out}");
    }
    assert_eq!((&back["removed"], &back["files"]), (&json!(false), &json!(1)), "{back}");
    assert!(at.join("key.py").exists(), "what was left out is nowhere else");
    row.resume(&run).ended(0, "done");
    let files = row.git(&["ls-tree", "-r", "--name-only", &format!("sequester/{run}")]);
    for path in [".vscode", ".env", "key.py", "link"] {
        assert!(!files.contains(path), "{path} in {files}");
    }
    row.is_proved(&run);
}

#[test]
fn a_ticked_box_means_done_and_a_hand_back_is_offered() {
    let (row, run) = waiting(&tasks("grep right a.txt"), wrong);
    let edited = tasks("grep right a.txt")
        .replace("files: {create: [a.txt]}", "done: true\nfiles: {create: [a.txt]}");
    fs::write(row.bench.path("plan.md"), edited).unwrap();
    let before = row.tried(&run, "a").len();
    let told = row.text(&["resume", &run, "--plan", &row.plan()]);
    assert!(told.contains("`a` is ticked in the plan, so it counts as done."), "{told}");
    assert!(told.contains("Its parked change is not taken."), "{told}");
    assert!(told.contains(&format!("sequester hand-back {run} a")), "{told}");
    assert_eq!(row.tried(&run, "a").len(), before);
    assert_eq!((row.state(&run, "a").0, row.state(&run, "b").0), ("skipped".into(), "done".into()));
    let files = row.git(&["ls-tree", "--name-only", &format!("sequester/{run}")]);
    assert!(files.contains("b.txt") && !files.contains("a.txt"), "{files}");
    row.is_proved(&run);
    let at = row.open(&run, "a");
    fs::write(at.join("a.txt"), "right, by hand\n").unwrap();
    row.json(&["hand-back", &run, "a"]);
    row.resume(&run).ended(0, "done");
    assert_eq!(row.file(&run, "a.txt"), "right, by hand\n");
    row.is_proved(&run);
}

/// Three of which two fail by themselves, unless the strong model is asked.
fn failing() -> Row {
    let tasks = [
        ("a", "files: {create: [a.txt]}", "Write a."),
        ("b", "files: {create: [b.txt]}", "Write b."),
        ("c", "files: {create: [c.txt]}", "Write c."),
    ];
    Row::new(&plan("solo", &tasks), |request: &Request| match own(request) {
        "c" => deliver(request, "c.txt", "c"),
        _ if request.model.contains("gpt") => {
            super::stopped(super::wrote(request), "complete", "Too hard.", "")
        }
        own => deliver(request, &format!("{own}.txt"), own),
    })
}

#[test]
fn resume_tries_all_that_failed_with_another_model() {
    let row = failing();
    let run = row.run(&[]).ended(1, "failed").to_owned();
    let before = (row.tried(&run, "a").len(), row.tried(&run, "c").len());
    let again = row.tell(&["resume", &run, "--retry", "failed", "--json"]);
    again.ended(1, "failed");
    assert_eq!((row.tried(&run, "a").len(), row.tried(&run, "c").len()), (before.0 + 1, before.1));
    let model =
        ["resume", &run, "--retry", "failed", "--model", "anthropic/claude-sonnet-5", "--json"];
    row.tell(&model).ended(0, "done");
    assert!(row.tried(&run, "a").last().unwrap().ends_with("b done"), "{:?}", row.tried(&run, "a"));
    assert_eq!((row.file(&run, "a.txt"), row.file(&run, "b.txt")), ("a".into(), "b".into()));
    row.is_proved(&run);
}

#[test]
fn retry_all_takes_what_waits_and_what_was_skipped_too() {
    let (row, run) = waiting(&tasks("grep right a.txt"), wrong);
    row.answer("Skip this task and what needs it");
    row.resume(&run).ended(0, "done");
    let none = row.text(&["resume", &run, "--retry", "failed"]);
    assert!(none.contains("No task failed"), "{none}");
    let before = row.tried(&run, "a").len();
    row.tell(&["resume", &run, "--retry", "all", "--json"]).ended(3, "waiting");
    assert!(row.tried(&run, "a").len() > before);
    let before = row.tried(&run, "a").len();
    row.tell(&["resume", &run, "--retry", "all", "--json"]).ended(3, "waiting");
    assert!(row.tried(&run, "a").len() > before, "it waited after a failure");
    row.is_proved(&run);
}

#[test]
fn resume_takes_a_profile_for_those_who_write() {
    let (row, run) = waiting(&tasks("grep right a.txt"), wrong);
    let unknown = row.tell(&["resume", &run, "--profile", "nobody", "--json"]);
    assert_eq!(unknown.code, Some(2), "{unknown:?}");
    row.tell(&["resume", &run, "--retry", "a", "--profile", "full-access", "--json"])
        .ended(3, "waiting");
    let shown = row.json(&["show", &run, "a"]);
    let profiles: Vec<&Value> =
        shown["attempts"].as_array().unwrap().iter().map(|one| &one["profile"]).collect();
    assert_eq!((profiles[0], profiles.last().unwrap()), (&json!("writer"), &&json!("full-access")));
}
