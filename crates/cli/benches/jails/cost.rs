//! Wall and processor time of commands with all that they start, also what they leave to others to wait for.

use std::fs;
use std::ops::AddAssign;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{WaitOptions, getpid, set_child_subreaper, wait};

#[derive(Clone, Copy, Default)]
pub(crate) struct Cost {
    pub(crate) wall: Duration,
    pub(crate) processor: Duration,
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.wall += other.wall;
        self.processor += other.processor;
    }
}

/// Of one command that takes seconds.
pub(crate) fn measure(command: &mut Command) -> Cost {
    set_child_subreaper(Some(getpid())).unwrap();
    let before = processor_of_children();
    let wall = run(command);
    Cost { wall, processor: processor_of_children().saturating_sub(before) }
}

/// Each takes its turn, `times` over, with `batch` runs at a time; a run says how long it took. The middle of the walls, and
/// the mean of processor time.
pub(crate) fn race(
    runners: &mut [&mut dyn FnMut() -> Duration],
    times: usize,
    batch: u32,
) -> Vec<Cost> {
    set_child_subreaper(Some(getpid())).unwrap();
    let mut seen = vec![(Vec::new(), Duration::ZERO); runners.len()];
    for _ in 0..times {
        for (run, (walls, processor)) in runners.iter_mut().zip(&mut seen) {
            let before = processor_of_children();
            walls.extend((0..batch).map(|_| run()));
            *processor += processor_of_children().saturating_sub(before);
        }
    }
    let runs = u32::try_from(times).unwrap() * batch;
    let cost = |(mut walls, processor): (Vec<Duration>, Duration)| {
        walls.sort();
        Cost { wall: walls[walls.len() / 2], processor: processor / runs }
    };
    seen.into_iter().map(cost).collect()
}

/// It must succeed.
pub(crate) fn run(command: &mut Command) -> Duration {
    let begun = Instant::now();
    let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let output = command.output().unwrap();
    let wall = begun.elapsed();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {:?} {complaint}", output.status);
    // What it left behind is this process's to wait for, and counts.
    while wait(WaitOptions::empty()).is_ok_and(|ended| ended.is_some()) {}
    wall
}

/// In hundredths of a second: hence the batches.
fn processor_of_children() -> Duration {
    let text = fs::read_to_string("/proc/self/stat").unwrap();
    // The name before the last bracket may hold anything.
    let fields: Vec<&str> = text.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks: u64 = fields[13].parse::<u64>().unwrap() + fields[14].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 10)
}

pub(crate) fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

pub(crate) fn ratio(one: Duration, other: Duration) -> String {
    format!("{:.2}", one.as_secs_f64() / other.as_secs_f64())
}
