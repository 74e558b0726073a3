//! Changes that do not fit what others did, and what was built on them.

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;

use sequester_testkit::model::{Request, Turn};
use serde_json::json;

use super::{Row, bash, own, plan, results, wrote};

/// Adds its line to a list that it has not declared, writes its letter, reports.
fn add_line(request: &Request) -> Turn {
    let own = own(request);
    let both = format!("echo {own} > {own}.txt; echo {own} >> shared.txt; echo WRITTEN");
    if is_written(request) { Turn::report(wrote(request)) } else { bash(&both) }
}

fn is_written(request: &Request) -> bool {
    results(request).contains("WRITTEN")
}

/// Passes some time.
fn wait(request: &Request) -> Turn {
    bash(&format!("sleep 0.2; echo {}", request.turn))
}

/// A question before anything is done, until somebody says the colour.
fn ask(request: &Request) -> Option<Turn> {
    let asks = !request.prompt().contains("Blue");
    asks.then(|| Turn::call("ask", json!({ "questions": ["Which colour?"] })))
}

const LETTERS: [(&str, &str, &str); 3] = [
    ("a", "files: {create: [a.txt]}", "Write the letter a."),
    ("b", "files: {create: [b.txt]}", "Write the letter b."),
    ("c", "needs: [a]\nfiles: {create: [c.txt]}", "Write the letter c."),
];

#[test]
fn a_change_that_does_not_fit_is_made_again_on_what_is_there_by_then() {
    let row = Row::new(&plan("solo", &LETTERS[..2]), add_line);
    let ran = row.run(&[]);
    let run = ran.ended(0, "done");
    assert_eq!(row.tried(run, "a"), ["write first a done"]);
    assert_eq!(row.tried(run, "b"), ["write first a done", "write rebased a done"]);
    assert_eq!(row.file(run, "shared.txt"), "a\nb\n");
    row.is_proved(run);
}

#[test]
fn a_task_that_waited_is_made_again_on_what_came_onto_the_branch_meanwhile() {
    let play = |request: &Request| {
        let asked = if own(request) == "a" { ask(request) } else { None };
        asked.unwrap_or_else(|| add_line(request))
    };
    for jobs in ["1", "2", "4"] {
        let row = Row::new(&plan("solo", &LETTERS), play);
        let ran = row.run(&["--jobs", jobs]);
        let run = ran.ended(3, "waiting");
        assert_eq!(row.file(run, "shared.txt"), "b\n");
        row.answer("Blue");
        row.tell(&["resume", run, "--json", "--jobs", jobs]).ended(0, "done");
        let wanted = ["write first a waiting", "write answered a done", "write rebased a done"];
        assert_eq!(row.tried(run, "a"), wanted);
        assert_eq!(row.file(run, "shared.txt"), "b\na\nc\n", "what is built on it comes after it");
        row.is_proved(run);
    }
}

/// `a` does not fit `x`, and `c` is built on it.
const BUILT: [(&str, &str, &str); 3] = [
    ("x", "files: {create: [x.txt]}", "Write the letter x."),
    ("a", "files: {create: [a.txt]}", "Write the letter a."),
    ("c", "needs: [a]\nfiles: {create: [c.txt]}", "Write the letter c."),
];

#[test]
fn what_waits_in_line_behind_it_is_made_anew_on_what_fits() {
    for jobs in ["2", "4"] {
        let reported = Arc::new(AtomicUsize::new(0));
        let play = move |request: &Request| {
            if own(request) == "c" && is_written(request) {
                reported.store(1, Ordering::Relaxed);
            }
            let early = own(request) == "x" && reported.load(Ordering::Relaxed) == 0;
            if early { wait(request) } else { add_line(request) }
        };
        let row = Row::new(&plan("solo", &BUILT), play);
        let ran = row.run(&["--jobs", jobs]);
        let run = ran.ended(0, "done");
        for task in ["a", "c"] {
            let wanted = ["write first a done", "write rebased a done"];
            assert_eq!(row.tried(run, task), wanted, "{task}");
        }
        assert_eq!(row.file(run, "shared.txt"), "x\na\nc\n");
        row.is_proved(run);
    }
}

#[test]
fn where_all_earlier_waves_are_shared_it_is_made_again_before_anybody_of_the_next_begins() {
    for (jobs, slow) in [("1", ""), ("4", "x"), ("4", "a")] {
        let play = move |request: &Request| {
            let early = own(request) == slow && request.turn < 3;
            if early { wait(request) } else { add_line(request) }
        };
        let row = Row::new(&plan("solo", &BUILT), play);
        let ran = row.run(&["--jobs", jobs, "--share", "all-earlier"]);
        let run = ran.ended(0, "done");
        assert_eq!(row.tried(run, "a"), ["write first a done", "write rebased a done"]);
        assert_eq!(row.tried(run, "c"), ["write first a done"], "{jobs} jobs, {slow} is slow");
        assert_eq!(row.file(run, "shared.txt"), "x\na\nc\n");
        row.is_proved(run);
    }
}

