//! Several processes at once, and processes that die.

use sequester_core::digest::Digest;
use sequester_core::run::Event;
use sequester_core::store::RunStore;
use sequester_store::Store;

use crate::child::Child;
use crate::fixture::{Place, all, append, batch, run};

#[test]
fn what_a_killed_process_was_answered_for_is_there() {
    let place = Place::new();
    let file = place.file();
    let words = ["append", file.to_str().unwrap(), "r"];
    let mut instant = 7_u64;
    let mut before = 0;
    for round in 0..20 {
        let mut child = Child::start(&words);
        instant =
            instant.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut answered = before;
        for _ in 0..=(instant >> 33) % 40 {
            let seq: usize = child.wait_for("answered ").parse().unwrap();
            answered = answered.max(seq);
        }
        child.kill();
        while let Some(Ok(seq)) = child.next("answered ").map(|seq| seq.parse::<usize>()) {
            answered = answered.max(seq);
        }
        let store = Store::open(&file).unwrap();
        let events = all(&store, "r");
        assert!(events.len() >= answered, "round {round}: {} of {answered}", events.len());
        assert_eq!(events.len() % 2, 0, "round {round}: a batch is there in part");
        for event in &events[before..] {
            if let Event::CallsEnded { results, .. } = &event.entry.event {
                assert_eq!(&Digest::of(&store.blob(results).unwrap()), results);
            }
        }
        before = events.len();
    }
}

#[test]
fn others_read_while_one_writes() {
    let place = Place::filled(1);
    let file = place.file();
    let path = file.to_str().unwrap();
    let mut readers: Vec<Child> =
        (0..3).map(|_| Child::start(&["read", path, "r", "301"])).collect();
    for reader in &mut readers {
        reader.wait_for("reading");
    }
    let store = place.open();
    let lease = store.lease(&run("r")).unwrap();
    for at in 0..300 {
        append(&lease, batch(&[&at.to_string()])).unwrap();
    }
    for mut reader in readers {
        assert_eq!(reader.wait_for("read "), "301");
        assert!(reader.end().success());
    }
}

#[test]
fn processes_may_make_the_store_and_write_their_runs_at_the_same_time() {
    let place = Place::new();
    let file = place.file();
    let path = file.to_str().unwrap();
    let names = ["a", "b", "c", "d"];
    let writers = names.map(|name| Child::start(&["write", path, name, "40"]));
    for writer in writers {
        assert!(writer.end().success());
    }
    let store = place.open();
    for name in names {
        assert_eq!(all(&store, name).len(), 40);
    }
}
