//! What a person in a terminal sees and is asked.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use crate::command::{Answer, Bench};

pub(crate) fn run_in_terminal(
    bench: &Bench,
    columns: usize,
    answer: &str,
    arguments: &[&str],
) -> Answer {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/terminal.py");
    let output = Command::new("timeout")
        .args(["120", "python3"])
        .arg(script)
        .args([&columns.to_string(), answer, env!("CARGO_BIN_EXE_sequester")])
        .args(arguments)
        .current_dir(bench.repo())
        .env("HOME", bench.path("home"))
        .env("NO_COLOR", "1")
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("XDG_STATE_HOME")
        .output()
        .unwrap();
    Answer::of(&output)
}

const QUESTION: &str = "Accept what is listed as it stands? [y/N] ";

#[test]
fn trust_is_given_by_the_word_yes_and_by_no_other() {
    let bench = Bench::plain();
    bench.write("sequester.toml", "hosts = [\"docs.rs\"]\n");
    for word in ["", "n", "nope", "yess"] {
        let answer = run_in_terminal(&bench, 100, word, &["trust"]);
        assert_eq!(answer.code, Some(5), "{word}: {answer:?}");
        assert!(answer.out.contains(QUESTION), "{answer:?}");
        assert!(answer.out.contains("sequester.toml: not accepted"), "{answer:?}");
    }
    let answer = run_in_terminal(&bench, 100, "y", &["trust"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(answer.out.contains("docs.rs") && answer.out.contains("sequester.toml: accepted"));
    let again = run_in_terminal(&bench, 100, "y", &["trust"]);
    assert!(!again.out.contains(QUESTION), "nothing is left to be asked: {again:?}");
    assert_eq!(bench.run(&["profiles"]).code, Some(0));
}

#[test]
fn a_plan_fits_a_narrow_terminal() {
    let bench = Bench::plain();
    let plan = "---\nsequester: 1\n---\n# Narrow\n\n## [one] A title that is longer than such a terminal is wide\n\nDo it.\n";
    bench.write("plan.md", plan);
    bench.write("sequester.toml", "model = \"openai/gpt-5\"\n");
    let answer = run_in_terminal(&bench, 40, "", &["plan", "plan.md"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let wide: Vec<&str> = answer.out.lines().filter(|line| line.chars().count() > 40).collect();
    assert_eq!(wide, Vec::<&str>::new(), "{answer:?}");
    assert!(answer.out.contains("  with 16,000 tokens around each text\n"), "{answer:?}");
}

#[test]
fn a_shell_in_the_jail_reads_its_lines_and_ends() {
    let bench = Bench::plain();
    let ask = "printf 'ready [go] '; exec sh";
    let arguments = ["sandbox", "--profile", "read-only", "--", "/bin/sh", "-c", ask];
    let answer = run_in_terminal(&bench, 80, "tty; exit 3", &arguments);
    assert_eq!(answer.code, Some(3), "{answer:?}");
    assert!(answer.out.contains("not a tty"), "{answer:?}");
}

#[test]
fn whoever_starts_a_shell_by_hand_is_told_that_there_is_no_prompt() {
    let bench = Bench::plain();
    let shell = ["sandbox", "--profile", "read-only", "--limit", "wall=1s", "--", "/bin/sh"];
    let answer = run_in_terminal(&bench, 200, "", &shell);
    assert_eq!(answer.code, Some(124), "{answer:?}");
    assert!(answer.out.contains("shows no prompt"), "{answer:?}");
    let other = [&shell[..], &["-c", "true"]].concat();
    let answer = run_in_terminal(&bench, 200, "", &other);
    assert_eq!((answer.code, answer.out.contains("prompt")), (Some(0), false), "{answer:?}");
}

const ASKING: &str = "---\nsequester: 1\nworkflow: solo\n---\n# Ports\n\n## [one] Choose\n\n\
    Ask: Which port?\n- 8080 (default)\n- 9090\n\nCreate `port.txt`:\n\n```\nchosen\n```\n";

/// What was answered, by whom, and how the run stands.
fn told(bench: &Bench) -> (Vec<(String, String)>, String) {
    let log = bench.run(&["log", "--json"]).json();
    let events = log.as_array().unwrap().iter();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let given = events.filter(|event| event["event"] == "question_answered");
    let given = given.map(|event| (text(&event["answer"]), text(&event["by"])));
    let given = given.collect();
    let runs = bench.run(&["status", "--json"]).json();
    let run = text(&runs[0]["run"]);
    (given, text(&bench.run(&["status", &run, "--json"]).json()["state"]))
}

#[test]
fn a_question_is_answered_in_the_terminal_by_an_option_that_there_is() {
    let bench = Bench::with(&[("README.md", "Ports\n")]);
    bench.write("../plan.md", ASKING);
    let arguments = ["run", "../plan.md", "--model", "literal"];
    let answer = run_in_terminal(&bench, 100, "7\n2", &arguments);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(answer.out.contains("options 1 to 2, and no 7"), "{answer:?}");
    assert_eq!(told(&bench), (vec![("9090".to_owned(), "the terminal".to_owned())], "done".into()));
}

#[test]
fn ctrl_c_at_a_question_leaves_it_open() {
    let bench = Bench::with(&[("README.md", "Ports\n")]);
    bench.write("../plan.md", ASKING);
    let arguments = ["run", "../plan.md", "--model", "literal"];
    let answer = run_in_terminal(&bench, 100, "^C", &arguments);
    assert_eq!(answer.code, Some(130), "{answer:?}");
    assert_eq!(told(&bench), (Vec::new(), "waiting".into()));
}

#[test]
fn what_a_plan_contradicts_itself_in_is_asked_in_the_terminal_before_anything_starts() {
    let bench = Bench::with(&[("README.md", "Ports\n")]);
    let task = |id: &str, needs: &str, text: &str| {
        format!(
            "## [{id}] Write {id}\n\n```task\n{needs}files: {{create: [port.txt]}}\n```\n\nCreate `port.txt`:\n\n```\n{text}\n```\n\n"
        )
    };
    let head = "---\nsequester: 1\nworkflow: solo\n---\n# Ports\n\n";
    let plan =
        format!("{head}{}{}", task("one", "", "8080"), task("two", "needs: [one]\n", "9090"));
    bench.write("../plan.md", &plan);
    let arguments = ["run", "../plan.md", "--model", "literal"];
    let answer = run_in_terminal(&bench, 100, "2", &arguments);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(answer.out.contains("the plan asks: Task `one` creates `port.txt`"), "{answer:?}");
    let wanted = vec![("Leave it out".to_owned(), "the terminal".to_owned())];
    assert_eq!(told(&bench), (wanted, "done".into()));
}

#[test]
fn a_run_fits_a_narrow_terminal_and_says_a_reason_once() {
    let bench = Bench::with(&[("README.md", "Letters\n")]);
    let mut plan = "---\nsequester: 1\nworkflow: solo\n---\n# Letters\n".to_owned();
    for (id, needs) in [("one", ""), ("two", "one"), ("three", "two")] {
        let title = "A title that is longer than such a terminal is wide";
        let _ = write!(plan, "\n## [{id}] {title}\n\n```task\nneeds: [{needs}]\n```\n\n");
        let _ = writeln!(plan, "Make {id} nicer than it is by now.");
    }
    bench.write("../plan.md", plan);
    assert_eq!(bench.run(&["run", "../plan.md", "--model", "literal"]).code, Some(1));
    let runs = bench.run(&["status", "--json"]).json();
    let id = runs[0]["run"].as_str().unwrap();
    let once = bench.run(&["status", id]).out;
    assert_eq!(once.matches("Make one nicer").count(), 1, "{once}");
    let shown: [&[&str]; 5] =
        [&["status"], &["status", id], &["show", id], &["show", id, "three"], &["log"]];
    for arguments in shown {
        let answer = run_in_terminal(&bench, 50, "", arguments);
        assert_eq!(answer.code, Some(0), "{answer:?}");
        let wide: Vec<&str> = answer.out.lines().filter(|line| line.chars().count() > 50).collect();
        assert_eq!(wide, Vec::<&str>::new(), "{arguments:?}: {answer:?}");
    }
}

/// Types lines into a shell, each when words are seen.
fn type_lines(bench: &Bench, told: &[&str]) -> Answer {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/shell.py");
    let output = Command::new("timeout")
        .args(["120", "python3"])
        .arg(script)
        .arg("60")
        .args(told)
        .current_dir(bench.repo())
        .env("HOME", bench.path("home"))
        .env("SEQUESTER", env!("CARGO_BIN_EXE_sequester"))
        .env_remove("XDG_STATE_HOME")
        .output()
        .unwrap();
    Answer::of(&output)
}

#[test]
fn what_is_typed_for_the_shell_reaches_no_jail_behind_it() {
    let bench = Bench::plain();
    let told = |end: &str, key: &str| {
        let start =
            "$SEQUESTER sandbox --profile read-only -- sh -c 'echo h''ere >&2; cat' > ../got";
        let lines = [
            ("prompt% ", format!("{start}{end}\\n")),
            ("here", key.to_owned()),
            // The shell itself does not read meanwhile, so that somebody else could.
            ("prompt% ", "echo sl''eeps; sleep 2; echo do''ne\\n".into()),
            ("sleeps", "secret\\n".into()),
            ("done", "cat ../got; echo be''fore\\n".into()),
            ("before", "fg\\n".into()),
            ("cat' > ../got", "hello\\n\\x04".into()),
            ("prompt% ", "cat ../got; echo af''ter\\n".into()),
        ];
        let mut told: Vec<String> =
            lines.into_iter().flat_map(|(seen, line)| [seen.to_owned(), line]).collect();
        told.push("after".to_owned());
        told
    };
    // Behind from the start, and stopped by hand later.
    for (end, key) in [(" &", "\\n"), ("", "\\x1a")] {
        let told = told(end, key);
        let told: Vec<&str> = told.iter().map(String::as_str).collect();
        let answer = type_lines(&bench, &told);
        assert_eq!(answer.code, Some(0), "{answer:?}");
        let got = std::fs::read_to_string(bench.path("got")).unwrap();
        assert_eq!(got, "hello\n", "{answer:?}");
    }
}

#[test]
fn what_is_typed_is_read_by_whatever_name_the_terminal_was_opened() {
    let bench = Bench::plain();
    let jail = "$SEQUESTER sandbox --profile read-only -- \
        sh -c 'echo re\"\"ady >&2; exec sed -u s/^/got-/' </dev/tty\\n";
    let told = ["prompt% ", jail, "ready", "hello\\n", "got-hello", "\\x04", "prompt% "];
    let answer = type_lines(&bench, &told);
    assert_eq!(answer.code, Some(0), "{answer:?}");
}
