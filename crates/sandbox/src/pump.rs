//! What a jailed program reads and prints, through pipes of its own.

use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal as _, Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, dup};
use rustix::pipe::{PipeFlags, pipe_with};

use crate::terminal;

pub(crate) struct Pumps(Option<Pipes>);

struct Pipes {
    /// Of a pipe that nobody writes to: it ends when all threads of the output have.
    passed: (OwnedFd, OwnedFd),
    input: OwnedFd,
    output: OwnedFd,
    /// Nothing where they come with the output.
    errors: Option<OwnedFd>,
}

/// While they run.
pub(crate) struct Running {
    threads: Vec<(&'static str, JoinHandle<io::Result<()>>)>,
    over: Arc<AtomicBool>,
    lost_names: Arc<AtomicBool>,
    passed: Option<OwnedFd>,
}

/// What became of the output.
pub(crate) struct Passed {
    /// It was more than may pass.
    pub(crate) over: bool,
    /// Which stream took no more of it, and why; not where its reader is gone.
    pub(crate) lost: Option<(&'static str, io::Error)>,
    /// It says that a machine's name leads nowhere: no packet tells of that.
    pub(crate) lost_names: bool,
}

impl Pumps {
    pub(crate) fn new(
        input: OwnedFd,
        output: OwnedFd,
        errors: Option<OwnedFd>,
    ) -> io::Result<Self> {
        let passed = pipe_with(PipeFlags::CLOEXEC)?;
        Ok(Self(Some(Pipes { passed, input, output, errors })))
    }

    pub(crate) fn none() -> Self {
        Self(None)
    }

    /// Starts one thread for each stream. Past `most` bytes of output nothing more is passed on.
    pub(crate) fn start(self, most: Option<u64>) -> Running {
        let (over, lost_names) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        let Some(Pipes { passed: (passed, passing), input, output, errors }) = self.0 else {
            return Running { threads: Vec::new(), over, lost_names, passed: None };
        };
        // Reads until the person's input ends; nobody waits for it.
        if let Ok(stdin) = dup(rustix::stdio::stdin()) {
            let read = move || {
                drop(if stdin.is_terminal() {
                    terminal::pass_on(&stdin, input)
                } else {
                    copy(stdin, input, &Meter::endless())
                });
            };
            let _ = thread::Builder::new().spawn(read);
        }
        let (count, passing) = (Arc::new(AtomicU64::new(0)), Arc::new(passing));
        let out = |name, from: OwnedFd, to: io::Result<OwnedFd>| {
            let meter = Meter {
                count: count.clone(),
                most: most.unwrap_or(u64::MAX),
                over: over.clone(),
                lost_names: lost_names.clone(),
            };
            let (to, passing) = (to.ok()?, passing.clone());
            let run = move || {
                let _passing = passing;
                copy(from, to, &meter)
            };
            Some((name, thread::Builder::new().spawn(run).ok()?))
        };
        let stdout =
            out("standard output", output, dup(rustix::stdio::stdout()).map_err(Into::into));
        let stderr = errors.and_then(|errors| {
            out("standard error", errors, dup(rustix::stdio::stderr()).map_err(Into::into))
        });
        let threads = stdout.into_iter().chain(stderr).collect();
        Running { threads, over, lost_names, passed: Some(passed) }
    }
}

impl Running {
    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// After all writers have ended: waits until what they left is passed on. Gives up when it is time, and when there is nobody at the
    /// other side of `control`.
    pub(crate) fn finish(self, control: &impl AsFd, until: Option<Instant>) -> Passed {
        if !self.is_passed_on(control, until) {
            return Passed { over: self.is_over(), lost: None, lost_names: false };
        }
        let ended = self.threads.into_iter().map(|(name, thread)| (name, thread.join()));
        let lost = ended.filter_map(|(name, ended)| match ended {
            Ok(Err(error)) if error.kind() != ErrorKind::BrokenPipe => Some((name, error)),
            _ => None,
        });
        // All of them end.
        let lost: Vec<_> = lost.collect();
        Passed {
            over: self.over.load(Ordering::Relaxed),
            lost: lost.into_iter().next(),
            lost_names: self.lost_names.load(Ordering::Relaxed),
        }
    }

    fn is_passed_on(&self, control: &impl AsFd, until: Option<Instant>) -> bool {
        let Some(passed) = &self.passed else { return true };
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            let left = left.and_then(|left| Timespec::try_from(left).ok());
            let mut ready =
                [PollFd::new(passed, PollFlags::IN), PollFd::new(control, PollFlags::RDHUP)];
            match poll(&mut ready, left.as_ref()) {
                Err(Errno::INTR) => {}
                woken => return woken.is_ok() && !ready[0].revents().is_empty(),
            }
        }
    }
}

struct Meter {
    count: Arc<AtomicU64>,
    most: u64,
    over: Arc<AtomicBool>,
    lost_names: Arc<AtomicBool>,
}

/// What programs print when a name leads nowhere: the C library's words, and those of tools that have their own.
const LOST_NAMES: [&[u8]; 6] = [
    b"Name or service not known",
    b"Temporary failure in name resolution",
    b"Could not resolve host",
    b"getaddrinfo ENOTFOUND",
    b"getaddrinfo EAI_AGAIN",
    b"unable to resolve host address",
];

/// Messages are short. What is printed in larger pieces is something else.
const MESSAGE: usize = 4 << 10;

impl Meter {
    fn endless() -> Self {
        let (over, lost_names) = (Arc::default(), Arc::default());
        Self { count: Arc::default(), most: u64::MAX, over, lost_names }
    }

    fn listen(&self, piece: &[u8]) {
        let holds = |words: &[u8]| piece.windows(words.len()).any(|part| part == words);
        if piece.len() <= MESSAGE && LOST_NAMES.into_iter().any(holds) {
            self.lost_names.store(true, Ordering::Relaxed);
        }
    }

    /// How many of so many bytes may still pass.
    fn admit(&self, bytes: usize) -> usize {
        let before = self.count.fetch_add(bytes as u64, Ordering::Relaxed);
        let room = self.most.saturating_sub(before);
        if room < bytes as u64 {
            self.over.store(true, Ordering::Relaxed);
        }
        usize::try_from(room).unwrap_or(usize::MAX).min(bytes)
    }
}

/// Until either side ends, or no more may pass: then the reader is gone, and the writer is told so by the kernel. Fails where the other side
/// takes no more.
fn copy(from: OwnedFd, to: OwnedFd, meter: &Meter) -> io::Result<()> {
    let (mut from, mut to) = (File::from(from), File::from(to));
    let mut buffer = vec![0; 64 << 10];
    loop {
        let bytes = match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(bytes) => bytes,
            Err(error) if await_readiness(&error, &from, PollFlags::IN) => continue,
            Err(_) => return Ok(()),
        };
        let admitted = meter.admit(bytes);
        meter.listen(&buffer[..admitted]);
        write_all(&mut to, &buffer[..admitted])?;
        if admitted < bytes {
            return Ok(());
        }
    }
}

fn write_all(to: &mut File, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match to.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(error) if await_readiness(&error, to, PollFlags::OUT) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Whether it is worth another try, now that the stream is ready: others who hold it may have made it one that does not wait.
fn await_readiness(error: &io::Error, stream: &File, wanted: PollFlags) -> bool {
    if error.kind() == ErrorKind::WouldBlock {
        // Why it fails is told by the next try.
        let _ = poll(&mut [PollFd::new(stream, wanted)], None);
    }
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
