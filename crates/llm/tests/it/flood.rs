//! Servers that never stop: each is given up before it has sent much, and nobody has to wait for it.

use std::io::Write as _;
use std::net::TcpListener;
use std::thread::{self, JoinHandle};

use sequester_core::provider::{Kind, Reply};
use sequester_llm::Timeouts;

use crate::raw::{events, hear};
use crate::stage::{KEY, ask, prompt, remote};

const GIGABYTE: usize = 1 << 30;
/// What may be on its way when nobody reads any more is the kernel's.
const LITTLE: usize = 128 << 20;

const ERROR: &[u8] =
    b"HTTP/1.1 500 No\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n";

/// A server that sends `head` and then `piece` over and over; it tells how many bytes it could send.
fn flood(head: Vec<u8>, piece: Vec<u8>) -> (String, JoinHandle<usize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        hear(&mut stream);
        let mut sent = 0;
        let mut next = head;
        while sent < GIGABYTE && stream.write_all(&next).is_ok() {
            sent += next.len();
            next.clone_from(&piece);
        }
        sent
    });
    (address, server)
}

/// What comes of it, and how much the server could send.
async fn suffer(model: &str, head: Vec<u8>, piece: Vec<u8>) -> (Result<Reply, Kind>, usize) {
    let (address, server) = flood(head, piece);
    let reply = ask(&remote(model, &address, KEY, Timeouts::default()), &prompt()).await;
    // The connection is closed by the runtime, which must not be blocked.
    let sent = tokio::task::spawn_blocking(|| server.join().unwrap()).await.unwrap();
    (reply.map_err(|error| error.kind), sent)
}

const MODELS: [&str; 4] = ["anthropic/m", "openai/m", "openai-responses/m", "gemini/m"];

#[tokio::test]
async fn a_gigabyte_of_error_is_not_read() {
    for model in MODELS {
        for piece in [vec![b'a'; 1 << 20], b"{\"error\": \n\n".repeat(5_000)] {
            let (reply, sent) = suffer(model, ERROR.to_vec(), piece).await;
            assert_eq!(reply, Err(Kind::TooLarge), "{model}");
            assert!(sent < LITTLE, "{model}: {sent}");
        }
    }
}

#[tokio::test]
async fn a_line_without_end_is_not_gathered() {
    let mut head = events(&[]);
    head.extend_from_slice(b"data: ");
    let (reply, sent) = suffer("openai/m", head, vec![b'a'; 1 << 20]).await;
    assert_eq!(reply, Err(Kind::TooLarge));
    assert!(sent < LITTLE, "{sent}");
}

/// genai makes no event of these, and keeps some of them.
#[tokio::test]
async fn frames_that_say_nothing_are_counted_too() {
    let redacted = format!(
        "event: content_block_start\ndata: {{\"type\": \"content_block_start\", \"content_block\": \
         {{\"type\": \"redacted_thinking\", \"data\": \"{}\"}}}}\n\n",
        "b3BhcXVl".repeat(100)
    );
    let encrypted = format!(
        "data: {{\"type\": \"response.output_item.done\", \"item\": {{\"type\": \"reasoning\", \
         \"encrypted_content\": \"{}\"}}}}\n\n",
        "b3BhcXVl".repeat(100)
    );
    let begun =
        "data: {\"type\": \"response.output_item.added\", \"output_index\": 1, \"item\": {}}\n\n";
    let ping = "event: ping\ndata: {\"type\": \"ping\"}\n\n";
    for (model, frame) in [
        ("anthropic/m", redacted.as_str()),
        ("anthropic/m", ping),
        ("openai-responses/m", &encrypted),
        ("openai-responses/m", begun),
        ("openai/m", ": still here\n\n"),
    ] {
        let piece = frame.repeat((64 << 10) / frame.len());
        let (reply, sent) = suffer(model, events(&[]), piece.into_bytes()).await;
        assert_eq!(reply, Err(Kind::TooLarge), "{model}: {frame}");
        assert!(sent < 2 * LITTLE, "{model}: {sent}");
    }
}

#[tokio::test]
async fn a_signature_without_end_is_too_large() {
    let delta = |delta: &str| {
        format!(
            "event: content_block_delta\ndata: {{\"type\": \"content_block_delta\", \"delta\": {delta}}}\n\n"
        )
    };
    let mut head = events(&[]);
    head.extend_from_slice(
        b"event: content_block_start\ndata: {\"type\": \"content_block_start\", \"content_block\": \
          {\"type\": \"thinking\", \"thinking\": \"\", \"signature\": \"\"}}\n\n",
    );
    let signature =
        format!("{{\"type\": \"signature_delta\", \"signature\": \"{}\"}}", "c2ln".repeat(500));
    let (reply, sent) = suffer("anthropic/m", head, delta(&signature).into_bytes()).await;
    assert_eq!(reply, Err(Kind::TooLarge));
    assert!(sent < LITTLE, "{sent}");
}

/// However small the pieces, a reply that ends is a reply.
#[tokio::test]
async fn a_reply_that_comes_byte_by_byte_is_whole() {
    let text = "Slow and steady. ".repeat(40);
    let frame = format!(
        "{{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}},\"finish_reason\":\"stop\"}}]}}"
    );
    let body = events(&[&frame, "[DONE]"]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_nodelay(true).unwrap();
        hear(&mut stream);
        body.chunks(1).for_each(|byte| stream.write_all(byte).unwrap());
    });
    let reply = ask(&remote("openai/m", &address, KEY, Timeouts::default()), &prompt()).await;
    assert_eq!(reply.unwrap().said.text, text);
}
