//! Text from a plan, a model or a repository that reaches a terminal, also by way of a commit.

use std::borrow::Cow;

/// Without what a terminal would obey.
pub fn clean(text: &str) -> Cow<'_, str> {
    let harmless = |c: char| (!c.is_control() || c == '\n' || c == '\t') && !turns_text(c);
    if text.chars().all(harmless) {
        return Cow::Borrowed(text);
    }
    text.chars().map(|c| if harmless(c) { c } else { char::REPLACEMENT_CHARACTER }).collect()
}

/// Whether it changes the direction of text, which makes a line look like another one.
pub fn turns_text(c: char) -> bool {
    matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
