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
    for source in sources {
        learn(source);
    }
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

#[cfg(test)]
mod tests {
    use sequester_core::message::{Answered, Call, Said};
    use sequester_testkit::MemoryRepository;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_resumed_attempt_knows_the_secrets_of_the_files_that_it_saw() {
        let [shown, read, unseen, plan] =
            ["aa", "bb", "cc", "dd"].map(|one| format!("{one}7&{one}Kq2!"));
        let assign = |value: &str| format!("DB_PASS={value}\n");
        let files = [("src/a.conf", &shown), ("src/b.conf", &read), ("src/c.conf", &unseen)];
        let snapshot = MemoryRepository::new(files.map(|(path, value)| (path, assign(value))));
        let arguments = json!({ "file_path": "/workspace/src/b.conf" });
        let call = Call { id: "1".to_owned(), name: "Read".to_owned(), arguments };
        let answered = Answered {
            call: "1".to_owned(),
            name: "Read".to_owned(),
            text: format!("     1\tDB_PASS={MARK}: assigned-password]"),
            failed: false,
        };
        let conversation = [
            Message::User("### `src/a.conf`".into()),
            Message::Assistant(Said { calls: vec![call], ..Said::default() }),
            Message::Results(vec![answered]),
        ];
        let sources = [assign(&plan).into_bytes()];
        let known = learn_again(("", &conversation), &sources, Some(&snapshot), None);
        let text = format!("{shown} {read} {unseen} {plan}");
        let mark = "[redacted: assigned-password]";
        let hidden = format!("{mark} {mark} {unseen} {mark}");
        assert_eq!(known.hider().redact(&text).text, hidden);
        let none = learn_again(("", &conversation[..2]), &sources, Some(&snapshot), None);
        assert!(none.is_empty(), "nothing was hidden from it");
    }
}
