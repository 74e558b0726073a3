use std::io::{Read, Write, pipe};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use sequester_core::tool::{Effect, Outcome, Toolbox};
use sequester_tools::{Client, Settings, Workbench, serve, specs};
use serde_json::{Value, json};

use crate::bench::{Bench, bench, invocation};

/// A future's value, by parking this thread.
fn wait<T>(future: impl Future<Output = T>) -> T {
    struct Wake(thread::Thread);
    impl std::task::Wake for Wake {
        fn wake(self: std::sync::Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = std::task::Waker::from(std::sync::Arc::new(Wake(thread::current())));
    let mut context = std::task::Context::from_waker(&waker);
    let mut future = std::pin::pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            std::task::Poll::Ready(value) => return value,
            std::task::Poll::Pending => thread::park(),
        }
    }
}

type Ending = thread::JoinHandle<Result<(), String>>;

fn start(bench: &Bench) -> (Client, Ending) {
    let (requests, calls) = pipe().unwrap();
    let (answers, output) = pipe().unwrap();
    let workbench = Workbench::new(bench.folder.path(), Settings::default()).unwrap();
    let server =
        thread::spawn(move || serve(requests, output, workbench).map_err(|e| e.to_string()));
    (Client::new(answers, calls).unwrap(), server)
}

fn frame(value: &Value) -> Vec<u8> {
    let body = value.to_string();
    [&(body.len() as u32).to_be_bytes(), body.as_bytes()].concat()
}

/// What a server makes of these bytes.
fn serve_bytes(bytes: &[u8]) -> Result<(), String> {
    let workbench = bench().workbench;
    serve(bytes, std::io::sink(), workbench).map_err(|error| error.to_string())
}

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
    assert_eq!(server.join().unwrap(), Ok(()));
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
fn the_end_of_input_ends_what_runs() {
    let bench = bench();
    let (client, server) = start(&bench);
    let call = client.call(invocation(
        "Bash",
        json!({"command": "setsid sleep 1000 & echo $! >pid; mv pid started; sleep 1000"}),
    ));
    let until = Instant::now() + Duration::from_mins(1);
    while !bench.path("started").exists() {
        assert!(Instant::now() < until);
        thread::yield_now();
    }
    drop(client);
    assert_eq!(server.join().unwrap(), Ok(()));
    let told = wait(call);
    let ended = Outcome::Failed("The tool server ended: it closed its output.".into());
    assert!(told.outcome == ended || told.outcome.text().ends_with("exit code: 137"), "{told:?}");
    let pid = bench.text("started");
    let status = std::fs::read_to_string(format!("/proc/{}/status", pid.trim()));
    assert!(status.is_err() || status.unwrap().contains("\nState:\tZ"), "{pid}");
}

#[test]
fn when_the_server_dies_everyone_who_waits_is_told() {
    let (mut requests, calls) = pipe().unwrap();
    let (answers, mut output) = pipe().unwrap();
    let client = Client::new(answers, calls).unwrap();
    let waiting: Vec<_> = (0..3).map(|_| client.call(invocation("Read", json!({})))).collect();
    requests.read_exact(&mut [0; 4]).unwrap();
    output
        .write_all(&frame(&json!({"id": 2, "returned": {"outcome": {"output": "two"}}})))
        .unwrap();
    drop((output, requests));
    let told: Vec<_> = waiting.into_iter().map(|call| wait(call).outcome).collect();
    let ended = |told: &Outcome| matches!(told, Outcome::Failed(told) if told.starts_with("The tool server ended: "));
    assert!(ended(&told[0]) && ended(&told[2]), "{told:?}");
    assert_eq!(told[1], Outcome::Output("two".into()));
    assert!(ended(&wait(client.call(invocation("Read", json!({})))).outcome));
}

#[test]
fn a_malformed_frame_ends_the_server_with_the_reason() {
    let invocation = json!({"call": {"id": "1", "name": "Read", "arguments": {}}});
    let request = json!({"id": 1, "invocation": invocation});
    assert_eq!(serve_bytes(&[]), Ok(()));
    assert_eq!(serve_bytes(&frame(&request)), Ok(()));
    for (bytes, why) in [
        (vec![0, 0], "it ended within its length."),
        (vec![0xFF; 8], "it has 4294967295 bytes and may have 16777216."),
        (vec![0, 0, 0, 9, b'{'], "it ended after 1 of 9 bytes."),
        (vec![0; 4], "EOF while parsing a value"),
        (frame(&json!({"id": "1"})), "invalid type: string"),
        (frame(&json!({"id": 1, "invocation": invocation, "more": 1})), "unknown field `more`"),
    ] {
        let told = serve_bytes(&bytes).unwrap_err();
        assert!(
            told.starts_with("The tool server ended: A frame is malformed: ") && told.contains(why),
            "{told}"
        );
    }
}

#[test]
fn garbage_from_a_server_is_an_end_too() {
    let (_requests, calls) = pipe().unwrap();
    let (answers, mut output) = pipe().unwrap();
    let client = Client::new(answers, calls).unwrap();
    let call = client.call(invocation("Read", json!({})));
    output.write_all(&[0x7F, 0xFF, 0xFF, 0xFF]).unwrap();
    assert!(wait(call).outcome.text().contains("it has 2147483647 bytes and may have 1048576"));
}

#[test]
fn answers_come_as_they_are_ready() {
    let bench = bench();
    bench.put("a", "x\n");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (requests, calls) = pipe().unwrap();
    let (answers, output) = pipe().unwrap();
    let settings = Settings { hosts: vec![address.to_string()], ..Settings::default() };
    let workbench = Workbench::new(bench.folder.path(), settings).unwrap();
    thread::spawn(move || serve(requests, output, workbench).map_err(|error| error.to_string()));
    let client = Client::new(answers, calls).unwrap();
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
    assert_eq!(ended.recv_timeout(Duration::from_mins(1)), Ok(Outcome::Output("slow".into())));
}
