//! Plans that are edited while their runs wait.

use std::fs;

use sequester_testkit::model::{Request, Turn};
use serde_json::json;

use super::{Ran, Row, bash, own, plan, wrote};

const A: (&str, &str, &str) = ("a", "files: {create: [a.txt]}", "Write the letter a.");
const B: (&str, &str, &str) =
    ("b", "files: {create: [b.txt]}", "Write the letter b in the right colour.");

/// Writes its letter, as its text has it; `b` asks first.
fn play(request: &Request) -> Turn {
    let (own, prompt) = (own(request), request.prompt());
    if own == "b" && !prompt.contains("Blue") {
        return Turn::call("ask", json!({ "questions": ["Which colour?"] }));
    }
    let letter = if prompt.contains("twice") { "twice" } else { "once" };
    let write = format!("echo {letter} > {own}.txt");
    if request.turn == 0 { bash(&write) } else { Turn::report(wrote(request)) }
}

fn edit(row: &Row, run: &str, tasks: &[(&str, &str, &str)]) -> Ran {
    fs::write(row.bench.path("plan.md"), plan("solo", tasks)).unwrap();
    row.tell(&["resume", run, "--json", "--plan", &row.plan()])
}

/// How many commits of the branch a task has.
fn commits(row: &Row, run: &str, task: &str) -> usize {
    let grep = format!("--grep=Sequester-Task: {task}");
    row.git(&["log", "--format=%H", &grep, &format!("sequester/{run}")]).lines().count()
}

#[test]
fn what_is_taken_out_of_a_plan_and_put_back_is_done() {
    let row = Row::new(&plan("solo", &[A, B]), play);
    let ran = row.run(&[]);
    let run = ran.ended(3, "waiting");
    edit(&row, run, &[B]).ended(3, "waiting");
    assert_eq!(row.file(run, "a.txt"), "once\n", "what it left stands");
    edit(&row, run, &[A, B]).ended(3, "waiting");
    row.answer("Blue");
    row.resume(run).ended(0, "done");
    assert_eq!(row.tried(run, "a"), ["write first a done"]);
    assert_eq!((commits(&row, run, "a"), commits(&row, run, "b")), (1, 1));
    row.is_proved(run);
}

#[test]
fn what_is_put_back_with_another_text_is_done_again_in_the_place_of_what_it_left() {
    let row = Row::new(&plan("solo", &[A, B]), play);
    let ran = row.run(&[]);
    let run = ran.ended(3, "waiting");
    edit(&row, run, &[B]).ended(3, "waiting");
    let other = ("a", A.1, "Write the letter a twice.");
    edit(&row, run, &[other, B]).ended(3, "waiting");
    row.answer("Blue");
    row.resume(run).ended(0, "done");
    assert_eq!(row.tried(run, "a"), ["write first a done", "write first a done"]);
    assert_eq!(row.file(run, "a.txt"), "twice\n");
    assert_eq!((commits(&row, run, "a"), commits(&row, run, "b")), (2, 1));
    row.is_proved(run);
}

#[test]
fn a_task_may_need_one_that_stands_after_it() {
    let tasks = [
        ("c", "needs: [a]\nfiles: {create: [c.txt]}", "Write the letter c."),
        ("a", "files: {create: [a.txt]}", "Write the letter a."),
    ];
    let play = |request: &Request| {
        let own = own(request);
        let both = format!("echo {own} > {own}.txt; echo {own} >> shared.txt");
        if request.turn == 0 { bash(&both) } else { Turn::report(wrote(request)) }
    };
    let row = Row::new(&plan("solo", &tasks), play);
    let ran = row.run(&[]);
    let run = ran.ended(0, "done");
    assert_eq!(row.file(run, "shared.txt"), "a\nc\n");
    assert_eq!(row.tried(run, "c"), ["write first a done"]);
    row.is_proved(run);
}
