//! What a subagent costs beside a bare loop over the same client library: processor time per turn, memory while it waits,
//! and how many can wait at once. The model is played in this process, each loop runs in a child.
//!
//! `cargo bench -p sequester --bench subagents -- [turns] [memory]`

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a bench that cannot be set up has nothing to measure"
)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the table is for people")]

#[path = "subagents/bare.rs"]
mod bare;
#[path = "subagents/case.rs"]
mod case;
#[path = "subagents/child.rs"]
mod child;
#[path = "subagents/ours.rs"]
mod ours;

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use sequester_testkit::model::{Pace, Server, Setup, Wire};
use serde_json::Value;

use case::{Case, TURNS, script};

/// Each figure is the best of so many.
const ROUNDS: usize = 7;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|one| one != "--bench").collect();
    if let Some(("--child", rest)) =
        arguments.split_first().map(|(first, rest)| (first.as_str(), rest))
    {
        return child::run(rest);
    }
    let wanted = |name: &str| arguments.is_empty() || arguments.iter().any(|one| one == name);
    if wanted("turns") {
        turns();
    }
    if wanted("memory") {
        memory();
    }
}

/// Processor time per turn.
fn turns() {
    println!("| processor time per turn, {TURNS} turns | post | genai | sequester | to genai |");
    println!("|---|---|---|---|---|");
    for wire in Wire::ALL {
        for (own, count) in [(500, 400), (49_000, 40)] {
            let case = Case { wire, shared: if own == 500 { 500 } else { 1_000 }, own };
            let bodies = same_requests(case);
            let server =
                Setup::new(script(TURNS - 1)).without_recording().start_blocking().unwrap();
            let [post, bare, ours] = race(case, &server, count, &bodies);
            assert!(server.rejected().is_empty(), "{:?}", server.rejected());
            println!(
                "| {wire:?}, {} tokens | {post:.0} us | {bare:.0} us | {ours:.0} us | {:.2} |",
                case.shared + case.own,
                ours / bare
            );
        }
    }
}

/// The best of several rounds of each, in turns, so that a busy moment hits all of them.
fn race(case: Case, server: &Server, count: usize, bodies: &[Value]) -> [f64; 3] {
    let bodies: Vec<String> = bodies.iter().map(Value::to_string).collect();
    let mut best = [f64::MAX; 3];
    for _ in 0..ROUNDS {
        for (kind, best) in ["post", "bare", "ours"].into_iter().zip(&mut best) {
            let (mut child, mut printed) = start("turn", kind, case, server, count);
            let mut input = child.stdin.take().unwrap();
            if kind == "post" {
                input.write_all(bodies.join("\n").as_bytes()).unwrap();
            }
            drop(input);
            let mut text = String::new();
            printed.read_to_string(&mut text).unwrap();
            assert!(child.wait().unwrap().success(), "{kind} failed");
            *best = best.min(text.trim().parse::<f64>().unwrap() / 1e3);
        }
    }
    best
}

/// Both loops send the same requests, but for the value of the cache key; otherwise there is nothing to compare.
fn same_requests(case: Case) -> Vec<Value> {
    let send = |ours: bool| {
        let server = Setup::new(script(TURNS - 1)).start_blocking().unwrap();
        let address = server.address().to_string();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        // Before the bare one: it sets the process's provider of TLS.
        let measured = ours::Ours::new(case, &address);
        let ended = if ours {
            runtime.block_on(measured.talk(0))
        } else {
            runtime.block_on(bare::Bare::new(case, &address).talk(0))
        };
        assert!(ended, "ours: {ours}, rejected: {:?}", server.rejected());
        let bodies = server.requests().into_iter().map(|one| {
            let mut body: Value = serde_json::from_slice(&one.body).unwrap();
            if let Some(key) = body.get_mut("prompt_cache_key") {
                *key = "sequester-0123456789abcdef".into();
            }
            body
        });
        bodies.collect::<Vec<Value>>()
    };
    let (ours, bare) = (send(true), send(false));
    assert_eq!(ours.len(), TURNS);
    for (turn, (ours, bare)) in ours.iter().zip(&bare).enumerate() {
        assert!(ours == bare, "{:?}, turn {turn}:\n{ours}\n{bare}", case.wire);
    }
    ours
}

/// Memory of a subagent that waits for the first byte; all of them end with a valid report.
fn memory() {
    println!(
        "| memory per waiting subagent | genai | genai, thrifty | sequester | to genai | to thrifty | ended with a report |"
    );
    println!("|---|---|---|---|---|---|---|");
    let sizes = [
        (2_000, 500, 500, 15),
        (2_000, 6_000, 500, 15),
        (10_000, 500, 500, 60),
        (10_000, 6_000, 500, 60),
    ];
    for (count, shared, own, delay) in sizes {
        let case = Case { wire: Wire::Chat, shared, own };
        let [bare, thrifty, ours] =
            ["bare", "thrifty", "ours"].map(|kind| waiting(kind, case, count, delay));
        println!(
            "| {count}, {shared} tokens shared, {own} own | {:.1} kB | {:.1} kB | {:.1} kB | {:.2} | {:.2} | {} |",
            bare.0 / 1e3,
            thrifty.0 / 1e3,
            ours.0 / 1e3,
            ours.0 / bare.0,
            ours.0 / thrifty.0,
            ours.1
        );
    }
}

/// Bytes of each, and how many ended well.
fn waiting(kind: &str, case: Case, count: usize, delay: u64) -> (f64, usize) {
    sequester_engine::raise_descriptors(count as u64).unwrap();
    let pace = Pace { first: Duration::from_secs(delay), between: Duration::ZERO };
    let setup = Setup::new(script(0)).pace(pace).without_recording();
    let server = setup.start_blocking().unwrap();
    let (mut child, mut printed) = start("wait", kind, case, &server, count);
    while server.asked() < count {
        assert!(child.try_wait().unwrap().is_none(), "{kind} ended before all {count} waited");
        sleep(Duration::from_millis(20));
    }
    let present = server.present();
    assert_eq!(present, count, "the delay of {delay} s is too short for {count} to wait at once");
    child.stdin.take().unwrap().write_all(b"\n").unwrap();
    let mut number = || {
        let mut line = String::new();
        printed.read_line(&mut line).unwrap();
        line.trim().parse::<usize>().unwrap()
    };
    let (bytes, well) = (number(), number());
    assert!(child.wait().unwrap().success());
    assert_eq!((well, server.peak()), (count, count), "{kind}: {:?}", server.rejected());
    (bytes as f64, well)
}

fn start(
    mode: &str,
    kind: &str,
    case: Case,
    server: &Server,
    count: usize,
) -> (Child, BufReader<ChildStdout>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--child", mode, kind])
        .args(case.arguments())
        .args([server.address().to_string(), count.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let printed = BufReader::new(child.stdout.take().unwrap());
    (child, printed)
}
