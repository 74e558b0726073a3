//! What passes from task to task, as a person sees it.

use std::fs;

use serde_json::{Value, json};

use crate::command::{Answer, Bench};

/// `b` and `c` side by side on `a`.
const PLAN: &str = "---\nsequester: 1\nworkflow: solo\n---\n# Letters\n\n\
## [a] Write the letter of parcels\n\n```task\nfiles: {create: [a.txt]}\nproduces: [a list of parcels]\n```\n\nCreate `a.txt`:\n\n```\nthe letter a\n```\n\n\
## [b] Write b\n\n```task\nneeds: [a]\nfiles: {create: [b.txt]}\nconsumes: [a list of parcels]\n```\n\nCreate `b.txt`:\n\n```\nthe letter b\n```\n\n\
## [c] Write c\n\n```task\nneeds: [a]\nfiles: {create: [c.txt]}\n```\n\nCreate `c.txt`:\n\n```\nthe letter c\n```\n";

fn bench() -> Bench {
    let bench = Bench::with(&[("README.md", "Letters\n")]);
    fs::write(bench.path("plan.md"), PLAN).unwrap();
    bench
}

fn run(bench: &Bench, more: &[&str]) -> String {
    let plan = bench.path("plan.md").display().to_string();
    let answer = bench.run(&[&["run", &plan, "--model", "literal", "--json"], more].concat());
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let first: Value = serde_json::from_str(answer.out.lines().next().unwrap()).unwrap();
    first["run"].as_str().unwrap().to_owned()
}

fn json_of(answer: &Answer) -> Value {
    assert_eq!(answer.code, Some(0), "{answer:?}");
    serde_json::from_str(&answer.out).unwrap()
}

/// Sources of the records that a task was shown, with what led to them.
fn shown(bench: &Bench, run: &str, task: &str) -> Vec<(String, String)> {
    let context = json_of(&bench.run(&["context", "--run", run, task, "--json"]));
    let rows = context["fragments"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let records = rows.filter(|row| row["kind"] == "record");
    records.map(|row| (text(&row["source"]), text(&row["why"]))).collect()
}

#[test]
fn records_are_listed_shown_recalled_and_proved() {
    let bench = bench();
    let plan = bench.path("plan.md").display().to_string();
    let before = bench.run(&["context", &plan, "b"]);
    assert!(before.out.contains("# From earlier work\n\nNone.\n"), "{before:?}");
    let run = run(&bench, &[]);

    let all = json_of(&bench.run(&["records", "--json"]));
    let ids: Vec<&str> =
        all.as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["a/summary", "a/interface-1", "b/summary", "c/summary"]);
    let first = &all[0];
    assert_eq!(
        (&first["run"], &first["task"], &first["kind"]),
        (&json!(run), &json!("a"), &json!("summary"))
    );
    assert_eq!((&first["paths"], &first["refs"]), (&json!(["a.txt"]), &json!([])));
    assert!(first["uses"].is_u64() && first["text"].is_string(), "{first}");
    let some =
        json_of(&bench.run(&["records", &run, "--task", "a", "--kind", "interface", "--json"]));
    assert_eq!(
        (some.as_array().unwrap().len(), &some[0]["text"]),
        (1, &json!("a list of parcels"))
    );
    let told = bench.run(&["records"]);
    assert!(told.out.contains("a/interface-1") && told.code == Some(0), "{told:?}");
    let task = bench.run(&["show", &run, "a"]);
    assert!(task.out.contains("a/summary (summary"), "{task:?}");
    assert_eq!(
        json_of(&bench.run(&["show", &run, "a", "--json"]))["records"].as_array().unwrap().len(),
        2
    );

    let b = shown(&bench, &run, "b");
    assert_eq!(
        b[0],
        (
            "record a/interface-1 of task a".to_owned(),
            "the task consumes a list of parcels".to_owned()
        )
    );
    assert_eq!(b[1].0, "record a/summary of task a");
    assert_eq!(shown(&bench, &run, "c").len(), 1, "a sibling is not seen");
    assert_eq!(shown(&bench, &run, "a"), []);
    let manifest = bench.run(&["context", "--run", &run, "b", "--manifest"]);
    assert!(manifest.out.contains("record a/summary of task a"), "{manifest:?}");

    // What one task would be given of four records is another question.
    let all = json_of(&bench.run(&["recall", "the letter of parcels", "--top", "9", "--json"]));
    assert!(all[0]["id"].as_str().unwrap().starts_with("a/"), "{all}");
    assert!(all[0]["score"].as_f64().unwrap() > 0.0, "{all}");
    let same = ["recall", "the letter of parcels", "--run", &run, "--top", "9", "--json"];
    assert_eq!(json_of(&bench.run(&same)), all);

    let audit = json_of(&bench.run(&["audit", &run, "--json"]));
    assert_eq!((&audit["ok"], &audit["breaches"]), (&json!(true), &json!([])), "{audit}");
}

