//! What an index was made of: the paths, what tells that they are unchanged, and which of them it cannot tell of.

use sequester_core::path::RepoPath;
use sequester_core::repository::{EntryKind, Snapshot, Stamp};

use super::postings::{read_bytes, read_number, write_bytes, write_number};

/// The files of a snapshot that can be ranked, as document numbers see them.
pub(crate) struct Listing {
    pub(crate) paths: Vec<RepoPath>,
    /// The entry of each document in the snapshot.
    pub(crate) entries: Vec<usize>,
    /// Each path and stamp; equal bytes are an equal listing.
    pub(crate) bytes: Vec<u8>,
    /// Where each document's bytes end.
    ends: Vec<usize>,
    /// Documents as young as the look at them: git's racy rule.
    ///
    /// No clock is asked. The newest change among the listed files was before the listing, so a file that changed
    /// before *that* can only change again with a later time of change, which the kernel sets and nobody can restore. A
    /// file of that very tick can change again unseen, so its content must be compared each time.
    pub(crate) young: Vec<bool>,
}

impl Listing {
    pub(crate) fn of(snapshot: &dyn Snapshot, file_bytes: u64) -> Self {
        let mut listing = Self {
            paths: Vec::new(),
            entries: Vec::new(),
            bytes: file_bytes.to_le_bytes().to_vec(),
            ends: Vec::new(),
            young: Vec::new(),
        };
        let entries = snapshot.entries();
        let newest = entries.iter().filter_map(|entry| match entry.stamp {
            Stamp::Stat { changed, .. } => Some(changed),
            Stamp::Content(_) => None,
        });
        let newest = newest.max().unwrap_or(i128::MIN);
        for (at, entry) in entries.iter().enumerate() {
            if entry.kind != EntryKind::File {
                continue;
            }
            write_bytes(&mut listing.bytes, entry.path.as_str().as_bytes());
            write_stamp(&mut listing.bytes, &entry.stamp);
            listing.ends.push(listing.bytes.len());
            listing.young.push(match entry.stamp {
                Stamp::Stat { modified, changed, .. } => modified >= newest || changed >= newest,
                Stamp::Content(_) => false,
            });
            listing.paths.push(entry.path.clone());
            listing.entries.push(at);
        }
        listing
    }

    /// The bytes of one document: path and stamp.
    pub(crate) fn document(&self, document: usize) -> &[u8] {
        let start = match document {
            0 => 8,
            _ => self.ends[document - 1],
        };
        &self.bytes[start..self.ends[document]]
    }
}

fn write_stamp(into: &mut Vec<u8>, stamp: &Stamp) {
    match stamp {
        Stamp::Content(hash) => {
            into.push(0);
            write_bytes(into, hash.as_bytes());
        }
        Stamp::Stat { size, modified, changed, inode } => {
            into.push(1);
            into.extend(size.to_le_bytes());
            into.extend(modified.to_le_bytes());
            into.extend(changed.to_le_bytes());
            into.extend(inode.to_le_bytes());
        }
    }
}

/// Splits a stored listing into documents: the path, and path and stamp together.
pub(crate) fn documents(listing: &[u8]) -> Option<Vec<(&[u8], &[u8])>> {
    let mut rest = listing.get(8..)?;
    let mut found = Vec::new();
    while !rest.is_empty() {
        let start = rest;
        let path = read_bytes(&mut rest)?;
        let (kind, after) = rest.split_first()?;
        rest = after;
        match kind {
            0 => {
                read_bytes(&mut rest)?;
            }
            _ => rest = rest.get(8 + 16 + 16 + 8..)?,
        }
        found.push((path, &start[..start.len() - rest.len()]));
    }
    Some(found)
}

/// Documents whose content must be compared before the index is believed, each with the hash of what was indexed.
pub(crate) type Doubtful = Vec<(u32, Hash)>;

/// `None`: it could not be read.
pub(crate) type Hash = Option<[u8; blake3::OUT_LEN]>;

pub(crate) fn hash(content: Option<&[u8]>) -> Hash {
    content.map(|content| *blake3::hash(content).as_bytes())
}

/// The extra bytes of the index: the doubtful documents, then the listing.
pub(crate) fn encode(doubtful: &Doubtful, listing: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(listing.len() + doubtful.len() * 40 + 8);
    write_number(&mut bytes, doubtful.len() as u64);
    for (document, hash) in doubtful {
        write_number(&mut bytes, u64::from(*document));
        write_bytes(&mut bytes, hash.as_ref().map_or(&[], |hash| hash.as_slice()));
    }
    bytes.extend_from_slice(listing);
    bytes
}

pub(crate) fn decode(mut bytes: &[u8]) -> Option<(Doubtful, &[u8])> {
    let count = read_number(&mut bytes)?;
    let mut doubtful = Vec::new();
    for _ in 0..count {
        let document = u32::try_from(read_number(&mut bytes)?).ok()?;
        let hash = read_bytes(&mut bytes)?;
        doubtful.push((document, if hash.is_empty() { None } else { Some(hash.try_into().ok()?) }));
    }
    Some((doubtful, bytes))
}
