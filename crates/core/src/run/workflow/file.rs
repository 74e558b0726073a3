//! A workflow's file.

mod phases;

use super::{Step, Workflow};
use crate::check::Kind;
use crate::fault::{Code, Fault};
use crate::plan::yaml::{Node, Value};
use crate::report::Complexity;
use crate::source::{Reader, Source};

const KEYS: [&str; 4] = ["name", "description", "phases", "steps"];
const STEP_KEYS: [&str; 7] = ["id", "agent", "phase", "needs", "when", "retries", "check"];
/// More is a mistake, or meant to cost a fortune.
const STEPS: usize = 32;
const RETRIES: u32 = 10;

pub(super) fn read(source: &Source) -> Result<Workflow, Vec<Fault>> {
    let text = source.body();
    let mut reader = Reader::new(text, 0, Code::BadWorkflow);
    let mut workflow = Workflow::default();
    let Some(entries) = reader.entries(text) else { return reader.finish(None) };
    for (at, key, node) in entries {
        match key.as_str() {
            "name" => workflow.name = reader.text("name", &node).unwrap_or_default(),
            "description" => {
                workflow.description = reader.text("description", &node).unwrap_or_default();
            }
            "phases" => workflow.phases = phases::read(&mut reader, node),
            "steps" => read_steps(&mut reader, node, &mut workflow.steps),
            _ => reader.unknown(at, &key, &KEYS),
        }
    }
    if workflow.name.is_empty() {
        reader.bad(0, "A workflow needs a name.", "Write `name: ...`.");
    }
    if workflow.steps.is_empty() {
        reader.bad(0, "A workflow needs steps.", "Write `steps: [{id: write, agent: writer}]`.");
    }
    phases::check(&mut reader, &workflow);
    reader.finish(Some(workflow))
}

fn read_steps(reader: &mut Reader<'_>, node: Node, steps: &mut Vec<Step>) {
    let hint = "Write `steps: [{id: write, agent: writer}]`.";
    let Value::List(nodes) = node.value else {
        return reader.bad(node.at, "`steps` must be a list.", hint);
    };
    if nodes.len() > STEPS {
        let message = format!("A workflow has at most {STEPS} steps.");
        return reader.bad(node.at, message, "Split the task instead.");
    }
    for node in nodes {
        let at = node.at;
        let Value::Map(entries) = node.value else {
            reader.bad(at, "A step must be keys and values.", hint);
            continue;
        };
        let mut step = Step::default();
        for (at, key, node) in entries {
            set(reader, &mut step, steps, at, &key, node);
        }
        check(reader, &step, steps, at);
        steps.push(step);
    }
}

fn set(
    reader: &mut Reader<'_>,
    step: &mut Step,
    before: &[Step],
    at: usize,
    key: &str,
    node: Node,
) {
    match key {
        "id" => step.id = reader.text(key, &node).unwrap_or_default(),
        "agent" => step.agent = reader.text(key, &node),
        "phase" => step.phase = reader.text(key, &node),
        "needs" => {
            let mut needs = Vec::new();
            for (at, need) in reader.texts(key, node) {
                if !before.iter().any(|one| one.id == need) {
                    let message = format!("No step before this one is called `{need}`.");
                    reader.bad(at, message, "Steps need earlier steps.");
                }
                needs.push(need);
            }
            step.needs = Some(needs);
        }
        "when" => {
            let text = reader.text(key, &node).unwrap_or_default();
            step.when = match text.as_str() {
                "simple" => Some(Complexity::Simple),
                "complex" => Some(Complexity::Complex),
                _ => {
                    let hint = "Write `when: simple` or `when: complex`.";
                    reader.bad(node.at, "`when` is what an analysis finds.", hint);
                    None
                }
            };
        }
        "retries" => {
            let text = reader.text(key, &node).unwrap_or_default();
            if let Some(retries) = text.parse().ok().filter(|retries| *retries <= RETRIES) {
                (step.retries, step.once) = (retries, retries == 0);
            } else {
                let message = format!("`retries` is a number from 0 to {RETRIES}.");
                reader.bad(node.at, message, "Write `retries: 1`.");
            }
        }
        "check" => {
            for (at, kind) in reader.texts(key, node) {
                match Kind::parse(&kind) {
                    Some(kind) => step.check.push(kind),
                    None => reader.bad(
                        at,
                        format!("`{kind}` is no kind of check."),
                        "Write some of `types`, `lint`, `tests` and `security`.",
                    ),
                }
            }
        }
        _ => reader.unknown(at, key, &STEP_KEYS),
    }
}

/// What only the whole step shows.
fn check(reader: &mut Reader<'_>, step: &Step, before: &[Step], at: usize) {
    if step.id.is_empty() {
        reader.bad(at, "A step needs an id.", "Write `id: ...`.");
    } else if before.iter().any(|one| one.id == step.id) {
        let message = format!("The id `{}` is taken.", step.id);
        reader.bad(at, message, "Give each step an id of its own.");
    }
    if step.agent.is_some() != step.check.is_empty() {
        let message = "A step has either an agent or checks.";
        reader.bad(at, message, "Write `agent: writer` or `check: [tests]`.");
    }
}
