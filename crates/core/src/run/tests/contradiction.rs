//! What a plan says that cannot all be so.

use std::collections::BTreeSet;

use super::stage::{Brought, Stage, started};
use crate::graph::TaskGraph;
use crate::id::TaskId;
use crate::plan::{self, Action, Options, Plan};
use crate::protected::Grants;
use crate::report::Phase;
use crate::run::*;

/// A native plan of tasks, each with its id and its block.
fn plan(front: &str, tasks: &[(&str, &str)]) -> Plan {
    let task = |(id, block): &(&str, &str)| {
        format!("\n## [{id}] Do {id}\n\n```task\n{block}\n```\n\nDo it.\n")
    };
    let tasks: String = tasks.iter().map(task).collect();
    let text = format!("---\nsequester: 1\n{front}---\n# Plan\n{tasks}");
    let parsed = plan::parse(text.as_bytes(), &Options::default());
    assert_eq!(parsed.faults, []);
    parsed.plan
}

fn find(plan: &Plan, known: &[&str], without: &[&str]) -> Vec<Doubt> {
    let (graph, faults) = TaskGraph::new(plan);
    assert_eq!(faults, []);
    let left_out: BTreeSet<TaskId> = without.iter().map(|id| TaskId::from(*id)).collect();
    contradictions(&Ground {
        plan,
        graph: &graph,
        takes_part: &|id| !left_out.contains(id) && plan.task(id).is_some_and(|task| !task.done),
        grants: Grants::none(),
        is_known: &|word| known.contains(&word),
    })
}

/// Whom each is about, what is asked and the labels of the answers.
fn told(doubts: &[Doubt]) -> Vec<String> {
    let line = |doubt: &Doubt| {
        let labels = doubt.question.options.iter().map(|one| one.label.as_str());
        let labels = labels.collect::<Vec<_>>().join(" | ");
        format!("{}: {} [{labels}]", doubt.contradiction.task, doubt.question.question)
    };
    doubts.iter().map(line).collect()
}

#[test]
fn a_file_that_is_created_twice_or_used_when_it_is_gone_is_asked_about() {
    let tasks = [
        ("a", "files: {create: [x.rs], delete: [old.rs]}"),
        ("b", "needs: [a]\nfiles: {create: [x.rs], read: [old.rs]}"),
        ("c", "needs: [b]\nfiles: {modify: [x.rs], create: [old.rs]}"),
        ("d", "needs: [c]\nfiles: {modify: [old.rs]}"),
    ];
    let wanted = [
        "b: Task `a` deletes `old.rs`, and task `b`, which comes after it, is to read it. [Without it | As it is | Leave it out]",
        "b: Task `a` creates `x.rs`, and task `b`, which comes after it, is to create it too. [Change it | Leave it out]",
    ];
    let plan = plan("", &tasks);
    assert_eq!(told(&find(&plan, &[], &[])), wanted);
    assert_eq!(told(&find(&plan, &[], &["a"])), Vec::<String>::new(), "`a` is no part of the run");
}

#[test]
fn interfaces_that_are_not_there_or_twice_are_asked_about() {
    let tasks = [
        ("a", "produces: [\"`Store::append(x)`\", \"prose\"]"),
        ("b", "produces: [\"`Store::append`\", \"`Cart::append`\"]"),
        ("c", "consumes: [\"`Cart::append` from `b`\", \"`read`\", \"`lost()`\"]"),
        ("d", "needs: [a]\nproduces: [\"`Store::append`\"]\nconsumes: [\"`append`\"]"),
    ];
    let wanted = [
        "b: Tasks `a` and `b` both produce `Store::append`, and neither needs the other. [One after the other | As it is | Leave it out]",
        "c: Task `c` consumes `Cart::append`, which only task `b` produces, and it does not need that task. [Wait for it | As it is | Leave it out]",
        "d: Tasks `b` and `d` both produce `Store::append`, and neither needs the other. [One after the other | As it is | Leave it out]",
    ];
    assert_eq!(told(&find(&plan("", &tasks), &["read"], &[])), wanted);
}

