//! Dependencies: licences, doubles and where they come from, by cargo-deny.

use std::path::PathBuf;

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

fn program() -> Result<PathBuf> {
    shell::tool("cargo-deny", VERSION)
}
