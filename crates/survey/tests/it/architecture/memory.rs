#![allow(clippy::expect_used, reason = "what tests share may fail them")]

use std::sync::atomic::{AtomicUsize, Ordering};

use sequester_core::path::RepoPath;
use sequester_core::repository::{Entry, EntryKind, Error, ErrorKind, Snapshot, Stamp};

/// A snapshot held in memory that counts what is read.
pub(super) struct Memory {
    entries: Vec<Entry>,
    texts: Vec<String>,
    reads: AtomicUsize,
}

impl Memory {
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let mut files = files.to_vec();
        files.sort_unstable();
        let entry = |path: &str| Entry {
            path: RepoPath::parse(path).expect("a path inside"),
            kind: EntryKind::File,
            stamp: Stamp::Content(String::new()),
        };
        Self {
            entries: files.iter().map(|(path, _)| entry(path)).collect(),
            texts: files.iter().map(|(_, text)| (*text).to_owned()).collect(),
            reads: AtomicUsize::new(0),
        }
    }

    pub(super) fn reads(&self) -> usize {
        self.reads.load(Ordering::Relaxed)
    }
}

impl Snapshot for Memory {
    fn label(&self) -> &'static str {
        "memory"
    }

    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn read(&self, path: &RepoPath, limit: u64) -> Result<Vec<u8>, Error> {
        let at = self.entries.iter().position(|entry| entry.path == *path);
        let text = at.and_then(|at| self.texts.get(at));
        let text = text.ok_or_else(|| Error::new(ErrorKind::NotFound, "not there"))?;
        self.reads.fetch_add(1, Ordering::Relaxed);
        if text.len() as u64 > limit {
            return Err(Error::new(ErrorKind::TooLarge, "too large"));
        }
        Ok(text.clone().into_bytes())
    }

    fn read_many(
        &self,
        wanted: &[usize],
        limit: u64,
        each: &mut dyn FnMut(usize, Result<&[u8], Error>),
    ) {
        assert!(wanted.is_sorted());
        for at in wanted {
            let bytes = self.read(&self.entries[*at].path, limit);
            each(*at, bytes.as_deref().map_err(|error| Error::new(error.kind, "not read")));
        }
    }
}
