//! A client and servers that were taken over: each ends with an outcome in words.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use sequester_core::tool::Outcome;
use sequester_tools::Client;
use serde_json::{Value, json};

use crate::bench::invocation;
use crate::serving::{ask, wait};

const PATIENCE: Duration = Duration::from_millis(50);

fn connect(patience: Duration) -> (Client, UnixStream) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    (Client::connect(ours, patience).unwrap(), theirs)
}

fn frame(value: &Value) -> Vec<u8> {
    frame_of(value.to_string().as_bytes())
}

fn frame_of(body: &[u8]) -> Vec<u8> {
    [&(body.len() as u32).to_be_bytes(), body].concat()
}

/// What two callers are told when a server sends these bytes and stays.
fn told(bytes: &[u8]) -> [String; 2] {
    let (client, mut server) = connect(Duration::from_mins(10));
    let call = || client.call(invocation("Read", json!({})));
    let calls = [call(), call()];
    server.write_all(bytes).unwrap();
    let told = calls.map(|call| match wait(call).outcome {
        Outcome::Failed(told) => told,
        other => panic!("{other:?}"),
    });
    let reason = told[0].split(" This call").next().unwrap();
    let later = ask(&client, "Read", json!({}));
    assert!(later.text().starts_with(reason), "from now on: {later:?}");
    // The connection is closed: a server that is held up by its own writing ends.
    server.read_to_end(&mut Vec::new()).unwrap();
    told
}

#[test]
fn what_no_server_would_say_ends_it() {
    let output = |id: u64, seen: Value| {
        frame(&json!({"id": id, "returned": {"outcome": {"output": "x"}, "seen": seen}}))
    };
    let answer = |outcome: Value| frame(&json!({"id": 1, "returned": {"outcome": outcome}}));
    let digest = "0".repeat(64);
    let deep = "[".repeat(100_000);
    for (bytes, why) in [
        (vec![0x7F, 0xFF, 0xFF, 0xFF], "it has 2147483647 bytes and may have 1048576"),
        (vec![0; 4], "EOF while parsing a value"),
        (frame_of(b"\xFF\xFE"), "expected value"),
        (frame_of(deep.as_bytes()), "invalid type: sequence"),
        (frame(&json!({"id": 1})), "missing field `returned`"),
        (frame(&json!({"id": -1, "returned": {}})), "invalid value: integer `-1`"),
        (answer(json!({"output": 1})), "invalid type: integer `1`"),
        (answer(json!({"granted": "x"})), "unknown variant `granted`"),
        (
            answer(json!({"needs_approval": {"question": "May I?", "files": []}})),
            "asks for approval",
        ),
        (output(3, json!({})), "no call 3 waits for an answer"),
        (output(1, json!({"a": "0"})), "not one file with its digest"),
        (output(1, json!({"a": "g".repeat(64)})), "not one file with its digest"),
        (output(1, json!({"a": digest, "b": digest})), "not one file with its digest"),
        (output(1, json!({"a".repeat(4_097): digest})), "not one file with its digest"),
    ] {
        for told in told(&bytes) {
            assert!(told.starts_with("The tool server ended: ") && told.contains(why), "{told}");
        }
    }
    let long = frame(&json!({"id": "x".repeat(1 << 19), "returned": {}}));
    assert!(told(&long)[0].len() < 500, "a reason quotes little");
}

#[test]
fn an_answer_counts_once() {
    let (client, mut server) = connect(Duration::from_mins(10));
    let calls = [1, 2].map(|_| client.call(invocation("Read", json!({}))));
    let answer = frame(&json!({"id": 1, "returned": {"outcome": {"output": "first"}}}));
    server.write_all(&[answer.clone(), answer].concat()).unwrap();
    let [first, second] = calls.map(|call| wait(call).outcome);
    assert_eq!(first, Outcome::Output("first".into()));
    assert!(second.text().contains("no call 1 waits for an answer"), "{second:?}");
}

#[test]
fn an_answer_that_nobody_waits_for_any_more_does_no_harm() {
    let (client, mut server) = connect(Duration::from_mins(10));
    drop(client.call(invocation("Read", json!({}))));
    let call = client.call(invocation("Read", json!({})));
    for id in [1, 2] {
        let answer = json!({"id": id, "returned": {"outcome": {"output": id.to_string()}}});
        server.write_all(&frame(&answer)).unwrap();
    }
    assert_eq!(wait(call).outcome, Outcome::Output("2".into()));
}

#[test]
fn when_the_server_dies_everyone_who_waits_is_told() {
    let (client, mut server) = connect(Duration::from_mins(10));
    let waiting: Vec<_> = (0..3).map(|_| client.call(invocation("Read", json!({})))).collect();
    server.read_exact(&mut [0; 4]).unwrap();
    let answer = frame(&json!({"id": 2, "returned": {"outcome": {"output": "two"}}}));
    server.write_all(&answer).unwrap();
    drop(server);
    let told: Vec<_> = waiting.into_iter().map(|call| wait(call).outcome).collect();
    let ended = |told: &Outcome| matches!(told, Outcome::Failed(told) if told.starts_with("The tool server ended: "));
    assert!(ended(&told[0]) && ended(&told[2]), "{told:?}");
    assert_eq!(told[1], Outcome::Output("two".into()));
    assert!(told[0].text().contains("not answered"), "{told:?}");
    let late = ask(&client, "Read", json!({}));
    assert!(ended(&late) && late.text().contains("not carried out"), "{late:?}");
}

#[test]
fn a_silent_server_is_given_up() {
    let silent = "The tool server ended: it gave no answer for 0.05 s. ";
    let (client, _server) = connect(PATIENCE);
    let told = ask(&client, "Read", json!({}));
    assert!(told.text().starts_with(silent), "{told:?}");
    let (client, mut server) = connect(PATIENCE);
    let call = client.call(invocation("Read", json!({})));
    server.write_all(&[0, 0, 1]).unwrap();
    let told = wait(call).outcome;
    assert!(told.text().starts_with(silent), "within a frame too: {told:?}");
}

#[test]
fn a_server_that_does_not_read_is_given_up() {
    let (client, _server) = connect(PATIENCE);
    let large = json!({"file_path": "a", "content": "x".repeat(4 << 20)});
    let calls = [1, 2].map(|_| client.call(invocation("Write", large.clone())));
    for call in calls {
        let told = wait(call).outcome;
        assert!(told.text().starts_with("The tool server ended: "), "{told:?}");
    }
}

#[test]
fn a_client_without_calls_waits_for_ever() {
    let (client, mut server) = connect(Duration::from_millis(1));
    std::thread::sleep(Duration::from_millis(20));
    assert!(server.set_nonblocking(true).is_ok());
    let open = server.read(&mut [0]).unwrap_err();
    assert_eq!(open.kind(), std::io::ErrorKind::WouldBlock, "the connection stands");
    drop(client);
}
