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
    assert!(parsed.plan.aside[0].why.starts_with("The plan is superseded."));
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

/// A phase directory with a file for each front matter; those without words have no task.
fn phase(plans: &[(&str, &str, &str)]) -> Parsed {
    let plan = |(file_name, front, work): &(&str, &str, &str)| PhasePlan {
        file_name: (*file_name).to_owned(),
        text: if work.is_empty() {
            format!("---\n{front}\n---\nWords.\n")
        } else {
            format!("---\n{front}\n---\n<task type=\"auto\">\n<name>{work}</name>\n</task>\n")
        },
        done: false,
    };
    let parsed = read_text(&join_phase(plans.iter().map(plan).collect()));
    let (_, faults) = crate::graph::TaskGraph::new(&parsed.plan);
    assert_eq!((&parsed.faults, faults), (&vec![], vec![]));
    parsed
}

#[test]
fn a_need_on_a_plan_that_is_superseded_or_has_no_task_is_met() {
    let parsed = phase(&[
        ("04-01-PLAN.md", "phase: 04\nplan: 01\nstatus: superseded", "Old"),
        ("04-02-PLAN.md", "phase: 04\nplan: 02", ""),
        ("04-03-PLAN.md", "phase: 04\nplan: 03\ndepends_on: [\"04-01\", \"04-02\"]", "New"),
    ]);
    assert_eq!(rows(&parsed), ["04-03.1: New <-  []"]);
    let aside: Vec<&str> = parsed.plan.aside.iter().map(|aside| aside.text.as_str()).collect();
    assert_eq!(aside, ["04-01 (04)", "04-02 (04)"]);
}

#[test]
fn a_plan_without_a_number_is_named_by_its_file() {
    let parsed = phase(&[
        ("4-1-PLAN.md", "phase: links", "One"),
        ("04-02-PLAN.md", "depends_on: 04-01", "Two"),
        ("PLAN.md", "phase: 04", "Three"),
    ]);
    assert_eq!(
        rows(&parsed),
        ["04-02.1: Two <- 04-01.1 []", "04-01.1: One <-  []", "PLAN.md.1: Three <-  []"]
    );
}

#[test]
fn lines_may_end_as_on_windows() {
    let parsed = read_text(&PLAN.replace('\n', "\r\n"));
    assert_eq!((&parsed.faults, &parsed.warnings), (&vec![], &vec![]));
    assert_eq!(rows(&parsed), rows(&read_text(PLAN)));
    assert_eq!(parsed.plan.title, "04-02 (04-links)");
}

#[test]
fn a_task_without_a_name_is_named_by_its_tag_or_its_first_words() {
    let parsed = read_text(
        "# 22-01\n\n<must_haves>\n- [ ] It works\n</must_haves>\n\n\
         <task id=\"1\" title=\"Keep it\">\nDo it.\n</task>\n\n\
         <task id=\"2\">\n<title>Use it</title>\n<instructions>x</instructions>\n</task>\n\n\
         <task id=\"3\" title='Show it' depends_on=\"1, 9\">\n### What\nx\n</task>\n\n\
         <task id=\"4\" type=\"execute\">\n<action>\nTell of it.\nThen stop.\n</action>\n</task>\n\n\
         <success_criteria>\n1. One\n2. Two\n</success_criteria>\n",
    );
    assert_eq!((parsed.plan.format, &parsed.faults), (Format::Gsd, &vec![]));
    let wanted =
        ["1: Keep it <-  []", "2: Use it <- 1 []", "3: Show it <- 1 []", "4: Tell of it. <- 3 []"];
    assert_eq!(rows(&parsed), wanted);
    let only = read_text(
        "<task type=\"checkpoint:human-verify\">\n<what-built>A page</what-built>\n</task>\n",
    );
    assert_eq!(rows(&only), ["1: A page <-  []"]);
}

#[test]
fn files_that_the_text_between_tags_mentions_are_hints() {
    let source = "<task type=\"auto\">\n  <name>Task 1: Hello</name>\n  <action>Implement hello() in `greet.py`.\nThen update `Vec<u8>` in `a.rs`.</action>\n  <verify><automated>python greet.py</automated></verify>\n</task>\n";
    let parsed = parse(source.as_bytes(), &Options::default());
    let hints = parsed.plan.tasks[0].hints.iter().map(|hint| hint.0.path.as_str());
    assert_eq!(hints.collect::<Vec<_>>(), ["greet.py", "a.rs"]);
}
