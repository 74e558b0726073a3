//! A plan's Markdown as a flat list of blocks. What stands in fences, HTML, tables and quotes is opaque.

mod nested_fence;

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::lines::Lines;

pub(crate) struct Document<'a> {
    pub(crate) source: &'a str,
    pub(crate) lines: Lines<'a>,
    /// YAML between `---` at the very start, without its fences.
    pub(crate) front: Option<Range<usize>>,
    /// In the order of the source.
    pub(crate) blocks: Vec<Block<'a>>,
    /// Code spans outside opaque blocks, backticks included, in the order of the source.
    codes: Vec<Range<usize>>,
    opaque: Vec<Range<usize>>,
}

#[derive(Debug)]
pub(crate) struct Block<'a> {
    pub(crate) kind: Kind<'a>,
    /// All of it; for an item with everything nested in it.
    pub(crate) range: Range<usize>,
    /// Its own words: a heading's or paragraph's content, an item's first paragraph without bullet and box.
    pub(crate) words: Range<usize>,
    /// The list item it stands in, as an index into the blocks.
    pub(crate) within: Option<usize>,
}

#[derive(Debug)]
pub(crate) enum Kind<'a> {
    Heading(u8),
    Item(Item),
    Paragraph,
    /// A fenced block; its info string, and `words` is what it holds.
    Fence(&'a str),
    Rule,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    /// 1 for an item of an outermost list.
    pub(crate) depth: u8,
    pub(crate) mark: Option<Mark>,
    /// Tells the lists apart: items of one list have one number.
    pub(crate) list: usize,
}

/// A checkbox: `[ ]`, `[x]`, and Kiro's `[ ]*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) ticked: bool,
    pub(crate) starred: bool,
    /// The sign between the brackets.
    pub(crate) sign: char,
}

impl Block<'_> {
    pub(crate) fn item(&self) -> Option<Item> {
        match self.kind {
            Kind::Item(item) => Some(item),
            _ => None,
        }
    }

    pub(crate) fn checkbox(&self) -> Option<Mark> {
        self.item().and_then(|item| item.mark)
    }

    /// The level of a heading.
    pub(crate) fn level(&self) -> Option<u8> {
        match self.kind {
            Kind::Heading(level) => Some(level),
            _ => None,
        }
    }
}

impl Block<'_> {
    /// Where a rule stands: the block itself, or the dashes under a paragraph.
    pub(crate) fn rule(&self, source: &str) -> Option<Range<usize>> {
        match self.kind {
            Kind::Rule => Some(self.range.clone()),
            Kind::Paragraph => {
                let (text, last) = source[self.words.clone()].rsplit_once('\n')?;
                (last.trim() == "---").then(|| self.words.start + text.len()..self.words.end)
            }
            _ => None,
        }
    }
}

impl<'a> Document<'a> {
    pub(crate) fn read(source: &'a str) -> Self {
        Self::read_parts(source, &[])
    }

    /// Reads a source whose open code blocks, lists and paragraphs end at each of the offsets, which are sorted.
    pub(crate) fn read_parts(source: &'a str, ends: &[usize]) -> Self {
        let (front, body) = split_front(source);
        let mut reader = Reader::new(source);
        let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
        let mut start = body;
        for end in ends.iter().copied().chain([source.len()]) {
            let part = nested_fence::blot_inner(&source[start..end]);
            for (event, range) in Parser::new_ext(&part, options).into_offset_iter() {
                reader.take(event, range.start + start..range.end + start);
            }
            start = end;
        }
        Self {
            source,
            lines: Lines::new(source),
            front,
            blocks: reader.blocks,
            codes: reader.codes,
            opaque: reader.opaque,
        }
    }

