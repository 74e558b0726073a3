//! What the CI runs.

use std::collections::BTreeSet;

use serde_json::Value;

use sequester_core::architecture::Stated;

use crate::architecture::line::clean;
use crate::architecture::manifest::{pairs, yaml};
use crate::architecture::scan::Scan;

const MOST_FILES: usize = 12;
const MOST_OF_ONE: usize = 8;

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
    let files =
        scan.matching(|path| path.starts_with(".github/workflows/") || path == ".gitlab-ci.yml");
    for (path, text) in files.into_iter().take(MOST_FILES) {
        let Some(workflow) = yaml(text) else { continue };
        let mut commands = Vec::new();
        let jobs = pairs(workflow.get("jobs"));
        for (_, job) in &jobs {
            for step in job
                .get("steps")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
            {
                commands.extend(
                    step.get("run")
                        .and_then(Value::as_str)
                        .into_iter()
                        .flat_map(str::lines),
                );
            }
        }
        if jobs.is_empty() {
            for (_, job) in pairs(Some(&workflow)) {
                commands.extend(super::super::manifest::strings(job.get("script")));
            }
        }
        let usable = commands
            .into_iter()
            .map(str::trim)
            .filter(|line| is_check(line));
        let fresh: Vec<&str> = usable
            .filter(|line| seen.insert((*line).to_owned()))
            .take(MOST_OF_ONE)
            .collect();
        for line in fresh {
            found.push(Stated::new(format!("CI runs `{}`", clean(line, 140)), path));
        }
    }
}

fn is_check(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let tool = words.next().is_some_and(|word| TOOLS.contains(&word));
    let whole = !line.ends_with('\\') && !line.contains("${{");
    let setup = [
        "pip install",
        "--version",
        "apt",
        "npm publish",
        "config set",
        "install -g",
        "login",
        "node -e",
        "python -c",
    ];
    tool && whole && words.next().is_some() && !setup.iter().any(|setup| line.contains(setup))
}
