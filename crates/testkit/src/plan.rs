//! Plans in the native format, written by code.

use std::fmt::Write as _;

/// The text of a plan under construction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanText {
    pub title: String,
    pub constraints: Vec<String>,
    /// Prose before the first task, which no task may see.
    pub prose: String,
    pub tasks: Vec<TaskText>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskText {
    pub id: String,
    pub title: String,
    pub text: String,
    pub needs: Vec<String>,
    pub modify: Vec<String>,
    pub create: Vec<String>,
    pub constraints: Vec<String>,
    pub produces: Vec<String>,
}

impl PlanText {
    /// The document as a person would have written it.
    pub fn write(&self) -> String {
        let mut out = String::from("---\nsequester: 1\n");
        if !self.constraints.is_empty() {
            let _ = writeln!(out, "constraints: {}", list(&self.constraints));
        }
        let _ = write!(out, "---\n# {}\n\n{}\n\n", self.title, self.prose);
        for task in &self.tasks {
            let _ = write!(out, "## [{}] {}\n\n```task\n", task.id, task.title);
            let _ = writeln!(out, "needs: {}", list(&task.needs));
            let _ = writeln!(
                out,
                "files: {{create: {}, modify: {}}}",
                list(&task.create),
                list(&task.modify)
            );
            let _ = writeln!(out, "constraints: {}", list(&task.constraints));
            let _ = writeln!(out, "produces: {}", list(&task.produces));
            let _ = write!(out, "```\n\n{}\n\n", task.text);
        }
        out
    }
}

fn list(items: &[String]) -> String {
    let quoted: Vec<String> = items.iter().map(|item| format!("{item:?}")).collect();
    format!("[{}]", quoted.join(", "))
}
