//! How a subagent ends when its model, its limits or a person wants it otherwise: always typed, always with what is known.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use sequester_core::message::Message;
use sequester_core::usage::Usage;
use sequester_testkit::model::{Choice, Pace, Recorded, Request, Script, Server, Setup, Turn};
use serde_json::json;

use crate::command::{Answer, Bench, FILES};
use crate::scripted::{MODELS, command, found, key, run, task};

const LONG: Duration = Duration::from_mins(10);

/// The repository with this as its `sequester.toml`.
fn bench(configuration: &str) -> Bench {
    let files: Vec<(&str, &str)> =
        FILES.into_iter().chain([("sequester.toml", configuration)]).collect();
    Bench::with(&files)
}

fn explore(bench: &Bench, server: &Server, more: &[&str]) -> Answer {
    task(bench, server, &[&["Find it", "--agent", "Explore"], more].concat())
}

/// The same without `--json`, as a person reads it.
fn read(bench: &Bench, server: &Server) -> Answer {
    let base = format!("http://{}", server.address());
    let environment = [("ANTHROPIC_BASE_URL", &*base)];
    let arguments = ["task", "Find it", "--agent", "Explore", "--model", MODELS[0]];
    bench.run_in(&bench.repo(), &arguments, &environment)
}

/// How it must end: exit code, outcome, code of the error, and words of its message and of its hint.
fn ended(answer: &Answer, exit: i32, outcome: &str, code: &str, words: [&str; 2]) {
    let value = answer.json();
    assert_eq!((answer.code, &value["outcome"]), (Some(exit), &json!(outcome)), "{answer:?}");
    assert_eq!(value["error"]["code"], code, "{answer:?}");
    for (key, words) in ["message", "hint"].into_iter().zip(words) {
        let text = value["error"][key].as_str().unwrap();
        assert!(text.contains(words) && text.ends_with('.'), "`{words}` in {answer:?}");
    }
    assert!(value["usage"].is_object() && value["evidence"].is_object(), "{answer:?}");
}

/// Looks somewhere else in every turn, and never reports.
fn restless(request: &Request) -> Turn {
    let usage = Usage { input: 1_000, output: 10, ..Usage::default() };
    Turn::call("Read", json!({"file_path": "src/lib.rs", "offset": request.turn + 1}))
        .costing(usage)
}

#[test]
fn a_model_that_calls_tools_for_ever_is_ended_by_its_turns() {
    let bench = bench("[limits]\nturns = 4\n");
    for model in MODELS {
        let server = Server::start_blocking(Script::new(restless)).unwrap();
        let answer = explore(&bench, &server, &["--model", model]);
        ended(&answer, 4, "budget_exhausted", "SQ0218", ["limit of turns", "Split the task"]);
        let requests = server.requests();
        assert_eq!(
            (requests.len(), &answer.json()["usage"]["turns"]),
            (4, &json!(4)),
            "{answer:?}"
        );
        for (turn, recorded) in requests.iter().enumerate() {
            let request = recorded.request().unwrap();
            let choice = if turn == 3 { Choice::Tool("report".to_owned()) } else { Choice::Auto };
            assert_eq!(request.choice, choice, "{model} {turn}");
            let told = matches!(request.messages.last(), Some(Message::User(text)) if text.contains("last turn"));
            assert_eq!(told, turn == 3, "{model} {turn}");
        }
    }
}

#[test]
fn the_turn_that_is_held_back_is_enough_to_report() {
    let bench = bench("[limits]\nturns = 3\n");
    let play = |request: &Request| match request.choice {
        Choice::Tool(_) => Turn::report(found("As far as I got.")),
        _ => restless(request),
    };
    let server = Server::start_blocking(Script::new(play)).unwrap();
    let answer = explore(&bench, &server, &["--model", MODELS[0]]);
    assert_eq!((answer.code, &answer.json()["outcome"]), (Some(0), &json!("done")), "{answer:?}");
    assert_eq!(answer.json()["usage"]["turns"], 3, "{answer:?}");
}

