use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use sequester_tools::Settings;
use serde_json::json;

use crate::bench::{Bench, bench, with};

/// Answers each request with what `answer` says to its path, for as long as the test runs.
fn server(answer: impl Fn(&str) -> Vec<u8> + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = Vec::new();
            let mut byte = [0];
            while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) > 0 {
                head.push(byte[0]);
            }
            let head = String::from_utf8(head).unwrap();
            let path = head.split(' ').nth(1).unwrap_or_default();
            // A client that has read enough goes away.
            let _ = stream.write_all(&answer(path));
        }
    });
    address
}

fn page(status: &str, kind: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

fn redirect(to: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )
    .into_bytes()
}

fn allowing(hosts: &[&SocketAddr]) -> Bench {
    let hosts = hosts.iter().map(ToString::to_string).collect();
    with(Settings { hosts, fetch_time: Duration::from_secs(20), ..Settings::default() })
}

fn url(address: SocketAddr, path: &str) -> serde_json::Value {
    json!({"url": format!("http://{address}{path}")})
}

#[test]
fn html_comes_as_markdown_and_other_text_as_it_is() {
    let address = server(|path| match path {
        "/json" => page("200 OK", "application/json", "{\"a\": \"<b>\"}"),
        _ => page("200 OK", "text/html; charset=utf-8", "<h1>Grün</h1><p>Some <em>text</em>.</p>"),
    });
    let bench = allowing(&[&address]);
    assert_eq!(bench.output("WebFetch", url(address, "/")), "# Grün\n\nSome *text*.\n");
    assert_eq!(bench.output("WebFetch", url(address, "/json")), "{\"a\": \"<b>\"}\n");
}

#[test]
fn without_hosts_the_setting_is_named() {
    let told = bench().refusal("WebFetch", json!({"url": "https://example.org/"}));
    assert_eq!(
        told,
        "No host may be asked: the setting `hosts` is empty. Work without the page, or ask for it."
    );
}

#[test]
fn other_hosts_schemes_and_passwords_are_refused() {
    let bench = with(Settings { hosts: vec!["example.org".into()], ..Settings::default() });
    for (url, why) in [
        ("http://127.0.0.1:9/", "allows `example.org`"),
        ("http://example.org@127.0.0.1:9/", "password"),
        ("http://example.org:9/", "allows `example.org`"),
        ("file:///etc/passwd", "neither `http` nor `https`"),
        ("ftp://example.org/", "neither `http` nor `https`"),
    ] {
        let told = bench.refusal("WebFetch", json!({"url": url}));
        assert!(told.contains(why), "{url}: {told}");
    }
    assert!(bench.failure("WebFetch", json!({"url": "example.org"})).contains("is no address"));
}

#[test]
fn redirects_lead_to_allowed_hosts_only() {
    let other = server(|_| page("200 OK", "text/plain", "foreign"));
    let address = server(move |path| match path {
        "/near" => redirect("/text?x=1"),
        "/far" => redirect(&format!("http://{other}/")),
        "/round" => redirect("round"),
        path => page("200 OK", "text/plain", format!("at {path}")),
    });
    let bench = allowing(&[&address]);
    assert_eq!(bench.output("WebFetch", url(address, "/near")), "at /text?x=1\n");
    assert!(bench.refusal("WebFetch", url(address, "/far")).contains(&other.to_string()));
    assert!(bench.failure("WebFetch", url(address, "/round")).contains("sixth redirect"));
    assert_eq!(allowing(&[&address, &other]).output("WebFetch", url(address, "/far")), "foreign\n");
}

#[test]
fn what_is_no_text_is_refused_and_an_error_told() {
    let address = server(|path| match path {
        "/png" => page("200 OK", "image/png", b"\x89PNG\r\n\x1a\n"),
        "/lie" => page("200 OK", "text/plain", b"a\0b"),
        _ => page("404 Not Found", "text/html", "<p>No such page.</p>"),
    });
    let bench = allowing(&[&address]);
    assert!(
        bench
            .refusal("WebFetch", url(address, "/png"))
            .contains("is no text (image/png, 8 bytes read)")
    );
    assert!(bench.refusal("WebFetch", url(address, "/lie")).contains("is no text"));
    let told = bench.failure("WebFetch", url(address, "/x"));
    assert!(told.contains("answered 404 Not Found.\nNo such page."), "{told}");
}

