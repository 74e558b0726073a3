//! Changes of a file's lines for the target `patch_apply` in `fuzz/`, without a conversation.

use sequester_core::plan::step::Hunk;

use super::file;

/// Applies a hunk to a file's lines. Gives the old and new text of the edit; nothing where the lines stay as they are.
pub fn apply_hunk(
    lines: &mut Vec<String>,
    hunk: &Hunk,
) -> Result<Option<(String, String)>, String> {
    Ok(file::apply(lines, hunk)?.map(|change| (change.old, change.new)))
}
