//! A process and all beneath it, as the machine sees them.

use std::fs;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, kill_process, wait};

/// The process and all beneath it, at most so many: one look must end whatever they do.
pub(crate) fn tree(first: Pid, most: usize) -> Vec<i32> {
    let mut found = vec![first.as_raw_nonzero().get()];
    let mut at = 0;
    while at < found.len() && found.len() < most {
        found.extend(children(found[at]));
        at += 1;
    }
    found.truncate(most);
    found
}

/// Ends all beneath this process, which must be the one that orphans come to. They are looked for until none is left:
/// one that was just started is found the next time.
pub(crate) fn end_all() {
    let own = rustix::process::getpid();
    loop {
        for pid in tree(own, usize::MAX).into_iter().skip(1).filter_map(Pid::from_raw) {
            let _ = kill_process(pid, Signal::KILL);
        }
        match wait(WaitOptions::empty()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

/// The processes that a process started and that are still its own.
fn children(pid: i32) -> Vec<i32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let texts =
        threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    texts
        .flat_map(|text| {
            text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>()
        })
        .collect()
}

/// Bytes that belong to this process alone, or that it shares in memory.
pub(crate) fn resident(pid: i32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let kilobytes = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0)
    };
    (kilobytes("RssAnon:") + kilobytes("RssShmem:") + kilobytes("VmSwap:")) << 10
}

/// Time that a process and those of its children that it has waited for had on a processor.
pub(crate) fn time(pid: i32) -> Duration {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name stands in brackets and may hold anything.
    let fields = text.rsplit_once(") ").map_or("", |(_, fields)| fields);
    let ticks: u64 =
        fields.split(' ').skip(11).take(4).filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 1000 / rustix::param::clock_ticks_per_second())
}
