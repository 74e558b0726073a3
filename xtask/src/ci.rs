//! Everything a change must pass. One target folder and the dev profile for all of it; the cheap checks come first.

use anyhow::Result;

use crate::{deny, layers, reference, shell, size, strays};

pub(crate) fn run() -> Result<()> {
    shell::run(shell::cargo(), &["fmt", "--all", "--check"])?;
    size::run()?;
    strays::run()?;
    layers::run()?;
    deny::run()?;
    shell::run(
        shell::cargo(),
        &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"],
    )?;
    reference::check()?;
    shell::run(shell::cargo(), &["test", "--workspace", "--locked"])
}
