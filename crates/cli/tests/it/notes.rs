//! `sequester notes`: what stands in the file, by whom, and what is done about a file that cannot be read.

use std::fs;

use serde_json::json;

use crate::command::Bench;

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
