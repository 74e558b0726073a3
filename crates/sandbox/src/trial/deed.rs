//! What a jailed process does to try its jail: looks for what it must not have, or goes beyond a limit.

use std::fs;
use std::io::{Read as _, Write as _, stdout};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::process::setsid;
use rustix::thread::{capabilities, no_new_privs};
use serde::{Deserialize, Serialize};

use crate::sys;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Deed {
    Look(Box<Look>),
    /// Longer than it may.
    Stay,
    /// So many bytes.
    Print(u64),
    /// So many threads.
    Breed(u32),
    /// Takes so many bytes of memory.
    Grow(u64),
    /// So many bytes of files in a folder.
    Fill(PathBuf, u64),
}

/// The first step of a deed went well; all of it did.
pub(crate) const BEGUN: u8 = b'b';
pub(crate) const DONE: u8 = b'd';

/// What to look for.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Look {
    /// What stands in files that are read.
    pub(crate) canary: String,
    pub(crate) read: Vec<PathBuf>,
    pub(crate) write: Vec<PathBuf>,
    /// Device and number of a file that whoever started this holds open.
    pub(crate) held: (u64, u64),
    /// Ports on the machine's loopback: of a host that is not named, and of one that is.
    pub(crate) ports: (u16, Option<u16>),
    /// The port of the proxy.
    pub(crate) proxy: Option<u16>,
    /// A folder of a layer beneath.
    pub(crate) rename: Option<PathBuf>,
}

/// What came of it.
#[expect(clippy::struct_excessive_bools, reason = "each is one thing that was tried")]
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Seen {
    pub(crate) read: Vec<bool>,
    pub(crate) wrote: Vec<bool>,
    pub(crate) variables: usize,
    pub(crate) holds: bool,
    pub(crate) privileged: bool,
    /// To the machine's loopback, not through the proxy.
    pub(crate) connected: bool,
    pub(crate) reached_unnamed: bool,
    pub(crate) reached_named: bool,
    pub(crate) renamed: Option<bool>,
}

/// In the jail, as its program.
pub(crate) fn perform(deed: &Deed, mut line: UnixStream) {
    if let Deed::Look(look) = deed {
        if let Ok(None) = sys::fork() {
            outlive();
        }
        // Whoever waits for an answer sees the line close.
        let _ = serde_json::to_writer(&line, &look.perform());
        return;
    }
    let mut say = |word: u8| line.write_all(&[word]);
    if overstep(deed, || drop(say(BEGUN))).is_some() {
        // Where a limit is watched and not counted, this is ended while it lasts, also on a busy machine.
        thread::sleep(Duration::from_secs(10));
        let _ = say(DONE);
    }
}

/// Holds the line for as long as it lives.
fn outlive() -> ! {
    let _ = setsid();
    loop {
        thread::sleep(Duration::from_hours(1));
    }
}

/// Nothing where it was stopped on the way.
pub(super) fn overstep(deed: &Deed, begun: impl FnOnce()) -> Option<()> {
    const PIECE: usize = 1 << 20;
    match deed {
        Deed::Look(_) => {}
        Deed::Stay => {
            begun();
        }
        Deed::Print(bytes) => {
            let mut out = stdout().lock();
            out.write_all(b"\n").and_then(|()| out.flush()).ok()?;
            begun();
            out.write_all(&vec![b'\n'; usize::try_from(*bytes).ok()?]).ok()?;
            out.flush().ok()?;
        }
        Deed::Breed(threads) => {
            let breed = || thread::Builder::new().stack_size(64 << 10).spawn(thread::park).ok();
            breed()?;
            begun();
            (0..*threads).try_for_each(|_| breed().map(drop))?;
        }
        Deed::Grow(bytes) => {
            begun();
            let mut all: Vec<Vec<u8>> = Vec::new();
            for _ in 0..usize::try_from(*bytes).ok()? / PIECE {
                let mut piece = Vec::new();
                piece.try_reserve_exact(PIECE).ok()?;
                // Memory that is only asked for costs nothing.
                piece.resize(PIECE, 1);
                all.push(piece);
            }
            std::hint::black_box(&all);
        }
        Deed::Fill(folder, bytes) => {
            fs::write(folder.join("fill"), [1; 64]).ok()?;
            begun();
            for number in 0..usize::try_from(*bytes).ok()? / PIECE {
                fs::write(folder.join(format!("fill-{number}")), vec![1; PIECE]).ok()?;
            }
        }
    }
    Some(())
}

impl Look {
    pub(super) fn perform(&self) -> Seen {
        let (unnamed, named) = self.ports;
        let through = |port: u16| self.proxy.is_some_and(|proxy| reaches(proxy, port));
        Seen {
            read: self.read.iter().map(|path| self.reads(path)).collect(),
            wrote: self.write.iter().map(|path| fs::write(path, &self.canary).is_ok()).collect(),
            variables: std::env::vars_os().count(),
            holds: (3..1024).any(|number| sys::identify(number) == Some(self.held)),
            privileged: is_privileged(),
            connected: connect(unnamed).is_some(),
            reached_unnamed: through(unnamed),
            reached_named: named.is_some_and(through),
            renamed: self
                .rename
                .as_ref()
                .map(|folder| fs::rename(folder, folder.with_extension("new")).is_ok()),
        }
    }

    fn reads(&self, path: &Path) -> bool {
        fs::read_to_string(path).is_ok_and(|text| text.contains(&self.canary))
    }
}

/// Any right is one too many, and so is a way to new ones.
fn is_privileged() -> bool {
    let bound = no_new_privs().unwrap_or(false);
    let free = capabilities(None).is_ok_and(|sets| {
        sets.effective.is_empty() && sets.permitted.is_empty() && sets.inheritable.is_empty()
    });
    !bound || !free || sys::makes_namespaces()
}

fn connect(port: u16) -> Option<TcpStream> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let stream = TcpStream::connect_timeout(&address, PATIENCE).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    Some(stream)
}

const PATIENCE: Duration = Duration::from_secs(5);

/// Whether the proxy has an answer from that port of the machine's loopback.
fn reaches(proxy: u16, port: u16) -> bool {
    let Some(mut stream) = connect(proxy) else { return false };
    let request =
        format!("GET http://127.0.0.1:{port}/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
    let mut answer = [0; 12];
    let answered =
        stream.write_all(request.as_bytes()).and_then(|()| stream.read_exact(&mut answer));
    answered.is_ok() && answer.ends_with(b" 204")
}
