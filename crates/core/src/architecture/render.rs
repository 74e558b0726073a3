//! The architecture as Markdown, within a budget.

use super::{ArchitecturalContext, Stated};
use crate::tokens;

/// A part of the rendered text: a heading, a line, or a word about what was cut. All texts joined are the whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub text: String,
    /// Where it comes from; empty for headings and for what this renderer says itself.
    pub source: String,
}

impl Piece {
    fn own(text: impl Into<String>) -> Self {
        Self { text: text.into(), source: String::new() }
    }

    fn cost(&self) -> usize {
        tokens::count(&self.text)
    }
}

/// Lines of one source that come before any source's next ones.
const SHARE: usize = 4;

impl ArchitecturalContext {
    /// Markdown with a fixed order of sections, at most `budget` tokens (counted piece by piece). What does not fit is
    /// cut from the end of each section's order of importance, and each cut is said. A budget under 200 may be too
    /// small for the bare headings, which are always there.
    pub fn render(&self, budget: usize) -> Vec<Piece> {
        let sections = self.sections();
        let kept = choose(&sections, budget);
        sections.iter().zip(&kept).flat_map(|(section, kept)| section.pieces(kept)).collect()
    }

    /// In the order they are shown. The weights share a budget that is too small for all: twice the weight, twice the
    /// tokens, and what one does not need goes to the others.
    fn sections(&self) -> [Section<'_>; 8] {
        let tree = Form::Tree;
        let list = Form::List;
        [
            Section::new("Project structure", &self.project_structure, tree, 16),
            Section::new("Languages", &self.languages, Form::Flat, 8),
            Section::new("Entry points", &self.entry_points, list, 10),
            Section::new("How to build and test", &self.commands, list, 16),
            Section::new("Key patterns", &self.key_patterns, Form::Flat, 16),
            Section::new("Decisions", &self.relevant_adrs, list, 14),
            Section::new("Conventions", &self.conventions, list, 24),
            Section::new("Dependencies", &self.dependencies, list, 14),
        ]
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Indented below the folder they lie in; the source is the line itself.
    Tree,
    /// Grouped by source.
    List,
    /// One by one.
    Flat,
}

struct Section<'a> {
    heading: Piece,
    lines: Vec<Line<'a>>,
    form: Form,
    weight: usize,
}

struct Line<'a> {
    said: &'a Stated,
    /// Indentation in a tree, turns already taken by the same source in a list, place in a flat one: lower is more
    /// important.
    tier: usize,
    group: Group,
}

impl<'a> Line<'a> {
    fn alone((at, said): (usize, &'a Stated)) -> Self {
        Self { said, tier: at, group: Group::Alone }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    Alone,
    First,
    Rest,
}

impl<'a> Section<'a> {
    fn new(title: &str, said: &'a [Stated], form: Form, weight: usize) -> Self {
        let lines = match form {
            Form::Tree => tree(said),
            Form::List => list(said),
            Form::Flat => said.iter().enumerate().map(Line::alone).collect(),
        };
        let heading = Piece::own(format!("## {title}\n"));
        Self { heading, lines, form, weight }
    }

    /// What is there whatever is cut: the heading, and a word on what is not there.
    fn floor(&self) -> usize {
        let word = if self.lines.is_empty() { none() } else { cut(self.lines.len()) };
        self.heading.cost() + word.cost()
    }

    fn line(&self, line: &Line<'_>) -> Vec<Piece> {
        let Stated { text, source } = line.said;
        let piece = |text: String| Piece { text, source: source.clone() };
        match (self.form, line.group) {
            (Form::Tree, _) => vec![piece(format!("{}- {text}\n", "  ".repeat(line.tier)))],
            (_, Group::Alone) => vec![piece(format!("- {text} ({source})\n"))],
            (_, Group::First) => {
                vec![piece(format!("- {source}:\n")), piece(format!("  - {text}\n"))]
            }
            (_, Group::Rest) => vec![piece(format!("  - {text}\n"))],
        }
    }

    fn pieces(&self, kept: &[bool]) -> Vec<Piece> {
        let mut pieces = vec![self.heading.clone()];
        let shown = self.lines.iter().zip(kept).filter(|(_, kept)| **kept);
        pieces.extend(shown.flat_map(|(line, _)| self.line(line)));
        let missing = kept.iter().filter(|kept| !**kept).count();
        if self.lines.is_empty() {
            pieces.push(none());
        } else if missing > 0 {
            pieces.push(cut(missing));
        }
        pieces
    }
}

fn none() -> Piece {
    Piece::own("None found.\n")
}

fn cut(missing: usize) -> Piece {
    Piece::own(format!("... {missing} more, cut to fit.\n"))
}

/// The depth of each folder among those listed.
fn tree(said: &[Stated]) -> Vec<Line<'_>> {
    let mut above: Vec<&str> = Vec::new();
    said.iter()
        .map(|said| {
            let holds = |outer: &str| {
                let rest = said.source.strip_prefix(outer);
                outer.is_empty() || rest.is_some_and(|rest| rest.starts_with('/'))
            };
            while above.last().is_some_and(|outer| !holds(outer)) {
                above.pop();
            }
            let tier = above.len();
            above.push(&said.source);
            Line { said, tier, group: Group::Alone }
        })
        .collect()
}

/// Runs of one source make a group.
fn list(said: &[Stated]) -> Vec<Line<'_>> {
    let mut lines = Vec::with_capacity(said.len());
    for run in said.chunk_by(|one, next| one.source == next.source) {
        lines.extend(run.iter().enumerate().map(|(at, said)| Line {
            said,
            tier: at / SHARE,
            group: match at {
                _ if run.len() == 1 => Group::Alone,
                0 => Group::First,
                _ => Group::Rest,
            },
        }));
    }
    lines
}

/// One line waiting for its turn.
struct Turn {
    /// The section's tokens so far, by its weight: the lowest comes next.
    due: usize,
    section: usize,
    line: usize,
    cost: usize,
}

/// Which lines of each section are shown.
fn choose(sections: &[Section<'_>], budget: usize) -> Vec<Vec<bool>> {
    let mut turns = turns(sections);
    let all: usize = turns.iter().map(|turn| turn.cost).sum();
    let headings: usize = sections
        .iter()
        .map(
            |section| {
                if section.lines.is_empty() { section.floor() } else { section.heading.cost() }
            },
        )
        .sum();
    let fits = all + headings <= budget;
    let mut kept: Vec<Vec<bool>> =
        sections.iter().map(|section| vec![fits; section.lines.len()]).collect();
    if fits {
        return kept;
    }
    let mut left = budget.saturating_sub(sections.iter().map(Section::floor).sum());
    let mut closed = vec![false; sections.len()];
    turns.sort_by_key(|turn| (turn.due, turn.section));
    for turn in turns {
        if closed[turn.section] {
            continue;
        }
        if turn.cost > left {
            closed[turn.section] = true;
            continue;
        }
        left -= turn.cost;
        kept[turn.section][turn.line] = true;
    }
    kept
}

fn turns(sections: &[Section<'_>]) -> Vec<Turn> {
    let mut turns = Vec::new();
    for (at, section) in sections.iter().enumerate() {
        let mut order: Vec<usize> = (0..section.lines.len()).collect();
        order.sort_by_key(|line| section.lines[*line].tier);
        let mut spent = 0;
        for line in order {
            let cost = section.line(&section.lines[line]).iter().map(Piece::cost).sum();
            spent += cost;
            turns.push(Turn { due: spent * 100 / section.weight, section: at, line, cost });
        }
    }
    turns
}

#[cfg(test)]
mod tests;
