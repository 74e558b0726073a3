//! What comes from neither plan nor repository is judged by what was recorded of it.

use sequester_audit::Rule;
use sequester_core::context::{IsolatedContext, Kind, Manifest, Part};
use sequester_core::run::Event;

use crate::audit::{FOREIGN, broken, finds, record};
use crate::recording::{SPEC, Script};

#[test]
fn words_of_another_task_that_come_by_a_document_beside_the_plan_are_found() {
    let spec = |id: &str| {
        if id == "letter" { format!("{SPEC}\nMind that {FOREIGN}.\n") } else { SPEC.to_owned() }
    };
    let recording = record(&Script { spec: Box::new(spec), ..Script::default() });
    finds(&recording, "letter", Rule::Fragment);
    finds(&recording, "letter", Rule::Leak);
}

#[test]
fn words_of_another_task_that_come_by_the_agent_are_found() {
    let context = |id: &str, context: IsolatedContext| {
        if id == "letter" {
            with_agent(context, &format!("Mind that {FOREIGN}.\n"))
        } else {
            context
        }
    };
    let recording = record(&Script { context: Box::new(context), ..Script::default() });
    assert!(broken(&recording).contains(&("letter".to_owned(), Rule::Leak)));
}

#[test]
fn an_agent_whose_words_were_edited_between_attempts_is_no_breach() {
    let words = "You write, and mind the order of things.\n";
    let context = |id: &str, context: IsolatedContext| {
        if id == "stamps" { with_agent(context, words) } else { context }
    };
    let mut recording = record(&Script { context: Box::new(context), ..Script::default() });
    assert!(!broken(&recording).is_empty());
    for recorded in &mut recording.events {
        let is_it = recorded.entry.scope.task.as_ref().is_some_and(|id| id.as_str() == "stamps");
        if let Event::AttemptStarted(started) = &mut recorded.entry.event
            && is_it
        {
            started.sources.as_mut().unwrap().agent =
                recording.kept.keep_bytes(words.as_bytes().to_vec());
        }
    }
    assert_eq!(broken(&recording), []);
}

/// The same with other words of its agent.
fn with_agent(context: IsolatedContext, words: &str) -> IsolatedContext {
    let mut rows = context.manifest.fragments.clone();
    let at = rows.iter().position(|row| row.kind == Kind::Agent).unwrap();
    let (start, end) = (rows[at].start, rows[at].end);
    let system = format!("{}{words}{}", &context.system[..start], &context.system[end..]);
    for row in rows.iter_mut().filter(|row| row.part == Part::System && row.start >= end) {
        row.start = row.start + words.len() - (end - start);
        row.end = row.end + words.len() - (end - start);
    }
    rows[at].end = start + words.len();
    let manifest = Manifest { fragments: rows, ..context.manifest };
    let digest = IsolatedContext::digest_of(&system, &context.prompt);
    IsolatedContext { system: system.into(), manifest, digest, ..context }
}
