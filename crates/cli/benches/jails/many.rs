//! Many jails at once, the controllers killed, and what is left after the next start.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const JAILS: usize = 200;

pub(crate) fn run() {
    let folder = tempfile::Builder::new().prefix("many-").tempdir_in("/var/tmp").unwrap();
    let before = Machine::look(folder.path());
    let begun = Instant::now();
    let mut children: Vec<Child> = (0..JAILS).map(|number| start(folder.path(), number)).collect();
    while (0..JAILS).any(|number| !folder.path().join(format!("{number}/work/ready")).exists()) {
        assert!(begun.elapsed() < Duration::from_mins(5), "they do not all start");
        sleep(Duration::from_millis(50));
    }
    let (started, during) = (begun.elapsed(), Machine::look(folder.path()));
    for child in &mut children {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    // The next start sweeps; the supervisors of the dead have their own way to clear up, which may take a moment more.
    let begun = Instant::now();
    let after = loop {
        sandbox(folder.path(), 0, &["true"]).status().unwrap();
        let after = Machine::look(folder.path());
        if after == before || begun.elapsed() > Duration::from_mins(1) {
            break after;
        }
        sleep(Duration::from_millis(100));
    };
    println!("| {JAILS} jails at once | before | running | after `kill -9` and the next start |");
    println!("|---|---|---|---|");
    let row = |what: &str, of: fn(&Machine) -> usize| {
        println!("| {what} | {} | {} | {} |", of(&before), of(&during), of(&after));
    };
    row("processes", |machine| machine.processes);
    row("mounts", |machine| machine.mounts);
    row("control groups", |machine| machine.groups);
    row("placeholders and stores", |machine| machine.files);
    println!("\nAll ran after {:.1} s.", started.as_secs_f64());
    assert_eq!(after, before, "something is left");
}

fn start(folder: &Path, number: usize) -> Child {
    let work = folder.join(format!("{number}/work"));
    fs::create_dir_all(&work).unwrap();
    let script = "setsid sleep 600 & sleep 600 & touch ready; wait";
    sandbox(folder, number, &["bash", "-c", script]).spawn().unwrap()
}

fn sandbox(folder: &Path, number: usize, command: &[&str]) -> Command {
    let mut ours = Command::new(env!("CARGO_BIN_EXE_sequester"));
    ours.args(["sandbox", "--profile", "writer", "--"]).args(command);
    ours.current_dir(folder.join(format!("{number}/work")))
        .env("XDG_STATE_HOME", folder.join("state"));
    ours.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    ours
}

/// What of jails there is.
#[derive(PartialEq, Eq, Debug)]
struct Machine {
    processes: usize,
    mounts: usize,
    groups: usize,
    files: usize,
}

impl Machine {
    fn look(folder: &Path) -> Self {
        let names = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
        let command =
            |entry: &fs::DirEntry| fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let is_ours = |line: &[u8]| {
            line.starts_with(b"sequester-jail\0") || line.starts_with(b"sleep\x00600\0")
        };
        let processes = names(Path::new("/proc")).filter(|entry| is_ours(&command(entry))).count();
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap().lines().count();
        let mut groups = 0;
        let mut open = vec![Path::new("/sys/fs/cgroup").to_owned()];
        while let Some(group) = open.pop() {
            for entry in
                names(&group).filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            {
                groups += 1;
                open.push(entry.path());
            }
        }
        let placeholders = names(folder).flat_map(|entry| names(&entry.path().join("work")));
        let files = placeholders.filter(|entry| entry.file_name() != "ready").count();
        let stores = names(&folder.join("state/sequester/jails")).count();
        Self { processes, mounts, groups, files: files + stores }
    }
}
