//! Lines of a run's log: an event is written as it was read, and a log that folds can be shown.
#![no_main]

use std::collections::{BTreeMap, BTreeSet};

use libfuzzer_sys::fuzz_target;
use sequester_core::run::{Now, Recorded, RunState, RunView, decide, sentence};

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut events: Vec<Recorded> = Vec::new();
    for line in text.lines() {
        let Ok(mut event) = serde_json::from_str::<Recorded>(line) else { continue };
        let kept = serde_json::to_string(&event).expect("an event that cannot be kept");
        let back: Recorded =
            serde_json::from_str(&kept).expect("an event that cannot be read back");
        assert_eq!(back, event);
        sentence(&event.entry.event);
        // As the store hands them out: numbered without gaps, all of one run.
        event.seq = events.len() as u64 + 1;
        if let Some(first) = events.first() {
            event.run = first.run.clone();
        }
        events.push(event);
    }
    let Ok(state) = RunState::replay(&events) else { return };
    assert_eq!(RunState::replay(&events).as_ref(), Ok(&state));
    let kept = serde_json::to_string(&state).expect("a state that cannot be kept");
    assert_eq!(serde_json::from_str::<RunState>(&kept).ok().as_ref(), Some(&state));
    for live in [false, true] {
        let view = RunView::of(&state, live);
        assert_eq!(view.tasks.len(), state.tasks.len());
    }
    let (busy, stuck) = (BTreeMap::new(), BTreeSet::new());
    let now = || Now { at: state.at, jobs: 4, busy: &busy, stuck: &stuck, stopping: false };
    assert_eq!(decide(&state, now()), decide(&state, now()));
});
