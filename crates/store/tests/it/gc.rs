//! Making room, and never at the cost of a run that lives.

use std::fs;

use sequester_core::digest::Digest;
use sequester_core::moment::Moment;
use sequester_core::store::{Batch, ErrorKind, Letter, RunStore};
use sequester_store::{Collected, Rule, Store, Which};

use crate::child::Child;
use crate::fixture::{Place, all, append, append_at, batch, end, naming, run};

fn ended(store: &Store, name: &str, at: u64) {
    let lease = store.lease(&run(name)).unwrap();
    append_at(&lease, at, batch(&["work"])).unwrap();
    append_at(&lease, at, Batch { entries: vec![end()], blobs: Vec::new() }).unwrap();
}

#[test]
fn old_runs_that_ended_go_and_the_others_stay() {
    let place = Place::new();
    let store = place.open();
    ended(&store, "old", 100);
    append_at(&store.lease(&run("parked")).unwrap(), 100, batch(&["work"])).unwrap();
    ended(&store, "young", 900);
    ended(&store, "taken-up-again", 100);
    append_at(&store.lease(&run("taken-up-again")).unwrap(), 100, batch(&["more"])).unwrap();
    drop(store.lease(&run("never-wrote")).unwrap());
    let collected = store.gc(&Rule::Before(Moment(500), Which::Ended)).unwrap();
    assert_eq!(collected.runs, ["old", "never-wrote"].map(run));
    assert_eq!(store.runs().unwrap(), ["taken-up-again", "young", "parked"].map(run));
    let collected = store.gc(&Rule::Before(Moment(500), Which::All)).unwrap();
    assert_eq!(collected.runs, ["parked", "taken-up-again"].map(run));
    assert_eq!(store.runs().unwrap(), [run("young")]);
}

#[test]
fn blobs_go_with_the_last_run_that_names_them() {
    let place = Place::new();
    let store = place.open();
    let (lease, other) = (store.lease(&run("a")).unwrap(), store.lease(&run("b")).unwrap());
    append(&lease, naming(b"shared")).unwrap();
    append(&lease, naming(b"own")).unwrap();
    // It names the bytes without bringing them.
    append(&other, Batch { blobs: Vec::new(), ..naming(b"shared") }).unwrap();
    drop((lease, other));
    let collected = store.gc(&Rule::Named(vec![run("a")])).unwrap();
    assert_eq!((collected.runs, collected.blobs), (vec![run("a")], 1));
    assert_eq!(store.blob(&Digest::of(b"shared")).unwrap(), b"shared");
    assert_eq!(store.blob(&Digest::of(b"own")).unwrap_err().kind, ErrorKind::NotFound);
    assert_eq!(store.gc(&Rule::Named(vec![run("b")])).unwrap().blobs, 1);
    assert_eq!(store.blob(&Digest::of(b"shared")).unwrap_err().kind, ErrorKind::NotFound);
}

#[test]
fn a_run_that_is_held_is_never_touched() {
    let place = Place::new();
    let store = place.open();
    let lease = store.lease(&run("r")).unwrap();
    append(&lease, naming(b"bytes")).unwrap();
    let collected = store.gc(&Rule::Before(Moment(u64::MAX), Which::All)).unwrap();
    assert_eq!(collected, Collected { held: vec![run("r")], ..Collected::default() });
    let named = store.gc(&Rule::Named(vec![run("r")])).unwrap();
    assert_eq!(named.held, [run("r")]);
    assert_eq!(all(&store, "r").len(), 1);
    assert_eq!(store.blob(&Digest::of(b"bytes")).unwrap(), b"bytes");
    append(&lease, batch(&["goes on"])).unwrap();
}

#[test]
fn a_name_that_is_not_there_stops_it_before_anything_goes() {
    let place = Place::filled(1);
    let store = place.open();
    let error = store.gc(&Rule::Named(vec![run("r"), run("typo")])).unwrap_err();
    assert_eq!(error.kind, ErrorKind::NotFound);
    assert_eq!(store.runs().unwrap(), [run("r")]);
}

#[test]
fn the_file_becomes_smaller() {
    let place = Place::new();
    let store = place.open();
    let lease = store.lease(&run("r")).unwrap();
    for at in 0..8_u8 {
        append(&lease, naming(&vec![at; 1 << 20])).unwrap();
    }
    drop(lease);
    let collected = store.gc(&Rule::Named(vec![run("r")])).unwrap();
    assert!(collected.bytes > 8 << 20, "{} bytes", collected.bytes);
    let size = fs::metadata(place.file()).unwrap().len();
    assert!(size < 1 << 20, "{size} bytes are left");
}

#[test]
fn a_run_of_the_same_name_begins_anew_and_gets_no_letters_of_the_old_one() {
    let place = Place::filled(2);
    let store = place.open();
    let letter = Letter::Cancel { by: "somebody".to_owned() };
    store.post(&run("r"), &letter).unwrap();
    store.gc(&Rule::Named(vec![run("r")])).unwrap();
    let lease = store.lease(&run("r")).unwrap();
    assert_eq!(lease.letters(0).unwrap(), []);
    assert_eq!(append(&lease, batch(&["x"])).unwrap()[0].seq, 1);
}

#[test]
fn who_held_a_run_that_was_removed_cannot_write_to_its_successor() {
    let place = Place::filled(2);
    let store = place.open();
    let old = store.lease(&run("r")).unwrap();
    fs::remove_dir_all(place.leases()).unwrap();
    assert_eq!(store.gc(&Rule::Named(vec![run("r"), run("r")])).unwrap().runs, [run("r")]);
    // The second owner of the new run, as the old lease was the second of the old one.
    drop(store.lease(&run("r")).unwrap());
    let new = store.lease(&run("r")).unwrap();
    assert_eq!(append(&old, batch(&["late"])).unwrap_err().kind, ErrorKind::Held);
    assert_eq!(append(&new, batch(&["new"])).unwrap()[0].seq, 1);
}

#[test]
fn locks_of_processes_that_were_killed_are_swept() {
    let place = Place::filled(1);
    let mut child = Child::start(&["hold", place.file().to_str().unwrap(), "r"]);
    child.wait_for("held");
    child.kill();
    assert_eq!(fs::read_dir(place.leases()).unwrap().count(), 2, "the gate and one lock");
    let store = place.open();
    assert!(!store.is_held(&run("r")).unwrap());
    assert_eq!(store.gc(&Rule::Named(Vec::new())).unwrap().locks, 1);
    assert_eq!(fs::read_dir(place.leases()).unwrap().count(), 1);
}
