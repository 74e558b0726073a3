//! Names as file systems take them that do not tell all of them apart: on another machine one of these could be the file that is
//! meant to be kept from a change.

use std::borrow::Cow;

/// The parts of a path, each as it may be taken. Windows takes `\` for a slash.
pub fn parts(path: &str) -> impl Iterator<Item = Cow<'_, str>> {
    path.split(['/', '\\']).map(part)
}

/// Without what is not looked at: cases, letters that are the same but for their case, code points without a width (HFS+), the name
/// of a stream after a colon, and dots and spaces at the end (NTFS).
fn part(part: &str) -> Cow<'_, str> {
    let named = part.split(':').next().unwrap_or(part);
    if named.is_ascii() {
        let named = named.trim_end_matches(ENDS);
        return if named.bytes().any(|letter| letter.is_ascii_uppercase()) {
            named.to_ascii_lowercase().into()
        } else {
            named.into()
        };
    }
    let wide = named.chars().filter(|letter| !is_ignored(*letter));
    // By way of capitals: `ſ` is its own small letter, and the Kelvin sign its own capital.
    let folded: String = wide.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect();
    folded.trim_end_matches(ENDS).to_owned().into()
}

const ENDS: [char; 2] = ['.', ' '];

/// HFS+ ignores some of them; ext4 and F2FS with case folding ignore all that Unicode calls default-ignorable.
fn is_ignored(letter: char) -> bool {
    matches!(
        letter,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fff8}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Whether a folded part is the short name that Windows gives to a longer one: `git~1` for `.git`.
pub fn is_short(part: &str, long: &str) -> bool {
    let (stem, extension) = split(part);
    let Some((start, number)) = stem.split_once('~') else { return false };
    let is_number = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
    let (long_stem, long_extension) = split(long.trim_start_matches('.'));
    let kept: String =
        long_stem.chars().filter(|letter| !matches!(letter, '.' | ' ')).take(6).collect();
    let ending: String = long_extension.chars().take(3).collect();
    // A number with many digits leaves fewer letters.
    is_number
        && !start.is_empty()
        && kept.starts_with(start)
        && (start.len() == kept.len() || start.len() + number.len() == 7)
        && extension == ending
}

fn split(name: &str) -> (&str, &str) {
    name.rsplit_once('.').unwrap_or((name, ""))
}
