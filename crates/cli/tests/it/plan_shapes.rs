//! Plans of formats that other tools write, from `plan` to the branch.

use serde_json::Value;

use crate::command::Bench;

const FIRST: &str = "---\nphase: 01-notes\nplan: 01\ndepends_on: []\n---\n<objective>\nNotes.\n</objective>\n<tasks>\n<task type=\"auto\">\n  <name>Task 1: First note</name>\n  <files>one.txt</files>\n  <action>\nCreate `one.txt`:\n\n```\none\n```\n  </action>\n</task>\n</tasks>\n";
const SECOND: &str = "---\nphase: 01-notes\nplan: 02\ndepends_on: [\"01-01\"]\n---\n<tasks>\n<task type=\"checkpoint:decision\" gate=\"blocking\">\n  <decision>Which name?</decision>\n  <options>\n    <option id=\"a\"><name>two</name></option>\n    <option id=\"b\"><name>zwei</name></option>\n  </options>\n</task>\n</tasks>\n";

fn phase() -> Bench {
    let bench = Bench::with(&[("README.md", "# Notes\n")]);
    bench.write(".planning/phases/01-notes/01-01-PLAN.md", FIRST);
    bench.write(".planning/phases/01-notes/01-02-PLAN.md", SECOND);
    bench.commit("the phase");
    bench
}

fn ids(json: &Value) -> Vec<&str> {
    json["tasks"].as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap()).collect()
}

#[test]
fn a_phase_directory_of_gsd_is_one_plan() {
    let bench = phase();
    let json = bench.run(&["plan", ".planning/phases/01-notes", "--json"]).json();
    assert_eq!((json["format"].as_str(), ids(&json)), (Some("gsd"), vec!["01-01.1", "01-02.1"]));
    assert_eq!(json["tasks"][1]["needs"][0], "01-01.1");
    assert_eq!(json["faults"].as_array().unwrap().len(), 0, "{json}");
    // No plan of the phase is shown to a task.
    let context = bench.run(&["context", ".planning/phases/01-notes", "01-01.1"]).out;
    assert!(context.contains("one.txt") && !context.contains("Which name?"), "{context}");
    bench.write(".planning/phases/01-notes/01-01-SUMMARY.md", "Done.\n");
    let json = bench.run(&["plan", ".planning/phases/01-notes", "--json"]).json();
    assert_eq!(json["tasks"][0]["done"], true, "{json}");
    let empty = bench.run(&["plan", ".planning", "--json"]);
    assert_eq!((empty.code, empty.out.contains("it is a directory")), (Some(2), true), "{empty:?}");
}

#[test]
fn a_checkpoint_of_gsd_asks_the_person_and_its_answer_ends_the_run() {
    let bench = phase();
    // The first plan is done, so that only the checkpoint is left.
    bench.write(".planning/phases/01-notes/01-01-SUMMARY.md", "Done.\n");
    let begun = bench.run(&[
        "run",
        ".planning/phases/01-notes",
        "--model",
        "literal",
        "--workflow",
        "solo",
    ]);
    assert_eq!(begun.code, Some(3), "{begun:?}");
    let inbox = bench.run(&["inbox", "--json"]).json();
    let question = &inbox[0];
    assert_eq!(question["question"], "Which name?", "{inbox}");
    assert_eq!(question["options"].as_array().unwrap().len(), 2, "{inbox}");
    let id = question["id"].as_str().unwrap();
    let answered = bench.run(&["answer", id, "zwei"]);
    assert_eq!(answered.code, Some(0), "{answered:?}");
    let resumed = bench.run(&["resume"]);
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    let audit = bench.run(&["audit"]);
    assert_eq!(audit.code, Some(0), "{audit:?}");
}

#[test]
fn a_list_is_confirmed_and_a_whole_text_is_one_task_on_request() {
    let bench = Bench::with(&[("README.md", "# Notes\n")]);
    let text = "# Notes\n\n### Step 1: One\n\nCreate `one.txt`:\n\n```\none\n```\n\n### Step 2: Two\n\nCreate `two.txt`:\n\n```\ntwo\n```\n";
    std::fs::write(bench.path("plan.md"), text).unwrap();
    let json = bench.run(&["plan", "../plan.md", "--json"]).json();
    assert_eq!((json["format"].as_str(), ids(&json)), (Some("list"), vec!["1", "2"]));
    assert_eq!(json["warnings"][0]["code"], "SQ0130", "{json}");
    let single = ["plan", "../plan.md", "--format", "single", "--json"];
    assert_eq!(ids(&bench.run(&single).json()), ["1"]);
    let ran = bench.run(&["run", "../plan.md", "--model", "literal", "--workflow", "solo"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.err.contains("no known format"), "{ran:?}");
}

#[test]
fn the_tag_of_task_master_is_chosen_by_a_flag() {
    let bench = Bench::with(&[("README.md", "# Notes\n")]);
    let json = "{\"master\":{\"tasks\":[{\"id\":1,\"title\":\"A\",\"details\":\"x\"}]},\"next\":{\"tasks\":[{\"id\":7,\"title\":\"B\",\"details\":\"y\"}]}}";
    std::fs::write(bench.path("tasks.json"), json).unwrap();
    let shown = |more: &[&str]| bench.run(&[&["plan", "../tasks.json", "--json"], more].concat());
    assert_eq!(ids(&shown(&[]).json()), ["1"]);
    assert_eq!(ids(&shown(&["--tag", "next"]).json()), ["7"]);
    let none = shown(&["--tag", "other"]);
    assert_eq!((none.code, none.out.contains("`master`, `next`")), (Some(2), true), "{none:?}");
}
