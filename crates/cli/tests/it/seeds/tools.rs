//! Checks that are found, profiles that are taken, workflows that are on the map (003), the skill (000).

use std::fs;
use std::path::Path;
use std::sync::Arc;

use sequester_testkit::model::{Request, Script, Setup};
use serde_json::Value;

use super::writes;
use crate::command::Bench;
use crate::rows::{Row, plan};

#[test]
fn validator_runs_pnpm_typecheck_lint_and_test_run() {
    let manifest = r#"{"packageManager": "pnpm@9.0.0", "scripts": {"typecheck": "tsc --noEmit", "lint": "eslint .", "test": "vitest", "test:run": "vitest run"}}"#;
    let bench = Bench::with(&[("package.json", manifest), ("plan.txt", "")]);
    fs::write(bench.path("plan.md"), plan("chain", &[("a", "", "Write a.")])).unwrap();
    let plan = bench.path("plan.md").display().to_string();
    let system = bench.run(&["context", &plan, "a", "--json"]).json()["system"].to_string();
    for command in ["pnpm run typecheck", "pnpm run lint", "pnpm run test:run"] {
        assert!(
            system.contains(&format!("`{command}` is run on every change")),
            "{command}: {system}"
        );
    }
}

#[test]
fn the_architecture_names_the_checks_of_a_python_project_and_those_that_are_configured() {
    let bench = Bench::with(&[
        ("tests/test_a.py", "import unittest\n"),
        ("sequester.toml", "[checks]\nlint = \"ruff check .\"\n"),
    ]);
    fs::write(bench.path("plan.md"), plan("build", &[("a", "", "Write a.")])).unwrap();
    let plan = bench.path("plan.md").display().to_string();
    let system = bench.run(&["context", &plan, "a", "--json"]).json()["system"].to_string();
    assert!(
        system.contains("`python3 -m unittest discover -s tests` is run on every change (tests)"),
        "{system}"
    );
    assert!(system.contains("`ruff check .` is run on every change (lint)"), "{system}");
}

#[test]
fn validator_checks_security_a_secret_in_the_change_is_found() {
    let bench = Bench::with(&[("README.md", "Letters\n")]);
    fs::write(bench.path("plan.md"), plan("chain", &[("a", "", "Write a.")])).unwrap();
    // Put together in the workspace, so that no text of this repository holds one.
    let play = |request: &Request| {
        writes(
            request,
            "printf 'key = \"ghp_%s\"\\n' a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8 > settings.py",
        )
    };
    let row = Row::set(Arc::new(bench), Setup::new(Script::new(play)));
    let run = row.run(&["--unattended"]).ended(1, "failed").to_owned();
    let shown = row.json(&["show", &run, "a"]);
    let evidence = &shown["attempts"][1]["evidence"];
    assert_eq!(evidence["fails"][0]["about"], "secret", "{evidence}");
    assert_eq!(evidence["secrets"][0]["path"], "settings.py");
}

#[test]
fn profile_yaml_with_name_description_tools_and_use_cases_is_taken() {
    let writer = "name: writer\ndescription: Full file operations and build commands\ntools:\n  - Read\n  - Write\n  - Edit\n  - Bash\n  - Grep\n  - Glob\n  - mcp__cclsp__*\nuse_cases:\n  - Code implementation\n";
    let read_only = "name: read-only\ndescription: Read and search only\ntools:\n  - Read\n  - Grep\n  - Glob\n  - mcp__cclsp__find_definition\nuse_cases:\n  - Code review\n";
    let lookup = "name: lookup\ndescription: Read and web lookup\ntools: [Read, Grep, Glob, WebFetch, WebSearch]\nuse_cases: [Documentation lookup]\n";
    let bench = Bench::with(&[
        (".sequester/profiles/writer.yaml", writer),
        (".sequester/profiles/read-only.yaml", read_only),
        (".sequester/profiles/lookup.yaml", lookup),
    ]);
    let list = bench.run(&["profiles", "--json"]);
    assert_eq!(list.code, Some(0), "{list:?}");
    let of = |name: &str| -> Value {
        let list = list.json();
        list.as_array().unwrap().iter().find(|one| one["name"] == name).unwrap().clone()
    };
    assert_eq!(of("read-only")["tools"], serde_json::json!(["Read", "Grep", "Glob"]));
    assert_eq!(of("writer")["jail"], "writer");
    assert_eq!(of("lookup")["extends"], "research");
}

#[test]
fn the_main_road_is_on_the_map() {
    let bench = Bench::with(&[("README.md", "x\n")]);
    let list = bench.run(&["workflows"]);
    assert_eq!(list.code, Some(0), "{list:?}");
    let words = list.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for name in ["solo", "chain", "pipeline", "build", "parallel", "adaptive"] {
        assert!(words.contains(name), "{name}: {words}");
    }
    assert!(words.contains("research → write → check → validate"), "{words}");
    let one = bench.run(&["workflows", "chain", "--json"]).json();
    assert_eq!(one["steps"][3]["agent"], "validator");
    assert_eq!(bench.run(&["workflows", "chian"]).code, Some(2));
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    for name in ["chain", "pipeline", "adaptive", "parallel"] {
        assert!(readme.contains(&format!("--workflow {name}")), "the README shows `{name}`");
    }
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

#[test]
fn controller_protocol_skill() {
    let skill = root().join("skills/subagent-context-isolation/SKILL.md");
    let text = fs::read_to_string(skill).unwrap();
    assert!(text.starts_with("---\nname: subagent-context-isolation\ndescription: "), "{text}");
    let bench = Bench::with(&[("README.md", "x\n")]);
    let help = bench.run(&["--help"]).out;
    let commands =
        text.split("`sequester ").skip(1).filter_map(|rest| rest.split_whitespace().next());
    let mut seen = 0;
    for command in commands.map(|word| word.trim_end_matches(|c: char| !c.is_alphanumeric())) {
        assert!(help.contains(&format!("\n  {command} ")), "`sequester {command}` is not there");
        seen += 1;
    }
    assert!(seen > 5, "{seen} commands");
}
