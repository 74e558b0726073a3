//! The head of a request to the proxy: what it accepts is meant for a host of the list, however others read it.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use sequester_sandbox::Host;
use sequester_sandbox::fuzzing::{Accepted, read_body, read_request, rewrite_again};
use url::Url;

static HOSTS: LazyLock<Vec<Host>> = LazyLock::new(|| {
    let list = ["example.org", "*.below.org", "127.0.0.1:3000", "[::1]:80"];
    list.iter().flat_map(|host| host.parse()).collect()
});

fuzz_target!(|bytes: &[u8]| {
    let outcome = read_request(bytes, &HOSTS);
    let Some(Accepted { end, host, port, head }) = outcome else { return };
    assert!(is_listed(&host, port), "{host}:{port}");
    assert!(bytes[..end].ends_with(b"\r\n\r\n"));
    // Piece by piece or at once: the head ends at the same place.
    assert_eq!(read_request(&bytes[..end], &HOSTS).map(|one| one.end), Some(end));
    assert!(read_request(&bytes[..end - 1], &HOSTS).is_none());
    let asked = as_servers_read(&bytes[..end]);
    let Some(head) = head else {
        assert_eq!(asked.method, "CONNECT");
        let named = Url::parse(&format!("http://{}", asked.place)).expect("CONNECT to no host");
        assert_eq!(place_of(&named), (host, port));
        return;
    };
    let url = Url::parse(&asked.place).expect("an address that is none to others");
    assert_eq!(place_of(&url), (host.clone(), port), "{}", asked.place);

    let sent = as_servers_read(&head);
    let own = if port == 80 { host.clone() } else { format!("{host}:{port}") };
    assert_eq!(sent.values("host"), [own.as_str()]);
    assert_eq!(sent.values("connection"), ["close"]);
    assert_eq!(sent.method, asked.method);
    for name in ["content-length", "transfer-encoding"] {
        assert_eq!(sent.values(name), asked.values(name));
        assert!(sent.values(name).len() < 2);
    }
    // Reading it once more changes nothing.
    assert_eq!(rewrite_again(&head, &host, port).as_deref(), Some(head.as_slice()));

    // A body ends at the same place, whether it comes at once or in two pieces.
    let body = &bytes[end..];
    let middle = body.len() / 2;
    let (whole, halves) =
        (read_body(&head, &[body]), read_body(&head, &[&body[..middle], &body[middle..]]));
    assert_eq!(whole, halves);
    assert!(whole.is_none_or(|taken| taken <= body.len()));
});

/// Written apart from the product's own rules.
fn is_listed(host: &str, port: u16) -> bool {
    let web = port == 80 || port == 443;
    match host {
        "example.org" => web,
        "127.0.0.1" => port == 3000,
        "[::1]" => port == 80,
        name => web && name.ends_with(".below.org"),
    }
}

/// A head as a common server library reads it.
struct Read {
    method: String,
    place: String,
    headers: Vec<(String, String)>,
}

impl Read {
    fn values(&self, name: &str) -> Vec<&str> {
        let named = self.headers.iter().filter(|(one, _)| one.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value.as_str()).collect()
    }
}

fn as_servers_read(head: &[u8]) -> Read {
    let mut room = vec![httparse::EMPTY_HEADER; 8192];
    let mut request = httparse::Request::new(&mut room);
    let status = request.parse(head).expect("a head that no server takes");
    assert_eq!(status, httparse::Status::Complete(head.len()));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_matches([' ', '\t']).to_owned();
    Read {
        method: request.method.unwrap_or_default().to_owned(),
        place: request.path.unwrap_or_default().to_owned(),
        headers: request.headers.iter().map(|one| (one.name.to_owned(), text(one.value))).collect(),
    }
}

fn place_of(url: &Url) -> (String, u16) {
    let host = url.host_str().unwrap_or_default();
    let host = host.strip_suffix('.').unwrap_or(host);
    (host.to_owned(), url.port_or_known_default().unwrap_or_default())
}
