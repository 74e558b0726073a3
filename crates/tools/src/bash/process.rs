//! A command under way: its output as it comes, its end, and the end of all that it started.

use std::collections::BTreeMap;
use std::io::{self, PipeReader, Read as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, getpid, kill_process_group, waitid};

use super::leftover::{self, Process, descendants};
use sequester_core::excerpt::Cap;

/// How long output may still come when the command has ended: a `tee` behind it needs a moment.
const GRACE: Duration = Duration::from_millis(250);
/// How long the server waits for commands that it has ended, and how often it looks.
const STOPPING: Duration = Duration::from_secs(5);
const MOMENT: Duration = Duration::from_millis(1);

/// A command to run.
pub(super) struct Order<'a> {
    pub(super) command: &'a str,
    pub(super) folder: &'a Path,
    pub(super) environment: &'a BTreeMap<String, String>,
    pub(super) limit: Duration,
    /// Bytes of output that are kept.
    pub(super) output: usize,
}

pub(super) struct Ended {
    pub(super) output: String,
    pub(super) end: End,
    /// Names of the processes that it left in the background, which were ended.
    pub(super) leftovers: Vec<String>,
}

pub(super) enum End {
    /// With 128 and the signal's number, where a signal ended it.
    Exited(i32),
    TimedOut,
}

/// The commands that run now.
#[derive(Default)]
pub(crate) struct Commands {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    stopped: bool,
    /// Every process beneath this one was started by a command.
    owns_process: bool,
    /// Numbers of process groups; none of them is reaped yet.
    groups: Vec<Pid>,
}

impl Commands {
    /// From now on all that a command leaves behind is found, however it went away. For a process that starts nothing
    /// but commands.
    pub(crate) fn own_process(&self) -> io::Result<()> {
        leftover::adopt()?;
        self.lock().owns_process = true;
        Ok(())
    }

    pub(super) fn run(&self, order: &Order<'_>) -> io::Result<Ended> {
        let (output, child) = self.start(order)?;
        let group = Group { commands: self, leader: Pid::from_child(&child), child };
        group.follow(output, order)
    }

    fn start(&self, order: &Order<'_>) -> io::Result<(PipeReader, Child)> {
        let (output, input) = io::pipe()?;
        let shell = find_shell(order.environment.get("PATH"));
        let mut command = Command::new(&shell);
        command
            .arg("-c")
            .arg(order.command)
            .current_dir(order.folder)
            .env_clear()
            .envs(order.environment)
            .stdin(Stdio::null())
            .stdout(input.try_clone()?)
            .stderr(input)
            .process_group(0);
        let mut state = self.lock();
        if state.stopped {
            return Err(io::Error::other("the tool server is ending"));
        }
        let told = |error| io::Error::other(format!("the shell `{}`: {error}", shell.display()));
        let child = command.spawn().map_err(told)?;
        state.groups.push(Pid::from_child(&child));
        Ok((output, child))
    }

    /// Ends what runs and lets nothing start.
    pub(crate) fn stop(&self) {
        let mut state = self.lock();
        state.stopped = true;
        for group in &state.groups {
            // Fails only if it has ended.
            let _ = kill_process_group(*group, Signal::KILL);
        }
        let waiting = |state: &mut State| !state.groups.is_empty();
        let _ = self.changed.wait_timeout_while(state, STOPPING, waiting);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that can panic runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A command's process group. Its leader is reaped last, so that the group's number stays its own.
struct Group<'c> {
    commands: &'c Commands,
    leader: Pid,
    child: Child,
}

impl Group<'_> {
    fn follow(mut self, mut output: PipeReader, order: &Order<'_>) -> io::Result<Ended> {
        let mut kept = Cap::new(order.output);
        let watched = watch(self.leader)
            .and_then(|ended| read_until_end(&mut output, &ended, order.limit, &mut kept));
        let left = self.left();
        let leftovers = match watched {
            Ok(Watched::Ended) => name(&left),
            _ => Vec::new(),
        };
        self.end_all(left);
        // All writers are gone, so this is what was still in the pipe.
        let drained = drain(&mut output, &mut kept);
        self.leave();
        let status = self.child.wait()?;
        let end = match watched? {
            Watched::Ended => End::Exited(exit_code(status)),
            Watched::TimedOut => End::TimedOut,
        };
        drained?;
        Ok(Ended { output: kept.finish(), end, leftovers })
    }

    /// What the command has started and is still there. Its leader stays behind, to be reaped last.
    fn left(&self) -> Vec<Process> {
        let state = self.commands.lock();
        if !state.owns_process {
            return descendants(self.leader, &[]);
        }
        // Other commands, if there are any, are ended by their own calls.
        let others: Vec<Pid> =
            state.groups.iter().copied().filter(|leader| *leader != self.leader).collect();
        let mut left = descendants(getpid(), &others);
        left.retain(|process| process.pid != self.leader || process.lives);
        left
    }

