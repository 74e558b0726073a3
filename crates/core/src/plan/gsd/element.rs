//! Elements of a plan that is no XML: what stands between their tags is any text.

use std::ops::Range;

/// A `<task>` element, or a `<feature>` in the place of tasks.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Element {
    /// Where its opening tag begins.
    pub(super) start: usize,
    pub(super) inner: Range<usize>,
    attributes: String,
    pub(super) is_closed: bool,
}

impl Element {
    pub(super) fn open(start: usize, inner: Range<usize>, attributes: &str) -> Self {
        Self { start, inner, attributes: attributes.to_owned(), is_closed: false }
    }

    /// The value of its `type`, such as `auto` or `checkpoint:decision`.
    pub(super) fn kind(&self) -> &str {
        self.attribute("type").unwrap_or_default()
    }

    /// Whether it looks like one of this format. Build files have tasks with a `name` and nothing that says what they are, and
    /// prompts have a bare `<task>`.
    pub(super) fn is_marked(&self, source: &str) -> bool {
        let has = |name: &str| child(source, &self.inner, name).is_some();
        !self.kind().is_empty() && self.is_closed || has("name") || has("action")
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
