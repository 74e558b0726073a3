//! What of a plan belongs in the context of one task, as it is written there. Made from the plan alone.

use std::fmt::Write as _;

use sequester_core::context::{Kind, task_head};
use sequester_core::plan::{Plan, Task};
use sequester_core::report::Phase;

pub(super) fn own(plan: &Plan, task: &Task, phase: Phase) -> Vec<(Kind, String)> {
    let mut own = vec![
        (Kind::Task, task_head(&task.id, phase, &task.title)),
        // In one piece in the records of older runs.
        (Kind::Task, task.text.clone()),
        (Kind::Feature, plan.feature()),
    ];
    own.extend(task.pieces().map(|piece| (Kind::Task, piece.to_owned())));
    for parent in &task.parents {
        own.push((Kind::Parent, format!("{}\n\n{}", parent.title, parent.text)));
    }
    for constraint in &plan.constraints {
        let (label, text) = (&constraint.label, &constraint.text);
        let forms = [
            format!("- {text}\n"),
            format!("**{label}:**\n\n{text}\n\n"),
            format!("**{label}:** {text}\n\n"),
        ];
        own.extend(forms.map(|form| (Kind::Constraint, form)));
    }
    own.extend(task.constraints.iter().map(|text| (Kind::Constraint, format!("- {text}\n"))));
    own.extend(task.checks.iter().map(|check| (Kind::Constraint, format!("- `{check}`\n"))));
    // In the records of older runs hints stand among the files.
    for hints in [&[], &task.hints[..]] {
        let mut files = String::new();
        for file in task.files.iter().chain(hints.iter().map(|hint| &hint.0)) {
            let _ = writeln!(files, "- {} `{}`", file.action.as_str(), file.path);
        }
        own.push((Kind::Constraint, files));
    }
    let interfaces = &task.interfaces;
    for (name, list) in [("Consumes", &interfaces.consumes), ("Produces", &interfaces.produces)] {
        own.extend(list.iter().map(|text| (Kind::Interface, format!("- {name}: {text}\n"))));
    }
    own
}
