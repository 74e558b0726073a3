//! A model's reply as a stream of events, over each of the four APIs and a real connection: it becomes a reply that
//! can be kept and sent back, or an error; never more than a reply may hold.
#![no_main]

use std::cell::OnceCell;
use std::io;

use libfuzzer_sys::fuzz_target;
use sequester_core::message::Message;
use sequester_core::protected::Grants;
use sequester_core::provider::{Answer, Deltas, Provider, Reply, Request};
use sequester_llm::{Models, Named, Pool, Remote, Sources, Timeouts, resolve};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::watch;

const MODELS: [&str; 4] = ["openai/m", "anthropic/m", "openai-responses/m", "gemini/m"];

thread_local! {
    static STAGE: OnceCell<Stage> = const { OnceCell::new() };
}

struct Stage {
    runtime: Runtime,
    remotes: Vec<Remote>,
    body: watch::Sender<Vec<u8>>,
}

struct Deaf;

impl Deltas for Deaf {
    fn text(&self, _: &str) {}
}

impl Stage {
    fn new() -> Self {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let (body, bodies) = watch::channel(Vec::new());
        runtime.spawn(serve(listener, bodies));
        let environment = |variable: &str| match variable {
            "OPENAI_BASE_URL" => Some(format!("{address}/v1")),
            "ANTHROPIC_BASE_URL" | "GOOGLE_GEMINI_BASE_URL" => Some(address.clone()),
            "OPENAI_API_KEY" | "ANTHROPIC_API_KEY" | "GEMINI_API_KEY" => {
                Some("made-up-key-1".to_owned())
            }
            _ => None,
        };
        let models = Models::default();
        let sources = Sources { models: &models, environment: &environment, command: &|_| None };
        let pool = Pool::new(Timeouts::default()).expect("a pool");
        let remotes = MODELS.map(|name| match resolve(name, &sources) {
            Ok(Named::Target(target)) => Remote::new(&pool, target),
            _ => panic!("{name} is no model"),
        });
        Self { runtime, remotes: remotes.into(), body }
    }

    fn ask(&self, which: usize, body: &[u8]) -> Option<Reply> {
        self.body.send_replace(body.to_vec());
        let messages = [Message::User("Go.".into())];
        let grants = Grants::default();
        let request = Request {
            system: "s",
            messages: &messages,
            tools: &[],
            answer: Answer::Free,
            output_limit: 4_096,
            turns: 80,
            task: "",
            grants: &grants,
        };
        self.runtime.block_on(self.remotes[which].complete(request, &Deaf)).ok()
    }
}

/// Answers every request on every connection with the body of the moment.
async fn serve(listener: TcpListener, bodies: watch::Receiver<Vec<u8>>) -> io::Result<()> {
    loop {
        let (mut stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let bodies = bodies.clone();
        tokio::spawn(async move {
            let (mut held, mut buffer) = (Vec::new(), [0; 4096]);
            loop {
                let Ok(count @ 1..) = stream.read(&mut buffer).await else { return };
                held.extend_from_slice(&buffer[..count]);
                let Some(end) = request_end(&held) else { continue };
                held.drain(..end);
                let body = bodies.borrow().clone();
                let head = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n",
                    body.len()
                );
                let answer = [head.as_bytes(), &body].concat();
                if stream.write_all(&answer).await.is_err() {
                    return;
                }
            }
        });
    }
}

/// Where a whole request ends.
fn request_end(held: &[u8]) -> Option<usize> {
    let head = held.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let text = std::str::from_utf8(&held[..head]).ok()?.to_ascii_lowercase();
    let length = text.lines().find_map(|line| line.strip_prefix("content-length:"))?;
    let end = head + length.trim().parse::<usize>().ok()?;
    (held.len() >= end).then_some(end)
}

fuzz_target!(|bytes: &[u8]| {
    let Some((which, body)) = bytes.split_first() else { return };
    STAGE.with(|stage| {
        let stage = stage.get_or_init(Stage::new);
        let which = usize::from(*which) % MODELS.len();
        let Some(reply) = stage.ask(which, body) else { return };
        let said = &reply.said;
        assert!(said.text.len() <= body.len());
        assert!(said.calls.iter().all(|call| !call.id.is_empty()));
        let mut ids: Vec<&str> = said.calls.iter().map(|call| call.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), said.calls.len());
        assert!(
            reply.usage.input >= reply.usage.cache_read.saturating_add(reply.usage.cache_write)
        );
        let kept = serde_json::to_string(&reply).expect("a reply that cannot be kept");
        assert_eq!(serde_json::from_str::<Reply>(&kept).ok().as_ref(), Some(&reply));
    });
});
