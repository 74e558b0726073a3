//! A run in one file, with all that proves it: events, the bytes that they name, commits, and the signature of its head.
//!
//! One JSON value on each line. The first says what follows, the last is the digest of all lines before it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use sequester_core::digest::Digest;
use sequester_core::id::RunId;
use sequester_core::run::Recorded;
use sequester_core::store::{Error, ErrorKind};
use serde::{Deserialize, Serialize};

use crate::chain::{self, Hash};
use crate::error;
use crate::export::unwritten;
use crate::heads::SignedHead;
use crate::log::{self, Head};
use crate::signing::{PublicKey, hex};
use crate::store::Store;

/// A commit as git keeps it, by its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundledCommit {
    pub commit: String,
    /// The object without git's own header, as text.
    pub object: String,
}

/// A run as a bundle has it, once it was checked.
#[derive(Debug)]
pub struct Bundle {
    pub run: RunId,
    pub events: Vec<Recorded>,
    pub blobs: BTreeMap<Digest, Vec<u8>>,
    pub commits: Vec<BundledCommit>,
    /// Whose valid signature the head has.
    pub signer: Option<PublicKey>,
    /// What does not fit, in sentences; nothing where all of it does.
    pub faults: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Header {
    sequester_bundle: u32,
    run: String,
    count: u64,
    hash: String,
    blobs: usize,
    commits: usize,
    /// Digests that events name and that never were bytes of the store.
    without_bytes: BTreeSet<String>,
    signature: Option<HeaderSignature>,
}

#[derive(Serialize, Deserialize)]
struct HeaderSignature {
    key: String,
    place: String,
    count: u64,
    hash: String,
    signature: String,
}

#[derive(Serialize, Deserialize)]
struct EventLine {
    event: String,
    hash: String,
}

#[derive(Serialize, Deserialize)]
struct BlobLine {
    blob: String,
    base64: String,
}

#[derive(Serialize, Deserialize)]
struct EndLine {
    end: String,
}

const VERSION: u32 = 1;
const PAGE: usize = 256;

impl Store {
    /// Writes all of a run. Fails where something of it is damaged.
    pub fn write_bundle(
        &self,
        run: &RunId,
        commits: &[BundledCommit],
        out: &mut dyn Write,
    ) -> Result<(), Error> {
        let (head, signed) = self.reader.read(|connection| {
            let head = Head::of(connection, run)?;
            let signed = SignedHead::find(connection, head.id)?;
            Ok((head, signed))
        })?;
        let lines = self.event_lines(run)?;
        let blobs = self.run_blobs(run)?;
        let named = lines.iter().flat_map(|line| digests_in(&line.event));
        let without_bytes = named.filter(|digest| !blobs.contains_key(digest));
        let header = Header {
            sequester_bundle: VERSION,
            run: run.to_string(),
            count: head.count,
            hash: hex(&head.hash),
            blobs: blobs.len(),
            commits: commits.len(),
            without_bytes: without_bytes.map(|digest| digest.as_str().to_owned()).collect(),
            signature: signed.map(|signed| HeaderSignature {
                key: signed.key.to_string(),
                place: signed.place,
                count: signed.count,
                hash: hex(&signed.hash),
                signature: STANDARD_NO_PAD.encode(signed.signature),
            }),
        };
        let blobs = blobs.iter().map(|(digest, bytes)| BlobLine {
            blob: digest.as_str().to_owned(),
            base64: STANDARD_NO_PAD.encode(bytes),
        });
        let mut file = Summed { out, hasher: blake3::Hasher::new() };
        file.line(&header)
            .and_then(|()| lines.iter().try_for_each(|line| file.line(line)))
            .and_then(|()| blobs.into_iter().try_for_each(|line| file.line(&line)))
            .and_then(|()| commits.iter().try_for_each(|line| file.line(line)))
            .and_then(|()| file.line(&EndLine { end: file.hasher.finalize().to_hex().to_string() }))
            .map_err(|error| unwritten(&error))
    }

    fn event_lines(&self, run: &RunId) -> Result<Vec<EventLine>, Error> {
        let (mut all, mut hash, mut after) = (Vec::new(), chain::START, 0);
        loop {
            let mut lines = Vec::new();
            self.reader.read(|connection| log::read(connection, run, after, PAGE, &mut lines))?;
            let Some(last) = lines.last() else { return Ok(all) };
            after = last.event.seq;
            for line in lines {
                hash = chain::link(&hash, &line.body);
                all.push(EventLine { event: line.body, hash: hex(&hash) });
            }
        }
    }
}

/// A digest is a string of its own in JSON.
fn digests_in(body: &str) -> impl Iterator<Item = Digest> {
    body.split('"').filter_map(Digest::parse)
}

/// Lines, and the digest of all of them.
struct Summed<'a> {
    out: &'a mut dyn Write,
    hasher: blake3::Hasher,
}

impl Summed<'_> {
    fn line(&mut self, value: &impl Serialize) -> io::Result<()> {
        let mut text = serde_json::to_vec(value)?;
        text.push(b'\n');
        self.hasher.update(&text);
        self.out.write_all(&text)
    }
}

