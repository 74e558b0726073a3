//! Constraints that forbid to change a file by its name.

use crate::plan::Action;

/// Words that forbid.
const NOT: [&str; 7] =
    ["do not ", "don't ", "don’t ", "must not ", "may not ", "never ", "not to "];
/// What they forbid, as far as it is about a file.
const CHANGE: [&str; 6] = ["change", "modify", "touch", "edit", "alter", "write to"];
const DELETE: [&str; 3] = ["delete", "remove", "rename"];
/// Where it goes on, somebody knows better than we do.
const BUT: [&str; 5] = ["except", "unless", "other than", "without", " but "];

/// The sentence of a constraint that forbids what a task is to do with a file.
pub(super) fn sentence<'t>(text: &'t str, path: &str, action: Action) -> Option<&'t str> {
    let ends = |at: usize, c: char| {
        c == '\n'
            || matches!(c, '.' | ';' | '!') && text[at + c.len_utf8()..].starts_with([' ', '\n'])
    };
    let mut start = 0;
    let cuts = text.char_indices().filter(|(at, c)| ends(*at, *c)).map(|(at, c)| at + c.len_utf8());
    let cuts: Vec<usize> = cuts.chain([text.len()]).collect();
    let sentences = cuts.into_iter().map(|end| {
        let one = &text[start..end];
        start = end;
        one.trim().trim_start_matches(['-', '*', ' '])
    });
    let mut sentences = sentences.into_iter();
    sentences.find(|one| forbids(&one.to_lowercase(), action) && names(one, path))
}

fn forbids(sentence: &str, action: Action) -> bool {
    let verbs = if action == Action::Delete { &DELETE[..] } else { &CHANGE[..] };
    let is_forbidden = NOT.iter().any(|not| {
        let behind = sentence.split_once(not).map(|(_, behind)| behind.trim_start());
        behind
            .is_some_and(|behind| verbs.iter().chain(&CHANGE).any(|verb| behind.starts_with(verb)))
    });
    is_forbidden && !BUT.iter().any(|but| sentence.contains(but))
}

/// Whether it names a file, or a folder above it.
fn names(sentence: &str, path: &str) -> bool {
    let edge =
        |c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | ',' | ';' | ':' | '(' | ')');
    let words = sentence.split(edge).map(|word| word.trim_end_matches(['.', '!']));
    let mut words = words.filter(|word| word.contains(['/', '.']));
    words.any(|word| {
        let word = word.trim_start_matches("./").trim_end_matches("/**").trim_end_matches("/*");
        let folder = word.trim_end_matches('/');
        let within = path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        path == word
            || !folder.is_empty() && within && (word.ends_with('/') || folder.contains('/'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_forbidden_by_its_name_or_its_folders_and_by_no_other() {
        for (text, path) in [
            ("Do not change `src/a.rs`.", "src/a.rs"),
            ("Keep it short. You must not touch src/a.rs!", "src/a.rs"),
            ("- never edit anything in `src/legacy/`", "src/legacy/a.rs"),
            ("Don't modify `vendor/lib/**`; ask first", "vendor/lib/a.c"),
        ] {
            assert!(sentence(text, path, Action::Modify).is_some(), "{text}");
        }
        for (text, path) in [
            ("Change `src/a.rs`.", "src/a.rs"),
            ("Do not change `src/b.rs`.", "src/a.rs"),
            ("Do not change `src/a.rs` except for its head.", "src/a.rs"),
            ("Do not delete `src/a.rs`.", "src/a.rs"),
            ("Do not panic in `src/a.rs`.", "src/a.rs"),
            ("Do not change the API. See `src/a.rs`.", "src/a.rs"),
            ("Do not change `src/a.rs.in`.", "src/a.rs"),
        ] {
            assert_eq!(sentence(text, path, Action::Modify), None, "{text}");
        }
        assert!(sentence("Do not delete `a.rs`.", "a.rs", Action::Delete).is_some());
    }
}
