//! What of the index and the working tree is not in a base, found without running git on the working tree.

use sequester_core::path::RepoPath;
use sequester_core::repository::{EntryKind, Error, Snapshot, Stamp};

use crate::checkout::Checkout;
use crate::index::Index;
use crate::program::Program;

/// How many paths are named.
const NAMED: usize = 5;

/// Changes of content against a base. Untracked files and mere changes of mode are not among them, and a file that a
/// filter or line-ending rule rewrites counts as changed where the index cannot vouch for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dirty {
    /// Paths that the index holds otherwise than the base, or not at all, or in addition.
    pub staged: usize,
    /// Other paths that the working tree holds otherwise, or not at all.
    pub changed: usize,
    /// The first few of both.
    pub names: Vec<RepoPath>,
}

impl Dirty {
    pub fn is_clean(&self) -> bool {
        self.staged == 0 && self.changed == 0
    }

    pub(crate) fn against(program: &Program, base: &dyn Snapshot) -> Result<Self, Error> {
        let mut index = Index::read(program)?;
        let mut dirty = Self::default();
        let checkout = Checkout::at(program.root());
        for entry in base.entries() {
            let Stamp::Content(name) = &entry.stamp else {
                continue;
            };
            match index.entries.remove(&entry.path) {
                Some(indexed) if indexed.name == *name => {
                    let ours = entry.kind == EntryKind::Submodule || indexed.absent_on_purpose;
                    let file = program.root().join(entry.path.as_str());
                    if !ours
                        && !index.vouches(&indexed, file.symlink_metadata().ok())
                        && !checkout.is_same(entry.path.as_str(), name)
                    {
                        dirty.changed += 1;
                        dirty.name(&entry.path);
                    }
                }
                _ => {
                    dirty.staged += 1;
                    dirty.name(&entry.path);
                }
            }
        }
        for path in index.entries.keys() {
            dirty.staged += 1;
            dirty.name(path);
        }
        dirty.names.sort();
        Ok(dirty)
    }

    fn name(&mut self, path: &RepoPath) {
        if self.names.len() < NAMED {
            self.names.push(path.clone());
        }
    }
}
