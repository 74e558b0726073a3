//! Two versions of the file of which neither was made from the other.

use std::collections::BTreeSet;

use super::file::is_pin;
use super::mark::is_mark;
use super::{Author, Notes, Part};

/// Where lines go that another save of the file had.
const SECTION: &str = "Saved at the same time";

/// `text` with the lines of `other` that are not in it, below all that is there; nothing where none is missing. Only a person's
/// lines: what subagents wrote is kept elsewhere, and must not become a person's.
pub fn rescue(text: &str, other: &str) -> Option<String> {
    let known: BTreeSet<&str> = text.lines().map(str::trim_end).collect();
    let other = Notes::parse(other);
    let (mut missing, mut sections) = (Vec::new(), Vec::new());
    for section in &other.sections {
        let head = section.head.trim_end();
        let is_new = !head.is_empty() && !known.contains(head);
        let is_persons = |part: &&Part| part.author() == Author::Person;
        // A pin is for the heading that it stands under.
        let is_missing = |line: &&str| match line {
            line if line.is_empty() || is_mark(line) => false,
            line if is_pin(line) => is_new,
            line => !known.contains(line),
        };
        let lines = section.parts.iter().filter(is_persons).flat_map(|part| part.raw.lines());
        let lines: Vec<&str> = lines.map(str::trim_end).filter(is_missing).collect();
        if !is_new {
            missing.extend(lines);
        } else if !lines.is_empty() || section.parts.iter().all(|part| is_persons(&part)) {
            sections.push(head);
            sections.extend(lines);
        }
    }
    missing.extend(sections);
    if missing.is_empty() {
        return None;
    }
    let end = match text {
        "" => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    Some(format!("{text}{end}## {SECTION}\n\n{}\n", missing.join("\n")))
}
