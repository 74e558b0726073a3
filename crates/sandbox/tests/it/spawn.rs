//! Programs that speak by standard input and output, in the jail of a server.

use std::os::unix::net::UnixStream;

use sequester_sandbox::Handle;

use crate::bench::{Bench, Talk};

/// A server that says back what it is told, and knows one thing more.
const ECHO: &str = "while read -r line; do case $line in run\\ *) ${line#run };; *) echo \"echo: $line\";; esac; done";

fn echo(handle: &Handle) -> Talk {
    let words = ["/bin/sh", "-c", ECHO].map(str::to_owned);
    Talk::new(handle.spawn(words.to_vec()).unwrap())
}

pub(crate) fn same_jail() {
    let bench = Bench::new();
    let (jail, mut tools) = bench.start();
    let handle = jail.handle().unwrap();
    let (mut one, mut other) = (echo(&handle), echo(&handle));
    assert_eq!(one.ask("hello"), "echo: hello");
    assert_eq!(other.ask("a second"), "echo: a second");
    // The same files, as the tools leave them.
    let file = bench.at().join("a.txt").display().to_string();
    assert_eq!(tools.ask(&format!("echo written > {file} && cat {file}")), "written");
    assert_eq!(one.ask(&format!("run cat {file}")), "written");
    // The same wall.
    assert_eq!(other.ask("run hostname"), "jail");
    assert_eq!(other.ask("run id -u"), "1000");
    assert_eq!(other.ask("run cat /etc/hostname"), "jail");
}

pub(crate) fn not_there() {
    let bench = Bench::new();
    let (jail, mut tools) = bench.start();
    let handle = jail.handle().unwrap();
    let mut talk = Talk::new(handle.spawn(vec!["no-such-program".to_owned()]).unwrap());
    assert_eq!(talk.hear(), "");
    assert_eq!(tools.ask("echo still here"), "still here");
    let long = vec!["x".repeat(100_000)];
    assert!(handle.spawn(long).is_err());
}

/// What starts programs is out of reach of those that run.
pub(crate) fn undisturbed() {
    let bench = Bench::new();
    let (jail, mut tools) = bench.start();
    let handle = jail.handle().unwrap();
    let others = "for each in /proc/[0-9]*; do case ${each#/proc/} in $$|$PPID) ;; *) echo ${each#/proc/};; esac; done";
    for signal in ["STOP", "KILL"] {
        tools.ask(&format!("for each in $({others}); do kill -{signal} $each; done"));
        let mut one = echo(&handle);
        assert_eq!(one.ask("hello"), "echo: hello", "{signal}");
        assert_eq!(one.ask("run grep SigBlk /proc/self/status"), "SigBlk:\t0000000000000000");
    }
    let mut none = Talk::new(handle.spawn(vec!["no-such-program".to_owned()]).unwrap());
    assert_eq!(none.hear(), "");
    // Those that have ended are waited for, also when nothing is asked of the jail.
    assert_eq!(tools.ask("sleep 0.2; grep -l 'State:.Z' /proc/[0-9]*/status"), "");
}

pub(crate) fn ends() {
    let bench = Bench::new();
    let (jail, _tools) = bench.start();
    let handle = jail.handle().unwrap();
    let stream: UnixStream =
        handle.spawn(["/bin/sh", "-c", "echo on; sleep 600"].map(str::to_owned).to_vec()).unwrap();
    let mut talk = Talk::new(stream);
    assert_eq!(talk.hear(), "on");
    handle.stop();
    jail.wait(|_| ()).unwrap();
    assert_eq!(talk.hear(), "", "nobody holds the other end any more");
}
