//! Bytes both ways between a jail and a host, until both have said all.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::event::PollFlags;

use super::body::Body;
use super::refusal::Refusal;
use super::wait::{Bell, after, try_again};

const BUFFER_BYTES: usize = 16 * 1024;

/// The bytes that all connections of a jail may move together.
pub(super) struct Budget {
    most: u64,
    left: AtomicU64,
}

impl Budget {
    pub(super) fn new(most: u64) -> Self {
        Self { most, left: AtomicU64::new(most) }
    }

    pub(super) fn spend(&self, bytes: usize) -> Result<(), Refusal> {
        let spent = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            left.checked_sub(bytes as u64)
        });
        spent.map(|_| ()).map_err(|_| {
            self.left.store(0, Ordering::Relaxed);
            Refusal::Bytes(self.most)
        })
    }

    pub(super) fn check(&self) -> Result<(), Refusal> {
        if self.left.load(Ordering::Relaxed) == 0 { Err(Refusal::Bytes(self.most)) } else { Ok(()) }
    }
}

/// One way: it either waits for bytes or is about to pass some on, and never holds more than a buffer of them.
pub(super) struct Flow<'a> {
    from: &'a TcpStream,
    to: &'a TcpStream,
    buffer: Vec<u8>,
    sent: usize,
    /// Where the flow ends by itself; else it ends with its sender.
    body: Option<Body>,
    is_finished: bool,
}

impl<'a> Flow<'a> {
    pub(super) fn new(from: &'a TcpStream, to: &'a TcpStream) -> Self {
        Self { from, to, buffer: Vec::new(), sent: 0, body: None, is_finished: false }
    }

    pub(super) fn of_body(from: &'a TcpStream, to: &'a TcpStream, body: Body) -> Self {
        Self { is_finished: body.is_done(), body: Some(body), ..Self::new(from, to) }
    }

    fn is_sending(&self) -> bool {
        self.sent < self.buffer.len()
    }

    /// A flow that is finished waits for nothing: a closed socket would be ready for ever.
    fn waits_for(&self) -> Option<(BorrowedFd<'a>, PollFlags)> {
        match (self.is_finished, self.is_sending()) {
            (true, _) => None,
            (false, true) => Some((self.to.as_fd(), PollFlags::OUT)),
            (false, false) => Some((self.from.as_fd(), PollFlags::IN)),
        }
    }

    fn go_on(&mut self, budget: &Budget) -> Result<(), Refusal> {
        if self.is_sending() {
            self.send();
            return Ok(());
        }
        self.receive(budget)
    }

    fn receive(&mut self, budget: &Budget) -> Result<(), Refusal> {
        self.buffer.resize(BUFFER_BYTES, 0);
        self.sent = 0;
        let outcome = try_again((&mut &*self.from).read(&mut self.buffer));
        let count = outcome.as_ref().map_or(0, |count| count.unwrap_or(0));
        self.buffer.truncate(count);
        match outcome {
            Ok(None) => {}
            Ok(Some(0)) => {
                self.is_finished = true;
                let _ = self.to.shutdown(Shutdown::Write);
            }
            Ok(Some(_)) => {
                if let Some(body) = &mut self.body {
                    let own = body.take(&self.buffer)?;
                    self.buffer.truncate(own);
                }
                budget.spend(self.buffer.len())?;
            }
            Err(_) => self.is_finished = true,
        }
        Ok(())
    }

    fn send(&mut self) {
        match try_again((&mut &*self.to).write(&self.buffer[self.sent..])) {
            Ok(count) => self.sent += count.unwrap_or(0),
            Err(_) => self.is_finished = true,
        }
        let is_whole = self.body.as_ref().is_some_and(Body::is_done);
        self.is_finished |= is_whole && !self.is_sending();
    }
}

/// Goes on until the host has said all and, in a tunnel, the jail too. A request needs no end of its own.
pub(super) fn run(
    mut up: Flow<'_>,
    mut down: Flow<'_>,
    bell: &Bell,
    budget: &Budget,
    idle: Duration,
) -> Result<(), Refusal> {
    let is_tunnel = up.body.is_none();
    while !down.is_finished || (is_tunnel && !up.is_finished) {
        let Ok([is_up, is_down]) = bell.wait([up.waits_for(), down.waits_for()], after(idle))
        else {
            return Ok(());
        };
        if is_up {
            up.go_on(budget)?;
        }
        if is_down {
            down.go_on(budget)?;
        }
    }
    Ok(())
}
