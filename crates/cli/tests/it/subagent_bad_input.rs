//! What a person, a file or a model can get wrong about one subagent: each has its code, its outcome and its remedy.

use std::process::Command;

use sequester_core::message::{Answered, Message};
use sequester_testkit::model::{Fault, Faults, Recorded, Script, Server, Setup, Turn};
use serde_json::{Value, json};

use crate::command::{Answer, Bench, FILES};
use crate::scripted::{MODELS, command, found, key, run, task};

const EXPLORE: [&str; 5] = ["Find it", "--agent", "Explore", "--model", MODELS[0]];

/// A server that nobody should ask.
fn unasked() -> Server {
    Server::start_blocking(Script::replies(Vec::new())).unwrap()
}

/// How it must end: exit code, code of the error, and words of its message and of its hint.
fn refused(answer: &Answer, exit: i32, code: &str, words: [&str; 2]) {
    let error = answer.json()["error"].clone();
    assert_eq!((answer.code, &error["code"]), (Some(exit), &json!(code)), "{answer:?}");
    for (key, words) in ["message", "hint"].into_iter().zip(words) {
        let text = error[key].as_str().unwrap();
        assert!(text.contains(words) && text.ends_with('.'), "`{words}` in {error}");
    }
}

/// The same for a subagent that was started.
fn ended(answer: &Answer, exit: i32, outcome: &str, code: &str, words: [&str; 2]) {
    assert_eq!(answer.json()["outcome"], outcome, "{answer:?}");
    refused(answer, exit, code, words);
}

/// Everything that tools answered until the last request.
fn results(requests: &[Recorded]) -> Vec<Answered> {
    let last = requests.last().unwrap().request().unwrap();
    let of = |message: &Message| match message {
        Message::Results(results) => results.clone(),
        _ => Vec::new(),
    };
    last.messages.iter().flat_map(of).collect()
}

#[test]
fn there_is_no_switch_that_goes_on_without_the_jail() {
    let binary = std::fs::read(env!("CARGO_BIN_EXE_sequester")).unwrap();
    // Put together here, so that the name stands nowhere, not even in this test.
    let name = ["SEQUESTER_TEST", "UNJAILED"].join("_");
    assert!(!binary.windows(name.len()).any(|bytes| bytes == name.as_bytes()));
}

#[test]
fn an_unknown_agent_profile_or_file_is_named_with_those_that_are_known() {
    let bench = Bench::with(&FILES);
    let server = unasked();
    let ask =
        |more: &[&str]| task(&bench, &server, &[&["Find it", "--model", MODELS[0]], more].concat());
    refused(&ask(&["--agent", "nobody"]), 2, "SQ0005", ["`nobody`", "Explore"]);
    let for_one = task(&bench, &server, &["Find it", "--model", "nobody=literal"]);
    refused(&for_one, 2, "SQ0005", ["`nobody`", "Explore"]);
    refused(&ask(&["--profile", "nothing"]), 2, "SQ0251", ["`nothing`", "read-only"]);
    refused(
        &ask(&["--file", "src/gone.rs"]),
        2,
        "SQ0112",
        ["not in the repository", "--include-dirty"],
    );
    refused(&ask(&["--file", "../x"]), 2, "SQ0111", ["no path inside", "from the root"]);
    let budget = ask(&["--budget", "much"]);
    assert_eq!(
        (budget.code, &budget.json()["error"]["code"]),
        (Some(2), &json!("SQ0006")),
        "{budget:?}"
    );
    for model in ["", " ", ",", "a/b,", "reviewer=", "=a/b"] {
        let error = task(&bench, &server, &["Find it", "--model", model]).json()["error"].clone();
        assert_eq!(error["code"], "SQ0006", "`{model}`: {error}");
    }
    let empty = task(&bench, &server, &[" ", "--model", MODELS[0]]);
    refused(&empty, 2, "SQ0002", ["empty", "Say in words"]);
    assert_eq!(server.asked(), 0);
}

