//! The controller's side: starts a supervisor with a blueprint and hears how it went.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, waitpid};

use sequester_core::change::Change;

use crate::blueprint::Blueprint;
use crate::harvest::{self, Rules};
use crate::link::Link;
use crate::order::{Ending, Order, Program, Said, Trouble, Wish};
use crate::signals::HeldBack;
use crate::supervise::{CONTROL, MARK, SOCKET, is_supervisor, supervise};
use crate::sys::{self, Alone, Given};
use crate::{groups, probe};

/// What a command is connected to.
#[derive(Clone, Copy)]
pub struct Streams<'a> {
    pub stdin: BorrowedFd<'a>,
    pub stdout: BorrowedFd<'a>,
    pub stderr: BorrowedFd<'a>,
}

/// A supervisor that waits for its jail: it starts while the jail is still thought out. It ends with this value.
pub struct Supervisor {
    pid: Pid,
    control: Link,
}

/// A jail that runs. It ends with this value.
pub struct Jail(Supervisor);

/// Why there is no jail, or no word of its end.
#[derive(Debug)]
pub enum Error {
    /// The jail could not be made.
    Jail(Trouble),
    /// This program does not call `enter_if_jailed` first.
    NotEntered,
    /// The jail stood, and no change came out of it.
    Harvest(String),
    Io(io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Jail(trouble) => write!(formatter, "The jail could not be made ({trouble})."),
            Self::NotEntered => formatter.write_str(
                "No jail can be started: `main` must call `sequester_sandbox::enter_if_jailed` first.",
            ),
            Self::Harvest(why) => write!(formatter, "The change could not be taken: {why}"),
            Self::Io(error) => write!(formatter, "The jail could not be started: {error}."),
        }
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Supervisor {
    /// For a command that is connected to these streams.
    pub fn start(streams: Streams<'_>) -> Result<Self, Error> {
        Self::connect(streams, None, spawn)
    }

    /// The same for a program that begins, and of the person's holds nothing yet but what it was started with: while it has one
    /// thread the supervisor goes on from here, for less than the start of a program.
    pub fn branch(streams: Streams<'_>) -> Result<Self, Error> {
        Self::connect(streams, None, branch)
    }

    fn connect(
        streams: Streams<'_>,
        socket: Option<BorrowedFd<'_>>,
        begin: fn(&[Given<'_>]) -> io::Result<Pid>,
    ) -> Result<Self, Error> {
        // A program that does not enter would start itself again and again.
        if is_supervisor() {
            return Err(Error::NotEntered);
        }
        let (ours, theirs) = Link::pair()?;
        let mut given = vec![
            (streams.stdin, 0),
            (streams.stdout, 1),
            (streams.stderr, 2),
            (theirs.as_fd(), CONTROL),
        ];
        given.extend(socket.map(|socket| (socket, SOCKET)));
        Ok(Self { pid: begin(&given)?, control: ours })
    }

    /// Runs a command; its words are those of a shell's command line after parsing.
    pub fn run(self, blueprint: &Blueprint, command: Vec<String>) -> Result<Jail, Error> {
        self.keep(blueprint, Program::Command(command), None)
    }

    /// The same where signals are held back: one that comes before the program starts ends the jail, and then this process.
    pub fn run_held(
        self,
        blueprint: &Blueprint,
        command: Vec<String>,
        signals: &HeldBack,
    ) -> Result<Jail, Error> {
        self.keep(blueprint, Program::Command(command), Some(signals))
    }

    fn keep(
        self,
        blueprint: &Blueprint,
        program: Program,
        signals: Option<&HeldBack>,
    ) -> Result<Jail, Error> {
        let order = sealed(&Order { blueprint: blueprint.clone(), program })?;
        match self.control.say_with(&Wish::Keep, Some(order.as_fd())) {
            // One that ended before it was told does not enter.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                return Err(Error::NotEntered);
            }
            told => told?,
        }
        if let Some(signals) = signals
            && let Some(signal) = self.started_or_signal(signals)?
        {
            // It clears up first.
            drop(self);
            signals.end_by(signal);
        }
        match self.hear()? {
            Some(Said::Started) => Ok(Jail(self)),
            Some(Said::Failed(trouble)) => Err(Error::Jail(trouble)),
            _ => Err(Error::NotEntered),
        }
    }

    /// Waits until the supervisor says that the program started or why not, and for the signal that came before: then the jail
    /// ends. The program may be running before that is said. A second signal ends this process at once.
    fn started_or_signal(&self, signals: &HeldBack) -> io::Result<Option<Signal>> {
        let mut came = None;
        loop {
            if self.has_said(signals)? {
                return Ok(came);
            }
            match (signals.take(), came) {
                (Some(again), Some(_)) => signals.end_by(again),
                (Some(signal), None) => {
                    // Fails only if the supervisor is gone, which is heard next.
                    let _ = self.control.say(&Wish::Stop);
                    came = Some(signal);
                }
                (None, _) => {}
            }
        }
    }

    /// Waits for a word or a signal; whether there is a word.
    fn has_said(&self, signals: &HeldBack) -> io::Result<bool> {
        let mut ready =
            [PollFd::new(&self.control, PollFlags::IN), PollFd::new(signals, PollFlags::IN)];
        match poll(&mut ready, None) {
            Err(Errno::INTR) => Ok(false),
            polled => {
                polled?;
                Ok(!ready[0].revents().is_empty())
            }
        }
    }

    fn hear(&self) -> io::Result<Option<Said>> {
        Ok(self.control.hear()?.map(|(said, _)| said))
    }
}

impl Jail {
    /// Runs a command that is connected to these streams.
    pub fn run(
        blueprint: &Blueprint,
        command: Vec<String>,
        streams: Streams<'_>,
    ) -> Result<Self, Error> {
        Supervisor::start(streams)?.run(blueprint, command)
    }

    /// Runs what `enter_if_jailed` was given, and gives the line to it.
    pub fn serve(blueprint: &Blueprint) -> Result<(Self, UnixStream), Error> {
        Self::connect(blueprint, Program::Server)
    }

    /// What became of a workspace, computed in the jail that [`crate::compile_harvest`] made for it.
    pub fn harvest(blueprint: &Blueprint, rules: &Rules) -> Result<Change, Error> {
        let (jail, mut line) = Self::connect(blueprint, Program::Harvest(rules.clone()))?;
        let received = harvest::receive(&mut line, rules);
        match (received, jail.wait(|_| ())?) {
            (Ok(change), _) => Ok(change),
            (Err(_), Ending::Killed(cause)) => Err(Error::Harvest(cause.sentence().to_owned())),
            (Err(error), _) => Err(Error::Harvest(error.to_string())),
        }
    }

    fn connect(blueprint: &Blueprint, program: Program) -> Result<(Self, UnixStream), Error> {
        let null = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null")?;
        let (ours, theirs) = UnixStream::pair()?;
        let null = null.as_fd();
        let streams = Streams { stdin: null, stdout: null, stderr: null };
        let jail = Self::launch(blueprint, program, streams, Some(theirs.as_fd()))?;
        Ok((jail, ours))
    }

    pub(crate) fn launch(
        blueprint: &Blueprint,
        program: Program,
        streams: Streams<'_>,
        socket: Option<BorrowedFd<'_>>,
    ) -> Result<Self, Error> {
        Supervisor::connect(streams, socket, spawn)?.keep(blueprint, program, None)
    }

    /// What the supervisor says next; nothing when it has gone.
    pub fn hear(&self) -> io::Result<Option<Said>> {
        self.0.hear()
    }

    /// Waits for the end; `heard` is told all that comes before.
    pub fn wait(self, mut heard: impl FnMut(Said)) -> Result<Ending, Error> {
        loop {
            match self.hear()? {
                Some(Said::Ended(ending)) => return Ok(ending),
                Some(said) => heard(said),
                None => return Err(io::Error::other("its supervisor is gone").into()),
            }
        }
    }

    /// The same where signals are held back: one that comes ends the jail first, and is given too. A second one ends this program at once:
    /// the supervisor clears up alone.
    pub fn wait_held(
        self,
        signals: &HeldBack,
        mut heard: impl FnMut(Said),
    ) -> Result<(Ending, Option<Signal>), Error> {
        let mut came = None;
        loop {
            match (signals.take(), came) {
                (Some(again), Some(_)) => signals.end_by(again),
                (Some(signal), None) => {
                    // Fails only if the supervisor is gone, which is heard next.
                    let _ = self.0.control.say(&Wish::Stop);
                    came = Some(signal);
                }
                (None, _) => {}
            }
            if self.0.has_said(signals)? {
                match self.hear()? {
                    Some(Said::Ended(ending)) => return Ok((ending, came.or(signals.take()))),
                    Some(said) => heard(said),
                    None => return Err(io::Error::other("its supervisor is gone").into()),
                }
            }
        }
    }

    /// For another thread than the one that waits.
    pub fn handle(&self) -> io::Result<Handle> {
        self.0.control.share().map(Handle)
    }
}

/// Speaks to a jail that somebody else waits for.
pub struct Handle(Link);

impl Handle {
    pub fn stop(&self) {
        // Fails only if the supervisor is gone.
        let _ = self.0.say(&Wish::Stop);
    }

    /// Starts a further program in the jail of a server. What it reads and prints is this stream, which closes with its end, or at
    /// once where there is no such program.
    pub fn spawn(&self, words: Vec<String>) -> io::Result<UnixStream> {
        let (ours, theirs) = UnixStream::pair()?;
        self.0.say_with(&Wish::Spawn(words), Some(theirs.as_fd()))?;
        Ok(ours)
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        // It ends with its line, and clears up first.
        self.control.close();
        let ended = loop {
            match waitpid(Some(self.pid), WaitOptions::empty()) {
                Err(Errno::INTR) => {}
                ended => break ended,
            }
        };
        // Killed, it could not.
        if matches!(ended, Ok(Some((_, status))) if status.signaled()) {
            for parent in probe::group_parents() {
                groups::sweep(&parent);
            }
        }
    }
}

fn spawn(given: &[Given<'_>]) -> io::Result<Pid> {
    sys::spawn(c"/proc/self/exe", MARK, given)
}

fn branch(given: &[Given<'_>]) -> io::Result<Pid> {
    let Some(alone) = Alone::look() else { return spawn(given) };
    // What is branched off runs commands and serves nothing.
    alone.branch(MARK, given)?.map_or_else(|| supervise(drop), Ok)
}

/// A file in memory that nobody can change any more.
fn sealed(order: &Order) -> io::Result<std::fs::File> {
    let file = memfd_create("order", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    let file = std::fs::File::from(file);
    serde_json::to_writer(io::BufWriter::new(&file), order)?;
    fcntl_add_seals(
        &file,
        SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL,
    )?;
    Ok(file)
}
