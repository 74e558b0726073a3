//! What of the notes every task may see.

use super::{Author, Notes, PATH};
use crate::tokens;

/// A section as it stood when a run began: a person's words in it, or all of it where a person pinned it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    pub section: String,
    pub text: String,
    pub pinned: bool,
}

impl Notes {
    /// What stands and yet has no room in any context, said.
    pub fn too_long(&self, limit: usize) -> Vec<String> {
        let standing = self.standing().into_iter();
        let long = standing.map(|one| (tokens::count(&one.text), one.section));
        let long = long.filter(|(tokens, _)| *tokens > limit);
        let said = long.map(|(tokens, section)| {
            format!(
                "`{section}` in `{PATH}` has {tokens} tokens and is shown to no task: `limits.notes` is {limit}. Shorten it, or split it."
            )
        });
        said.collect()
    }

    /// What is pinned first, else in the order of the file: where there is no room for all, it has the first. What subagents of
    /// earlier runs wrote is not in it, unless it is pinned.
    pub fn standing(&self) -> Vec<Standing> {
        let mut standing = Vec::new();
        for section in &self.sections {
            let (is_top, pinned) = (section.name.is_empty(), section.is_pinned());
            let seen =
                section.parts.iter().filter(|part| pinned || part.author() == Author::Person);
            let words = seen.map(|part| part.words(is_top)).filter(|words| !words.is_empty());
            let text = words.collect::<Vec<_>>().join("\n\n");
            if !text.is_empty() {
                let section = if is_top { "Notes".to_owned() } else { section.name.clone() };
                standing.push(Standing { section, text, pinned });
            }
        }
        standing.sort_by_key(|one| !one.pinned);
        standing
    }
}
