//! A task's text as sections: a step with its words and fences. What asks for nothing is left out.

use std::collections::HashMap;

use crate::plan::label::{self, Topic};
use crate::plan::markdown::{Block, Document, Kind};

use super::sentence::{self, Sentence};

#[derive(Default)]
pub(super) struct Section<'a> {
    pub(super) title: Option<Sentence>,
    pub(super) line: u32,
    /// It is a step by its own mark, a box or the word: it must ask for something.
    pub(super) is_step: bool,
    /// Steps of its own stand below it.
    pub(super) has_steps: bool,
    /// A step that is done, by its tick.
    pub(super) is_done: bool,
    pub(super) parts: Vec<Part<'a>>,
}

pub(super) enum Part<'a> {
    Words {
        sentences: Vec<Sentence>,
        item: bool,
        line: u32,
    },
    /// What stands under a label that explains; whether it may ask all the same.
    Aside {
        sentences: Vec<Sentence>,
        judged: bool,
        line: u32,
    },
    Fence {
        info: &'a str,
        content: String,
        /// Backticks that open it.
        marks: usize,
        /// It is not clear where it ends.
        open: bool,
        line: u32,
    },
}

/// What stands under a label or heading that asks for nothing.
#[derive(Clone, Copy, PartialEq)]
enum Aside {
    No,
    /// A list of files or interfaces: ends with the next paragraph or box.
    Listing,
    /// What explains, unless it asks all the same: ends with the next paragraph.
    Remark,
    /// What is shown, not meant: ends with the next paragraph, or under a heading with the next heading.
    Shown {
        heading: bool,
    },
    /// What must hold in the end: its boxes are no steps; ends with the next heading or step by name.
    Criteria,
    /// A step that is done.
    Done,
}

/// Labels of what explains.
const REMARKS: &str = ",why,context,background,rationale,reason,motivation,depends on,blocked by,references,see also,purpose,\
    summary,overview,effort,estimated effort,priority,risk,risks,owner,status,spec,what happened,root cause,dependencies,\
    objective,description,";
/// Labels of what is shown.
const SHOWN: &str = ",out of scope,non-goals,rollback,roll back,alternative,alternatives,example,examples,for reference,reference,\
    current behaviour,current behavior,current state,usage,example usage,do not run,not in scope,";
/// Headings under which nothing is asked for; a label of this name may ask.
const NOTES: &str =
    ",notes,note,implementation notes,design notes,troubleshooting,faq,open questions,";
const CRITERIA: &str = ",acceptance criteria,acceptance,success criteria,done when,definition of done,verification checklist,";

pub(super) fn cut<'a>(
    document: &Document<'a>,
    mut contents: HashMap<usize, String>,
) -> Vec<Section<'a>> {
    let mut cutter = Cutter { sections: Vec::new(), aside: Aside::No, step_end: 0 };
    for block in &document.blocks {
        let words = document.text(&block.words);
        let line = document.lines.place(block.range.start).line;
        match block.kind {
            Kind::Heading(_) => cutter.heading(words, line),
            Kind::Item(item) => match item.mark {
                Some(mark) => cutter.step(words, line, mark.ticked, block.range.clone()),
                None => cutter.words(words, line, true),
            },
            Kind::Paragraph => match step_label(words) {
                Some(_) => cutter.step(words, line, false, 0..0),
                None => cutter.paragraph(words, line, block.within.is_some()),
            },
            Kind::Fence(info) => {
                let content = contents.remove(&block.range.start).unwrap_or_default();
                let opening = document.text(&block.range);
                let marks = opening.len() - opening.trim_start_matches('`').len();
                let fence =
                    Part::Fence { info, content, marks, open: is_open(document, block), line };
                cutter.fence(fence, line);
            }
            Kind::Rule if matches!(cutter.aside, Aside::Done | Aside::Shown { heading: true }) => {}
            Kind::Rule => cutter.aside = Aside::No,
        }
    }
    cutter.sections
}

/// A fence that nothing closes, or one of Markdown that a fence inside of it may have closed: text goes on right behind it.
fn is_open(document: &Document<'_>, block: &Block<'_>) -> bool {
    let text = document.text(&block.range).trim_end();
    let closing = text.rsplit('\n').next().unwrap_or_default().trim_start_matches(['>', ' ', '\t']);
    let closed =
        text.contains('\n') && closing.len() >= 3 && closing.chars().all(|c| c == '`' || c == '~');
    let behind = document.source[block.range.end..].trim_start_matches([' ', '\t']);
    let behind = behind.strip_prefix('\n').unwrap_or(behind);
    let goes_on = behind.lines().next().is_some_and(|line| !line.trim().is_empty());
    let markdown = matches!(block.kind, Kind::Fence(info) if info.starts_with("markdown") || info.starts_with("md"));
    !closed || markdown && goes_on
}

struct Cutter<'a> {
    sections: Vec<Section<'a>>,
    aside: Aside,
    /// Where the item of the last step ends: boxes before it are its own steps.
    step_end: usize,
}

