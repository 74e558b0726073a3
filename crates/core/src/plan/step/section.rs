//! A task's text as sections: a step with its words and fences, each with what stands above it.

use std::collections::HashMap;

use crate::plan::label::{self, Topic};
use crate::plan::markdown::{Block, Document, Kind};

use super::number;
use super::prose;
use super::scope::{Aside, Label, Next, Rule, Scopes};
use super::sentence::{self, Sentence};
use super::title::Title;

#[derive(Default)]
pub(super) struct Section<'a> {
    pub(super) title: Option<Sentence>,
    pub(super) line: u32,
    pub(super) mark: Mark,
    /// Of its heading.
    pub(super) level: Option<u8>,
    /// Steps of its own stand below it.
    pub(super) has_steps: bool,
    /// What stands above it and may hold it back.
    pub(super) held: Option<&'a str>,
    pub(super) parts: Vec<Part<'a>>,
}

/// What makes a section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mark {
    /// A heading, or nothing.
    #[default]
    Text,
    /// A box, or the word: it must ask for something.
    Step,
    /// A box that is ticked.
    Done,
}

pub(super) struct Part<'a> {
    pub(super) line: u32,
    pub(super) held: Option<&'a str>,
    pub(super) what: What<'a>,
}

pub(super) enum What<'a> {
    Words(Vec<Sentence>),
    /// A list item.
    Item(Vec<Sentence>),
    /// What stands under a label or a heading that asks for nothing.
    Aside(Aside, Vec<Sentence>),
    /// What stands there, and asks for something or takes something back all the same.
    Doubt(Sentence),
    Fence(Fence<'a>),
}

pub(super) struct Fence<'a> {
    pub(super) info: &'a str,
    pub(super) content: String,
    /// Backticks that open it, if it is clear where it ends.
    pub(super) marks: Option<usize>,
    pub(super) line: u32,
}

/// Labels of what explains.
const REMARKS: &str = ",why,context,background,rationale,reason,motivation,references,see also,purpose,\
    summary,overview,effort,estimated effort,priority,risk,risks,owner,spec,what happened,root cause,\
    description,";
/// Labels of what the work is for, beside those of a plan's goal.
const AIMS: &str = ",aim,objective,";
/// Labels of what is shown.
const SHOWN: &str = ",out of scope,non-goals,rollback,roll back,alternative,alternatives,example,examples,for reference,reference,\
    current behaviour,current behavior,current state,usage,example usage,do not run,not in scope,";
/// Headings under which nothing is asked for; a label of this name may ask.
const NOTES: &str = ",notes,note,implementation notes,design notes,troubleshooting,faq,open questions,appendix,archive,history,\
    future work,ideas,discussion,rejected ideas,rejected alternatives,prior art,lessons learned,";
const CRITERIA: &str = ",acceptance criteria,acceptance,success criteria,done when,definition of done,verification checklist,";
const NEEDS: &str = ",depends on,blocked by,dependencies,requires,";
/// What a status may say of work that is to be done.
const OPEN: &str =
    ",open,todo,to do,to-do,pending,in progress,in-progress,not started,planned,ready,active,new,";

