//! A checkout that is still as it was when a run began with what was not committed: nobody's work is lost where that gives way to
//! the run's branch, which holds all of it.

use std::collections::HashMap;

use sequester_core::path::RepoPath;
use sequester_core::repository::{Error, Start};

use super::swap::Place;
use super::{Apply, Refusal};
use crate::index::Index;
use crate::name::Name;
use crate::trees::Trees;
use crate::trees::commit;
use crate::trees::edit::Leaf;
use crate::trees::working;

/// What is put into the working tree, and what is noted in the index.
pub(super) struct Places {
    pub(super) files: Vec<Place>,
    pub(super) noted: Vec<Place>,
}

impl Places {
    /// Of a checkout in which both are the same.
    pub(super) fn both(files: Vec<Place>) -> Self {
        Self { noted: files.clone(), files }
    }
}

impl Trees {
    /// The tree that a run began with, if HEAD is where it was and the working tree is just that one. Nothing for a run that
    /// began with a commit of the person's.
    pub(super) fn as_begun(
        &self,
        began: Option<&Start>,
        ours: Option<Name>,
    ) -> Result<Option<Name>, Error> {
        let Some(began) = began else { return Ok(None) };
        let (objects, format) = (&self.repo.objects, self.repo.objects.format());
        let below = match &began.commit {
            None => None,
            Some(made) => match commit::parent_of(objects, &format.read(made.as_str())?)? {
                // A commit of the person's own may be the first.
                None => return Ok(None),
                below => below,
            },
        };
        if below != ours {
            return Ok(None);
        }
        let tree = format.read(began.tree.as_str())?;
        let now = working::write(&self.repo, &self.tree_of(ours)?, &self.passed_over)?;
        Ok((now == tree).then_some(tree))
    }

    /// From the working tree to `files`; the index comes to what HEAD will be, or to what is put into the working tree where HEAD
    /// stays. What is nowhere but in the index would be lost by that.
    pub(super) fn over_begun(
        &self,
        apply: Apply,
        files: Vec<Place>,
        whole: Vec<Place>,
    ) -> Result<Result<Places, Refusal>, Error> {
        let format = self.repo.objects.format();
        let index = Index::read(&self.repo.program)?;
        let mut known: HashMap<RepoPath, Vec<Leaf>> = HashMap::new();
        for Place { path, old, new } in files.iter().chain(&whole) {
            known.entry(path.clone()).or_default().extend(old.iter().chain(new));
        }
        let mut noted = if apply == Apply::Patch { files.clone() } else { whole };
        let mut lost = Vec::new();
        for place in &mut noted {
            place.old = None;
            let Some(indexed) = index.entries.get(&place.path) else { continue };
            if indexed.is_unmerged() {
                lost.push(place.path.to_string());
                continue;
            }
            let name = format.read(&indexed.name)?;
            // As it is now, so that it can be put back.
            place.old = indexed.mode.map(|mode| (mode, name));
            let known = known.get(&place.path).into_iter().flatten();
            let is_known = known.into_iter().any(|leaf| place.old == Some(*leaf));
            if !is_known && !indexed.is_empty_promise {
                lost.push(place.path.to_string());
            }
        }
        Ok(if lost.is_empty() { Ok(Places { files, noted }) } else { Err(Refusal::Unclean(lost)) })
    }
}
