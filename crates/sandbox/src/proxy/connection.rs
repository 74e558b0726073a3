//! One connection of a jail: what it asks for, whether it may, and then its bytes.

use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use super::address::kind_of_special;
use super::hello::{self, DENIED, HANDSHAKE, Progress};
use super::pump::{self, Flow};
use super::refusal::Refusal;
use super::request::{self, Plain, Request};
use super::target::{Host, Target};
use super::wait::{End, Until, after};
use super::{Decision, Rules};

/// How many addresses of a name are tried.
const MOST_ADDRESSES: usize = 8;
/// How long, and for how many bytes, a client that was refused may still talk before the line is cut. Cut at once, the
/// answer could be lost.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_BYTES: usize = 256 * 1024;

/// Reads one request and serves it.
pub(super) fn serve(client: &TcpStream, rules: &Rules) {
    let mut connection = Connection { client, rules, pending: Vec::new() };
    match connection.run() {
        Ok(()) => connection.dismiss(&[]),
        Err(Failure::Refused { target, refusal, answer }) => {
            if refusal.is_decision() {
                rules.tell(target.as_ref(), Err(&refusal));
            }
            connection.dismiss(&answer);
        }
        Err(Failure::Ended) => {}
    }
}

/// Answers without reading what is asked.
pub(super) fn refuse(client: &TcpStream, rules: &Rules, refusal: &Refusal) {
    Connection { client, rules, pending: Vec::new() }.dismiss(&refusal.answer());
}

struct Connection<'a> {
    client: &'a TcpStream,
    rules: &'a Rules,
    /// Received, and not used yet.
    pending: Vec<u8>,
}

enum Failure {
    Refused { target: Option<Target>, refusal: Refusal, answer: Vec<u8> },
    Ended,
}

impl Failure {
    /// Told in the language of the proxy.
    fn refused(target: Option<&Target>, refusal: Refusal) -> Self {
        let answer = refusal.answer();
        Self::Refused { target: target.cloned(), refusal, answer }
    }

    /// In a conversation that the proxy has no part in.
    fn cut(target: &Target, refusal: Refusal) -> Self {
        Self::Refused { target: Some(target.clone()), refusal, answer: Vec::new() }
    }
}

impl From<End> for Failure {
    fn from(_: End) -> Self {
        Self::Ended
    }
}

