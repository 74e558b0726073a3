//! Elements of a plan that is no XML: tags count at the start of a line, and what stands between them is any text.

use std::ops::Range;

/// A `<task>` element.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Element {
    /// Where its opening tag begins.
    pub(super) start: usize,
    pub(super) inner: Range<usize>,
    attributes: String,
    pub(super) is_closed: bool,
}

impl Element {
    /// The value of its `type`, such as `auto` or `checkpoint:decision`.
    pub(super) fn kind(&self) -> &str {
        let value = self.attributes.split_once("type=").map_or("", |(_, rest)| rest);
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
        quote.map_or("", |quote| value[1..].split(quote).next().unwrap_or_default())
    }
}

/// The tasks of a range. A task inside of another is that one's text, and so is a fence; a tag inside of a fence begins none.
pub(super) fn elements(source: &str, range: Range<usize>) -> Vec<Element> {
    let mut found: Vec<Element> = Vec::new();
    let (mut depth, mut fence): (usize, Option<&str>) = (0, None);
    let mut at = range.start;
    for line in source[range.clone()].split_inclusive('\n') {
        let (start, text) = (at, line.trim());
        at += line.len();
        if depth == 0 {
            let mark = ["```", "~~~"].into_iter().find(|mark| text.starts_with(mark));
            match (mark, fence) {
                (Some(mark), None) => fence = Some(mark),
                (Some(mark), Some(open)) if mark == open => fence = None,
                _ => {}
            }
        }
        if depth == 0 && fence.is_some() {
            continue;
        }
        match opening(text) {
            Some(attributes) if depth == 0 => {
                depth = 1;
                let attributes = attributes.to_owned();
                found.push(Element { start, inner: at..range.end, attributes, is_closed: false });
            }
            // A new typed task at the margin: the one before lacks its closing tag.
            Some(attributes)
                if line.starts_with("<task")
                    && attributes.contains("type=")
                    && !closes_later(source, at..range.end, depth) =>
            {
                if let Some(last) = found.last_mut() {
                    last.inner.end = start;
                }
                depth = 1;
                let attributes = attributes.to_owned();
                found.push(Element { start, inner: at..range.end, attributes, is_closed: false });
            }
            Some(_) => depth += 1,
            None if text == "</task>" && depth > 0 => {
                depth -= 1;
                if let Some(last) = found.last_mut().filter(|_| depth == 0) {
                    (last.inner.end, last.is_closed) = (start, true);
                }
            }
            None => {}
        }
    }
    found
}

/// Whether the tasks that are open, and one more, are all closed behind.
fn closes_later(source: &str, range: Range<usize>, depth: usize) -> bool {
    let mut open = depth + 1;
    for line in source[range].lines().map(str::trim) {
        match (opening(line), line) {
            (Some(_), _) => open += 1,
            (None, "</task>") => open -= 1,
            _ => {}
        }
        if open == 0 {
            return true;
        }
    }
    false
}

/// The attributes of a line that is an opening tag.
fn opening(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("<task")?;
    let attributes = rest.strip_suffix('>')?;
    (attributes.is_empty() || attributes.starts_with(' ')).then_some(attributes)
}

/// What stands in the first element of a name, up to the first closing tag behind it.
pub(super) fn child(source: &str, range: &Range<usize>, name: &str) -> Option<Range<usize>> {
    let text = &source[range.clone()];
    let (open, close) = (format!("<{name}"), format!("</{name}>"));
    let mut from = 0;
    loop {
        let at = from + text[from..].find(&open)?;
        let behind = at + open.len();
        let tag = text[behind..].find('>')?;
        if tag == 0 || text[behind..].starts_with(' ') {
            let start = behind + tag + 1;
            let end = start + text[start..].find(&close)?;
            return Some(range.start + start..range.start + end);
        }
        from = behind;
    }
}
