//! `cargo xtask secrets`: our rules beside those of secretlint, and their false alarms on published code.

mod alarms;
mod preset;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Prints both tables; fails when secretlint finds a secret that we do not.
pub fn run() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = target(root)?.join("secrets");
    let missed = preset::compare(root, &folder.join("secretlint"))?;
    alarms::count(&folder.join("crates"))?;
    ensure!(
        missed.is_empty(),
        "Only secretlint finds {}. Mend the rules in `secret/table.rs`.",
        missed.join(", ")
    );
    Ok(())
}

/// The target directory, where everything fetched is kept.
fn target(root: &Path) -> Result<PathBuf> {
    let metadata = cargo_metadata(root, &["--no-deps"])?;
    let folder = metadata["target_directory"]
        .as_str()
        .context("Cargo names no target directory.")?;
    Ok(PathBuf::from(folder))
}

fn cargo_metadata(folder: &Path, more: &[&str]) -> Result<serde_json::Value> {
    let mut command = Command::new(env!("CARGO"));
    command
        .args(["metadata", "--format-version", "1"])
        .args(more)
        .current_dir(folder);
    Ok(serde_json::from_slice(&output(&mut command)?)?)
}

/// What the command prints, if it succeeds.
fn output(command: &mut Command) -> Result<Vec<u8>> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .stderr(std::process::Stdio::inherit())
        .output()
        .with_context(|| format!("`{name}` cannot be started. Install it and try again."))?;
    ensure!(
        output.status.success(),
        "`{name}` failed: {}.",
        output.status
    );
    Ok(output.stdout)
}