#[test]
fn files_that_a_task_may_not_change_are_asked_about() {
    let front = "constraints: [\"Do not change `src/api.rs`.\"]\n";
    let tasks = [
        ("a", "files: {modify: [src/api.rs], create: [.git/hooks/x, .github/workflows/ci.yml]}"),
        ("b", "files: {modify: [src/b.rs], read: [src/api.rs]}"),
    ];
    let wanted = [
        "a: Task `a` is to modify `src/api.rs`, and a constraint says: Do not change `src/api.rs`. [Keep the constraint | Change the file | Leave it out]",
        "a: Task `a` is to create `.git/hooks/x`, which it may not: `.git` is protected (git runs its hooks and what its configuration names). [Without it | As it is | Leave it out]",
    ];
    let mut found = told(&find(&plan(front, &tasks), &[], &[]));
    found.sort_by_key(|line| !line.contains("constraint"));
    assert_eq!(found, wanted);
}

#[test]
fn a_task_that_may_write_nothing_of_what_it_is_to_write_is_left_out_by_default() {
    let tasks = [("a", "files: {create: [.git/hooks/x], read: [a.rs]}")];
    let doubts = find(&plan("", &tasks), &[], &[]);
    let wanted = "a: Task `a` is to create `.git/hooks/x`, which it may not: `.git` is protected (git runs its hooks and what its configuration names). [Leave it out | Without it | As it is]";
    assert_eq!(told(&doubts), [wanted]);
    assert_eq!(doubts[0].question.default.as_deref(), Some("Leave it out"));
    let front = "constraints: [\"Do not change `src/api.rs`.\"]\n";
    for files in ["create: [.git/hooks/x, .env]", "create: [.env], modify: [src/api.rs]"] {
        let doubts = find(&plan(front, &[("a", &format!("files: {{{files}}}"))]), &[], &[]);
        let is_protected = |doubt: &&Doubt| doubt.question.question.contains("is protected");
        assert_eq!(doubts.len(), 2, "{doubts:#?}");
        for doubt in doubts.iter().filter(is_protected) {
            assert_eq!(doubt.question.default.as_deref(), Some("Leave it out"), "{files}");
        }
    }
}

#[test]
fn no_default_writes_what_is_protected() {
    let tasks = [
        ("a", "files: {create: [.git/hooks/x, a.rs, .env]}"),
        ("b", "needs: [a]\nfiles: {create: [.git/hooks/x, a.rs, .env]}"),
    ];
    let doubts = find(&plan("", &tasks), &[], &[]);
    let defaults: Vec<_> = doubts
        .iter()
        .map(|doubt| {
            let label = doubt.question.default.as_deref().unwrap();
            (doubt.contradiction.task.as_str(), doubt.contradiction.remedies[label].clone())
        })
        .collect();
    let without = |path: &str| Remedy::Without(path.to_owned());
    let wanted = [
        ("a", without(".git/hooks/x")),
        ("a", without(".env")),
        ("b", Remedy::Change("a.rs".to_owned())),
        ("b", without(".git/hooks/x")),
        ("b", without(".env")),
    ];
    assert_eq!(defaults, wanted);
}

#[test]
fn a_plan_that_does_not_contradict_itself_asks_nothing() {
    let tasks = [
        ("a", "files: {create: [a.rs]}\nproduces: [\"`add`\"]"),
        (
            "b",
            "needs: [a]\nfiles: {modify: [a.rs], create: [b.rs]}\nconsumes: [\"`add`\"]\nproduces: [\"`add`\"]",
        ),
        ("c", "needs: [b]\nfiles: {delete: [b.rs]}\nconsumes: [\"words\"]"),
    ];
    assert_eq!(told(&find(&plan("", &tasks), &[], &[])), Vec::<String>::new());
}

/// A run of a plan whose contradictions are asked about with its first event.
fn stage(plan: &Plan, unattended: bool) -> Stage {
    let graph = TaskGraph::new(plan).0;
    let specs = plan.tasks.iter().map(|task| TaskSpec::of(task, &graph)).collect();
    let mut all = started(specs, &["m"]);
    all.settings.unattended = unattended;
    let mut stage = Stage::new(all);
    for (number, doubt) in (1..).zip(find(plan, &[], &[])) {
        let Entry { scope, event } = doubt.ask(&stage.state.run, number);
        stage.tell(scope, event);
    }
    stage.attempt = Box::new(|_, order| match order.phase {
        Phase::Review => Brought::judged(true),
        _ => Brought::done(),
    });
    stage
}

