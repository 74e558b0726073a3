//! `- [ ] 1. ...` with `1.1` nested beneath, `_Requirements: ..._`, and `[ ]*` for optional tasks.
//!
//! The text is the whole item. Tasks are in order, or in the waves of the plan's own graph.

use super::markdown::Document;
use super::mention::Verbless;
use super::needs::Shape;
use super::unit::{self, Drafts, Rules, Unit};
use super::{Format, doubled, mark, wave_graph};

const RULES: Rules = Rules {
    format: Format::Kiro,
    nested: true,
    steps: false,
    shape: Shape::Numbers,
    verbless: Verbless::Skipped,
};

pub(super) fn read(document: &Document<'_>) -> Drafts {
    let mut drafts = unit::assemble(document, find(document), &RULES);
    doubled::merge(&mut drafts);
    for draft in &mut drafts.tasks {
        draft.task.requirements = requirements(document, &draft.task.span);
    }
    drafts.waves = wave_graph::read(document, &mut drafts);
    drafts
}

fn find(document: &Document<'_>) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    let mut starred: std::collections::HashSet<String> = std::collections::HashSet::new();
    for (block, one) in document.blocks.iter().enumerate() {
        let Some(mark) = one.checkbox() else { continue };
        let Some((id, rest)) = mark::box_number(document.text(&one.words)) else { continue };
        let above = id.rsplit_once('.').is_some_and(|(head, _)| starred.contains(head));
        let optional = mark.starred || above;
        if optional {
            starred.insert(id.to_owned());
        }
        let rest = rest.trim_start_matches(['.', ' ']).trim_start_matches("(P)");
        units.push(Unit {
            block,
            id: id.to_owned(),
            // What stands in the lines below it is the task's text.
            title: mark::title(rest.lines().next().unwrap_or_default()),
            ticked: mark.ticked,
            optional,
            parallel: false,
        });
    }
    units
}

/// Whether words are the line of requirements.
pub(super) fn names_requirements(text: &str) -> bool {
    text.trim_start_matches(['_', '*']).starts_with("Requirement")
}

/// The ids behind `_Requirements: 1.1, 2.3_`.
fn requirements(document: &Document<'_>, range: &std::ops::Range<usize>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (_, line) in document.prose(range) {
        let Some((_, ids)) =
            line.split_once("Requirements:").or_else(|| line.split_once("Requirement:"))
        else {
            continue;
        };
        let ids = ids
            .split(',')
            .map(|id| id.trim_matches(|c: char| c.is_whitespace() || "_*.".contains(c)));
        found.extend(ids.filter(|id| !id.is_empty()).map(str::to_owned));
    }
    let mut seen = std::collections::HashSet::new();
    found.retain(|id| seen.insert(id.clone()));
    found
}
