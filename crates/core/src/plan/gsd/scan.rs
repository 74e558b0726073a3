//! Which tags of a plan that is no XML are its tasks, and what stands outside of them.

use std::ops::Range;

use super::element::{Element, child};
use super::fence::{code_blocks, range_at, without_bullet};

/// A line that is indented so far is code in Markdown.
const CODE_INDENT: usize = 4;

/// Elements that hold tasks: what is indented in one is no code.
const CONTAINERS: [&str; 4] = ["<tasks", "<plan", "<wave", "<phase"];

/// What says in a `<feature>` what to do.
const FEATURE_PARTS: [&str; 3] = ["behavior", "implementation", "action"];

/// What a plan consists of.
#[derive(Debug, Default)]
pub(super) struct PlanScan {
    pub(super) elements: Vec<Element>,
    /// Where `<task` stands outside of code blocks and begins no task.
    pub(super) strays: Vec<usize>,
    blocks: Vec<Range<usize>>,
}

impl PlanScan {
    /// Reads the plan in a range. A task inside of another is that one's text, and so is a code block.
    pub(super) fn read(source: &str, range: &Range<usize>) -> Self {
        let mut scan = Self { blocks: code_blocks(source, range), ..Self::default() };
        let tags = tags(source, range, &scan.blocks);
        let closings = closings(&tags);
        let (mut depth, mut indent) = (0_usize, 0);
        for (tag, closing) in tags.iter().zip(closings) {
            let start = tag.range.start;
            let last = scan.elements.last_mut().filter(|_| depth > 0);
            let TagKind::Open(attributes) = &tag.kind else {
                if tag.kind == TagKind::Broken {
                    scan.strays.extend((depth == 0).then_some(start));
                } else if let Some(last) = last.filter(|_| depth == 1) {
                    (last.inner.end, last.is_closed) = (start, true);
                }
                depth -= usize::from(tag.kind == TagKind::Close && depth > 0);
                continue;
            };
            let new = Element::open(start, tag.range.end..range.end, &source[attributes.clone()]);
            let is_alike =
                last.as_ref().is_some_and(|last| !new.kind().is_empty() || last.kind().is_empty());
            // The task before may lack its closing tag.
            let is_next = is_alike && tag.indent <= indent && closing <= depth;
            if depth == 0 && !tag.is_code || is_next {
                if let Some(last) = last {
                    last.inner.end = start;
                }
                scan.elements.push(new);
                (depth, indent) = (1, tag.indent);
            } else {
                scan.strays.extend((depth == 0 || !tag.is_code).then_some(start));
                depth += usize::from(depth > 0);
            }
        }
        if scan.elements.is_empty() {
            scan.elements = scan.features(source, range);
        }
        scan
    }

    /// The `<feature>` elements of a test-driven plan, which has them in the place of tasks.
    fn features(&self, source: &str, range: &Range<usize>) -> Vec<Element> {
        let mut found = Vec::new();
        let mut rest = range.clone();
        while let Some(inner) = self.own(source, &rest, "feature") {
            let tag = source[rest.start..inner.start].rfind("<feature").unwrap_or(0);
            let start = rest.start + tag;
            rest.start = inner.end;
            let has = |name: &&str| child(source, &inner, name).is_some();
            if has(&"name") && FEATURE_PARTS.iter().any(has) {
                let mut feature = Element::open(start, inner.clone(), "");
                feature.is_closed = source[inner.end..].starts_with("</feature>");
                found.push(feature);
            }
        }
        found
    }

    /// What an element of the plan itself holds, such as its objective: it begins a line, outside of tasks and code blocks. One
    /// that is not closed ends where tasks begin.
    pub(super) fn own(&self, text: &str, part: &Range<usize>, name: &str) -> Option<Range<usize>> {
        let (open, close) = (format!("<{name}"), format!("</{name}>"));
        let mut at = part.start;
        for line in text[part.clone()].split_inclusive('\n') {
            let start = at;
            at += line.len();
            let tag =
                line.trim_start().strip_prefix(&open).filter(|tag| tag.starts_with(['>', ' ']));
            let Some((_, behind)) = tag.and_then(|tag| tag.split_once('>')) else { continue };
            let after = self.elements.partition_point(|task| task.inner.end <= start);
            let is_task = self.elements.get(after).is_some_and(|task| task.start <= start);
            if is_task || range_at(&self.blocks, start).is_some() {
                continue;
            }
            let start = at - behind.len();
            let task = self.elements.partition_point(|task| task.start < start);
            let task = self.elements.get(task).map(|task| task.start);
            let stray = self.strays.partition_point(|stray| *stray < start);
            let next = task.into_iter().chain(self.strays.get(stray).copied()).min();
            let end = next.unwrap_or(part.end);
            let end = text[start..end].find("\n<tasks").map_or(end, |tasks| start + tasks);
            let mut closed = text[start..end].match_indices(&close).map(|(at, _)| start + at);
            let closed = closed.find(|at| range_at(&self.blocks, *at).is_none());
            return Some(start..closed.unwrap_or(end));
        }
        None
    }
}

