//! Where the workspace is, and running programs in it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// The workspace's folder.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// The cargo that runs this.
pub(crate) fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Runs a program whose output the person sees.
pub(crate) fn run(program: impl Into<OsString>, arguments: &[&str]) -> Result<()> {
    let program = program.into();
    let shown = Path::new(&program).file_stem().unwrap_or(&program).to_string_lossy().into_owned();
    println!("$ {shown} {}", arguments.join(" "));
    let status = Command::new(&program).args(arguments).current_dir(root()).status();
    if !status.with_context(|| format!("`{shown}` could not be started"))?.success() {
        bail!("`{shown} {}` did not succeed.", arguments.join(" "));
    }
    Ok(())
}

/// What a program prints.
pub(crate) fn capture(program: impl Into<OsString>, arguments: &[&str]) -> Result<String> {
    let mut command = Command::new(program.into());
    // What is printed must not depend on whose terminal this is.
    command.env("COLUMNS", "100").env("NO_COLOR", "1").env_remove("CLICOLOR_FORCE");
    command.args(arguments).current_dir(root()).stderr(Stdio::inherit());
    let output = command.output().context("the program could not be started")?;
    if !output.status.success() {
        bail!("`{}` did not succeed.", arguments.join(" "));
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// All files under a folder whose names end so, sorted; none if there is no such folder.
pub(crate) fn files(folder: &Path, ending: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        if !folder.is_dir() {
            continue;
        }
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The folders of our packages, sorted.
pub(crate) fn packages(root: &Path) -> Result<Vec<PathBuf>> {
    let mut folders = vec![root.join("xtask")];
    for entry in std::fs::read_dir(root.join("crates"))? {
        folders.push(entry?.path());
    }
    folders.retain(|folder| folder.join("Cargo.toml").is_file());
    folders.sort();
    Ok(folders)
}

/// Fails with all of them, a line each.
pub(crate) fn none_of(what: &str, faults: &[String]) -> Result<()> {
    if faults.is_empty() {
        return Ok(());
    }
    bail!("{what}:\n  {}", faults.join("\n  "));
}
