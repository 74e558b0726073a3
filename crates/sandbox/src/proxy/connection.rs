//! One connection of a jail: what it asks for, whether it may, and then its bytes.

use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use super::address::kind_of_special;
use super::hello::{self, DENIED, HANDSHAKE, Progress};
use super::pump::{self, Flow};
use super::refusal::Refusal;
use super::request::{self, Plain, Request};
use super::target::Target;
use super::wait::{End, Until, after};
use super::{Decision, Rules};
use crate::proxy::host::Peer;

/// How many addresses of a name are tried.
const MOST_ADDRESSES: usize = 8;
/// How long, and for how many bytes, a client that was refused may still talk before the line is cut. Cut at once, the
/// answer could be lost.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_BYTES: usize = 256 * 1024;
const OPEN: &[u8] = b"HTTP/1.1 200 Connection established\r\n\r\n";

/// Reads one request and serves it.
pub(super) fn serve(client: &TcpStream, rules: &Rules) {
    let mut connection = Connection { client, rules, target: None, pending: Vec::new() };
    let outcome = connection.run();
    if let Err(Failure::Refused(refusal, _)) = &outcome
        && refusal.is_decision()
    {
        rules.tell(connection.target.as_ref(), Err(refusal));
    }
    match outcome {
        Ok(()) | Err(Failure::Refused(_, Answer::Nothing)) => dismiss(client, rules, &[]),
        Err(Failure::Refused(refusal, Answer::Http)) => dismiss(client, rules, &refusal.answer()),
        Err(Failure::Refused(_, Answer::Tls)) => dismiss(client, rules, &DENIED),
        Err(Failure::Ended) => {}
    }
}

/// Says the last words to a client and hears it out for a while.
pub(super) fn dismiss(client: &TcpStream, rules: &Rules, words: &[u8]) {
    let until = after(LINGER);
    if rules.bell.send(client, words, until).is_err() {
        return;
    }
    let _ = client.shutdown(Shutdown::Write);
    let (mut buffer, mut left) = ([0; 4096], LINGER_BYTES);
    while let Ok(count @ 1..) = rules.bell.receive(client, &mut buffer, until) {
        left = left.saturating_sub(count);
        if left == 0 {
            return;
        }
    }
}

struct Connection<'a> {
    client: &'a TcpStream,
    rules: &'a Rules,
    /// Once it is known.
    target: Option<Target>,
    /// Received, and not used yet.
    pending: Vec<u8>,
}

enum Failure {
    Refused(Refusal, Answer),
    Ended,
}

/// In which language a refusal is answered.
enum Answer {
    Http,
    Tls,
    /// The proxy has no part in the conversation any more.
    Nothing,
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal, Answer::Http)
    }
}

impl From<End> for Failure {
    fn from(_: End) -> Self {
        Self::Ended
    }
}

impl Connection<'_> {
    fn run(&mut self) -> Result<(), Failure> {
        let head = self.read_head(after(self.rules.allowance.idle))?;
        match request::parse(&head, None)? {
            Request::Plain(plain) => {
                let host = self.open(&plain.target)?;
                self.exchange(&host, plain)
            }
            Request::Tunnel(target) => {
                let host = self.open(&target)?;
                self.tunnel(&host, &target)
            }
        }
    }

    fn read_head(&mut self, until: Until) -> Result<Vec<u8>, Failure> {
        let mut seen = 0;
        loop {
            if let Some(end) = request::find_end(&self.pending, seen)? {
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
    fn open(&mut self, target: &Target) -> Result<TcpStream, Failure> {
        self.target = Some(target.clone());
        self.rules.budget.check()?;
        target.admit(&self.rules.hosts)?;
        let addresses = self.find_addresses(target)?;
        self.rules.tell(Some(target), Ok(()));
        self.connect(&addresses, target)
    }

    /// An address that is admitted was named by itself, so it may be any; a name may lead to public ones only.
    fn find_addresses(&self, target: &Target) -> Result<Vec<IpAddr>, Refusal> {
        let name = match &target.peer {
            Peer::Address(address) => return Ok(vec![*address]),
            Peer::Name(name) => name,
        };
        let found = self.rules.names.resolve(name).unwrap_or_default();
        for address in &found {
            let is_own = target.peer.is_localhost() && address.is_loopback();
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
        Err(Refusal::Unreachable(target.clone()).into())
    }

    fn exchange(&mut self, host: &TcpStream, mut plain: Plain) -> Result<(), Failure> {
        let own = plain.body.take(&self.pending)?;
        plain.head.extend_from_slice(&self.pending[..own]);
        self.pass_on(host, &plain.head)?;
        self.pump(Flow::of_body(self.client, host, plain.body), Flow::new(host, self.client))
    }

    /// What a tunnel begins with decides what it may carry: TLS for its own host, or one plain request to it.
    fn tunnel(&mut self, host: &TcpStream, target: &Target) -> Result<(), Failure> {
        let until = after(self.rules.allowance.idle);
        self.rules.bell.send(self.client, OPEN, until)?;
        if self.pending.is_empty() {
            self.receive(until)?;
        }
        if self.pending.first() == Some(&HANDSHAKE) {
            self.await_hello(target, until)?;
            self.pass_on(host, &self.pending)?;
            return self.pump(Flow::new(self.client, host), Flow::new(host, self.client));
        }
        let head = self.read_head(until)?;
        match request::parse(&head, Some(target))? {
            Request::Plain(plain) => self.exchange(host, plain),
            Request::Tunnel(_) => Err(Failure::Ended),
        }
    }

    fn await_hello(&mut self, target: &Target, until: Until) -> Result<(), Failure> {
        loop {
            match hello::check(&self.pending, target) {
                Ok(Progress::Whole) => return Ok(()),
                Ok(Progress::Partial) => self.receive(until)?,
                Err(refusal) => return Err(Failure::Refused(refusal, Answer::Tls)),
            }
        }
    }

    fn pass_on(&self, host: &TcpStream, bytes: &[u8]) -> Result<(), Failure> {
        let spent = self.rules.budget.spend(bytes.len());
        spent.map_err(|refusal| Failure::Refused(refusal, Answer::Nothing))?;
        Ok(self.rules.bell.send(host, bytes, after(self.rules.allowance.idle))?)
    }

    fn pump(&self, up: Flow<'_>, down: Flow<'_>) -> Result<(), Failure> {
        let Rules { bell, budget, allowance, .. } = self.rules;
        let outcome = pump::run(up, down, bell, budget, allowance.idle);
        outcome.map_err(|refusal| Failure::Refused(refusal, Answer::Nothing))
    }
}

impl Rules {
    fn tell(&self, target: Option<&Target>, verdict: Result<(), &Refusal>) {
        let host = target.map(|target| target.peer.to_string()).unwrap_or_default();
        let why = match verdict {
            Ok(()) => format!("`{host}` is among the hosts that this jail may reach."),
            Err(refusal) => refusal.to_string(),
        };
        let port = target.map_or(0, |target| target.port);
        (self.sink)(Decision { host, port, allowed: verdict.is_ok(), why });
    }
}
