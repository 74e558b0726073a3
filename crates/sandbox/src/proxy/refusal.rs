//! Why a request goes nowhere, in one sentence for whoever made it and for the record.

use std::fmt;
use std::net::IpAddr;

use super::target::Target;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// No request, or one that could be read in two ways.
    Malformed(&'static str),
    Host(Target),
    Port(Target),
    /// The name leads to an address that is not of the public net.
    Address(Target, IpAddr, &'static str),
    /// What a tunnel begins with is nothing that may pass.
    Hello(&'static str),
    /// A tunnel to one host asks for another.
    Name {
        asked: Option<String>,
        target: Target,
    },
    Connections(u64),
    Bytes(u64),
    Unresolved(Target),
    Unreachable(Target),
}

impl Refusal {
    pub(super) fn status(&self) -> u16 {
        match self {
            Self::Malformed(_) => 400,
            Self::Unresolved(_) | Self::Unreachable(_) => 502,
            _ => 403,
        }
    }

    /// Whether the proxy decided it; else the net did.
    pub(super) fn is_decision(&self) -> bool {
        self.status() != 502
    }

    /// An answer of HTTP. Many programs show the first line alone, so that carries the sentence too.
    pub(super) fn answer(&self) -> Vec<u8> {
        let (status, sentence) = (self.status(), self.to_string());
        let length = sentence.len() + 1;
        format!(
            "HTTP/1.1 {status} {sentence}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\
             Connection: close\r\n\r\n{sentence}\n"
        )
        .into_bytes()
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SETTING: &str = "`hosts` in the user's configuration";
        match self {
            Self::Malformed(what) => write!(formatter, "This is no request for a proxy: {what}."),
            Self::Host(Target { peer: host, .. }) => write!(
                formatter,
                "`{host}` is not among the hosts that this jail may reach; name it under {SETTING} or with `--net {host}`."
            ),
            Self::Port(Target { peer: host, port }) => write!(
                formatter,
                "`{host}` may not be reached on port {port}; name `{host}:{port}` under {SETTING} or with `--net`."
            ),
            Self::Address(Target { peer: host, .. }, address, kind) => write!(
                formatter,
                "`{host}` leads to {address}, a {kind} address, which is reached only where {SETTING} or `--net` names the address itself."
            ),
            Self::Hello(what) => write!(
                formatter,
                "{what}; what {SETTING} or `--net` names is reached by TLS or HTTP only."
            ),
            Self::Name { asked: Some(asked), target } => write!(
                formatter,
                "A tunnel to `{}` asks for `{}`; name that under {SETTING} or with `--net` and open a tunnel to it.",
                target.peer,
                asked.escape_debug()
            ),
            Self::Name { asked: None, target } => write!(
                formatter,
                "A tunnel to `{}` does not say by TLS which name it asks for; only an address that {SETTING} or `--net` names needs none.",
                target.peer
            ),
            Self::Connections(most) => write!(
                formatter,
                "This jail has made the {most} connections that it may make to what {SETTING} or `--net` names."
            ),
            Self::Bytes(most) => write!(
                formatter,
                "This jail has moved the {most} bytes that it may exchange with what {SETTING} or `--net` names."
            ),
            Self::Unresolved(Target { peer: host, .. }) => {
                write!(formatter, "The name `{host}` could not be resolved.")
            }
            Self::Unreachable(Target { peer: host, port }) => {
                write!(formatter, "`{host}` could not be reached on port {port}.")
            }
        }
    }
}
