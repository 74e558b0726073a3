//! The project's notes in a context: what a person wrote or pinned, as it stood when the run began.

use super::file;
use super::fragment::Provenance;
use super::render::{Page, Ready};
use crate::notes::Standing;

/// In the order given, whole or not at all; answers with what is left of the budget.
pub(super) fn write(page: &mut Page<'_>, notes: &[Standing], budget: usize) -> usize {
    let mut left = budget;
    for note in notes {
        let provenance = Provenance::Note { section: note.section.clone() };
        left = page.put(&provenance, &Ready::whole(&note_block(note)), left);
    }
    left
}

/// A section as it stands in a context: its name is as foreign as its text.
pub fn note_block(note: &Standing) -> String {
    let quoted = format!("{}\n\n{}", note.section, note.text);
    let fence = file::fence(&quoted);
    format!("From the project's notes, quoted:\n\n{fence}\n{quoted}\n{fence}\n\n")
}
