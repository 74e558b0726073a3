//! The hosts that a jail may reach.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

use super::refusal::Refusal;
use super::target::{Host, Target, split_authority};

/// Where no port is named.
const PORTS: [u16; 2] = [80, 443];

/// An allow-list: names, `*.` in front for all below one, addresses; each with its port, or with 80 and 443.
#[derive(Clone, Debug)]
pub(crate) struct Hosts(Vec<Rule>);

#[derive(Clone, Debug)]
struct Rule {
    pattern: Pattern,
    port: Option<u16>,
}

#[derive(Clone, Debug)]
enum Pattern {
    One(Host),
    /// With the dot that stands before it: `.example.org`.
    Below(String),
}

impl Hosts {
    pub(crate) fn parse<T: AsRef<str>>(texts: &[T]) -> Result<Self, BadHost> {
        let read =
            |text: &T| Rule::parse(text.as_ref()).ok_or_else(|| BadHost(text.as_ref().to_owned()));
        texts.iter().map(read).collect::<Result<_, _>>().map(Self)
    }

    pub(super) fn admit(&self, target: &Target) -> Result<(), Refusal> {
        let mut rules = self.0.iter().filter(|rule| rule.pattern.covers(&target.host)).peekable();
        if rules.peek().is_none() {
            return Err(Refusal::Host(target.clone()));
        }
        if rules.any(|rule| rule.covers_port(target.port)) {
            return Ok(());
        }
        Err(Refusal::Port(target.clone()))
    }
}

impl Rule {
    fn parse(text: &str) -> Option<Self> {
        if let Ok(address) = text.parse::<Ipv6Addr>() {
            let host = Host::Address(IpAddr::V6(address));
            return Some(Self { pattern: Pattern::One(host), port: None });
        }
        let below = text.strip_prefix("*.");
        let (host, port) = split_authority(below.unwrap_or(text))?;
        let pattern = match (below, host) {
            (None, host) => Pattern::One(host),
            (Some(_), Host::Name(name)) => Pattern::Below(format!(".{name}")),
            (Some(_), Host::Address(_)) => return None,
        };
        Some(Self { pattern, port })
    }

    fn covers_port(&self, port: u16) -> bool {
        self.port.map_or_else(|| PORTS.contains(&port), |own| own == port)
    }
}

impl Pattern {
    fn covers(&self, host: &Host) -> bool {
        match (self, host) {
            (Self::One(own), host) => own == host,
            (Self::Below(end), Host::Name(name)) => name.ends_with(end),
            (Self::Below(_), Host::Address(_)) => false,
        }
    }
}

/// An entry of the list that is no host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BadHost(pub String);

impl fmt::Display for BadHost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hint = "Write a name such as `crates.io`, `*.crates.io` or `localhost:8080`, or an address such as `10.0.0.1`.";
        write!(formatter, "`{}` is no host. {hint}", self.0.escape_debug())
    }
}

impl std::error::Error for BadHost {}

#[cfg(test)]
mod tests {
    use super::*;

    fn admits(list: &[&str], authority: &str) -> bool {
        let (host, port) = split_authority(authority).unwrap();
        Hosts::parse(list).unwrap().admit(&Target { host, port: port.unwrap() }).is_ok()
    }

    #[test]
    fn a_host_is_reached_only_as_the_list_names_it() {
        let list = [
            "Example.org",
            "*.below.org",
            "other.org:8080",
            "*.ports.org:99",
            "127.0.0.1:3000",
            "[::1]:80",
            "fd00::2",
        ];
        let allowed = [
            "example.org:80",
            "example.org:443",
            "a.below.org:443",
            "a.b.below.org:80",
            "other.org:8080",
            "x.ports.org:99",
            "127.0.0.1:3000",
            "[::1]:80",
            "[fd00::2]:443",
        ];
        for authority in allowed {
            assert!(admits(&list, authority), "{authority}");
        }
        let refused = [
            "example.org:22",
            "www.example.org:80",
            "below.org:443",
            "xbelow.org:443",
            "other.org:443",
            "x.ports.org:443",
            "127.0.0.1:80",
            "[::1]:443",
            "[::ffff:127.0.0.1]:3000",
            "localhost:80",
            "example.org.evil.net:443",
            "org:80",
        ];
        for authority in refused {
            assert!(!admits(&list, authority), "{authority}");
        }
        assert!(!admits(&[], "example.org:443"));
    }

    #[test]
    fn an_entry_that_is_no_host_is_named() {
        for text in [
            "",
            "*",
            "*.",
            "*.1.2.3.4",
            "*.*.org",
            "a.org:",
            "a.org:99999",
            "http://a.org",
            "a.org/",
            "2130706433",
        ] {
            assert_eq!(
                Hosts::parse(&["a.org", text]).map(|_| ()),
                Err(BadHost(text.to_owned())),
                "{text}"
            );
        }
    }
}
