use std::io::{Read as _, Write as _};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use sequester_core::tool::{Effect, Outcome, Toolbox};
use sequester_tools::{Client, Settings, Workbench, specs};
use serde_json::json;

use crate::bench::{bench, invocation};
use crate::serving::{ask, launch, start, start_with, wait};

#[test]
fn all_tools_are_listed_with_their_effects() {
    let listed: Vec<_> =
        specs().into_iter().map(|spec| (spec.name.into_owned(), spec.effect)).collect();
    let expected = [
        ("Read", Effect::Reads),
        ("Write", Effect::Edits),
        ("Edit", Effect::Edits),
        ("Grep", Effect::Reads),
        ("Glob", Effect::Reads),
        ("Bash", Effect::Runs),
        ("WebFetch", Effect::Reads),
    ];
    assert_eq!(listed, expected.map(|(name, effect)| (name.to_owned(), effect)));
}

#[test]
fn a_thousand_reads_at_once_each_get_their_own_answer() {
    let bench = bench();
    for number in 0..1_000 {
        bench.put(&format!("{number}"), format!("this is {number}\n"));
    }
    let (client, server) = start(&bench);
    let read =
        |number: usize| client.call(invocation("Read", json!({"file_path": number.to_string()})));
    let calls: Vec<_> = (0..1_000).map(read).collect();
    for (number, call) in calls.into_iter().enumerate() {
        let returned = wait(call);
        assert_eq!(returned.outcome, Outcome::Output(format!("     1\tthis is {number}\n")));
        assert_eq!(returned.seen.len(), 1);
    }
    drop(client);
    assert!(server.ended().success());
}

#[test]
fn a_call_gives_the_same_through_the_wire_as_without_it() {
    let bench = bench();
    bench.put("a", "grün \u{1}\n");
    let (client, _server) = start(&bench);
    for (tool, arguments) in [
        ("Read", json!({"file_path": "a"})),
        ("Read", json!({"file_path": "../a"})),
        ("Read", json!({"file_path": ["a"]})),
        ("Read", json!("not json")),
        ("Write", json!({"file_path": "a", "content": ""})),
        ("Grep", json!({"pattern": "("})),
        ("Bash", json!({"command": "echo hi; exit 2"})),
        ("Task", json!({})),
    ] {
        let invocation = invocation(tool, arguments);
        assert_eq!(wait(Toolbox::call(&client, &invocation)), bench.workbench.call(&invocation));
    }
    assert_eq!(bench.refusal("Task", json!({})), "There is no tool `Task` here.");
    assert_eq!(client.specs(), specs());
}

#[test]
fn a_server_can_be_a_thread_of_a_program_that_only_looks() {
    let bench = bench();
    bench.put("a", "x\n");
    let workbench = Workbench::new(bench.folder.path(), Settings::default()).unwrap();
    let client = Client::in_process(workbench).unwrap();
    let text = ask(&client, "Read", json!({"file_path": "a"}));
    assert_eq!(text, Outcome::Output("     1\tx\n".into()));
}

#[test]
fn what_the_wire_cannot_carry_fails_without_ending_the_server() {
    let bench = bench();
    let (client, _server) = start(&bench);
    let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
    let told = wait(client.call(invocation("Read", deep)));
    assert_eq!(
        told.outcome,
        Outcome::Failed("The arguments are nested deeper than 64 levels.".into())
    );
    let huge = json!({"file_path": "a", "content": "x".repeat(17 << 20)});
    let told = wait(client.call(invocation("Write", huge)));
    assert!(told.outcome.text().contains("may have 16777216"), "{:?}", told.outcome);
    let large = json!({"file_path": "a", "content": "x".repeat(15 << 20)});
    let told = wait(client.call(invocation("Write", large)));
    assert_eq!(told.outcome, Outcome::Output("Created `a`: 15728640 bytes, 1 line.".into()));
}

#[test]
fn commands_run_one_after_the_other() {
    let bench = bench();
    let (client, _server) = start(&bench);
    let append = |n: usize| {
        client.call(invocation(
            "Bash",
            json!({"command": format!("v=$(cat n 2>/dev/null); echo $((v + 1)) >n; echo {n}")}),
        ))
    };
    let calls: Vec<_> = (0..20).map(append).collect();
    for (n, call) in calls.into_iter().enumerate() {
        assert_eq!(wait(call).outcome, Outcome::Output(format!("{n}\nexit code: 0")));
    }
    assert_eq!(bench.text("n"), "20\n");
}

#[test]
fn a_malformed_frame_ends_the_server() {
    let bench = bench();
    for bytes in [&[0xFF; 8][..], &[0; 4], b"\0\0\0\x02{]"] {
        let (mut stream, server) = launch(&bench, &Settings::default());
        stream.write_all(bytes).unwrap();
        let mut answers = Vec::new();
        // Closed, or reset where some of it was not read.
        let _ = stream.read_to_end(&mut answers);
        assert!(answers.is_empty() && !server.ended().success());
    }
}

#[test]
fn answers_come_as_they_are_ready() {
    let bench = bench();
    bench.put("a", "x\n");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let settings = Settings { hosts: vec![address.to_string()], ..Settings::default() };
    let (client, _server) = start_with(&bench, &settings);
    let slow = client.call(invocation("WebFetch", json!({"url": format!("http://{address}/")})));
    let (mut stream, _) = listener.accept().unwrap();
    // The page is still awaited while the file is read.
    let quick = wait(client.call(invocation("Read", json!({"file_path": "a"}))));
    assert_eq!(quick.outcome, Outcome::Output("     1\tx\n".into()));
    let (done, ended) = mpsc::channel();
    thread::spawn(move || done.send(wait(slow).outcome).unwrap());
    stream
        .write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\nslow")
        .unwrap();
    assert_eq!(ended.recv_timeout(Duration::from_mins(1)), Ok(Outcome::Output("slow\n".into())));
}