impl<'a> Cutter<'a> {
    fn open(&mut self, title: Option<&str>, line: u32, is_step: bool) -> &mut Section<'a> {
        let title = title.map(title_of);
        self.sections.push(Section { title, line, is_step, ..Section::default() });
        let last = self.sections.len() - 1;
        &mut self.sections[last]
    }

    fn last(&mut self, line: u32) -> &mut Section<'a> {
        if self.sections.is_empty() {
            return self.open(None, line, false);
        }
        let last = self.sections.len() - 1;
        &mut self.sections[last]
    }

    fn heading(&mut self, words: &str, line: u32) {
        self.aside = aside(words, true);
        if self.aside == Aside::No {
            self.open(Some(words), line, step_label(words).is_some());
        }
    }

    fn step(&mut self, words: &'a str, line: u32, ticked: bool, range: std::ops::Range<usize>) {
        let boxes_are_none =
            matches!(self.aside, Aside::Remark | Aside::Criteria | Aside::Shown { .. });
        if boxes_are_none && step_label(words).is_none() {
            return;
        }
        self.aside = if ticked { Aside::Done } else { Aside::No };
        let nested = range.end > 0 && range.start < self.step_end;
        if let Some(parent) = self.sections.last_mut().filter(|_| nested) {
            parent.has_steps = true;
        }
        self.step_end = self.step_end.max(range.end);
        if ticked {
            // It asks for nothing more; what follows is not a part of the step before either.
            self.open(None, line, false).is_done = true;
            return;
        }
        let (title, sentences) = split_title(words);
        let section = self.open(Some(&title), line, true);
        if !sentences.is_empty() {
            section.parts.push(Part::Words { sentences, item: false, line });
        }
    }

    fn paragraph(&mut self, words: &'a str, line: u32, nested: bool) {
        let named = label::split(words).map(|(name, rest)| (aside(name, false), rest));
        let marked = label::is_marked(words);
        let labelled = named.filter(|(kind, _)| {
            *kind == Aside::Listing
                || *kind != Aside::No && (marked || matches!(kind, Aside::Shown { .. }))
        });
        let open = !matches!(self.aside, Aside::Done | Aside::Shown { heading: true });
        if let Some((kind, said)) = labelled.filter(|_| open) {
            self.aside = kind;
            if kind != Aside::Listing {
                let said = words.get(said..).unwrap_or_default();
                self.words(said.trim_start_matches(['*', '_', ':', '：', ' ']), line, false);
            }
            return;
        }
        let brief =
            matches!(self.aside, Aside::Listing | Aside::Remark | Aside::Shown { heading: false });
        if !nested && brief {
            self.aside = Aside::No;
        }
        self.words(words, line, false);
    }

    fn words(&mut self, words: &str, line: u32, item: bool) {
        let sentences = sentence::split(words);
        let part = match self.aside {
            Aside::No => Part::Words { sentences, item, line },
            Aside::Remark => Part::Aside { sentences, judged: true, line },
            Aside::Shown { .. } => Part::Aside { sentences, judged: false, line },
            Aside::Listing | Aside::Criteria | Aside::Done => return,
        };
        self.last(line).parts.push(part);
    }

    fn fence(&mut self, fence: Part<'a>, line: u32) {
        let described = matches!(fence, Part::Fence { info: "task", .. });
        if self.aside == Aside::No && !described {
            self.last(line).parts.push(fence);
        }
    }
}

/// What a heading or label asks for, where it is plain that it asks for nothing.
fn aside(name: &str, heading: bool) -> Aside {
    let name = name.trim_matches(['*', '_', ' ', ':', '：']);
    match label::topic(name) {
        Some(Topic::Files(_) | Topic::Interfaces | Topic::Consumes | Topic::Produces) => {
            return Aside::Listing;
        }
        Some(_) => return Aside::Remark,
        None => {}
    }
    let name = format!(",{},", name.to_lowercase());
    if CRITERIA.contains(&name) {
        Aside::Criteria
    } else if SHOWN.contains(&name) || heading && (REMARKS.contains(&name) || NOTES.contains(&name))
    {
        Aside::Shown { heading }
    } else if REMARKS.contains(&name) {
        Aside::Remark
    } else {
        Aside::No
    }
}

/// `Step 3:`, `**Step 3.1 — ...**`: what stands behind the number.
fn step_label(words: &str) -> Option<&str> {
    let bare = words.trim_start_matches(['*', '_', '#', ' ']);
    let rest =
        bare.get(..4).filter(|word| word.eq_ignore_ascii_case("step")).map(|_| &bare[4..])?;
    let rest = rest.strip_prefix([' ', '\u{a0}'])?;
    let behind = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    if behind.len() == rest.len() {
        return None;
    }
    let behind =
        behind.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-'));
    Some(behind.trim_start_matches([':', '：', ' ', '—', '–', '-', '.', '*', '_']))
}

/// The title of a step, without its mark and number.
fn title_of(words: &str) -> Sentence {
    let words = step_label(words).unwrap_or(words);
    Sentence::new(words.trim_matches(['*', '_', ' ', ':']))
}

/// The bold start of a step, or its first sentence, and what follows.
fn split_title(words: &str) -> (String, Vec<Sentence>) {
    let bold = words.strip_prefix("**").and_then(|inner| inner.find("**").map(|end| end + 4));
    // `**Step 3:** Commit`: the number alone is no title.
    let bold = bold.filter(|end| {
        let inner = &words[..*end];
        step_label(inner).is_none_or(|rest| !rest.trim_matches(['*', ' ', ':']).is_empty())
    });
    if let Some(end) = bold {
        let rest = words[end..].trim_start_matches([':', ' ', '—', '–']);
        return (words[..end].to_owned(), sentence::split(rest));
    }
    let mut sentences = sentence::split(words).into_iter();
    let title = sentences.next().map(|first| first.raw).unwrap_or_default();
    (title, sentences.collect())
}
