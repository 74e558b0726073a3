//! Heads are signed as they grow, and what is not what was signed is named.

use std::sync::Arc;

use sequester_core::store::{ErrorKind, Letter, RunStore};
use sequester_store::{Acceptance, Bundle, BundledCommit, HeadState, Options, Signer, Store};

use crate::fixture::{Place, append, batch, naming, run};

/// A signed store with a run of some events, closed again.
fn signed(count: usize) -> (Place, Signer) {
    let place = Place::new();
    let store = open(&place);
    let lease = store.lease(&run("r")).unwrap();
    for at in 0..count {
        append(&lease, batch(&[&format!("event {at}")])).unwrap();
    }
    append(&lease, naming(b"some bytes")).unwrap();
    drop((lease, store));
    let signer = signer(&place);
    (place, signer)
}

fn signer(place: &Place) -> Signer {
    Signer::load_or_create(&place.folder.path().join("keys")).unwrap()
}

fn open(place: &Place) -> Store {
    place.open_with(Options { signer: Some(Arc::new(signer(place))), ..Options::default() })
}

fn state(place: &Place) -> HeadState {
    Store::open_reading(&place.file()).unwrap().head_state(&run("r")).unwrap()
}

#[test]
fn every_head_is_signed_and_a_run_that_nobody_signed_is_not() {
    let (place, signer) = signed(3);
    assert_eq!(state(&place), HeadState::Signed { by: signer.key(), here: true });
    let store = open(&place);
    assert_eq!(store.foreign_runs(Some(signer.key())).unwrap(), []);
    assert_eq!(store.foreign_runs(None).unwrap().len(), 1);
    assert_eq!(state(&Place::filled(2)), HeadState::Unsigned);
}

#[test]
fn a_tail_that_was_cut_is_named_though_the_chain_fits() {
    let (place, _) = signed(5);
    place.sql(
        "DELETE FROM events WHERE seq > 3;
         UPDATE runs SET count = 3, hash = (SELECT hash FROM events WHERE seq = 3);",
    );
    let store = Store::open_reading(&place.file()).unwrap();
    assert_eq!(store.events(&run("r"), 0, usize::MAX).unwrap().len(), 3);
    assert_eq!(state(&place), HeadState::Broken { since: 4 });
    place.sql("UPDATE signatures SET count = 3, hash = (SELECT hash FROM events WHERE seq = 3)");
    assert_eq!(state(&place), HeadState::Broken { since: 1 });
    place.sql("DELETE FROM signatures");
    assert_eq!(state(&place), HeadState::Unsigned);
}

#[test]
fn a_store_that_moved_is_not_this_places_own() {
    let (place, signer) = signed(1);
    let other = Place::new();
    std::fs::create_dir(other.file().parent().unwrap()).unwrap();
    std::fs::copy(place.file(), other.file()).unwrap();
    assert_eq!(state(&other), HeadState::Signed { by: signer.key(), here: false });
}

#[test]
fn a_store_of_the_first_version_is_read_and_signed_when_it_is_accepted() {
    let place = Place::filled(2);
    place.sql("DROP TABLE signatures; PRAGMA user_version = 1;");
    assert_eq!(state(&place), HeadState::Unsigned);
    let store = open(&place);
    assert_eq!(store.foreign_runs(Some(signer(&place).key())).unwrap().len(), 1);
    assert_eq!(store.adopt().unwrap(), 1);
    assert_eq!(state(&place), HeadState::Signed { by: signer(&place).key(), here: true });
}

