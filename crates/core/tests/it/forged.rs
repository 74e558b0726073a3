//! Records in contexts that nobody left so.

use sequester_audit::Rule;
use sequester_core::agent::{Kept, Left};
use sequester_core::context::{IsolatedContext, Kind, Row, Rule as Admitted};
use sequester_core::report::{Artifact, Label};

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

/// With artifacts of several types, which each attempt leaves.
fn grouped(change: impl Fn(IsolatedContext) -> IsolatedContext + 'static) -> Recording {
    let context = move |id: &str, context| if id == "stamps" { change(context) } else { context };
    let left = |id: &str, label, content: &str| {
        let (content, relevance, refs) = (content.to_owned(), None, Vec::new());
        Left { id: id.to_owned(), artifact: Artifact { label, content, relevance, refs } }
    };
    let kept = move |id: &str| {
        let artifacts = if id == "letter" {
            vec![
                left("resource-1", Label::Resource, "The stamps lie in a drawer."),
                left("decision-1", Label::Decision, "Letters go by train."),
                left("decision-2", Label::Decision, "Parcels go by ship."),
            ]
        } else {
            Vec::new()
        };
        Kept { artifacts, ..Kept::default() }
    };
    let (context, kept) = (Box::new(context), Box::new(kept));
    record(&Script { context, kept, ..Script::default() })
}

#[test]
fn artifacts_stand_under_headings_of_their_types_and_are_proved() {
    let recording = grouped(|context| {
        let prompt = &context.prompt;
        let place = |text: &str| prompt.find(text).unwrap_or_else(|| panic!("{text}: {prompt}"));
        let order = [
            "# From earlier work\n\n",
            "letter/summary\n",
            "## Decisions\n\nAn artifact, quoted:\n",
            "Letters go by train.",
            "## Resources\n\nAn artifact, quoted:\n",
            "The stamps lie in a drawer.",
        ];
        assert!(order.map(place).is_sorted(), "{prompt}");
        assert_eq!(prompt.matches("## Decisions").count(), 1, "{prompt}");
        let headings = context.manifest.fragments.iter().filter(|row| {
            row.kind == Kind::Frame && prompt[row.start..row.end].starts_with("## Deci")
        });
        assert_eq!(headings.count(), 1, "a heading is a fragment of its own");
        context
    });
    assert_eq!(broken(&recording), []);
}

#[test]
fn an_artifact_under_the_heading_of_another_type_is_found() {
    let recording = grouped(|context| {
        let context = replaced(context, "## Decisions", "## Xesources");
        let context = replaced(context, "## Resources", "## Decisions");
        replaced(context, "## Xesources", "## Resources")
    });
    finds(&recording, "stamps", Rule::Fragment);
}

#[test]
fn headings_without_artifacts_are_found() {
    let recording = shown(|context| replaced(context, "\n\n## Feature\n\n", "## Resources\n\n"));
    finds(&recording, "stamps", Rule::Fragment);
}
