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
    let mut id = body[..end].trim_end_matches('.');
    // `T-001` is one id, and `T001-T003` two.
    if !is_id(id) && body[end..].starts_with('-') {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        id = &body[..body.find(|c: char| !is_part(c)).unwrap_or(body.len())];
    }
    let apart =
        body[id.len()..].starts_with(|c: char| !c.is_alphanumeric()) || body.len() == id.len();
    (is_id(id) && apart).then(|| (id, &body[id.len()..]))
}

/// The number that the words of a box begin with: `1.`, `1)`, `1.2`, then a blank; `Task 1` says itself what its number is.
///
/// A date, `404 handling` and `01-setup.md` are none.
pub(super) fn box_number(text: &str) -> Option<(&str, &str)> {
    let (id, rest) = leading_id(text, words::is_number)?;
    let first = id.split('.').next().unwrap_or_default();
    let is_dotted = id.contains('.');
    if is_dotted && first.len() == 4 && (first.starts_with("19") || first.starts_with("20")) {
        return None;
    }
    let close = |c: char| matches!(c, '*' | '_' | '`' | ']' | ' ' | '~');
    let at = id.as_ptr() as usize - text.as_ptr() as usize;
    let is_named = text[..at].chars().any(char::is_alphabetic);
    let behind = rest.trim_start_matches(|c| close(c) && c != ' ');
    let end = behind.trim_start_matches(['.', ')', ':']);
    let is_closed = is_named || is_dotted || behind.starts_with(['.', ')']);
    let is_apart = end.is_empty() || end.starts_with(|c: char| c.is_whitespace() || close(c));
    let is_range = || range(id, rest).is_some();
    (is_closed && is_apart || is_range()).then_some((id, rest))
}

/// The title behind an id: separators and leftover emphasis gone, lines joined.
pub(super) fn title(rest: &str) -> String {
    let edge = |c: char| {
        c.is_whitespace()
            || matches!(c, ':' | '：' | '.' | ')' | ']' | '-' | '–' | '—' | '|' | '、' | '_')
    };
    let inner = rest.trim_start_matches('`');
    let is_balanced = rest.matches('`').count().is_multiple_of(2);
    let rest = if is_balanced { rest } else { inner }.trim_start_matches(edge);
    let rest = rest.strip_prefix("**").map_or(rest, |rest| {
        if rest.matches("**").count() % 2 == 0 { rest } else { rest.trim_start() }
    });
    let rest = rest.trim_start_matches(edge);
    let mut joined = rest.split_whitespace().collect::<Vec<_>>().join(" ");
    for mark in ["**", "~~"] {
        if joined.matches(mark).count() % 2 == 1 {
            joined.replacen(mark, "", 1).trim().clone_into(&mut joined);
        }
    }
    joined
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

/// The further ids of a list such as `T012, T013` or `A.1.10 / A.1.11`, and what stands behind it. A range may begin the list.
///
/// Only ids that nothing else looks like make a list, and only if words follow.
pub(super) fn list<'a>(id: &str, rest: &'a str) -> Option<(Vec<String>, &'a str)> {
    let is_same = |next: &str| {
        let is_track = words::is_track_part(id) && words::is_track_part(next);
        is_track && id.split('.').count() == next.split('.').count()
            || words::is_spec_kit(id) && words::is_spec_kit(next)
    };
    let (mut ids, mut rest) = range(id, rest).unwrap_or((Vec::new(), rest));
    let mark = ['*', '`', ' '];
    while let Some(tail) = rest.trim_start_matches(mark).strip_prefix([',', '/', '&', '+']) {
        let tail = tail.trim_start_matches(mark);
        let end = tail.find(|c: char| !c.is_alphanumeric() && c != '.').unwrap_or(tail.len());
        let next = tail[..end].trim_end_matches('.');
        if !is_same(next) {
            break;
        }
        ids.push(next.to_owned());
        rest = &tail[next.len()..];
    }
    let says = rest.chars().any(char::is_alphanumeric) && !rest.starts_with(['-', '–', '—']);
    (!ids.is_empty() && says).then_some((ids, rest))
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
mod tests;
