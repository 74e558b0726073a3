//! Ids and marks at the start of a heading or an item, and the title behind them.

use super::words;

/// The id that words begin with, bold or plain, and the rest of them.
pub(super) fn leading_id(text: &str, is_id: impl Fn(&str) -> bool) -> Option<(&str, &str)> {
    let open = |c: char| matches!(c, '*' | '_' | '`' | '[' | '(' | ' ' | '~' | '✅' | '🔲' | '⬜');
    let mut body = text.trim_start_matches(open);
    if let Some((_, rest)) =
        body.split_once([' ', '\u{a0}']).filter(|(word, _)| words::is_task(word))
    {
        body = rest.trim_start_matches(open);
    }
    let end = body.find(|c: char| !(c.is_ascii_alphanumeric() || c == '.')).unwrap_or(body.len());
    let id = body[..end].trim_end_matches('.');
    let apart =
        body[id.len()..].starts_with(|c: char| !c.is_alphanumeric()) || body.len() == id.len();
    (is_id(id) && apart).then(|| (id, &body[id.len()..]))
}

/// The title behind an id: separators and leftover emphasis gone, lines joined.
pub(super) fn title(rest: &str) -> String {
    let edge = |c: char| {
        c.is_whitespace()
            || matches!(c, ':' | '：' | '.' | ')' | ']' | '-' | '–' | '—' | '|' | '、' | '_')
    };
    let rest = rest.trim_start_matches('`').trim_start_matches(edge);
    let rest = rest.strip_prefix("**").map_or(rest, |rest| {
        if rest.matches("**").count() % 2 == 0 { rest } else { rest.trim_start() }
    });
    let rest = rest.trim_start_matches(edge);
    let joined = rest.split_whitespace().collect::<Vec<_>>().join(" ");
    if joined.matches("**").count() % 2 == 1 {
        joined.replacen("**", "", 1).trim().to_owned()
    } else {
        joined
    }
}

/// The further ids of a range such as `E.1.1-1.4`, `T001–T004` or `1.1-1.3`, and what stands behind it.
///
/// `rest` stands directly behind `id`. A range of bare numbers, such as `2-3 days`, is none.
pub(super) fn range<'a>(id: &str, rest: &'a str) -> Option<(Vec<String>, &'a str)> {
    let is_plain = id.starts_with(|c: char| c.is_ascii_uppercase());
    if !is_plain && !id.contains('.') {
        return None;
    }
    let rest = if is_plain { rest.trim_start_matches(['*', '`', ' ']) } else { rest };
    let joint = ["-", "–", "—", ".."].into_iter().find(|joint| rest.starts_with(joint))?;
    let spaced = rest[joint.len()..].trim_start_matches(['*', '`', ' ']);
    let tail = if is_plain { spaced } else { &rest[joint.len()..] };
    let end = tail.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(tail.len());
    let end = tail[..end].trim_end_matches('.').len();
    let (last, behind) = tail.split_at(end);
    if last.is_empty() || behind.starts_with(|c: char| c.is_alphanumeric()) {
        return None;
    }
    // The end may leave out the parts that it shares with the beginning.
    let parts: Vec<&str> = id.split('.').collect();
    if rest[joint.len()..].starts_with(' ') && !last.starts_with(|c: char| c.is_ascii_uppercase()) {
        return None;
    }
    let shared = parts.len().checked_sub(last.split('.').count())?;
    let last = [&parts[..shared], &[last]].concat().join(".");
    let mut ids = words::between(id, &last);
    let is_next = || words::follows(id, &last);
    (!ids.is_empty() || is_next()).then(|| {
        ids.push(last);
        (ids, behind)
    })
}

/// A task's number and title in a heading such as `Task 3: ...`, `[x] Aufgabe 3 - ...`, `任务3：...`.
pub(super) struct Numbered<'a> {
    pub(super) id: &'a str,
    pub(super) title: String,
    pub(super) ticked: bool,
    /// A separator stands between number and title, or there is no title.
    pub(super) separated: bool,
}

