//! Needs that a task's own words declare: `Depends on: T001`, `Task 4 depends on Task 1 and 2`.

use std::ops::Range;

use super::markdown::Document;
use super::{label, words};

/// How a format's ids can be told from other words.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    /// Ids that nothing else looks like, such as `T001` or `A.1.2`.
    Plain(fn(&str) -> bool),
    /// Numbers: only after the word for task, or right behind the words of need with nothing else following.
    Numbers,
}

/// Words of need anywhere in a sentence.
const VERBS: [&str; 11] = [
    "depends on",
    "depend on",
    "blocked by",
    "requires task",
    "abhängig von",
    "hängt ab von",
    "depende de",
    "dépend de",
    "依赖",
    "依存",
    "зависит от",
];

/// Words of need that count only as a label at the start of a line.
const LABELS: [&str; 13] = [
    "dependencies",
    "dependency",
    "depends",
    "prerequisites",
    "prerequisite",
    "needs",
    "requires",
    "abhängigkeiten",
    "dependencias",
    "dépendances",
    "dependências",
    "зависимости",
    "의존성",
];

/// What a text in plain ASCII has in lower case if it has a keyword at all.
const HINTS: [&str; 5] = ["depend", "blocked by", "prerequisite", "needs", "requires"];

/// The ids that the prose of a range names as needs, with where they stand.
pub(super) fn declared(
    document: &Document<'_>,
    range: &Range<usize>,
    own: &str,
    shape: Shape,
) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    let text = document.text(range);
    let lower = text.to_ascii_lowercase();
    if text.is_ascii() && !HINTS.iter().any(|hint| lower.contains(hint)) {
        return found;
    }
    for (start, line) in document.prose(range) {
        let lower = lowered(line);
        let Some((before, tail_at)) = find(line, &lower) else {
            continue;
        };
        if is_negated(&lower[..before]) || names_another(&line[..before], own, shape) {
            continue;
        }
        let tail = said(&line[tail_at..]);
        found.extend(ids(tail, shape).into_iter().map(|(id, at)| (id, start + tail_at + at)));
    }
    found
}

/// A line in lower case, every character where it was: the few that would change their length stay as they are.
fn lowered(line: &str) -> String {
    let lower = |c: char| {
        let mut all = c.to_lowercase();
        let one = all.next().filter(|one| all.next().is_none() && one.len_utf8() == c.len_utf8());
        one.unwrap_or(c)
    };
    line.chars().map(lower).collect()
}

/// Where in a line the words of need begin and end.
fn find(line: &str, lower: &str) -> Option<(usize, usize)> {
    let verb = VERBS.iter().find_map(|word| Some((lower.find(word)?, word.len())));
    if let Some((at, length)) = verb {
        return Some((at, at + length));
    }
    let bullet = line.len()
        - line.trim_start_matches(|c: char| c.is_whitespace() || "-*+_".contains(c)).len();
    let (name, rest) = label::split(&line[bullet..])?;
    LABELS.contains(&name.to_lowercase().as_str()).then_some((0, bullet + rest))
}

/// The part of a tail that says what is needed: to the end of the sentence or bracket, remarks in brackets left out.
fn said(tail: &str) -> &str {
    let end = tail.find(['(', ')']).unwrap_or(tail.len());
    let sentence = tail.find(". ").unwrap_or(tail.len());
    &tail[..end.min(sentence)]
}

/// `Task N` in a range: for lists in which naming a task means needing it.
pub(super) fn named(
    document: &Document<'_>,
    range: &Range<usize>,
    own: &str,
) -> Vec<(String, usize)> {
    let text = document.text(range);
    let found = spread(&mentions(text), text).into_iter().filter(|(id, _)| id != own);
    found.map(|(id, at)| (id, range.start + at)).collect()
}

fn is_negated(before: &str) -> bool {
    before.split_whitespace().rev().take(2).any(|word| {
        matches!(word, "not" | "no" | "never" | "kein" | "keine" | "nicht") || word.ends_with("n't")
    })
}

/// The sentence is about another task.
fn names_another(before: &str, own: &str, shape: Shape) -> bool {
    let before =
        before.rsplit(['.', ';']).next().filter(|last| !last.trim().is_empty()).unwrap_or(before);
    match shape {
        Shape::Plain(is_id) => plain_ids(before, is_id).into_iter().any(|(_, word)| word != own),
        Shape::Numbers => mentions(before).iter().any(|(_, id)| *id != own),
    }
}

fn ids(tail: &str, shape: Shape) -> Vec<(String, usize)> {
    let found: Vec<(usize, &str)> = match shape {
        Shape::Plain(is_id) => plain_ids(tail, is_id),
        Shape::Numbers => {
            let mentions = mentions(tail);
            if mentions.is_empty() { bare_numbers(tail) } else { mentions }
        }
    };
    spread(&found, tail)
}

