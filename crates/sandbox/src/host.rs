//! A host that a jail may reach, as a person names it: `HOST[:PORT]`.

#[cfg(test)]
mod tests;

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

/// One named host. Without a port it stands for those of the web, 80 and 443.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Host {
    pub name: Name,
    pub port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Name {
    /// In lower case, without the dot at the end.
    Exact(String),
    /// `*.example.org`: all names below it, at any depth, but not itself.
    Below(String),
    /// Loopback and private addresses can be reached only so.
    Address(IpAddr),
}

const WEB: [u16; 2] = [80, 443];

impl Host {
    /// Whether a connection to this name or address and port is meant. Neither is looked up.
    pub fn covers(&self, name: &str, port: u16) -> bool {
        let fits = self.port.map_or_else(|| WEB.contains(&port), |only| only == port);
        fits && self.name.covers(name)
    }
}

impl Name {
    fn covers(&self, name: &str) -> bool {
        let asked = Self::of_one(name);
        match (self, &asked) {
            (Self::Below(end), Some(Self::Exact(name))) => {
                name.strip_suffix(end.as_str()).is_some_and(|front| front.ends_with('.'))
            }
            (known, Some(asked)) => known == asked,
            (_, None) => false,
        }
    }

    /// A name or an address, no pattern.
    fn of_one(text: &str) -> Option<Self> {
        let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        if let Some(bare) = bare {
            return bare.parse::<Ipv6Addr>().ok().map(|address| Self::Address(address.into()));
        }
        if let Ok(address) = text.parse::<IpAddr>() {
            return Some(Self::Address(address));
        }
        domain(text).map(Self::Exact)
    }
}

/// The name in its one form, if it is one. What a resolver might take for an address in another notation is none.
fn domain(text: &str) -> Option<String> {
    let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
    let last = name.rsplit('.').next()?;
    let numeric = last.bytes().all(|byte| byte.is_ascii_digit()) || last.starts_with("0x");
    (!numeric && name.len() <= 253 && name.split('.').all(is_label)).then_some(name)
}

fn is_label(label: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=63).contains(&label.len())
        && label.bytes().all(fits)
        && !label.starts_with('-')
        && !label.ends_with('-')
}

impl FromStr for Host {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let error = || Error(text.to_owned());
        let (name, port) = match text.parse::<Ipv6Addr>() {
            Ok(_) => (text, None),
            Err(_) => match text.rsplit_once(':') {
                Some((name, port)) if !port.ends_with(']') => (name, Some(port)),
                _ => (text, None),
            },
        };
        let digits = |port: &str| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
        let port = match port {
            None => None,
            Some(port) if digits(port) => match port.parse() {
                Ok(port) if port > 0 => Some(port),
                _ => return Err(error()),
            },
            Some(_) => return Err(error()),
        };
        let name = match name.strip_prefix("*.") {
            Some(end) => domain(end).map(Name::Below),
            None => Name::of_one(name),
        };
        Ok(Self { name: name.ok_or_else(error)?, port })
    }
}

impl fmt::Display for Host {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Name::Exact(name) => formatter.write_str(name)?,
            Name::Below(end) => write!(formatter, "*.{end}")?,
            Name::Address(IpAddr::V6(address)) => write!(formatter, "[{address}]")?,
            Name::Address(address) => write!(formatter, "{address}")?,
        }
        self.port.map_or(Ok(()), |port| write!(formatter, ":{port}"))
    }
}

/// What was written is no host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(String);

impl Error {
    pub fn hint(&self) -> &'static str {
        "Write a name or an address, perhaps with a port: `crates.io`, `*.crates.io`, `127.0.0.1:8080`, `[::1]:8080`."
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}` is no host.", self.0)
    }
}

impl std::error::Error for Error {}
