//! Which bytes the events of a run refer to, and which of them must be there.

use std::collections::{BTreeMap, BTreeSet};

use sequester_core::digest::Digest;
use serde_json::Value;

pub(crate) struct References {
    /// Bytes that are evidence: those that events name, and those that changes and evidence name.
    needed: BTreeSet<String>,
    /// Everything that reads like a digest, in events and in the bytes that are there.
    pub(crate) all: BTreeSet<String>,
}

impl References {
    pub(crate) fn of<'a>(
        events: impl Iterator<Item = &'a str>,
        blobs: &BTreeMap<Digest, Vec<u8>>,
    ) -> Self {
        let mut references = Self { needed: BTreeSet::new(), all: BTreeSet::new() };
        let mut inner = Vec::new();
        for event in events {
            references.all.extend(words(event.as_bytes()));
            let event: Value = serde_json::from_str(event).unwrap_or_default();
            references.need(&event, &mut Vec::new(), &mut inner);
        }
        for digest in inner {
            let bytes = Digest::parse(&digest).and_then(|digest| blobs.get(&digest));
            let value = bytes.and_then(|bytes| serde_json::from_slice(bytes).ok());
            references.need_inner(&value.unwrap_or_default(), "");
        }
        // Names lead from bytes to bytes, so those of bytes that nothing names do not count.
        let mut waiting: Vec<String> = references.all.iter().cloned().collect();
        while let Some(name) = waiting.pop() {
            let bytes = Digest::parse(&name).and_then(|digest| blobs.get(&digest));
            for word in bytes.into_iter().flat_map(|bytes| words(bytes)) {
                if references.all.insert(word.clone()) {
                    waiting.push(word);
                }
            }
        }
        references
    }

    /// Takes the digests of an event. `inner` gets those of bytes that name others.
    fn need<'v>(&mut self, value: &'v Value, path: &mut Vec<&'v str>, inner: &mut Vec<String>) {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    path.push(key);
                    self.need(value, path, inner);
                    path.pop();
                }
            }
            Value::Array(list) => list.iter().for_each(|value| self.need(value, path, inner)),
            Value::String(text) if is_digest(text) && !has_no_bytes(path) => {
                if matches!(path.last(), Some(&("change" | "evidence"))) {
                    inner.push(text.clone());
                }
                self.needed.insert(text.clone());
            }
            _ => {}
        }
    }

    /// Takes the contents of a change, and the outputs of checks.
    fn need_inner(&mut self, value: &Value, key: &str) {
        match value {
            Value::Object(map) => {
                map.iter().for_each(|(key, value)| self.need_inner(value, key));
            }
            Value::Array(list) => list.iter().for_each(|value| self.need_inner(value, key)),
            Value::String(text) if matches!(key, "contents" | "output") && is_digest(text) => {
                self.needed.insert(text.clone());
            }
            _ => {}
        }
    }

    /// What is missing, and what nothing refers to.
    pub(crate) fn faults(&self, blobs: &BTreeMap<Digest, Vec<u8>>) -> Vec<String> {
        let there: BTreeSet<&str> = blobs.keys().map(Digest::as_str).collect();
        let missing = self.needed.iter().filter(|name| !there.contains(name.as_str()));
        let odd = there.iter().filter(|name| !self.all.contains(**name));
        missing
            .map(|name| format!("The bytes of `{name}` are missing."))
            .chain(odd.map(|name| format!("Nothing refers to the bytes of `{name}`.")))
            .collect()
    }
}

/// Digests by which contexts and tasks are compared: their text is recorded in parts, or with the plan.
fn has_no_bytes(path: &[&str]) -> bool {
    matches!(path, [.., "context", "digest"] | [.., "tasks", "text"])
}

fn is_digest(text: &str) -> bool {
    Digest::parse(text).is_some()
}

fn words(bytes: &[u8]) -> impl Iterator<Item = String> {
    let parts = bytes.split(|byte| !byte.is_ascii_alphanumeric());
    let texts = parts.filter_map(|part| std::str::from_utf8(part).ok());
    texts.filter(|text| is_digest(text)).map(str::to_owned)
}
