//! How many tasks a plan seems to have, by simple rules on lines and without the readers.

use std::collections::BTreeSet;

use sequester_core::plan::Format;
use serde_json::Value;

/// Counts what looks like a task in a plan of that format; without one, numbered headings and open boxes.
pub(crate) fn count(format: Option<Format>, text: &str) -> usize {
    let lines = outside_fences(text);
    match format {
        Some(Format::TaskMaster) => json_tasks(text),
        Some(Format::Superpowers) => {
            let headings =
                lines.iter().filter(|line| heading(line).is_some_and(is_task_number)).count();
            if headings > 0 {
                headings
            } else {
                boxes(&lines).filter(|(_, words)| is_task_number(words)).count()
            }
        }
        Some(Format::SpecKit) => ids(&lines, is_spec_kit).len(),
        Some(Format::Track) => leaves(&ids(&lines, is_track)),
        Some(Format::Native) => lines
            .iter()
            .filter_map(|line| heading(line))
            .filter(|words| words.starts_with('['))
            .count(),
        Some(Format::OpenSpec | Format::Kiro) => {
            let numbered = ids(&lines, is_number);
            let outer = || boxes(&lines).filter(|(indent, _)| *indent == 0).count();
            if numbered.is_empty() { outer() } else { leaves(&numbered) }
        }
        Some(Format::Gsd) => {
            let is_task =
                |line: &&&str| line.trim() == "<task>" || line.trim().starts_with("<task ");
            lines.iter().filter(is_task).count()
        }
        Some(Format::Cursor) => {
            let items = text.lines().skip_while(|line| !line.starts_with("todos:"));
            items
                .take_while(|line| *line != "---")
                .filter(|line| line.trim().starts_with("- "))
                .count()
        }
        Some(Format::Bmad) => boxes(&lines).filter(|(indent, _)| *indent == 0).count(),
        Some(Format::Single) => 1,
        Some(Format::List) | None => {
            let headings = lines
                .iter()
                .filter_map(|line| heading(line))
                .filter(|words| first_word(words).is_some_and(is_number) || is_task_number(words));
            headings.count() + boxes(&lines).count()
        }
    }
}

/// Lines that stand in no fenced block.
fn outside_fences(text: &str) -> Vec<&str> {
    let mut open: Option<&str> = None;
    let mut kept = Vec::new();
    for line in text.lines() {
        let body = line.trim_start();
        let run = &body[..body.len() - body.trim_start_matches(['`', '~']).len()];
        let is_fence = run.starts_with("```") || run.starts_with("~~~");
        match open {
            Some(fence)
                if is_fence && run.starts_with(fence) && body[run.len()..].trim().is_empty() =>
            {
                open = None;
            }
            Some(_) => {}
            None if is_fence => open = Some(run),
            None => kept.push(line),
        }
    }
    kept
}

fn heading(line: &str) -> Option<&str> {
    let words = line.trim_start_matches('#');
    let level = line.len() - words.len();
    ((1..=6).contains(&level) && words.starts_with([' ', '\t'])).then(|| words.trim())
}

/// Indentation and words of each item with a box.
fn boxes<'a>(lines: &'a [&'a str]) -> impl Iterator<Item = (usize, &'a str)> {
    lines.iter().filter_map(|line| {
        let body = line.trim_start();
        let item = body
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .strip_prefix(['-', '*', '+', '.'])?;
        let state = item.trim_start().strip_prefix('[')?;
        let mut state = state.chars();
        state.next()?;
        let rest = state.as_str().strip_prefix(']')?;
        let apart = rest.starts_with([' ', '*']);
        apart.then(|| (line.len() - body.len(), rest.trim_start_matches('*').trim()))
    })
}

