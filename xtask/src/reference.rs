//! `docs/reference`, as far as it is made from the code.

mod cli;
mod errors;
mod protected_names;
mod schemas;

use std::path::Path;

use anyhow::Result;

use crate::shell;

/// A page: its path under `docs/reference`, and its text.
struct Page(&'static str, String);

/// What makes pages; each may also fail on what people wrote there.
const GENERATORS: &[fn(&Path) -> Result<Page>] =
    &[errors::index, cli::page, schemas::page, protected_names::page];

/// Brings the pages up to date.
pub(crate) fn write() -> Result<()> {
    let folder = shell::root().join("docs/reference");
    for generate in GENERATORS {
        let Page(path, text) = generate(&folder)?;
        std::fs::write(folder.join(path), text)?;
        println!("reference: wrote docs/reference/{path}.");
    }
    Ok(())
}

/// Fails if a page is out of date.
pub(crate) fn check() -> Result<()> {
    let folder = shell::root().join("docs/reference");
    let mut faults = Vec::new();
    for generate in GENERATORS {
        let Page(path, text) = generate(&folder)?;
        if std::fs::read_to_string(folder.join(path)).unwrap_or_default() != text {
            faults.push(format!("docs/reference/{path}"));
        }
    }
    shell::none_of("Out of date (`cargo xtask reference` writes them)", &faults)?;
    println!("reference: up to date.");
    Ok(())
}