#[test]
fn a_tool_that_cannot_be_had_ends_it_before_the_first_turn() {
    let server = unasked();
    let agent =
        "---\nname: mine\ndescription: d\nprofile: read-only\ntools: [Read, Dance]\n---\nHi.\n";
    let bench = Bench::with(&FILES);
    bench.write(".sequester/agents/mine.md", agent);
    let by_agent = task(&bench, &server, &["Find it", "--agent", "mine"]);
    refused(&by_agent, 2, "SQ0250", ["`Dance`", "Read"]);
    let profile = |tools: &str| format!("name: wide\nextends: research\ntools: [{tools}]\n");
    bench.write(".sequester/profiles/wide.yaml", profile("Read, Dance"));
    let unknown = task(&bench, &server, &["Find it", "--profile", "wide"]);
    refused(&unknown, 2, "SQ0252", ["`Dance`", "Read"]);
    for tool in ["WebSearch", "mcp__docs__*"] {
        bench.write(".sequester/profiles/wide.yaml", profile(&format!("Read, \"{tool}\"")));
        let absent = task(&bench, &server, &["Find it", "--profile", "wide", "--model", MODELS[0]]);
        refused(&absent, 2, "SQ0254", [&format!("`{tool}`"), "?"]);
    }
    bench.write("../home/.config/sequester/config.toml", "\nsearch = \"http://h/s\"\n");
    let searching = task(&bench, &server, &["Find it", "--model", MODELS[0]]);
    refused(&searching, 2, "SQ0255", ["`{query}`", "{query}"]);
    let place = searching.json()["error"]["place"].as_str().unwrap().to_owned();
    assert!(place.ends_with("config.toml:2:10"), "{place}");
    assert!(!searching.err.contains("general-purpose"), "it was said to have started");
    assert_eq!(server.asked(), 0);
}

#[test]
fn another_profile_leaves_an_agent_its_own_tools_only() {
    let bench = Bench::with(&FILES);
    let agent = "---\nname: mine\ndescription: d\nprofile: read-only\ntools: [Read]\n---\nHi.\n";
    bench.write(".sequester/agents/mine.md", agent);
    let script = Script::replies(vec![Turn::report(found("Found."))]);
    let server = Server::start_blocking(script).unwrap();
    let arguments = ["Find it", "--agent", "mine", "--profile", "writer", "--model", MODELS[0]];
    assert_eq!(task(&bench, &server, &arguments).code, Some(0));
    let request = server.requests()[0].request().unwrap();
    let has = |tool: &str| request.tools.iter().any(|name| name == tool);
    assert!(has("Read") && !has("Write"), "{:?}", request.tools);
}

#[test]
fn an_unknown_provider_or_model_is_named() {
    let bench = Bench::with(&FILES);
    let setup = Setup::new(Script::replies(Vec::new())).models(&["claude-sonnet-5"]);
    let server = setup.start_blocking().unwrap();
    let ask =
        |model: &str| task(&bench, &server, &["Find it", "--agent", "Explore", "--model", model]);
    refused(&ask("nobody/model"), 2, "SQ0211", ["`nobody`", "`provider/model`"]);
    refused(&ask("claude"), 2, "SQ0211", ["`claude`", "`provider/model`"]);
    refused(&ask("acp:claude"), 2, "SQ0211", ["cannot be used yet", "`provider/model`"]);
    assert_eq!(server.asked(), 0);
    for (asked, model) in
        ["anthropic/none", "openai/none", "openai-responses/none"].into_iter().enumerate()
    {
        ended(&ask(model), 2, "failed", "SQ0213", ["404", "`provider/model`"]);
        assert_eq!(server.asked(), asked + 1, "it was asked again");
    }
}

#[test]
fn no_key_and_a_key_that_is_not_accepted_are_told_apart() {
    let bench = Bench::with(&FILES);
    let server = Setup::new(Script::replies(Vec::new())).key("another").start_blocking().unwrap();
    let without = |model: &str, variables: &[&str]| {
        let mut command =
            command(&bench, &server, &["Find it", "--agent", "Explore", "--model", model]);
        variables.iter().fold(&mut command, |command: &mut Command, name| command.env_remove(name));
        run(&bench, &mut command)
    };
    let anthropic = without(MODELS[0], &["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"]);
    refused(&anthropic, 2, "SQ0212", ["`ANTHROPIC_API_KEY`", "environment variable"]);
    let openai = without(MODELS[1], &["OPENAI_API_KEY", "OPENAI_BASE_URL"]);
    refused(&openai, 2, "SQ0212", ["`OPENAI_API_KEY`", "environment variable"]);
    assert_eq!(server.asked(), 0);
    for model in MODELS {
        ended(&without(model, &[]), 2, "failed", "SQ0213", ["401", "Check the key"]);
        // Another address may want no key: it says so itself.
        let answer = without(model, &["ANTHROPIC_API_KEY", "OPENAI_API_KEY"]);
        ended(&answer, 2, "failed", "SQ0213", ["401", "Check the key"]);
    }
    assert_eq!(server.asked(), 6, "a key that is not accepted is not sent again");
}

