//! A base: the tree of one commit.

use std::collections::BTreeSet;
use std::fmt;
use std::io::BufRead;
use std::process::Stdio;

use sequester_core::path::RepoPath;
use sequester_core::repository::{Each, Entry, EntryKind, Error, ErrorKind, Snapshot, Stamp};

use crate::checkout::Checkout;
use crate::export::Export;
use crate::objects::{BATCH, Objects};
use crate::program::{Program, broken};

/// A listing that is longer is no source tree: trees that name each other can stand for any number of files.
const LISTING_BYTES: u64 = 256 << 20;
const LISTING_ENTRIES: usize = 2_000_000;

/// How many entries that were left out are named.
const PROBLEMS: usize = 100;

/// How many bytes of working files are held at once while their neighbours are read from objects.
const HELD_BYTES: usize = 8 << 20;

/// The files of one commit. What is read is always the commit's own bytes, whatever the working tree holds.
pub struct Tree {
    label: String,
    commit: Option<String>,
    pub(crate) program: Program,
    pub(crate) checkout: Checkout,
    entries: Vec<Entry>,
    executable: BTreeSet<RepoPath>,
    problems: Vec<String>,
    pub(crate) objects: Objects,
}

impl Tree {
    pub(crate) fn of(program: &Program, commit: Option<String>) -> Result<Self, Error> {
        let listing = match &commit {
            Some(commit) => list(program, commit)?,
            None => Listing::default(),
        };
        let label = match &commit {
            Some(commit) => format!("HEAD ({})", commit.get(..12).unwrap_or(commit)),
            None => "an empty base (no commit yet)".to_owned(),
        };
        let (checkout, objects) = (Checkout::at(program.root()), Objects::of(program));
        let Listing { entries, executable, problems } = listing;
        let program = program.clone();
        Ok(Self { label, commit, program, checkout, entries, executable, problems, objects })
    }

    /// What is left of it without the files that `hidden` names, ready to be written somewhere.
    pub fn without(&self, hidden: impl Fn(&Entry) -> bool) -> Export<'_> {
        Export::new(self, hidden)
    }

    /// How many digits a name of this repository's objects has. Without a commit there is none to be like.
    pub(crate) fn name_length(&self) -> usize {
        self.commit.as_ref().map_or(40, String::len)
    }

    pub(crate) fn is_executable(&self, path: &RepoPath) -> bool {
        self.executable.contains(path)
    }

    /// The full name of the commit; none before the first one.
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

#[derive(Default)]
struct Listing {
    entries: Vec<Entry>,
    executable: BTreeSet<RepoPath>,
    problems: Vec<String>,
}

fn list(program: &Program, commit: &str) -> Result<Listing, Error> {
    let (mut entries, mut problems, mut left_out) = (Vec::new(), Vec::new(), 0);
    let mut executable = BTreeSet::new();
    let arguments = ["ls-tree", "-r", "-z", "--full-tree", commit];
    let mut process = program.stream(&arguments, Stdio::null())?;
    let mut output = process.output(LISTING_BYTES)?;
    let mut record = Vec::new();
    loop {
        record.clear();
        let read = output.read_until(0, &mut record);
        match (read, record.pop()) {
            (Ok(0), _) => break,
            (Ok(_), Some(0)) => {}
            _ => {
                return Err(broken(format!(
                    "the listing of `{commit}` is too long or was cut off."
                )));
            }
        }
        match read_record(&record) {
            Ok(entry) => {
                if record.starts_with(b"100755 ") {
                    executable.insert(entry.path.clone());
                }
                entries.push(entry);
            }
            Err(why) => {
                left_out += 1;
                if left_out <= PROBLEMS {
                    let path = record.splitn(2, |byte| *byte == b'\t').last().unwrap_or(&record);
                    let path = String::from_utf8_lossy(path);
                    problems.push(format!("{path:?} was left out: {why}."));
                }
            }
        }
        if entries.len() + left_out > LISTING_ENTRIES {
            return Err(broken(format!("`{commit}` holds more than {LISTING_ENTRIES} files.")));
        }
    }
    if left_out > PROBLEMS {
        problems.push(format!("{} more were left out.", left_out - PROBLEMS));
    }
    if !process.succeeded() {
        return Err(broken(format!(
            "the tree of `{commit}` is missing or damaged. Run `git fsck`; in a partial clone, `git fetch --refetch`."
        )));
    }
    // Git's order already, but for trees that were made by hand.
    entries.sort_by(|one, other| one.path.cmp(&other.path));
    entries.dedup_by(|one, other| one.path == other.path);
    Ok(Listing { entries, executable, problems })
}

/// Reads `<mode> <type> <name>\t<path>`, or says why it is no entry.
fn read_record(record: &[u8]) -> Result<Entry, String> {
    let tab = record.iter().position(|byte| *byte == b'\t');
    let (meta, path) = record.split_at(tab.ok_or("it has no path")?);
    let text = std::str::from_utf8(&path[1..]).map_err(|_| "its name is not UTF-8")?;
    let path = RepoPath::parse(text).map_err(|why| why.to_string())?;
    if path.as_str() != text {
        return Err("it is not the shortest form of a path".to_owned());
    }
    if text.split('/').any(|part| part.eq_ignore_ascii_case(".git")) {
        return Err("it lies inside a `.git`".to_owned());
    }
    let meta = String::from_utf8_lossy(meta);
    let mut words = meta.split(' ');
    let kind = match words.next() {
        Some("120000") => EntryKind::Symlink,
        Some("160000") => EntryKind::Submodule,
        _ => EntryKind::File,
    };
    let name = words.nth(1).ok_or("it has no object")?.to_owned();
    let stamp = Stamp::Content(name);
    Ok(Entry { path, kind, stamp })
}
