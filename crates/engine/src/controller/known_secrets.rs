//! The secrets that an attempt knew before another process resumed it. They are never recorded, so they are looked for again
//! where the attempt had them from.

use std::collections::{BTreeSet, HashSet};

use sequester_core::change::Change;
use sequester_core::message::Message;
use sequester_core::path::RepoPath;
use sequester_core::repository::Snapshot;
use sequester_core::secret::{MARK, SecretSet, redact};

/// Of so many files that a conversation names.
const FILES: usize = 500;
const FILE_BYTES: u64 = 4 << 20;

/// Learns from the texts that its context was made from, from the files that its context and its conversation name, and from
/// its own change. A conversation without a mark knew nothing.
pub(super) fn learn_again(
    (system, conversation): (&str, &[Message]),
    sources: &[Vec<u8>],
    snapshot: Option<&dyn Snapshot>,
    change: Option<&Change>,
) -> SecretSet {
    let mut known = SecretSet::default();
    let texts: Vec<String> =
        [system.to_owned()].into_iter().chain(conversation.iter().map(words)).collect();
    if !texts.iter().any(|text| text.contains(MARK)) {
        return known;
    }
    let mut learn = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        known.learn(&text, &redact(&text).found);
    };
    sources.iter().for_each(|source| learn(source));
    for entry in change.iter().flat_map(|change| &change.entries) {
        learn(&entry.content);
    }
    if let Some(snapshot) = snapshot {
        for path in named_files(&texts, snapshot) {
            if let Ok(bytes) = snapshot.read(path, FILE_BYTES) {
                learn(&bytes);
            }
        }
    }
    known
}

/// All that a message says, with the arguments of its calls.
fn words(message: &Message) -> String {
    match message {
        Message::User(text) => text.to_string(),
        Message::Assistant(said) => {
            let calls = said.calls.iter().map(|call| call.arguments.to_string());
            calls.collect::<Vec<_>>().join("\n")
        }
        Message::Results(results) => {
            results.iter().map(|one| one.text.as_str()).collect::<Vec<_>>().join("\n")
        }
    }
}

/// The files that any word is, or ends with: tools take absolute paths too.
fn named_files<'s>(texts: &[String], snapshot: &'s dyn Snapshot) -> Vec<&'s RepoPath> {
    let is_path =
        |one: char| one.is_alphanumeric() || matches!(one, '_' | '-' | '.' | '/' | '@' | '+');
    let mut words: BTreeSet<&str> = BTreeSet::new();
    for word in texts.iter().flat_map(|text| text.split(|one: char| !is_path(one))) {
        let word = word.trim_end_matches('.');
        words.insert(word);
        words.extend(word.match_indices('/').map(|(at, _)| &word[at + 1..]));
    }
    let words: HashSet<&str> = words.into_iter().collect();
    let entries = snapshot.entries().iter().map(|entry| &entry.path);
    entries.filter(|path| words.contains(path.as_str())).take(FILES).collect()
}
