//! What the sections of a plain document say about the boxes beneath them: work, or how the work is judged.

use std::ops::Range;

use super::label;
use super::markdown::{Block, Document, Kind};

/// What a section's title says of its boxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SectionKind {
    Work,
    /// What has to hold when the work is done.
    Criteria,
    /// No work of the plan: verification, notes, questions, what is left for later.
    Aside,
    Plain,
}

/// Titles of acceptance lists.
const CRITERIA: [&str; 8] = [
    "acceptance",
    "definition of done",
    "done when",
    "success criteria",
    "exit criteria",
    "abnahme",
    "aceptación",
    "验收",
];

/// Titles of sections whose boxes are not work of the plan.
const ASIDE: [&str; 27] = [
    "out of scope",
    "non-goal",
    "not in scope",
    "gaps",
    "candidate",
    "follow-up",
    "follow up",
    "future",
    "later",
    "question",
    "notes",
    "verification",
    "verify",
    "manual test",
    "test plan",
    "checklist",
    "reminder",
    "references",
    "risks",
    "rollback",
    "roll back",
    "reproduc",
    "pre-flight",
    "preflight",
    "manual qa",
    "sign-off",
    "offene",
];

/// Words of titles of work.
const WORK: [&str; 15] = [
    "task",
    "tasks",
    "subtasks",
    "todo",
    "todos",
    "to-do",
    "to-dos",
    "steps",
    "implementation",
    "work",
    "action items",
    "aufgaben",
    "tareas",
    "tâches",
    "任务",
];

/// Titles of chapters of a report or specification: where one is numbered, the numbers count chapters and not tasks.
const CHAPTERS: [&str; 26] = [
    "overview",
    "executive summary",
    "summary",
    "purpose",
    "introduction",
    "background",
    "context",
    "scope",
    "motivation",
    "problem",
    "problem statement",
    "goals",
    "objectives",
    "non-goals",
    "out of scope",
    "architecture",
    "architecture overview",
    "requirements",
    "dependencies",
    "execution order",
    "open questions",
    "findings",
    "sources",
    "glossary",
    "appendix",
    "conclusion",
];

/// Titles of chapters that say how the work is judged, or what may come of it.
const JUDGEMENTS: [&str; 17] = [
    "verification",
    "verification checklist",
    "verification steps",
    "manual verification",
    "manual testing",
    "test plan",
    "acceptance criteria",
    "success criteria",
    "definition of done",
    "rollback",
    "rollback plan",
    "risks",
    "risks and mitigations",
    "notes",
    "references",
    "future work",
    "timeline",
];

/// Words of titles above a plain numbered list of work.
const LISTED_WORK: [&str; 9] =
    ["plan", "approach", "change", "changes", "solution", "fix", "fixes", "proposal", "phases"];

/// Whether a title is that of a chapter which is no work, alone or before another.
pub(super) fn is_chapter(title: &str) -> bool {
    is_one_of(&CHAPTERS, title)
}

pub(super) fn is_judgement(title: &str) -> bool {
    is_one_of(&JUDGEMENTS, title)
}

fn is_one_of(titles: &[&str], title: &str) -> bool {
    let title = title.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let ends = |rest: &str| {
        let next = rest.trim_start();
        let is_joined = ["and ", "und ", "y ", "et "].iter().any(|word| next.starts_with(word));
        next.is_empty() || is_joined || next.starts_with(|c: char| !c.is_alphanumeric())
    };
    titles.iter().any(|one| title.strip_prefix(one).is_some_and(ends))
}

/// Whether a numbered list under a title lists work.
pub(super) fn announces_work(title: &str) -> bool {
    let lower = title.to_lowercase();
    let mut parts = lower.split(|c: char| !c.is_alphanumeric());
    match kind_of(title) {
        SectionKind::Work => true,
        SectionKind::Plain => parts.any(|part| LISTED_WORK.contains(&part)),
        SectionKind::Criteria | SectionKind::Aside => false,
    }
}

pub(super) fn kind_of(title: &str) -> SectionKind {
    let lower = title.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let mut parts = lower.split(|c: char| !c.is_alphanumeric() && c != '-');
    let names_work = lower.contains("action items") || parts.any(|part| WORK.contains(&part));
    // `Implementation checklist` lists work.
    let is_aside = has(&ASIDE) && !(names_work && lower.contains("checklist"));
    if has(&CRITERIA) {
        SectionKind::Criteria
    } else if is_aside {
        SectionKind::Aside
    } else if names_work {
        SectionKind::Work
    } else {
        SectionKind::Plain
    }
}

/// For each block, the kind of the section it stands in: its nearest heading or label that has a kind.
pub(super) fn kinds(document: &Document<'_>) -> Vec<SectionKind> {
    let mut open: Vec<(u8, SectionKind)> = Vec::new();
    let mut kinds = Vec::with_capacity(document.blocks.len());
    for block in &document.blocks {
        let title = document.text(&block.words);
        let level = match block.kind {
            Kind::Heading(level) => Some(level),
            _ => is_label(document, block).then_some(LABEL),
        };
        if let Some(level) = level {
            open.retain(|(above, _)| *above < level);
            let above = open.last().map_or(SectionKind::Plain, |(_, kind)| *kind);
            let own = kind_of(title);
            open.push((level, if own == SectionKind::Plain { above } else { own }));
        }
        kinds.push(open.last().map_or(SectionKind::Plain, |(_, kind)| *kind));
    }
    kinds
}

/// The level of a label: beneath every heading.
pub(super) const LABEL: u8 = 7;

/// Whether a block is a label on a line of its own, such as `**Tasks:**`.
pub(super) fn is_label(document: &Document<'_>, block: &Block<'_>) -> bool {
    let text = document.text(&block.words);
    matches!(block.kind, Kind::Paragraph)
        && block.within.is_none()
        && !text.contains('\n')
        && label::split(text).is_some_and(|(_, rest)| rest == text.len())
}

/// The title of a heading or label without its emphasis and colon.
pub(super) fn bare_title(title: &str) -> &str {
    title.trim_matches(|c: char| c.is_whitespace() || "*_:：".contains(c))
}

/// The sections of criteria: where their titles begin, and what stands beneath.
pub(super) fn criteria(
    document: &Document<'_>,
    kinds: &[SectionKind],
) -> Vec<(usize, Range<usize>)> {
    let mut found: Vec<(usize, Range<usize>)> = Vec::new();
    let mut open = false;
    for (block, kind) in document.blocks.iter().zip(kinds) {
        let is_criteria = *kind == SectionKind::Criteria;
        if open && !is_criteria {
            if let Some((_, range)) = found.last_mut() {
                range.end = block.range.start;
            }
        } else if is_criteria && !open {
            found.push((block.range.start, block.range.end..document.source.len()));
        }
        open = is_criteria;
    }
    found.into_iter().map(|(start, range)| (start, document.trimmed(range))).collect()
}
