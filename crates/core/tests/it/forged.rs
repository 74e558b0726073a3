//! Records in contexts that nobody left so.

use sequester_core::audit::Rule;
use sequester_core::context::{IsolatedContext, Kind, Row, Rule as Admitted};

use crate::audit::{broken, finds, record};
use crate::recording::{Recording, Script};

fn shown(change: impl Fn(IsolatedContext) -> IsolatedContext + 'static) -> Recording {
    // It needs `letter`, and nothing else.
    let context = move |id: &str, context| if id == "stamps" { change(context) } else { context };
    record(&Script { context: Box::new(context), ..Script::default() })
}

fn the_record(context: &IsolatedContext) -> usize {
    let mut rows = context.manifest.fragments.iter();
    rows.position(|row| row.kind == Kind::Record).unwrap()
}

fn replaced(mut context: IsolatedContext, from: &str, to: &str) -> IsolatedContext {
    assert_eq!(from.len(), to.len(), "offsets stay as they are");
    assert!(context.prompt.contains(from), "{}", context.prompt);
    context.prompt = context.prompt.replace(from, to);
    context.digest = IsolatedContext::digest_of(&context.system, &context.prompt);
    context
}

#[test]
fn records_that_were_left_so_are_proved() {
    let recording = shown(|context| {
        let row: &Row = &context.manifest.fragments[the_record(&context)];
        assert_eq!(row.source, "record letter/summary of task letter");
        context
    });
    assert_eq!(broken(&recording), []);
    let unproved = recording.audit().unproved;
    assert!(unproved.iter().all(|line| !line.contains("record")), "{unproved:?}");
}

#[test]
fn a_record_with_another_word_is_found() {
    let recording = shown(|context| replaced(context, "asked for stands", "asked for burned"));
    finds(&recording, "stamps", Rule::Fragment);
}

#[test]
fn a_record_under_another_name_is_found() {
    let recording = shown(|mut context| {
        let at = the_record(&context);
        context.manifest.fragments[at].source = "record letter/note of task letter".to_owned();
        context
    });
    finds(&recording, "stamps", Rule::Fragment);
}

#[test]
fn a_record_of_a_task_that_it_does_not_need_is_found() {
    let recording = shown(|mut context| {
        let at = the_record(&context);
        context.manifest.fragments[at].source = "record parser/summary of task parser".to_owned();
        context
    });
    finds(&recording, "stamps", Rule::Fragment);
}

#[test]
fn a_record_by_a_rule_that_the_run_does_not_have_is_found() {
    let recording = shown(|mut context| {
        let at = the_record(&context);
        context.manifest.fragments[at].rule = Admitted::EarlierWave;
        context
    });
    finds(&recording, "stamps", Rule::Fragment);
}
