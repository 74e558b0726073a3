//! What others do to a plan, a repository and a workspace while a run waits or works.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};

use sequester_testkit::model::{Request, Script, Setup, Turn};
use serde_json::{Value, json};

use super::{A, Ran, Row, bash, bench, deliver, one, own, plan, wrote};
use crate::command::Answer;

/// A run that waits for a colour, with another task done.
pub(super) fn waiting() -> (Row, String) {
    let tasks = [
        ("a", "files: {create: [a.txt]}", "Write in the right colour."),
        ("c", "files: {create: [c.txt]}", "Write the letter c."),
    ];
    let play = |request: &Request| match own(request) {
        "a" if !request.prompt().contains("Blue") => {
            Turn::call("ask", json!({ "questions": ["Which colour?"] }))
        }
        own => deliver(request, &format!("{own}.txt"), own),
    };
    let row = Row::new(&plan("solo", &tasks), play);
    let run = row.run(&[]).ended(3, "waiting").to_owned();
    (row, run)
}

#[test]
fn a_plan_that_was_changed_since_counts_as_it_was_recorded() {
    let (row, run) = waiting();
    row.answer("Blue");
    fs::write(row.bench.path("plan.md"), "## [a] Another\n\nWrite in the WRONG colour.\n").unwrap();
    row.resume(&run).ended(0, "done");
    let prompts = row.prompts("a");
    assert!(prompts[1].contains("the right colour") && !prompts[1].contains("WRONG"));
    assert_eq!(row.file(&run, "a.txt"), "a");
    row.is_proved(&run);
    fs::remove_file(row.bench.path("plan.md")).unwrap();
    row.resume(&run).ended(0, "done");
}

#[test]
fn a_repository_that_moved_on_keeps_its_commits_and_is_told_how_to_take_the_runs() {
    let (row, run) = waiting();
    row.answer("Blue");
    row.bench.write("README.md", "Letters, and more\n");
    row.bench.commit("meanwhile");
    row.resume(&run).ended(0, "done");
    let apply = row.tell(&["apply", &run, "--json"]);
    let error = apply.failed(1, "SQ0309", "commits since the run began");
    assert!(error["hint"].as_str().unwrap().contains("--merge"), "{error}");
    row.json(&["apply", &run, "--merge"]);
    let read = |path: &str| fs::read_to_string(row.bench.repo().join(path)).unwrap();
    assert_eq!((read("README.md").as_str(), read("a.txt").as_str()), ("Letters, and more\n", "a"));
    row.is_proved(&run);
}

#[test]
fn a_branch_that_somebody_moved_is_not_overwritten() {
    let (row, run) = waiting();
    row.answer("Blue");
    let branch = format!("sequester/{run}");
    let tip = row.git(&["rev-parse", &branch]);
    let tree = format!("{branch}^{{tree}}");
    let identity = ["-c", "user.name=Tester", "-c", "user.email=tester@example.com"];
    let foreign = ["commit-tree", &tree, "-p", tip.trim(), "-m", "Mine"];
    let foreign = row.git(&[&identity[..], &foreign].concat());
    row.git(&["update-ref", &format!("refs/heads/{branch}"), foreign.trim()]);
    let refused = row.resume(&run);
    let error = refused.failed(1, "SQ0003", &branch);
    assert!(error["message"].as_str().unwrap().contains("git branch -m"), "{error}");
    assert_eq!(row.git(&["rev-parse", &branch]), foreign, "it stays where it is");
    row.git(&["branch", "-m", &branch, "mine"]);
    row.resume(&run).ended(0, "done");
    assert_eq!((row.file(&run, "a.txt"), row.file(&run, "c.txt")), ("a".into(), "c".into()));
    assert_eq!(row.git(&["rev-parse", "mine"]), foreign);
    assert_eq!(row.prompts("a").len(), 2, "nothing is done twice");
    row.is_proved(&run);
}

#[test]
fn without_git_nothing_starts_and_what_waits_goes_on_once_it_is_there() {
    let (row, run) = waiting();
    row.answer("Blue");
    let empty = row.bench.path("empty");
    fs::create_dir(&empty).unwrap();
    let plan = row.plan();
    let start = ["run", &plan, "--json", "--yes", "--model", A];
    for arguments in [&["resume", &run, "--json"][..], &start] {
        let output = row.command(arguments).env("PATH", &empty).output().unwrap();
        let ran = Ran::of(&Answer::of(&output));
        let told = ran.events.last().unwrap()["error"].clone();
        assert!(matches!(ran.code, Some(1 | 2)), "{ran:?}");
        assert!(told["message"].as_str().unwrap().contains("git"), "{told}");
        assert!(told["hint"].as_str().unwrap().contains("git"), "{told}");
    }
    assert_eq!(row.json(&["status"]).as_array().map(Vec::len), Some(1), "no run was begun");
    row.resume(&run).ended(0, "done");
    row.is_proved(&run);
}

