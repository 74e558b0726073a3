mod peer;

use super::*;

fn host(text: &str) -> Host {
    text.parse().unwrap()
}

#[test]
fn a_host_is_printed_in_its_one_form() {
    for (text, printed) in [
        ("crates.io", "crates.io"),
        ("Crates.IO.:443", "crates.io:443"),
        ("*.Example.org", "*.example.org"),
        ("*.example.org:8443", "*.example.org:8443"),
        ("localhost:8080", "localhost:8080"),
        ("127.0.0.1", "127.0.0.1"),
        ("10.0.0.1:5432", "10.0.0.1:5432"),
        ("::1", "[::1]"),
        ("[::1]", "[::1]"),
        ("[2001:DB8::1]:8080", "[2001:db8::1]:8080"),
    ] {
        assert_eq!(host(text).to_string(), printed);
        assert_eq!(host(printed).to_string(), printed);
    }
}

#[test]
fn what_is_no_host_is_refused() {
    for text in [
        "",
        ".",
        "*",
        "*.",
        "**.a.b",
        "a.*.b",
        "*a.b",
        ":80",
        "a:",
        "a:0",
        "a:65536",
        "a:+1",
        "a:1:2",
        "a b",
        "a/b",
        "http://a",
        "u@a",
        "-a.b",
        "a-.b",
        "a..b",
        ".a",
        "127.1",
        "2130706433",
        "0x7f.1",
        "0x7f000001",
        "1.2.3.4.5",
        "256.1.1.1",
        "*.127.0.0.1",
        "[::1",
        "[127.0.0.1]",
        "fe80::1%eth0",
        "bücher.example",
        "a\n",
        "a_b.org",
    ] {
        let error = text.parse::<Host>().unwrap_err();
        assert_eq!(error.to_string(), format!("`{text}` is no host."));
    }
}

/// Whether the host is meant by a name or an address with its port.
fn covers(host: &Host, peer: &str, port: u16) -> bool {
    Peer::parse(peer).is_some_and(|peer| host.covers(&peer)) && host.covers_port(port)
}

#[test]
fn a_host_without_a_port_is_its_web_site() {
    let site = host("example.org");
    assert!(covers(&site, "example.org", 443) && covers(&site, "EXAMPLE.org.", 80));
    assert!(!covers(&site, "example.org", 22));
    assert!(covers(&host("example.org:22"), "example.org", 22));
    assert!(!covers(&host("example.org:22"), "example.org", 443));
}

#[test]
fn a_star_covers_what_is_below_and_nothing_beside() {
    let below = host("*.example.org");
    assert!(covers(&below, "a.example.org", 443) && covers(&below, "b.a.example.org", 443));
    for name in ["example.org", "badexample.org", "a.example.org.evil.net", ".example.org", ""] {
        assert!(!covers(&below, name, 443), "{name}");
    }
}

#[test]
fn an_address_is_covered_only_where_it_is_named() {
    assert!(covers(&host("127.0.0.1:80"), "127.0.0.1", 80));
    assert!(covers(&host("[::1]:80"), "[::1]", 80) && covers(&host("::1"), "[::1]", 80));
    assert!(!covers(&host("127.0.0.1"), "localhost", 80));
    assert!(!covers(&host("localhost"), "127.0.0.1", 80));
    assert!(!covers(&host("127.0.0.1"), "[::ffff:127.0.0.1]", 80));
}
