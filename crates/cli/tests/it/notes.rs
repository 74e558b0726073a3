//! `sequester notes`: what stands in the file, by whom, and what is done about a file that cannot be read.

use std::fs;
use std::path::Path;

use sequester_testkit::model::{Request, Script, Server, Turn};
use serde_json::{Value, json};

use crate::command::{Answer, Bench};
use crate::scripted::{MODELS, program};
use crate::waves::{asked, export, tail};

const FILE: &str = ".sequester/NOTES.md";

#[test]
fn notes_are_listed_by_section_with_who_wrote_them() {
    let bench = Bench::with(&[("README.md", "One\n")]);
    let none = bench.run(&["notes"]);
    assert_eq!((none.code, none.out.as_str()), (Some(0), "Nobody has written notes yet.\n"));
    assert_eq!(bench.run(&["notes", "--json"]).json(), json!([]));
    bench.write(FILE, "# Notes\n\n## Rules\n<!-- pinned -->\n\n- Tabs.\n\n## Empty\n");
    let listed = bench.run(&["notes", "--json"]);
    let rules =
        json!({"section": "Rules", "content": "- Tabs.", "author": "a person", "pinned": true});
    assert_eq!(listed.json(), json!([rules]));
    let told = bench.run(&["notes"]);
    assert_eq!(told.out, "Rules (by a person, pinned)\n  - Tabs.\n");
}

#[test]
fn the_template_is_made_where_there_is_none_and_shared_by_git() {
    let bench = Bench::with(&[("README.md", "One\n")]);
    let made = bench.run(&["notes", "--init"]);
    assert_eq!(made.code, Some(0), "{made:?}");
    assert!(made.out.contains("`.sequester/NOTES.md` was made"), "{made:?}");
    let text = fs::read_to_string(bench.repo().join(FILE)).unwrap();
    assert_eq!(text, "# Notes\n\n## Findings\n\n## Decisions\n\n## TODO\n\n## Resources\n");
    let again = bench.run(&["notes", "--init", "--json"]);
    assert_eq!(again.code, Some(2), "{again:?}");
    assert_eq!(again.json()["error"]["message"], "There are notes already.");
    bench.commit("notes");
    let listed = std::process::Command::new("git")
        .args(["ls-files", ".sequester"])
        .current_dir(bench.repo())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&listed.stdout), ".sequester/NOTES.md\n");
}

#[test]
fn what_is_no_readable_file_is_an_error_that_says_so_and_stays() {
    let bench = Bench::with(&[("README.md", "One\n")]);
    bench.write(FILE, b"\xff\xfe");
    let answer = bench.run(&["notes", "--json"]);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    let message = answer.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("is not UTF-8"), "{message}");
    let path = bench.repo().join(FILE);
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let answer = bench.run(&["notes"]);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    assert!(answer.err.contains("is a folder"), "{answer:?}");
    assert!(path.is_dir());
}

/// `b` builds on `a`; `c` stands beside them.
const PLAN: &str = "---\nsequester: 1\nworkflow: solo\n---\n# Parcels\n\n\
## [a] Count parcels\n\n```task\nfiles: {create: [out/a.txt]}\n```\n\nWrite how parcels are counted.\n\n\
## [b] Print parcels\n\n```task\nneeds: [a]\nfiles: {create: [out/b.txt]}\n```\n\nWrite how counted parcels are printed.\n\n\
## [c] Weigh parcels\n\n```task\nfiles: {create: [out/c.txt]}\n```\n\nWrite how parcels are weighed.\n";

/// `a` leaves a note; while `b` works, a person saves the file.
fn play(request: &Request, file: &Path) -> Turn {
    let prompt = request.prompt();
    let own = prompt.split("**Task ID:** ").nth(1).and_then(|rest| rest.lines().next()).unwrap();
    let content = "- Parcels are counted from seven; canary-a";
    match (own, request.turn) {
        ("a", 0) => Turn::call("update_notes", json!({"section": "Findings", "content": content})),
        ("b", 0) => {
            // What an editor opened before would not have the note.
            let mut text = String::new();
            while !text.contains("canary-a") {
                text = fs::read_to_string(file).unwrap();
            }
            text += "\n## Later\n\ncanary-later\n";
            let beside = file.with_extension("editor");
            fs::write(&beside, text).unwrap();
            fs::rename(beside, file).unwrap();
            write(own)
        }
        ("a", 1) | (_, 0) => write(own),
        _ => Turn::report(json!({
            "task_id": own, "phase": "write", "status": "complete", "decision": "PROCEED",
            "findings": { "files_changed": [], "tests_written": [] },
            "context_summary": format!("Wrote {own}."),
            "issues": [], "questions": [], "artifacts": [], "notes": [],
            "self_review": [{ "item": "It is there", "ok": true }],
        })),
    }
}

fn write(own: &str) -> Turn {
    let (path, content) = (format!("out/{own}.txt"), format!("{own}\n"));
    Turn::call("Write", json!({ "file_path": path, "content": content }))
}

struct Notebook {
    bench: Bench,
    server: Server,
}

