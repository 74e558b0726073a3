//! A plan of 5,000 tasks: what the controller costs for each of them in processor time and memory, and how many of its events share
//! a sync. The store is a real one on a disk; trees, jails and the model are in memory, and what they cost is in the figures.
//!
//! `cargo bench -p sequester --bench controller`
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a bench that cannot be set up has no result, and it is the one that looks at the clock"
)]
#![allow(clippy::print_stdout, reason = "a benchmark's result is what it prints")]

#[path = "controller/stage.rs"]
mod stage;

use std::sync::Mutex;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use sequester_core::run::{Event, Recorded, Scope};
use sequester_engine::{Feed, Silent, Watch};
use sequester_store::Options;

use stage::{Shape, Stage};

const TASKS: usize = 5_000;
const MARKS: [usize; 3] = [1_000, 2_500, TASKS];

fn main() {
    // As cargo calls every bench when it only wants to know whether they can be started.
    if std::env::args().any(|word| word == "--test" || word == "--list") {
        return;
    }
    if std::env::args().any(|word| word == "trees") {
        println!("{}", stage::trees_alone(TASKS, resident));
        return;
    }
    for shape in [Shape::Chains, Shape::Wide, Shape::Layers] {
        cost_of_each(shape);
    }
    share_syncs();
}

/// What is seen when so many tasks are on the branch.
#[derive(Clone, Copy)]
struct Mark {
    tasks: usize,
    processor: Duration,
    resident: usize,
}

impl Mark {
    fn now(tasks: usize) -> Self {
        Self { tasks, processor: processor(), resident: resident() }
    }
}

#[derive(Default)]
struct Seen {
    committed: usize,
    events: usize,
    marks: Vec<Mark>,
    /// Tokens of contexts by the place of their task in the plan.
    tokens: Vec<(usize, usize)>,
}

#[derive(Default)]
struct Onlooker(Mutex<Seen>);

impl Watch for Onlooker {
    fn recorded(&self, recorded: &Recorded) {
        let mut seen = self.0.lock().unwrap();
        seen.events += 1;
        match &recorded.entry.event {
            Event::AttemptStarted(started) => {
                let task = recorded.entry.scope.task.as_ref().unwrap();
                let place = task.as_str().trim_start_matches('t').parse().unwrap();
                seen.tokens.push((place, started.context.tokens));
            }
            Event::TaskCommitted { .. } => {
                seen.committed += 1;
                if MARKS.contains(&seen.committed) {
                    let mark = Mark::now(seen.committed);
                    seen.marks.push(mark);
                }
            }
            _ => {}
        }
    }

    fn attempt(&self, _: &Scope, _: &str, _: Option<&str>) -> Box<dyn Feed> {
        Box::new(Silent)
    }
}

fn cost_of_each(shape: Shape) {
    let stage = Stage::new(TASKS, shape, Options::default());
    let watch = std::sync::Arc::new(Onlooker::default());
    let (first, start) = (Mark::now(0), Instant::now());
    stage.conduct(8, watch.clone());
    let taken = start.elapsed();
    let mut seen = watch.0.lock().unwrap();
    println!(
        "{TASKS} tasks, {shape:?}, 8 at once: {} events, {:.1} s\n",
        seen.events,
        taken.as_secs_f64()
    );
    println!("| tasks | processor for each | resident memory for each |\n|---|---|---|");
    let mut before = first;
    for mark in &seen.marks {
        let tasks = mark.tasks - before.tasks;
        let processor =
            mark.processor.saturating_sub(before.processor).as_secs_f64() * 1e3 / tasks as f64;
        let resident = mark.resident.saturating_sub(before.resident) as f64 / tasks as f64 / 1e3;
        println!(
            "| {} to {} | {processor:.2} ms | {resident:.1} kB |",
            before.tasks + 1,
            mark.tasks
        );
        before = *mark;
    }
    if shape == Shape::Chains {
        let program = std::env::current_exe().unwrap();
        let alone = std::process::Command::new(program).arg("trees").output().unwrap();
        let alone = String::from_utf8(alone.stdout).unwrap();
        println!("\nOf the memory, {} bytes for each task are the trees in memory.", alone.trim());
    }
    seen.tokens.sort_unstable();
    let sizes = |part: &[(usize, usize)]| {
        let tokens = part.iter().map(|(_, tokens)| *tokens);
        format!("{} to {}", tokens.clone().min().unwrap(), tokens.max().unwrap())
    };
    let (first, last) = (&seen.tokens[..100], &seen.tokens[TASKS - 100..]);
    println!("Tokens of the first 100 contexts: {}; of the last: {}\n", sizes(first), sizes(last));
}

fn share_syncs() {
    let tasks = 2_000;
    let slower = Duration::from_millis(5);
    let stage = Stage::new(tasks, Shape::Chains, Options { slower, ..Options::default() });
    let before = stage.stats();
    let start = Instant::now();
    stage.conduct(32, std::sync::Arc::new(Onlooker::default()));
    let after = stage.stats();
    let (commits, events) = (after.commits - before.commits, after.events - before.events);
    println!(
        "{tasks} tasks, 32 at once, every sync slower by 5 ms: {events} events, {commits} syncs, {:.3} of a sync for each event, {:.1} s",
        commits as f64 / events as f64,
        start.elapsed().as_secs_f64()
    );
}

/// Of all threads of this process.
fn processor() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.cast_unsigned(), u32::try_from(time.tv_nsec).unwrap())
}

fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = text.split_whitespace().nth(1).unwrap().parse().unwrap();
    pages * 4_096
}