#[test]
fn a_budget_of_tokens_or_dollars_ends_it_with_4() {
    let bench = Bench::with(&FILES);
    for (budget, limit, asked) in
        [("2500", "tokens", 3), ("0.005usd", "price", 3), ("1k", "tokens", 2)]
    {
        let server = Server::start_blocking(Script::new(restless)).unwrap();
        let answer = explore(&bench, &server, &["--model", MODELS[0], "--budget", budget]);
        let words = format!("limit of {limit}");
        ended(&answer, 4, "budget_exhausted", "SQ0218", [&words, "raise the budget"]);
        assert_eq!(server.asked(), asked, "{answer:?}");
    }
}

#[test]
fn a_model_that_says_nothing_is_told_twice_and_once_more_afresh_and_ends_without_a_report() {
    let bench = Bench::with(&FILES);
    for model in MODELS {
        let server = Server::start_blocking(Script::new(|_| Turn::silence())).unwrap();
        let answer = explore(&bench, &server, &["--model", model]);
        ended(&answer, 1, "failed", "SQ0215", ["You said nothing", "stronger model"]);
        assert_eq!((server.asked(), server.rejected()), (2 * 3, Vec::new()), "{answer:?}");
        let begun = |one: &Recorded| one.request().unwrap().messages.len() == 1;
        let begun: Vec<bool> = server.requests().iter().map(begun).collect();
        assert_eq!(begun, [true, false, false, true, false, false], "it was told of the first");
    }
}

#[test]
fn an_answer_of_10_megabytes_is_not_read_to_its_end() {
    let bench = Bench::with(&FILES);
    let flood = "All work and no play. ".repeat((10 << 20) / 22);
    for model in MODELS {
        for turn in [Turn::text(&*flood), Turn::call("Read", json!({"file_path": &flood}))] {
            let server = Server::start_blocking(Script::replies(vec![turn])).unwrap();
            let answer = explore(&bench, &server, &["--model", model]);
            ended(&answer, 1, "failed", "SQ0213", ["answers without end", "another model"]);
            assert_eq!(server.asked(), 1, "it was asked again");
            assert!(answer.out.len() < 5_000 && answer.err.len() < 5_000, "{}", answer.out.len());
        }
    }
}

#[test]
fn a_model_that_loops_on_one_call_is_ended_by_the_fifth() {
    let bench = Bench::with(&FILES);
    for model in MODELS {
        let play = |_: &Request| Turn::call("Grep", json!({"pattern": "session"}));
        let server = Server::start_blocking(Script::new(play)).unwrap();
        let answer = explore(&bench, &server, &["--model", model]);
        ended(&answer, 1, "looped", "SQ0217", ["`Grep` was called 5 times", "instead"]);
        assert_eq!(server.asked(), 5, "{answer:?}");
    }
}

#[test]
fn a_model_that_declines_is_quoted() {
    let bench = Bench::with(&FILES);
    for model in MODELS {
        let server =
            Server::start_blocking(Script::replies(vec![Turn::refusal("I must not.")])).unwrap();
        let answer = explore(&bench, &server, &["--model", model]);
        ended(&answer, 1, "refused", "SQ0220", ["I must not.", "other words"]);
    }
}

