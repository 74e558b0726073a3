use proptest::prelude::*;
use url::Url;

use super::*;
use crate::proxy::host::{Host, Peer};

fn target(host: &str, port: u16) -> Target {
    Target { peer: Peer::parse(host).unwrap(), port }
}

fn plain(host: &str, port: u16, head: &str, body: Body) -> Request {
    let head = head.replace('\n', "\r\n").into_bytes();
    Request::Plain(Plain { target: target(host, port), head, body })
}

fn read(text: &str) -> Result<Request, Refusal> {
    parse(text.replace('\n', "\r\n").as_bytes(), None)
}

#[test]
fn a_request_goes_on_alone_on_its_connection() {
    let text = "GET http://Example.org/a?b=c HTTP/1.1\nHost: example.org\nProxy-Connection: keep-alive\n\
                Accept:  */* \nConnection: keep-alive, X-Own\nKeep-Alive: 5\nX-Own: 1\nUpgrade: h2c\nTE: trailers\n\
                Proxy-Authorization: Basic eDp5\n\n";
    let head = "GET /a?b=c HTTP/1.1\nHost: example.org\nAccept: */*\nConnection: close\n\n";
    assert_eq!(read(text), Ok(plain("example.org", 80, head, Body::Counted(0))));

    let text =
        "POST HTTP://example.org:8080 HTTP/1.1\nhost: EXAMPLE.ORG.:8080\nContent-Length: 12\n\n";
    let head = "POST / HTTP/1.1\nHost: example.org:8080\nContent-Length: 12\nConnection: close\n\n";
    assert_eq!(read(text), Ok(plain("example.org", 8080, head, Body::Counted(12))));

    let text = "PUT http://[::1]?q HTTP/1.1\nTransfer-Encoding: Chunked\n\n";
    let head = "PUT /?q HTTP/1.1\nHost: [::1]\nTransfer-Encoding: Chunked\nConnection: close\n\n";
    assert_eq!(read(text), Ok(plain("[::1]", 80, head, Body::chunked())));
}

#[test]
fn a_head_that_was_rewritten_is_rewritten_to_itself() {
    let text = "GET http://example.org/a HTTP/1.1\nClose: x\nAccept: y\nConnection: close\n\n";
    let head = "GET /a HTTP/1.1\nHost: example.org\nAccept: y\nConnection: close\n\n";
    let once = plain("example.org", 80, head, Body::Counted(0));
    assert_eq!(read(&text.replace("Connection: close\n", "")).as_ref(), Ok(&once));
    assert_eq!(read(text).as_ref(), Ok(&once));
    let again = head.replace('\n', "\r\n");
    assert_eq!(parse(again.as_bytes(), Some(&target("example.org", 80))), Ok(once));
}

#[test]
fn a_tunnel_names_host_and_port() {
    let asked = Ok(Request::Tunnel(target("example.org", 443)));
    assert_eq!(read("CONNECT example.org:443 HTTP/1.1\nHost: example.org:443\n\n"), asked);
    assert_eq!(read("CONNECT EXAMPLE.org.:443 HTTP/1.0\n\n"), asked);
    assert_eq!(read("CONNECT example.org:443 HTTP/1.1\nHost: example.org\n\n"), asked);
}

#[test]
fn a_request_in_a_tunnel_is_for_the_tunnels_host() {
    let own = target("example.org", 8080);
    let read = |text: &str| parse(text.replace('\n', "\r\n").as_bytes(), Some(&own));
    let head = "GET /a HTTP/1.1\nHost: example.org:8080\nConnection: close\n\n";
    assert_eq!(
        read("GET /a HTTP/1.1\nHost: example.org:8080\n\n"),
        Ok(plain("example.org", 8080, head, Body::Counted(0)))
    );
    for text in [
        "GET /a HTTP/1.1\nHost: evil.net:8080\n\n",
        "GET /a HTTP/1.1\nHost: example.org\n\n",
        "GET http://evil.net/ HTTP/1.1\n\n",
        "CONNECT evil.net:443 HTTP/1.1\n\n",
        "OPTIONS * HTTP/1.1\n\n",
    ] {
        assert!(matches!(read(text), Err(Refusal::Malformed(_))), "{text}");
    }
}

#[test]
fn what_could_be_read_in_two_ways_is_no_request() {
    let first_lines = [
        "",
        "GET",
        "GET /",
        "GET / HTTP/1.1",
        "GET example.org HTTP/1.1",
        "GET  http://a.org/ HTTP/1.1",
        "GET http://a.org/ HTTP/1.1 ",
        " GET http://a.org/ HTTP/1.1",
        "GET\thttp://a.org/ HTTP/1.1",
        "GET http://a.org/ HTTP/2.0",
        "GET http://a.org/ http/1.1",
        "GET http://a.org/ HTTP/1.11",
        "GET https://a.org/ HTTP/1.1",
        "GET ftp://a.org/ HTTP/1.1",
        "GET http:/a.org/ HTTP/1.1",
        "GET http:///a.org HTTP/1.1",
        "GET http://user@a.org/ HTTP/1.1",
        "GET http://a.org:pass@evil.net/ HTTP/1.1",
        "GET http://a.org:80:80/ HTTP/1.1",
        "GET http://a.org:/ HTTP/1.1",
        "GET http://a.org#@evil.net/ HTTP/1.1",
        "GET http://a.org\\@evil.net/ HTTP/1.1",
        "GET http://%61.org/ HTTP/1.1",
        "GET http://a.org/\u{7f} HTTP/1.1",
        "GET http://0x7f.1/ HTTP/1.1",
        "GET http://2130706433/ HTTP/1.1",
        "GET http://[::1%25lo]/ HTTP/1.1",
        "GET http://\u{e4}.org/ HTTP/1.1",
        "G\u{e4}T http://a.org/ HTTP/1.1",
        "GET(x) http://a.org/ HTTP/1.1",
        "CONNECT a.org HTTP/1.1",
        "CONNECT a.org:443/ HTTP/1.1",
        "CONNECT http://a.org:443 HTTP/1.1",
        "CONNECT x@a.org:443 HTTP/1.1",
        "CONNECT a.org:0 HTTP/1.1",
        "CONNECT :443 HTTP/1.1",
        "connect a.org:443 HTTP/1.1",
    ];
    for line in first_lines {
        let outcome = read(&format!("{line}\n\n"));
        assert!(matches!(outcome, Err(Refusal::Malformed(_))), "{line}: {outcome:?}");
    }
}

