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
    let special = match address.octets() {
        [0, ..] | [240..=255, ..] => true,
        // Shared by a provider's customers.
        [100, second, ..] => second & 0xC0 == 64,
        // Protocol assignments and retired relays.
        [192, 0, 0, _] | [192, 88, 99, _] => true,
        // Benchmarks.
        [198, 18 | 19, ..] => true,
        // Azure's own host.
        [168, 63, 129, 16] => true,
        _ => false,
    };
    !(special
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
        [0x2001, 0..=0x1FF, ..] | [0x2001, 0xDB8, ..] | [0x2002, ..] | [0x3FFF, 0..=0xFFF, ..] => {
            false
        }
        [first, ..] => first & 0xE000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_allowed_by_name_and_port() {
        let (public, here) = (Some(Reach::Public), Some(Reach::Loopback));
        let only = |address: &str| Some(Reach::Only(address.parse().unwrap()));
        for (entry, url, expected) in [
            ("example.org", "https://example.org/a", public),
            ("Example.org", "http://EXAMPLE.org", public),
            ("example.org", "https://example.org:8443/", None),
            ("example.org:8443", "https://example.org:8443/", public),
            ("example.org:8443", "https://example.org/", None),
            ("example.org:443", "https://example.org/", public),
            ("example.org:443", "http://example.org/", None),
            ("example.org", "https://a.example.org/", None),
            ("*.example.org", "https://a.b.example.org/", public),
            ("*.example.org", "https://example.org/", None),
            ("*.example.org", "https://badexample.org/", None),
            ("example.org", "https://example.org.evil.test/", None),
            ("localhost:80", "http://localhost/", here),
            ("*.localhost", "http://a.localhost/", public),
            ("127.0.0.1:99", "http://127.0.0.1:99/", only("127.0.0.1")),
            ("127.0.0.1", "http://2130706433/", only("127.0.0.1")),
            ("*.0.0.1", "http://127.0.0.1/", None),
            ("127.0.0.1", "http://[::ffff:127.0.0.1]/", None),
            ("[::1]:80", "http://[::1]:80/", only("::1")),
            ("::1", "http://[::1]/", only("::1")),
            ("", "https://example.org/", None),
        ] {
            assert_eq!(allow(entry, &Url::parse(url).unwrap()), expected, "{entry} {url}");
        }
    }

    #[test]
    fn a_name_reaches_public_addresses_only() {
        let check = |reach: Reach, addresses: &[&str]| {
            let addresses = addresses.iter().map(|ip| SocketAddr::new(ip.parse().unwrap(), 80));
            reach.check(&addresses.collect::<Vec<_>>()).map_err(|private| private.0.to_string())
        };
        for public in
            ["93.184.216.34", "2606:2800:220:1::1", "64:ff9b::5db8:d822", "::ffff:8.8.8.8"]
        {
            assert_eq!(check(Reach::Public, &[public]), Ok(()), "{public}");
        }
        for private in [
            "0.0.0.0",
            "10.1.2.3",
            "100.100.100.200",
            "127.0.0.1",
            "127.9.9.9",
            "168.63.129.16",
            "169.254.169.254",
            "172.16.0.1",
            "192.0.0.8",
            "192.0.2.1",
            "192.168.1.1",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:10.0.0.1",
            "::7f00:1",
            "64:ff9b::a00:1",
            "100::1",
            "2001::1",
            "2001:db8::1",
            "2002:a00:1::",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert_eq!(check(Reach::Public, &["93.184.216.34", private]), Err(private.to_owned()));
        }
        assert_eq!(check(Reach::Loopback, &["127.0.0.1", "::1"]), Ok(()));
        assert_eq!(check(Reach::Loopback, &["10.0.0.1"]), Err("10.0.0.1".to_owned()));
        let only = Reach::Only("10.0.0.1".parse().unwrap());
        assert_eq!(check(only, &["10.0.0.1"]), Ok(()));
        assert_eq!(check(only, &["10.0.0.2"]), Err("10.0.0.2".to_owned()));
    }

    #[test]
    fn a_connection_is_refused_where_the_name_is_resolved() {
        let resolve = |reach| {
            let uri = "http://127.0.0.1:9/".parse().unwrap();
            Guard { reach }.resolve(&uri, &Config::default(), NextTimeout::default())
        };
        let error = resolve(Reach::Public).unwrap_err();
        let told = Private::of(&error).map(ToString::to_string);
        assert_eq!(told.as_deref(), Some("its address 127.0.0.1 is not a public one"));
        assert_eq!(resolve(Reach::Loopback).unwrap().len(), 1);
    }
}
