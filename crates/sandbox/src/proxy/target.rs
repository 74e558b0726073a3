//! Where a request wants to go.

use super::refusal::Refusal;
use crate::proxy::host::{Host, Peer};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) peer: Peer,
    pub(super) port: u16,
}

impl Target {
    /// Whether it is among the hosts that may be reached.
    pub(super) fn admit(&self, hosts: &[Host]) -> Result<(), Refusal> {
        let mut named = hosts.iter().filter(|host| host.covers(&self.peer)).peekable();
        if named.peek().is_none() {
            return Err(Refusal::Host(self.clone()));
        }
        if named.any(|host| host.covers_port(self.port)) {
            return Ok(());
        }
        Err(Refusal::Port(self.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admits(list: &[&str], authority: &str) -> bool {
        let (peer, port) = Peer::parse_with_port(authority).unwrap();
        let hosts: Vec<Host> = list.iter().map(|host| host.parse().unwrap()).collect();
        Target { peer, port: port.unwrap() }.admit(&hosts).is_ok()
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
}
