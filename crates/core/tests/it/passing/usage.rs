//! Which records count as used.

use sequester_core::agent::Kept;
use sequester_core::context::Share;
use sequester_core::digest::Digest;
use sequester_core::recall::Relevance;
use sequester_core::record::{Catalogue, Seeker};
use sequester_core::report::Phase;
use sequester_core::run::Ended;

use super::{Deed, Told, begun, written};

/// How often the first task's summary was used by the second one.
fn uses(recalled: &[&str], said: &str, touches: &[&str]) -> u32 {
    let mut told = Told::new(begun(&[vec![], vec![0]], Share::Needs, Relevance::Words));
    told.done("t0", "The lantern is lit.");
    let recalled = recalled.iter().map(|id| (*id).to_owned()).collect();
    told.kept = Kept { recalled, ..Kept::default() };
    let deed = Deed {
        step: "write",
        phase: Phase::Write,
        from: None,
        tree: Some("tree of t1"),
        touches,
        report: written("t1", said),
    };
    told.attempt("t1", 1, &deed);
    told.end("t1", Ended::Done, "tree of t1");
    let (run, mut catalogue) = (told.state(), Catalogue::default());
    let person = Seeker::person(&run);
    let read = |digest: &Digest| told.blobs.get(digest).cloned().ok_or(());
    catalogue.fill(&catalogue.missing(&run, &person), read).unwrap();
    catalogue.all(&person)[0].uses
}

#[test]
fn a_record_that_was_recalled_is_used_where_it_is_cited_or_its_files_are_touched() {
    let id = ["t0/summary"];
    assert_eq!(uses(&id, "As t0/summary says.", &["src/t1.rs"]), 1);
    assert_eq!(uses(&id, "By its own wits.", &["src/t0.rs"]), 1);
    assert_eq!(uses(&id, "By its own wits.", &["src/t1.rs"]), 0);
    assert_eq!(uses(&[], "As t0/summary says.", &["src/t0.rs"]), 0, "it never saw the record");
}
