//! The side that is measured, in a fresh process: the server is not in it, nor what an earlier loop left in the allocator.

use std::fs;
use std::io::{self, BufRead};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::time::{ClockId, clock_gettime};
use sequester_engine::raise_descriptors;
use tokio::task::JoinSet;

use super::bare::{Bare, Post};
use super::case::{Case, TURNS};
use super::ours::Ours;

/// Conversations at once while processor time is measured.
const SIDE_BY_SIDE: usize = 8;

enum Loop {
    Ours(Ours),
    Bare(Bare),
    Thrifty(Bare),
    Post(Post),
}

impl Loop {
    fn new(kind: &str, case: Case, address: &str) -> Self {
        match kind {
            "ours" => Self::Ours(Ours::new(case, address)),
            "bare" => Self::Bare(Bare::new(case, address)),
            "thrifty" => Self::Thrifty(Bare::new(case, address)),
            _ => {
                let bodies = io::stdin().lock().lines().map(Result::unwrap).collect();
                Self::Post(Post::new(case, address, bodies))
            }
        }
    }

    async fn talk(&self, number: usize) -> bool {
        match self {
            Self::Ours(ours) => ours.talk(number).await,
            Self::Bare(bare) => bare.talk(number).await,
            Self::Thrifty(bare) => bare.talk_thriftily(number).await,
            Self::Post(post) => post.talk().await,
        }
    }
}

/// `MODE KIND WIRE SHARED OWN ADDRESS COUNT`, as the parent gives them.
pub(crate) fn run(arguments: &[String]) {
    // The provider of TLS is the process's; the pool sets it, and the bare client needs one too.
    sequester_llm::Pool::new(sequester_llm::Timeouts::default()).unwrap();
    let case = Case::parse(&arguments[2..]);
    let count = arguments[6].parse().unwrap();
    let measured = Arc::new(Loop::new(&arguments[1], case, &arguments[5]));
    if arguments[0] == "wait" { wait(&measured, count) } else { turn(&measured, count) }
}

/// Prints the nanoseconds of processor time per turn.
fn turn(measured: &Arc<Loop>, count: usize) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    // Connections, tables and schemas are there before anything is counted.
    runtime.block_on(converse(measured, SIDE_BY_SIDE));
    let before = processor();
    runtime.block_on(converse(measured, count));
    println!("{}", (processor() - before) / (count * TURNS) as u64);
}

async fn converse(measured: &Arc<Loop>, count: usize) {
    let next = Arc::new(AtomicUsize::new(0));
    let mut lanes = JoinSet::new();
    for _ in 0..SIDE_BY_SIDE {
        let (measured, next) = (Arc::clone(measured), Arc::clone(&next));
        lanes.spawn(async move {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= count {
                    return;
                }
                assert!(measured.talk(number).await, "conversation {number} did not end well");
            }
        });
    }
    while let Some(done) = lanes.join_next().await {
        done.unwrap();
    }
}

/// Prints the bytes that each of `count` waiting subagents takes once the parent says that all wait, then how many of them ended
/// well.
fn wait(measured: &Arc<Loop>, count: usize) {
    if let Err(shortage) = raise_descriptors(count as u64) {
        eprintln!("{shortage} {}", shortage.hint());
        std::process::exit(2);
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let before = resident();
    let mut all = JoinSet::new();
    for number in 0..count {
        let measured = Arc::clone(measured);
        all.spawn_on(async move { measured.talk(number).await }, runtime.handle());
    }
    io::stdin().lock().read_line(&mut String::new()).unwrap();
    println!("{}", (resident() - before) / count);
    let ended = runtime.block_on(all.join_all());
    println!("{}", ended.into_iter().filter(|well| *well).count());
}

fn processor() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    u64::try_from(time.tv_sec * 1_000_000_000 + time.tv_nsec).unwrap()
}

/// Bytes of memory that this process holds.
fn resident() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 1_024
}
