//! The network of a jail that may reach named hosts: a proxy outside that decides, and is all that the jail can talk to.

mod address;
mod body;
mod connection;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod hello;
pub mod host;
mod pump;
mod refusal;
mod request;
mod resolve;
mod slots;
mod target;
mod wait;

use std::io;
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rustix::event::PollFlags;
use serde::{Deserialize, Serialize};

pub(crate) use resolve::{NameService, Resolve};

use crate::proxy::host::Host;
use pump::Budget;
use refusal::Refusal;
use slots::{Slot, Slots};
use wait::{Bell, End, after};

/// How much of the network a jail may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Allowance {
    /// Connections at once; one more waits.
    pub(crate) at_once: usize,
    /// Connections in all, so that what is told about them has an end too.
    pub(crate) in_all: u64,
    /// Bytes both ways, of all connections together.
    pub(crate) bytes: u64,
    /// How long nothing may happen on a connection, and how long a request may take to be said.
    pub(crate) idle: Duration,
    pub(crate) connect: Duration,
}

impl Default for Allowance {
    fn default() -> Self {
        Self {
            at_once: 64,
            in_all: 20_000,
            bytes: 4 << 30,
            idle: Duration::from_mins(1),
            connect: Duration::from_secs(20),
        }
    }
}

/// What was decided about one request. One that names no host has an empty one, and port 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Decision {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) allowed: bool,
    pub(crate) why: String,
}

/// A running proxy; it ends when this is dropped.
pub(crate) struct Proxy {
    rules: Arc<Rules>,
    slots: Arc<Slots>,
}

/// What all connections share.
struct Rules {
    hosts: Vec<Host>,
    allowance: Allowance,
    names: Box<dyn Resolve>,
    sink: Box<dyn Fn(Decision) + Send + Sync>,
    budget: Budget,
    bell: Bell,
}

/// Little, as a connection keeps its buffers elsewhere; the name service of the C library needs the most.
const STACK_BYTES: usize = 512 * 1024;

impl Proxy {
    /// Serves a listener, which may be of another network namespace: connections go out from the caller's own. Every
    /// decision reaches `sink` before it takes effect, from any thread.
    pub(crate) fn start(
        listener: TcpListener,
        hosts: Vec<Host>,
        allowance: Allowance,
        names: impl Resolve + 'static,
        sink: impl Fn(Decision) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let (budget, bell) = (Budget::new(allowance.bytes), Bell::new()?);
        let (names, sink) = (Box::new(names), Box::new(sink));
        let rules = Arc::new(Rules { hosts, allowance, names, sink, budget, bell });
        let slots = Slots::new(allowance.at_once);
        let proxy = Self { rules: Arc::clone(&rules), slots: Arc::clone(&slots) };
        spawn(move || accept(&listener, &rules, &slots))?;
        Ok(proxy)
    }

    /// Ends every connection without waiting for any.
    pub(crate) fn stop(&self) {
        self.rules.bell.ring();
        self.slots.close();
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.stop();
    }
}

fn spawn(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let builder = thread::Builder::new().name("proxy".to_owned()).stack_size(STACK_BYTES);
    builder.spawn(work).map(|_| ())
}

fn accept(listener: &TcpListener, rules: &Arc<Rules>, slots: &Arc<Slots>) {
    let most = rules.allowance.in_all;
    let mut count = 0;
    while let Some(slot) = slots.take() {
        let Some(client) = next(listener, rules) else {
            return;
        };
        count += 1;
        if count == most.saturating_add(1) {
            let why = Refusal::Connections(most).to_string();
            (rules.sink)(Decision { host: String::new(), port: 0, allowed: false, why });
        }
        let rules = Arc::clone(rules);
        // Where no thread can be had, the connection ends with the closure that holds it.
        let _ = spawn(move || serve(&client, &rules, count <= most, slot));
    }
}

/// The next client; without one only when it is over.
fn next(listener: &TcpListener, rules: &Rules) -> Option<TcpStream> {
    /// A machine without free descriptors is asked again after a while.
    const PAUSE: Duration = Duration::from_millis(50);
    loop {
        let outcome = rules.bell.wait([Some((listener.as_fd(), PollFlags::IN))], None);
        match outcome.map(|_| listener.accept()) {
            Ok(Ok((client, _))) if client.set_nonblocking(true).is_ok() => {
                let _ = client.set_nodelay(true);
                return Some(client);
            }
            Ok(Err(error)) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(End::Stopped) => return None,
            _ => drop(rules.bell.wait([], after(PAUSE))),
        }
    }
}

fn serve(client: &TcpStream, rules: &Rules, is_within: bool, _slot: Slot) {
    if is_within {
        connection::serve(client, rules);
    } else {
        let refusal = Refusal::Connections(rules.allowance.in_all);
        connection::dismiss(client, rules, &refusal.answer());
    }
}

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