#[test]
fn what_somebody_else_recorded_stays_known_as_such() {
    let (place, first) = signed(2);
    let other = Arc::new(Signer::load_or_create(&place.folder.path().join("other")).unwrap());
    let store = place.open_with(Options { signer: Some(Arc::clone(&other)), ..Options::default() });
    assert_eq!(store.acceptance(&run("r")).unwrap(), None);
    store.adopt().unwrap();
    let lease = store.lease(&run("r")).unwrap();
    append(&lease, batch(&["more"])).unwrap();
    let accepted = Some(Acceptance { events: 3, recorded_by: Some(first.key()) });
    assert_eq!(store.acceptance(&run("r")).unwrap(), accepted);
    assert_eq!(store.adopt().unwrap(), 1);
    assert_eq!(store.acceptance(&run("r")).unwrap(), accepted, "one's own is accepted again");
    let mut bytes = Vec::new();
    store.draft_bundle(&run("r")).unwrap().write(&[], &mut bytes).unwrap();
    let bundle = Bundle::read(&bytes).unwrap();
    assert_eq!((bundle.signer, bundle.accepted), (Some(other.key()), accepted));
    drop((lease, store));
    place.sql("UPDATE signatures SET accepted = ''");
    assert_eq!(state(&place), HeadState::Broken { since: 1 });
}

#[test]
fn what_is_damaged_is_not_accepted() {
    let place = Place::filled(3);
    place.sql("UPDATE events SET body = replace(body, 'event 1', 'event 9') WHERE seq = 2");
    assert_eq!(open(&place).adopt().unwrap_err().kind, ErrorKind::Damaged);
    assert_eq!(state(&place), HeadState::Unsigned);
}

#[test]
fn a_name_that_is_no_id_is_refused_wherever_it_is_read() {
    let (place, _) = signed(1);
    place.sql("UPDATE runs SET name = '../../x'");
    let store = open(&place);
    for error in [
        store.runs().unwrap_err(),
        store.gc(&sequester_store::Rule::Named(Vec::new())).unwrap_err(),
    ] {
        assert!(error.message.contains("no id of a run"), "{error}");
    }
}

#[test]
fn words_that_somebody_else_left_are_passed_over() {
    let (place, _) = signed(1);
    let store = open(&place);
    let letter = Letter::Cancel { by: "me".to_owned() };
    store.post(&run("r"), &letter).unwrap();
    place.sql(
        "INSERT INTO letters (run, body) SELECT run, substr(body, instr(body, '{')) FROM letters;
           INSERT INTO letters (run, body) SELECT run, replace(body, 'me', 'you') FROM letters;",
    );
    let lease = store.lease(&run("r")).unwrap();
    let found: Vec<Letter> = lease.letters(0).unwrap().into_iter().map(|(_, one)| one).collect();
    assert_eq!(found, [letter]);
}

#[test]
fn any_changed_byte_of_a_bundle_is_named() {
    let (place, signer) = signed(2);
    let mut bytes = Vec::new();
    let commits = [BundledCommit { commit: "c".to_owned(), object: "tree\n".to_owned() }];
    open(&place).draft_bundle(&run("r")).unwrap().write(&commits, &mut bytes).unwrap();
    let whole = Bundle::read(&bytes).unwrap();
    assert_eq!((whole.signer, whole.faults), (Some(signer.key()), Vec::<String>::new()));
    assert_eq!((whole.events.len(), whole.blobs.len(), whole.commits.len()), (3, 1, 1));
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 7);
        let faults = Bundle::read(&changed).map_or(1, |read| read.faults.len());
        assert!(faults > 0, "byte {at}");
        // Not more than one byte can do: what is behind it is still read, unless lines are joined or parted.
        let is_line = bytes[at] == b'\n' || changed[at] == b'\n';
        assert!(is_line || faults <= 5, "byte {at}: {faults}");
    }
    for cut in 0..bytes.len() {
        let read = Bundle::read(&bytes[..cut]);
        assert!(read.is_err() || !read.unwrap().faults.is_empty(), "cut at {cut}");
    }
}

#[test]
fn a_bundle_that_was_made_to_fit_again_lacks_its_signature() {
    let (place, _) = signed(4);
    place.sql(
        "DELETE FROM events WHERE seq > 2;
         UPDATE runs SET count = 2, hash = (SELECT hash FROM events WHERE seq = 2);",
    );
    let mut bytes = Vec::new();
    open(&place).draft_bundle(&run("r")).unwrap().write(&[], &mut bytes).unwrap();
    let read = Bundle::read(&bytes).unwrap();
    assert_eq!(read.signer, None);
    assert_eq!(read.faults, ["The signature does not hold since event 3."]);
}
