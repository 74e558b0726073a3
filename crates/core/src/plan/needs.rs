//! Needs that a task's own words declare: `Depends on: T001`, `Task 4 depends on Task 1 and 2`.

use std::ops::Range;

use super::markdown::Document;
use super::words;

/// How a format's ids can be told from other words.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    /// Ids that nothing else looks like, such as `T001` or `A.1.2`.
    Plain(fn(&str) -> bool),
    /// Numbers: only after the word for task, or right behind the words of need with nothing else following.
    Numbers,
}

const KEYWORDS: [&str; 22] = [
    "depends on",
    "depend on",
    "dependencies",
    "dependency",
    "depends:",
    "blocked by",
    "prerequisites:",
    "prerequisite:",
    "needs:",
    "requires task",
    "requires:",
    "abhängig von",
    "hängt ab von",
    "abhängigkeiten",
    "depende de",
    "dependencias",
    "dépend de",
    "dépendances",
    "依赖",
    "依存",
    "의존",
    "зависит от",
];

/// What a line in plain ASCII has if it has a keyword at all, in either case.
const HINTS: [&str; 6] = [
    "epend",
    "locked by",
    "rerequisite",
    "eeds:",
    "equires",
    "EPEND",
];

/// The ids that the prose of a range names as needs, with where they stand.
pub(super) fn declared(
    document: &Document<'_>,
    range: &Range<usize>,
    own: &str,
    shape: Shape,
) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for (start, line) in document.prose(range) {
        if line.is_ascii() && !HINTS.iter().any(|hint| line.contains(hint)) {
            continue;
        }
        let lower = line.to_ascii_lowercase();
        let Some((at, keyword)) = KEYWORDS
            .iter()
            .find_map(|word| Some((lower.find(word)?, word)))
        else {
            continue;
        };
        let before = &line[..at];
        if is_negated(&lower[..at]) || names_another(before, own, shape) {
            continue;
        }
        let tail_at = at + keyword.len();
        found.extend(
            ids(&line[tail_at..], shape)
                .into_iter()
                .map(|(id, at)| (id, start + tail_at + at)),
        );
    }
    found
}

/// `Task N` in a range: for lists in which naming a task means needing it.
pub(super) fn named(
    document: &Document<'_>,
    range: &Range<usize>,
    own: &str,
) -> Vec<(String, usize)> {
    let text = document.text(range);
    let found = mentions(text).into_iter().filter(|(id, _)| id != own);
    found.map(|(id, at)| (id, range.start + at)).collect()
}

fn is_negated(before: &str) -> bool {
    let words: Vec<&str> = before.split_whitespace().rev().take(2).collect();
    words.iter().any(|word| {
        matches!(*word, "not" | "no" | "never" | "kein" | "keine" | "nicht")
            || word.ends_with("n't")
    })
}

/// The sentence is about another task.
fn names_another(before: &str, own: &str, shape: Shape) -> bool {
    let before = before
        .rsplit(['.', ';'])
        .next()
        .filter(|last| !last.trim().is_empty())
        .unwrap_or(before);
    match shape {
        Shape::Plain(is_id) => split_ids(before).any(|(_, word)| is_id(word) && word != own),
        Shape::Numbers => mentions(before).iter().any(|(id, _)| id != own),
    }
}

fn ids(tail: &str, shape: Shape) -> Vec<(String, usize)> {
    // A sentence ends at a full stop before a space; ids have theirs inside.
    let tail = tail.split(". ").next().unwrap_or(tail);
    match shape {
        Shape::Plain(is_id) => spread(
            split_ids(tail).filter(|(_, word)| is_id(word)).collect(),
            tail,
        ),
        Shape::Numbers => {
            let mentions = mentions(tail);
            if mentions.is_empty() {
                bare_numbers(tail)
            } else {
                mentions
            }
        }
    }
}

/// `T001-T004` names all four.
fn spread(found: Vec<(usize, &str)>, tail: &str) -> Vec<(String, usize)> {
    let mut all: Vec<(String, usize)> = Vec::new();
    for (at, word) in found {
        let joined = all.last().is_some_and(|(last, end)| {
            let between = &tail[(end + last.len()).min(at)..at];
            matches!(between.trim(), "-" | "–" | "—" | "to" | "through" | "..")
        });
        let from = all
            .last()
            .filter(|_| joined)
            .map(|(last, at)| (last.clone(), *at));
        if let Some((last, last_at)) = from {
            all.extend(
                words::between(&last, word)
                    .into_iter()
                    .map(|id| (id, last_at)),
            );
        }
        all.push((word.to_owned(), at));
    }
    all
}

fn split_ids(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let joint = |c: char| !c.is_alphanumeric() && c != '.' && c != '_';
    text.split(joint).filter_map(move |word| {
        let kept = word.trim_matches(|c| matches!(c, '.' | '_'));
        let at = kept.as_ptr() as usize - text.as_ptr() as usize;
        (!kept.is_empty()).then_some((at, kept))
    })
}

/// Numbers after the word for task, as long as nothing but `,` and `and` stands between them.
fn mentions(text: &str) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    let mut open = false;
    for (at, word) in split_ids(text) {
        let bare = words::is_task(word) || words::is_task(word.trim_end_matches(['s', 'S']));
        if bare {
            open = true;
        } else if open && words::is_number(word) {
            found.push((word.to_owned(), at));
        } else if let Some(number) = words::glued(word) {
            found.push((number.to_owned(), at + word.len() - number.len()));
        } else {
            open &= matches!(
                word.to_lowercase().as_str(),
                "and" | "und" | "y" | "et" | "or" | "和" | "と"
            );
        }
    }
    found
}

/// `: 1.1, 1.2` or ` 2.1)`: numbers right behind the words of need, and nothing after them.
fn bare_numbers(tail: &str) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for (at, word) in split_ids(tail) {
        if words::is_number(word) {
            found.push((word.to_owned(), at));
        } else if !matches!(
            word.to_lowercase().as_str(),
            "and" | "und" | "y" | "et" | "和" | "と"
        ) {
            let closed = found.last().is_some_and(|(id, at): &(String, usize)| {
                tail[at + id.len()..]
                    .trim_start_matches('_')
                    .starts_with([')', ';'])
            });
            return if closed { found } else { Vec::new() };
        }
    }
    found
}
