//! What the CI runs.

use std::collections::BTreeSet;

use serde_json::Value;

use sequester_core::architecture::Stated;

use crate::architecture::line::clean;
use crate::architecture::manifest::{pairs, strings, yaml};
use crate::architecture::scan::{Scan, name};

const MOST_FILES: usize = 12;
const MOST_OF_ONE: usize = 6;
const MOST_LINES: usize = 24;
const MOST_LENGTH: usize = 120;

/// First words of commands that build, test or check; anything else is the CI's own housekeeping.
const TOOLS: [&str; 44] = [
    "cargo",
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "npx",
    "node",
    "deno",
    "python",
    "python3",
    "pytest",
    "tox",
    "nox",
    "uv",
    "poetry",
    "pip",
    "ruff",
    "mypy",
    "black",
    "flake8",
    "pre-commit",
    "hatch",
    "go",
    "golangci-lint",
    "make",
    "just",
    "task",
    "mvn",
    "./mvnw",
    "gradle",
    "./gradlew",
    "dotnet",
    "bundle",
    "rake",
    "composer",
    "php",
    "vendor/bin/phpunit",
    "mix",
    "swift",
    "cmake",
    "ctest",
    "meson",
    "ninja",
    "bazel",
];

pub(super) fn state(scan: &Scan<'_>, found: &mut Vec<Stated>) {
    let mut seen = BTreeSet::new();
    let mut files = scan.matching(|path| {
        (path.starts_with(".github/workflows/") && !is_release(path)) || path == ".gitlab-ci.yml"
    });
    files.sort_by_key(|(path, _)| !is_test(path));
    let mut lines = Vec::new();
    for (path, text) in files.into_iter().take(MOST_FILES) {
        let Some(workflow) = yaml(text) else { continue };
        let scripts = scripts(&workflow);
        let commands = scripts.iter().flat_map(|script| commands(script));
        let usable = commands.filter(|line| is_check(line));
        let fresh = usable.filter(|line| seen.insert((*line).to_owned()));
        lines.extend(
            fresh
                .take(MOST_OF_ONE)
                .map(|line| Stated::new(format!("CI runs `{}`", clean(line, MOST_LENGTH)), path)),
        );
    }
    found.extend(lines.into_iter().take(MOST_LINES));
}

fn is_release(path: &str) -> bool {
    ["release", "publish", "deploy", "codeql"].iter().any(|word| path.contains(word))
}

fn is_test(path: &str) -> bool {
    let file = name(path);
    file.starts_with("ci")
        || ["test", "build", "lint", "check"].iter().any(|word| file.contains(word))
}

/// The shell texts of GitHub's steps, or of GitLab's jobs.
fn scripts(workflow: &Value) -> Vec<&str> {
    let jobs = pairs(workflow.get("jobs"));
    let steps = jobs.iter().filter_map(|(_, job)| job.get("steps")?.as_array()).flatten();
    let mut scripts: Vec<&str> = steps.filter_map(|step| step.get("run")?.as_str()).collect();
    if jobs.is_empty() {
        let jobs = pairs(Some(workflow));
        scripts.extend(jobs.into_iter().flat_map(|(_, job)| strings(job.get("script"))));
    }
    scripts
}

/// Lines that are a command of their own: no part of a longer one.
fn commands(script: &str) -> Vec<&str> {
    let mut goes_on = false;
    let mut whole = Vec::new();
    for line in script.lines().map(str::trim) {
        let starts = !goes_on;
        goes_on = line.ends_with('\\');
        if starts && !goes_on {
            whole.push(line);
        }
    }
    whole
}

fn is_check(line: &str) -> bool {
    const SETUP: [&str; 14] = [
        "${{",
        ">>",
        "pip install",
        "-m venv",
        "--version",
        "apt",
        "publish",
        "config set",
        "install -g",
        "npm i -g",
        "login",
        "node -e",
        "python -c",
        "$(",
    ];
    let mut words = line.split_whitespace();
    let tool = words.next().is_some_and(|word| TOOLS.contains(&word));
    tool && words.next().is_some()
        && line.len() <= MOST_LENGTH
        && !SETUP.iter().any(|setup| line.contains(setup))
}
