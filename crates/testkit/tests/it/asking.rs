//! A client that shares no code with the server: one request per connection, read to its end.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use sequester_testkit::model::{Server, Wire};
use serde_json::{Value, json};

/// What came back.
#[derive(Debug, Default)]
pub(crate) struct Came {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
    /// The body ended as HTTP demands.
    pub(crate) proper: bool,
    /// The server fell silent.
    pub(crate) hung: bool,
}

impl Came {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect(&self.body)
    }

    /// The events of a stream: name and data; a comment has neither.
    pub(crate) fn events(&self) -> Vec<(String, String)> {
        let field = |frame: &str, name: &str| {
            frame.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().to_owned()
        };
        let frames = self.body.split_terminator("\n\n");
        frames.map(|frame| (field(frame, "event: "), field(frame, "data: "))).collect()
    }

    /// The data of all events that are JSON.
    pub(crate) fn data(&self) -> Vec<Value> {
        self.events().iter().filter_map(|(_, data)| serde_json::from_str(data).ok()).collect()
    }

    /// The names of the events, with repetitions of one after another left out.
    pub(crate) fn sequence(&self) -> Vec<String> {
        let mut names: Vec<String> = self.events().into_iter().map(|(name, _)| name).collect();
        names.dedup();
        names
    }
}

/// A first request on a wire.
pub(crate) fn first(wire: Wire, stream: bool) -> Value {
    let user = json!([{"role": "user", "content": "Say hello."}]);
    match wire {
        Wire::Anthropic => {
            json!({"model": "m", "max_tokens": 100, "stream": stream, "messages": user})
        }
        Wire::Chat => json!({
            "model": "m",
            "stream": stream,
            "stream_options": {"include_usage": true},
            "messages": user,
        }),
        Wire::Responses => json!({
            "model": "m",
            "stream": stream,
            "input": user,
            "reasoning": {"summary": "detailed"},
            "include": ["reasoning.encrypted_content"],
        }),
    }
}

pub(crate) fn ask(server: &Server, wire: Wire, body: &Value) -> Came {
    send(server, "POST", wire.path(), &body.to_string())
}

pub(crate) fn send(server: &Server, method: &str, path: &str, body: &str) -> Came {
    read(connect(server, method, path, body))
}

/// Asks, and listens only when the server has fallen silent and is gone: what came is all that ever would.
pub(crate) fn ask_in_vain(server: Server, wire: Wire, body: &Value) -> Came {
    let stream = open(&server, wire, body);
    wait_for("silence", || server.silent() == 1);
    drop(server);
    Came { hung: true, ..read(stream) }
}

/// Looks again and again; how long it takes decides nothing.
pub(crate) fn wait_for(what: &str, mut seen: impl FnMut() -> bool) {
    let mut looks = 0;
    while !seen() {
        looks += 1;
        assert!(looks < 6_000, "{what} never came");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A request on its way.
pub(crate) fn open(server: &Server, wire: Wire, body: &Value) -> TcpStream {
    connect(server, "POST", wire.path(), &body.to_string())
}

fn connect(server: &Server, method: &str, path: &str, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nx-api-key: k\r\nauthorization: Bearer k\r\n\
         anthropic-version: 2023-06-01\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream
}

fn read(mut stream: TcpStream) -> Came {
    let mut bytes = Vec::new();
    let mut came = Came::default();
    // What came before a connection was reset has come.
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8(bytes).unwrap();
    let Some((head, rest)) = text.split_once("\r\n\r\n") else { return came };
    came.status = head.split(' ').nth(1).unwrap().parse().unwrap();
    head.clone_into(&mut came.head);
    if head.contains("transfer-encoding: chunked") {
        came.unchunk(rest);
    } else {
        rest.clone_into(&mut came.body);
        came.proper = head.contains(&format!("content-length: {}", rest.len()));
    }
    came
}

impl Came {
    fn unchunk(&mut self, mut rest: &str) {
        while let Some((size, after)) = rest.split_once("\r\n") {
            let size = usize::from_str_radix(size, 16).unwrap();
            let Some(chunk) = after.get(..size) else { return };
            self.body.push_str(chunk);
            if size == 0 {
                self.proper = after == "\r\n";
                return;
            }
            rest = after.get(size + 2..).unwrap_or_default();
        }
    }
}