#[test]
fn a_question_ends_it_with_3_and_stands_in_the_answer() {
    let bench = Bench::with(&FILES);
    let question = json!({"question": "Which mails?", "options": [{"label": "all"}, {"label": "new ones"}], "default": "all"});
    let mut clarify = found("It depends.");
    clarify["status"] = "blocked".into();
    clarify["decision"] = "CLARIFY".into();
    clarify["questions"] = json!([question]);
    let turns = [
        Turn::call("ask", json!({"questions": [question]})),
        Turn::report(clarify),
        Turn::call("ask", json!({"questions": [question]})).saying("I must know."),
    ];
    for (turn, model) in turns.into_iter().zip(MODELS) {
        let server = Server::start_blocking(Script::replies(vec![turn])).unwrap();
        let answer = explore(&bench, &server, &["--model", model]);
        let value = answer.json();
        assert_eq!((answer.code, &value["outcome"]), (Some(3), &json!("waiting")), "{answer:?}");
        assert_eq!((&value["decision"], &value["status"]), (&json!("CLARIFY"), &json!("blocked")));
        assert_eq!(
            (&value["questions"], value.get("error")),
            (&json!([question]), None),
            "{answer:?}"
        );
    }
    let turn = Turn::call("ask", json!({"questions": [question]}));
    let server = Server::start_blocking(Script::replies(vec![turn])).unwrap();
    let answer = read(&bench, &server);
    assert_eq!(answer.code, Some(3), "{answer:?}");
    for part in ["Which mails? (all | new ones) [default: all]", "`sequester answer ", "-1 TEXT`"] {
        assert!(answer.out.contains(part), "{part} is missing in {answer:?}");
    }
}

#[test]
fn a_stop_ends_it_with_1_and_its_reason() {
    let bench = Bench::with(&FILES);
    let mut report = found("Nothing is left to do.");
    report["decision"] = "STOP".into();
    report["reason"] = "It is there already.".into();
    let server = Server::start_blocking(Script::replies(vec![Turn::report(report)])).unwrap();
    let answer = explore(&bench, &server, &["--model", MODELS[0]]);
    let value = answer.json();
    assert_eq!((answer.code, &value["outcome"]), (Some(1), &json!("stopped")), "{answer:?}");
    assert_eq!(
        (&value["decision"], &value["reason"]),
        (&json!("STOP"), &json!("It is there already."))
    );
    assert_eq!(value.get("error"), None, "{answer:?}");
}

#[test]
fn an_ignored_file_that_is_asked_for_is_a_question_to_the_person() {
    let bench = Bench::with(&[("src/lib.rs", "pub fn a() {}\n"), (".gitignore", "dist/\n.env\n")]);
    bench.write("dist/app.js", "let canary = 'IGNORED-CANARY';\n");
    bench.write(".env", "WORD=1\n");
    bench.write("src/new.rs", "");
    bench.write("../outside/file.txt", "");
    symlink("../../outside", bench.repo().join("dist/link")).unwrap();
    let ask =
        |path: &str| Turn::call("request_files", json!({"paths": [path], "reason": "I need it."}));
    let script = Script::replies(vec![
        ask(".env"),
        ask("src/lib.rs"),
        ask("dist/link/file.txt"),
        ask("src/new.rs"),
        ask(".git/config"),
        ask("dist/app.js"),
    ]);
    let server = Server::start_blocking(script).unwrap();
    let answer = explore(&bench, &server, &["--model", MODELS[0]]);
    let value = answer.json();
    assert_eq!((answer.code, &value["outcome"]), (Some(3), &json!("waiting")), "{answer:?}");
    let question = "May the subagent see `dist/app.js`, which git ignores? It says: I need it.";
    assert_eq!(value["questions"][0]["question"], question, "{answer:?}");
    let sent: Vec<u8> = server.requests().iter().flat_map(|one| one.body.to_vec()).collect();
    let sent = String::from_utf8(sent).unwrap();
    for told in [
        "may hold secrets",
        "use Read",
        "`dist/link/file.txt` does not exist",
        "`src/new.rs` is not committed",
        "`.git/config` belongs to git",
    ] {
        assert!(sent.contains(told), "{told}");
    }
    assert!(!sent.contains("IGNORED-CANARY") && !answer.out.contains("IGNORED-CANARY"));
}