#[test]
fn headers_that_servers_disagree_about_are_no_headers() {
    let headers = [
        "Content-Length: 5\nTransfer-Encoding: chunked",
        "Content-Length: 5\nContent-Length: 5",
        "Content-Length: 5, 5",
        "Content-Length: +5",
        "Content-Length: -1",
        "Content-Length: 0x5",
        "Content-Length:",
        "Content-Length: 5 5",
        "Content-Length: 99999999999999999999",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: chunked\nTransfer-Encoding: chunked",
        "Transfer-Encoding: identity",
        "Transfer-Encoding:\u{b}chunked",
        "Transfer-Encoding : chunked",
        " Transfer-Encoding: chunked",
        "A: b\n Transfer-Encoding: chunked",
        "A: b\n\tc",
        "A",
        ": b",
        "A b: c",
        "A\u{0}: b",
        "A: \u{0}",
        "A: b\rc",
        "A: \u{e4}",
        "Host: evil.net",
        "Host: a.org\nHost: a.org",
        "Host: a.org, evil.net",
        "Host: a.org:8080",
        "Host:",
        "Host: a.org@evil.net",
        "Connection: Host",
        "Connection: close, content-length",
        "Connection: transfer-encoding",
        "Proxy-Connection: Content-Length",
    ];
    for header in headers {
        let outcome = read(&format!("POST http://a.org/ HTTP/1.1\n{header}\n\n"));
        assert!(matches!(outcome, Err(Refusal::Malformed(_))), "{header}: {outcome:?}");
    }
    assert!(read("POST http://a.org/ HTTP/1.0\nTransfer-Encoding: chunked\n\n").is_err());
    assert!(read("CONNECT a.org:443 HTTP/1.1\nContent-Length: 5\n\n").is_err());
    assert!(read("CONNECT a.org:443 HTTP/1.1\nHost: evil.net:443\n\n").is_err());
}

#[test]
fn a_head_ends_at_the_same_place_however_it_comes() {
    let head = b"GET http://a.org/ HTTP/1.1\r\nA: b\r\n\r\n";
    let bytes = [&head[..], b"\r\n\r\nbody\n\0"].concat();
    for from in 0..head.len() {
        assert_eq!(find_end(&bytes[..from], 0), Ok(None));
        assert_eq!(find_end(&bytes, from), Ok(Some(head.len())));
    }
    for bad in [
        &b"GET / HTTP/1.1\nA: b\n\n"[..],
        b"\n",
        b"GET /\0",
        b"A\r\n",
        b"\r\n",
        b"GET http://a.org/ HTTP/1.1\r\n\n",
    ] {
        assert!(find_end(bad, 0).is_err(), "{}", bad.escape_ascii());
    }
    assert_eq!(find_end(&[b'a'; HEAD_BYTES - 1], 0), Ok(None));
    assert!(find_end(&[b'a'; HEAD_BYTES], 0).is_err());
}

/// Pieces of which an address is made that looks like another.
const PIECES: [&str; 22] = [
    "example.org",
    "evil.net",
    "EXAMPLE.ORG",
    ".",
    ":",
    "80",
    "443",
    "@",
    "/",
    "\\",
    "?",
    "#",
    "%2e",
    "%00",
    "[",
    "]",
    "::1",
    "127.0.0.1",
    "*",
    "\t",
    " ",
    "-",
];

fn scrambled() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&PIECES[..]), 1..6)
        .prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_bytes_at_all_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = find_end(&bytes, 0);
        let _ = parse(&[&bytes[..], b"\r\n\r\n"].concat(), None);
        let _ = Body::chunked().take(&bytes);
    }

    #[test]
    fn no_address_leads_where_the_list_does_not(rest in scrambled(), host in scrambled()) {
        let list: [Host; 1] = ["example.org".parse().unwrap()];
        let place = format!("http://{rest}");
        for text in [
            format!("GET {place} HTTP/1.1\nHost: {host}\n\n"),
            format!("GET {place} HTTP/1.1\n\n"),
            format!("CONNECT {rest} HTTP/1.1\nHost: {host}\n\n"),
        ] {
            let Ok(Request::Plain(Plain { target, .. }) | Request::Tunnel(target)) = read(&text) else {
                continue;
            };
            if target.admit(&list).is_err() {
                continue;
            }
            // As the standard of the web reads it.
            let url = Url::parse(&place).unwrap();
            prop_assert_eq!(url.host_str().map(|host| host.trim_end_matches('.')), Some("example.org"));
            prop_assert_eq!(url.port_or_known_default(), Some(target.port));
        }
    }
}
