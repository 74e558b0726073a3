//! A context as people see it: coloured by provenance, as a manifest, or against another.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use sequester_core::context::{IsolatedContext, Kind, Part, Row};
use serde::Serialize;

use super::terminal::{clean, cut, number, plural};

const KINDS: [Kind; 14] = [
    Kind::Frame,
    Kind::Agent,
    Kind::Architecture,
    Kind::Task,
    Kind::Feature,
    Kind::Parent,
    Kind::Constraint,
    Kind::Interface,
    Kind::Clarification,
    Kind::Spec,
    Kind::Work,
    Kind::File,
    Kind::Note,
    Kind::Record,
];

fn style(kind: Kind) -> Style {
    let colour = match kind {
        Kind::Frame => return Style::new().dimmed(),
        Kind::Agent => AnsiColor::Magenta,
        Kind::Architecture => AnsiColor::Blue,
        Kind::Task => AnsiColor::BrightWhite,
        Kind::Feature => AnsiColor::BrightCyan,
        Kind::Parent => AnsiColor::BrightBlue,
        Kind::Constraint => AnsiColor::Yellow,
        Kind::Interface => AnsiColor::BrightYellow,
        Kind::Clarification => AnsiColor::BrightMagenta,
        Kind::Spec => AnsiColor::Cyan,
        Kind::Work => AnsiColor::BrightGreen,
        Kind::File => AnsiColor::Green,
        Kind::Note => AnsiColor::BrightRed,
        Kind::Record => AnsiColor::Red,
    };
    colour.on_default()
}

fn slice<'a>(context: &'a IsolatedContext, row: &Row) -> &'a str {
    let part = match row.part {
        Part::System => context.system.as_ref(),
        Part::Prompt => context.prompt.as_str(),
    };
    part.get(row.start..row.end).unwrap_or_default()
}

/// Both parts, each fragment in the colour of its kind, with a legend of what occurs.
pub(crate) fn coloured(context: &IsolatedContext) -> String {
    let mut out = String::new();
    for row in &context.manifest.fragments {
        let style = style(row.kind);
        // A style is closed at the end of each line, so that a pager or a cut line keeps its colours apart.
        for line in clean(slice(context, row)).split_inclusive('\n') {
            let (text, end) = line.strip_suffix('\n').map_or((line, ""), |text| (text, "\n"));
            let _ = write!(out, "{style}{text}{style:#}{end}");
        }
    }
    out.push('\n');
    for kind in KINDS {
        let rows = context.manifest.fragments.iter().filter(|row| row.kind == kind);
        let tokens: usize = rows.map(|row| row.tokens).sum();
        if tokens > 0 {
            let style = style(kind);
            let _ = write!(out, "{style}{} {}{style:#}  ", kind.as_str(), number(tokens));
        }
    }
    let _ = writeln!(out, "= {} tokens", number(context.tokens));
    out
}

/// Neighbouring fragments of one source as one row.
fn groups(context: &IsolatedContext) -> Vec<Row> {
    let mut groups: Vec<Row> = Vec::new();
    for row in context.manifest.fragments.iter().filter(|row| row.kind != Kind::Frame) {
        match groups.last_mut() {
            Some(last)
                if (last.kind, &last.source, last.rule) == (row.kind, &row.source, row.rule) =>
            {
                last.tokens += row.tokens;
                last.redacted.extend(row.redacted.iter().cloned());
            }
            _ => groups.push(row.clone()),
        }
    }
    groups
}

