//! What stands before a step to tell it from others: the formats' ids and marks, which are no words of the instruction.

/// The words behind `T001 [P] [US1]`, `1.2` or `A.1.2`.
pub(super) fn behind(words: &str) -> &str {
    let Some((first, rest)) = words.split_once(char::is_whitespace) else { return words };
    if !is_number(first.trim_matches(['*', '_', '.', ':', ')'])) {
        return words;
    }
    let mut rest = rest.trim_start();
    while let Some((mark, after)) = rest.strip_prefix('[').and_then(|open| open.split_once(']')) {
        // A link, or words.
        if mark.len() > MARK || after.starts_with('(') || mark.contains(char::is_whitespace) {
            break;
        }
        rest = after.trim_start();
    }
    if rest.is_empty() { words } else { rest }
}

/// The longest mark in brackets, in bytes.
const MARK: usize = 16;

/// `T001`, `1.2`, `A.1.2`: digits in parts, before which a letter may stand.
fn is_number(word: &str) -> bool {
    let digits = word.trim_start_matches(|c: char| c.is_ascii_uppercase());
    let digits = if word.len() - digits.len() <= 1 { digits } else { return false };
    let mut parts = digits.strip_prefix('.').unwrap_or(digits).split('.');
    parts.all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}

/// `_Requirements: 1.1, 2.3_`: which requirements a step serves asks for nothing.
pub(super) fn is_reference(words: &str) -> bool {
    let bare = words.trim_matches(['_', '*', ' ']);
    let Some((name, rest)) = bare.split_once(':') else { return false };
    let numbers = rest.trim_matches(['_', '*', ' ']);
    let mut numbers = numbers.split([',', ' ']).filter(|number| !number.is_empty()).peekable();
    name.trim_matches(['_', '*']).eq_ignore_ascii_case("requirements")
        && numbers.peek().is_some()
        && numbers.all(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_marks_of_the_formats_are_no_words_of_a_step() {
        for (words, said) in [
            ("T001 Run: `make`", "Run: `make`"),
            ("T001 [P] [US1] Delete `a`.", "Delete `a`."),
            ("1.1 Run: `make`", "Run: `make`"),
            ("2. Delete `a`.", "Delete `a`."),
            ("**1.2** Delete `a`.", "Delete `a`."),
            ("A.1.1 Run: `make`", "Run: `make`"),
            ("T001 [see](a.md) first", "[see](a.md) first"),
            ("Run: `make`", "Run: `make`"),
            ("A file is made", "A file is made"),
            ("HTTP2 is used", "HTTP2 is used"),
            ("1..2 is wrong", "1..2 is wrong"),
            ("T001", "T001"),
            ("T001 [P]", "T001 [P]"),
        ] {
            assert_eq!(behind(words), said, "{words}");
        }
    }

    #[test]
    fn which_requirements_a_step_serves_asks_for_nothing() {
        for words in ["_Requirements: 1.1_", "Requirements: 1.1, 2.3", "_Requirements:_ 4"] {
            assert!(is_reference(words), "{words}");
        }
        for words in ["_Requirements: none_", "Requirements:", "Delete: 1.1", "Requirements 1.1"] {
            assert!(!is_reference(words), "{words}");
        }
    }
}
