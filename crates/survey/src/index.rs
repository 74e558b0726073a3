//! The index of a snapshot: made once, kept in the cache, brought up to date file by file.

mod blob;
mod builder;
mod listing;
mod postings;
mod runs;
mod split;
mod term;

use sequester_core::cache::Cache;
use sequester_core::limits::Limits;
use sequester_core::path::RepoPath;
use sequester_core::ranker::{Ranked, Ranker};
use sequester_core::repository::{Error, ErrorKind, History, Snapshot};

use crate::history::Votes;
use crate::kind::Kind;
use crate::rank;

pub(crate) use blob::Blob;
use blob::{Terms, View};
pub(crate) use builder::{Builder, stem, whole_name};
use listing::{Doubtful, Hash, Listing};
pub(crate) use postings::{
    DEFINED, FOLDER, NAME, Posting, WHOLE_NAME, read_bytes, read_number, write_bytes, write_number,
};
use postings::{List, Postings};

/// One slot: an index of another state of the repository is what the next one is made from.
const KEY: &str = "file-index-2";
/// The length of a document that is never ranked: binary, or not readable.
const NEVER: u32 = u32::MAX;
/// Content that only the first part of is indexed: data, and text whose lines no person wrote.
const DATA_BYTES: usize = 64 << 10;
const LONG_LINE: usize = 4 << 10;

/// Ranks the files of one snapshot for a task's text.
pub struct Index {
    pub(crate) blob: Blob,
    pub(crate) paths: Vec<RepoPath>,
    pub(crate) kinds: Vec<Kind>,
    pub(crate) votes: Option<Votes>,
    problems: Vec<String>,
}

impl Index {
    /// Takes the index from the cache as far as it still holds, reads what changed, and puts the result back. `cache` belongs
    /// to one repository: an index of another one is no help, though never wrong.
    pub fn open(
        snapshot: &dyn Snapshot,
        history: Option<&dyn History>,
        cache: &dyn Cache,
        limits: &Limits,
    ) -> Self {
        let listing = Listing::of(snapshot, limits.file_bytes);
        let source = Source { snapshot, listing: &listing, limit: limits.file_bytes };
        let blob = source.bring_up_to_date(cache);
        let mut problems = Vec::new();
        let votes = history.and_then(|history| {
            let votes = Votes::open(history, cache, &listing.paths);
            votes.map_err(|error| problems.push(error.to_string())).ok()
        });
        Self {
            kinds: listing.paths.iter().map(|path| Kind::of(path.as_str())).collect(),
            paths: listing.paths,
            blob,
            votes,
            problems,
        }
    }

    /// What could not be used, in sentences for a person.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    pub(crate) fn is_ranked(&self, document: u32) -> bool {
        self.blob.length(document) != NEVER
    }

    pub(crate) fn document(&self, path: &str) -> Option<u32> {
        let at = self.paths.binary_search_by(|known| known.as_str().cmp(path)).ok()?;
        Some(at as u32)
    }
}

impl Ranker for Index {
    fn rank(&self, text: &str, top: usize) -> Vec<Ranked> {
        rank::rank(self, text, top)
    }
}

struct Source<'a> {
    snapshot: &'a dyn Snapshot,
    listing: &'a Listing,
    limit: u64,
}