#[test]
fn an_attempt_whose_workspace_somebody_deleted_is_made_once_more() {
    let bench = bench("", &one("solo"));
    let attempts = bench.path("home/.local/state/sequester/workspaces/attempts");
    let deleted = AtomicBool::new(false);
    let play = move |request: &Request| {
        if request.turn == 1 && !deleted.swap(true, Ordering::Relaxed) {
            for entry in fs::read_dir(&attempts).unwrap() {
                let _ = fs::remove_dir_all(entry.unwrap().path());
            }
            return bash("echo more >> a.txt");
        }
        if request.turn < 2 { bash("echo right >> a.txt") } else { Turn::report(wrote(request)) }
    };
    let row = Row::set(bench, Setup::new(Script::new(play)));
    let ran = row.run(&[]);
    let run = ran.ended(0, "done");
    let tried = row.tried(run, "a");
    assert_eq!((tried.len(), tried[1].as_str()), (2, "write repeat a done"), "{tried:?}");
    let shown = row.json(&["show", run, "a"]);
    assert!(shown["attempts"][0]["trouble"].is_string(), "{shown}");
    assert_eq!(row.file(run, "a.txt"), "right\nright\n");
    row.is_proved(run);
}

/// Whose first task and last task are under way when all between is done: nothing of it is on the branch.
fn half_done(row: &Row) -> String {
    let plan = row.plan();
    let mut command = row.command(&["run", &plan, "--json", "--yes", "--jobs", "3"]);
    command.args(["--model", A, "--include-dirty"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let events = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut calling = BTreeSet::new();
    let mut run = String::new();
    for line in events {
        let event: Value = serde_json::from_str(&line.unwrap()).unwrap();
        event["run"].as_str().unwrap().clone_into(&mut run);
        if event["event"] == "calls_started" {
            calling.insert(event["task"].as_str().unwrap().to_owned());
        }
        if calling.contains("first") && calling.contains("last") {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    run
}

#[test]
fn whoever_cleans_up_the_repository_after_a_kill_takes_nothing_from_the_run() {
    let tasks = [
        ("first", "files: {create: [first.txt]}", "Write the first letter."),
        ("a", "files: {create: [a.txt]}", "Write the letter a."),
        ("b", "files: {create: [b.txt]}", "Write the letter b."),
        ("last", "needs: [a, b]\nfiles: {create: [last.txt]}", "Write the last letter."),
    ];
    let play = |request: &Request| match (own(request), request.turn) {
        ("first" | "last", 0) => bash("sleep 60"),
        (own @ ("first" | "last"), 1) => {
            bash(&format!("cat README.md new.txt a.txt b.txt > {own}.txt; true"))
        }
        ("first" | "last", _) => Turn::report(wrote(request)),
        (own, _) => deliver(request, &format!("{own}.txt"), own),
    };
    let row = Row::new(&plan("solo", &tasks), play);
    row.bench.write("new.txt", "not committed\n");
    let run = half_done(&row);
    // Nothing of the person's leads to where the run began any more.
    fs::remove_file(row.bench.repo().join("new.txt")).unwrap();
    row.bench.write("README.md", "Other letters\n");
    row.git(&["commit", "--quiet", "--all", "--amend", "--message", "another"]);
    row.git(&["reflog", "expire", "--expire=now", "--all"]);
    row.git(&["gc", "--quiet", "--prune=now", "--aggressive"]);
    row.resume(&run).ended(0, "done");
    assert_eq!(row.file(&run, "last.txt"), "Letters\nnot committed\nab");
    assert_eq!(row.file(&run, "first.txt"), "Letters\nnot committed\n");
    row.git(&["fsck", "--full", "--strict"]);
    row.is_proved(&run);
    let refs = || row.git(&["for-each-ref", "--format=%(refname)"]);
    let (main, branch) = ("refs/heads/main", format!("refs/heads/sequester/{run}"));
    assert_eq!(refs(), format!("{main}\n{branch}\nrefs/sequester/{run}/held\n"));
    row.json(&["gc", &run]);
    assert_eq!(refs(), format!("{main}\n{branch}\n"), "the branch is the person's");
    row.git(&["gc", "--quiet", "--prune=now"]);
    assert_eq!(row.file(&run, "last.txt"), "Letters\nnot committed\nab");
}
