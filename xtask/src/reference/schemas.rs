//! The schemas, as `sequester schema --json` prints them.

use std::path::Path;

use anyhow::Result;
use sequester_core::schema;

use super::Page;

pub(super) fn page(_: &Path) -> Result<Page> {
    let text = serde_json::to_string_pretty(&schema::all())?;
    Ok(Page("schemas.json", text + "\n"))
}
