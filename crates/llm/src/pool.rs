//! The one pool of connections that all providers of a process share.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use sequester_core::provider::{Error, Kind};

use crate::key::Key;

/// How long to wait for a provider before giving up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// From sending the request to the first header of the reply.
    pub headers: Duration,
    /// Between two pieces of the reply.
    pub read: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { headers: Duration::from_mins(10), read: Duration::from_mins(2) }
    }
}

const CONNECT: Duration = Duration::from_secs(30);

/// Connections, kept open between requests. Clones share them.
#[derive(Clone, Debug)]
pub struct Pool {
    /// Through the proxy of this machine, where there is one.
    far: Clients,
    /// Loopback: a proxy would look for the server on its own machine.
    near: Clients,
    pub(crate) timeouts: Timeouts,
}

#[derive(Clone, Debug)]
struct Clients {
    genai: genai::Client,
    http: reqwest::Client,
}

impl Pool {
    pub fn new(timeouts: Timeouts) -> Result<Self, Error> {
        // Fails only if a provider is there already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let far = Clients::new(builder())?;
        let near = Clients::new(builder().no_proxy())?;
        Ok(Self { far, near, timeouts })
    }

    /// The client for requests to this address.
    pub(crate) fn genai(&self, address: &str) -> &genai::Client {
        let near = reqwest::Url::parse(address).is_ok_and(|url| is_loopback(&url));
        if near { &self.near.genai } else { &self.far.genai }
    }

    /// The body of a page, at most `limit` bytes of it.
    pub(crate) async fn get(
        &self,
        url: reqwest::Url,
        key: Option<&Key>,
        timeout: Duration,
        limit: usize,
    ) -> Result<Vec<u8>, Missing> {
        let http = if is_loopback(&url) { &self.near.http } else { &self.far.http };
        let mut request = http.get(url).header("accept", "application/json").timeout(timeout);
        if let Some(key) = key {
            request = request.bearer_auth(key.reveal());
        }
        let mut response = request.send().await.map_err(|error| failure(&error))?;
        if !response.status().is_success() {
            return Err(Missing::Refused(response.status().as_u16()));
        }
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(|error| failure(&error))? {
            if body.len() + piece.len() > limit {
                return Err(Missing::TooLarge(limit));
            }
            body.extend_from_slice(&piece);
        }
        Ok(body)
    }
}

/// Why there is no page; a sentence when displayed.
#[derive(Debug)]
pub(crate) enum Missing {
    /// Its status says so.
    Refused(u16),
    TooLarge(usize),
    Broken(&'static str),
}

impl fmt::Display for Missing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(status) => write!(formatter, "It answered {status}."),
            Self::TooLarge(limit) => {
                write!(formatter, "Its answer is larger than {limit} bytes.")
            }
            Self::Broken(words) => formatter.write_str(words),
        }
    }
}

impl Clients {
    fn new(builder: reqwest::ClientBuilder) -> Result<Self, Error> {
        let http = builder.build().map_err(|_| unusable())?;
        let genai =
            genai::Client::builder().with_reqwest(http.clone()).build().map_err(|_| unusable())?;
        Ok(Self { genai, http })
    }
}

fn builder() -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .user_agent(concat!("sequester/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT)
        .tcp_nodelay(true)
        // A key's header would follow a redirect to wherever it points.
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        // A compressed stream arrives in lumps, and may be small only until it is unpacked.
        .no_gzip()
        // Of one reply not more is taken in than is read; see `remote::metered`.
        .http2_initial_stream_window_size(64 << 10)
}

fn is_loopback(url: &reqwest::Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost"
        || host.ends_with(".localhost")
        || address.is_ok_and(|address| address.to_canonical().is_loopback())
}

/// Own words: reqwest's would repeat the address, and what is in it.
fn failure(error: &reqwest::Error) -> Missing {
    Missing::Broken(if error.is_timeout() {
        "It did not answer in time."
    } else if error.is_connect() {
        "No connection could be made."
    } else {
        "The connection broke."
    })
}

fn unusable() -> Error {
    let message = "The HTTP client could not be set up: no usable TLS certificates or proxy.";
    Error { kind: Kind::Network, message: message.to_owned(), retry_after: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_near() {
        let near = |address: &str| is_loopback(&reqwest::Url::parse(address).unwrap());
        for address in [
            "http://127.0.0.1:80/v1/",
            "http://127.8.9.1",
            "http://[::1]:9/",
            "http://[::ffff:127.0.0.1]/",
            "https://LOCALHOST/",
            "http://model.localhost/",
        ] {
            assert!(near(address), "{address}");
        }
        for address in [
            "https://api.openai.com/v1/",
            "http://10.0.0.1/",
            "http://[::2]/",
            "http://localhost.example.com/",
            "http://127.0.0.1.example.com/",
            "http://notlocalhost/",
        ] {
            assert!(!near(address), "{address}");
        }
    }

    #[test]
    fn a_pool_is_made_with_ring_as_often_as_one_likes() {
        for _ in 0..2 {
            Pool::new(Timeouts::default()).unwrap();
        }
        assert!(rustls::crypto::CryptoProvider::get_default().is_some());
    }
}
