//! Hosts: who is at the other end of a connection, and whom a person lets a jail reach.

#[cfg(test)]
mod tests;

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// A name in lower case without a trailing dot, or an address. Two that are equal are the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Peer {
    Name(String),
    Address(IpAddr),
}

impl Peer {
    /// None for whatever another program could read differently: octal, hexadecimal and shortened addresses, zones,
    /// names beyond letters, digits and hyphens.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if let Some(inner) = text.strip_prefix('[') {
            let address: Ipv6Addr = inner.strip_suffix(']')?.parse().ok()?;
            return Some(Self::Address(address.into()));
        }
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        let last = name.rsplit('.').next()?;
        if is_number(last) {
            let address: Ipv4Addr = text.parse().ok()?;
            return Some(Self::Address(address.into()));
        }
        (name.len() <= 253 && name.split('.').all(is_label)).then_some(Self::Name(name))
    }

    /// With the port behind it, where one is written.
    pub(crate) fn parse_with_port(text: &str) -> Option<(Self, Option<u16>)> {
        let colon = match text.rfind(']') {
            Some(bracket) => text[bracket..].find(':').map(|at| bracket + at),
            None => text.find(':'),
        };
        match colon {
            None => Some((Self::parse(text)?, None)),
            Some(at) => Some((Self::parse(&text[..at])?, Some(parse_port(&text[at + 1..])?))),
        }
    }

    /// The machine that the proxy itself runs on, by name.
    pub(crate) fn is_localhost(&self) -> bool {
        matches!(self, Self::Name(name) if name == "localhost")
    }
}

fn parse_port(text: &str) -> Option<u16> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_plain.then(|| text.parse().ok())?.filter(|port| *port != 0)
}

fn is_label(label: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let ends = label.starts_with('-') || label.ends_with('-');
    !label.is_empty() && label.len() <= 63 && !ends && label.bytes().all(fits)
}

/// What resolvers take for a part of an address, so no name ends in it.
fn is_number(label: &str) -> bool {
    let is_hex =
        label.strip_prefix("0x").is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_hexdigit()));
    is_hex || (!label.is_empty() && label.bytes().all(|byte| byte.is_ascii_digit()))
}

impl fmt::Display for Peer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => formatter.write_str(name),
            Self::Address(IpAddr::V4(address)) => write!(formatter, "{address}"),
            Self::Address(IpAddr::V6(address)) => write!(formatter, "[{address}]"),
        }
    }
}

/// What a person names: `HOST[:PORT]`, or `*.HOST` for all below it, at any depth, but not itself. Loopback and private
/// addresses are reached only where the address is named.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Host {
    peer: Peer,
    below: bool,
    /// Where none is named, those of the web.
    port: Option<u16>,
}

const WEB: [u16; 2] = [80, 443];

impl Host {
    /// Whether this name or address is meant. Neither is looked up.
    pub(crate) fn covers(&self, peer: &Peer) -> bool {
        match (&self.peer, peer) {
            (Peer::Name(end), Peer::Name(name)) if self.below => {
                name.strip_suffix(end.as_str()).is_some_and(|front| front.ends_with('.'))
            }
            (own, peer) => own == peer,
        }
    }

    pub(crate) fn covers_port(&self, port: u16) -> bool {
        self.port.map_or_else(|| WEB.contains(&port), |only| only == port)
    }

    fn parse(text: &str) -> Option<Self> {
        if let Ok(address) = text.parse::<Ipv6Addr>() {
            return Some(Self { peer: Peer::Address(address.into()), below: false, port: None });
        }
        let end = text.strip_prefix("*.");
        let (peer, port) = Peer::parse_with_port(end.unwrap_or(text))?;
        let below = end.is_some();
        (!below || matches!(peer, Peer::Name(_))).then_some(Self { peer, below, port })
    }
}

impl FromStr for Host {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text).ok_or_else(|| Error(text.to_owned()))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let star = if self.below { "*." } else { "" };
        write!(formatter, "{star}{}", self.peer)?;
        self.port.map_or(Ok(()), |port| write!(formatter, ":{port}"))
    }
}

/// What was written is no host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(String);

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}` is no host.", self.0)
    }
}

impl std::error::Error for Error {}
