//! A base: one tree, mostly that of a commit.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use sequester_core::path::RepoPath;
use sequester_core::repository::{Each, Entry, EntryKind, Error, ErrorKind, Snapshot, Stamp};

use crate::checkout::Checkout;
use crate::export::Export;
use crate::listing::Listing;
use crate::name::Name;
use crate::objects::{BATCH, Objects};
use crate::program::Program;
use crate::repo::Repo;

/// How many bytes of working files are held at once while their neighbours are read from objects.
const HELD_BYTES: usize = 8 << 20;

/// The files of one tree. What is read is always the tree's own bytes, whatever the working tree holds.
pub struct Tree {
    label: String,
    commit: Option<String>,
    pub(crate) program: Program,
    pub(crate) checkout: Checkout,
    entries: Vec<Entry>,
    executable: BTreeSet<RepoPath>,
    problems: Vec<String>,
    pub(crate) objects: Arc<Objects>,
}

impl Tree {
    /// What a commit holds; nothing where there is none.
    pub(crate) fn of_commit(repo: &Repo, commit: Option<String>) -> Result<Self, Error> {
        let listing = match &commit {
            Some(commit) => Listing::of_commit(&repo.program, commit)?,
            None => Listing::default(),
        };
        let label = match &commit {
            Some(commit) => format!("HEAD ({})", commit.get(..12).unwrap_or(commit)),
            None => "an empty base (no commit yet)".to_owned(),
        };
        Ok(Self::new(repo, label, commit, listing))
    }

    /// Any state that a run made.
    pub(crate) fn of_tree(repo: &Repo, tree: &Name) -> Result<Self, Error> {
        let listing = Listing::of_tree(&repo.objects, tree)?;
        let label = format!("the tree {}", tree.to_string().get(..12).unwrap_or_default());
        Ok(Self::new(repo, label, None, listing))
    }

    fn new(repo: &Repo, label: String, commit: Option<String>, listing: Listing) -> Self {
        let Listing { entries, executable, problems, .. } = listing;
        Self {
            label,
            commit,
            program: repo.program.clone(),
            checkout: Checkout::at(repo.root()),
            entries,
            executable,
            problems,
            objects: Arc::clone(&repo.objects),
        }
    }

    /// What is left of it without the files that `hidden` names, ready to be written somewhere.
    pub fn without(&self, hidden: impl Fn(&Entry) -> bool) -> Export<'_> {
        Export::new(self, hidden)
    }

    pub(crate) fn is_executable(&self, path: &RepoPath) -> bool {
        self.executable.contains(path)
    }

    /// The full name of the commit; none before the first one, and for a tree that is no commit's.
    pub fn commit(&self) -> Option<&str> {
        self.commit.as_deref()
    }

    /// What was left out of the entries, and why: paths that are no text or no path inside a repository.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// Reads neighbours in one go: those that the working tree holds unchanged from there, the others as objects.
    fn read_some(&self, wanted: &[usize], limit: u64, each: Each<'_>) -> usize {
        let (mut held, mut bytes, mut missing) = (Vec::new(), 0, Vec::new());
        for &at in wanted.iter().take(BATCH) {
            let source =
                self.entries.get(at).map_or(Source::Refused, |entry| self.source(entry, limit));
            match &source {
                Source::Held(content) => bytes += content.len(),
                Source::Object(name) => missing.push(*name),
                Source::Refused => {}
            }
            held.push(source);
            if bytes > HELD_BYTES {
                break;
            }
        }
        let mut rest = wanted.iter().zip(&held);
        let mut give_until_object = |each: Each<'_>| {
            for (&at, source) in rest.by_ref() {
                match source {
                    Source::Held(content) => each(at, Ok(content)),
                    Source::Refused => each(at, Err(self.refusal(at))),
                    Source::Object(_) => return at,
                }
            }
            usize::MAX
        };
        let mut next = give_until_object(each);
        self.objects.read(&missing, limit, &mut |_, result| {
            each(next, result.as_deref().map_err(|error| self.place(next, error)));
            next = give_until_object(each);
        });
        held.len()
    }

    fn source<'a>(&self, entry: &'a Entry, limit: u64) -> Source<'a> {
        match (&entry.kind, &entry.stamp) {
            (EntryKind::File, Stamp::Content(name)) => self
                .checkout
                .read_if_same(entry.path.as_str(), name, limit)
                .map_or(Source::Object(name), Source::Held),
            _ => Source::Refused,
        }
    }

    fn refusal(&self, at: usize) -> Error {
        match self.entries.get(at) {
            Some(entry) => {
                let what = match entry.kind {
                    EntryKind::Submodule => "another repository",
                    _ => "a symbolic link, which is never followed",
                };
                Error::new(ErrorKind::Denied, format!("`{}` is {what}.", entry.path))
            }
            None => Error::new(ErrorKind::NotFound, format!("the base has no entry {at}.")),
        }
    }

    /// Says of which file an error speaks.
    fn place(&self, at: usize, error: &Error) -> Error {
        let path = self.entries.get(at).map_or("", |entry| entry.path.as_str());
        Error::new(error.kind, format!("`{path}` cannot be read: {}", error.message))
    }
}

/// Where the bytes of an entry come from.
enum Source<'a> {
    Held(Vec<u8>),
    Object(&'a str),
    Refused,
}

impl Snapshot for Tree {
    fn label(&self) -> &str {
        &self.label
    }

    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn read(&self, path: &RepoPath, limit: u64) -> Result<Vec<u8>, Error> {
        let at = self.entries.binary_search_by(|entry| entry.path.cmp(path));
        let at = at.map_err(|_| {
            Error::new(ErrorKind::NotFound, format!("`{path}` is not in {}.", self.label))
        })?;
        let mut bytes = Err(self.refusal(at));
        self.read_some(&[at], limit, &mut |_, result| {
            bytes = result.map(<[u8]>::to_vec);
        });
        bytes
    }

    fn read_many(&self, wanted: &[usize], limit: u64, each: Each<'_>) {
        let mut rest = wanted;
        while !rest.is_empty() {
            rest = &rest[self.read_some(rest, limit, each)..];
        }
    }
}

impl fmt::Debug for Tree {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Tree({}, {} entries)", self.label, self.entries.len())
    }
}
