//! What a jailed program reads and prints, through pipes of its own.

use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

use rustix::io::dup;

pub(crate) struct Pumps(Option<Pipes>);

struct Pipes {
    input: OwnedFd,
    output: OwnedFd,
    /// Nothing where they come with the output.
    errors: Option<OwnedFd>,
}

/// While they run.
pub(crate) struct Running {
    threads: Vec<(&'static str, JoinHandle<io::Result<()>>)>,
    over: Arc<AtomicBool>,
}

/// What became of the output.
pub(crate) struct Passed {
    /// It was more than may pass.
    pub(crate) over: bool,
    /// Which stream took no more of it, and why; not where its reader is gone.
    pub(crate) lost: Option<(&'static str, io::Error)>,
}

impl Pumps {
    pub(crate) fn new(input: OwnedFd, output: OwnedFd, errors: Option<OwnedFd>) -> Self {
        Self(Some(Pipes { input, output, errors }))
    }

    pub(crate) fn none() -> Self {
        Self(None)
    }

    /// Starts one thread for each stream. Past `most` bytes of output nothing more is passed on.
    pub(crate) fn start(self, most: Option<u64>) -> Running {
        let over = Arc::new(AtomicBool::new(false));
        let Some(Pipes { input, output, errors }) = self.0 else {
            return Running { threads: Vec::new(), over };
        };
        // Reads until the person's input ends; nobody waits for it.
        if let Ok(stdin) = dup(rustix::stdio::stdin()) {
            let _ =
                thread::Builder::new().spawn(move || drop(copy(stdin, input, &Meter::endless())));
        }
        let count = Arc::new(AtomicU64::new(0));
        let out = |name, from: OwnedFd, to: io::Result<OwnedFd>| {
            let meter =
                Meter { count: count.clone(), most: most.unwrap_or(u64::MAX), over: over.clone() };
            let to = to.ok()?;
            Some((name, thread::Builder::new().spawn(move || copy(from, to, &meter)).ok()?))
        };
        let stdout =
            out("standard output", output, dup(rustix::stdio::stdout()).map_err(Into::into));
        let stderr = errors.and_then(|errors| {
            out("standard error", errors, dup(rustix::stdio::stderr()).map_err(Into::into))
        });
        Running { threads: stdout.into_iter().chain(stderr).collect(), over }
    }
}

impl Running {
    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// After all writers have ended: waits until what they left is passed on.
    pub(crate) fn finish(self) -> Passed {
        let ended = self.threads.into_iter().map(|(name, thread)| (name, thread.join()));
        let lost = ended.filter_map(|(name, ended)| match ended {
            Ok(Err(error)) if error.kind() != io::ErrorKind::BrokenPipe => Some((name, error)),
            _ => None,
        });
        // All of them end.
        let lost: Vec<_> = lost.collect();
        Passed { over: self.over.load(Ordering::Relaxed), lost: lost.into_iter().next() }
    }
}

struct Meter {
    count: Arc<AtomicU64>,
    most: u64,
    over: Arc<AtomicBool>,
}

impl Meter {
    fn endless() -> Self {
        Self { count: Arc::default(), most: u64::MAX, over: Arc::default() }
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
    let (mut from, mut to) = (std::fs::File::from(from), std::fs::File::from(to));
    let mut buffer = vec![0; 64 << 10];
    loop {
        let bytes = match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return Ok(()),
        };
        let admitted = meter.admit(bytes);
        to.write_all(&buffer[..admitted])?;
        if admitted < bytes {
            return Ok(());
        }
    }
}