/// A command that runs for long and can be told from all others on this machine.
pub(crate) fn endless() -> (String, Turn) {
    static NUMBER: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let mark = format!("sleep 86400.{}{number}", std::process::id());
    // One that it waits for, one in the background, and one that tries to leave.
    let line = format!("echo x > made.txt; {mark}1 & setsid {mark}2 & {mark}3; true");
    let turn = Turn::call("Bash", json!({"command": line})).saying("This takes a while.");
    (mark, turn)
}

/// How many processes have this in their command line, without the shell that was given it as a text.
pub(crate) fn alive(mark: &str) -> usize {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let line = |path: std::path::PathBuf| fs::read(path.join("cmdline")).unwrap_or_default();
    let lines =
        processes.map(|process| String::from_utf8_lossy(&line(process.path())).replace('\0', " "));
    lines.filter(|line| line.contains(mark)).count()
}

fn wait_for(what: &str, mut seen: impl FnMut() -> bool) {
    let start = Instant::now();
    while !seen() {
        assert!(start.elapsed() < Duration::from_secs(30), "{what} never came");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_time_limit_ends_a_slow_model_and_a_slow_command_with_all_that_they_started() {
    let bench = bench("[limits]\nwall = \"1s\"\n");
    let pace = Pace { first: LONG, ..Pace::default() };
    let slow = Setup::new(Script::new(restless)).pace(pace).start_blocking().unwrap();
    let start = Instant::now();
    let answer = explore(&bench, &slow, &["--model", MODELS[0]]);
    // Once more with less to read; then the person is asked.
    ended(&answer, 3, "timed_out", "SQ0216", ["time limit", "`limits.wall`"]);
    assert_eq!(slow.asked(), 2, "{answer:?}");
    let (mark, turn) = endless();
    let server = Server::start_blocking(Script::replies(vec![turn])).unwrap();
    let answer = task(&bench, &server, &["Wait", "--agent", "writer", "--model", MODELS[1]]);
    ended(&answer, 3, "timed_out", "SQ0216", ["time limit", "`limits.wall`"]);
    assert_eq!(answer.json()["inbox"].as_array().map(Vec::len), Some(1), "{answer:?}");
    assert_eq!(answer.json()["last_words"], "This takes a while.");
    assert_eq!(alive(&mark), 0, "a process is left");
    assert_eq!(answer.json()["evidence"]["files_changed"][0]["path"], "made.txt", "{answer:?}");
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
}

/// Starts it in the background, waits until it is `busy`, sends it a signal, and gives what it printed.
fn interrupt(signal: &str, bench: &Bench, server: &Server, busy: impl FnMut() -> bool) -> Answer {
    let arguments = &["Wait", "--agent", "writer", "--model", MODELS[2]];
    let mut command = command(bench, server, arguments);
    // As a terminal does: Ctrl-C is told to the whole group.
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let child: Child = command.spawn().unwrap();
    let group = format!("-{}", child.id());
    wait_for("the moment to interrupt", busy);
    let told = Command::new("kill").args([signal, "--", &group]).status().unwrap();
    assert!(told.success());
    let start = Instant::now();
    let answer = Answer::of(&child.wait_with_output().unwrap());
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    assert_eq!(answer.out.lines().count(), 1, "{answer:?}");
    assert_eq!(fs::read_dir(bench.path("tmp")).unwrap().count(), 0, "a workspace is left");
    answer
}

#[test]
fn a_signal_ends_it_with_130_its_json_and_no_process_left() {
    for signal in ["-INT", "-TERM"] {
        let bench = Bench::with(&FILES);
        let pace = Pace { first: LONG, ..Pace::default() };
        let slow = Setup::new(Script::new(restless)).pace(pace).start_blocking().unwrap();
        let answer = interrupt(signal, &bench, &slow, || slow.present() == 1);
        ended(&answer, 130, "cancelled", "SQ0219", ["cancelled", "Start it again"]);
        wait_for("the end of the request", || slow.present() == 0);

        let (mark, turn) = endless();
        let server = Server::start_blocking(Script::replies(vec![turn])).unwrap();
        let three = || ["1", "2", "3"].iter().all(|end| alive(&format!("{mark}{end}")) > 0);
        let answer = interrupt(signal, &bench, &server, three);
        ended(&answer, 130, "cancelled", "SQ0219", ["cancelled", "Start it again"]);
        assert_eq!(alive(&mark), 0, "a process is left");
        assert_eq!(answer.json()["evidence"]["files_changed"][0]["path"], "made.txt", "{answer:?}");
    }
}

#[test]
fn the_next_model_is_asked_where_the_first_gives_up_and_starts_afresh() {
    let bench = Bench::with(&FILES);
    let setup = Setup::new(Script::replies(vec![Turn::report(found("By the second."))]));
    let server = setup.models(&["gpt-5"]).start_blocking().unwrap();
    let models = format!("{},{}", MODELS[0], MODELS[1]);
    let answer = explore(&bench, &server, &["--model", &models]);
    assert_eq!((answer.code, &answer.json()["model"]), (Some(0), &json!(MODELS[1])), "{answer:?}");
    assert!(answer.err.contains("gave up") && answer.err.contains("404"), "{answer:?}");
    assert_eq!(server.asked(), 2);
    assert_eq!(
        server.requests()[1].request().unwrap().messages.len(),
        1,
        "it was told of the first"
    );
}

#[test]
fn a_person_reads_the_ending_on_standard_error_and_all_that_is_known_on_standard_output() {
    let bench = bench("[limits]\nturns = 2\n");
    let play = |request: &Request| restless(request).saying("I go on looking.");
    let server = Server::start_blocking(Script::new(play)).unwrap();
    let answer = read(&bench, &server);
    assert_eq!(answer.code, Some(4), "{answer:?}");
    for part in ["[Explore] Find it - budget exhausted (1 tool, ", "error[SQ0218]: ", "= help: "] {
        assert!(answer.err.contains(part), "`{part}` in {}", answer.err);
    }
    assert!(
        answer.out.contains("limit of turns") && answer.out.contains("I go on looking."),
        "{answer:?}"
    );
}

#[test]
fn auto_passes_on_where_a_key_is_not_accepted() {
    let bench = Bench::with(&FILES);
    let setup = Setup::new(Script::replies(vec![Turn::report(found("By the second."))]));
    let server = setup.key(&key()).models(&["qwen3"]).start_blocking().unwrap();
    let mut command =
        command(&bench, &server, &["Find it", "--agent", "Explore", "--model", "auto"]);
    let answer = run(&bench, command.env("ANTHROPIC_API_KEY", "another-key"));
    assert_eq!(
        (answer.code, &answer.json()["model"]),
        (Some(0), &json!("openai/qwen3")),
        "{answer:?}"
    );
    for words in
        ["the model is `anthropic/", "does not accept the key", "the model is `openai/qwen3`"]
    {
        assert!(answer.err.contains(words), "{words}: {answer:?}");
    }
    assert!(!answer.err.contains("another-key"), "{answer:?}");
}

#[test]
fn a_server_that_is_not_there_is_named_and_not_waited_for() {
    let bench = Bench::with(&FILES);
    let server = Server::start_blocking(Script::new(restless)).unwrap();
    let mut command =
        command(&bench, &server, &["Find it", "--agent", "Explore", "--model", MODELS[0]]);
    let start = Instant::now();
    // Nothing listens on the lowest port.
    let answer = run(&bench, command.env("ANTHROPIC_BASE_URL", "http://127.0.0.1:1"));
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
    let words = ["could not be reached at `http://127.0.0.1:1`", "base URL"];
    ended(&answer, 1, "failed", "SQ0213", words);
    assert_eq!(answer.json()["usage"]["retries"], 4, "{answer:?}");
    // Who waits is told each time.
    assert_eq!(answer.err.matches("could not be reached").count(), 5, "{answer:?}");
}