impl Source<'_> {
    fn bring_up_to_date(&self, cache: &dyn Cache) -> Blob {
        let old = cache.get(KEY).and_then(Blob::parse);
        let (blob, whole) = match old.as_ref().and_then(|old| self.plan(old)) {
            Some(plan) if plan.is_empty() => return old.unwrap_or_else(|| self.build_whole().0),
            Some(plan) => self.build(old.as_ref(), &plan),
            None => self.build_whole(),
        };
        if whole {
            cache.put(KEY, blob.bytes());
        }
        blob
    }

    fn build_whole(&self) -> (Blob, bool) {
        self.build(None, &Plan::everything(self.listing.paths.len()))
    }

    /// What of `old` still holds; `None` if it says nothing about this listing.
    fn plan(&self, old: &Blob) -> Option<Plan> {
        let (doubtful, bytes) = listing::decode(old.extra())?;
        if bytes.get(..8) != self.listing.bytes.get(..8) {
            return None;
        }
        if bytes == self.listing.bytes && old.documents() == self.listing.paths.len() {
            return Some(self.compare(&doubtful));
        }
        let known = listing::documents(bytes)?;
        let mut plan = Plan::nothing(known.len());
        let mut before = known.iter().enumerate().peekable();
        for (at, path) in self.listing.paths.iter().enumerate() {
            let path = path.as_str().as_bytes();
            while before.next_if(|(_, (old, _))| *old < path).is_some() {}
            let same = before.next_if(|(_, (old, _))| *old == path);
            match same.filter(|(_, (_, whole))| *whole == self.listing.document(at)) {
                Some((number, _)) if !is_doubtful(&doubtful, number) => {
                    plan.moved[number] = Some(at as u32);
                }
                _ => plan.read.push(at),
            }
        }
        Some(plan)
    }

    /// The listing is the same: only the content of doubtful documents can differ.
    fn compare(&self, doubtful: &Doubtful) -> Plan {
        let mut plan = Plan::unmoved(self.listing.paths.len());
        let wanted: Vec<usize> = doubtful.iter().map(|(document, _)| *document as usize).collect();
        let mut known = doubtful.iter();
        self.read(&wanted, |document, content| {
            let same = known.next().is_some_and(|(_, hash)| *hash == listing::hash(content.ok()));
            if !same {
                plan.moved[document] = None;
                plan.read.push(document);
            }
        });
        plan
    }

    /// Reads the documents of the plan and joins them with what is kept of `old`. Also says whether nothing was left out.
    fn build(&self, old: Option<&Blob>, plan: &Plan) -> (Blob, bool) {
        let mut lengths = vec![0; self.listing.paths.len()];
        let mut doubtful = Doubtful::new();
        let mut builder = Builder::for_documents(plan.read.len());
        self.read(&plan.read, |document, content| {
            let failed = matches!(&content, Err(error) if error.kind != ErrorKind::TooLarge);
            if self.listing.young[document] || failed {
                doubtful.push((document as u32, hash_of(&content)));
            }
            lengths[document] = self.add(&mut builder, document, content);
        });
        let whole = !builder.is_full();
        let fresh = builder.finish();
        let terms = match old {
            Some(old) => {
                for (number, moved) in plan.moved.iter().enumerate() {
                    if let Some(document) = moved {
                        lengths[*document as usize] = old.length(number as u32);
                    }
                }
                join(old.terms(), &plan.moved, fresh.view())
            }
            None => fresh,
        };
        if let Some((known, _)) = old.and_then(|old| listing::decode(old.extra())) {
            let kept = known.into_iter().filter_map(|(document, hash)| {
                let document = (*plan.moved.get(document as usize)?)?;
                Some((document, hash))
            });
            doubtful.extend(kept);
            doubtful.sort_unstable_by_key(|(document, _)| *document);
        }
        let extra = listing::encode(&doubtful, &self.listing.bytes);
        (Blob::assemble(&extra, &lengths, &terms), whole)
    }

    fn add(&self, builder: &mut Builder, document: usize, content: Result<&[u8], Error>) -> u32 {
        let path = self.listing.paths[document].as_str();
        let text = match content {
            Ok(content) if !is_binary(content) => readable(path, content),
            Err(error) if error.kind == ErrorKind::TooLarge => &[],
            _ => return NEVER,
        };
        let length = builder.add_text(document as u32, text);
        builder.add_path(document as u32, path);
        length.min(NEVER - 1)
    }

    fn read(&self, documents: &[usize], mut each: impl FnMut(usize, Result<&[u8], Error>)) {
        let wanted: Vec<usize> = documents.iter().map(|at| self.listing.entries[*at]).collect();
        let mut documents = documents.iter();
        self.snapshot.read_many(&wanted, self.limit, &mut |_, content| {
            if let Some(document) = documents.next() {
                each(*document, content);
            }
        });
    }
}

/// What of an old index is kept, and what is read.
struct Plan {
    /// The new number of each old document; `None` where it is gone or to be read again.
    moved: Vec<Option<u32>>,
    read: Vec<usize>,
}

impl Plan {
    fn everything(documents: usize) -> Self {
        Self { moved: Vec::new(), read: (0..documents).collect() }
    }

    fn nothing(old: usize) -> Self {
        Self { moved: vec![None; old], read: Vec::new() }
    }

    fn unmoved(documents: usize) -> Self {
        Self { moved: (0..documents as u32).map(Some).collect(), read: Vec::new() }
    }

    /// Whether the old index is the new one.
    fn is_empty(&self) -> bool {
        self.read.is_empty()
            && self.moved.iter().enumerate().all(|(old, new)| *new == Some(old as u32))
    }
}

fn is_doubtful(doubtful: &Doubtful, document: usize) -> bool {
    doubtful.binary_search_by_key(&(document as u32), |(document, _)| *document).is_ok()
}

fn hash_of(content: &Result<&[u8], Error>) -> Hash {
    listing::hash(content.as_ref().ok().copied())
}

fn is_binary(content: &[u8]) -> bool {
    memchr::memchr(0, &content[..content.len().min(8 << 10)]).is_some()
}

/// The part of a content that is worth its words.
fn readable<'a>(path: &str, content: &'a [u8]) -> &'a [u8] {
    let start = &content[..content.len().min(LONG_LINE)];
    let long_lines = start.len() == LONG_LINE && memchr::memchr(b'\n', start).is_none();
    let most = match Kind::of(path) {
        _ if long_lines => LONG_LINE,
        Kind::Source | Kind::Test | Kind::Document => content.len(),
        Kind::Other | Kind::Foreign => DATA_BYTES,
    };
    &content[..content.len().min(most)]
}

/// Old documents keep their order, so each list is a merge of two sorted ones.
fn join(old: View<'_>, moved: &[Option<u32>], fresh: View<'_>) -> Terms {
    let mut terms = Terms::default();
    let mut list = List::default();
    let (mut left, mut right) = (0, 0);
    loop {
        let heads = (old.term(left), fresh.term(right));
        let Some(next) = heads.0.into_iter().chain(heads.1).min() else {
            return terms;
        };
        let (mut kept, mut added) = (Postings::default(), Postings::default());
        if heads.0 == Some(next) {
            kept = old.postings(left);
            left += 1;
        }
        if heads.1 == Some(next) {
            added = fresh.postings(right);
            right += 1;
        }
        let kept = kept.filter_map(|posting| {
            let document = (*moved.get(posting.document as usize)?)?;
            Some(Posting { document, ..posting })
        });
        list.clear();
        merge(kept, added, &mut list);
        terms.push(next, &list);
    }
}

fn merge(
    left: impl Iterator<Item = Posting>,
    right: impl Iterator<Item = Posting>,
    into: &mut List,
) {
    let mut right = right.peekable();
    for posting in left {
        while let Some(before) = right.next_if(|other| other.document < posting.document) {
            into.push(before);
        }
        into.push(posting);
    }
    right.for_each(|posting| into.push(posting));
}
