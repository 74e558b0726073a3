//! What a file holds: its digest, whether it is text, and whether the subagent knows it as it is.

use std::borrow::Cow;

use memchr::memmem;
use sequester_core::tool::Outcome;

use crate::root::{Place, failed};
use crate::tool::Seen;

/// The byte order mark in UTF-8.
const BOM: &[u8] = b"\xEF\xBB\xBF";

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
    let bytes = bytes.strip_prefix(BOM).unwrap_or(bytes);
    let text = String::from_utf8_lossy(bytes);
    Text { lossy: matches!(text, Cow::Owned(_)), text }
}

/// What a file has that `Read` does not show, and that a writer therefore cannot know of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    bom: bool,
    /// Every line ends with a carriage return and a line feed.
    crlf: bool,
}

impl Form {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let breaks = memchr::memchr_iter(b'\n', bytes).count();
        let crlf = breaks > 0 && memmem::find_iter(bytes, b"\r\n").count() == breaks;
        Self { bom: bytes.starts_with(BOM), crlf }
    }

    /// The text in this form, and what was put in for it, in words.
    pub(crate) fn apply(self, text: &str) -> (Vec<u8>, Option<&'static str>) {
        let bom = self.bom && !text.as_bytes().starts_with(BOM);
        let bare = memchr::memchr_iter(b'\n', text.as_bytes()).count();
        let crlf = self.crlf && memmem::find_iter(text.as_bytes(), b"\r\n").count() < bare;
        let kept = match (crlf, bom) {
            (true, true) => Some("its CRLF line ends and its byte order mark"),
            (true, false) => Some("its CRLF line ends"),
            (false, true) => Some("its byte order mark"),
            (false, false) => None,
        };
        let text = if crlf { Cow::Owned(to_crlf(text)) } else { Cow::Borrowed(text) };
        let bytes = [if bom { BOM } else { b"" }, text.as_bytes()].concat();
        (bytes, kept)
    }
}

pub(crate) fn to_crlf(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
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

    #[test]
    fn a_text_takes_the_form_of_the_file_that_it_replaces() {
        let applied = |old: &str, new: &str| {
            let (bytes, kept) = Form::of(old.as_bytes()).apply(new);
            (String::from_utf8(bytes).unwrap(), kept.is_some())
        };
        for (old, new, expected, kept) in [
            ("a\r\nb\r\n", "x\ny\n", "x\r\ny\r\n", true),
            ("a\r\nb\r\n", "x\r\ny\n", "x\r\ny\r\n", true),
            ("a\r\n", "x\r\n", "x\r\n", false),
            ("a\r\n", "x", "x", false),
            ("a\nb\r\n", "x\ny\n", "x\ny\n", false),
            ("a\n", "x\r\n", "x\r\n", false),
            ("", "x\n", "x\n", false),
            ("\u{feff}a\n", "x\n", "\u{feff}x\n", true),
            ("\u{feff}a\r\n", "\u{feff}x\n", "\u{feff}x\r\n", true),
            ("a\n", "\u{feff}x\n", "\u{feff}x\n", false),
        ] {
            assert_eq!(applied(old, new), (expected.to_owned(), kept), "{old:?} {new:?}");
        }
    }
}