#[test]
fn nothing_starts_before_all_of_it_is_decided() {
    let tasks = [
        ("a", "files: {create: [x.rs]}"),
        ("b", "needs: [a]\nfiles: {create: [x.rs]}\nconsumes: [\"`lost`\"]"),
        ("c", "files: {create: [c.rs]}"),
        ("z", "done: true\nproduces: [\"`lost`\"]"),
    ];
    let mut stage = stage(&plan("", &tasks), false);
    assert_eq!(stage.play(), Outcome::Waiting);
    stage.answer("r1-1", "Change it");
    stage.resume(&[]);
    assert_eq!(stage.play(), Outcome::Waiting, "one of two is decided");
    assert!(stage.state.tasks.iter().all(|task| task.attempts == 0));
    stage.answer("r1-2", "It comes from the vendor.");
    stage.resume(&[]);
    assert_eq!(stage.play(), Outcome::Done);
    let b = stage.state.task(&"b".into()).unwrap();
    assert_eq!(b.spec.files[0].action, Action::Change);
    let told: Vec<(&str, &str)> =
        b.clarifications.iter().map(|one| (one.question.as_str(), one.answer.as_str())).collect();
    assert_eq!(told.len(), 2);
    assert!(
        told.iter().all(|(question, _)| !question.contains("`a`")),
        "nothing of others: {told:?}"
    );
    assert_eq!(told[1].1, "It comes from the vendor.");
}

#[test]
fn each_option_does_what_it_says() {
    let tasks = [
        ("a", "files: {create: [a.rs]}\nproduces: [\"`total`\"]"),
        ("b", "files: {create: [b.rs, .git/x]}\nconsumes: [\"`total`\"]"),
        ("c", "files: {create: [c.rs]}\nconsumes: [\"`lost`\"]"),
        ("z", "done: true\nproduces: [\"`lost`\"]"),
    ];
    let plan = plan("", &tasks);
    let mut stage = stage(&plan, false);
    let ids: Vec<(String, String)> = stage
        .state
        .inbox()
        .map(|(id, open)| (id.to_string(), open.asked.options[0].label.clone()))
        .collect();
    for (id, first) in ids {
        let answer = if first == "As it is" { "Leave it out" } else { &first };
        stage.answer(&id, answer);
    }
    assert_eq!(stage.play(), Outcome::Done);
    let b = stage.state.task(&"b".into()).unwrap();
    assert_eq!(b.base.as_ref().unwrap().as_str(), "base+a@1", "it waited");
    assert_eq!(b.spec.files.len(), 1, "without the file");
    assert_eq!(stage.ended("c"), Some(Ended::Skipped));
    // What the plan says of them is not forgotten.
    assert_eq!(b.planned().files.len(), 2);
    let graph = TaskGraph::new(&self::plan("", &tasks)).0;
    let tasks =
        self::plan("", &tasks).tasks.iter().map(|task| TaskSpec::of(task, &graph)).collect();
    stage.edit(tasks);
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.ended("c"), Some(Ended::Done), "whoever edits the plan is asked anew");
}

#[test]
fn two_tasks_are_never_sent_behind_each_other() {
    let tasks = [
        ("a", "produces: [\"`one`\"]\nconsumes: [\"`two`\"]"),
        ("b", "produces: [\"`two`\"]\nconsumes: [\"`one`\"]"),
    ];
    let mut stage = stage(&plan("", &tasks), false);
    stage.answer("r1-1", "Wait for it");
    stage.answer("r1-2", "Wait for it");
    assert_eq!(stage.play(), Outcome::Done);
    assert_eq!(stage.committed(), ["b", "a"]);
}

#[test]
fn where_nobody_is_there_the_first_option_is_taken() {
    let tasks = [("a", "files: {create: [x.rs]}"), ("b", "needs: [a]\nfiles: {create: [x.rs]}")];
    let mut stage = stage(&plan("", &tasks), true);
    assert_eq!(stage.play(), Outcome::Done);
    let answered = stage.log.iter().find_map(|one| match &one.entry.event {
        Event::QuestionAnswered { answer, by, .. } => Some((answer.as_str(), by.as_str())),
        _ => None,
    });
    assert_eq!(answered, Some(("Change it", "default, unattended")));
}

#[test]
fn a_cancelled_run_waits_for_no_decision() {
    let tasks = [("a", "consumes: [\"`lost`\"]"), ("z", "done: true\nproduces: [\"`lost`\"]")];
    let mut stage = stage(&plan("", &tasks), false);
    stage.tell(Scope::default(), Event::RunCancelled { by: "somebody".to_owned() });
    assert_eq!(stage.play(), Outcome::Cancelled);
}
