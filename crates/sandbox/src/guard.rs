//! What covers a file in the person's own folder falls off when somebody outside replaces the file: the kernel takes a mount away with
//! the name that it stands on. So these names are looked at many times a second and once more in the end, and the jail ends when one of
//! them stands for something else. The kernel could tell at once, but to stop asking it takes longer than a whole jail.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::blueprint::{Access, Entry};

/// All that is covered in a folder that the jail may write, as it was first seen.
pub(crate) struct Guard(Vec<(PathBuf, Seen)>);

/// Which file stands at a name. Its number alone may go to another once it is deleted.
type Seen = Option<(u64, u64, Option<SystemTime>)>;

impl Guard {
    /// After all placeholders are put.
    pub(crate) fn over(entries: &[Entry]) -> Self {
        let covered = entries.iter().filter_map(|entry| covered(entries, entry));
        let seen = |path: PathBuf| {
            let seen = look(&path);
            (path, seen)
        };
        Self(covered.map(seen).collect())
    }

    /// Whether a covered name stands for something else now.
    pub(crate) fn is_broken(&self) -> bool {
        self.0.iter().any(|(path, seen)| look(path) != *seen)
    }
}

fn look(path: &Path) -> Seen {
    let about = fs::symlink_metadata(path).ok()?;
    Some((about.dev(), about.ino(), about.created().ok()))
}

/// The machine's name of what an entry covers, where the jail could change it otherwise.
fn covered(entries: &[Entry], entry: &Entry) -> Option<PathBuf> {
    let (Entry::Hidden { at } | Entry::Cover { at, .. } | Entry::Shut { at, .. }) = entry else {
        return None;
    };
    entries.iter().rev().find_map(|entry| match entry {
        Entry::Bind { from, at: bound, access } if at.starts_with(bound) => {
            let inner = at.strip_prefix(bound).ok().map(|inner| from.join(inner));
            Some(inner.filter(|_| *access == Access::Write))
        }
        Entry::Layered { at: bound, .. } if at.starts_with(bound) => Some(None),
        _ => None,
    })?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_covered_name_that_stands_for_something_else_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let bind = Entry::Bind {
            from: folder.path().to_owned(),
            at: "/work".into(),
            access: Access::Write,
        };
        let entries = [bind, Entry::Hidden { at: "/work/.env".into() }];
        let write = |name| fs::write(at(name), "x").unwrap();
        write(".env");
        let guard = Guard::over(&entries);
        write("other");
        fs::write(at(".env"), "the same file").unwrap();
        assert!(!guard.is_broken());
        fs::rename(at("other"), at(".env")).unwrap();
        assert!(guard.is_broken());
        let guard = Guard::over(&entries);
        fs::remove_file(at(".env")).unwrap();
        assert!(guard.is_broken());
        write(".env");
        assert!(guard.is_broken(), "it may have the number of the one before");
    }

    #[test]
    fn what_is_covered_in_a_layer_or_cannot_be_written_is_not_looked_at() {
        let layer = Entry::Layered {
            at: "/work".into(),
            lower: vec!["/home/ada/shop".into()],
            store: "/state/1".into(),
        };
        let hidden = Entry::Hidden { at: "/work/.env".into() };
        assert!(Guard::over(&[layer, hidden]).0.is_empty());
    }
}