/// What was admitted and what was withheld, by which rule.
pub(crate) fn manifest(context: &IsolatedContext, width: usize) -> String {
    let mut out = format!(
        "task {} for {}: {}, digest {}\n\nadmitted\n",
        clean(context.task.as_str()),
        context.agent,
        plural(context.tokens, "token"),
        context.digest
    );
    for row in groups(context) {
        let tokens = number(row.tokens);
        let (kind, form, source) = (row.kind.as_str(), row.form.as_str(), clean(&row.source));
        let mut why = row.rule.to_string();
        if !row.redacted.is_empty() {
            let _ = write!(why, "; redacted: {}", row.redacted.join(", "));
        }
        if !row.why.is_empty() {
            let _ = write!(why, "; {}", clean(&row.why));
        }
        let line = format!("  {tokens:>7} {kind:13} {form:8} {source}");
        // Where the reason would be cut it gets a line of its own.
        if line.chars().count() + why.chars().count() + 2 <= width {
            let _ = writeln!(out, "{line}: {why}");
        } else {
            let _ =
                writeln!(out, "{}\n{}", cut(&line, width), cut(&format!("          {why}"), width));
        }
    }
    let framed = context.manifest.fragments.iter().filter(|row| row.kind == Kind::Frame);
    let tokens = number(framed.map(|row| row.tokens).sum());
    let line =
        format!("  {tokens:>7} frame                  headings and fixed sentences: built in");
    let _ = writeln!(out, "{}", cut(&line, width));
    out.push_str("\nwithheld\n");
    for withheld in &context.manifest.withheld {
        let source = clean(&withheld.source);
        let line = format!("  {:13} {source}: {}", withheld.kind.as_str(), withheld.rule);
        let _ = writeln!(out, "{}", cut(&line, width));
    }
    if context.manifest.withheld.is_empty() {
        out.push_str("  nothing\n");
    }
    out
}

/// What two contexts share, fragment by fragment.
#[derive(Serialize)]
pub(crate) struct Difference<'a> {
    task: &'a str,
    other: &'a str,
    shared: Vec<Piece<'a>>,
    only_task: Vec<Piece<'a>>,
    only_other: Vec<Piece<'a>>,
}

#[derive(Serialize)]
struct Piece<'a> {
    kind: Kind,
    source: &'a str,
    tokens: usize,
}

impl<'a> Difference<'a> {
    pub(crate) fn of(task: &'a IsolatedContext, other: &'a IsolatedContext) -> Self {
        let texts = |context: &'a IsolatedContext| -> BTreeSet<&'a str> {
            context.manifest.fragments.iter().map(|row| slice(context, row)).collect()
        };
        let (left, right) = (texts(task), texts(other));
        Self {
            task: task.task.as_str(),
            other: other.task.as_str(),
            shared: pieces(task, |text| right.contains(text)),
            only_task: pieces(task, |text| !right.contains(text)),
            only_other: pieces(other, |text| !left.contains(text)),
        }
    }

    pub(crate) fn render(&self, width: usize) -> String {
        let mut out = String::new();
        let shared = format!("shared by {} and {}", self.task, self.other);
        let groups = [
            (shared, &self.shared),
            (format!("only {}", self.task), &self.only_task),
            (format!("only {}", self.other), &self.only_other),
        ];
        for (heading, pieces) in groups {
            let tokens = pieces.iter().map(|piece| piece.tokens).sum();
            let _ = writeln!(out, "{} ({})", clean(&heading), plural(tokens, "token"));
            for piece in pieces {
                let source = clean(piece.source);
                let line =
                    format!("  {:>7} {:13} {source}", number(piece.tokens), piece.kind.as_str());
                let _ = writeln!(out, "{}", cut(&line, width));
            }
        }
        out
    }
}

/// The fragments whose text is wanted, neighbours of one source together.
fn pieces(context: &IsolatedContext, wanted: impl Fn(&str) -> bool) -> Vec<Piece<'_>> {
    let mut pieces: Vec<Piece<'_>> = Vec::new();
    let rows = context.manifest.fragments.iter().filter(|row| row.kind != Kind::Frame);
    for row in rows.filter(|row| wanted(slice(context, row))) {
        match pieces.last_mut() {
            Some(last) if (last.kind, last.source) == (row.kind, row.source.as_str()) => {
                last.tokens += row.tokens;
            }
            _ => pieces.push(Piece { kind: row.kind, source: &row.source, tokens: row.tokens }),
        }
    }
    pieces
}
