//! A file as `Read` shows it, and changes of whole lines of it.

use std::ops::Range;

use sequester_core::plan::step::Hunk;

/// Most lines around a change that are taken in to tell it from its like.
const AROUND: usize = 200;

/// One answer of `Read`: lines, and where to read on.
pub(super) struct Page {
    pub(super) lines: Vec<String>,
    pub(super) next: Option<usize>,
}

impl Page {
    /// Lines stand behind their number and a tab; words of the tool itself have no number.
    pub(super) fn read(shown: &str) -> Self {
        let (mut lines, mut next) = (Vec::new(), None);
        for line in shown.lines() {
            let numbered =
                line.split_once('\t').filter(|(number, _)| number.trim().parse::<usize>().is_ok());
            lines.extend(numbered.map(|(_, text)| text.to_owned()));
            let offset = line.split_once("`offset` ").filter(|_| numbered.is_none());
            next = offset
                .and_then(|(_, rest)| rest.trim_end_matches([']', '.']).parse().ok())
                .or(next);
        }
        Self { lines, next }
    }
}

/// Exact text for exact text, as `Edit` takes it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Exchange {
    pub(super) old: String,
    pub(super) new: String,
}

/// The one place where lines stand, whole and in a row. The error ends a sentence that begins with their file.
pub(super) fn find(lines: &[String], hunk: &Hunk) -> Result<Range<usize>, String> {
    let old: Vec<&str> = hunk.old.lines().collect();
    let equal = |window: &[String]| window.iter().zip(&old).all(|(line, old)| line == old);
    single(
        lines
            .windows(old.len().max(1))
            .enumerate()
            .filter(|(_, window)| equal(window))
            .map(|(at, _)| at),
    )
    .map(|at| at..at + old.len())
    .map_err(|times| match times {
        0 => format!("does not hold the lines that are to be replaced (`{}`)", first(&old)),
        times => {
            format!("holds the lines that are to be replaced {times} times (`{}`)", first(&old))
        }
    })
}

/// Puts a hunk's new lines in the place of its old ones, and says how `Edit` does it.
pub(super) fn apply(lines: &mut Vec<String>, hunk: &Hunk) -> Result<Option<Exchange>, String> {
    let place = find(lines, hunk)?;
    Ok(put(lines, place, &hunk.new.lines().collect::<Vec<_>>()))
}

/// Puts new lines in the place of some, and says how `Edit` does it; nothing where they are the same.
pub(super) fn put(lines: &mut Vec<String>, place: Range<usize>, new: &[&str]) -> Option<Exchange> {
    let exchange = exchange(lines, place.clone(), new);
    lines.splice(place, new.iter().map(|line| (*line).to_owned()));
    exchange
}

/// The one line that reads so, whatever its indent.
pub(super) fn find_line(lines: &[String], wanted: &str) -> Result<usize, String> {
    let wanted = wanted.trim();
    let found =
        lines.iter().enumerate().filter(|(_, line)| line.trim() == wanted).map(|(at, _)| at);
    single(found).map_err(|times| match times {
        0 => format!("has no line `{wanted}`"),
        times => format!("has the line `{wanted}` {times} times"),
    })
}

/// Checks that a text stands in a file once, and not as a part of a longer word.
pub(super) fn find_text(text: &str, wanted: &str) -> Result<(), String> {
    match text.matches(wanted).count() {
        0 => Err(format!("does not hold `{wanted}`")),
        1 if !stands_once(text, wanted) => Err(format!("holds `{wanted}` twice, overlapping")),
        1 if holds_words(text, wanted) => Ok(()),
        1 => Err(format!("holds `{wanted}` only as a part of a longer word")),
        times => Err(format!("holds `{wanted}` {times} times")),
    }
}

/// Counts places that overlap too: `aa` stands in `aaa` twice.
fn stands_once(text: &str, wanted: &str) -> bool {
    let first = text.find(wanted);
    first.is_some() && first == text.rfind(wanted)
}

