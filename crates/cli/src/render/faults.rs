//! Faults with the line they stand on.

use std::fmt::Write as _;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use sequester_core::fault::Fault;

use super::terminal;

/// How many faults are shown in full; the rest is counted.
const SHOWN: usize = 50;

/// What stands before a message: `error[SQ0001]: `.
const INDENT: usize = 16;
/// What stands before a line of the source: its number and a bar.
const MARGIN: usize = 12;
/// No line is longer than this, however wide the terminal is.
const WIDEST: usize = 172;

/// All faults as text, in the order of their places.
pub(crate) fn render(faults: &[Fault], source: &str, name: &str, look: (bool, usize)) -> String {
    snippets((faults, Level::ERROR, "fault"), source, name, look)
}

/// The same for warnings.
pub(crate) fn warnings(list: &[Fault], source: &str, name: &str, look: (bool, usize)) -> String {
    snippets((list, Level::WARNING, "warning"), source, name, look)
}

fn snippets(
    (faults, level, noun): (&[Fault], Level<'_>, &str),
    source: &str,
    name: &str,
    (colours, width): (bool, usize),
) -> String {
    let lines: Vec<&str> = source.lines().collect();
    let renderer = if colours { Renderer::styled() } else { Renderer::plain() };
    // It cuts a long line around the place, and counts columns in the whole of it.
    let renderer = renderer.term_width(width.clamp(20 + MARGIN, WIDEST));
    let mut out = String::new();
    for fault in faults.iter().take(SHOWN) {
        let line = (fault.place.line as usize).checked_sub(1).and_then(|at| lines.get(at));
        let line = line.copied().unwrap_or("");
        out.push_str(&one((fault, &level), line, name, (&renderer, width)));
        out.push_str("\n\n");
    }
    if let Some(more) = faults.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        let more = terminal::plural(more, &format!("more {noun}"));
        let _ = writeln!(
            out,
            "... and {more} (`--json` lists all).
"
        );
    }
    out
}

fn one(
    (fault, level): (&Fault, &Level<'_>),
    line: &str,
    name: &str,
    (renderer, width): (&Renderer, usize),
) -> String {
    let shown = terminal::cut(line, (fault.place.column as usize).saturating_add(WIDEST));
    let start: usize =
        shown.chars().take(fault.place.column.saturating_sub(1) as usize).map(char::len_utf8).sum();
    let end = shown[start..].find(ends_word).map_or(shown.len(), |at| start + at);
    let wrapped =
        |text: &str| terminal::wrap(text, width.saturating_sub(INDENT).max(20)).join("\n");
    let (message, hint) = (wrapped(&fault.message), wrapped(&fault.hint));
    let mut group = level.clone().primary_title(message).id(fault.code.as_str()).element(
        Snippet::source(shown.as_str())
            .line_start(fault.place.line.max(1) as usize)
            .path(name)
            .annotation(AnnotationKind::Primary.span(start..end.max(start))),
    );
    if !hint.is_empty() {
        group = group.element(Level::HELP.message(hint));
    }
    renderer.render(&[group])
}

fn ends_word(c: char) -> bool {
    c.is_whitespace() || matches!(c, ',' | ']' | '}' | ')')
}

#[cfg(test)]
mod tests {
    use sequester_core::fault::{Code, Place};

    use super::*;

    #[test]
    fn a_place_far_in_a_long_line_is_told_and_shown() {
        let place = Place { line: 1, column: 401 };
        let fault = Fault::new(Code::BadSyntax, place, "It is wrong.", "Mend it.");
        let source = "word ".repeat(80) + "here and " + &"word ".repeat(80);
        let told = render(std::slice::from_ref(&fault), &source, "plan.md", (false, 80));
        assert!(told.contains("plan.md:1:401") && told.contains("here"), "{told}");
        assert!(told.lines().all(|line| line.chars().count() <= 80), "{told}");
    }

    #[test]
    fn a_fault_is_no_wider_than_the_terminal() {
        let words = "one long sentence after another about what is wrong. ".repeat(4);
        let place = Place { line: 1, column: 1 };
        let fault = Fault::new(Code::BadSyntax, place, words.as_str(), words.as_str());
        let source = "needs: ".to_owned() + &"word ".repeat(60);
        for width in [60, 100] {
            let told = render(std::slice::from_ref(&fault), &source, "plan.md", (false, width));
            for line in told.lines() {
                assert!(line.chars().count() <= width, "{}: {told}", line.chars().count());
            }
            assert_eq!(told.matches("wrong.").count(), 8, "{told}");
        }
    }
}
