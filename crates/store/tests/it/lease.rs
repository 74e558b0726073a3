//! One owner per run.

use std::fs;

use sequester_core::id::QuestionId;
use sequester_core::store::{ErrorKind, Letter, RunStore};
use sequester_store::Store;

use crate::child::Child;
use crate::fixture::{Place, all, append, batch, run, text};

#[test]
fn a_run_has_one_owner_until_its_lease_is_given_up() {
    let place = Place::new();
    let (store, other) = (place.open(), place.open());
    assert!(!store.is_held(&run("r")).unwrap());
    let lease = store.lease(&run("r")).unwrap();
    assert_eq!(lease.run(), &run("r"));
    for store in [&store, &other] {
        assert!(store.is_held(&run("r")).unwrap());
        let error = store.lease(&run("r")).err().unwrap();
        assert_eq!(error.kind, ErrorKind::Held);
        let wanted = format!("Process {} carries run `r` out.", std::process::id());
        assert_eq!(error.message, wanted);
    }
    let _second = other.lease(&run("../../second")).unwrap();
    drop(lease);
    assert!(!other.is_held(&run("r")).unwrap());
    let lease = other.lease(&run("r")).unwrap();
    append(&lease, batch(&["x"])).unwrap();
    assert!(Store::open_reading(&place.file()).unwrap().is_held(&run("r")).unwrap());
}

#[test]
fn a_lease_outlives_the_store_it_came_from() {
    let place = Place::new();
    let lease = place.open().lease(&run("r")).unwrap();
    append(&lease, batch(&["x"])).unwrap();
    assert_eq!(lease.letters(0).unwrap(), []);
    drop(lease);
    assert_eq!(all(&place.open(), "r").len(), 1);
}

#[test]
fn the_lease_of_another_process_ends_with_it_however_it_ends() {
    let place = Place::filled(1);
    let store = place.open();
    let mut child = Child::start(&["hold", place.file().to_str().unwrap(), "r"]);
    child.wait_for("held");
    assert!(store.is_held(&run("r")).unwrap());
    assert_eq!(store.lease(&run("r")).err().unwrap().kind, ErrorKind::Held);
    child.kill();
    assert!(!store.is_held(&run("r")).unwrap());
    append(&store.lease(&run("r")).unwrap(), batch(&["x"])).unwrap();
}

#[test]
fn who_lost_the_lock_unseen_cannot_write_any_more() {
    let place = Place::new();
    let store = place.open();
    let old = store.lease(&run("r")).unwrap();
    append(&old, batch(&["old"])).unwrap();
    fs::remove_dir_all(place.leases()).unwrap();
    let new = place.open().lease(&run("r")).unwrap();
    let error = append(&old, batch(&["late"])).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Held);
    assert_eq!(error.message, "Run `r` was taken over or removed by another process.");
    append(&new, batch(&["new"])).unwrap();
    assert_eq!(all(&store, "r").iter().map(text).collect::<Vec<_>>(), ["old", "new"]);
    // The end of the old one does not free the new one's lock.
    drop(old);
    assert!(store.is_held(&run("r")).unwrap());
}

#[test]
fn lock_files_go_with_their_leases() {
    let place = Place::new();
    let store = place.open();
    for at in 0..5 {
        drop(store.lease(&run(&at.to_string())).unwrap());
    }
    let left: Vec<_> =
        fs::read_dir(place.leases()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["gate"]);
}

#[test]
fn letters_reach_the_owner_once_each_and_in_order() {
    let place = Place::filled(1);
    let (store, other) = (place.open(), place.open());
    let lease = store.lease(&run("r")).unwrap();
    let answer = |text: &str| Letter::Answer {
        question: QuestionId::new("q"),
        answer: text.to_owned(),
        by: "somebody".to_owned(),
    };
    let cancel = Letter::Cancel { by: "somebody".to_owned() };
    other.post(&run("r"), &answer("yes")).unwrap();
    other.post(&run("r"), &cancel).unwrap();
    let letters = lease.letters(0).unwrap();
    assert_eq!(
        letters.iter().map(|(_, letter)| letter).collect::<Vec<_>>(),
        [&answer("yes"), &cancel]
    );
    let last = letters[1].0;
    assert_eq!(lease.letters(last).unwrap(), []);
    other.post(&run("r"), &answer("no")).unwrap();
    assert_eq!(lease.letters(last).unwrap(), [(last + 1, answer("no"))]);
    let error = other.post(&run("unheard of"), &cancel).unwrap_err();
    assert_eq!(error.kind, ErrorKind::NotFound);
}
