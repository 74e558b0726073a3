//! The paths that one entry of a list of files names.

use std::ops::Range;

use super::super::markdown::Document;
use super::super::{label, token};
use super::{entry_action, is_separator, split_words, without_remark};

/// The old and the new path of an entry such as ``Rename: `a.py` → `b.py` ``.
pub(super) fn renamed<'a>(
    document: &Document<'a>,
    words: &Range<usize>,
) -> Option<[(usize, &'a str); 2]> {
    let text = document.text(words);
    let verb = text.trim_start_matches(['*', '_', ' ']);
    let verb = verb.split(|c: char| !c.is_alphabetic()).next()?.to_lowercase();
    let renames = RENAMES.contains(&verb.as_str());
    let codes: Vec<_> =
        document.codes(words).map(|(range, code)| (range.start + 1, code)).collect();
    let bare = || {
        let words = split_words(text, words.start).filter(|(_, word)| token::is_likely(word));
        words.collect::<Vec<_>>()
    };
    let paths = if codes.is_empty() { bare() } else { codes };
    let [old, new, ..] = paths[..] else { return None };
    let between = document.source.get(old.0 + old.1.len()..new.0)?;
    let between = between.trim_matches(|c: char| c.is_whitespace() || "`*_".contains(c));
    let is_arrow = ["→", "->", "=>", "➜", "-->"].contains(&between);
    let is_word = ["to", "as", "into", "nach", "zu"].contains(&between);
    let has_other_verb = label::action(&verb).is_some();
    (renames && (is_arrow || is_word) || is_arrow && !has_other_verb).then_some([old, new])
}

/// Verbs of an entry that names an old and a new path.
const RENAMES: [&str; 8] =
    ["rename", "renamed", "move", "moved", "umbenennen", "verschieben", "renommer", "mover"];

/// The tokens of an entry that is a path, or several: code spans or bare paths. None of a sentence that mentions files.
pub(super) fn entry_tokens<'a>(
    document: &Document<'a>,
    words: &Range<usize>,
) -> Vec<(usize, &'a str)> {
    let (mut tokens, mut end) = (Vec::new(), words.start);
    for (range, code) in document.codes(words) {
        let gap = document.text(&(end..range.start));
        // Behind a remark in brackets only what is plainly a file is one more.
        let is_more = |gap: &str| {
            is_separator(gap) || token::is_file(code) && is_separator(&without_remark(gap))
        };
        if !tokens.is_empty() && !is_more(gap) {
            break;
        }
        if tokens.is_empty() && !(leads_to_path(gap) && is_path(code)) {
            return Vec::new();
        }
        end = range.end;
        tokens.push((range.start + 1, code));
    }
    if tokens.is_empty() {
        for (at, word) in split_words(document.text(words), words.start) {
            let path = token::read(word).is_some_and(|(paths, _)| {
                paths.iter().all(|path| path.contains('/') || token::is_file(path))
            });
            if path {
                if tokens.is_empty() && !leads_to_path(document.text(&(words.start..at))) {
                    return Vec::new();
                }
                end = at + word.len();
                tokens.push((at, word));
            } else if !tokens.is_empty() && !is_separator(word) {
                break;
            }
        }
    }
    let has_verb = entry_action(document.text(words)).is_some();
    let rest = document.text(&(end..words.end)).trim_start_matches(['*', '_', '"', '\'', ' ']);
    let is_plain = tokens.iter().all(|(_, token)| token.contains('/') || token::is_file(token));
    let is_whole =
        has_verb && is_plain || rest.is_empty() || !rest.starts_with(char::is_alphanumeric);
    if is_whole { tokens } else { Vec::new() }
}

/// Whether what stands before the first path of an entry is its verb or its label, and no sentence.
fn leads_to_path(before: &str) -> bool {
    let plain = before.trim_matches(|c: char| c.is_whitespace() || "*_`\"'([".contains(c));
    let (label, rest) = plain.split_once([':', '：']).unwrap_or(("", plain));
    let is_plain = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        word.is_empty()
            || label::action(word).is_some()
            || matches!(
                word.to_lowercase().as_str(),
                "file"
                    | "files"
                    | "the"
                    | "a"
                    | "an"
                    | "existing"
                    | "also"
                    | "or"
                    | "and"
                    | "possibly"
                    | "optionally"
                    | "in"
                    | "to"
                    | "at"
            )
    };
    label.split_whitespace().count() <= MOST_LABEL && rest.split_whitespace().all(is_plain)
}

/// Words that a label has at most: `Modify (if the build needs it):`.
const MOST_LABEL: usize = 6;

/// Whether code in a list can stand for a file: `Error::exec` is a name in one.
fn is_path(code: &str) -> bool {
    !code.contains("::") || code.split("::").next().is_some_and(token::is_file)
}