/// The distinct ids of headings and boxes.
fn ids<'a>(lines: &'a [&'a str], is_id: fn(&str) -> bool) -> BTreeSet<&'a str> {
    let headings = lines
        .iter()
        .filter_map(|line| heading(line))
        .filter(|_| !std::ptr::fn_addr_eq(is_id, is_number as fn(&str) -> bool));
    let words = headings.chain(boxes(lines).map(|(_, words)| words));
    words.filter_map(first_word).filter(|word| is_id(word)).collect()
}

fn first_word(words: &str) -> Option<&str> {
    let body = words.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    let end = body.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(body.len());
    let word = body[..end].trim_end_matches('.');
    (!word.is_empty()).then_some(word)
}

/// How many ids no other id stands below.
fn leaves(ids: &BTreeSet<&str>) -> usize {
    let below = |id: &str| {
        ids.iter().any(|other| other.strip_prefix(id).is_some_and(|rest| rest.starts_with('.')))
    };
    ids.iter().filter(|id| !below(id)).count()
}

fn is_task_number(words: &str) -> bool {
    let body = words.trim_start_matches(|c: char| !c.is_alphanumeric());
    let mut parts = body.split_whitespace();
    let is_task = parts.next().is_some_and(|word| word.eq_ignore_ascii_case("task"));
    is_task
        && parts.next().is_some_and(|word| {
            word.trim_start_matches('#').starts_with(|c: char| c.is_ascii_digit())
        })
}

fn is_number(word: &str) -> bool {
    word.split('.').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}

fn is_spec_kit(word: &str) -> bool {
    word.len() >= 3 && word.strip_prefix('T').is_some_and(is_number)
}

fn is_track(word: &str) -> bool {
    let (track, rest) = word.split_once('.').unwrap_or_default();
    !track.is_empty() && track.bytes().all(|byte| byte.is_ascii_uppercase()) && is_number(rest)
}

/// Entries of Task Master without subtasks, those that are cancelled left out.
fn json_tasks(text: &str) -> usize {
    fn count(task: &Value) -> usize {
        let cancelled = matches!(task["status"].as_str(), Some("cancelled" | "canceled"));
        let subtasks = task["subtasks"].as_array().filter(|subtasks| !subtasks.is_empty());
        match subtasks {
            _ if cancelled => 0,
            Some(subtasks) => subtasks.iter().map(count).sum(),
            None => 1,
        }
    }
    let value: Value = serde_json::from_str(text).unwrap_or_default();
    let tags = value.as_object().into_iter().flat_map(|map| map.values());
    let mut lists = [&value, &value["tasks"], &value["master"]["tasks"]].into_iter();
    let list = lists.find(|list| list.is_array());
    let first = tags.map(|tag| &tag["tasks"]).find(|list| list.is_array());
    list.or(first).and_then(Value::as_array).into_iter().flatten().map(count).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_format_has_its_own_rule() {
        for (format, text, expected) in [
            (
                Some(Format::Superpowers),
                "### Task 1: a\n- [ ] b\n```\n### Task 9: c\n```\n## Task 2\n",
                2,
            ),
            (Some(Format::OpenSpec), "## 1. a\n- [ ] 1.1 b\n- [x] 1.2 c\n  - [ ] d\n", 2),
            (Some(Format::OpenSpec), "## a\n- [ ] b\n  - [ ] c\n- [x] d\n", 2),
            (Some(Format::Kiro), "- [ ] 1. a\n  - [ ] 1.1 b\n  - [ ]* 1.2 c\n- [ ] 2. d\n", 3),
            (Some(Format::SpecKit), "- [ ] T001 [P] a\n- [ ] **T002** b\nT003 c\n", 2),
            (Some(Format::Track), "### A.1 a\n- [ ] **A.1.1** b\n- [ ] B.1 c\n", 2),
            (Some(Format::Native), "## [a] b\n## c\n", 1),
            (None, "### 1. a\n### b\n- [ ] c\n", 2),
        ] {
            assert_eq!(count(format, text), expected, "{text}");
        }
    }

    #[test]
    fn entries_of_task_master_are_counted_with_their_subtasks() {
        let text = r#"{"master": {"tasks": [{"id": 1, "subtasks": [{"id": 1}, {"id": 2, "status": "cancelled"}]}, {"id": 2}]}}"#;
        assert_eq!(count(Some(Format::TaskMaster), text), 2);
    }
}
