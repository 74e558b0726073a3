//! Another process: this very program, asked over its input to do one thing.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use sequester_core::store::{Batch, RunStore};
use sequester_store::Store;

use crate::fixture::{append, batch, naming, run};

pub(crate) struct Child {
    process: std::process::Child,
    lines: io::Lines<BufReader<ChildStdout>>,
}

impl Child {
    pub(crate) fn start(words: &[&str]) -> Self {
        Self::start_by(words, &mut Command::new("/proc/self/exe"))
    }

    /// As a user who owns nothing: to root no folder is read-only.
    pub(crate) fn start_as_nobody(words: &[&str]) -> Self {
        Self::start_by(words, Command::new("/proc/self/exe").uid(65_534).gid(65_534))
    }

    fn start_by(words: &[&str], command: &mut Command) -> Self {
        let harness = ["--exact", "child::does_as_it_is_told", "--ignored", "--nocapture"];
        let mut process =
            command.args(harness).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        process.stdin.take().unwrap().write_all(words.join("\n").as_bytes()).unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        Self { process, lines }
    }

    /// The rest of the next line that begins so; nothing if there is none.
    pub(crate) fn next(&mut self, start: &str) -> Option<String> {
        self.lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix(start).map(|rest| rest.trim().to_owned()))
    }

    pub(crate) fn wait_for(&mut self, start: &str) -> String {
        self.next(start).unwrap_or_else(|| panic!("the other process never said `{start}`"))
    }

    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.process.try_wait().unwrap().is_some()
    }

    pub(crate) fn end(mut self) -> ExitStatus {
        self.process.wait().unwrap()
    }
}

/// A test that fails leaves no process behind.
impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
#[ignore = "it is the other process of the tests beside it"]
fn does_as_it_is_told() {
    let mut told = String::new();
    io::stdin().read_to_string(&mut told).unwrap();
    let words: Vec<&str> = told.lines().collect();
    // The harness has begun a line.
    println!();
    match words[..] {
        ["hold", path, name] => hold(Path::new(path), name),
        ["append", path, name] => append_for_ever(Path::new(path), name),
        ["read", path, name, count] => read_until(Path::new(path), name, count.parse().unwrap()),
        ["write", path, name, count] => write(Path::new(path), name, count.parse().unwrap()),
        ["try", path] => try_to_open(Path::new(path)),
        _ => {}
    }
}

fn hold(path: &Path, name: &str) {
    let _lease = Store::open(path).unwrap().lease(&run(name)).unwrap();
    println!("held");
    thread::park();
}

/// Says which events it was answered for, from several threads, until it is killed.
fn append_for_ever(path: &Path, name: &str) {
    let lease = Store::open(path).unwrap().lease(&run(name)).unwrap();
    let turn = AtomicU64::new(0);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                loop {
                    let number = turn.fetch_add(1, Ordering::Relaxed);
                    let text = number.to_string();
                    let named = naming(text.repeat(1 + (number % 997) as usize).as_bytes());
                    let entries = [batch(&[&text]).entries, named.entries].concat();
                    let kept = append(&lease, Batch { entries, blobs: named.blobs }).unwrap();
                    println!("answered {}", kept[1].seq);
                }
            });
        }
    });
}

/// Reads all of it again and again while others write.
fn read_until(path: &Path, name: &str, count: usize) {
    let store = Store::open_reading(path).unwrap();
    println!("reading");
    let mut seen = 0;
    while seen < count {
        let events = store.events(&run(name), 0, usize::MAX).unwrap();
        assert!(events.len() >= seen, "what was seen once stays");
        seen = events.len();
    }
    println!("read {seen}");
}

fn write(path: &Path, name: &str, count: usize) {
    let lease = Store::open(path).unwrap().lease(&run(name)).unwrap();
    for at in 0..count {
        append(&lease, batch(&[&at.to_string()])).unwrap();
    }
    println!("written");
}

fn try_to_open(path: &Path) {
    for (name, opened) in [("open", Store::open(path)), ("open_reading", Store::open_reading(path))]
    {
        match opened.and_then(|store| store.events(&run("r"), 0, 9)) {
            Ok(events) => println!("{name} {} events", events.len()),
            Err(error) => println!("{name} {:?}: {}", error.kind, error.message),
        }
    }
}
