//! Where the texts of tasks stand in their plan's file.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Plan;
use crate::id::TaskId;

/// For what is told to a person, and to nobody else: the number of a line depends on all that stands above it in the plan, which no
/// subagent may know of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Whereabouts {
    file: String,
    /// The line of the plan before the first one of each text.
    before: BTreeMap<TaskId, usize>,
}

impl Whereabouts {
    /// Of a plan that was read from `source`. A text that was put together stands nowhere, and neither does a plan without a file.
    pub fn of(file: &str, source: &[u8], plan: &Plan) -> Self {
        let source = source.strip_prefix(b"\xef\xbb\xbf").unwrap_or(source);
        let mut before = BTreeMap::new();
        let (mut at, mut lines) = (0, 0);
        for task in &plan.tasks {
            let stands = source.get(task.span.clone()) == Some(task.text.as_bytes());
            if file.is_empty() || !stands || task.span.start < at {
                continue;
            }
            let between = &source[at..task.span.start];
            lines += between.split(|byte| *byte == b'\n').count() - 1;
            at = task.span.start;
            before.insert(task.id.clone(), lines);
        }
        Self { file: file.to_owned(), before }
    }

    /// What `literal` said of a task, whose lines are those of the task's text, with the plan's lines.
    pub fn place(&self, task: &TaskId, said: &str) -> String {
        let Some(before) = self.before.get(task) else { return said.to_owned() };
        let mut parts = said.split("Line ");
        let mut told = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let digits = part.bytes().take_while(u8::is_ascii_digit).count();
            let (number, rest) = part.split_at(digits);
            let is_place = told.is_empty() || told.ends_with(". ");
            let is_place = is_place && (rest.starts_with(':') || rest.starts_with(" (\""));
            match number.parse::<usize>() {
                Ok(number) if is_place => {
                    let line = before + number;
                    let _ = write!(told, "Line {line} of `{}`{rest}", self.file);
                }
                _ => told.extend(["Line ", part]),
            }
        }
        told
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Options, parse};
    use super::*;

    #[test]
    fn lines_of_a_tasks_text_are_told_as_lines_of_the_plan() {
        let source = "---\nsequester: 1\n---\n# P\n\n## [a] One\n\nFirst.\n\n## [b] Two\n\nSecond.\nThird.\n";
        let plan = parse(source.as_bytes(), &Options::default()).plan;
        let where_it_is = Whereabouts::of("plan.md", source.as_bytes(), &plan);
        let place = |task: &str, said: &str| where_it_is.place(&task.into(), said);
        assert_eq!(place("a", "Line 1: it is unclear."), "Line 8 of `plan.md`: it is unclear.");
        let said = "Not every step can be. Line 1 (\"Second\"): no. Line 2: Line 9: no.";
        let told = "Not every step can be. Line 12 of `plan.md` (\"Second\"): no. Line 13 of `plan.md`: Line 9: no.";
        assert_eq!(place("b", said), told);
        assert_eq!(place("c", "Line 1: it is unclear."), "Line 1: it is unclear.");
        let nowhere = Whereabouts::of("", source.as_bytes(), &plan);
        assert_eq!(nowhere.place(&"a".into(), "Line 1: no."), "Line 1: no.");
    }
}
