//! When records were recorded.

use sequester_core::agent::{Kept, Left};
use sequester_core::context::Share;
use sequester_core::digest::Digest;
use sequester_core::moment::Moment;
use sequester_core::recall::Relevance;
use sequester_core::record::{Catalogue, Seeker};
use sequester_core::report::{Artifact, Label, Phase};
use sequester_core::run::{Ended, Event};
use serde_json::json;

use super::{Deed, Told, begun, written};

fn leaving(id: &str, label: Label) -> Kept {
    let (content, relevance, refs) = (format!("About {id}."), None, Vec::new());
    let artifact = Artifact { label, content, relevance, refs };
    Kept { artifacts: vec![Left { id: id.to_owned(), artifact }], ..Kept::default() }
}

#[test]
fn an_artifact_has_the_time_of_its_own_attempt_and_a_summary_that_of_the_last() {
    let mut told = Told::new(begun(&[vec![]], Share::Needs, Relevance::Words));
    let mut found = written("t0", "The lantern is lit.");
    found["phase"] = json!("research");
    let none: [&str; 0] = [];
    found["findings"] = json!({
        "existing_implementations": none, "conflicts": none, "patterns_found": none,
        "recommendations": none,
    });
    let write = Deed {
        step: "write",
        phase: Phase::Write,
        from: None,
        tree: Some("one"),
        touches: &["src/a.rs"],
        report: written("t0", "The lantern is lit."),
    };
    told.kept = leaving("finding-1", Label::Finding);
    let (step, phase) = ("research", Phase::Research);
    let research = Deed { step, phase, from: None, tree: None, touches: &[], report: found };
    told.attempt("t0", 1, &research);
    told.kept = leaving("decision-1", Label::Decision);
    told.attempt("t0", 2, &write);
    told.end("t0", Ended::Done, "one");
    let is_end = |event: &Event| matches!(event, Event::AttemptEnded(_));
    let ends = told.events.iter().filter(|one| is_end(&one.entry.event)).map(|one| one.at);
    let [first, second] = ends.collect::<Vec<Moment>>().try_into().unwrap();

    let (run, mut catalogue) = (told.state(), Catalogue::default());
    let person = Seeker::person(&run);
    let read = |digest: &Digest| told.blobs.get(digest).cloned().ok_or(());
    catalogue.fill(&catalogue.missing(&run, &person), read).unwrap();
    let all = catalogue.all(&person);
    let times: Vec<_> = all.iter().map(|one| (&*one.record.id, one.at)).collect();
    let wanted = [
        ("t0/summary", Some(second)),
        ("t0/finding-1", Some(first)),
        ("t0/decision-1", Some(second)),
    ];
    assert_eq!(times, wanted);
}
