//! Hosts that a subagent's programs ask for: each decision is an event, and judged by what was granted then.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;

use sequester_testkit::model::{Request, Turn};
use serde_json::{Value, json};

use super::{Row, bash, content, deliver, plan, role};
use crate::waves::export;

const CONFIG: &str = "../home/.config/sequester/config.toml";

/// Answers one request after the other, until the test ends.
fn listen() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 4096];
            let _ = stream.read(&mut request);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nanswer");
        }
    });
    port
}

/// A command that asks for a page through the proxy, whatever comes of it.
fn fetch(host: &str) -> String {
    let words = format!(
        "import os, urllib.request as u; [os.environ.pop(n, 0) for n in ('no_proxy', 'NO_PROXY')]; print(u.urlopen('http://{host}/', timeout=9).read().decode())"
    );
    format!("/usr/bin/python3 -c \"{words}\" 2>&1 | tail -1")
}

#[test]
fn every_host_that_is_asked_for_is_in_the_log_and_judged_by_what_was_granted_then() {
    let port = listen();
    let own = format!("127.0.0.1:{port}");
    let fetched = format!("{}; {}", fetch(&own), fetch("elsewhere.example"));
    let play = move |request: &Request| match (role(request), request.turn) {
        ("researcher", 0) => bash(&fetched),
        ("writer", _) => deliver(request, "a.txt", "right\n"),
        _ => Turn::report(content(request)),
    };
    let tasks = [("a", "files: {create: [a.txt]}", "Write the letter a.")];
    let row = Row::new(&plan("chain", &tasks), play);
    row.bench.write(CONFIG, format!("hosts = [\"{own}\"]\n"));
    let ran = row.run(&[]);
    let run = ran.ended(0, "done");
    let log = export(&row.bench, &row.server, run);
    let asked: Vec<&Value> = log.iter().filter(|event| event["event"] == "host_asked").collect();
    let told =
        |event: &&Value| json!([event["phase"], event["host"], event["port"], event["allowed"]]);
    let wanted = [
        json!(["research", "127.0.0.1", port, true]),
        json!(["research", "elsewhere.example", 80, false]),
    ];
    assert_eq!(asked.iter().map(told).collect::<Vec<_>>(), wanted, "{asked:?}");
    row.is_proved(run);
    row.bench.write(CONFIG, "");
    row.is_proved(run);
}