struct TaskTag {
    range: Range<usize>,
    indent: usize,
    kind: TagKind,
    /// Its line is indented like code.
    is_code: bool,
}

#[derive(PartialEq, Eq)]
enum TagKind {
    /// With the attributes.
    Open(Range<usize>),
    Close,
    /// `<task` that is no opening tag where a line begins.
    Broken,
}

/// The tags of a range: they begin a line, or close a task at the end of one. A code block shows tags where its first one is no
/// closing tag; else its fences are not what they seem.
fn tags(source: &str, range: &Range<usize>, blocks: &[Range<usize>]) -> Vec<TaskTag> {
    let mut tags: Vec<TaskTag> = Vec::new();
    let (mut at, mut resume, mut block, mut shows_tags) = (range.start, 0_usize, None, false);
    let (mut is_code, mut is_behind_blank, mut is_contained) = (false, true, false);
    for line in source[range.clone()].split_inclusive('\n') {
        let start = at;
        at += line.len();
        let text = line.trim_start();
        let indent = line.len() - text.len();
        if !text.is_empty() {
            is_code = (indent >= CODE_INDENT || line.starts_with('\t'))
                && (is_code || is_behind_blank && !is_contained);
        }
        is_behind_blank = text.is_empty();
        is_contained |= !is_code && CONTAINERS.iter().any(|name| text.starts_with(name));
        let lead = line.len() - without_bullet(line).len();
        // Where the last tag ends; the end of the line where other text stands before.
        let mut free = resume.saturating_sub(start).max(lead).min(line.len());
        let (mut seen, mut ticks) = (0, 0);
        for (offset, _) in line.match_indices('<').filter(|(offset, _)| *offset >= lead) {
            let (from, text) = (start + offset, &line[offset + 1..]);
            if from < resume {
                continue;
            }
            ticks += line[seen..offset].matches('`').count();
            seen = offset;
            let leads = line.get(free..offset).is_some_and(|gap| gap.trim().is_empty());
            let found = tag_at(&source[..range.end], from, text, (leads, ticks % 2 == 0));
            free = line.len();
            let Some((kind, end)) = found else { continue };
            if kind != TagKind::Broken {
                (resume, free) = (end, (end - start).min(line.len()));
            }
            let own = range_at(blocks, start);
            if own != block {
                (block, shows_tags) = (own, own.is_some() && kind != TagKind::Close);
            }
            if !shows_tags {
                tags.push(TaskTag { range: from..end, indent, kind, is_code });
            }
        }
    }
    tags
}

/// The tag at an offset, and where it ends. `text` is its line behind the `<`; whether it leads its line and is in no code span
/// says which tags count.
fn tag_at(
    source: &str,
    from: usize,
    text: &str,
    (leads, is_plain): (bool, bool),
) -> Option<(TagKind, usize)> {
    let has_name =
        |name: &str| text.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name));
    if has_name("/task>") {
        let behind = text["/task>".len()..].trim_start();
        let ends_line = is_plain && (behind.is_empty() || behind.starts_with('<'));
        return (leads || ends_line).then_some((TagKind::Close, from + "</task>".len()));
    }
    let start = from + "<task".len();
    let is_end = |c: char| c.is_whitespace() || matches!(c, '>' | '/');
    if !has_name("task") || !is_plain || !source[start..].starts_with(is_end) {
        return None;
    }
    let mut quoted = false;
    // Two scans never pass one tag alike, so that this is linear for the whole text.
    let end = source[start..].bytes().position(|byte| {
        quoted ^= byte == b'"';
        !quoted && matches!(byte, b'<' | b'>')
    });
    let end = end.map(|end| start + end).filter(|end| leads && source[*end..].starts_with('>'));
    match end.filter(|end| !source[start..*end].ends_with('/')) {
        Some(end) => Some((TagKind::Open(start..end), end + 1)),
        None => Some((TagKind::Broken, start)),
    }
}

/// For each tag how many open tasks the tags behind it close.
fn closings(tags: &[TaskTag]) -> Vec<usize> {
    let behind = tags.iter().rev().scan(0_usize, |most, tag| match tag.kind {
        TagKind::Open(_) => Some(std::mem::replace(most, most.saturating_sub(1))),
        TagKind::Close => Some(std::mem::replace(most, *most + 1)),
        TagKind::Broken => Some(*most),
    });
    let mut all: Vec<usize> = behind.collect();
    all.reverse();
    all
}
