//! Which characters the bytes of a page stand for.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// Where a page may say it itself.
const HEAD: usize = 1_024;

#[derive(Debug, PartialEq)]
pub(super) struct Charset(&'static Encoding);

impl Charset {
    /// As the byte order mark says, else the header, else the page; UTF-8 where nobody does, or nobody knows the name.
    pub(super) fn find(bytes: &[u8], header: &str) -> Self {
        let marked = Encoding::for_bom(bytes).map(|(encoding, _)| encoding);
        let told = || Encoding::for_label(label(header.as_bytes(), b"charset")?);
        let head = &bytes[..bytes.len().min(HEAD)];
        let inner = || {
            let label = label(head, b"charset").or_else(|| {
                let xml =
                    head.starts_with(b"<?xml").then(|| head.split(|byte| *byte == b'>').next());
                label(xml.flatten()?, b"encoding")
            })?;
            // A page in two bytes for each character could not have said so in one.
            Encoding::for_label(label).map(Encoding::output_encoding)
        };
        Self(marked.or_else(told).or_else(inner).unwrap_or(UTF_8))
    }

    pub(super) fn name(&self) -> &'static str {
        self.0.name()
    }

    /// Whether zero bytes are part of ordinary text.
    pub(super) fn is_wide(&self) -> bool {
        [UTF_16BE, UTF_16LE].contains(&self.0)
    }

    /// The text, and whether some bytes stood for nothing.
    pub(super) fn decode(&self, bytes: &[u8]) -> (String, bool) {
        let (text, _, lossy) = self.0.decode(bytes);
        (text.into_owned(), lossy)
    }
}

/// What follows `name` and an equals sign.
fn label<'t>(text: &'t [u8], name: &[u8]) -> Option<&'t [u8]> {
    let at = text.windows(name.len()).position(|window| window.eq_ignore_ascii_case(name))?;
    let rest = text[at + name.len()..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let rest = rest.strip_prefix(b"\"").or_else(|| rest.strip_prefix(b"'")).unwrap_or(rest);
    let is_end = |byte: &u8| b"\"'; />?\t\r\n".contains(byte);
    rest.split(is_end).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_charset_is_found_where_it_is_told() {
        for (bytes, header, expected) in [
            (&b"x"[..], "", "UTF-8"),
            (b"x", "text/html; charset=ISO-8859-1", "windows-1252"),
            (b"x", "text/html;Charset = \"shift_jis\"; x=y", "Shift_JIS"),
            (b"x", "text/html; charset=unheard-of", "UTF-8"),
            (b"<meta charset=windows-1251>", "", "windows-1251"),
            (b"<META http-equiv=x content='text/html; charset=EUC-KR'>", "text/html", "EUC-KR"),
            (b"<meta charset=windows-1251>", "text/html; charset=utf-8", "UTF-8"),
            (b"<meta charset=utf-16>", "", "UTF-8"),
            (b"<?xml version='1.0' encoding='iso-8859-2'?><a/>", "", "ISO-8859-2"),
            (b"\xFF\xFEh\0", "text/html; charset=utf-8", "UTF-16LE"),
            (b"charset", "charset=", "UTF-8"),
        ] {
            assert_eq!(Charset::find(bytes, header).name(), expected, "{header}");
        }
    }

    #[test]
    fn bytes_become_characters() {
        let decode = |bytes: &[u8], header: &str| Charset::find(bytes, header).decode(bytes);
        assert_eq!(decode(b"gr\xFCn", "charset=latin1"), ("gr\u{fc}n".to_owned(), false));
        assert_eq!(decode(b"gr\xFCn", ""), ("gr\u{FFFD}n".to_owned(), true));
        assert_eq!(decode(b"\xFF\xFEh\0i\0", ""), ("hi".to_owned(), false));
        assert_eq!(decode(b"\xEF\xBB\xBFhi", ""), ("hi".to_owned(), false));
    }
}
