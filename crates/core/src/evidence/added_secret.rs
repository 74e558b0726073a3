//! Secrets that a change brings in: our own rules look over every change, whatever checks a project has.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::secret::redact;

/// A secret that the base does not have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AddedSecret {
    pub path: String,
    pub line: usize,
    /// The name of the rule that knows it.
    pub rule: String,
}

impl AddedSecret {
    pub(super) fn sentence(&self) -> String {
        let Self { path, line, rule } = self;
        let place = super::quoted(&format!("{path}:{line}"));
        format!(
            "The change adds a secret ({rule}) in {place}. Take it out; read it from the environment instead."
        )
    }
}

/// Secrets in the new text of a file that none of the `old` texts has: one that only moves is not added.
pub fn added_secrets(path: &str, old: &[String], new: &str) -> Vec<AddedSecret> {
    let found = redact(new).found;
    if found.is_empty() {
        return Vec::new();
    }
    let before: BTreeSet<&str> = old.iter().flat_map(|text| secrets_of(text)).collect();
    let added = found.iter().filter(|secret| !before.contains(&new[secret.start..secret.end]));
    let told = added.map(|secret| AddedSecret {
        path: path.to_owned(),
        line: new[..secret.start].matches('\n').count() + 1,
        rule: secret.rule.to_owned(),
    });
    told.take(MOST).collect()
}

fn secrets_of(text: &str) -> impl Iterator<Item = &str> {
    redact(text).found.into_iter().map(|secret| &text[secret.start..secret.end])
}

/// Of one file.
const MOST: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    /// Put together here, so that no text of this repository holds one.
    fn token() -> String {
        format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
    }

    #[test]
    fn only_what_the_base_does_not_have_counts() {
        let old = format!("first = \"{}\"\n", token());
        let moved = format!("# moved\n\n{old}");
        let old = &[String::new(), old];
        assert_eq!(added_secrets("b.py", old, &moved), [], "it may come from another file");
        let more = format!("{}second = \"{}\"\n", old[1], token().replace('a', "z"));
        let added = added_secrets("a.py", old, &more);
        assert_eq!((added.len(), added[0].line), (1, 2), "{added:?}");
        assert!(added[0].sentence().contains("`a.py:2`"));
    }
}