impl Connection<'_> {
    fn run(&mut self) -> Result<(), Failure> {
        let until = after(self.rules.allowance.idle);
        let head = self.read_head(None, until)?;
        match request::parse(&head, None).map_err(|refusal| Failure::refused(None, refusal))? {
            Request::Plain(plain) => {
                let host = self.open(&plain.target)?;
                self.exchange(&host, plain)
            }
            Request::Tunnel(target) => self.tunnel(&target),
        }
    }

    fn read_head(&mut self, tunnel: Option<&Target>, until: Until) -> Result<Vec<u8>, Failure> {
        let mut seen = 0;
        loop {
            let found = request::find_end(&self.pending, seen);
            if let Some(end) = found.map_err(|refusal| Failure::refused(tunnel, refusal))? {
                let rest = self.pending.split_off(end);
                return Ok(std::mem::replace(&mut self.pending, rest));
            }
            seen = self.pending.len();
            self.receive(until)?;
        }
    }

    fn receive(&mut self, until: Until) -> Result<(), Failure> {
        let mut buffer = [0; 4096];
        match self.rules.bell.receive(self.client, &mut buffer, until)? {
            0 => Err(Failure::Ended),
            count => {
                self.pending.extend_from_slice(&buffer[..count]);
                Ok(())
            }
        }
    }

    /// A connection to the target: the list is asked before the name service, and that is asked once.
    fn open(&self, target: &Target) -> Result<TcpStream, Failure> {
        let refused = |refusal| Failure::refused(Some(target), refusal);
        self.rules.budget.check().map_err(refused)?;
        self.rules.hosts.admit(target).map_err(refused)?;
        let addresses = self.find_addresses(target).map_err(refused)?;
        self.rules.tell(Some(target), Ok(()));
        self.connect(&addresses, target)
    }

    /// An address that is admitted was named by itself, so it may be any; a name may lead to public ones only.
    fn find_addresses(&self, target: &Target) -> Result<Vec<IpAddr>, Refusal> {
        let name = match &target.host {
            Host::Address(address) => return Ok(vec![*address]),
            Host::Name(name) => name,
        };
        let found = self.rules.names.resolve(name).unwrap_or_default();
        for address in &found {
            let is_own = target.host.is_localhost() && address.is_loopback();
            if let Some(kind) = kind_of_special(*address).filter(|_| !is_own) {
                return Err(Refusal::Address(target.clone(), *address, kind));
            }
        }
        if found.is_empty() { Err(Refusal::Unresolved(target.clone())) } else { Ok(found) }
    }

    /// The first address that answers; each has its share of the time that is left.
    fn connect(&self, addresses: &[IpAddr], target: &Target) -> Result<TcpStream, Failure> {
        let until = after(self.rules.allowance.connect);
        let count = addresses.len().min(MOST_ADDRESSES);
        for (index, address) in addresses[..count].iter().enumerate() {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            let share = left.and_then(|left| after(left / (count - index) as u32));
            match self.rules.bell.connect(SocketAddr::new(*address, target.port), share) {
                Ok(host) => {
                    let _ = host.set_nodelay(true);
                    return Ok(host);
                }
                Err(End::Stopped) => return Err(Failure::Ended),
                Err(End::Lost) => {}
            }
        }
        Err(Failure::refused(Some(target), Refusal::Unreachable(target.clone())))
    }

    fn exchange(&mut self, host: &TcpStream, mut plain: Plain) -> Result<(), Failure> {
        let own = plain.body.take(&self.pending).map_err(|_| {
            Failure::refused(
                Some(&plain.target),
                Refusal::Malformed("a chunk of its body is not proper"),
            )
        })?;
        plain.head.extend_from_slice(&self.pending[..own]);
        self.pass_on(host, &plain.head, &plain.target)?;
        self.pump(
            Flow::of_body(self.client, host, plain.body),
            Flow::new(host, self.client),
            &plain.target,
        )
    }

    fn tunnel(&mut self, target: &Target) -> Result<(), Failure> {
        let host = self.open(target)?;
        let until = after(self.rules.allowance.idle);
        self.rules.bell.send(self.client, b"HTTP/1.1 200 Connection established\r\n\r\n", until)?;
        if self.pending.is_empty() {
            self.receive(until)?;
        }
        if self.pending[0] == HANDSHAKE {
            self.await_hello(target, until)?;
            let hello = std::mem::take(&mut self.pending);
            self.pass_on(&host, &hello, target)?;
            return self.pump(Flow::new(self.client, &host), Flow::new(&host, self.client), target);
        }
        let head = self.read_head(Some(target), until)?;
        match request::parse(&head, Some(target)) {
            Ok(Request::Plain(plain)) => self.exchange(&host, plain),
            Ok(Request::Tunnel(_)) => Err(Failure::Ended),
            Err(refusal) => Err(Failure::refused(Some(target), refusal)),
        }
    }

    fn await_hello(&mut self, target: &Target, until: Until) -> Result<(), Failure> {
        loop {
            match hello::check(&self.pending, target) {
                Ok(Progress::Whole) => return Ok(()),
                Ok(Progress::Partial) => self.receive(until)?,
                Err(refusal) => {
                    let (target, answer) = (Some(target.clone()), DENIED.to_vec());
                    return Err(Failure::Refused { target, refusal, answer });
                }
            }
        }
    }

    fn pass_on(&self, host: &TcpStream, bytes: &[u8], target: &Target) -> Result<(), Failure> {
        self.rules.budget.spend(bytes.len()).map_err(|refusal| Failure::cut(target, refusal))?;
        Ok(self.rules.bell.send(host, bytes, after(self.rules.allowance.idle))?)
    }

    fn pump(&self, up: Flow<'_>, down: Flow<'_>, target: &Target) -> Result<(), Failure> {
        let Rules { bell, budget, allowance, .. } = self.rules;
        pump::run(up, down, bell, budget, allowance.idle)
            .map_err(|refusal| Failure::cut(target, refusal))
    }

    fn dismiss(&self, answer: &[u8]) {
        let until = after(LINGER);
        let mut left = LINGER_BYTES;
        if self.rules.bell.send(self.client, answer, until).is_err() {
            return;
        }
        let _ = self.client.shutdown(Shutdown::Write);
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = self.rules.bell.receive(self.client, &mut buffer, until) {
            left = left.saturating_sub(count);
            if left == 0 {
                return;
            }
        }
    }
}

impl Rules {
    fn tell(&self, target: Option<&Target>, verdict: Result<(), &Refusal>) {
        let host = target.map(|target| target.host.to_string()).unwrap_or_default();
        let why = match verdict {
            Ok(()) => format!("`{host}` is among the hosts that this jail may reach."),
            Err(refusal) => refusal.to_string(),
        };
        let port = target.map_or(0, |target| target.port);
        (self.sink)(Decision { host, port, allowed: verdict.is_ok(), why });
    }
}
