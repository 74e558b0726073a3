//! A snapshot, a history and a cache that live in memory.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use sequester_core::cache::Cache;
use sequester_core::limits::Limits;
use sequester_core::path::RepoPath;
use sequester_core::ranker::{Ranked, Ranker};
use sequester_core::repository::{
    Commit, Entry, EntryKind, Error, ErrorKind, History, Snapshot, Stamp,
};
use sequester_survey::Index;

/// Counts what is read of it.
pub(crate) struct Memory {
    entries: Vec<Entry>,
    contents: Vec<Vec<u8>>,
    pub(crate) reads: AtomicUsize,
}

impl Memory {
    /// Files whose stamps are their contents.
    pub(crate) fn new<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let files = files.into_iter().map(|(path, text)| {
            let stamp = Stamp::Content(blake3::hash(text.as_bytes()).to_string());
            (path, text.as_bytes(), stamp)
        });
        Self::stamped(files)
    }

    pub(crate) fn stamped<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8], Stamp)>) -> Self {
        let mut files: Vec<_> = files.into_iter().collect();
        files.sort_by_key(|(path, _, _)| *path);
        Self {
            contents: files.iter().map(|(_, content, _)| content.to_vec()).collect(),
            entries: files
                .into_iter()
                .map(|(path, _, stamp)| Entry {
                    path: RepoPath::parse(path).unwrap(),
                    kind: EntryKind::File,
                    stamp,
                })
                .collect(),
            reads: AtomicUsize::new(0),
        }
    }
}

impl Snapshot for Memory {
    fn label(&self) -> &'static str {
        "memory"
    }

    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn read(&self, path: &RepoPath, _limit: u64) -> Result<Vec<u8>, Error> {
        let at = self.entries.iter().position(|entry| entry.path == *path);
        at.map(|at| self.contents[at].clone())
            .ok_or_else(|| Error::new(ErrorKind::NotFound, "no such file"))
    }

    fn read_many(
        &self,
        wanted: &[usize],
        limit: u64,
        each: &mut dyn FnMut(usize, Result<&[u8], Error>),
    ) {
        for &at in wanted {
            self.reads.fetch_add(1, Ordering::Relaxed);
            let content = &self.contents[at];
            if content.len() as u64 > limit {
                each(at, Err(Error::new(ErrorKind::TooLarge, "too large")));
            } else {
                each(at, Ok(content));
            }
        }
    }
}

#[derive(Default)]
pub(crate) struct Kept(pub(crate) Mutex<BTreeMap<String, Vec<u8>>>);

impl Cache for Kept {
    fn get(&self, key: &str) -> Option<Vec<u8>> {
        self.0.lock().unwrap().get(key).cloned()
    }

    fn put(&self, key: &str, bytes: &[u8]) {
        self.0.lock().unwrap().insert(key.to_owned(), bytes.to_vec());
    }
}

pub(crate) struct Past {
    pub(crate) id: String,
    pub(crate) commits: Vec<Commit>,
}

impl Past {
    pub(crate) fn new(commits: &[(&str, &[&str])]) -> Self {
        Self {
            id: format!("{commits:?}"),
            commits: commits
                .iter()
                .map(|(message, paths)| Commit {
                    message: (*message).to_owned(),
                    paths: paths.iter().map(|path| (*path).to_owned()).collect(),
                })
                .collect(),
        }
    }
}

impl History for Past {
    fn id(&self) -> &str {
        &self.id
    }

    fn commits(&self, most: usize) -> Result<Vec<Commit>, Error> {
        Ok(self.commits.iter().take(most).cloned().collect())
    }
}

pub(crate) fn open(snapshot: &dyn Snapshot, cache: &dyn Cache) -> Index {
    Index::open(snapshot, None, cache, &Limits::default())
}

pub(crate) fn paths(ranked: &[Ranked]) -> Vec<&str> {
    ranked.iter().map(|ranked| ranked.path.as_str()).collect()
}

/// The paths that `text` leads to, best first.
pub(crate) fn ranking(index: &Index, text: &str) -> Vec<String> {
    paths(&index.rank(text, 50)).into_iter().map(str::to_owned).collect()
}
