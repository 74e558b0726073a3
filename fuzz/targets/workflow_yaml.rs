//! A workflow of a repository: its steps need only earlier steps, and its faults lie in the file.
#![no_main]

use std::collections::BTreeSet;

use libfuzzer_sys::fuzz_target;
use sequester_core::report::Phase;
use sequester_core::run::Workflows;
use sequester_core::source::{Origin, Source};
use sequester_fuzz::assert_inside;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let source = Source {
        origin: Origin::Repository("workflows/own.yaml".to_owned()),
        text: text.to_owned(),
    };
    let known = Workflows::read(std::slice::from_ref(&source));
    assert_eq!(known, Workflows::read(&[source]));
    for one in known.faults() {
        assert_inside(text, one.fault.place, &one.fault.message);
    }
    for own in known.iter().filter(|one| known.origin(&one.name).is_some()) {
        assert!(known.faults().is_empty());
        let mut ids = BTreeSet::new();
        for step in &own.steps {
            assert!(step.needs().iter().all(|need| ids.contains(need)), "{own:?}");
            assert!(ids.insert(step.id.clone()), "{own:?}");
        }
        let phase = |agent: &str| sequester_core::agent::find(agent).map(|role| role.phase);
        let completed = own.completed(phase);
        assert_eq!(completed.completed(phase), completed);
        let _ = own.in_two_stages(|agent| phase(agent) == Some(Phase::Write));
        for at in 0..own.steps.len() {
            let side = own.side_by_side(at, |at| own.steps[at].agent.as_deref().and_then(phase));
            assert!(side.end <= own.steps.len());
        }
        let kept = serde_json::to_string(own).expect("a workflow that cannot be kept");
        assert_eq!(
            serde_json::from_str::<sequester_core::run::Workflow>(&kept).ok().as_ref(),
            Some(own)
        );
    }
});