/// A model that reports like this whatever it is told, and one that mends it when told.
fn report_with(
    models: &[&str],
    turn: impl Fn() -> Turn + Send + Sync + Clone + 'static,
    fault: &str,
) {
    let bench = Bench::with(&FILES);
    for model in models {
        let arguments = ["Find it", "--agent", "Explore", "--model", model];
        let stubborn = turn.clone();
        let server = Server::start_blocking(Script::new(move |_| stubborn())).unwrap();
        let answer = task(&bench, &server, &arguments);
        ended(&answer, 1, "failed", "SQ0215", [fault, "stronger model"]);
        // Told twice, and once more by a fresh attempt.
        assert_eq!((server.asked(), server.rejected()), (2 * 3, Vec::new()), "{answer:?}");
        assert_eq!(answer.json().get("findings"), None, "{answer:?}");
        assert_eq!(answer.json()["task_id"], "task", "{answer:?}");
        let turns = vec![turn(), Turn::report(found("Mended."))];
        let server = Server::start_blocking(Script::replies(turns)).unwrap();
        let answer = task(&bench, &server, &arguments);
        assert_eq!(
            (answer.code, &answer.json()["outcome"]),
            (Some(0), &json!("done")),
            "{answer:?}"
        );
        assert_eq!(answer.json()["context_summary"], "Mended.");
        let told = String::from_utf8(server.requests()[1].body.to_vec()).unwrap();
        assert!(told.contains("The report was not taken"), "{told}");
    }
}

#[test]
fn a_report_with_prose_around_it_is_not_taken() {
    let text = format!("Here is my report:\n```json\n{}\n```\nBest wishes", found("All of it."));
    report_with(&MODELS, move || Turn::text(text.clone()), "without prose or fences around it");
}

#[test]
fn a_report_with_a_summary_of_5000_tokens_is_not_taken() {
    let report = found(&"word ".repeat(5_000));
    report_with(&MODELS, move || Turn::report(report.clone()), "at most 500 are taken");
}

#[test]
fn a_report_that_contradicts_itself_is_not_taken() {
    let mut report = found("Half of it.");
    report["status"] = "partial".into();
    report_with(
        &MODELS,
        move || Turn::report(report.clone()),
        "PROCEED goes with `status` complete only",
    );
}

#[test]
fn a_report_of_another_shape_task_or_size_is_not_taken() {
    let with = |key: &str, value: Value| {
        let mut report = found("Found.");
        report[key] = value;
        move || Turn::report(report.clone())
    };
    report_with(&MODELS[0..=0], with("findings", json!({"files_changed": []})), "/findings");
    report_with(&MODELS[1..=1], with("task_id", json!("another")), "`task_id` must be `task`");
    report_with(
        &MODELS[2..=2],
        with("issues", json!(["x".repeat(1 << 20)])),
        "at most 65536 are taken",
    );
    report_with(&MODELS[0..=0], || Turn::default().and_raw_call("report", "[]"), "The report");
}

/// What a tool answers to arguments, over each wire; the subagent goes on and reports.
fn arguments(raw: &str, answered: impl Fn(&Answered)) {
    let bench = Bench::with(&FILES);
    for model in MODELS {
        let turns = vec![Turn::default().and_raw_call("Read", raw), Turn::report(found("Found."))];
        let server = Server::start_blocking(Script::replies(turns)).unwrap();
        let answer = task(&bench, &server, &["Find it", "--agent", "Explore", "--model", model]);
        assert_eq!(
            (answer.code, &answer.json()["outcome"]),
            (Some(0), &json!("done")),
            "{answer:?}"
        );
        assert_eq!(server.rejected(), Vec::<String>::new());
        let results = results(&server.requests());
        assert_eq!(results.len(), 1, "{model}");
        assert!(results[0].text.len() < 1_000, "{model}: {}", results[0].text.len());
        answered(&results[0]);
    }
}

