//! `cargo xtask fuzz`: the targets in `fuzz/`, each fed with mutations of the project's own fixtures. By hand only.

mod outcome;
mod seeds;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, bail, ensure};

use crate::shell;
use outcome::Outcome;
use seeds::Seeds;

const VERSION: &str = "0.13.2";
/// Of a short run, whichever comes first.
const RUNS: u64 = 10_000;
const SECONDS: u64 = 20;

/// A fuzz target: its name, the most bytes of an input, and where its seeds come from beside `fuzz/seeds/`.
struct Target(&'static str, u32, &'static [Seeds]);

const TARGETS: &[Target] = &[
    Target("client_hello", 4_096, &[]),
    Target("configuration", 4_096, &[]),
    Target("notes_file", 8_192, &[]),
    Target("patch_apply", 4_096, &[]),
    Target("plan_formats", 16_384, seeds::PLANS),
    Target("profile_yaml", 4_096, &[Seeds::Files("crates/core/src/profile/builtin")]),
    Target("proxy_request", 4_096, &[]),
    Target("redaction", 8_192, &[Seeds::Files("crates/survey/tests/fixtures/outline")]),
    Target("report", 16_384, &[]),
    Target("sse_reply", 16_384, &[]),
    Target("store_event", 16_384, &[Seeds::Lines("crates/core/src/run/tests/golden/v1.jsonl")]),
    Target("tool_arguments", 4_096, &[]),
    Target("workflow_yaml", 4_096, &[Seeds::Files("crates/core/src/run/workflow/builtin")]),
];

/// The targets that are named, or all of them.
pub(crate) fn run(words: &[String]) -> Result<()> {
    let split = words.iter().position(|word| word.starts_with("--")).unwrap_or(words.len());
    let (names, options) = words.split_at(split);
    let targets = choose(names)?;
    let limits = limits(options)?;
    let program = program()?;
    println!("| target | executions | executions/s | peak memory | coverage | slowest |");
    println!("|---|---|---|---|---|---|");
    let mut faults = Vec::new();
    for Target(name, most, sources) in targets {
        seeds::copy(name, sources)?;
        let outcome = fuzz(&program, name, *most, &limits)?;
        println!("{}", outcome.row(name));
        faults.extend(outcome.fault(name));
    }
    shell::none_of("Found", &faults)
}

fn choose(names: &[String]) -> Result<Vec<&'static Target>> {
    if names.is_empty() {
        return Ok(TARGETS.iter().collect());
    }
    let find = |name: &String| {
        let known = || TARGETS.iter().map(|target| target.0).collect::<Vec<_>>().join(", ");
        let target = TARGETS.iter().find(|target| target.0 == name);
        target.with_context(|| format!("Unknown target `{name}`. The targets are {}.", known()))
    };
    names.iter().map(find).collect()
}

/// What ends a run, in libFuzzer's words. Without options both limits of a short run hold.
fn limits(options: &[String]) -> Result<[String; 2]> {
    let given = shell::numbers(options, &[("runs", 0), ("minutes", 0)])?;
    let (runs, seconds) = match given[..] {
        [0, 0] => (RUNS.to_string(), SECONDS),
        [0, minutes] => ("-1".to_owned(), minutes * 60),
        [runs, minutes] => (runs.to_string(), minutes * 60),
        _ => bail!("There are two options, `--runs` and `--minutes`."),
    };
    Ok([format!("-runs={runs}"), format!("-max_total_time={seconds}")])
}

/// Builds one target and runs it. A crash is an outcome, not an error.
fn fuzz(program: &Path, name: &str, most: u32, limits: &[String]) -> Result<Outcome> {
    // The code under test has no `unsafe`, and without a sanitizer it runs many times faster.
    let cargo_fuzz = |act: &str| {
        let mut command = shell::command("rustup");
        command.args(["run", "nightly"]).arg(program).arg(act).args(["--fuzz-dir", "fuzz"]);
        command.args(["--sanitizer", "none", "--release", name]);
        command.current_dir(shell::root()).env_remove("CARGO").env_remove("RUSTC");
        command
    };
    let built = cargo_fuzz("build").stdin(Stdio::null()).status()?;
    ensure!(built.success(), "`{name}` cannot be built.");
    let mut command = cargo_fuzz("run");
    command.args(["--", &format!("-max_len={most}"), "-timeout=10", "-rss_limit_mb=2048"]);
    command.args(["-report_slow_units=1", "-print_final_stats=1"]).args(limits);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let mut outcome = Outcome::default();
    let output = child.stderr.take().context("no output")?;
    for line in BufReader::new(output).split(b'\n') {
        outcome.take(&String::from_utf8_lossy(&line?));
    }
    outcome.failed = !child.wait()?.success();
    Ok(outcome)
}

/// cargo-fuzz in its pinned version, and a nightly compiler, which libFuzzer's instrumentation needs.
fn program() -> Result<PathBuf> {
    let nightly = shell::command("rustup").args(["run", "nightly", "rustc", "--version"]).output();
    ensure!(
        nightly.is_ok_and(|output| output.status.success()),
        "Fuzzing needs a nightly compiler: `rustup toolchain install nightly --profile minimal`."
    );
    shell::tool("cargo-fuzz", VERSION)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    #[test]
    fn a_run_ends_by_number_by_time_or_by_both() {
        let read = |given: &[&str]| limits(&words(given)).unwrap().join(" ");
        assert_eq!(read(&[]), "-runs=10000 -max_total_time=20");
        assert_eq!(read(&["--runs", "7"]), "-runs=7 -max_total_time=0");
        assert_eq!(read(&["--minutes", "2"]), "-runs=-1 -max_total_time=120");
        assert_eq!(read(&["--minutes", "2", "--runs", "7"]), "-runs=7 -max_total_time=120");
    }

    #[test]
    fn targets_are_those_of_the_package() {
        let package = std::fs::read_to_string(shell::root().join("fuzz/Cargo.toml")).unwrap();
        let named = package.split("[[bin]]\nname = \"").skip(1);
        let named: Vec<&str> = named.filter_map(|rest| rest.split('"').next()).collect();
        let known: Vec<&str> = TARGETS.iter().map(|target| target.0).collect();
        assert_eq!(known, named);
        assert_eq!(choose(&words(&["report"])).unwrap()[0].0, "report");
        assert!(choose(&words(&["reports"])).is_err());
    }
}
