//! Earlier commits: those with similar messages vote for the files they changed.

use sequester_core::cache::Cache;
use sequester_core::path::RepoPath;
use sequester_core::repository::{Commit, Error, History};

use crate::index::{Blob, Builder, read_bytes, read_number, write_bytes, write_number};

const KEY: &str = "history-index-2";
/// Older commits were measured to add nothing.
const MOST_COMMITS: usize = 5_000;
/// What a commit says beyond this is a log, not a message.
const MESSAGE_BYTES: usize = 2_000;
/// A commit that changes more files says nothing about one of them.
const MOST_PATHS: usize = 60;

/// The history of one base, as seen from the files that are there.
pub(crate) struct Votes {
    /// Messages; a document is a commit, the newest first.
    pub(crate) messages: Blob,
    /// The documents each commit changed that still exist.
    pub(crate) changed: Vec<Vec<u32>>,
    /// For each document the commits that changed it, newest first, as a sorted list.
    by_document: Vec<(u32, u32)>,
}

impl Votes {
    pub(crate) fn open(
        history: &dyn History,
        cache: &dyn Cache,
        paths: &[RepoPath],
    ) -> Result<Self, Error> {
        let kept = cache.get(KEY).and_then(Blob::parse);
        let kept = kept.and_then(|blob| {
            let changed = decode(blob.extra(), history.id(), paths)?;
            Some((blob, changed))
        });
        if let Some((messages, changed)) = kept {
            return Ok(Self::new(messages, changed));
        }
        let messages = build(history.id(), &history.commits(MOST_COMMITS)?);
        cache.put(KEY, messages.bytes());
        let changed = decode(messages.extra(), history.id(), paths).unwrap_or_default();
        Ok(Self::new(messages, changed))
    }

    fn new(messages: Blob, changed: Vec<Vec<u32>>) -> Self {
        let pairs = changed.iter().enumerate().flat_map(|(commit, documents)| {
            documents.iter().map(move |document| (*document, commit as u32))
        });
        let mut by_document: Vec<(u32, u32)> = pairs.collect();
        by_document.sort_unstable();
        Self { messages, changed, by_document }
    }

    /// The commits that changed `document`, newest first.
    pub(crate) fn commits_of(&self, document: u32) -> impl Iterator<Item = u32> {
        let start = self.by_document.partition_point(|(other, _)| *other < document);
        let rest = self.by_document[start..].iter();
        rest.take_while(move |(other, _)| *other == document).map(|(_, commit)| *commit)
    }
}

/// The extra bytes: the id, every path once, then the paths of each commit.
fn build(id: &str, commits: &[Commit]) -> Blob {
    let telling = |commit: &Commit| commit.paths.len() <= MOST_PATHS;
    let few = commits.iter().filter(|commit| telling(commit));
    let mut paths: Vec<&str> =
        few.flat_map(|commit| commit.paths.iter().map(String::as_str)).collect();
    paths.sort_unstable();
    paths.dedup();
    let mut extra = Vec::new();
    write_bytes(&mut extra, id.as_bytes());
    write_number(&mut extra, paths.len() as u64);
    for path in &paths {
        write_bytes(&mut extra, path.as_bytes());
    }
    let mut builder = Builder::for_documents(commits.len());
    let mut lengths = Vec::with_capacity(commits.len());
    for (number, commit) in commits.iter().enumerate() {
        let message = commit.message.as_bytes();
        let message = &message[..message.len().min(MESSAGE_BYTES)];
        lengths.push(builder.add_text(number as u32, message));
        let few = if telling(commit) { &commit.paths[..] } else { &[] };
        write_number(&mut extra, few.len() as u64);
        for path in few {
            let at = paths.binary_search(&path.as_str()).unwrap_or(0);
            write_number(&mut extra, at as u64);
        }
    }
    Blob::assemble(&extra, &lengths, &builder.finish())
}

/// The documents that each commit changed, if the bytes are of the history `id`.
fn decode(mut extra: &[u8], id: &str, paths: &[RepoPath]) -> Option<Vec<Vec<u32>>> {
    if read_bytes(&mut extra)? != id.as_bytes() {
        return None;
    }
    let count = read_number(&mut extra)?;
    let mut documents = Vec::new();
    for _ in 0..count {
        let path = read_bytes(&mut extra)?;
        let found = paths.binary_search_by(|known| known.as_str().as_bytes().cmp(path));
        documents.push(found.ok().map(|at| at as u32));
    }
    let mut changed = Vec::new();
    while !extra.is_empty() {
        let count = read_number(&mut extra)?;
        let mut of_commit = Vec::new();
        for _ in 0..count {
            let path = usize::try_from(read_number(&mut extra)?).ok()?;
            of_commit.extend(*documents.get(path)?);
        }
        of_commit.sort_unstable();
        of_commit.dedup();
        changed.push(of_commit);
    }
    Some(changed)
}
