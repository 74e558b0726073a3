//! The files that a task's sentences name.

use std::ops::Range;

use super::files::{Collected, Named, split_words};
use super::markdown::{Document, Kind};
use super::{Action, FileRef, label, token};
use crate::fault::Fault;
use crate::path::RepoPath;

/// Whether paths that stand bare in a sentence count.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Bare {
    Taken,
    Left,
}

/// The files that sentences name as the ones to write: only where the sentence begins with a verb of writing.
///
/// A sentence is too loose for more than [`Action::Change`], unless it says `Create` right before the path.
pub(super) fn read(
    document: &Document<'_>,
    range: &Range<usize>,
    bare: Bare,
    faults: &mut Vec<Fault>,
) -> Vec<FileRef> {
    let mut collected = Collected::default();
    for block in document.blocks_in(range) {
        if !matches!(block.kind, Kind::Item(_) | Kind::Paragraph) {
            continue;
        }
        let words = document.text(&block.words);
        if bare == Bare::Left && !begins_with_writing(words)
            || bare == Bare::Taken && begins_with_looking(words)
        {
            continue;
        }
        let mut tokens: Vec<_> =
            document.codes(&block.words).map(|(code, text)| (code.start + 1, text)).collect();
        if bare == Bare::Taken {
            let outside = split_words(words, block.words.start)
                .filter(|(_, word)| !word.contains('`') && token::is_likely(word));
            tokens.extend(outside);
            tokens.sort_unstable();
        }
        for (at, text) in tokens {
            let Some((paths, lines)) = token::read(text) else {
                continue;
            };
            let before = &document.source[block.words.start..at];
            for path in paths.iter().filter(|path| token::is_file(path)) {
                if RepoPath::parse(path).is_err()
                    && !(bare == Bare::Taken && is_meant(before, path))
                {
                    continue;
                }
                let action = said_action(before, path);
                let named = Named { at, path, action, lines };
                collected.add(document, named, faults);
            }
        }
    }
    collected.files
}

/// Whether a path that leaves the repository is meant as the file to write: imports, routes and homes are not.
fn is_meant(before: &str, path: &str) -> bool {
    let mut last = before.rsplit(|c: char| c.is_whitespace() || "`*_".contains(c));
    let word = last.find(|word| !word.is_empty()).unwrap_or_default().to_lowercase();
    let place = matches!(word.as_str(), "in" | "at" | "to" | "into" | "under" | "file");
    !path.starts_with('~') && (place || label::action(&word).is_some())
}

fn said_action(before: &str, path: &str) -> Action {
    let mut last = before
        .rsplit(|c: char| c.is_whitespace() || "`*_".contains(c))
        .filter(|word| !word.is_empty());
    let verb = last.find(|word| {
        !matches!(
            word.to_ascii_lowercase().as_str(),
            "the" | "a" | "an" | "new" | "file" | "module"
        )
    });
    match verb.and_then(label::action) {
        Some(Action::Create) => Action::Create,
        Some(Action::Delete) => Action::Delete,
        _ if token::is_test(path) => Action::Test,
        _ => Action::Change,
    }
}

fn first_verb(words: &str) -> String {
    let plain = words.trim_start_matches(|c: char| !c.is_alphabetic());
    let mut plain = plain.split(|c: char| !c.is_alphabetic()).filter(|word| word.len() > 1);
    plain.next().unwrap_or_default().to_lowercase()
}

fn begins_with_writing(words: &str) -> bool {
    let verb = first_verb(words);
    matches!(
        verb.as_str(),
        "implement"
            | "write"
            | "build"
            | "refactor"
            | "fix"
            | "extract"
            | "move"
            | "rename"
            | "wire"
            | "register"
            | "replace"
            | "define"
            | "set"
            | "setup"
            | "introduce"
            | "integrate"
            | "enhance"
            | "migrate"
            | "convert"
            | "implementieren"
            | "schreiben"
            | "implementar"
            | "escribir"
            | "implémenter"
            | "écrire"
            | "实现"
            | "編写"
            | "実装"
            | "구현"
            | "реализовать"
    ) || matches!(label::action(&verb), Some(action) if action != Action::Read)
}

fn begins_with_looking(words: &str) -> bool {
    // Ids and marks such as `T012 [P] [US1]` stand before the verb.
    let verb = words
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
        .find(|word| word.len() > 2 && word.chars().all(char::is_alphabetic));
    matches!(
        verb.unwrap_or_default().as_str(),
        "review"
            | "read"
            | "verify"
            | "check"
            | "run"
            | "validate"
            | "confirm"
            | "analyze"
            | "inspect"
            | "ensure"
            | "prüfen"
            | "verificar"
            | "vérifier"
            | "验证"
            | "確認"
    )
}
