//! Processes that try to outlive the jail, and every way in which it can end.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::attempt::Profile;
use super::ground::Ground;
use super::leg::Leg;

/// How each one goes on. `N` is how long it sleeps, by which it is found again.
const KINDS: &[(&str, &str)] = &[
    ("in the background", "sleep $N &"),
    ("in a session of its own", "setsid sleep $N < /dev/null > /dev/null 2>&1 &"),
    ("deaf to the end of a session", "nohup sleep $N > /dev/null 2>&1 &"),
    ("disowned by its shell", "bash -c 'sleep '$N' & disown'"),
    ("below a shell that has ended", "(sh -c \"sleep $N & exit\" &)"),
    (
        "started twice over",
        r#"python3 -c "
import os, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0: os.execvp('sleep', ['sleep', '$N'])
    os._exit(0)
""#,
    ),
    (
        "deaf to signals",
        "sh -c \"trap '' HUP INT TERM QUIT; sleep $N\" < /dev/null > /dev/null 2>&1 &",
    ),
    ("stopped", "setsid sh -c 'kill -STOP $$' stopped $N < /dev/null > /dev/null 2>&1 &"),
    (
        "in a terminal of its own",
        "setsid script -qfc \"sleep $N\" /dev/null < /dev/null > /dev/null 2>&1 &",
    ),
    ("under another name", "bash -c 'exec -a kworker sleep '$N < /dev/null > /dev/null 2>&1 &"),
    (
        "always new",
        r#"setsid python3 -c "
import os, time
for _ in range(300):
    time.sleep(0.1)
    try: child = os.fork()
    except OSError: continue
    if child: os._exit(0)
" $N < /dev/null > /dev/null 2>&1 &"#,
    ),
];

/// How the jail comes to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Itself,
    Wall,
    Output,
    /// Whoever started it is killed, by this signal.
    Caller(Signal),
    /// The process beside the jail is killed.
    Supervisor,
}

pub(super) const ENDINGS: &[Ending] = &[
    Ending::Itself,
    Ending::Wall,
    Ending::Output,
    Ending::Caller(Signal::KILL),
    Ending::Caller(Signal::TERM),
    Ending::Caller(Signal::INT),
    Ending::Supervisor,
];

pub(super) fn kinds() -> usize {
    KINDS.len()
}

/// What outlived a jail that ended so; each kind is first seen to outlive its program without one.
pub(super) fn outlive(leg: Leg, profile: Profile, ending: Ending) -> Vec<String> {
    let ground = Ground::new(leg, &[]);
    let mut faults = Vec::new();
    let free = Brood::new(&ground, None, ending);
    let found = free.seen();
    for (kind, _) in KINDS.iter().filter(|(kind, _)| !found.contains(kind)) {
        faults
            .push(format!("{ending:?} of itself, without any jail, so it proves nothing: {kind}"));
    }
    drop(free);
    let jailed = Brood::new(&ground, Some(profile), ending);
    let found = jailed.survivors();
    // What a crash leaves on the machine is taken away at the next start.
    let next = ground.jailed(profile, &[], &["/bin/true"]).output().unwrap();
    if !next.status.success() {
        faults.push(format!("{ending:?} of the jail before, so that no other starts: {next:?}"));
    }
    let name = profile.name();
    faults.extend(found.iter().map(|kind| format!("{ending:?} of the jail `{name}`: {kind}")));
    faults
}

/// The processes of one run, told from all others by how long they sleep.
struct Brood {
    first: u32,
}

impl Brood {
    fn new(ground: &Ground, jail: Option<Profile>, ending: Ending) -> Self {
        let first = unique();
        let brood = Self { first };
        let mut child = brood.start(ground, jail, ending);
        brood.wait_for_all();
        match ending {
            Ending::Itself | Ending::Wall | Ending::Output => {}
            Ending::Caller(signal) => send(child.id(), signal),
            // Without a jail there is none, and its program is ended instead.
            Ending::Supervisor => match jail {
                Some(_) => children(child.id()).into_iter().for_each(|pid| send(pid, Signal::KILL)),
                None => send(child.id(), Signal::KILL),
            },
        }
        let _ = child.wait();
        brood
    }