/// `T001-T004` names all four.
fn spread(found: &[(usize, &str)], tail: &str) -> Vec<(String, usize)> {
    let mut all: Vec<(String, usize)> = Vec::new();
    for (at, word) in found.iter().copied() {
        let joined = all.last().is_some_and(|(last, end)| {
            let between = &tail[(end + last.len()).min(at)..at];
            matches!(between.trim(), "-" | "–" | "—" | "to" | "through" | "..")
        });
        let from = all.last().filter(|_| joined).map(|(last, at)| (last.clone(), *at));
        if let Some((last, last_at)) = from {
            all.extend(words::between(&last, word).into_iter().map(|id| (id, last_at)));
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

/// Ids that nothing else looks like. With hyphens, as in `T-001`, where that is one, and else what stands between the hyphens.
fn plain_ids(text: &str, is_id: fn(&str) -> bool) -> Vec<(usize, &str)> {
    let joint = |c: char| !c.is_alphanumeric() && !matches!(c, '.' | '_' | '-');
    let mut found = Vec::new();
    for word in text.split(joint) {
        let word = word.trim_matches(|c| matches!(c, '.' | '_' | '-'));
        let at = word.as_ptr() as usize - text.as_ptr() as usize;
        if is_id(word) {
            found.push((at, word));
        } else {
            let parts = split_ids(word).filter(|(_, part)| is_id(part));
            found.extend(parts.map(|(inner, part)| (at + inner, part)));
        }
    }
    found
}

/// Numbers after the word for task, as long as nothing but `,` and `and` stands between them.
fn mentions(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut open = false;
    for (at, word) in split_ids(text) {
        let bare = words::is_task(word) || words::is_task(word.trim_end_matches(['s', 'S']));
        if bare {
            open = true;
        } else if open
            && words::is_task_number(word)
            && !word.bytes().all(|b| b.is_ascii_uppercase())
        {
            found.push((at, word));
        } else if let Some(number) = words::glued(word) {
            found.push((at + word.len() - number.len(), number));
        } else {
            open &= is_and(word);
        }
    }
    found
}

/// `: 1.1, 1.2` or ` 2.1)`: numbers right behind the words of need, and nothing after them.
fn bare_numbers(tail: &str) -> Vec<(usize, &str)> {
    let words: Vec<(usize, &str)> = split_ids(tail).filter(|(_, word)| !is_and(word)).collect();
    let alone = words.iter().all(|(_, word)| words::is_number(word));
    if alone { words } else { Vec::new() }
}

fn is_and(word: &str) -> bool {
    matches!(word.to_lowercase().as_str(), "and" | "und" | "y" | "et" | "or" | "和" | "と")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, shape: Shape) -> String {
        let document = Document::read(text);
        let found = declared(&document, &(0..text.len()), "4", shape);
        found.into_iter().map(|(id, _)| id).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn numbers_are_ids_only_where_nothing_else_is_meant() {
        for (text, expected) in [
            ("Task 4 depends on Task 1 and 2.", "1 2"),
            ("**Depends on:** Tasks 1, 2 and 3", "1 2 3"),
            ("- **Dependencies:** Tasks 3.1-3.3 completed (see Task 9)", "3.1 3.2 3.3"),
            ("(depends on 2.1)", "2.1"),
            ("_Depends: 1.1, 1.2_", "1.1 1.2"),
            ("Task 5 depends on Task 1.", ""),
            ("It does not depend on Task 1.", ""),
            ("This depends on 3 services and React 18.2.", ""),
            ("Add dependency analysis for Task 7.", ""),
            ("**Dependencies:** None", ""),
            ("BLOCKED BY Task 1", "1"),
            ("BLOCKED BY Task 1, é", "1"),
            ("İ ẞ DEPENDS ON Task 1", "1"),
            ("It does NOT depend on Task 1.", ""),
            ("Зависит от задача 1", "1"),
            ("依赖：任务 1、任务 2", "1 2"),
            ("```\nDepends on: Task 1\n```", ""),
        ] {
            assert_eq!(found(text, Shape::Numbers), expected, "{text}");
        }
    }

    #[test]
    fn plain_ids_need_no_word_before_them() {
        let shape = Shape::Plain(words::is_spec_kit);
        assert_eq!(found("Do it (depends on T001, T003-T005)", shape), "T001 T003 T004 T005");
        assert_eq!(found("Depends on: T001, US2", shape), "T001");
        assert_eq!(found("Depends on: T-001, T-M1-002", shape), "T-001 T-M1-002");
    }
}