/// Whether words stand in a text, none of them as a part of a longer one.
pub(super) fn holds_words(text: &str, wanted: &str) -> bool {
    let joins = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let (first, last) = (wanted.chars().next(), wanted.chars().next_back());
    text.match_indices(wanted).any(|(at, _)| {
        let before = joins(first) && joins(text[..at].chars().next_back());
        let after = joins(last) && joins(text[at + wanted.len()..].chars().next());
        !before && !after
    })
}

/// The exchange that puts new lines in the place of some; nothing where they are the same.
fn exchange(lines: &[String], place: Range<usize>, new: &[&str]) -> Option<Exchange> {
    if lines[place.clone()].iter().map(String::as_str).eq(new.iter().copied()) {
        return None;
    }
    let text = lines.join("\n");
    let Range { mut start, mut end } = place;
    // A line goes with its end only if a neighbour is taken along; and what is there twice is told apart by its neighbours.
    while end - start < place.len() + AROUND
        && (start == end
            || new.is_empty() && end - start == place.len()
            || !stands_once(&text, &lines[start..end].join("\n")))
    {
        match (start, end) {
            (0, end) if end == lines.len() => break,
            (0, _) => end += 1,
            _ => start -= 1,
        }
    }
    let kept = |range: Range<usize>| lines[range].iter().map(String::as_str);
    let all: Vec<&str> =
        kept(start..place.start).chain(new.iter().copied()).chain(kept(place.end..end)).collect();
    Some(Exchange { old: lines[start..end].join("\n"), new: all.join("\n") })
}

/// The only one, or how many there are.
fn single(mut found: impl Iterator<Item = usize>) -> Result<usize, usize> {
    match (found.next(), found.count()) {
        (Some(at), 0) => Ok(at),
        (Some(_), more) => Err(more + 1),
        (None, _) => Err(0),
    }
}

fn first<'a>(lines: &[&'a str]) -> &'a str {
    lines.iter().map(|line| line.trim()).find(|line| !line.is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn lines_are_found_whole_and_once() {
        let file = lines("ab\nb\nc\nc\n");
        let hunk = |old: &str| Hunk { old: old.to_owned(), new: String::new() };
        assert_eq!(find(&file, &hunk("b\n")), Ok(1..2));
        assert!(find(&file, &hunk("a\n")).unwrap_err().starts_with("does not hold"));
        assert!(find(&file, &hunk("c\n")).unwrap_err().contains("2 times"));
        assert_eq!(find_line(&lines("  x = 1\ny\n"), "x = 1"), Ok(0));
        assert!(find_text("max = 1", "x = 1").unwrap_err().contains("longer word"));
        assert!(holds_words("ok. 3 passed", "3 passed") && !holds_words("13 passed", "3 passed"));
    }

    #[test]
    fn an_exchange_is_of_text_that_is_there_once() {
        let file = lines("ab\nb\nx\n");
        let change = exchange(&file, 1..2, &["c"]).unwrap();
        assert_eq!((change.old.as_str(), change.new.as_str()), ("ab\nb", "ab\nc"));
        let gone = exchange(&file, 2..3, &[]).unwrap();
        assert_eq!((gone.old.as_str(), gone.new.as_str()), ("b\nx", "b"));
        assert_eq!(exchange(&file, 1..2, &["b"]), None);
        // `-1 \n-` stands in it twice, overlapping.
        let change = exchange(&lines("a\n-1 \n-1 \n-\n"), 3..4, &["-1 "]).unwrap();
        assert_eq!(change.old, "-1 \n-1 \n-");
    }

    #[test]
    fn a_page_is_its_lines_and_where_to_read_on() {
        let page =
            Page::read("     1\ta\n     2\t\n[Lines 1 to 2 of 9. Read on with `offset` 3.]\n");
        assert_eq!((page.lines.join("|").as_str(), page.next), ("a|", Some(3)));
        assert!(Page::read("`a` is empty.").lines.is_empty());
    }
}
