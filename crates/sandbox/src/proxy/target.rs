//! Where a request wants to go, in the one spelling that is compared, resolved and told.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A name in lower case without a trailing dot, or an address. Two that are equal are the same host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Host {
    Name(String),
    Address(IpAddr),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) host: Host,
    pub(super) port: u16,
}

impl Host {
    /// None for whatever another program could read differently: octal, hexadecimal and shortened addresses, zones,
    /// names beyond letters, digits and hyphens.
    pub(super) fn parse(text: &str) -> Option<Self> {
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

    /// The machine that the proxy itself runs on, by name.
    pub(super) fn is_localhost(&self) -> bool {
        matches!(self, Self::Name(name) if name == "localhost")
    }
}

/// A host and the port behind it, where one is written.
pub(super) fn split_authority(text: &str) -> Option<(Host, Option<u16>)> {
    let colon = match text.rfind(']') {
        Some(bracket) => text[bracket..].find(':').map(|at| bracket + at),
        None => text.find(':'),
    };
    match colon {
        None => Some((Host::parse(text)?, None)),
        Some(at) => Some((Host::parse(&text[..at])?, Some(parse_port(&text[at + 1..])?))),
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

impl fmt::Display for Host {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => formatter.write_str(name),
            Self::Address(IpAddr::V4(address)) => write!(formatter, "{address}"),
            Self::Address(IpAddr::V6(address)) => write!(formatter, "[{address}]"),
        }
    }
}

#[cfg(test)]
mod tests;
