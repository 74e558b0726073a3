//! What it costs to be certain: a durable append beside a bare write and `fdatasync` of the same bytes on the same disk, in turns, and
//! how many writers share a sync.
//!
//! `cargo bench -p sequester-store --bench store`; `STORE_FOLDER` names the folder whose disk is measured.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a bench that cannot be set up has no result, and it is the one that looks at the clock"
)]
#![allow(clippy::print_stdout, reason = "a benchmark's result is what it prints")]

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use divan::Bencher;
use sequester_core::digest::Digest;
use sequester_core::id::{RunId, TaskId};
use sequester_core::moment::Moment;
use sequester_core::run::{Entry, Event, Recorded, Scope};
use sequester_core::store::{Batch, Lease, RunStore};
use sequester_core::usage::Usage;
use sequester_store::{Options, Store};
use tempfile::TempDir;

const ROUNDS: usize = 3_000;
const WRITERS: usize = 32;
const EVENTS_EACH: usize = 100;

fn main() {
    let folder = folder();
    compare_with_bare_sync(folder.path());
    share_syncs(folder.path());
    divan::main();
}

fn folder() -> TempDir {
    match std::env::var_os("STORE_FOLDER") {
        Some(folder) => tempfile::tempdir_in(folder).unwrap(),
        None => tempfile::tempdir().unwrap(),
    }
}

/// The end of a turn: the event that a run writes most often.
fn batch(turn: u32) -> Batch {
    let reply = Digest::of(&turn.to_le_bytes());
    let event = Event::TurnEnded { turn, reply, usage: Usage::default(), elapsed_ms: 1_234 };
    let scope = Scope { task: Some(TaskId::new("reset-2")), phase: None, attempt: Some(1) };
    Batch { entries: vec![Entry { scope, event }], blobs: Vec::new() }
}

fn append(lease: &Arc<dyn Lease>, turn: u32) -> Vec<Recorded> {
    let at = Moment(1_794_819_912_345 + u64::from(turn));
    futures_executor::block_on(lease.append(at, batch(turn))).unwrap()
}

fn compare_with_bare_sync(folder: &Path) {
    let store = Store::open(&folder.join("store.db")).unwrap();
    let lease = store.lease(&RunId::new("r")).unwrap();
    let mut bare = File::create(folder.join("bare")).unwrap();
    let length = serde_json::to_string(&append(&lease, 0)[0]).unwrap().len() + 1;
    let bytes = vec![b'x'; length];
    let (mut ours, mut floor) = (Vec::new(), Vec::new());
    for turn in 0..ROUNDS {
        floor.push(time(|| {
            bare.write_all(&bytes).unwrap();
            bare.sync_data().unwrap();
        }));
        ours.push(time(|| drop(append(&lease, turn as u32))));
    }
    println!("{ROUNDS} lone events of {length} bytes, in turns with a bare write and `fdatasync`");
    println!("| | p50 | p99 | longest |\n|---|---|---|---|");
    row("write and `fdatasync`", &mut floor);
    row("append", &mut ours);
    let ratio = |at| share(&ours, at).as_secs_f64() / share(&floor, at).as_secs_f64();
    println!("| ratio | {:.2} | {:.2} | {:.2} |\n", ratio(50), ratio(99), ratio(100));
}

fn time(act: impl FnOnce()) -> Duration {
    let start = Instant::now();
    act();
    start.elapsed()
}

fn row(name: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let of = |at| share(times, at).as_secs_f64() * 1e3;
    println!("| {name} | {:.3} ms | {:.3} ms | {:.3} ms |", of(50), of(99), of(100));
}

/// The time that so many of a hundred stay within.
fn share(sorted: &[Duration], of_hundred: usize) -> Duration {
    sorted[(sorted.len() * of_hundred).div_ceil(100) - 1]
}

fn share_syncs(folder: &Path) {
    for slower in [Duration::ZERO, Duration::from_millis(5)] {
        let path = folder.join(format!("{}", slower.as_millis())).join("store.db");
        let options = Options { slower, ..Options::default() };
        let store = Store::open_with(&path, options).unwrap();
        let leases: Vec<_> =
            (0..WRITERS).map(|at| store.lease(&RunId::new(format!("run {at}"))).unwrap()).collect();
        let before = store.stats();
        let taken = time(|| write_all(&leases));
        let after = store.stats();
        let (commits, events) = (after.commits - before.commits, after.events - before.events);
        println!(
            "{WRITERS} writers, sync slower by {} ms: {events} events, {commits} syncs, {:.3} of a sync for each event, {:.2} s",
            slower.as_millis(),
            commits as f64 / events as f64,
            taken.as_secs_f64()
        );
    }
}

fn write_all(leases: &[Arc<dyn Lease>]) {
    thread::scope(|scope| {
        for lease in leases {
            scope.spawn(move || {
                for turn in 0..EVENTS_EACH {
                    append(lease, turn as u32);
                }
            });
        }
    });
}

#[divan::bench(sample_count = 200, sample_size = 1)]
fn append_of_a_lone_event(bencher: Bencher) {
    let folder = folder();
    let store = Store::open(&folder.path().join("store.db")).unwrap();
    let lease = store.lease(&RunId::new("r")).unwrap();
    bencher.bench_local(|| append(&lease, 1).len());
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn reading_and_checking_ten_thousand_events(bencher: Bencher) {
    let folder = folder();
    let store = Store::open(&folder.path().join("store.db")).unwrap();
    let run = RunId::new("r");
    let lease = store.lease(&run).unwrap();
    let entries = (0..10_000).flat_map(|turn| batch(turn).entries).collect();
    let batch = Batch { entries, blobs: Vec::new() };
    futures_executor::block_on(lease.append(Moment(1), batch)).unwrap();
    bencher.bench_local(|| store.events(&run, 0, usize::MAX).unwrap().len());
}