/// `x` waits until `c` works, and `c` works on the first result of `a` until it is stopped.
fn under_way(told: impl Fn(usize) + Send + Sync + 'static) -> Row {
    let (of_a, of_c) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let play = move |request: &Request| {
        let begins = usize::from(request.turn == 0);
        match own(request) {
            "x" if of_c.load(Ordering::Relaxed) == 0 => wait(request),
            "a" => {
                told(of_a.fetch_add(begins, Ordering::Relaxed) + begins);
                add_line(request)
            }
            "c" if of_c.fetch_add(begins, Ordering::Relaxed) + begins == 1 => wait(request),
            _ => add_line(request),
        }
    };
    Row::new(&plan("solo", &BUILT), play)
}

#[test]
fn what_is_under_way_on_it_is_stopped() {
    let row = under_way(|_| {});
    let ran = row.run(&[]);
    let run = ran.ended(0, "done");
    assert_eq!(row.tried(run, "c"), ["write first a cancelled", "write rebased a done"]);
    assert_eq!(row.file(run, "shared.txt"), "x\na\nc\n");
    row.is_proved(run);
}

#[test]
fn a_controller_that_is_killed_then_goes_on_from_there() {
    let (again, begun) = channel();
    let row = under_way(move |times| {
        if times == 2 {
            let _ = again.send(());
        }
    });
    let plan = row.plan();
    let arguments = ["run", &plan, "--json", "--yes", "--jobs", "2", "--model", super::A];
    let mut command = row.command(&arguments);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    begun.recv().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let run = row.json(&["status"])[0]["run"].as_str().unwrap().to_owned();
    row.resume(&run).ended(0, "done");
    assert_eq!(row.tried(&run, "c"), ["write first a cancelled", "write rebased a done"]);
    assert_eq!(row.file(&run, "shared.txt"), "x\na\nc\n");
    row.is_proved(&run);
}

#[test]
fn who_does_not_fit_a_second_time_is_asked_about() {
    // `b` meets `a` in one file; while it asks, `c` comes onto the branch with another.
    let tasks = [LETTERS[0], LETTERS[1], ("c", "files: {create: [c.txt]}", "Write the letter c.")];
    let play = |request: &Request| {
        let lists = match own(request) {
            "a" => "one.txt",
            "c" => "two.txt",
            _ => "one.txt two.txt",
        };
        let own = own(request);
        let line = format!(
            "cat one.txt; for list in {lists}; do echo {own} >> $list; done; echo {own} > {own}.txt; echo WRITTEN"
        );
        match () {
            () if !is_written(request) => bash(&line),
            // It sees what it was put on: now it wants to know something.
            () if own == "b" && results(request).contains("a\n") => {
                ask(request).unwrap_or_else(|| Turn::report(wrote(request)))
            }
            () => Turn::report(wrote(request)),
        }
    };
    for (answer, code, outcome) in [("Try again", 0, "done"), ("Give up", 1, "failed")] {
        let row = Row::new(&plan("solo", &tasks), play);
        let ran = row.run(&[]);
        let run = ran.ended(3, "waiting");
        assert_eq!(
            (row.file(run, "one.txt"), row.file(run, "two.txt")),
            ("a\n".into(), "c\n".into())
        );
        row.answer("Blue");
        row.resume(run).ended(3, "waiting");
        let question = row.question();
        let text = question["question"].as_str().unwrap();
        assert!(text.contains("`two.txt`") && text.contains("does not fit"), "{question}");
        assert_eq!(question["options"][0]["label"], "Try again");
        assert_eq!(question["task"], "b");
        row.answer(answer);
        row.resume(run).ended(code, outcome);
        let mut wanted =
            vec!["write first a done", "write rebased a waiting", "write answered a done"];
        if code == 0 {
            wanted.push("write answered a done");
            assert_eq!(row.file(run, "one.txt"), "a\nb\n");
            assert_eq!(row.file(run, "two.txt"), "c\nb\n");
        } else {
            assert_eq!(row.state(run, "b"), ("failed".into(), "A person gave it up.".into()));
        }
        assert_eq!(row.tried(run, "b"), wanted);
        row.is_proved(run);
    }
}
