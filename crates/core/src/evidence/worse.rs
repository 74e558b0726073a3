//! Whether a check that failed before fails in more than it did.

use std::collections::BTreeSet;

use super::digest::tells;
use super::{Input, fails_by_itself};
use crate::check::without_colour;
use crate::run::CheckEnded;

/// Whether it fails in nothing that it did not fail in before. A run that a limit ended excuses nothing: nobody knows how it
/// would have gone on. Tests that ran before and do not run now are worse.
pub(super) fn is_no_worse(input: &Input<'_>, now: &CheckEnded, base: &CheckEnded) -> bool {
    if !fails_by_itself(base) || now.limit.is_some() {
        return false;
    }
    let then = base.counts.unwrap_or_default();
    let by_count = match now.counts {
        Some(now) => {
            let more = base.counts.is_some() && now.failed > then.failed;
            !more && (now.ran() > 0 || then.ran() == 0)
        }
        None => then.ran() == 0,
    };
    // Without any test before and now, a check that ends well is no worse than one that fails.
    let is_empty = now.counts.is_some_and(|now| now.ran() == 0) && then.ran() == 0;
    if is_empty && now.code == 0 {
        return true;
    }
    let text = |ended: &CheckEnded| input.outputs.get(&ended.output).map_or("", String::as_str);
    by_count && says_no_more(text(now), text(base))
}

/// Whether all that one output complains of stands in the other too. Where no line is known for a complaint, every line is.
fn says_no_more(now: &str, base: &str) -> bool {
    let complains = |line: &str| tells(line) || line.contains("FAILED");
    let mut said = lines(now, complains);
    let mut known = lines(base, complains);
    if said.is_empty() {
        (said, known) = (lines(now, |_| true), lines(base, |_| true));
    }
    said.is_subset(&known)
}

fn lines(output: &str, wanted: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let lines = output.lines().map(without_colour);
    let lines = lines.map(|line| line.trim().to_owned()).filter(|line| !line.is_empty());
    lines.filter(|line| wanted(line)).map(|line| plain(&line)).collect()
}

/// Without what differs from one run to the next: numbers, times, addresses, names of temporary folders. Numbers in names stay.
fn plain(line: &str) -> String {
    let mut plain = String::new();
    for word in line.split_inclusive(|c: char| c.is_whitespace() || "\"'()[]<>,=".contains(c)) {
        let mut is_temporary = false;
        for part in word.split_inclusive('/') {
            let name = part.trim_end_matches('/');
            let is_own = is_temporary || name.starts_with(".tmp");
            is_temporary = name == "tmp";
            if is_own && !name.trim().is_empty() {
                plain.push('*');
                plain.push_str(&part[name.len()..]);
            } else {
                without_numbers(part, &mut plain);
            }
        }
    }
    plain
}

fn without_numbers(text: &str, plain: &mut String) {
    for piece in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
        let word = piece.trim_end_matches(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        let is_hash = word.len() >= 8 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        if word.starts_with(|c: char| c.is_ascii_digit()) || is_hash && digits > 0 {
            // `12ms` and `0x7f`, `3f2a9c1b` and `2026`; never `E0308`, nor `test_2`.
            plain.push('0');
            plain.push_str(&piece[word.len()..]);
        } else {
            plain.push_str(piece);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_from_run_to_run_does_not_count() {
        let now = "test bank::adds_2 ... FAILED\nthread 'bank::adds_2' (4711) panicked at src/bank.rs:12:5:\n\
                   error: /tmp/x9Z/a.rs in 1.25s at 0x7ffd3c1a (deps/bank-3f2a9c1b2d4e5f60)\n";
        let base = "test bank::adds_2 ... FAILED\nthread 'bank::adds_2' (17) panicked at src/bank.rs:9:5:\n\
                    error: /tmp/b2/a.rs in 9.5s at 0x55aa (deps/bank-00112233aabbccdd)\n";
        assert!(says_no_more(now, base) && says_no_more(base, now));
    }

    #[test]
    fn another_failing_test_or_another_error_counts() {
        let base = "test adds_1 ... FAILED\nsrc/a.py:3:1: E501 line too long\n";
        assert!(!says_no_more("test adds_2 ... FAILED\n", base));
        assert!(!says_no_more("src/b.py:3:1: E501 line too long\n", base));
        assert!(!says_no_more("src/a.py:3:1: F401 unused import\n", base));
        assert!(says_no_more("src/a.py:9:1: E501 line too long\n", base));
    }

    #[test]
    fn where_no_line_is_known_for_a_complaint_all_of_them_are_compared() {
        assert!(says_no_more("went wrong\n", "went wrong\nand more\n"));
        assert!(!says_no_more("went quite wrong\n", "went wrong\n"));
    }
}