impl Notebook {
    fn new() -> Self {
        let bench = Bench::with(&[("README.md", "Parcels\n")]);
        let path = bench.repo().join(FILE);
        let server = Server::start_blocking(Script::new(move |one| play(one, &path))).unwrap();
        Self { bench, server }
    }

    fn ask(&self, arguments: &[&str]) -> Answer {
        Answer::of(&program(&self.bench, &self.server, arguments).output().unwrap())
    }

    /// The run's id, and what its subagents were shown first, by task.
    fn run(&self, plan: &str) -> (String, Vec<(String, String)>) {
        let path = self.bench.path("plan.md");
        fs::write(&path, plan).unwrap();
        let before = asked(&self.server).len();
        let plan = path.to_str().unwrap();
        let answer = self.ask(&["run", plan, "--model", MODELS[0], "--json", "--yes"]);
        assert_eq!(answer.code, Some(0), "{}\n{}", tail(&answer.out), answer.err);
        let first: Value = serde_json::from_str(answer.out.lines().next().unwrap()).unwrap();
        let new = asked(&self.server).into_iter().skip(before);
        let new = new.map(|one| one.request().unwrap()).filter(|one| one.turn == 0);
        let mut shown: Vec<(String, String)> = new
            .map(|one| {
                let prompt = one.prompt().to_owned();
                let own = prompt.split("**Task ID:** ").nth(1).unwrap().lines().next().unwrap();
                (own.to_owned(), prompt)
            })
            .collect();
        shown.sort();
        (first["run"].as_str().unwrap().to_owned(), shown)
    }

    fn text(&self) -> String {
        fs::read_to_string(self.bench.repo().join(FILE)).unwrap()
    }
}

/// Which of the marks stand in each prompt.
fn marks(shown: &[(String, String)]) -> Vec<(&str, Vec<&'static str>)> {
    let all = ["canary-rule", "canary-a", "canary-later"];
    let in_it = |prompt: &str| all.into_iter().filter(|mark| prompt.contains(mark)).collect();
    shown.iter().map(|(task, prompt)| (task.as_str(), in_it(prompt))).collect()
}

#[test]
fn notes_reach_those_that_may_see_them_and_a_persons_save_counts_from_the_next_run() {
    let book = Notebook::new();
    book.bench.write(FILE, "# Notes\n\n## Rules\n\ncanary-rule\n");
    let (run, shown) = book.run(PLAN);
    let (rule, a, later) = ("canary-rule", "canary-a", "canary-later");
    assert_eq!(marks(&shown), [("a", vec![rule]), ("b", vec![rule, a]), ("c", vec![rule])]);
    let text = book.text();
    for mark in [rule, a, later] {
        assert_eq!(text.matches(mark).count(), 1, "{text}");
    }
    let audit = book.ask(&["audit", &run, "--json"]);
    assert_eq!(audit.code, Some(0), "{audit:?}");
    let events = export(&book.bench, &book.server, &run);
    let merged: Vec<&Value> = events.iter().filter(|one| one["event"] == "notes_merged").collect();
    assert_eq!(merged.len(), 1, "{merged:?}");
    assert_eq!((&merged[0]["task"], &merged[0]["sections"]), (&json!("a"), &json!(["Findings"])));
    let listed = book.ask(&["notes", "--json"]).json();
    let authors: Vec<&Value> =
        listed.as_array().unwrap().iter().map(|one| &one["author"]).collect();
    let task = format!("task a of run {run}");
    assert_eq!(authors, [&json!("a person"), &json!(task), &json!("a person")]);
    let shown = book.ask(&["show", &run, "a", "--json"]).json();
    let ids: Vec<&Value> =
        shown["records"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
    assert!(ids.contains(&&json!("a/note/Findings")), "{ids:?}");

    let one = "---\nsequester: 1\nworkflow: solo\n---\n# Parcels\n\n## [x] Count parcels\n\n\
        ```task\nfiles: {create: [out/x.txt]}\n```\n\nWrite how parcels are counted.\n";
    let (_, shown) = book.run(one);
    assert_eq!(marks(&shown), [("x", vec![rule, later])], "what a task left is not pinned");
    book.bench.write(FILE, text.replace("## Findings\n", "## Findings\n<!-- pinned -->\n"));
    let (_, shown) = book.run(one);
    assert_eq!(marks(&shown), [("x", vec![rule, a, later])]);
}

#[test]
fn a_run_goes_on_without_notes_that_cannot_be_read() {
    let book = Notebook::new();
    fs::create_dir_all(book.bench.repo().join(FILE)).unwrap();
    let plan = book.bench.path("plan.md");
    fs::write(&plan, &PLAN[..PLAN.find("## [b]").unwrap()]).unwrap();
    let plan = plan.to_str().unwrap();
    let answer = book.ask(&["run", plan, "--model", MODELS[0], "--json", "--yes"]);
    assert_eq!(answer.code, Some(0), "{}\n{}", tail(&answer.out), answer.err);
    assert!(answer.err.contains("is a folder"), "{answer:?}");
    let merged = answer.out.lines().find(|line| line.contains("notes_merged")).unwrap();
    assert!(merged.contains("is a folder"), "{merged}");
    assert!(book.bench.repo().join(FILE).is_dir());
}
