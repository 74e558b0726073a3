//! The files that a task's sentences mention.

use std::ops::Range;

use super::files::{Collected, Named, is_separator, split_words};
use super::markdown::{Document, Kind};
use super::{Action, FileHint, label, token};
use crate::fault::Place;
use crate::path::RepoPath;

/// What a sentence without a known verb does with the files in it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Verbless {
    Writes,
    /// It is about them, which says too little.
    Skipped,
}

/// The files that the sentences of these ranges mention.
///
/// A sentence is too loose for more than [`Action::Change`], unless it says `Create` or `Delete` right before the path. What a
/// sentence reads, by its first word or by the one before the path, is only read.
pub(super) fn read(
    document: &Document<'_>,
    ranges: &[Range<usize>],
    verbless: Verbless,
) -> Vec<FileHint> {
    let mut collected = Collected::default();
    for range in ranges {
        let first = document.blocks[..document.block_at(range.start)].last();
        let around = first.filter(|block| block.words.end > range.start);
        for block in around.into_iter().chain(document.blocks_in(range)) {
            if matches!(block.kind, Kind::Item(_) | Kind::Paragraph | Kind::Heading(_)) {
                let words = block.words.start.max(range.start)..block.words.end;
                read_sentence(document, &words, verbless, &mut collected);
            }
        }
    }
    collected.into_hints()
}

/// The same of texts that stand nowhere in the source; all of it is at one place.
pub(super) fn read_text(texts: &[&str], place: Place) -> Vec<FileHint> {
    let mut hints: Vec<FileHint> = Vec::new();
    for text in texts {
        let document = Document::read(text);
        for mut hint in read(&document, std::slice::from_ref(&(0..text.len())), Verbless::Skipped) {
            hint.0.place = place;
            let same =
                |one: &FileHint| (&one.0.path, one.0.action) == (&hint.0.path, hint.0.action);
            if !hints.iter().any(same) {
                hints.push(hint);
            }
        }
    }
    hints
}

/// The files that one entry of a list mentions.
pub(super) fn read_sentence(
    document: &Document<'_>,
    range: &Range<usize>,
    verbless: Verbless,
    collected: &mut Collected,
) {
    let words = document.text(range);
    let default = match sentence_verb(words) {
        Some(Verb::Reads) => Action::Read,
        None if verbless == Verbless::Skipped => return,
        Some(Verb::Writes) | None => Action::Change,
    };
    let mut tokens: Vec<_> =
        document.codes(range).map(|(code, text)| (code.start + 1, text)).collect();
    let bare = split_words(words, range.start)
        .filter(|(_, word)| !word.contains('`') && token::is_likely(word));
    tokens.extend(bare);
    tokens.sort_unstable();
    let mut last: Option<(usize, Action)> = None;
    for (at, text) in tokens {
        let Some((paths, lines)) = token::read(text) else { continue };
        for path in paths.iter().filter(|path| token::is_file(path)) {
            if RepoPath::parse(path).is_err() {
                continue;
            }
            let before = &document.source[range.start..at];
            // What is said before the first of several holds for all of them.
            let joined = last.filter(|(end, _)| {
                let gap = document.source.get(*end..at).unwrap_or_default();
                is_separator(&gap.replace('`', " "))
            });
            let action = joined.map_or_else(|| said_action(before, default), |(_, action)| action);
            last = Some((at + text.len(), action));
            let action = match action {
                Action::Change if token::is_test(path) => Action::Test,
                action => action,
            };
            collected.add_hint(document, Named { at, path, action, lines });
        }
    }
}