pub(super) fn numbered(text: &str) -> Option<Numbered<'_>> {
    let ticked = text.trim_start_matches(['*', ' ']).to_ascii_lowercase().starts_with("[x]");
    let body = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let body = if ticked {
        body.get(1..)?.trim_start_matches(|c: char| !c.is_alphanumeric())
    } else {
        body
    };
    let word_end = body.find(|c: char| !c.is_alphabetic()).unwrap_or(body.len());
    if !words::is_task(&body[..word_end]) {
        return None;
    }
    let number = body[word_end..].trim_start_matches([' ', '\u{a0}', '\t', '#']);
    let end = number
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '.' || c == '-'))
        .unwrap_or(number.len());
    let id = number[..end].trim_end_matches(['.', '-']);
    let id = id.split_once('-').map_or(id, |(first, _)| first);
    if !words::is_task_number(id) {
        return None;
    }
    let rest = &number[id.len()..];
    let close = rest.trim_start_matches(['*', '_', ' ', '\u{a0}']);
    let separated =
        close.is_empty() || close.starts_with([':', '：', '.', '-', '–', '—', '|', ')', '(', '、']);
    Some(Numbered {
        id,
        title: title(rest),
        ticked,
        separated: separated || !body[..word_end].is_ascii(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_of_tasks_come_in_many_shapes() {
        for (text, id, expected) in [
            ("Task 3: Add it", "3", "Add it"),
            ("Task 3 - Add it", "3", "Add it"),
            ("Task 3. Add it", "3", "Add it"),
            ("**Task 3:** Add it", "3", "Add it"),
            ("**Task 3: Add it**", "3", "Add it"),
            ("Task 2.1 — Add `a`", "2.1", "Add `a`"),
            ("Aufgabe 3: Los", "3", "Los"),
            ("Tâche 3 : Faire", "3", "Faire"),
            ("任务3：写", "3", "写"),
            ("任务 3 写", "3", "写"),
            ("[x] Task 3: Add it", "3", "Add it"),
            ("Task #3: Add it", "3", "Add it"),
        ] {
            let found = numbered(text).unwrap();
            assert_eq!((found.id, found.title.as_str()), (id, expected), "{text}");
            assert!(found.separated, "{text}");
        }
        assert!(numbered("[x] Task 3: Add it").unwrap().ticked);
        assert!(!numbered("Task 3 overview").unwrap().separated);
        for no in ["Tasks: 3", "Task list", "Phase 3: x", "Taskforce 3"] {
            assert!(numbered(no).is_none(), "{no}");
        }
    }

    #[test]
    fn a_range_names_each_of_its_ids() {
        for (id, rest, expected) in [
            ("E.1.1", "-1.4 Export", "E.1.2 E.1.3 E.1.4| Export"),
            ("E.1.1", "–E.1.3** Export", "E.1.2 E.1.3|** Export"),
            ("E.1.1", " – E.1.2: Export", "E.1.2|: Export"),
            ("T001", "-T003 [P] x", "T002 T003| [P] x"),
            ("1.1", "-1.3 x", "1.2 1.3| x"),
        ] {
            let (ids, behind) = range(id, rest).unwrap();
            assert_eq!(format!("{}|{behind}", ids.join(" ")), expected, "{id}{rest}");
        }
        let none = [
            ("2", "-3 days"),
            ("1.1", " - 1.4"),
            ("E.1.4", "-1.1"),
            ("A.1.1", " - 2 x"),
            ("1.1", "-x"),
        ];
        for (id, rest) in none {
            assert_eq!(range(id, rest), None, "{id}{rest}");
        }
    }

    #[test]
    fn an_id_may_be_bold_and_the_title_never_holds_it() {
        for (text, expected) in [
            ("**A.1.2** Do it", "Do it"),
            ("**A.1.2: Do it**", "Do it"),
            ("A.1.2 - Do it", "Do it"),
            ("`A.1.2` Do **it**", "Do **it**"),
            ("Task A.1.2: Do it", "Do it"),
        ] {
            let (id, rest) = leading_id(text, words::is_track).unwrap();
            assert_eq!((id, title(rest).as_str()), ("A.1.2", expected), "{text}");
        }
        assert_eq!(leading_id("A.1.2x", words::is_track), None);
    }
}
