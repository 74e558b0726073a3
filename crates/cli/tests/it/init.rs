//! `sequester init`: a file that says what holds anyway, and can be taken at its word.

use std::fs;

use crate::command::Bench;

const MANIFEST: &str = "[package]\nname = \"one\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";

#[test]
fn the_file_names_the_checks_that_were_found_and_every_default_in_it_can_be_set() {
    let bench = Bench::with(&[("Cargo.toml", MANIFEST), ("src/lib.rs", "\n")]);
    let said = bench.run(&["init"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    for part in ["Wrote `sequester.toml`", "cargo test", "literal", "read-only"] {
        assert!(said.out.contains(part), "{part} is missing in {}", said.out);
    }
    let path = bench.repo().join("sequester.toml");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("\ntests = \"cargo test"), "{text}");
    let read = || bench.run(&["profiles", "--json"]).code;
    assert_eq!(read(), Some(0));
    let set: String = text
        .lines()
        .map(|line| match line.strip_prefix('#') {
            Some(set) if !set.is_empty() && !set.starts_with(' ') => format!("{set}\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    assert!(set.matches("\nturns = ").count() == 1 && set.contains("\nworkflow = "), "{set}");
    fs::write(&path, &set).unwrap();
    let plan = bench.path("plan.md");
    fs::write(&plan, "---\nsequester: 1\n---\n# One\n\n## [a] Look\n\nLook.\n").unwrap();
    let answer = bench.run(&["plan", plan.to_str().unwrap(), "--json"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
}

#[test]
fn a_configuration_that_is_there_stays_as_it_is() {
    let bench = Bench::with(&[("README.md", "One\n"), ("sequester.toml", "model = \"literal\"\n")]);
    let answer = bench.run(&["init", "--json"]);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    assert!(answer.json()["error"]["hint"].as_str().unwrap().contains("move it away"));
    let text = fs::read_to_string(bench.repo().join("sequester.toml")).unwrap();
    assert_eq!(text, "model = \"literal\"\n");
}