pub(super) fn cut<'a>(
    document: &Document<'a>,
    mut contents: HashMap<usize, String>,
) -> Vec<Section<'a>> {
    let is_detailed = |block: &Block<'_>| {
        let words = document.text(&block.words);
        matches!(block.kind, Kind::Paragraph) && words.lines().next() == Some(DETAILS)
    };
    let mut cutter = Cutter {
        sections: Vec::new(),
        scopes: Scopes::default(),
        step_end: 0,
        // Where nothing else says what is to be done, the description does.
        described: if document.blocks.iter().any(is_detailed) {
            Composed::Aim
        } else {
            Composed::Work
        },
    };
    for block in &document.blocks {
        let words = document.text(&block.words);
        let place = Place {
            line: document.lines.place(block.range.start).line,
            start: block.range.start,
            end: block.range.end,
            within: block.within.map(|item| document.blocks[item].range.end),
        };
        match block.kind {
            Kind::Heading(level) => cutter.heading(level, words, &place),
            Kind::Item(item) => match item.mark {
                Some(mark) if mark.ticked => cutter.tick(words, &place),
                Some(_) => {
                    let head = document.text(&(block.range.start..block.words.start)).trim();
                    cutter.step(Opened::Box(head), words, &place);
                }
                None => cutter.item(words, &place),
            },
            Kind::Paragraph if step_label(words).is_some() => {
                cutter.step(Opened::Name, words, &place);
            }
            Kind::Paragraph => cutter.paragraph(words, &place),
            Kind::Fence(info) => {
                let content = contents.remove(&block.range.start).unwrap_or_default();
                let opening = document.text(&block.range);
                let marks = opening.len() - opening.trim_start_matches('`').len();
                let marks = (!is_open(document, block)).then_some(marks);
                cutter.fence(Fence { info, content, marks, line: place.line }, &place);
            }
            Kind::Rule => drop(cutter.scopes.enter(Next::Rule, place.start)),
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

/// Where a block stands.
struct Place {
    line: u32,
    start: usize,
    end: usize,
    /// Where the list item ends that it stands in.
    within: Option<usize>,
}

struct Cutter<'a> {
    sections: Vec<Section<'a>>,
    scopes: Scopes<'a>,
    /// Where the item of the last step ends: boxes before it are its own steps.
    step_end: usize,
    /// What a description says.
    described: Composed,
}

impl<'a> Cutter<'a> {
    fn last(&mut self, line: u32) -> &mut Section<'a> {
        if self.sections.is_empty() {
            self.sections.push(Section { line, ..Section::default() });
        }
        let last = self.sections.len() - 1;
        &mut self.sections[last]
    }

    fn push(&mut self, line: u32, held: Option<&'a str>, what: What<'a>) {
        self.last(line).parts.push(Part { line, held, what });
    }

    fn heading(&mut self, level: u8, words: &'a str, place: &Place) {
        let title = title_of(words);
        let rule = match aside(words, Named::Heading) {
            Some(aside) => Rule::Aside(aside),
            None if Title::read(&title).leads() => Rule::Open,
            None => Rule::Held(words),
        };
        self.scopes.heading(level, words, rule);
        match self.scopes.rule() {
            Rule::Aside(_) => {}
            rule => {
                let mark = if step_label(words).is_some() { Mark::Step } else { Mark::Text };
                let (line, held) = (place.line, rule.held());
                let title = Some(title);
                self.sections.push(Section {
                    title,
                    line,
                    mark,
                    level: Some(level),
                    held,
                    ..Section::default()
                });
            }
        }
    }

    /// A ticked box asks for nothing more; what follows is not a part of the step before either.
    fn tick(&mut self, words: &'a str, place: &Place) {
        let words = number::behind(words);
        let rule = self.scopes.enter(Next::Box, place.start);
        if !matches!(rule, Rule::Aside(_)) {
            self.nest(place);
            self.scopes.done();
            // What is open in what is done is a contradiction.
            self.scopes.item(words, place.end);
            self.sections.push(Section {
                line: place.line,
                mark: Mark::Done,
                ..Section::default()
            });
        }
        let (title, sentences) = split_title(words);
        let all = [title_of(&title)].into_iter().chain(sentences);
        self.judge(Aside::Done, all.collect(), place.line);
    }

    /// A box, or a step by its name.
    fn step(&mut self, opened: Opened<'a>, words: &'a str, place: &Place) {
        let words = number::behind(words);
        let next = if step_label(words).is_some() { Next::Step } else { Next::Box };
        let rule = self.scopes.enter(next, place.start);
        if let Rule::Aside(aside) = rule {
            return self.judge(aside, sentence::split(words), place.line);
        }
        self.nest(place);
        let (title, sentences) = split_title(words);
        let title = title_of(&title);
        if Title::read(&title).condition || aside(words, Named::Label).is_some() {
            self.scopes.item(words, place.end);
        }
        let held = opened.held().or(rule.held());
        if let Some(said) = opened.held() {
            self.scopes.hold(said);
        }
        self.sections.push(Section {
            title: Some(title),
            line: place.line,
            mark: Mark::Step,
            held,
            ..Section::default()
        });
        if !sentences.is_empty() {
            self.push(place.line, held, What::Words(sentences));
        }
    }

    /// Notes whether a step is one of the step before it.
    fn nest(&mut self, place: &Place) {
        let nested = place.start < self.step_end;
        if let Some(parent) = self.sections.last_mut().filter(|_| nested) {
            parent.has_steps = true;
        }
        self.step_end = self.step_end.max(place.end);
    }

    fn item(&mut self, words: &'a str, place: &Place) {
        let rule = self.scopes.enter(Next::Item, place.start);
        if rule == Rule::Open && number::is_reference(words) {
            return;
        }
        let status = label::split(words)
            .filter(|(name, _)| aside(name, Named::Label) == Some(Aside::Status));
        let (rule, words) = match status {
            Some((_, rest)) if rule == Rule::Open => {
                (Rule::Aside(Aside::Status), behind(words, rest))
            }
            _ => (rule, words),
        };
        self.words(rule, What::Item, words, place.line);
    }

    fn paragraph(&mut self, words: &'a str, place: &Place) {
        let next = if place.within.is_some() { Next::Nested } else { Next::Paragraph };
        let rule = self.scopes.enter(next, place.start);
        let part = part(words, self.described);
        let words = match part.filter(|_| place.within.is_none() && rule == Rule::Open) {
            None => words,
            Some((Composed::Work | Composed::Aim, "")) => return,
            Some((Composed::Work, rest)) => rest,
            Some((Composed::Aim, rest)) => {
                self.scopes.label(Label::Filled, words, Aside::Aim, None);
                return self.judge(Aside::Aim, sentence::split(rest), place.line);
            }
        };
        let named = label::split(words)
            .and_then(|(name, rest)| Some((aside(name, Named::Label)?, name, rest)));
        // Of what explains, only a label that is set off as one is sure to be one.
        let named = named.filter(|(aside, ..)| {
            !matches!(aside, Aside::Remark | Aside::Aim | Aside::Criteria)
                || label::is_marked(words)
        });
        let Some((aside, name, rest)) = named.filter(|_| !matches!(rule, Rule::Aside(_))) else {
            return self.words(rule, What::Words, words, place.line);
        };
        let said = behind(words, rest);
        let leads = said.is_empty() || aside == Aside::Aim && said.ends_with([':', '：']);
        let label = if leads { Label::Alone } else { Label::Filled };
        self.scopes.label(label, name, aside, place.within);
        self.judge(aside, sentence::split(said), place.line);
    }

    fn words(
        &mut self,
        rule: Rule<'a>,
        what: impl Fn(Vec<Sentence>) -> What<'a>,
        words: &str,
        line: u32,
    ) {
        let sentences = sentence::split(words);
        match rule {
            Rule::Aside(aside) => self.judge(aside, sentences, line),
            rule => self.push(line, rule.held(), what(sentences)),
        }
    }

    /// What stands in an aside is passed over, unless it is about what stands outside of it.
    fn judge(&mut self, aside: Aside, sentences: Vec<Sentence>, line: u32) {
        let (doubts, passed): (Vec<_>, Vec<_>) =
            sentences.into_iter().partition(|said| match aside {
                Aside::Status => !is_open_state(said),
                Aside::Needs => !prose::is_need(said),
                _ => prose::cancels(said),
            });
        for said in doubts {
            self.push(line, None, What::Doubt(said));
        }
        let named = matches!(
            aside,
            Aside::Remark | Aside::Aim | Aside::Shown | Aside::Status | Aside::Needs
        );
        if named && !passed.is_empty() {
            self.push(line, None, What::Aside(aside, passed));
        }
    }

    fn fence(&mut self, fence: Fence<'a>, place: &Place) {
        let next = if place.within.is_some() { Next::Nested } else { Next::Fence };
        let rule = self.scopes.enter(next, place.start);
        if !matches!(rule, Rule::Aside(_)) && fence.info != "task" {
            self.push(fence.line, rule.held(), What::Fence(fence));
        }
    }
}

