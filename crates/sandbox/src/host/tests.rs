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
    ] {
        let error = text.parse::<Host>().unwrap_err();
        assert_eq!(error.to_string(), format!("`{text}` is no host."));
    }
}

#[test]
fn a_host_without_a_port_is_its_web_site() {
    let site = host("example.org");
    assert!(site.covers("example.org", 443) && site.covers("EXAMPLE.org.", 80));
    assert!(!site.covers("example.org", 22));
    assert!(host("example.org:22").covers("example.org", 22));
    assert!(!host("example.org:22").covers("example.org", 443));
}

#[test]
fn a_star_covers_what_is_below_and_nothing_beside() {
    let below = host("*.example.org");
    assert!(below.covers("a.example.org", 443) && below.covers("b.a.example.org", 443));
    for name in ["example.org", "badexample.org", "a.example.org.evil.net", ".example.org", ""] {
        assert!(!below.covers(name, 443), "{name}");
    }
}

#[test]
fn an_address_is_covered_only_where_it_is_named() {
    assert!(host("127.0.0.1:80").covers("127.0.0.1", 80));
    assert!(host("[::1]:80").covers("[::1]", 80) && host("::1").covers("::1", 80));
    assert!(!host("127.0.0.1").covers("localhost", 80));
    assert!(!host("localhost").covers("127.0.0.1", 80));
    assert!(!host("127.0.0.1").covers("::ffff:127.0.0.1", 80));
}
