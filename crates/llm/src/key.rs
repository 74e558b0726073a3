//! Keys: held, sent in their header, shown to nobody.

use std::fmt;

/// A provider's key. It has no `Display`, and its `Debug` says nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// Takes the text without the blanks around it. `None` if nothing is left, or if it could not stand in a header.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let fits = !text.is_empty() && text.bytes().all(|byte| (0x21..0x7f).contains(&byte));
        fits.then(|| Self(text.to_owned()))
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// The text without the key, should somebody have repeated it.
    pub(crate) fn hide(&self, text: &str) -> String {
        text.replace(&self.0, "[redacted: key]")
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Key")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_shows_itself_to_nobody() {
        let key = Key::new(" made-up-0451\n").unwrap();
        assert_eq!(format!("{key:?}"), "Key");
        assert_eq!(key.reveal(), "made-up-0451");
        assert_eq!(key.hide("wrong: made-up-0451."), "wrong: [redacted: key].");
    }

    #[test]
    fn what_cannot_stand_in_a_header_is_no_key() {
        for text in ["", "  ", "two words", "line\nline", "schlüssel"] {
            assert_eq!(Key::new(text), None, "{text:?}");
        }
    }
}
