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

/// Secrets in the new text of a file that its old text does not have.
pub fn added_secrets(path: &str, old: &str, new: &str) -> Vec<AddedSecret> {
    let found = redact(new).found;
    if found.is_empty() {
        return Vec::new();
    }
    let before: BTreeSet<&str> =
        redact(old).found.iter().map(|secret| &old[secret.start..secret.end]).collect();
    let added = found.iter().filter(|secret| !before.contains(&new[secret.start..secret.end]));
    let told = added.map(|secret| AddedSecret {
        path: path.to_owned(),
        line: new[..secret.start].matches('\n').count() + 1,
        rule: secret.rule.to_owned(),
    });
    told.take(MOST).collect()
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
        assert_eq!(added_secrets("a.py", &old, &moved), []);
        let more = format!("{old}second = \"{}\"\n", token().replace('a', "z"));
        let added = added_secrets("a.py", &old, &more);
        assert_eq!((added.len(), added[0].line), (1, 2), "{added:?}");
        assert!(added[0].sentence().contains("`a.py:2`"));
    }
}