#[test]
fn a_long_page_comes_in_parts_and_is_read_to_its_limit() {
    let body = |path: &str| match path {
        "/vast" => "line\n".repeat(1 << 20),
        _ => (0..10_000).map(|n| format!("line {n}\n")).collect::<Vec<_>>().concat(),
    };
    let address = server(move |path| page("200 OK", "text/plain", body(path)));
    let bench = allowing(&[&address]);
    let text = bench.output("WebFetch", url(address, "/vast"));
    assert!(text.len() <= 32 << 10);
    let told = "[The page is longer than 2097152 bytes; the rest was not read.]\n";
    assert!(text.ends_with(told), "{text}");
    let (mut whole, mut next) = (String::new(), 0);
    loop {
        let arguments = json!({"url": format!("http://{address}/"), "offset": next});
        let text = bench.output("WebFetch", arguments);
        assert!(text.len() <= 32 << 10);
        let Some((part, on)) = text.split_once("[Bytes ") else {
            whole += &text;
            break;
        };
        whole += part;
        let on = on.split_once("`offset` ").unwrap().1;
        next = on.trim_end_matches(".]\n").parse().unwrap();
    }
    assert_eq!(whole, body("/"));
    let past = json!({"url": format!("http://{address}/"), "offset": 98_890});
    assert_eq!(
        bench.failure("WebFetch", past),
        "The page has 98890 bytes of text; there is no byte 98890."
    );
}

#[test]
fn the_charset_of_a_page_is_honoured() {
    let address = server(|path| match path {
        "/header" => page("200 OK", "text/plain; charset=iso-8859-1", b"gr\xFCn"),
        "/meta" => page("200 OK", "text/html", b"<meta charset=koi8-r><p>\xC1</p>"),
        "/wide" => page("200 OK", "text/plain", b"\xFF\xFEh\0i\0"),
        _ => page("200 OK", "text/plain", b"gr\xFCn"),
    });
    let fetch = |path| allowing(&[&address]).output("WebFetch", url(address, path));
    assert_eq!(fetch("/header"), "gr\u{fc}n\n");
    assert_eq!(fetch("/meta"), "\u{430}\n");
    assert_eq!(fetch("/wide"), "hi\n");
    assert_eq!(fetch("/"), "gr\u{FFFD}n\n[Bytes that are no UTF-8 are shown as \u{FFFD}.]\n");
}

#[test]
fn this_machine_is_reached_only_by_a_name_that_says_so() {
    let address = server(|_| page("200 OK", "text/plain", "here"));
    let port = address.port();
    let with = |host: &str| {
        with(Settings { hosts: vec![format!("{host}:{port}")], ..Settings::default() })
    };
    let fetch = |host: &str| json!({"url": format!("http://{host}:{port}/")});
    assert_eq!(with("localhost").output("WebFetch", fetch("localhost")), "here\n");
    assert_eq!(with("127.0.0.1").output("WebFetch", fetch("127.0.0.1")), "here\n");
    assert!(with("localhost").refusal("WebFetch", fetch("127.0.0.1")).contains("may not be asked"));
    assert!(with("*.0.0.1").refusal("WebFetch", fetch("127.0.0.1")).contains("may not be asked"));
}

#[test]
fn a_silent_host_costs_no_more_than_the_time_limit() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let hosts = vec![address.to_string()];
    let bench =
        with(Settings { hosts, fetch_time: Duration::from_millis(300), ..Settings::default() });
    let started = Instant::now();
    let told = bench.failure("WebFetch", url(address, "/"));
    assert!(told.contains("timeout"), "{told}");
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[test]
fn the_proxy_of_the_settings_is_asked_for_the_host() {
    let (asked, targets) = mpsc::channel();
    let proxy = server(move |target| {
        asked.send(target.to_owned()).unwrap();
        page("403 Forbidden", "text/plain", "not through here")
    });
    let settings = Settings {
        hosts: vec!["example.invalid".into()],
        proxy: Some(format!("http://{proxy}")),
        ..Settings::default()
    };
    let told = with(settings).failure("WebFetch", json!({"url": "http://example.invalid/a"}));
    assert!(told.contains("could not be fetched"), "{told}");
    assert_eq!(targets.recv().unwrap(), "example.invalid:80");
    let wrong =
        Settings { hosts: vec!["a".into()], proxy: Some("::".into()), ..Settings::default() };
    let told = with(wrong).failure("WebFetch", json!({"url": "http://a/"}));
    assert!(told.contains("The proxy's address is wrong"), "{told}");
}