    pub(crate) fn text(&self, range: &Range<usize>) -> &'a str {
        &self.source[range.clone()]
    }

    /// The contents of the code spans in a range, with where they stand.
    pub(crate) fn codes(
        &self,
        range: &Range<usize>,
    ) -> impl Iterator<Item = (Range<usize>, &'a str)> {
        let from = self.codes.partition_point(|code| code.start < range.start);
        let end = range.end;
        self.codes[from..]
            .iter()
            .take_while(move |code| code.end <= end)
            .map(|code| (code.clone(), self.source[code.clone()].trim_matches('`').trim()))
    }

    /// The index of the first block that starts at or after an offset.
    pub(crate) fn block_at(&self, offset: usize) -> usize {
        self.blocks.partition_point(|block| block.range.start < offset)
    }

    /// The fenced blocks that no line closes. One at the end of a list item ends with the item.
    pub(crate) fn open_fences(&self) -> impl Iterator<Item = &Block<'a>> {
        let is_open = |block: &&Block<'a>| {
            matches!(block.kind, Kind::Fence(_)) && block.words.end == block.range.end
        };
        self.blocks.iter().filter(is_open)
    }

    /// The blocks that start in a range.
    pub(crate) fn blocks_in(&self, range: &Range<usize>) -> &[Block<'a>] {
        &self.blocks[self.block_at(range.start)..self.block_at(range.end)]
    }

    /// The lines of a range that are not in fences, HTML, tables or quotes, with their offsets.
    pub(crate) fn prose(&self, range: &Range<usize>) -> impl Iterator<Item = (usize, &'a str)> {
        let mut opaque = self.opaque.partition_point(|one| one.end <= range.start);
        let mut at = range.start;
        self.source[range.clone()].split_inclusive('\n').filter_map(move |line| {
            let start = at;
            at += line.len();
            while self.opaque.get(opaque).is_some_and(|one| one.end <= start) {
                opaque += 1;
            }
            let hidden = self.opaque.get(opaque).is_some_and(|one| one.start < at);
            (!hidden).then(|| (start, line.trim_end()))
        })
    }

    /// The lines of tables: the number of the table, where the line begins, and the line.
    pub(crate) fn table_lines(&self) -> impl Iterator<Item = (usize, usize, &'a str)> {
        let source = self.source;
        let is_table =
            move |range: &&Range<usize>| source[(*range).clone()].trim_start().starts_with('|');
        let tables = self.opaque.iter().filter(is_table).enumerate();
        tables.flat_map(move |(table, range)| {
            let mut at = range.start;
            source[range.clone()].split_inclusive('\n').map(move |line| {
                let start = at;
                at += line.len();
                (table, start, line.trim_end())
            })
        })
    }

    /// A range without the blank lines at its start and the white space at its end.
    pub(crate) fn trimmed(&self, range: Range<usize>) -> Range<usize> {
        let text = &self.source[range.clone()];
        let end = range.start + text.trim_end().len();
        let mut start = range.start;
        while start < end {
            let rest = &self.source[start..end];
            match rest.find('\n') {
                Some(at) if rest[..at].trim().is_empty() => start += at + 1,
                _ => break,
            }
        }
        start..end.max(start)
    }
}

/// Collects blocks from the parser's events.
struct Reader<'a> {
    source: &'a str,
    blocks: Vec<Block<'a>>,
    codes: Vec<Range<usize>>,
    opaque: Vec<Range<usize>>,
    /// Open items, as indexes into `blocks`.
    items: Vec<usize>,
    /// Open lists, by number.
    lists: Vec<usize>,
    seen_lists: usize,
    /// How many opaque containers are open.
    hidden: usize,
    /// The item whose first paragraph is being read.
    reading: Option<usize>,
}

impl<'a> Reader<'a> {
    fn new(source: &'a str) -> Self {
        Self {
            source,
            blocks: Vec::new(),
            codes: Vec::new(),
            opaque: Vec::new(),
            items: Vec::new(),
            lists: Vec::new(),
            seen_lists: 0,
            hidden: 0,
            reading: None,
        }
    }

    fn take(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) if is_opaque(&tag) => self.hide(&tag, range),
            Event::End(
                TagEnd::BlockQuote(_) | TagEnd::HtmlBlock | TagEnd::Table | TagEnd::CodeBlock,
            ) => self.hidden -= 1,
            _ if self.hidden > 0 => {}
            Event::Start(Tag::Heading { level, .. }) => {
                self.reading = None;
                self.open_heading(level as u8, range);
            }
            Event::Start(Tag::List(_)) => {
                self.reading = None;
                self.seen_lists += 1;
                self.lists.push(self.seen_lists);
            }
            Event::End(TagEnd::List(_)) => {
                self.lists.pop();
            }
            Event::Start(Tag::Item) => self.open_item(range),
            Event::End(TagEnd::Item) => {
                self.items.pop();
                self.reading = None;
            }
            Event::Start(Tag::Paragraph) => self.open_paragraph(range),
            Event::End(TagEnd::Paragraph) => self.reading = None,
            Event::Rule => {
                self.reading = None;
                self.push(Kind::Rule, range.clone(), range);
            }
            event => {
                if matches!(event, Event::Code(_)) {
                    self.codes.push(range.clone());
                }
                if let Some(item) = self.reading {
                    let words = &mut self.blocks[item].words;
                    words.end = words.end.max(range.end);
                }
            }
        }
    }

    fn hide(&mut self, tag: &Tag<'_>, range: Range<usize>) {
        self.hidden += 1;
        self.reading = None;
        if self.hidden > 1 {
            return;
        }
        if let Tag::CodeBlock(CodeBlockKind::Fenced(_)) = tag {
            let words = fenced(self.source, &range);
            let opening = &self.source[range.start..words.start];
            let info = opening.trim_start().trim_start_matches(['`', '~']).trim();
            self.push(Kind::Fence(info), range.clone(), words);
        }
        self.opaque.push(range);
    }

    /// A heading in a list is the item's own; three dashes under a paragraph are a rule that lacks its blank line.
    fn open_heading(&mut self, level: u8, range: Range<usize>) {
        let text = self.source[range.clone()].trim_end();
        let dashes = text.rsplit('\n').next().is_some_and(|line| line.trim() == "---");
        if dashes && level == 2 && text.contains('\n') {
            let words = range.start..range.start + self.source[range.clone()].trim_end().len();
            self.push(Kind::Paragraph, range, words);
        } else if self.items.is_empty() {
            let words = heading_words(self.source, &range);
            self.push(Kind::Heading(level), range, words);
        }
    }

    fn open_item(&mut self, range: Range<usize>) {
        // With tabs for indent, the range begins before the bullet.
        let indent =
            self.source[range.clone()].len() - self.source[range.clone()].trim_start().len();
        let range = range.start + indent..range.end;
        let (mark, start) = read_mark(self.source, &range);
        let item = Item {
            depth: u8::try_from(self.lists.len()).unwrap_or(u8::MAX),
            mark,
            list: self.lists.last().copied().unwrap_or(0),
        };
        self.push(Kind::Item(item), range, start..start);
        self.items.push(self.blocks.len() - 1);
        self.reading = Some(self.blocks.len() - 1);
    }

    fn open_paragraph(&mut self, range: Range<usize>) {
        let first = self.reading.is_some_and(|item| self.blocks[item].words.is_empty());
        if !first {
            self.reading = None;
            let words = range.start..range.start + self.source[range.clone()].trim_end().len();
            self.push(Kind::Paragraph, range, words);
        }
    }

    fn push(&mut self, kind: Kind<'a>, range: Range<usize>, words: Range<usize>) {
        self.blocks.push(Block { kind, range, words, within: self.items.last().copied() });
    }
}

