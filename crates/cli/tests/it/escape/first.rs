//! The process beside a jail and the first one in it, which are forked and not started anew: what they have of the person's, seen from
//! outside with all rights.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::Stdio;

use super::attempt::Profile;
use super::ground::Ground;
use super::leg::Leg;
use crate::machine;

/// Becomes the program as nobody should have to start it: with files open at the numbers that it uses itself, signals ignored and others
/// blocked.
const BURDEN: &str = r#"
import os, signal, sys
for one in (signal.SIGHUP, signal.SIGTERM, signal.SIGCHLD, signal.SIGUSR1): signal.signal(one, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2, signal.SIGALRM})
file = os.open(sys.argv[1], os.O_RDONLY)
for number in (3, 4, 5, 40): os.dup2(file, number)
os.execv(sys.argv[2], sys.argv[2:])
"#;

/// Signals 32 and 33, which libc lets nobody set: they stay as they were inherited.
const OF_LIBC: u64 = 0b11 << 31;

/// Every program of ours ignores it.
const CLOSED_PIPE: u64 = 1 << (13 - 1);

/// A process as the kernel tells of it.
struct Seen {
    number: u32,
    leader: u32,
    /// Without the zeros at its end.
    arguments: String,
    variables: Vec<u8>,
    files: Vec<String>,
    ignored: u64,
    blocked: u64,
    memory: Vec<u8>,
}

impl Seen {
    fn look(number: u32) -> Self {
        let folder = Path::new("/proc").join(number.to_string());
        let read = |file: &str| fs::read(folder.join(file)).unwrap();
        let status = String::from_utf8(read("status")).unwrap();
        let signals = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            u64::from_str_radix(line.unwrap().trim(), 16).unwrap() & !OF_LIBC
        };
        let links = fs::read_dir(folder.join("fd")).unwrap().map(|entry| entry.unwrap().path());
        let links = links.filter_map(|path| fs::read_link(path).ok());
        let arguments = String::from_utf8(read("cmdline")).unwrap();
        Self {
            number,
            leader: field(number, 6),
            arguments: arguments.trim_end_matches('\0').to_owned(),
            variables: read("environ"),
            files: links.map(|link| link.display().to_string()).collect(),
            ignored: signals("SigIgn:"),
            blocked: signals("SigBlk:"),
            memory: memory(&folder),
        }
    }

    fn child(&self) -> Self {
        let all = fs::read_dir("/proc").unwrap().flatten();
        let mut numbers = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        Self::look(numbers.find(|number| field(*number, 4) == self.number).unwrap())
    }

    fn remembers(&self, text: &str) -> bool {
        self.memory.windows(text.len()).any(|window| window == text.as_bytes())
    }
}

/// As `proc(5)` counts the fields; nought for a process that is gone.
fn field(process: u32, number: usize) -> u32 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let (_, fields) = stat.rsplit_once(')').unwrap_or_default();
    fields.split_whitespace().nth(number - 3).and_then(|field| field.parse().ok()).unwrap_or(0)
}

/// All that it can write to, and so all that it may have noted.
fn memory(folder: &Path) -> Vec<u8> {
    let file = fs::File::open(folder.join("mem")).unwrap();
    let maps = fs::read_to_string(folder.join("maps")).unwrap();
    let mut all = Vec::new();
    for line in maps.lines().filter(|line| line.contains(" rw")) {
        let (first, last) = line.split(' ').next().and_then(|range| range.split_once('-')).unwrap();
        let [first, last] = [first, last].map(|one| u64::from_str_radix(one, 16).unwrap());
        let mut part = vec![0; usize::try_from(last - first).unwrap()];
        file.read_exact_at(&mut part, first).unwrap();
        all.extend(part);
    }
    all
}

#[test]
fn what_keeps_a_jail_has_nothing_of_whoever_started_it() {
    let obstacle = (!machine::is_root()).then_some("it takes root");
    if !machine::may_go("the processes that keep a jail", obstacle) {
        return;
    }
    for leg in [Leg::Root, Leg::User, Leg::Fallback] {
        let ground = Ground::new(leg, &[]);
        let (secret, canary) = (ground.path("outside/secret"), ground.canary());
        let (secret, program) = (secret.to_str().unwrap(), machine::program().to_str().unwrap());
        let jailed = ["sandbox", "--profile", Profile::ReadOnly.name(), "--", "sh", "-c"];
        let words = [&["-c", BURDEN, secret, program][..], &jailed, &["echo up; cat"]].concat();
        let mut command = ground.command(Path::new("/usr/bin/python3"), &words);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "up\n", "{leg:?}");
        let started = Seen::look(child.id());
        let beside = started.child();
        let first = beside.child();
        drop(child.stdin.take());
        assert_eq!(child.wait().unwrap().code(), Some(0), "{leg:?}");
        // All of it can be seen where it is.
        assert!(started.arguments.contains("echo up"), "{leg:?}");
        assert!(String::from_utf8_lossy(&started.variables).contains(canary), "{leg:?}");
        assert!(started.files.iter().any(|file| file == secret), "{leg:?}");
        assert!(started.remembers(canary), "{leg:?}");
        assert!(started.ignored != CLOSED_PIPE && started.blocked != 0, "{leg:?}");
        assert_ne!(started.leader, started.number, "{leg:?}");
        for (name, kept) in [("beside", &beside), ("first", &first)] {
            let told = format!("{leg:?}: {name}");
            assert_eq!(kept.arguments, "sequester-jail", "{told}");
            assert!(kept.variables.iter().all(|byte| *byte == 0), "{told}");
            assert!(!kept.files.iter().any(|file| file == secret), "{told}: {:?}", kept.files);
            assert!(!kept.remembers(canary), "{told}");
            assert_eq!((kept.ignored, kept.blocked), (CLOSED_PIPE, 0), "{told}");
        }
        assert_eq!(beside.leader, beside.number, "{leg:?}");
    }
}
