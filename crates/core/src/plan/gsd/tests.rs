use super::super::{Options, Parsed, parse};
use super::*;

const PLAN: &str = "---\nphase: 04-links\nplan: 02\ndepends_on: [\"04-01\"]\nmust_haves:\n  truths:\n    - \"Links end\"\n---\n\n<objective>\nLinks that end.\n</objective>\n\n<context>\n@src/store.rs\nTimes are seconds.\n</context>\n\n<tasks>\n\n<task type=\"auto\">\n  <name>Task 1: Keep the end</name>\n  <files>src/store.rs, `src/link.rs` (new)</files>\n  <action>\n  Write it:\n  ```xml\n  <task type=\"auto\">\n  </task>\n  ```\n  </action>\n  <done>It is kept</done>\n</task>\n\n<task type=\"checkpoint:decision\" gate=\"blocking\">\n  <decision>Which answer?</decision>\n  <options>\n    <option id=\"a\"><name>410</name></option>\n    <option id=\"b\"><name>404</name></option>\n  </options>\n</task>\n\n<task type=\"auto\">\n  <name>Task 3: Refuse it</name>\n  <files>src/api.rs</files>\n  <action>Answer it.</action>\n</task>\n\n</tasks>\n";

fn read_text(source: &str) -> Parsed {
    parse(source.as_bytes(), &Options::default())
}

fn rows(parsed: &Parsed) -> Vec<String> {
    let row = |task: &Task| {
        let needs: Vec<&str> = task.needs.iter().map(|need| need.id.as_str()).collect();
        let files: Vec<&str> = task.files.iter().map(|file| file.path.as_str()).collect();
        let done = if task.done { " done" } else { "" };
        format!("{}: {} <- {} [{}]{done}", task.id, task.title, needs.join(" "), files.join(" "))
    };
    parsed.plan.tasks.iter().map(row).collect()
}

#[test]
fn one_plan_is_its_tasks_in_order_and_a_checkpoint_asks() {
    let parsed = read_text(PLAN);
    assert_eq!((&parsed.faults, &parsed.warnings), (&vec![], &vec![]));
    assert_eq!(
        rows(&parsed),
        [
            "04-02.1: Keep the end <-  [src/store.rs src/link.rs]",
            "04-02.2: Which answer? <- 04-02.1 []",
            "04-02.3: Refuse it <- 04-02.2 [src/api.rs]",
        ]
    );
    let plan = &parsed.plan;
    assert_eq!((plan.format, plan.title.as_str()), (Format::Gsd, "04-02 (04-links)"));
    assert_eq!(plan.goal.as_deref(), Some("Links that end."));
    assert_eq!(plan.tasks[1].text, "Ask: Which answer?\n\n- 410\n- 404\n");
    assert_eq!(plan.tasks[1].settings.model.as_deref(), Some("literal"));
    let first = &plan.tasks[0];
    assert!(first.files_declared && first.text.contains("</task>\n  ```"), "{}", first.text);
    assert_eq!(
        first.parents[0].text,
        "Links that end.\n\nTimes are seconds.\n\nWhen the plan is done:\n- Links end"
    );
}

#[test]
fn a_phase_directory_is_one_plan_in_the_order_of_its_dependencies() {
    let plan = |file_name: &str, front: &str, done: bool| PhasePlan {
        file_name: file_name.to_owned(),
        text: format!(
            "---\nphase: 04-links\n{front}\n---\n<tasks>\n<task type=\"auto\">\n<name>Do</name>\n<action>x</action>\n</task>\n<task type=\"auto\">\n<name>Do more</name>\n</task>\n</tasks>"
        ),
        done,
    };
    let joined = join_phase(vec![
        plan("04-03-PLAN.md", "plan: 03\ndepends_on: [04-01-PLAN.md, \"02\", 03-07]", false),
        plan("04-01-PLAN.md", "plan: 01\ndepends_on: []", true),
        plan("04-02-PLAN.md", "plan: 02\ndepends_on: [\"04-04\"]", false),
        plan("04-04-PLAN.md", "plan: 04", false),
        plan("04-05-PLAN.md", "plan: 05\nstatus: superseded", false),
    ]);
    let parsed = read_text(&joined);
    assert_eq!((&parsed.faults, &parsed.warnings), (&vec![], &vec![]));
    assert_eq!(
        rows(&parsed),
        [
            "04-01.1: Do <-  [] done",
            "04-01.2: Do more <- 04-01.1 [] done",
            "04-02.1: Do <- 04-04.2 []",
            "04-02.2: Do more <- 04-02.1 []",
            "04-03.1: Do <- 04-01.2 04-02.2 []",
            "04-03.2: Do more <- 04-03.1 []",
            "04-04.1: Do <-  []",
            "04-04.2: Do more <- 04-04.1 []",
        ]
    );
    assert_eq!(parsed.plan.aside[0].why, "The plan is superseded.");
}

#[test]
fn a_task_that_is_not_closed_ends_at_the_next_with_a_warning() {
    let source = "<task type=\"auto\">\n<name>One</name>\n<action>x</action>\n\n<task type=\"auto\">\n<name>Two</name>\n</task>\n";
    let parsed = read_text(source);
    assert_eq!(rows(&parsed), ["1: One <-  []", "2: Two <- 1 []"]);
    assert_eq!(parsed.warnings.len(), 1, "{:?}", parsed.warnings);
    let empty = read_text("<task type=\"auto\">\n<name></name>\n</task>\n<task>\n</task>\n");
    assert_eq!(empty.faults[0].code, Code::EmptyTask, "{empty:?}");
}

#[test]
fn front_matter_that_is_no_yaml_is_a_warning() {
    let parsed = read_text("---\nphase: [\n---\n<task>\n<name>One</name>\n</task>\n");
    assert_eq!((rows(&parsed), parsed.warnings.len()), (vec!["1: One <-  []".to_owned()], 1));
}