/// What is done with the path that follows these words.
fn said_action(before: &str, default: Action) -> Action {
    let mut last = before
        .rsplit(|c: char| c.is_whitespace() || "`*_()".contains(c))
        .filter(|word| !word.is_empty())
        .map(|word| word.trim_end_matches([':', ',']).to_lowercase())
        .filter(|word| {
            !matches!(word.as_str(), "the" | "a" | "an" | "new" | "file" | "module" | "existing")
        });
    let (word, above) = (last.next().unwrap_or_default(), last.next().unwrap_or_default());
    let is_source = matches!(word.as_str(), "per" | "from" | "see" | "missing" | "via" | "like")
        || matches!((above.as_str(), word.as_str()), ("based", "on") | ("according", "to"));
    match label::action(&word) {
        _ if is_source => Action::Read,
        Some(Action::Create) if default != Action::Read => Action::Create,
        Some(Action::Delete) if default != Action::Read => Action::Delete,
        _ => default,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verb {
    Reads,
    Writes,
}

/// Whether a task of this title may rightly change no file: it looks at something, or acts outside of the files.
pub(crate) fn may_change_nothing(title: &str) -> bool {
    let verb = first_word(title);
    READS.contains(&verb.as_str()) || ACTS.contains(&verb.as_str())
}

/// Whether a task of this title writes tests that are to fail, which a later task makes pass.
pub(crate) fn asks_for_failing_tests(title: &str) -> bool {
    let lower = title.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_test = |word: &&str| ["test", "tests", "spec", "specs"].contains(word);
    let is_failing = |at: &usize| {
        matches!(words[*at], "failing" | "red") && words[at + 1..].iter().take(3).any(is_test)
    };
    let Some(failing) = (0..words.len()).find(is_failing) else { return false };
    let writes = |word: &&str| matches!(*word, "write" | "add" | "create" | "author" | "introduce");
    let mends = |word: &&str| {
        matches!(
            *word,
            "fix" | "repair" | "implement" | "pass" | "passes" | "green" | "remove" | "until"
        )
    };
    words[..failing].iter().any(writes) && !words.iter().any(mends)
}

/// Whether a task of this title takes something away.
pub(crate) fn removes(title: &str) -> bool {
    matches!(first_word(title).as_str(), "remove" | "delete" | "drop" | "retire" | "eliminate")
}

fn sentence_verb(words: &str) -> Option<Verb> {
    let verb = first_word(words);
    if READS.contains(&verb.as_str()) {
        return Some(Verb::Reads);
    }
    let writes = WRITES.contains(&verb.as_str()) || label::action(&verb).is_some();
    writes.then_some(Verb::Writes)
}

/// The first word that is none of a mark, an id or a count: `Implement` of `T012 [P] [US1] Implement` and `Step 1: Implement`.
fn first_word(words: &str) -> String {
    let mut words = words
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
        .filter(|word| word.len() > 2 && word.chars().all(char::is_alphabetic));
    words
        .find(|word| !matches!(word.as_str(), "step" | "task" | "then" | "and" | "details"))
        .unwrap_or_default()
}

#[rustfmt::skip]
const READS: [&str; 37] = [
    "analyze", "analyse", "audit", "brainstorm", "check", "compare", "confirm", "design", "ensure", "evaluate", "execute", "explore",
    "follow", "identify", "inspect", "investigate", "perform", "read", "research", "review", "run", "see",
    "study", "test", "validate", "verify", "reference", "inspeccionar", "prüfen", "lesen", "verificar",
    "revisar", "vérifier", "lire", "验证", "確認", "检查",
];

/// Work that leaves no change of a file.
#[rustfmt::skip]
const ACTS: [&str; 21] = [
    "announce", "ask", "benchmark", "checkpoint", "commit", "decide", "demo", "deploy", "discuss", "manual",
    "manually", "measure", "merge", "open", "publish", "push", "release", "smoke", "submit", "tag", "final",
];

#[rustfmt::skip]
const WRITES: [&str; 50] = [
    "adjust", "append", "build", "configure", "convert", "define", "document", "drop", "enhance", "expose",
    "export", "extract", "fix", "generate", "handle", "implement", "improve", "insert", "integrate",
    "introduce", "make", "migrate", "move", "port", "refactor", "register", "rename", "replace", "rewrite",
    "set", "setup", "split", "support", "wire", "write", "implementieren", "schreiben", "implementar",
    "escribir", "implémenter", "écrire", "实现", "編写", "実装", "구현", "реализовать", "编写", "bump", "declare",
    "populate",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn hints(text: &str, verbless: Verbless) -> String {
        let document = Document::read(text);
        let all = 0..text.len();
        let found = read(&document, std::slice::from_ref(&all), verbless);
        let shown = found.iter().map(|hint| format!("{} {}", hint.0.action.as_str(), hint.0.path));
        shown.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn what_a_sentence_reads_is_no_target() {
        for (text, expected) in [
            ("- [ ] 1.1 Implement find() in `foo_service.py`", "change foo_service.py"),
            ("- T001 Create src/a.rs and src/b.rs", "create src/a.rs, create src/b.rs"),
            ("- T002 Execute the steps of `quickstart.md`", "read quickstart.md"),
            ("- Remove stale rows from `server.json`", "read server.json"),
            ("- Document missing `tasks.md` debt in `docs.md`", "read tasks.md, change docs.md"),
            ("- Write `a.py` based on `b.py` and `c.py`", "change a.py, read b.py, read c.py"),
            ("- Implement it per contracts/api.yaml", "read contracts/api.yaml"),
            ("- Audit `a.py`", "read a.py"),
            ("- Research x in `research.md`", "read research.md"),
            ("- Delete `old.py`", "delete old.py"),
            ("- Write tests in `tests/test_a.py`", "test tests/test_a.py"),
            ("**Step 1: Add it to `a.py`**", "change a.py"),
            ("### Fix `a.py`", "change a.py"),
            ("Details:\nImplement it in a.py.", "change a.py"),
            ("- Update `/etc/passwd`, `../x.py` and `~/y.py`", ""),
            ("- Fix Node.js and/or e.g. v1.2", ""),
            ("- Export `.ics` and .exe with Prism.js", ""),
            (
                "- Write pkg/__init__.py, __init__.py and _a.py_",
                "change pkg/__init__.py, change __init__.py, change a.py",
            ),
            ("```\nUpdate `a.py`\n```", ""),
        ] {
            assert_eq!(hints(text, Verbless::Skipped), expected, "{text}");
        }
    }

    #[test]
    fn a_sentence_without_a_known_verb_counts_where_it_is_a_task() {
        let text = "- T010 [P] User model in src/models/user.py";
        assert_eq!(hints(text, Verbless::Writes), "change src/models/user.py");
        assert_eq!(hints(text, Verbless::Skipped), "");
    }

    #[test]
    fn looking_and_acting_need_no_change() {
        for title in [
            "Run the tests",
            "Checkpoint - Ensure all tests pass",
            "Commit and push",
            "**Verify** it",
        ] {
            assert!(may_change_nothing(title), "{title}");
        }
        for title in ["Implement it", "Add tests", "", "Running totals"] {
            assert!(!may_change_nothing(title), "{title}");
        }
        assert!(removes("2.1 Remove `a()` and its tests") && !removes("Add a remove button"));
        for title in [
            "2.1 Write failing test: the reply is 403",
            "Write the failing unit tests for `a`",
            "T003 [P] Add red tests in tests/a.py",
        ] {
            assert!(asks_for_failing_tests(title), "{title}");
        }
        for title in [
            "Fix failing tests",
            "Write a failing test and make it pass",
            "Add tests for failing uploads",
            "Add retry until failing tests end",
        ] {
            assert!(!asks_for_failing_tests(title), "{title}");
        }
    }
}
