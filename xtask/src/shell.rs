//! Where the workspace is, and running programs in it.

use std::ffi::{OsStr, OsString};
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

/// A program that is not told of the package that this is: cargo would build again what looks at such variables.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let is_ours = |name: &String| {
        ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|start| name.starts_with(start))
    };
    for name in names.filter(is_ours) {
        command.env_remove(name);
    }
    command
}

/// Runs a program whose output the person sees.
pub(crate) fn run(program: impl Into<OsString>, arguments: &[&str]) -> Result<()> {
    let program = program.into();
    let shown = Path::new(&program).file_stem().unwrap_or(&program).to_string_lossy().into_owned();
    println!("$ {shown} {}", arguments.join(" "));
    let status = command(&program).args(arguments).current_dir(root()).status();
    if !status.with_context(|| format!("`{shown}` could not be started"))?.success() {
        bail!("`{shown} {}` did not succeed.", arguments.join(" "));
    }
    Ok(())
}

/// A tool of cargo's in its pinned version, built once into `.tools` if the machine has none.
pub(crate) fn tool(name: &str, version: &str) -> Result<PathBuf> {
    let own = root().join(".tools/bin").join(name);
    for found in [own.clone(), PathBuf::from(name)] {
        let output = Command::new(&found).arg("--version").output();
        if output.is_ok_and(|output| {
            String::from_utf8_lossy(&output.stdout).trim_end().ends_with(version)
        }) {
            return Ok(found);
        }
    }
    println!("{name} {version} is built once; this takes a minute or two.");
    let pinned = ["--locked", "--version", version, "--root", ".tools"];
    run(cargo(), &[&["install", name, "--quiet", "--debug"], &pinned[..]].concat())?;
    Ok(own)
}

/// Runs one test of the program that is too long for every change, told by variables how long it is to be.
pub(crate) fn test(name: &str, variables: &[(&str, u64)]) -> Result<()> {
    let arguments = ["test", "--workspace", "--locked", "--quiet", "--test", "it", "--"];
    let mut command = command(cargo());
    command.args(arguments).args(["--ignored", "--exact", name, "--nocapture"]);
    command.envs(variables.iter().map(|(name, value)| (name, value.to_string())));
    if !command.current_dir(root()).status()?.success() {
        bail!("`{name}` did not succeed.");
    }
    Ok(())
}

/// The values of options such as `--kills 200`, in the order in which they are known, each with what holds without it.
pub(crate) fn numbers(given: &[String], known: &[(&str, u64)]) -> Result<Vec<u64>> {
    let mut values: Vec<u64> = known.iter().map(|(_, value)| *value).collect();
    for pair in given.chunks(2) {
        let name = pair[0].strip_prefix("--").unwrap_or_default();
        let place = known.iter().position(|(known, _)| *known == name);
        let place = place.with_context(|| format!("there is no option `{}`", pair[0]))?;
        let value = pair.get(1).with_context(|| format!("`{}` needs a number", pair[0]))?;
        values[place] = value.parse().with_context(|| format!("`{value}` is no number"))?;
    }
    Ok(values)
}

/// What a program prints.
pub(crate) fn capture(program: impl Into<OsString>, arguments: &[&str]) -> Result<String> {
    let mut command = command(program.into());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_numbers_in_any_order() {
        let read = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            numbers(&words, &[("kills", 200), ("seed", 1)]).ok()
        };
        assert_eq!(read(&[]), Some(vec![200, 1]));
        assert_eq!(read(&["--seed", "7", "--kills", "3"]), Some(vec![3, 7]));
        for wrong in [&["--seeds", "7"][..], &["--seed"], &["--seed", "x"], &["7"]] {
            assert_eq!(read(wrong), None, "{wrong:?}");
        }
    }
}