    fn start(&self, ground: &Ground, jail: Option<Profile>, ending: Ending) -> Child {
        let mut script = String::new();
        for (at, (_, line)) in KINDS.iter().enumerate() {
            let _ = writeln!(script, "N={}\n{line}", self.first + at as u32);
        }
        // Each time all of them are there before it ends.
        script.push_str(match ending {
            Ending::Itself => "sleep 1.5",
            Ending::Output => "sleep 1.5; head -c 3000000 /dev/zero; exec sleep 40",
            Ending::Wall | Ending::Caller(_) | Ending::Supervisor => "exec sleep 40",
        });
        let words = ["/bin/sh", "-c", &script];
        let mut command: Command = match jail {
            Some(profile) => ground.jailed(profile, limits(ending), &words),
            None if matches!(ending, Ending::Wall | Ending::Output) => {
                let all = ["--foreground", "--signal=KILL", "3", "/bin/sh", "-c", &script];
                ground.command("/usr/bin/timeout".as_ref(), &all)
            }
            None => ground.command(words[0].as_ref(), &words[1..]),
        };
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Until each has been seen, or it took too long.
    fn wait_for_all(&self) {
        let late = Instant::now() + Duration::from_secs(10);
        while self.alive().len() < KINDS.len() && Instant::now() < late {
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// All that are there, also those that are only there at times.
    fn seen(&self) -> BTreeSet<&'static str> {
        let late = Instant::now() + Duration::from_secs(2);
        let mut seen = BTreeSet::new();
        while seen.len() < KINDS.len() && Instant::now() < late {
            seen.extend(self.alive().into_keys());
            std::thread::sleep(Duration::from_millis(20));
        }
        seen
    }

    /// What is still there when all had time to end: until none has been seen several times.
    fn survivors(&self) -> BTreeSet<&'static str> {
        let late = Instant::now() + Duration::from_secs(4);
        let (mut last, mut empty) = (BTreeSet::new(), 0);
        while empty < 5 && Instant::now() < late {
            let alive = self.alive();
            empty = if alive.is_empty() { empty + 1 } else { 0 };
            if !alive.is_empty() {
                last = alive.into_keys().collect();
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        if empty == 5 { BTreeSet::new() } else { last }
    }

    fn alive(&self) -> BTreeMap<&'static str, u32> {
        let mut found = BTreeMap::new();
        for pid in processes() {
            let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let mut words = words.split(|byte| *byte == 0).skip(1);
            let Some(number) = words.find_map(|word| std::str::from_utf8(word).ok()?.parse().ok())
            else {
                continue;
            };
            let kind: Option<u32> = u32::checked_sub(number, self.first);
            if let Some((kind, _)) = kind.and_then(|at| KINDS.get(at as usize)) {
                found.insert(*kind, pid);
            }
        }
        found
    }
}

impl Drop for Brood {
    /// By their ids, until none has been seen several times.
    fn drop(&mut self) {
        let mut empty = 0;
        while empty < 5 {
            let alive = self.alive();
            empty = if alive.is_empty() { empty + 1 } else { 0 };
            for pid in alive.values() {
                send(*pid, Signal::KILL);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

fn limits(ending: Ending) -> &'static [&'static str] {
    match ending {
        Ending::Wall => &["wall=3s"],
        Ending::Output => &["wall=40s", "output=1M"],
        _ => &["wall=100s"],
    }
}

/// A number of seconds that nobody else sleeps.
fn unique() -> u32 {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    1_000_000 + std::process::id() % 10_000 * 10_000 + NEXT.fetch_add(100, Ordering::Relaxed)
}

fn send(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // It may have ended.
        let _ = kill_process(pid, signal);
    }
}

fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn children(pid: u32) -> Vec<u32> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}
