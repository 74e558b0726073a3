//! Sockets that are waited for only so long, and never once it is over.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, connect, socket_with, sockopt};

/// A bell that every wait hears, and that rings on once it rang.
pub(super) struct Bell(OwnedFd);

/// None waits for ever.
pub(super) type Until = Option<Instant>;

pub(super) fn after(time: Duration) -> Until {
    Instant::now().checked_add(time)
}

/// Why a wait ended with nothing.
#[derive(Debug)]
pub(super) enum End {
    /// The bell rang.
    Stopped,
    /// The time is over, or the other side broke off.
    Lost,
}

impl Bell {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?))
    }

    pub(super) fn ring(&self) {
        // It can fail only where it rings already.
        let _ = rustix::io::write(&self.0, &1u64.to_ne_bytes());
    }

    /// Waits for any of these; which are ready, in their order.
    pub(super) fn wait<const N: usize>(
        &self,
        sockets: [Option<(BorrowedFd<'_>, PollFlags)>; N],
        until: Until,
    ) -> Result<[bool; N], End> {
        let mut waited: Vec<_> = sockets
            .iter()
            .flatten()
            .map(|(fd, flags)| PollFd::from_borrowed_fd(*fd, *flags))
            .collect();
        waited.push(PollFd::new(&self.0, PollFlags::IN));
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            match poll(&mut waited, left.map(to_timespec).as_ref()) {
                Err(Errno::INTR) => {}
                Err(_) | Ok(0) => return Err(End::Lost),
                Ok(_) => break,
            }
        }
        if waited.pop().is_some_and(|bell| !bell.revents().is_empty()) {
            return Err(End::Stopped);
        }
        let mut answers = waited.iter().map(|socket| !socket.revents().is_empty());
        Ok(sockets.map(|socket| socket.is_some() && answers.next().unwrap_or(false)))
    }

    fn wait_for(&self, socket: BorrowedFd<'_>, flags: PollFlags, until: Until) -> Result<(), End> {
        self.wait([Some((socket, flags))], until).map(|_| ())
    }

    /// Some bytes; none where the other side has said all.
    pub(super) fn receive(
        &self,
        mut socket: &TcpStream,
        buffer: &mut [u8],
        until: Until,
    ) -> Result<usize, End> {
        loop {
            match try_again(socket.read(buffer)) {
                Ok(Some(count)) => return Ok(count),
                Ok(None) => self.wait_for(socket.as_fd(), PollFlags::IN, until)?,
                Err(_) => return Err(End::Lost),
            }
        }
    }

    pub(super) fn send(
        &self,
        mut socket: &TcpStream,
        mut bytes: &[u8],
        until: Until,
    ) -> Result<(), End> {
        while !bytes.is_empty() {
            match try_again(socket.write(bytes)) {
                Ok(Some(count)) => bytes = &bytes[count..],
                Ok(None) => self.wait_for(socket.as_fd(), PollFlags::OUT, until)?,
                Err(_) => return Err(End::Lost),
            }
        }
        Ok(())
    }

    pub(super) fn connect(&self, address: SocketAddr, until: Until) -> Result<TcpStream, End> {
        let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let lost = |_: Errno| End::Lost;
        let socket = socket_with(family, SocketType::STREAM, flags, None).map_err(lost)?;
        match connect(&socket, &address) {
            Ok(()) => {}
            Err(Errno::INPROGRESS) => {
                self.wait_for(socket.as_fd(), PollFlags::OUT, until)?;
                sockopt::socket_error(&socket).and_then(|outcome| outcome).map_err(lost)?;
            }
            Err(_) => return Err(End::Lost),
        }
        Ok(TcpStream::from(socket))
    }
}

/// None for what is to be tried again.
pub(super) fn try_again<T>(outcome: io::Result<T>) -> io::Result<Option<T>> {
    match outcome {
        Ok(value) => Ok(Some(value)),
        Err(error)
            if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn to_timespec(time: Duration) -> Timespec {
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    Timespec { tv_sec: seconds, tv_nsec: time.subsec_nanos().into() }
}
