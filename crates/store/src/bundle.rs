//! A run in one file, with all that proves it: events, the bytes that they name, commits, and the signature of its head.
//!
//! One JSON value on each line. The first says what follows, the last is the digest of all lines before it.

use std::collections::BTreeMap;
use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use sequester_core::digest::Digest;
use sequester_core::id::RunId;
use sequester_core::run::Recorded;
use sequester_core::store::{Error, ErrorKind};
use serde::{Deserialize, Serialize};

use crate::bundle_references::References;
use crate::chain::{self, Hash};
use crate::error;
use crate::heads::SignedHead;
use crate::log::{self, Head};
use crate::signing::{Acceptance, PublicKey, hex};
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
    /// What of it the signer did not record.
    pub accepted: Option<Acceptance>,
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
    signature: Option<HeaderSignature>,
}

#[derive(Serialize, Deserialize)]
struct HeaderSignature {
    key: String,
    place: String,
    count: u64,
    hash: String,
    signature: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    accepted: String,
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
/// How every bundle begins.
pub const BUNDLE_START: &str = "{\"sequester_bundle\":";
const PAGE: usize = 256;

/// A run as it stood at one moment, to be written to a file.
pub struct BundleDraft {
    header: Header,
    lines: Vec<EventLine>,
    pub events: Vec<Recorded>,
    blobs: BTreeMap<Digest, Vec<u8>>,
}

impl Store {
    /// All of a run up to its head; what is appended meanwhile is left out. Fails where something of it is damaged.
    pub fn draft_bundle(&self, run: &RunId) -> Result<BundleDraft, Error> {
        let (head, signed) = self.reader.read(|connection| {
            let view = connection.transaction()?;
            let head = Head::of(&view, run)?;
            let signed = SignedHead::find(&view, head.id)?;
            Ok((head, signed))
        })?;
        let (lines, events) = self.event_lines(run, head.count)?;
        let mut blobs = self.run_blobs(run)?;
        let named = References::of(lines.iter().map(|line| line.event.as_str()), &blobs);
        blobs.retain(|digest, _| named.all.contains(digest.as_str()));
        let header = Header {
            sequester_bundle: VERSION,
            run: run.to_string(),
            count: head.count,
            hash: hex(&head.hash),
            blobs: blobs.len(),
            commits: 0,
            signature: signed.map(|signed| HeaderSignature {
                key: signed.key.to_string(),
                place: signed.place,
                count: signed.count,
                hash: hex(&signed.hash),
                signature: STANDARD_NO_PAD.encode(signed.signature),
                accepted: signed.accepted.map(|one| one.to_string()).unwrap_or_default(),
            }),
        };
        Ok(BundleDraft { header, lines, events, blobs })
    }

    fn event_lines(
        &self,
        run: &RunId,
        count: u64,
    ) -> Result<(Vec<EventLine>, Vec<Recorded>), Error> {
        let (mut all, mut events) = (Vec::new(), Vec::new());
        let (mut hash, mut after) = (chain::START, 0);
        while after < count {
            let mut lines = Vec::new();
            self.reader.read(|connection| log::read(connection, run, after, PAGE, &mut lines))?;
            let Some(last) = lines.last() else { break };
            after = last.event.seq;
            for line in lines.into_iter().filter(|line| line.event.seq <= count) {
                hash = chain::link(&hash, &line.body);
                all.push(EventLine { event: line.body, hash: hex(&hash) });
                events.push(line.event);
            }
        }
        Ok((all, events))
    }
}

impl BundleDraft {
    /// Writes it with the commits that its events name.
    pub fn write(mut self, commits: &[BundledCommit], out: &mut dyn Write) -> io::Result<()> {
        self.header.commits = commits.len();
        let mut file = Summed { out, hasher: blake3::Hasher::new() };
        file.line(&self.header)?;
        self.lines.iter().try_for_each(|line| file.line(line))?;
        for (digest, bytes) in &self.blobs {
            let base64 = STANDARD_NO_PAD.encode(bytes);
            file.line(&BlobLine { blob: digest.as_str().to_owned(), base64 })?;
        }
        commits.iter().try_for_each(|line| file.line(line))?;
        file.line(&EndLine { end: file.hasher.finalize().to_hex().to_string() })
    }
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
        let header: Option<Header> = lines.next("header").value();
        let header = header.ok_or_else(|| no_bundle("it has no header"))?;
        if header.sequester_bundle != VERSION {
            return Err(no_bundle("it is of a later version"));
        }
        let run = RunId::parse(&header.run).ok_or_else(|| no_bundle("it names no run"))?;
        let (events, hash) = read_events(&mut lines, &run, header.count);
        let blobs = read_blobs(&mut lines, header.blobs);
        let mut commits = Vec::new();
        for _ in 0..header.commits {
            match lines.next("commit") {
                NextLine::Read(commit) => commits.push(commit),
                NextLine::Unreadable => {}
                NextLine::Missing => break,
            }
        }
        let mut faults = lines.close(text);
        if hex(&hash) != header.hash {
            faults.push(
                "The head is not that of the events: events were changed, cut or set back."
                    .to_owned(),
            );
        }
        // What cannot be read names nothing: then every byte behind it would be told.
        if faults.is_empty() {
            let bodies: Vec<String> =
                events.iter().filter_map(|event| serde_json::to_string(event).ok()).collect();
            faults.extend(References::of(bodies.iter().map(String::as_str), &blobs).faults(&blobs));
        }
        let is_signed = header.signature.is_some();
        let signed = header.signature.and_then(HeaderSignature::read);
        if is_signed && signed.is_none() {
            faults.push("The signature cannot be read.".to_owned());
        }
        let signed = signed.filter(|signed| {
            let since = signed.broken_since(&run, header.count, &hash);
            faults.extend(
                since.map(|since| format!("The signature does not hold since event {since}.")),
            );
            since.is_none()
        });
        let (signer, accepted) =
            signed.map_or((None, None), |signed| (Some(signed.key), signed.accepted));
        Ok(Self { run, events, blobs, commits, signer, accepted, faults })
    }
}

