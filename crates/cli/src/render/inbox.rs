//! Questions as people read them.

use std::fmt::Write as _;

use sequester_core::run::Waiting;

use super::run::time;
use super::terminal::{clean, cut, fold};

/// What is to be known for an answer, below its question.
pub(super) fn details(text: Option<&str>) -> String {
    let mut out = String::new();
    for line in text.unwrap_or_default().lines() {
        let _ = writeln!(out, "{}", format!("    {line}").trim_end());
    }
    out
}

pub(crate) fn render(questions: &[Waiting], width: usize) -> String {
    let mut out = String::new();
    for (at, one) in questions.iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        let task = one.task.as_ref().map_or_else(String::new, |task| format!(", task {task}"));
        let phase = one.phase.map_or_else(String::new, |phase| format!(", {}", phase.as_str()));
        let asked = time(one.asked_at);
        let _ = writeln!(out, "{} (run {}{task}{phase}, asked {asked})", one.id, one.run);
        for line in one.question.lines() {
            let _ = writeln!(out, "  {line}");
        }
        out += &details(one.details.as_deref());
        for (number, option) in (1..).zip(&one.options) {
            let told = option.description.as_deref();
            let told = told.map(|text| format!(": {text}")).unwrap_or_default();
            let _ =
                writeln!(out, "    {number}. {}", cut(&(option.label.clone() + &told), usize::MAX));
        }
        if let Some(default) = &one.default {
            let when = one.deadline.map_or_else(String::new, |at| format!(" by {}", time(at)));
            let _ = writeln!(out, "  Without an answer{when}: {}", cut(default, usize::MAX));
        }
        let _ = writeln!(out, "  sequester answer {} TEXT", one.id);
    }
    fold(&clean(&out), width)
}