#[test]
fn what_is_shared_is_for_the_person_to_say() {
    let bench = bench();
    let none = run(&bench, &["--share", "none"]);
    assert_eq!(shown(&bench, &none, "b"), []);
    let by = run(&bench, &["--relevance", "off"]);
    assert_eq!(shown(&bench, &by, "c")[0].1, "the task needs the one that left it");
    fs::write(bench.repo().join("sequester.toml"), "[records]\nsummaries = false\n").unwrap();
    let off = run(&bench, &[]);
    assert_eq!(shown(&bench, &off, "c"), []);
    assert_eq!(shown(&bench, &off, "b").len(), 1, "what it consumes is no summary");
    let list = json_of(&bench.run(&["records", &off, "--kind", "summary", "--json"]));
    assert_eq!(list.as_array().unwrap().len(), 3, "a person sees all");
}

#[test]
fn what_the_plan_says_is_done_leaves_nothing_and_what_stands_on_it_is_named() {
    let bench = bench();
    let done = |plan: &str, path: &str| {
        let files = format!("files: {{create: [{path}]}}");
        plan.replace(&files, &format!("done: true\n{files}"))
    };
    let plan = done(PLAN, "a.txt");
    fs::write(bench.path("plan.md"), &plan).unwrap();
    let ticked = run(&bench, &[]);
    assert_eq!(shown(&bench, &ticked, "b"), []);
    assert_eq!(json_of(&bench.run(&["audit", &ticked, "--json"]))["ok"], true);
    fs::write(bench.path("plan.md"), done(&plan, "c.txt")).unwrap();
    let path = bench.path("plan.md").display().to_string();
    let again = bench.run(&["run", &path, "--model", "literal", "--redo", "a"]);
    assert_eq!(again.code, Some(0), "{again:?}");
    let told = "`c` stays as it is, done, and builds on `a`; `--redo a,c` does all of them again.";
    assert!(again.err.contains(told), "{again:?}");
}

#[test]
fn what_is_no_kind_and_no_rule_is_refused_with_what_there_is() {
    let bench = bench();
    let kind = bench.run(&["records", "--kind", "poem"]);
    assert!(kind.code == Some(2) && kind.err.contains("summary, note, artifact"), "{kind:?}");
    let relevance = bench.run(&["run", "plan.md", "--relevance", "magic"]);
    assert!(relevance.code == Some(2) && relevance.err.contains("words"), "{relevance:?}");
    for (text, told) in [
        ("relevance = \"magic\"\n", "`relevance` has no such value."),
        ("share = \"siblings\"\n", "`share` has no such value."),
        ("[records]\npoems = true\n", "`poems` is not a key"),
        ("[records]\nnotes = 1\n", "`records.notes` must be `true` or `false`."),
    ] {
        fs::write(bench.repo().join("sequester.toml"), text).unwrap();
        let answer = bench.run(&["plan", &bench.path("plan.md").display().to_string()]);
        assert!(answer.code == Some(2) && answer.err.contains(told), "{text}: {answer:?}");
    }
}