impl HeaderSignature {
    fn read(self) -> Option<SignedHead> {
        Some(SignedHead {
            accepted: Acceptance::parse(&self.accepted),
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

enum NextLine<T> {
    Read(T),
    Unreadable,
    Missing,
}

impl<T> NextLine<T> {
    fn value(self) -> Option<T> {
        match self {
            Self::Read(value) => Some(value),
            Self::Unreadable | Self::Missing => None,
        }
    }
}

/// The lines of a bundle, one after the other.
struct Lines<'t> {
    rest: std::str::SplitInclusive<'t, char>,
    number: usize,
    faults: Vec<String>,
}

impl<'t> Lines<'t> {
    /// The next line, which must be what this program would have written.
    fn next<T: Serialize + for<'d> Deserialize<'d>>(&mut self, what: &str) -> NextLine<T> {
        let Some(line) = self.rest.next() else {
            self.faults.push(format!(
                "The file is cut: after line {} the {what} is missing.",
                self.number
            ));
            return NextLine::Missing;
        };
        self.number += 1;
        let value = serde_json::from_str::<T>(line).ok();
        let again = value.as_ref().and_then(|value| serde_json::to_string(value).ok());
        if again.is_none_or(|again| again + "\n" != line) {
            self.faults.push(format!("Line {} is not the {what} that was written.", self.number));
        }
        value.map_or(NextLine::Unreadable, NextLine::Read)
    }

    /// Reads the last line, and gives all that was wrong.
    fn close(mut self, text: &'t str) -> Vec<String> {
        let end: Option<EndLine> = self.next("end").value();
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
    let (mut events, mut hash) = (Vec::new(), Some(chain::START));
    for seq in 1..=count {
        let EventLine { event, hash: told } = match lines.next("event") {
            NextLine::Read(line) => line,
            NextLine::Missing => break,
            NextLine::Unreadable => {
                hash = None;
                continue;
            }
        };
        // Later ones are judged by themselves, so that the first is not the only one that is named.
        let told = unhex(&told);
        if hash.is_some_and(|before| Some(chain::link(&before, &event)) != told) {
            lines.faults.push(format!("Event {seq} is not the one that was recorded."));
        }
        hash = told;
        match serde_json::from_str::<Recorded>(&event) {
            Ok(recorded) if recorded.seq == seq && recorded.run == *run => events.push(recorded),
            _ => lines.faults.push(format!("Event {seq} cannot be read.")),
        }
    }
    (events, hash.unwrap_or_default())
}

fn read_blobs(lines: &mut Lines<'_>, count: usize) -> BTreeMap<Digest, Vec<u8>> {
    let mut blobs = BTreeMap::new();
    for _ in 0..count {
        let BlobLine { blob, base64 } = match lines.next("blob") {
            NextLine::Read(line) => line,
            NextLine::Missing => break,
            NextLine::Unreadable => continue,
        };
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
