//! The proxy's parsers for the targets in `fuzz/`, which feed them bytes without a connection.

use super::hello::{self, Progress};
use super::host::{Host, Peer};
use super::request::{self, Request};
use super::target::Target;

/// The verdict on the first bytes of a tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hello {
    Partial,
    Passed,
    Refused,
}

/// Whether a tunnel to `host` may begin with these bytes.
pub fn check_hello(bytes: &[u8], host: &str) -> Hello {
    let Some(peer) = Peer::parse(host) else { return Hello::Refused };
    match hello::check(bytes, &Target { peer, port: 443 }) {
        Ok(Progress::Partial) => Hello::Partial,
        Ok(Progress::Whole) => Hello::Passed,
        Err(_) => Hello::Refused,
    }
}

/// A request that the list of hosts allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The length of its head.
    pub end: usize,
    pub host: String,
    pub port: u16,
    /// The head that goes on to the host; none for a tunnel.
    pub head: Option<Vec<u8>>,
}

/// The request that these bytes begin with, if it is whole and allowed.
pub fn read_request(bytes: &[u8], hosts: &[Host]) -> Option<Accepted> {
    let end = request::find_end(bytes, 0).ok()??;
    let (target, head) = match request::parse(&bytes[..end], None).ok()? {
        Request::Tunnel(target) => (target, None),
        Request::Plain(plain) => (plain.target, Some(plain.head)),
    };
    target.admit(hosts).ok()?;
    Some(Accepted { end, host: target.peer.to_string(), port: target.port, head })
}

/// The head of a request that came through a tunnel, as it goes on.
pub fn rewrite_again(head: &[u8], host: &str, port: u16) -> Option<Vec<u8>> {
    plain_in_tunnel(head, host, port).map(|plain| plain.head)
}

fn plain_in_tunnel(head: &[u8], host: &str, port: u16) -> Option<request::Plain> {
    let target = Target { peer: Peer::parse(host)?, port };
    match request::parse(head, Some(&target)).ok()? {
        Request::Plain(plain) => Some(plain),
        Request::Tunnel(_) => None,
    }
}

/// How many bytes of these pieces belong to the body of a request to port 80; none where the body is malformed.
pub fn read_body(head: &[u8], pieces: &[&[u8]]) -> Option<usize> {
    let text = str::from_utf8(head).ok()?;
    let host = text.lines().find_map(|line| line.strip_prefix("Host: "))?;
    let (peer, port) = Peer::parse_with_port(host)?;
    let mut body = plain_in_tunnel(head, &peer.to_string(), port.unwrap_or(80))?.body;
    pieces.iter().try_fold(0, |taken, piece| Some(taken + body.take(piece).ok()?))
}