fn is_opaque(tag: &Tag<'_>) -> bool {
    matches!(tag, Tag::BlockQuote(_) | Tag::HtmlBlock | Tag::Table(_) | Tag::CodeBlock(_))
}

/// `---`, YAML, `---` at the start: only there, for elsewhere `---` is a rule between tasks.
pub(crate) fn split_front(source: &str) -> (Option<Range<usize>>, usize) {
    let mut lines = source.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| line.trim_end() == "---") else {
        return (None, 0);
    };
    let start = first.len();
    let mut at = start;
    for line in lines {
        if matches!(line.trim_end(), "---" | "...") {
            return (Some(start..at), at + line.len());
        }
        at += line.len();
    }
    (None, 0)
}

/// The first line of a heading without its marks.
fn heading_words(source: &str, range: &Range<usize>) -> Range<usize> {
    let text = &source[range.clone()];
    let line = text.lines().next().unwrap_or_default();
    let inner = line.trim_start_matches('#');
    let start = range.start + line.len() - inner.trim_start().len();
    let closed = inner.trim_end().trim_end_matches('#');
    let kept = if closed.ends_with([' ', '\t']) || closed.is_empty() { closed } else { inner };
    let end = range.start + (line.len() - inner.len()) + kept.trim_end().len();
    start..end.max(start)
}

/// What a fenced block holds, without its two fence lines.
fn fenced(source: &str, range: &Range<usize>) -> Range<usize> {
    let text = &source[range.clone()];
    let start = range.start + text.find('\n').map_or(text.len(), |at| at + 1);
    let last = text.trim_end().rfind('\n').map_or(text.len(), |at| at + 1);
    let closing = text[last.min(text.len())..].trim_start();
    let closed = closing.starts_with("```") || closing.starts_with("~~~");
    let end = if closed { range.start + last } else { range.end };
    start..end.max(start)
}

/// The signs that make brackets a checkbox: `[P]` is none.
const SIGNS: [char; 14] = [' ', 'x', 'X', '~', '-', '/', '!', '>', '?', '✓', '✔', '✅', '⛔', '🚫'];

/// The checkbox of an item, and where its words begin.
fn read_mark(source: &str, range: &Range<usize>) -> (Option<Mark>, usize) {
    let text = &source[range.clone()];
    let bullet = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let blanks = |c: char| c == ' ' || c == '\t';
    let body = bullet.get(1..).unwrap_or_default().trim_start_matches(blanks);
    // `1. **[x] Title**` is a box, too.
    let bold = body.strip_prefix("**").filter(|inner| inner.starts_with('['));
    let mut inner = bold.unwrap_or(body).chars();
    let (open, state) = (inner.next(), inner.next().filter(|sign| SIGNS.contains(sign)));
    // A sign may carry a mark that asks for its coloured form.
    let rest = inner.as_str();
    let mut inner = rest.strip_prefix('\u{fe0f}').unwrap_or(rest).chars();
    let close = inner.next();
    let after = inner.as_str();
    let starred = after.starts_with('*') && !after.starts_with("**");
    let tail = if starred { &after[1..] } else { after };
    let tail = bold.and_then(|_| tail.strip_prefix("**")).unwrap_or(tail);
    let apart = tail.is_empty() || tail.starts_with([' ', '\t', '\r', '\n']);
    if (open, close) != (Some('['), Some(']')) || !apart || state.is_none() {
        return (None, range.end - body.len());
    }
    let ticked = matches!(state, Some('x' | 'X' | '✓' | '✔' | '✅'));
    let words = tail.trim_start_matches(blanks);
    (Some(Mark { ticked, starred, sign: state.unwrap_or(' ') }), range.end - words.len())
}

#[cfg(test)]
mod tests;
