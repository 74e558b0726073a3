use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sequester_core::change::{Action, Change, Entry, Mode};
use sequester_core::digest::Digest;
use sequester_core::id::{CommitId, RunId, TreeId};
use sequester_core::repository::{Draft, Error, ErrorKind, Merge, Repository, Snapshot, Start};

use crate::MemoryRepository;

type Files = BTreeMap<String, Vec<u8>>;

/// Trees by their contents, commits by their drafts, branches by their names.
#[derive(Clone)]
pub struct MemoryTrees {
    start: TreeId,
    kept: Arc<Mutex<Kept>>,
}

#[derive(Default)]
struct Kept {
    trees: BTreeMap<TreeId, Files>,
    commits: BTreeMap<CommitId, Draft>,
    branches: BTreeMap<String, CommitId>,
}

impl MemoryTrees {
    pub fn new(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()));
        let mut trees = Self { start: TreeId::default(), kept: Arc::default() };
        trees.start = trees.keep(files.collect());
        trees
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, files: Files) -> TreeId {
        let mut bytes = Vec::new();
        for (path, content) in &files {
            bytes.extend_from_slice(format!("{path}\0{}\0", content.len()).as_bytes());
            bytes.extend_from_slice(content);
        }
        let id = TreeId::new(Digest::of(&bytes).as_str());
        self.kept().trees.insert(id.clone(), files);
        id
    }

    /// What a tree holds.
    pub fn files(&self, tree: &TreeId) -> Result<Files, Error> {
        let missing = || Error::new(ErrorKind::NotFound, format!("There is no tree `{tree}`."));
        self.kept().trees.get(tree).cloned().ok_or_else(missing)
    }

    /// The commits of a branch, the newest first.
    pub fn history(&self, branch: &str) -> Vec<Draft> {
        let kept = self.kept();
        let mut at = kept.branches.get(branch);
        let mut found = Vec::new();
        while let Some(draft) = at.and_then(|commit| kept.commits.get(commit)) {
            found.push(draft.clone());
            at = draft.parent.as_ref();
        }
        found
    }
}

impl Repository for MemoryTrees {
    fn start(&self, _: bool) -> Result<Start, Error> {
        Ok(Start { commit: None, tree: self.start.clone(), uncommitted: false, left_out: false })
    }

    fn snapshot(&self, tree: &TreeId) -> Result<Arc<dyn Snapshot>, Error> {
        Ok(Arc::new(MemoryRepository::new(self.files(tree)?)))
    }

    fn with_change(&self, base: &TreeId, change: &Change) -> Result<TreeId, Error> {
        let mut files = self.files(base)?;
        for entry in &change.entries {
            match entry.mode {
                Some(_) => files.insert(entry.path.clone(), entry.content.clone()),
                None => files.remove(&entry.path),
            };
        }
        Ok(self.keep(files))
    }

    fn between(&self, from: &TreeId, to: &TreeId) -> Result<Change, Error> {
        Ok(compare(&self.files(from)?, &self.files(to)?))
    }

    fn merge(&self, base: &TreeId, ours: &TreeId, theirs: &TreeId) -> Result<Merge, Error> {
        let (base, mut merged) = (self.files(base)?, self.files(ours)?);
        let mut conflicts = Vec::new();
        for entry in compare(&base, &self.files(theirs)?).entries {
            let wanted = entry.mode.map(|_| entry.content);
            let ours = merged.get(&entry.path).cloned();
            if ours.as_ref() != base.get(&entry.path) && ours != wanted {
                conflicts.push(entry.path);
            } else if let Some(content) = wanted {
                merged.insert(entry.path, content);
            } else {
                merged.remove(&entry.path);
            }
        }
        Ok(if conflicts.is_empty() {
            Merge::Clean(self.keep(merged))
        } else {
            Merge::Conflict(conflicts)
        })
    }

    fn commit(&self, draft: &Draft) -> Result<CommitId, Error> {
        let id = CommitId::new(Digest::of(format!("{draft:?}").as_bytes()).as_str());
        self.kept().commits.insert(id.clone(), draft.clone());
        Ok(id)
    }

    fn move_branch(
        &self,
        branch: &str,
        from: Option<&CommitId>,
        to: &CommitId,
    ) -> Result<(), Error> {
        let mut kept = self.kept();
        if kept.branches.get(branch) != from {
            return Err(Error::new(ErrorKind::Denied, "The branch is elsewhere."));
        }
        let parent = |commit: &CommitId| kept.commits.get(commit)?.parent.clone();
        let mut line = std::iter::successors(Some(to.clone()), parent);
        if from.is_some_and(|from| !line.any(|commit| commit == *from)) {
            return Err(Error::new(ErrorKind::Denied, "Commits of the branch would be lost."));
        }
        kept.branches.insert(branch.to_owned(), to.clone());
        Ok(())
    }

    fn branch(&self, branch: &str) -> Result<Option<CommitId>, Error> {
        Ok(self.kept().branches.get(branch).cloned())
    }

    fn hold(&self, _: &RunId, _: &[TreeId], _: &[CommitId]) -> Result<(), Error> {
        Ok(())
    }
}

/// What leads from one set of files to another.
pub(super) fn compare(from: &Files, to: &Files) -> Change {
    let mut entries: Vec<Entry> = Vec::new();
    for (path, content) in to.iter().filter(|(path, content)| from.get(*path) != Some(content)) {
        let was = from.get(path).map(|_| Mode::File);
        let action = if was.is_some() { Action::Modify } else { Action::Create };
        let mode = Some(Mode::File);
        entries.push(entry(path, action, was, mode, content.clone()));
    }
    for path in from.keys().filter(|path| !to.contains_key(*path)) {
        entries.push(entry(path, Action::Delete, Some(Mode::File), None, Vec::new()));
    }
    entries.sort_by(|one, other| one.path.cmp(&other.path));
    let paths: Vec<&str> = entries.iter().map(|entry| entry.path.as_str()).collect();
    let patch = paths.join("\n");
    Change { entries, patch, ..Change::default() }
}

fn entry(
    path: &str,
    action: Action,
    was: Option<Mode>,
    mode: Option<Mode>,
    content: Vec<u8>,
) -> Entry {
    Entry {
        path: path.to_owned(),
        action,
        was,
        mode,
        added: Some(1),
        removed: Some(0),
        in_patch: true,
        size: content.len() as u64,
        content,
    }
}