#[test]
fn arguments_of_the_wrong_type_are_answered_with_what_is_expected() {
    for raw in
        [r#"{"file_path": 7}"#, r#"{"path": "src/lib.rs"}"#, r#"{"file_path": "a", "offset": "1"}"#]
    {
        arguments(raw, |one| {
            assert!(
                one.text.contains("do not fit") && one.text.contains("`file_path` (string)"),
                "{one:?}"
            );
        });
    }
}

#[test]
fn arguments_that_are_no_json_or_no_object_are_answered_too() {
    for raw in ["{file_path: ", "src/lib.rs", "[1]", "7", "\u{0}"] {
        arguments(raw, |one| assert!(one.text.contains("do not fit: they are no JSON"), "{one:?}"));
    }
}

#[test]
fn huge_arguments_are_answered_briefly() {
    let raw = json!({"file_path": "x".repeat(1 << 20)}).to_string();
    arguments(&raw, |one| assert!(!one.text.contains(&"x".repeat(400)), "{one:?}"));
    let raw = json!({"file_path": "a", &"k".repeat(1 << 20): 1}).to_string();
    arguments(&raw, |one| assert!(one.text.contains("do not fit"), "{one:?}"));
}

#[test]
fn arguments_nested_10000_levels_deep_are_answered() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let raw = format!("{{\"file_path\": {}1{}}}", open.repeat(10_000), close.repeat(10_000));
        arguments(&raw, |one| assert!(one.text.contains("do not fit"), "{one:?}"));
    }
    // Less deep than that it can be read, and nobody falls over it further on.
    let raw = format!("{{\"file_path\": {}1{}}}", "[".repeat(100), "]".repeat(100));
    arguments(&raw, |one| assert!(one.text.contains("nested deeper than 64 levels"), "{one:?}"));
}

#[test]
fn dollars_are_no_budget_for_a_model_without_a_known_price() {
    let bench = Bench::with(&FILES);
    let mut given = EXPLORE;
    given[4] = "anthropic/claude-unheard-of";
    let answer = task(&bench, &unasked(), &[&given[..], &["--budget", "1usd"]].concat());
    refused(&answer, 2, "SQ0006", ["cannot be kept", "in tokens"]);
}

#[test]
fn a_model_that_cannot_be_had_is_passed_over_where_another_is_named() {
    let bench = Bench::with(&FILES);
    let text = "Create `new.txt`:\n\n```\nnew\n```\n";
    let given = [text, "--agent", "writer", "--model", "gemini/gemini-2.5-pro,literal"];
    let answer = task(&bench, &unasked(), &given);
    assert_eq!((answer.code, &answer.json()["model"]), (Some(0), &json!("literal")), "{answer:?}");
    assert!(answer.err.contains("GEMINI_API_KEY"), "{answer:?}");
}

#[test]
fn a_context_that_the_provider_finds_too_long_is_not_sent_again() {
    let bench = Bench::with(&FILES);
    for model in MODELS {
        let faults = Faults::when(|_, _| Some(Fault::ContextTooLong));
        let server =
            Setup::new(Script::replies(Vec::new())).faults(faults).start_blocking().unwrap();
        let answer = task(&bench, &server, &["Find it", "--agent", "Explore", "--model", model]);
        ended(&answer, 2, "failed", "SQ0213", ["400", "Split the task"]);
        assert_eq!(server.asked(), 1);
    }
}

#[test]
fn an_account_without_credit_is_told_apart_from_too_many_requests() {
    let bench = Bench::with(&FILES);
    for model in MODELS {
        let faults = Faults::when(|_, _| Some(Fault::NoCredit));
        let setup = Setup::new(Script::replies(Vec::new())).faults(faults).key(&key());
        let server = setup.start_blocking().unwrap();
        let answer = task(&bench, &server, &["Find it", "--agent", "Explore", "--model", model]);
        ended(&answer, 2, "failed", "SQ0213", ["", "Check the account's credit"]);
        assert_eq!(server.asked(), 1);
    }
}
