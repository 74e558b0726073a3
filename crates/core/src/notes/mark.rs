//! The lines above and below what a subagent wrote.

use super::Author;
use crate::digest::Digest;
use crate::id::{RunId, TaskId};

/// `<!-- note 7 by task "a" of run "k3x" 0123456789abcdef -->`
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// Counts up within the file: the lowest is the oldest.
    pub(super) number: u64,
    pub(super) run: RunId,
    pub(super) task: TaskId,
    check: String,
}

const CHECK: usize = 16;
const END: &str = "<!-- end of note ";

/// Whether a line is one that stands above or below what a subagent wrote.
pub(super) fn is_mark(line: &str) -> bool {
    Mark::parse(line).is_some() || is_end(line)
}

pub(super) fn is_end(line: &str) -> bool {
    let number = line.trim_end().strip_prefix(END).and_then(|rest| rest.strip_suffix(" -->"));
    number.is_some_and(|number| number.parse::<u64>().is_ok())
}

impl Mark {
    pub(super) fn of(number: u64, run: &RunId, task: &TaskId, body: &str) -> Self {
        Self { number, run: run.clone(), task: task.clone(), check: check(run, task, body) }
    }

    pub(super) fn parse(line: &str) -> Option<Self> {
        let inner = line.trim_end().strip_prefix("<!-- note ")?.strip_suffix(" -->")?;
        let (number, rest) = inner.split_once(" by task ")?;
        let (rest, check) = rest.rsplit_once(' ')?;
        let (task, run) = rest.rsplit_once(" of run ")?;
        // As JSON: an id is whatever a plan says, and a mark is one line.
        let read = |text: &str| serde_json::from_str::<String>(text).ok();
        Some(Self {
            number: number.parse().ok()?,
            run: RunId::new(read(run)?),
            task: TaskId::new(read(task)?),
            check: check.to_owned(),
        })
    }

    pub(super) fn author(&self) -> Author {
        Author::Task { run: self.run.clone(), task: self.task.clone() }
    }

    pub(super) fn fits(&self, body: &str) -> bool {
        self.check == check(&self.run, &self.task, body)
    }

    /// The line below its words, without the line's end: what a person adds there is theirs, and leaves these words as they are.
    pub(super) fn end(&self) -> String {
        format!("{END}{} -->", self.number)
    }

    pub(super) fn is_ended_by(&self, line: &str) -> bool {
        line.trim_end() == self.end()
    }

    /// With the line's end.
    pub(super) fn line(&self) -> String {
        let quoted = |id: &str| serde_json::Value::from(id).to_string();
        let (task, run) = (quoted(self.task.as_str()), quoted(self.run.as_str()));
        format!("<!-- note {} by task {task} of run {run} {} -->\n", self.number, self.check)
    }
}

/// Editors strip blanks at the ends of lines and change how lines end: that is nobody's edit.
fn check(run: &RunId, task: &TaskId, body: &str) -> String {
    let lines: Vec<&str> = body.lines().map(str::trim_end).collect();
    let body = lines.join("\n");
    let said = format!("{run}\0{task}\0{}", body.trim_matches('\n'));
    Digest::of(said.as_bytes()).as_str().chars().take(CHECK).collect()
}
