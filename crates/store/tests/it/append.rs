//! What was appended is there, in order, and many share a sync.

use std::thread;
use std::time::Duration;

use proptest::prelude::*;
use sequester_core::digest::Digest;
use sequester_core::moment::Moment;
use sequester_core::store::{Batch, ErrorKind, RunStore};
use sequester_store::{Options, Stats};

use crate::fixture::{Place, all, append, append_at, batch, naming, run, text};

#[test]
fn events_are_read_back_as_they_were_answered() {
    let place = Place::new();
    let store = place.open();
    let lease = store.lease(&run("r")).unwrap();
    let mut answered = append(&lease, batch(&["one", "two"])).unwrap();
    answered.extend(append(&lease, naming(b"bytes")).unwrap());
    assert_eq!(answered.iter().map(|event| event.seq).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(all(&store, "r"), answered);
    assert_eq!(store.events(&run("r"), 1, 1).unwrap(), answered[1..2]);
    assert_eq!(store.events(&run("r"), 3, 9).unwrap(), []);
    assert_eq!(store.events(&run("r"), u64::MAX, 9).unwrap(), []);
    drop((lease, store));
    assert_eq!(all(&place.open(), "r"), answered);
}

#[test]
fn a_run_that_is_leased_has_no_events_and_one_that_is_not_there_is_named() {
    let place = Place::new();
    let store = place.open();
    let _lease = store.lease(&run("r")).unwrap();
    assert_eq!(all(&store, "r"), []);
    assert_eq!(store.runs().unwrap(), []);
    let error = store.events(&run("other"), 0, 1).unwrap_err();
    assert_eq!(error.kind, ErrorKind::NotFound);
    assert_eq!(error.message, "There is no run `other` in this store.");
}

#[test]
fn runs_are_listed_with_the_newest_first_whatever_the_clock_says() {
    let place = Place::new();
    let store = place.open();
    for (name, at) in [("first", 900), ("second", 100), ("third", 500)] {
        append_at(&store.lease(&run(name)).unwrap(), at, batch(&["x"])).unwrap();
    }
    assert_eq!(store.runs().unwrap(), ["third", "second", "first"].map(run));
}

#[test]
fn a_clock_that_goes_back_is_not_followed() {
    let place = Place::new();
    let store = place.open();
    let at = |at| {
        let lease = store.lease(&run("r")).unwrap();
        append_at(&lease, at, batch(&["x"])).unwrap()[0].at
    };
    assert_eq!([at(500), at(400), at(600), at(0)], [500, 500, 600, 600].map(Moment));
    let written = at(u64::MAX);
    assert_eq!(written.to_string(), "9999-12-31T23:59:59.999Z");
    assert_eq!(all(&store, "r").last().unwrap().at, written);
}

#[test]
fn the_same_bytes_are_kept_once() {
    let place = Place::new();
    let store = place.open();
    for name in ["a", "b"] {
        let lease = store.lease(&run(name)).unwrap();
        append(&lease, naming(b"shared")).unwrap();
        append(&lease, Batch { blobs: vec![b"shared"[..].into()], ..naming(b"own") }).unwrap();
    }
    assert_eq!(store.blob(&Digest::of(b"shared")).unwrap(), b"shared");
    drop(store);
    let connection = rusqlite::Connection::open(place.file()).unwrap();
    let count = |sql| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM blobs WHERE bytes = x'736861726564'"), 1);
    assert_eq!(count("SELECT count(*) FROM blobs"), 1);
}

#[test]
fn many_writers_share_a_sync_and_a_lone_one_has_its_own() {
    let place = Place::new();
    let slower = Duration::from_millis(5);
    let store = place.open_with(Options { slower, ..Options::default() });
    let leases: Vec<_> =
        (0..32).map(|at| store.lease(&run(&format!("run {at}"))).unwrap()).collect();
    let before = store.stats();
    thread::scope(|scope| {
        for lease in &leases {
            scope.spawn(move || {
                for at in 0..20 {
                    append(lease, batch(&[&at.to_string()])).unwrap();
                }
            });
        }
    });
    let Stats { commits, events } = store.stats();
    let (commits, events) = (commits - before.commits, events - before.events);
    assert_eq!(events, 640);
    assert!(commits * 10 < events, "{commits} commits for {events} events");
    let before = store.stats();
    append(&leases[0], batch(&["alone"])).unwrap();
    let alone = Stats { commits: before.commits + 1, events: before.events + 1 };
    assert_eq!(store.stats(), alone);
}

#[test]
fn batches_are_kept_in_the_order_of_the_calls_even_if_nobody_waits() {
    let place = Place::new();
    let store = place.open();
    let lease = store.lease(&run("r")).unwrap();
    let names: Vec<String> = (0..100).map(|at| at.to_string()).collect();
    for name in &names {
        drop(lease.append(Moment(1), batch(&[name])));
    }
    append(&lease, Batch::default()).unwrap();
    assert_eq!(all(&store, "r").iter().map(text).collect::<Vec<_>>(), names);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Four threads append to three runs what they were dealt: run and length of each batch.
    #[test]
    fn whatever_the_interleaving_every_batch_is_whole_and_every_chain_valid(
        hands in prop::collection::vec(prop::collection::vec((0_usize..3, 0_usize..4), 0..8), 4)
    ) {
        let place = Place::new();
        let store = place.open();
        let names = ["a", "b", "c"];
        let leases = names.map(|name| store.lease(&run(name)).unwrap());
        let answers: Vec<Vec<_>> = thread::scope(|scope| {
            let deal = |(thread, hand): (usize, &Vec<(usize, usize)>)| {
                let (hand, leases) = (hand.clone(), &leases);
                scope.spawn(move || {
                    let appended = hand.iter().enumerate().map(|(at, (to, length))| {
                        let text = format!("{thread}.{at}");
                        let texts = vec![text.as_str(); *length];
                        (*to, append(&leases[*to], batch(&texts)).unwrap())
                    });
                    appended.collect()
                })
            };
            let threads: Vec<_> = hands.iter().enumerate().map(deal).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        for (to, name) in names.iter().enumerate() {
            let read = all(&store, name);
            prop_assert!(read.iter().map(|event| event.seq).eq(1..=read.len() as u64));
            let mut kept = 0;
            for hand in &answers {
                let mut last = 0;
                for (_, events) in hand.iter().filter(|(run, _)| *run == to) {
                    let Some(first) = events.first() else { continue };
                    prop_assert!(first.seq > last, "a thread's batches are in its order");
                    let at = first.seq as usize - 1;
                    prop_assert_eq!(&read[at..at + events.len()], &events[..]);
                    last = first.seq;
                    kept += events.len();
                }
            }
            prop_assert_eq!(kept, read.len());
        }
    }
}
