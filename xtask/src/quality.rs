//! Recall@10 of `sequester files` on cases from real histories.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::measure;

const TOP: usize = 10;
const RANKED: &str = "50";

struct Case {
    id: String,
    repository: String,
    base: String,
    task: String,
    gold: BTreeSet<String>,
}

/// `QUALITY_CASES` names a file of cases, a JSON value a line with `id`, `repo`, `base`, `task` and `gold`; `QUALITY_REPOS` a
/// folder with clones named as `repo` says. The predictions are written into that folder.
pub(crate) fn run() -> Result<()> {
    let variable = |name: &str| {
        std::env::var_os(name).map(PathBuf::from).with_context(|| format!("`{name}` is not set"))
    };
    let (cases, repositories) = (variable("QUALITY_CASES")?, variable("QUALITY_REPOS")?);
    println!("{}", score(&measure::build()?, &cases, &repositories)?);
    Ok(())
}

/// The table of recall@10 per repository and overall.
fn score(binary: &Path, cases: &Path, repositories: &Path) -> Result<String> {
    let text = std::fs::read_to_string(cases).context("the cases could not be read")?;
    let cases: Vec<Case> = text.lines().map(parse).collect::<Result<_>>()?;
    let mut predictions = String::new();
    let mut recall: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for case in &cases {
        let ranked = ask(binary, repositories, case)
            .with_context(|| format!("case `{}` could not be answered", case.id))?;
        let found = ranked.iter().take(TOP).filter(|path| case.gold.contains(*path)).count();
        let share = found as f64 / case.gold.len().max(1) as f64;
        recall.entry(&case.repository).or_default().push(share);
        writeln!(predictions, "{}", json!({"id": case.id, "ranked": ranked}))?;
    }
    std::fs::write(repositories.join("predictions.jsonl"), predictions)?;
    let mut table = String::new();
    for (repository, shares) in &recall {
        writeln!(table, "{repository:<14} {:.3}  n={}", mean(shares), shares.len())?;
    }
    let all: Vec<f64> = recall.into_values().flatten().collect();
    writeln!(table, "{:<14} {:.3}  n={}", "all", mean(&all), all.len())?;
    Ok(table)
}

fn parse(line: &str) -> Result<Case> {
    let value: Value = serde_json::from_str(line)?;
    let text = |key: &str| {
        value[key].as_str().map(str::to_owned).with_context(|| format!("a case lacks `{key}`"))
    };
    let gold = value["gold"].as_array().context("a case lacks `gold`")?;
    Ok(Case {
        id: text("id")?,
        repository: text("repo")?,
        base: text("base")?,
        task: text("task")?,
        gold: gold.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
    })
}

fn ask(binary: &Path, repositories: &Path, case: &Case) -> Result<Vec<String>> {
    let clone = repositories.join(&case.repository);
    let tree = repositories.join(format!("{}-at-base", case.repository));
    if !tree.is_dir() {
        let add = ["worktree", "add", "--quiet", "--force", "--detach", "--no-checkout"];
        answer(git(&clone).args(add).arg(&tree).arg(&case.base))?;
    }
    // What is read is HEAD: no file needs to be checked out.
    answer(git(&tree).args(["update-ref", "--no-deref", "HEAD", &case.base]))?;
    let output = answer(
        Command::new(binary)
            .args(["files", "--json", "--top", RANKED, "--repo"])
            .arg(&tree)
            .arg("--")
            .arg(&case.task),
    )?;
    let ranked: Vec<Value> = serde_json::from_slice(&output)?;
    Ok(ranked.iter().filter_map(|file| file["path"].as_str()).map(str::to_owned).collect())
}

fn git(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder);
    command
}

fn answer(command: &mut Command) -> Result<Vec<u8>> {
    let output = command.output()?;
    if !output.status.success() {
        bail!(
            "{command:?} ended with {}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(output.stdout)
}

fn mean(shares: &[f64]) -> f64 {
    shares.iter().sum::<f64>() / shares.len().max(1) as f64
}
