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

/// Whether a sentence looks at something, or acts outside of the files.
pub(super) fn reads_or_acts(sentence: &str) -> bool {
    let verb = first_word(sentence);
    READS.contains(&verb.as_str()) || ACTS.contains(&verb.as_str())
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
pub(super) fn first_word(words: &str) -> String {
    let mut words = words
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
        .map(|word| if word.starts_with("re-") { word.replacen('-', "", 1) } else { word })
        .filter(|word| word.len() > 2 && word.chars().all(char::is_alphabetic));
    words
        .find(|word| !matches!(word.as_str(), "step" | "task" | "then" | "and" | "details"))
        .unwrap_or_default()
}

#[rustfmt::skip]
const READS: [&str; 44] = [
    "rerun", "recheck", "reverify", "understand", "lint", "typecheck", "install", "analyze", "analyse", "audit", "brainstorm", "check", "compare", "confirm", "design", "ensure", "evaluate", "execute", "explore",
    "follow", "identify", "inspect", "investigate", "perform", "read", "research", "review", "run", "see",
    "study", "test", "validate", "verify", "reference", "inspeccionar", "prüfen", "lesen", "verificar",
    "revisar", "vérifier", "lire", "验证", "確認", "检查",
];

/// Work that leaves no change of a file.
#[rustfmt::skip]
const ACTS: [&str; 24] = [
    "full", "sanity", "quality", "announce", "ask", "benchmark", "checkpoint", "commit", "decide", "demo", "deploy", "discuss", "manual",
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
}