impl Bundle {
    /// Reads and checks a bundle by itself, wherever it comes from. Fails where it is none.
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        let text = std::str::from_utf8(bytes).map_err(|_| no_bundle("it is no text"))?;
        let mut lines = Lines { rest: text.split_inclusive('\n'), number: 0, faults: Vec::new() };
        let header: Header = lines.next("header").ok_or_else(|| no_bundle("it has no header"))?;
        if header.sequester_bundle != VERSION {
            return Err(no_bundle("it is of a later version"));
        }
        let run = RunId::parse(&header.run).ok_or_else(|| no_bundle("it names no run"))?;
        let (events, hash) = read_events(&mut lines, &run, header.count);
        let blobs = read_blobs(&mut lines, header.blobs);
        let commits: Vec<BundledCommit> =
            (0..header.commits).map_while(|_| lines.next("commit")).collect();
        let mut faults = lines.close(text);
        if hex(&hash) != header.hash {
            faults.push(
                "The head is not that of the events: events were changed, cut or set back."
                    .to_owned(),
            );
        }
        let known = |digest: &Digest| {
            blobs.contains_key(digest) || header.without_bytes.contains(digest.as_str())
        };
        let bodies = events.iter().filter_map(|event| serde_json::to_string(event).ok());
        let named: BTreeSet<Digest> =
            bodies.flat_map(|body| digests_in(&body).collect::<Vec<_>>()).collect();
        let missing = named.iter().filter(|digest| !known(digest));
        faults.extend(missing.map(|digest| format!("The bytes of `{digest}` are missing.")));
        let signer = header.signature.and_then(|signature| {
            let signed = signature.read()?;
            match signed.broken_since(&run, header.count, &hash) {
                None => Some(signed.key),
                Some(since) => {
                    faults.push(format!("The signature does not hold since event {since}."));
                    None
                }
            }
        });
        Ok(Self { run, events, blobs, commits, signer, faults })
    }
}

impl HeaderSignature {
    fn read(self) -> Option<SignedHead> {
        Some(SignedHead {
            place: self.place,
            count: self.count,
            hash: unhex(&self.hash)?,
            key: self.key.parse().ok()?,
            signature: STANDARD_NO_PAD.decode(self.signature).ok()?,
        })
    }
}

fn unhex(text: &str) -> Option<Hash> {
    let mut hash = Hash::default();
    let is_hex = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    for (at, byte) in hash.iter_mut().enumerate().filter(|_| is_hex) {
        *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
    }
    is_hex.then_some(hash)
}

fn no_bundle(why: &str) -> Error {
    let message = format!("This is no bundle: {why}.");
    let hint = "Make one with `sequester audit RUN --bundle FILE`.";
    error::new(ErrorKind::Damaged, message, hint)
}

/// The lines of a bundle, one after the other.
struct Lines<'t> {
    rest: std::str::SplitInclusive<'t, char>,
    number: usize,
    faults: Vec<String>,
}

impl<'t> Lines<'t> {
    /// The next line, which must be what this program would have written.
    fn next<T: Serialize + for<'d> Deserialize<'d>>(&mut self, what: &str) -> Option<T> {
        let Some(line) = self.rest.next() else {
            self.faults
                .push(format!("The file is cut: after line {} a {what} is missing.", self.number));
            return None;
        };
        self.number += 1;
        let value = serde_json::from_str::<T>(line).ok();
        let again = value.as_ref().and_then(|value| serde_json::to_string(value).ok());
        if again.is_none_or(|again| again + "\n" != line) {
            self.faults.push(format!("Line {} is no {what} as it was written.", self.number));
        }
        value
    }

    /// Reads the last line, and gives all that was wrong.
    fn close(mut self, text: &'t str) -> Vec<String> {
        let end: Option<EndLine> = self.next("end");
        let before = text.trim_end_matches('\n').rfind('\n').map_or(0, |at| at + 1);
        let digest = blake3::hash(&text.as_bytes()[..before]).to_hex().to_string();
        if end.is_none_or(|end| end.end != digest) {
            self.faults
                .push("The digest at the end does not fit: the file was changed.".to_owned());
        }
        if self.rest.next().is_some() {
            self.faults.push("There is more after the end.".to_owned());
        }
        self.faults
    }
}

fn read_events(lines: &mut Lines<'_>, run: &RunId, count: u64) -> (Vec<Recorded>, Hash) {
    let (mut events, mut hash) = (Vec::new(), chain::START);
    for seq in 1..=count {
        let Some(EventLine { event, hash: told }) = lines.next::<EventLine>("event") else { break };
        hash = chain::link(&hash, &event);
        if hex(&hash) != told {
            lines.faults.push(format!("Event {seq} is not the one that was recorded."));
            // Later ones are judged by themselves, so that the first is not the only one that is named.
            hash = unhex(&told).unwrap_or(hash);
        }
        match serde_json::from_str::<Recorded>(&event) {
            Ok(recorded) if recorded.seq == seq && recorded.run == *run => events.push(recorded),
            _ => lines.faults.push(format!("Event {seq} cannot be read.")),
        }
    }
    (events, hash)
}

fn read_blobs(lines: &mut Lines<'_>, count: usize) -> BTreeMap<Digest, Vec<u8>> {
    let mut blobs = BTreeMap::new();
    for _ in 0..count {
        let Some(BlobLine { blob, base64 }) = lines.next::<BlobLine>("blob") else { break };
        let bytes = STANDARD_NO_PAD.decode(base64).ok();
        match (Digest::parse(&blob), bytes) {
            (Some(digest), Some(bytes)) if Digest::of(&bytes) == digest => {
                blobs.insert(digest, bytes);
            }
            _ => lines.faults.push(format!("The bytes of `{blob}` are not what their name says.")),
        }
    }
    blobs
}
