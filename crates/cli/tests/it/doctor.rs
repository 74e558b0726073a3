//! `sequester doctor`: what this machine gives, each thing really tried.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};

use crate::command::{Bench, shop};

const ALL: [&str; 9] = [
    "no_write_outlives",
    "reads_confined",
    "secrets_hidden",
    "clean_environment",
    "descriptors_closed",
    "tree_kill",
    "no_new_privileges",
    "limits",
    "memory_limit",
];

/// Beside those of all.
pub(crate) const OWN: [(&str, &[&str]); 5] = [
    ("read-only", &["no_network"]),
    ("research", &["named_hosts"]),
    ("validate", &["no_network", "copy_on_write", "disk_limit"]),
    ("writer", &["no_network", "private_workspace", "protected_names", "disk_limit"]),
    ("full-access", &["named_hosts", "private_workspace", "protected_names", "disk_limit"]),
];

/// Every guarantee of every profile.
pub(crate) fn needed() -> BTreeMap<&'static str, BTreeMap<&'static str, bool>> {
    let of = |own: &[&'static str]| ALL.iter().chain(own).map(|name| (*name, true)).collect();
    OWN.into_iter().map(|(profile, own)| (profile, of(own))).collect()
}

#[test]
fn every_guarantee_of_every_profile_is_tried_and_kept_here() {
    let bench = Bench::plain();
    let answer = bench.run(&["doctor", "--json"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert_eq!(answer.json()["guarantees"], json!(needed()), "{answer:?}");
    assert_eq!(left(&bench), Vec::<String>::new());
}

/// What lies in the folder where jails keep what they need.
fn left(bench: &Bench) -> Vec<String> {
    let state = bench.path("home/.local/state/sequester/jails");
    let entries = fs::read_dir(state).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn the_json_has_its_shape() {
    let told = Bench::plain().run(&["doctor", "--json"]).json();
    let kind = |key: &str| match &told[key] {
        Value::Array(_) => "array",
        Value::Object(_) => "object",
        Value::String(_) => "text",
        _ => "",
    };
    for (key, expected) in [
        ("models", "array"),
        ("guarantees", "object"),
        ("jails", "object"),
        ("executors", "object"),
        ("limits", "object"),
        ("engine", "text"),
        ("problems", "array"),
        ("facts", "array"),
        ("machine", "object"),
        ("checks", "array"),
    ] {
        assert_eq!(kind(key), expected, "{key} of {told}");
    }
    assert_eq!(told["limits"]["context"], 60_000);
    assert_eq!(told["executors"]["native"]["reads_confined"], true, "{told}");
    assert!(["kernel", "watched"].contains(&told["limits"]["kept_by"]["memory"].as_str().unwrap()));
}

#[test]
fn in_a_pipe_there_are_words_and_no_colours() {
    let answer = Bench::plain().run(&["doctor"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    for part in [
        "kernel",
        "all 13 guarantees are kept",
        "copy_on_write",
        "EXDEV",
        "literal",
        "There is no key",
    ] {
        assert!(answer.out.contains(part), "{part} is missing in {answer:?}");
    }
    assert!(!answer.out.contains('\u{1b}'), "{answer:?}");
}

#[test]
fn keys_are_told_by_name_and_never_by_value() {
    let bench = Bench::plain();
    let environment = [("ANTHROPIC_API_KEY", "made-up-value"), ("GROQ_API_KEY", "made-up-value")];
    for arguments in [&["doctor"][..], &["doctor", "--json"]] {
        let answer = bench.run_in(&bench.repo(), arguments, &environment);
        assert_eq!(answer.code, Some(0), "{answer:?}");
        for part in ["ANTHROPIC_API_KEY", "GROQ_API_KEY", "anthropic/claude"] {
            assert!(answer.out.contains(part), "{part} is missing in {answer:?}");
        }
        assert!(!format!("{answer:?}").contains("made-up-value"), "{answer:?}");
    }
}

#[test]
fn the_projects_checks_run_in_the_jail_and_leave_nothing() {
    let (bench, _) = shop();
    let text = "[checks]\ntests = [\"grep -q Shop README.md && echo x > made\", \
        \"echo over; cat ../home/secret\"]\n";
    bench.write("sequester.toml", text);
    fs::write(bench.path("home/secret"), "canary\n").unwrap();
    let before = bench.listing();
    let answer = bench.run(&["doctor", "--json"]);
    let told = answer.json();
    let checks = told["checks"].as_array().unwrap();
    let tests: Vec<_> = checks.iter().filter(|check| check["name"] == "tests").collect();
    assert_eq!((answer.code, &tests[0]["outcome"]), (Some(0), &"passed".into()));
    assert_eq!((tests.len(), &tests[1]["outcome"]), (2, &"failed".into()), "{told}");
    // The kinds that nobody set are those that the manifest makes certain.
    assert_eq!((&checks[0]["name"], &checks[0]["from"]), (&"types".into(), &"Cargo.toml".into()));
    let printed = tests[1]["output"].as_str().unwrap();
    assert!(printed.starts_with("over\n") && !printed.contains("canary"), "{printed}");
    let problem = told["problems"].to_string();
    assert!(problem.contains("The check `tests` does not pass"), "{problem}");
    assert_eq!(bench.listing(), before);
    let without = bench.run(&["doctor", "--no-checks", "--json"]).json();
    assert_eq!(without["checks"], json!([]));
}

#[test]
fn what_a_person_may_paste_holds_nothing_of_the_repository() {
    let bench = Bench::plain();
    bench.write("sequester.toml", "checks.tests = \"false'; touch /tmp/canary; '\"\n");
    let told = bench.run(&["doctor", "--json"]).json();
    let problems = told["problems"].as_array().unwrap();
    let check = problems.iter().find(|one| one["message"].to_string().contains("check `tests`"));
    let check = check.unwrap_or_else(|| panic!("{told}"));
    assert!(check["hint"].to_string().contains("sh -c COMMAND"), "{check}");
    assert!(!check.to_string().contains("canary"), "{check}");
}

#[test]
fn only_so_many_checks_are_tried() {
    let bench = Bench::plain();
    let many = vec!["\"true\""; 17].join(", ");
    bench.write("sequester.toml", format!("checks.tests = [{many}]\n"));
    let told = bench.run(&["doctor", "--json"]).json();
    assert_eq!(told["checks"].as_array().map(Vec::len), Some(16), "{told}");
    assert!(told["problems"].to_string().contains("There are 17 checks"), "{told}");
}

#[test]
fn where_no_check_is_configured_the_manifest_names_one() {
    let bench = Bench::plain();
    let none = bench.run(&["doctor"]).out;
    assert!(none.contains("The project has no checks"), "{none}");
    bench.write("Makefile", "all:\n\ttrue\ntest:\n\t@echo made by make\n");
    let told = bench.run(&["doctor", "--json"]).json();
    assert_eq!(told["checks"][0]["command"], "make test", "{told}");
    assert_eq!(told["checks"][0]["outcome"], "passed", "{told}");
    bench.write("Makefile", "test:\n\t@no-such-program\n");
    let shown = bench.run(&["doctor"]).out;
    assert!(shown.contains("FAILS in `validate`") && shown.contains("no-such-program"), "{shown}");
}

#[test]
fn a_configuration_that_cannot_be_used_is_a_problem_and_no_end() {
    let bench = Bench::plain();
    bench.write("sequester.toml", "hosts = [\"crates.io\"]\n");
    let answer = bench.run(&["doctor"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(answer.out.contains("sequester.toml:1:1"), "{answer:?}");
}

#[test]
fn where_nothing_can_be_tried_it_says_so() {
    let bench = Bench::plain();
    // Nothing can be made below a file, whoever asks.
    fs::write(bench.path("home/.local"), "").unwrap();
    let answer = bench.run(&["doctor"]);
    assert_eq!(answer.code, Some(1), "{answer:?}");
    assert!(answer.err.contains("The folder that jails are kept in"), "{answer:?}");
}

#[test]
fn files_of_agents_profiles_and_workflows_that_are_faulty_are_problems() {
    let bench = Bench::with(&[
        (".sequester/profiles/own.yaml", "name: own\nextends: nobody\n"),
        (".sequester/agents/own.md", "---\nname: own\nprofile: nothing\n---\nDo it.\n"),
        (".sequester/workflows/own.yaml", "name: own\nsteps: 3\n"),
    ]);
    let told = bench.run(&["doctor", "--no-checks", "--json"]).json();
    let problems = told["problems"].as_array().unwrap();
    for file in ["profiles/own.yaml:2", "agents/own.md:2", "workflows/own.yaml:2"] {
        let names = |one: &Value| one["message"].as_str().unwrap().contains(file);
        assert!(problems.iter().any(names), "{file} is missing in {problems:?}");
    }
}
