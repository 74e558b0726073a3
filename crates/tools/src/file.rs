//! What a file holds: its digest, whether it is text, and whether the subagent knows it as it is.

use std::borrow::Cow;

use sequester_core::tool::Outcome;

use crate::root::{Place, failed};
use crate::tool::Seen;

const BOM: char = '\u{FEFF}';

pub(crate) fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// Fails unless the subagent has seen these very bytes at this place.
pub(crate) fn check_seen(seen: &Seen, place: &Place, bytes: &[u8]) -> Result<(), Outcome> {
    match seen.get(place.as_str()) {
        Some(known) if *known == digest(bytes) => Ok(()),
        Some(_) => Err(failed(format!("`{place}` changed since you read it. Read it again."))),
        None => Err(failed(format!("`{place}` exists and you have not read it. Read it first."))),
    }
}

/// A file as it is shown: without its byte order mark.
pub(crate) struct Text<'b> {
    pub(crate) text: Cow<'b, str>,
    /// Some bytes were no UTF-8 and are shown as replacement characters.
    pub(crate) lossy: bool,
}

pub(crate) fn decode(bytes: &[u8]) -> Text<'_> {
    let bytes = bytes.strip_prefix(BOM.to_string().as_bytes()).unwrap_or(bytes);
    let text = String::from_utf8_lossy(bytes);
    Text { lossy: matches!(text, Cow::Owned(_)), text }
}

/// What kind of file it is, unless it is text.
pub(crate) fn binary_kind(bytes: &[u8]) -> Option<&'static str> {
    let known = MAGIC.iter().find(|(start, _)| bytes.starts_with(start)).map(|(_, kind)| *kind);
    let webp = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
    let known = if webp { Some("a WebP image") } else { known };
    known.or_else(|| bytes.contains(&0).then_some("a binary file"))
}

const MAGIC: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x7fELF", "an ELF program"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_files_are_known_by_their_start_or_a_zero_byte() {
        assert_eq!(binary_kind(b"RIFF\x01\x02\x03\x04WEBPVP8"), Some("a WebP image"));
        assert_eq!(binary_kind(b"\xff\xd8\xff\xe0"), Some("a JPEG image"));
        assert_eq!(binary_kind(b"plain\0"), Some("a binary file"));
        assert_eq!(binary_kind("# grün\n".as_bytes()), None);
        assert_eq!(binary_kind(b""), None);
    }
}