    /// Ends the group and the processes of `left`, until none is there. What is quicker than this for seconds is left
    /// to the jail.
    fn end_all(&self, mut left: Vec<Process>) {
        let until = Instant::now() + STOPPING;
        loop {
            // Fails only if none is left.
            let _ = kill_process_group(self.leader, Signal::KILL);
            left.iter().for_each(Process::end);
            let was_empty = left.is_empty();
            left = self.left();
            // Twice, as one that changes its parent during a look may be missed.
            if was_empty && left.is_empty() || Instant::now() >= until {
                break;
            }
            if !left.is_empty() {
                thread::sleep(MOMENT);
            }
        }
    }

    fn leave(&self) {
        self.commands.lock().groups.retain(|group| *group != self.leader);
        self.commands.changed.notify_all();
    }
}

fn name(left: &[Process]) -> Vec<String> {
    let living = left.iter().filter(|process| process.lives);
    let mut names: Vec<String> = living.map(|process| process.name.clone()).collect();
    names.sort_unstable();
    names
}

enum Watched {
    Ended,
    TimedOut,
}

/// A pipe that closes when the process ends; it is not reaped.
fn watch(leader: Pid) -> io::Result<PipeReader> {
    let (ended, open) = io::pipe()?;
    thread::Builder::new().name("command".into()).spawn(move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(leader), options), Err(Errno::INTR)) {}
        drop(open);
    })?;
    Ok(ended)
}

/// Reads until the command has ended and its output is closed, or time is up.
fn read_until_end(
    output: &mut PipeReader,
    ended: &PipeReader,
    limit: Duration,
    kept: &mut Cap,
) -> io::Result<Watched> {
    let mut until = Instant::now().checked_add(limit);
    let (mut open, mut running) = (true, true);
    while open || running {
        let now = Instant::now();
        if until.is_some_and(|until| now >= until) {
            return Ok(if running { Watched::TimedOut } else { Watched::Ended });
        }
        let wait = until.map(|until| until - now);
        // What has closed is not asked again: it would always be ready.
        let mut fds = Vec::with_capacity(2);
        if running {
            fds.push(PollFd::new(ended, PollFlags::IN));
        }
        if open {
            fds.push(PollFd::new(&*output, PollFlags::IN));
        }
        wait_for(&mut fds, wait)?;
        let is_ready = |fd: &PollFd<'_>| !fd.revents().is_empty();
        let over = running && fds.first().is_some_and(is_ready);
        let more = open && fds.last().is_some_and(is_ready);
        if over {
            running = false;
            until = Instant::now().checked_add(GRACE);
        }
        if more {
            open = take(output, kept)? > 0;
        }
    }
    Ok(Watched::Ended)
}

/// Reads what is there now, and what comes until it closes or nothing comes for a moment.
fn drain(output: &mut PipeReader, kept: &mut Cap) -> io::Result<()> {
    let until = Instant::now() + GRACE;
    while Instant::now() < until {
        let mut fds = [PollFd::new(&*output, PollFlags::IN)];
        wait_for(&mut fds, Some(GRACE / 5))?;
        let ready = !fds[0].revents().is_empty();
        if !ready || take(output, kept)? == 0 {
            break;
        }
    }
    Ok(())
}

/// Waits until one is ready or time is up.
fn wait_for(fds: &mut [PollFd<'_>], time: Option<Duration>) -> io::Result<()> {
    // A time beyond what the kernel counts is as good as none.
    let time = time.and_then(|time| Timespec::try_from(time).ok());
    match poll(fds, time.as_ref()) {
        Ok(_) => Ok(()),
        Err(Errno::INTR) => {
            fds.iter_mut().for_each(PollFd::clear_revents);
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

fn take(output: &mut PipeReader, kept: &mut Cap) -> io::Result<usize> {
    let mut buffer = [0; 16 << 10];
    let length = output.read(&mut buffer)?;
    kept.push(&buffer[..length]);
    Ok(length)
}

fn exit_code(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(-1)
}

/// `bash` where the command's own PATH has it, else `sh`, which every system has.
fn find_shell(path: Option<&String>) -> PathBuf {
    let folders =
        path.map_or("", String::as_str).split(':').filter(|folder| folder.starts_with('/'));
    let mut found =
        folders.chain(["/bin", "/usr/bin"]).map(|folder| Path::new(folder).join("bash"));
    found.find(|file| file.is_file()).unwrap_or_else(|| PathBuf::from("/bin/sh"))
}
