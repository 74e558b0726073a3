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
        self.attribute("type").unwrap_or_default()
    }

    /// The quoted value of an attribute.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        let mut rest = self.attributes.as_str();
        while let Some((head, tail)) = rest.split_once('=') {
            let quote = tail.chars().next().filter(|c| matches!(c, '"' | '\''))?;
            let (value, behind) = tail[1..].split_once(quote)?;
            if head.trim() == name {
                return Some(value.trim());
            }
            rest = behind;
        }
        None
    }
}

/// The tasks of a range. A task inside of another is that one's text, and so is a fence; a tag inside of a fence begins none.
pub(super) fn elements(source: &str, range: Range<usize>) -> Vec<Element> {
    let mut found: Vec<Element> = Vec::new();
    let closings = Closings::read(source, range.clone());
    if closings.0.is_empty() {
        return found;
    }
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
                    && !closings.close(start, depth + 1) =>
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

/// For each line that is a tag, where it begins and how far the tags behind it close what is open: the lowest that the number
/// of open tasks comes to, counted from that line.
struct Closings(Vec<(usize, isize)>);

impl Closings {
    fn read(source: &str, range: Range<usize>) -> Self {
        let mut tags = Vec::new();
        if !source[range.clone()].contains("<task") {
            return Self(tags);
        }
        let mut at = range.start;
        for line in source[range].split_inclusive('\n') {
            match (opening(line.trim()), line.trim()) {
                (Some(_), _) => tags.push((at, 1)),
                (None, "</task>") => tags.push((at, -1)),
                _ => {}
            }
            at += line.len();
        }
        let mut lowest = 0;
        for (_, tag) in tags.iter_mut().rev() {
            let behind = lowest;
            lowest = isize::min(0, *tag + lowest);
            *tag = behind;
        }
        Self(tags)
    }

    /// Whether so many open tasks are all closed behind the tag that begins at an offset.
    fn close(&self, tag: usize, open: usize) -> bool {
        let known = self.0.binary_search_by_key(&tag, |(at, _)| *at).ok();
        known.is_some_and(|index| self.0[index].1.unsigned_abs() >= open)
    }
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
        if text[behind..].starts_with(['>', ' ']) {
            let start = behind + text[behind..].find('>')? + 1;
            let end = start + text[start..].find(&close)?;
            return Some(range.start + start..range.start + end);
        }
        from = behind;
    }
}
/// A text whose tags at the ends of lines are gone, each line with such a paragraph of its own: what Markdown takes for HTML is no prose.
pub(super) fn without_tags(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for line in text.lines() {
        let mut rest = line.trim();
        while let Some((tag, behind)) = rest.strip_prefix('<').and_then(|rest| rest.split_once('>'))
        {
            if tag.contains(['<', '`']) {
                break;
            }
            rest = behind.trim_start();
        }
        while let Some((before, _)) = rest.strip_suffix('>').and_then(|rest| rest.rsplit_once("</"))
        {
            rest = before.trim_end();
        }
        if rest.len() == line.trim().len() {
            plain.push_str(line);
        } else {
            plain.push('\n');
            plain.push_str(rest);
            plain.push('\n');
        }
        plain.push('\n');
    }
    plain
}
