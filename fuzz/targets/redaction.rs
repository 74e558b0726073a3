//! Secrets in text: found at places that exist, one after the other; lines keep their numbers; redacting again changes nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sequester_secrets::{self as secret, SecretSet};

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let redacted = secret::redact(text);
    let mut end = 0;
    for found in &redacted.found {
        assert!(end <= found.start && found.start < found.end, "{found:?}");
        assert!(text.get(found.start..found.end).is_some(), "{found:?}");
        end = found.end;
    }
    assert_eq!(redacted.text.matches('\n').count(), text.matches('\n').count());
    let again = secret::redact(&redacted.text);
    assert_eq!(again.text, redacted.text, "{:?}", redacted.found);
    let mut known = SecretSet::default();
    known.learn(text, &redacted.found);
    known.hider().redact(text);
});
