//! Dependencies: licences, doubles and where they come from, by cargo-deny.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::shell;

const VERSION: &str = "0.20.2";

pub(crate) fn run() -> Result<()> {
    let checks = ["licenses", "bans", "sources"];
    shell::run(program()?, &[&["check", "--hide-inclusion-graph"], &checks[..]].concat())
}

/// The list of weaknesses is fetched, so this is no part of `ci`.
pub(crate) fn advisories() -> Result<()> {
    shell::run(program()?, &["check", "advisories"])
}

/// The pinned version, built once into `.tools` if the machine has none.
fn program() -> Result<PathBuf> {
    let own = shell::root().join(".tools/bin/cargo-deny");
    for found in [own.clone(), PathBuf::from("cargo-deny")] {
        let output = Command::new(&found).arg("--version").output();
        if output.is_ok_and(|output| {
            String::from_utf8_lossy(&output.stdout).trim_end().ends_with(VERSION)
        }) {
            return Ok(found);
        }
    }
    println!("cargo-deny {VERSION} is built once; this takes a minute or two.");
    let pinned = ["--locked", "--version", VERSION, "--root", ".tools"];
    shell::run(
        shell::cargo(),
        &[&["install", "cargo-deny", "--quiet", "--debug"], &pinned[..]].concat(),
    )?;
    Ok(own)
}
