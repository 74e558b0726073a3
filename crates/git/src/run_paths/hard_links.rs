//! Files with several names: a change by one name is a change of all.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Entries of a tree that are compared.
const MOST_ENTRIES: usize = 200_000;

/// Files that git runs or reads, and that have another name somewhere, by device and inode.
#[derive(Default)]
pub(super) struct HardLinks(BTreeMap<(u64, u64), String>);

impl HardLinks {
    pub(super) fn note(&mut self, file: &Path, reason: &str) {
        if let Ok(about) = file.metadata()
            && about.is_file()
            && about.nlink() > 1
        {
            self.0.entry((about.dev(), about.ino())).or_insert_with(|| reason.to_owned());
        }
    }

    /// Their names in a tree, each with its reason. Most repositories have none, and then nothing is walked.
    pub(super) fn find(self, tree: &Path) -> Vec<(PathBuf, String)> {
        let mut found = Vec::new();
        let mut waiting = if self.0.is_empty() { Vec::new() } else { vec![tree.to_owned()] };
        let mut left = MOST_ENTRIES;
        while let Some(folder) = waiting.pop() {
            for entry in folder.read_dir().into_iter().flatten().flatten() {
                let Some(less) = left.checked_sub(1) else { return found };
                left = less;
                let Ok(about) = entry.metadata() else { continue };
                if about.is_dir() && entry.file_name() != ".git" {
                    waiting.push(entry.path());
                } else if about.nlink() > 1
                    && let Some(reason) = self.0.get(&(about.dev(), about.ino()))
                {
                    found.push((entry.path(), reason.clone()));
                }
            }
        }
        found
    }
}
