//! How long whole invocations take, beside a floor measured in the same run.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::shell;

/// What one invocation cost, over several runs: the median of wall times, the mean of processor times.
struct Cost {
    wall: Duration,
    processor: Duration,
    peak_kilobytes: u64,
}

/// Prints a table for `docs/performance.md`.
pub(crate) fn run() -> Result<()> {
    let program = build()?;
    let folder = shell::root().join("target/measure/work");
    let _ = fs::remove_dir_all(&folder);
    write_project(&folder)?;
    let call = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.args(arguments).current_dir(&folder).env("XDG_CACHE_HOME", folder.join("cache"));
        command
    };
    let floor = measure(200, || Command::new("true"))?;
    let version = measure(200, || call(&["--version"]))?;
    let plan = measure(10, || call(&["plan", "plan.md", "--json"]))?;
    let read = measure(10, || {
        let mut command = Command::new("cat");
        command.arg("plan.md").current_dir(&folder);
        command
    })?;
    let cold = measure(1, || call(&["context", "small.md", "part-7", "--json"]))?;
    let warm = measure(20, || call(&["context", "small.md", "part-7", "--json"]))?;
    println!("| invocation | wall | processor | peak memory | to its floor |");
    println!("|---|---|---|---|---|");
    row("`true` (floor of a process)", &floor, &floor);
    row("`sequester --version`", &version, &floor);
    row("`cat plan.md` (floor of reading)", &read, &read);
    row("`sequester plan`, 10,000 tasks", &plan, &read);
    row("`sequester context`, 2,000 files, cold cache", &cold, &floor);
    row("`sequester context`, 2,000 files, warm cache", &warm, &floor);
    Ok(())
}

fn row(name: &str, cost: &Cost, floor: &Cost) {
    println!(
        "| {name} | {:.1} ms | {:.1} ms | {} MB | {:.1} x wall |",
        cost.wall.as_secs_f64() * 1e3,
        cost.processor.as_secs_f64() * 1e3,
        cost.peak_kilobytes / 1024,
        cost.wall.as_secs_f64() / floor.wall.as_secs_f64()
    );
}

/// A release build in a target folder of its own: the development folder holds none.
pub(crate) fn build() -> Result<PathBuf> {
    let target = shell::root().join("target/measure");
    let status = Command::new("cargo")
        .args(["build", "--release", "--quiet", "--package", "sequester", "--target-dir"])
        .arg(&target)
        .current_dir(shell::root())
        .status()?;
    ensure!(status.success(), "the release build failed");
    Ok(target.join("release/sequester"))
}

/// A plan of 10,000 tasks, a small one, and 2,000 source files.
fn write_project(folder: &Path) -> Result<()> {
    let mut plan = String::from("# Large\n\n**Goal:** Many parts.\n\n---\n\n");
    for at in 1..=10_000 {
        let _ = write!(
            plan,
            "### Task {at}: Part {at}\n\n**Files:**\n- Create: `made/part_{at}.rs`\n\n- [ ] **Step 1: Write the test**\n\n\
             ```rust\n#[test]\nfn part_{at}() {{\n    assert_eq!(super::part({at}), {at});\n}}\n```\n\n\
             - [ ] **Step 2: Run it and see it fail**\n\n"
        );
    }
    let mut small = String::from("---\nsequester: 1\n---\n# Small\n\n");
    for at in 0..20 {
        let _ = write!(
            small,
            "## [part-{at}] Route {at} to the worker\n\n```task\nfiles: {{modify: [src/module_{at}.rs]}}\n```\n\n\
             The handler of route {at} hands its batch to the worker and reports what it counted.\n\n"
        );
    }
    fs::create_dir_all(folder.join("src"))?;
    fs::write(folder.join("plan.md"), plan)?;
    fs::write(folder.join("small.md"), small)?;
    fs::write(folder.join("Cargo.toml"), "[package]\nname = \"measured\"\nversion = \"0.1.0\"\n")?;
    for at in 0..2_000_u32 {
        let mut text = String::new();
        for function in 0..20_u32 {
            let word =
                WORDS[(at.wrapping_mul(31) + function.wrapping_mul(7)) as usize % WORDS.len()];
            let _ = write!(
                text,
                "/// Handles {word} number {function}.\npub fn {word}_{at}_{function}(batch: &[u32]) -> usize {{\n    \
                 let counted = batch.iter().filter(|item| **item > {function}).count();\n    counted + {at}\n}}\n\n"
            );
        }
        fs::write(folder.join(format!("src/module_{at}.rs")), text)?;
    }
    for arguments in [
        &["init", "--quiet"][..],
        &["add", "src", "Cargo.toml"],
        &[
            "-c",
            "user.name=m",
            "-c",
            "user.email=m@example.com",
            "commit",
            "--quiet",
            "-m",
            "measured",
        ],
    ] {
        let mut git = Command::new("git");
        for variable in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"] {
            git.env_remove(variable);
        }
        let status = git.args(arguments).current_dir(folder).status()?;
        ensure!(status.success(), "git {arguments:?} failed");
    }
    Ok(())
}

const WORDS: [&str; 12] = [
    "route", "worker", "batch", "handler", "cookie", "header", "session", "retry", "limit",
    "queue", "render", "parse",
];

fn measure(times: u32, make: impl Fn() -> Command) -> Result<Cost> {
    let mut walls = Vec::new();
    let mut peak_kilobytes = 0;
    let before = children_processor()?;
    for _ in 0..times {
        let start = Instant::now();
        let mut child = make().stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let status = format!("/proc/{}/status", child.id());
        // Short processes are not disturbed: the first look comes after a millisecond.
        let ended = loop {
            if let Some(ended) = child.try_wait()? {
                break ended;
            }
            if start.elapsed() > Duration::from_millis(5) {
                peak_kilobytes = peak_kilobytes.max(peak(&status).unwrap_or(0));
            }
            std::thread::sleep(Duration::from_micros(200));
        };
        walls.push(start.elapsed());
        ensure!(ended.success(), "an invocation failed: {ended}");
    }
    walls.sort();
    let processor = children_processor()?.saturating_sub(before) / times;
    Ok(Cost { wall: walls[walls.len() / 2], processor, peak_kilobytes })
}

fn peak(status: &str) -> Option<u64> {
    let text = fs::read_to_string(status).ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Processor time of all children that have ended, in ticks of a hundredth of a second.
fn children_processor() -> Result<Duration> {
    let text = fs::read_to_string("/proc/self/stat")?;
    let fields = text.rsplit_once(')').context("an unknown /proc/self/stat")?.1;
    let mut ticks = 0;
    for field in fields.split_whitespace().skip(13).take(2) {
        ticks += field.parse::<u64>()?;
    }
    Ok(Duration::from_millis(ticks * 10))
}
