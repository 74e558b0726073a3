//! `cargo xtask secrets`: our rules beside those of secretlint, and their false alarms on published packages.

mod alarms;
mod packages;
mod preset;

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use sequester_core::secret::{Kind, RULES};

/// Prints the tables and writes them to `docs/secrets.md`; fails when secretlint finds a secret that we do not.
pub(crate) fn run() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = target(root)?.join("secrets");
    let (compared, missed) = preset::compare(root, &folder.join("secretlint"))?;
    let (counted, places) = alarms::count(&packages::fetch(&folder)?)?;
    writeln!(io::stdout(), "{compared}\n{counted}\n{places}")?;
    let page = root.join("../docs/secrets.md");
    let mut text = fs::read_to_string(&page)?;
    for (part, table) in [("rules", list_rules()?), ("secretlint", compared), ("alarms", counted)] {
        text = replace_part(&text, part, &table)?;
    }
    fs::write(&page, text)?;
    ensure!(
        missed.is_empty(),
        "Only secretlint finds {}. Mend the rules in `secret/table.rs`.",
        missed.join(", ")
    );
    Ok(())
}

fn list_rules() -> Result<String> {
    let mut table =
        String::from("| rule | known by | looked at when the text holds |\n|---|---|---|\n");
    for rule in RULES {
        let known = match rule.kind {
            Kind::Token => "its own look",
            Kind::Value => "what stands around it",
            Kind::Name => "the parts of its name",
            Kind::Block => "its first or last line",
        };
        let keywords: Vec<String> = rule.keywords.iter().map(|word| format!("`{word}`")).collect();
        writeln!(table, "| {} | {known} | {} |", rule.name, keywords.join(" "))?;
    }
    Ok(table)
}

/// Puts `table` between the two comments that name the part.
fn replace_part(page: &str, part: &str, table: &str) -> Result<String> {
    let (open, close) = (format!("<!-- {part} -->\n"), format!("<!-- end of {part} -->"));
    let (before, rest) = page
        .split_once(&open)
        .with_context(|| format!("`docs/secrets.md` has no `{}`.", open.trim()))?;
    let (_, after) =
        rest.split_once(&close).with_context(|| format!("`docs/secrets.md` has no `{close}`."))?;
    Ok([before, &open, table, &close, after].concat())
}

/// The target directory, where everything fetched is kept.
fn target(root: &Path) -> Result<PathBuf> {
    let metadata = cargo_metadata(root, &["--no-deps"])?;
    let folder =
        metadata["target_directory"].as_str().context("Cargo names no target directory.")?;
    Ok(PathBuf::from(folder))
}

fn cargo_metadata(folder: &Path, more: &[&str]) -> Result<serde_json::Value> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["metadata", "--format-version", "1"]).args(more).current_dir(folder);
    Ok(serde_json::from_slice(&output(&mut command)?)?)
}

/// What the command prints, if it succeeds.
fn output(command: &mut Command) -> Result<Vec<u8>> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .stderr(std::process::Stdio::inherit())
        .output()
        .with_context(|| format!("`{name}` cannot be started. Install it and try again."))?;
    ensure!(output.status.success(), "`{name}` failed: {}.", output.status);
    Ok(output.stdout)
}
