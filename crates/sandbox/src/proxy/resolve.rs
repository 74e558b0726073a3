//! Names to addresses.

use std::io;
use std::net::{IpAddr, ToSocketAddrs as _};

/// Who is asked for the addresses of a name. It is asked once per request.
pub(crate) trait Resolve: Send + Sync {
    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// The machine's own name service.
pub(crate) struct NameService;

impl Resolve for NameService {
    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        Ok((name, 0).to_socket_addrs()?.map(|address| address.ip()).collect())
    }
}