/// What opens a step.
#[derive(Clone, Copy)]
enum Opened<'a> {
    /// Its bullet and box.
    Box(&'a str),
    /// `Step 3:`.
    Name,
}

impl<'a> Opened<'a> {
    /// A box that is neither open nor ticked, such as `[-]`, and `[ ]*` of what is optional.
    fn held(self) -> Option<&'a str> {
        match self {
            Self::Box(head) if !head.ends_with("[ ]") => Some(head),
            _ => None,
        }
    }
}

/// A part of a text that was put together from an entry's fields, each under its name: the name itself says nothing.
#[derive(Clone, Copy)]
enum Composed {
    /// What is to be done.
    Work,
    /// What it is for.
    Aim,
}

const DETAILS: &str = "Details:";

/// Such a name alone in its line, and what stands below.
fn part(words: &str, described: Composed) -> Option<(Composed, &str)> {
    let (name, rest) = words.split_once('\n').unwrap_or((words, ""));
    let part = match name.trim_end() {
        "Description:" => described,
        DETAILS => Composed::Work,
        _ => return None,
    };
    Some((part, rest.trim_start()))
}

/// What bears a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Named {
    Heading,
    Label,
}

/// What a heading or label is of, where it is plain that it asks for nothing.
fn aside(name: &str, named: Named) -> Option<Aside> {
    let name = name.trim_matches(['*', '_', ' ', ':', '：']);
    match label::topic(name) {
        Some(Topic::Files(_) | Topic::Interfaces | Topic::Consumes | Topic::Produces) => {
            return Some(Aside::Listing);
        }
        Some(Topic::Goal) => return Some(Aside::Aim),
        Some(_) => return Some(Aside::Remark),
        None => {}
    }
    let lower = name.to_lowercase();
    let name = format!(",{lower},");
    let heading = named == Named::Heading;
    match () {
        () if lower == "status" => Some(Aside::Status),
        () if NEEDS.contains(&name) => Some(Aside::Needs),
        () if CRITERIA.contains(&name) => Some(Aside::Criteria),
        () if SHOWN.contains(&name) || lower.starts_with("rollback ") => Some(Aside::Shown),
        () if heading && [REMARKS, AIMS, NOTES].iter().any(|list| list.contains(&name)) => {
            Some(Aside::Shown)
        }
        () if AIMS.contains(&name) => Some(Aside::Aim),
        () if REMARKS.contains(&name) => Some(Aside::Remark),
        () => None,
    }
}

/// What stands behind a label.
fn behind(words: &str, rest: usize) -> &str {
    words.get(rest..).unwrap_or_default().trim_start_matches(['*', '_', ':', '：', ' '])
}

/// Whether a status is that of work to be done; marks before it mean nothing.
fn is_open_state(said: &Sentence) -> bool {
    let state = said.plain.trim_matches(|c: char| !c.is_alphanumeric());
    OPEN.contains(&format!(",{state},"))
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
    // `**Step 3:** Commit`, `**Ask:** Which?`: the number or the label alone is no title.
    let bold = bold.filter(|end| {
        let inner = &words[..*end];
        let asks = inner.trim_matches(['*', ' ', ':']).to_ascii_lowercase();
        !matches!(asks.as_str(), "ask" | "question")
            && step_label(inner).is_none_or(|rest| !rest.trim_matches(['*', ' ', ':']).is_empty())
    });
    if let Some(end) = bold {
        let rest = words[end..].trim_start_matches([':', ' ', '—', '–']);
        return (words[..end].to_owned(), sentence::split(rest));
    }
    let mut sentences = sentence::split(words).into_iter();
    let title = sentences.next().map(|first| first.raw).unwrap_or_default();
    (title, sentences.collect())
}
