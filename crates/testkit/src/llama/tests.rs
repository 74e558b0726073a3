use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use super::*;

/// Generous: a machine with one busy core must still pass.
const PATIENCE: Duration = Duration::from_mins(5);

fn post(server: &Llama, path: &str, body: &str) -> String {
    let address = server.url().strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let length = body.len();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    reply
}

fn proc_entry(server: &Llama) -> PathBuf {
    PathBuf::from(format!("/proc/{}", server.process.id()))
}

#[test]
fn a_real_model_answers_within_its_limit_and_is_gone_afterwards() {
    let server = Llama::start().unwrap();
    let question = r#""messages":[{"role":"user","content":"Tell a long story."}],"max_tokens":7"#;

    let whole = post(&server, "/v1/chat/completions", &format!("{{{question}}}"));
    assert!(whole.starts_with("HTTP/1.1 200 OK\r\n"), "{whole}");
    assert!(whole.contains(r#""finish_reason":"length""#), "{whole}");
    assert!(whole.contains(r#""completion_tokens":7,"#), "{whole}");

    let options = r#""stream":true,"stream_options":{"include_usage":true}"#;
    let stream = post(&server, "/v1/chat/completions", &format!("{{{question},{options}}}"));
    let pieces = stream.matches(r#""delta":{"content":""#).count();
    assert_eq!((pieces, stream.matches("data: [DONE]").count()), (7, 1), "{stream}");
    assert!(stream.contains(r#""completion_tokens":7,"#), "{stream}");

    let (process, address) = (proc_entry(&server), server.url()["http://".len()..].to_owned());
    assert!(process.exists());
    drop(server);
    assert!(!process.exists());
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn a_reply_keeps_to_a_schema() {
    let server = Llama::start().unwrap();
    let body = r#"{"messages":[{"role":"user","content":"Tell a long story."}],"max_tokens":100,
        "response_format":{"type":"json_schema","json_schema":
        {"name":"report","strict":true,"schema":{"enum":["no story"]}}}}"#;
    let reply = post(&server, "/v1/chat/completions", body);
    assert!(reply.contains(r#""content":"\"no story\"""#), "{reply}");
}

#[test]
fn the_server_ends_with_whoever_started_it() {
    let mut server = Llama::start().unwrap();
    let process = proc_entry(&server);
    // What the system does when this process dies.
    drop(server.process.stdin.take());
    let (ended, waiting) = mpsc::channel();
    std::thread::spawn(move || ended.send(server.process.wait().map(|status| status.success())));
    assert!(waiting.recv_timeout(PATIENCE).unwrap().unwrap());
    assert!(!process.exists());
}

#[test]
fn a_missing_model_is_an_error_that_names_the_remedy() {
    let error = Llama::start_in(Path::new("/nonexistent")).unwrap_err();
    assert!(error.to_string().contains("Run `.ci/model.sh`"), "{error}");
}
