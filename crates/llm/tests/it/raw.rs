//! A server that answers each connection with given bytes, for what no played model would send.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

/// Answers as many requests as there are bodies; gives the address and what was asked.
pub(crate) fn serve(bodies: Vec<Vec<u8>>) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (sender, asked) = channel();
    thread::spawn(move || {
        for body in bodies {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = sender.send(hear(&mut stream));
            // The client may leave before it has all.
            let _ = stream.write_all(&body);
        }
    });
    (address, asked)
}

/// The next request, whole.
pub(crate) fn hear(stream: &mut TcpStream) -> String {
    let mut request = Vec::new();
    let mut piece = [0; 8_192];
    while !is_whole(&request) {
        let count = stream.read(&mut piece).unwrap();
        request.extend_from_slice(&piece[..count]);
    }
    String::from_utf8_lossy(&request).into_owned()
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| {
        line.to_ascii_lowercase().strip_prefix("content-length: ").map(str::to_owned)
    });
    length.is_none_or(|length| body.len() >= length.parse().unwrap())
}

/// A stream of events that ends with the connection.
pub(crate) fn events(frames: &[&str]) -> Vec<u8> {
    let mut body =
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n".to_vec();
    for frame in frames {
        body.extend_from_slice(b"data: ");
        body.extend_from_slice(frame.as_bytes());
        body.extend_from_slice(b"\n\n");
    }
    body
}
