use super::*;

#[test]
fn one_host_has_one_spelling() {
    let name = Some(Peer::Name("example.org".to_owned()));
    for text in ["example.org", "EXAMPLE.org", "example.org."] {
        assert_eq!(Peer::parse(text), name, "{text}");
    }
    let loopback = Some(Peer::Address(Ipv4Addr::LOCALHOST.into()));
    assert_eq!(Peer::parse("127.0.0.1"), loopback);
    let six = Some(Peer::Address(Ipv6Addr::LOCALHOST.into()));
    assert_eq!(Peer::parse("[::1]"), six);
    assert_eq!(Peer::parse("[0:0::0:1]"), six);
    assert_eq!(
        Peer::parse("xn--bcher-kva.example").map(|host| host.to_string()).as_deref(),
        Some("xn--bcher-kva.example")
    );
}

#[test]
fn what_could_be_read_in_two_ways_is_no_host() {
    let odd = [
        "",
        ".",
        "..",
        "a..b",
        ".a",
        "a..",
        "-a.org",
        "a-.org",
        "a_b.org",
        "b\u{fc}cher.example",
        "ex%61mple.org",
        "user@example.org",
        "0x7f.1",
        "0x7f000001",
        "0X7F.0.0.1",
        "2130706433",
        "127.1",
        "0177.0.0.1",
        "127.0.0.1.",
        "127.0.0.01",
        "1.2.3.4.5",
        "256.0.0.1",
        "a.1",
        "a.0x1",
        "0x",
        "::1",
        "[::1",
        "[]",
        "[fe80::1%eth0]",
        "[127.0.0.1]",
        "a b",
        "a\0",
        "a/b",
        "a\\b",
        "a,b",
        "*.org",
    ];
    for text in odd {
        assert_eq!(Peer::parse(text), None, "{text:?}");
    }
    assert_eq!(Peer::parse(&format!("{}.org", "a".repeat(64))), None);
    assert_eq!(Peer::parse(&"a.".repeat(130)), None);
}

#[test]
fn a_port_is_plain_digits() {
    let port = |text| Peer::parse_with_port(text).map(|(_, port)| port);
    assert_eq!(port("a.org"), Some(None));
    assert_eq!(port("a.org:8080"), Some(Some(8080)));
    assert_eq!(port("[::1]:80"), Some(Some(80)));
    for text in [
        "a.org:",
        "a.org:0",
        "a.org:+80",
        "a.org:65536",
        "a.org:80:80",
        "[::1]80",
        "a:b@c.org:80",
        "[::1]]:80",
    ] {
        assert_eq!(port(text), None, "{text}");
    }
}
