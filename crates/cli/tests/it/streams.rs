//! Where a jailed command reads from and prints to, when the other side is slow, gone or does not wait.

use std::fs;
use std::io::{self, PipeReader, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::command::Bench;

/// No signal is ignored in it, as SIGHUP is where `nohup` runs the tests.
fn sandbox(bench: &Bench, words: &[&str]) -> Command {
    let mut command = Command::new("env");
    command.args(["--default-signal", env!("CARGO_BIN_EXE_sequester"), "sandbox"]).args(words);
    command.current_dir(bench.repo());
    command.env("HOME", bench.path("home")).env_remove("XDG_STATE_HOME");
    command.stdin(Stdio::null()).stderr(Stdio::null());
    command
}

/// Prints without end to a pipe that nobody reads.
fn unread(bench: &Bench, words: &[&str]) -> (Child, PipeReader) {
    let (reader, writer) = io::pipe().unwrap();
    (sandbox(bench, words).stdout(writer).spawn().unwrap(), reader)
}

const SOON: Duration = Duration::from_secs(20);

fn comes_true(mut what: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < SOON {
        if what() {
            return true;
        }
        thread::sleep(Duration::from_millis(50));
    }
    false
}

fn count(folder: &std::path::Path) -> usize {
    fs::read_dir(folder).map_or(0, Iterator::count)
}

#[test]
fn wall_time_is_kept_though_nobody_reads_the_output() {
    let bench = Bench::plain();
    let words = ["--profile", "writer", "--limit", "wall=1s", "--", "yes"];
    let (mut child, _reader) = unread(&bench, &words);
    let mut code = None;
    assert!(comes_true(|| {
        code = child.try_wait().unwrap().and_then(|status| status.code());
        code.is_some()
    }));
    assert_eq!(code, Some(124));
    assert_eq!(count(&bench.repo()), 0);
}

#[test]
fn nothing_outlives_a_killed_controller_though_nobody_reads_the_output() {
    // One that runs on, and one that has ended and left something to be read.
    for script in ["yes", "yes | head -c 300000 | cat; exit 0"] {
        let bench = Bench::plain();
        let words = ["--profile", "writer", "--", "sh", "-c", script];
        let (mut child, _reader) = unread(&bench, &words);
        let jails = bench.path("home/.local/state/sequester/jails");
        assert!(comes_true(|| count(&bench.repo()) > 0 && count(&jails) > 0));
        thread::sleep(Duration::from_millis(300));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(comes_true(|| count(&bench.repo()) == 0), "{script}");
        assert!(
            sandbox(&bench, &["--profile", "read-only", "--", "true"]).status().unwrap().success()
        );
        assert_eq!(count(&jails), 0, "{script}");
    }
}

#[test]
fn streams_that_do_not_wait_lose_nothing() {
    const BYTES: usize = 3_000_000;
    let bench = Bench::plain();
    let ((mut input, theirs), (mut output, printed)) =
        (UnixStream::pair().unwrap(), UnixStream::pair().unwrap());
    theirs.set_nonblocking(true).unwrap();
    printed.set_nonblocking(true).unwrap();
    let mut command = sandbox(&bench, &["--profile", "read-only", "--", "cat"]);
    command.stdin(OwnedFd::from(theirs)).stdout(OwnedFd::from(printed));
    let mut child = command.spawn().unwrap();
    // It holds both streams too.
    drop(command);
    let bytes: Vec<u8> = (0..BYTES).map(|number| (number % 251) as u8).collect();
    let given = bytes.clone();
    let writer = thread::spawn(move || {
        // There is nothing to read at first.
        thread::sleep(Duration::from_millis(300));
        input.write_all(&given).unwrap();
    });
    // There is no room to write at first.
    thread::sleep(Duration::from_millis(900));
    let mut taken = Vec::new();
    output.read_to_end(&mut taken).unwrap();
    writer.join().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(taken == bytes, "{} of {BYTES} bytes came", taken.len());
}

#[test]
fn whoever_is_ended_by_a_signal_ends_after_its_jail() {
    use std::os::unix::process::ExitStatusExt as _;

    use rustix::process::{Pid, Signal, kill_process};
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        let bench = Bench::with(&[("a.txt", "a\n")]);
        let before = count(&bench.repo());
        let words = ["--profile", "writer", "--", "sh", "-c", "touch up; exec sleep 60"];
        let mut child = sandbox(&bench, &words).stdout(Stdio::null()).spawn().unwrap();
        assert!(comes_true(|| bench.repo().join("up").exists()));
        assert!(count(&bench.repo()) > before + 10, "names are held");
        kill_process(Pid::from_child(&child), signal).unwrap();
        let status = child.wait().unwrap();
        assert_eq!(count(&bench.repo()), before + 1, "{signal:?}: nothing is held any more");
        assert_eq!(status.signal(), Some(signal.as_raw()));
    }
}

/// Nothing that it waits for keeps a person from ending it.
#[test]
fn a_second_signal_ends_whoever_waits_for_a_jail_that_does_not_end() {
    use std::os::unix::process::ExitStatusExt as _;

    use rustix::process::{Pid, Signal, kill_process};
    let bench = Bench::with(&[("a.txt", "a\n")]);
    let words = ["--profile", "writer", "--", "sh", "-c", "touch up; exec sleep 60"];
    let before = count(&bench.repo());
    let mut child = sandbox(&bench, &words).stdout(Stdio::null()).spawn().unwrap();
    assert!(comes_true(|| bench.repo().join("up").exists()));
    let of_child = format!("/proc/{0}/task/{0}/children", child.id());
    let supervisor = fs::read_to_string(of_child).unwrap();
    let supervisor = Pid::from_raw(supervisor.trim().parse().unwrap()).unwrap();
    kill_process(supervisor, Signal::STOP).unwrap();
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none(), "it waits for its jail");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(Signal::INT.as_raw()));
    kill_process(supervisor, Signal::CONT).unwrap();
    assert!(comes_true(|| count(&bench.repo()) == before + 1), "the supervisor clears up alone");
}

#[test]
fn a_signal_that_its_caller_ignores_does_not_end_a_jail() {
    let bench = Bench::with(&[("a.txt", "a\n")]);
    let script = "trap '' HUP; \"$0\" sandbox --profile read-only -- sh -c 'sleep 2; exit 7' & \
        sleep 1; kill -HUP $!; wait $!; echo $?";
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_sequester")]).current_dir(bench.repo());
    command.env("HOME", bench.path("home")).env_remove("XDG_STATE_HOME");
    let output = command.output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "7\n");
}
