//! Which hosts may be asked: by the names of the setting, and by the address that a name turns out to have.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;
use url::{Host, Url};

/// Where a connection may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Any address that the whole world can reach: what a name of the setting stands for.
    Public,
    /// This machine: what `localhost` stands for.
    Loopback,
    /// An address that the setting names itself, whatever it is.
    Only(IpAddr),
}

/// What `url` may reach under one entry of the setting: `host`, `*.host` for what is beneath it, an address, each perhaps
/// with `:port`; without one it is the scheme's own port.
pub(super) fn allow(entry: &str, url: &Url) -> Option<Reach> {
    let (allowed, port) = split_port(entry);
    let port_fits = match port {
        Some(port) => url.port_or_known_default() == Some(port),
        None => url.port().is_none(),
    };
    let reach = match url.host()? {
        Host::Domain(host) => of_name(allowed, host)?,
        Host::Ipv4(address) => of_address(allowed, address.into())?,
        Host::Ipv6(address) => of_address(allowed, address.into())?,
    };
    port_fits.then_some(reach)
}

fn split_port(entry: &str) -> (&str, Option<u16>) {
    let split =
        entry.rsplit_once(':').filter(|(host, _)| !host.contains(':') || host.ends_with(']'));
    match split.and_then(|(host, port)| Some((host, port.parse().ok()?))) {
        Some((host, port)) => (host, Some(port)),
        None => (entry, None),
    }
}

fn of_name(allowed: &str, host: &str) -> Option<Reach> {
    if let Some(above) = allowed.strip_prefix("*.") {
        let at = host.len().checked_sub(above.len() + 1).filter(|at| *at > 0)?;
        let (_, end) = host.split_at_checked(at)?;
        let beneath = end.strip_prefix('.')?.eq_ignore_ascii_case(above);
        return beneath.then_some(Reach::Public);
    }
    let reach = if host == "localhost" { Reach::Loopback } else { Reach::Public };
    host.eq_ignore_ascii_case(allowed).then_some(reach)
}

fn of_address(allowed: &str, address: IpAddr) -> Option<Reach> {
    let bare = allowed.strip_prefix('[').and_then(|allowed| allowed.strip_suffix(']'));
    let allowed: IpAddr = bare.unwrap_or(allowed).parse().ok()?;
    (allowed == address).then_some(Reach::Only(address))
}

/// Resolves names, once for each connection, and gives no address that is out of reach.
#[derive(Debug)]
pub(super) struct Guard {
    pub(super) reach: Reach,
}

impl Resolver for Guard {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let found = DefaultResolver::default().resolve(uri, config, timeout)?;
        self.reach.check(&found).map_err(|private| ureq::Error::Io(io::Error::other(private)))?;
        Ok(found)
    }
}

/// An address that only somebody inside a network can reach.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Private(IpAddr);

impl Private {
    pub(super) fn of(error: &ureq::Error) -> Option<&Self> {
        match error {
            ureq::Error::Io(error) => error.get_ref()?.downcast_ref(),
            _ => None,
        }
    }
}

impl fmt::Display for Private {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "its address {} is not a public one", self.0)
    }
}

impl std::error::Error for Private {}

impl Reach {
    /// One address out of reach is enough: who mixes them means no good.
    fn check(self, addresses: &[SocketAddr]) -> Result<(), Private> {
        let fits = |address: IpAddr| match self {
            Self::Public => is_public(address),
            Self::Loopback => address.is_loopback(),
            Self::Only(only) => address == only,
        };
        match addresses.iter().map(SocketAddr::ip).find(|address| !fits(*address)) {
            Some(address) => Err(Private(address)),
            None => Ok(()),
        }
    }
}

/// Whether the whole world can reach it, and the host behind it is no cloud's own.
fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let is_special = match address.octets() {
        // Shared by a provider's customers.
        [100, second, ..] => second & 0xC0 == 64,
        // Protocol assignments, retired relays, benchmarks.
        [192, 0, 0, _] | [192, 88, 99, _] | [198, 18 | 19, ..]
        // Azure's own host; no network, and all that is reserved.
        | [168, 63, 129, 16] | [0 | 240..=255, ..] => true,
        _ => false,
    };
    !(is_special
        || address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation())
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    match address.segments() {
        // Translated from IPv4, where a network has nothing else.
        [0x64, 0xFF9B, 0, 0, 0, 0, high, low] => {
            is_public_v4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
        }
        // Protocol assignments, tunnels and documentation.
        [0x2001, 0..=0x1FF | 0xDB8, ..] | [0x2002, ..] | [0x3FFF, 0..=0xFFF, ..] => false,
        [first, ..] => first & 0xE000 == 0x2000,
    }
}

#[cfg(test)]
mod tests;
