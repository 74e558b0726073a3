//! Words in a row, as numbers: what two texts share is found without comparing them.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Words of one shingle.
const LENGTH: usize = 8;
/// Different words of some length that a shingle must have to tell anything.
const TELLING: usize = 4;

/// Words in a row that hardly stand somewhere else by chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shingle {
    pub(super) hash: u64,
    /// Which word of the text it begins with.
    pub(super) word: usize,
    /// Bytes of the text.
    pub(super) start: usize,
    pub(super) end: usize,
}

struct Word {
    hash: u64,
    start: usize,
    end: usize,
    is_long: bool,
    is_number: bool,
}

/// Case, punctuation and layout do not count.
pub(super) fn shingles(text: &str) -> Vec<Shingle> {
    let words = words(text);
    let told = words.windows(LENGTH).enumerate().filter(|(_, window)| is_telling(window));
    told.map(|(word, window)| {
        let mut hasher = DefaultHasher::new();
        for word in window {
            word.hash.hash(&mut hasher);
        }
        let (start, end) = (window[0].start, window[LENGTH - 1].end);
        Shingle { hash: hasher.finish(), word, start, end }
    })
    .collect()
}

fn is_telling(window: &[Word]) -> bool {
    let numbers = window.iter().filter(|word| word.is_number).count();
    let long = window.iter().filter(|word| word.is_long).map(|word| word.hash);
    numbers < 2 && long.collect::<BTreeSet<u64>>().len() >= TELLING
}

fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut begun: Option<usize> = None;
    for (at, character) in text.char_indices() {
        let alone = is_alone(character);
        if let Some(start) = begun.filter(|_| alone || !character.is_alphanumeric()) {
            words.push(Word::new(text, start, at));
            begun = None;
        }
        if alone {
            words.push(Word::new(text, at, at + character.len_utf8()));
        } else if character.is_alphanumeric() {
            begun.get_or_insert(at);
        }
    }
    words.extend(begun.map(|start| Word::new(text, start, text.len())));
    words
}

/// Scripts that are written without spaces: each sign is a word.
fn is_alone(character: char) -> bool {
    character.is_alphanumeric()
        && matches!(character, '\u{0e00}'..='\u{0eff}' | '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

impl Word {
    fn new(text: &str, start: usize, end: usize) -> Self {
        let word = &text[start..end];
        let mut hasher = DefaultHasher::new();
        word.chars().flat_map(char::to_lowercase).for_each(|character| character.hash(&mut hasher));
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
        let is_long = !is_number && (word.chars().count() > 3 || word.chars().any(is_alone));
        Self { hash: hasher.finish(), start, end, is_long, is_number }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashes(text: &str) -> Vec<u64> {
        shingles(text).into_iter().map(|shingle| shingle.hash).collect()
    }

    #[test]
    fn layout_and_case_do_not_hide_a_sentence() {
        let plain = "Send every customer the monthly letter through the new mail relay";
        let laid_out =
            "> **SEND** every customer\n> the monthly\n> letter (through) the `new_mail` relay";
        assert_eq!(hashes(plain), hashes(laid_out));
        assert!(hashes(plain).len() > 1);
    }

    #[test]
    fn what_every_tool_prints_tells_nothing() {
        for text in [
            "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
            "a b c d e f g h i j k l m n",
            "too few words for anything",
        ] {
            assert!(hashes(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_script_without_spaces_is_read_sign_by_sign() {
        let text = "每月向每位客户发送新的邮件通知并记录结果";
        assert!(hashes(text).len() > 1);
        assert_eq!(hashes(text)[..2], hashes(&format!("见：{text}"))[1..3]);
    }
}
