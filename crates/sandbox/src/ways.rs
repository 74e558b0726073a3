//! Ways to other machines: a jail has none, and the kernel counts who looked for one.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use rustix::process::Pid;

use crate::blueprint::Isolation;

/// The counters of a jail's own network. They are opened while its first process lives, and read when it is gone.
pub(crate) struct Ways(Vec<File>);

impl Ways {
    /// A jail without namespaces has the machine's network before it, where all others count too.
    pub(crate) fn open(first: Pid, isolation: Isolation) -> Self {
        let open = |name: &str| File::open(format!("/proc/{}/net/{name}", first.as_raw_nonzero()));
        let names = match isolation {
            Isolation::Namespaces(_) => &["snmp", "snmp6"][..],
            Isolation::Fallback => &[],
        };
        Self(names.iter().filter_map(|name| open(name).ok()).collect())
    }

    /// Whether somebody looked for a way that is not there.
    pub(crate) fn were_missed(&self) -> bool {
        self.0.iter().any(|file| {
            let mut text = vec![0; MOST];
            let read = file.read_at(&mut text, 0).unwrap_or(0);
            is_missed(&String::from_utf8_lossy(&text[..read]))
        })
    }
}

/// The kernel gives a page at most at once, and what counts stands in the first lines.
const MOST: usize = 16 << 10;

/// Two forms: a line of names above a line of numbers, or a name and a number in each line.
fn is_missed(text: &str) -> bool {
    let counted = |number: Option<&str>| number.is_some_and(|number| number != "0");
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("Ip:") => {
                let numbers = lines.next().unwrap_or_default();
                let at = words.position(|name| name == "OutNoRoutes");
                return counted(at.and_then(|at| numbers.split_whitespace().nth(at + 1)));
            }
            Some("Ip6OutNoRoutes") => return counted(words.next()),
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_that_was_looked_for_is_read_from_both_forms_of_the_kernels_counters() {
        let four = |count: u32| {
            format!("Ip: Forwarding OutNoRoutes ReasmTimeout\nIp: 1 {count} 0\nUdp: A\nUdp: 9\n")
        };
        let six = |count: u32| format!("Ip6InReceives \t3\nIp6OutNoRoutes     \t{count}\n");
        assert_eq!([0, 2].map(|count| is_missed(&four(count))), [false, true]);
        assert_eq!([0, 2].map(|count| is_missed(&six(count))), [false, true]);
        assert!(!is_missed("") && !is_missed("Ip: OutNoRoutes"));
    }
}
