//! Whether a manifest says of every byte what it is, once.

use sequester_core::context::{Manifest, Part, Row};

/// The rows of a part, each with its bytes, or why they do not cover it.
pub(super) fn cover<'t>(
    manifest: &'t Manifest,
    part: Part,
    text: &'t str,
) -> Result<Vec<(&'t Row, &'t str)>, String> {
    let mut covered = Vec::new();
    let mut at = 0;
    let rows = manifest.fragments.iter().filter(|row| row.part == part);
    for row in rows {
        if row.start > at {
            return Err(format!("No fragment holds the bytes {at} to {}.", row.start));
        }
        if row.start < at {
            return Err(format!("Two fragments hold the bytes {} to {at}.", row.start));
        }
        let Some(bytes) = text.get(row.start..row.end) else {
            return Err(format!("A fragment ends at {}, which is no place in the text.", row.end));
        };
        covered.push((row, bytes));
        at = row.end;
    }
    if at < text.len() {
        return Err(format!("No fragment holds the bytes {at} to {}.", text.len()));
    }
    Ok(covered)
}
