//! What a build service runs.

use serde_json::Value;

use crate::manifest::{pairs, strings, yaml};

/// A command that is longer is a script.
pub(crate) const MOST_LENGTH: usize = 120;

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

/// Whether a file tells a build service what to do.
pub(crate) fn is_file(path: &str) -> bool {
    path.starts_with(".github/workflows/") || path == ".gitlab-ci.yml"
}

/// The commands in it that build, test or check, in their order.
pub(crate) fn commands(text: &str) -> Vec<String> {
    let workflow = yaml(text).unwrap_or_default();
    let scripts = scripts(&workflow);
    let lines = scripts.iter().flat_map(|script| whole_lines(script));
    lines.filter(|line| is_check(line)).map(str::to_owned).collect()
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
fn whole_lines(script: &str) -> Vec<&str> {
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
