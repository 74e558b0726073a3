//! Where answers go: pipes that close, devices that are full, texts that look like options.

use std::fs::{self, OpenOptions};
use std::process::{Command, Stdio};

use sequester_testkit::model::{Script, Server, Turn};
use serde_json::{Value, json};

use crate::command::{Answer, Bench, FILES, shop};
use crate::scripted::{MODELS, task};

/// Every command that prints, with JSON and without.
fn commands(plan: &str) -> Vec<Vec<String>> {
    let create = "Create `new.txt`:\n\n```\nnew\n```\n";
    let plain: [&[&str]; 12] = [
        &["plan", plan],
        &["context", plan, "a"],
        &["context", plan, "a", "--manifest"],
        &["context", plan, "a", "--diff", "b"],
        &["context", plan, "a", "--task-call"],
        &["files", "send a mail"],
        &["agents"],
        &["agents", "writer"],
        &["profiles"],
        &["schema"],
        &["task", create, "--agent", "writer", "--model", "literal"],
        &["--help"],
    ];
    let owned = |list: &[&str]| list.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
    let with_json = plain[..11].iter().map(|list| owned(&[*list, &["--json"]].concat()));
    plain.iter().map(|list| owned(list)).chain(with_json).collect()
}

fn program(bench: &Bench, arguments: &[String]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sequester"));
    command.args(arguments).current_dir(bench.repo()).env("HOME", bench.path("home"));
    command.stdin(Stdio::null());
    command
}

#[test]
fn an_answer_that_cannot_be_written_ends_with_1_and_says_so() {
    let (bench, plan) = shop();
    for arguments in commands(&plan) {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let answer = Answer::of(&program(&bench, &arguments).stdout(full).output().unwrap());
        assert_eq!(answer.code, Some(1), "{arguments:?} {answer:?}");
        assert!(answer.err.contains("error[SQ0001]"), "{arguments:?} {answer:?}");
        assert!(!answer.err.contains("panicked"), "{arguments:?} {answer:?}");
    }
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let refused = ["agents", "nobody", "--json"].map(str::to_owned);
    let answer = Answer::of(&program(&bench, &refused).stdout(full).output().unwrap());
    assert_eq!(answer.code, Some(2), "{answer:?}");
    assert!(answer.err.contains("error[SQ0005]"), "{answer:?}");
}

#[test]
fn a_pipe_that_nobody_reads_is_no_error() {
    let (bench, plan) = shop();
    for arguments in commands(&plan) {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let answer = Answer::of(&program(&bench, &arguments).stdout(writer).output().unwrap());
        assert_eq!(answer.code, Some(0), "{arguments:?} {answer:?}");
        assert!(!answer.err.contains("error"), "{arguments:?} {answer:?}");
    }
}

#[test]
fn notes_that_nobody_reads_stop_nothing() {
    let bench = Bench::with(&FILES);
    let arguments = &commands("")[10];
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let answer = Answer::of(&program(&bench, arguments).stderr(full).output().unwrap());
    assert!(answer.code == Some(0) && answer.out.contains("new.txt"), "{answer:?}");
}

#[test]
fn a_text_may_begin_as_lists_and_rules_do() {
    let bench = Bench::with(&FILES);
    let create = "Create `new.txt`:\n\n  ```\n  new\n  ```\n";
    for text in [format!("- [ ] {create}"), format!("---\n\n{create}"), create.to_owned()] {
        let arguments = ["task", &text, "--agent", "writer", "--model", "literal", "--json"];
        let answer = bench.run_in(&bench.repo(), &arguments, &[]);
        assert_eq!(answer.code, Some(0), "{answer:?}");
        assert_eq!(answer.json()["evidence"]["files_changed"][0]["path"], "new.txt");
    }
    let ranked = bench.run(&["files", "- send a mail"]);
    assert!(ranked.code == Some(0) && ranked.out.contains("src/mail.rs"), "{ranked:?}");
    let constraint = ["task", "x", "--constraint", "- keep it", "--model", "literal", "--json"];
    let kept = bench.run_in(&bench.repo(), &constraint, &[]);
    assert_eq!(kept.json()["outcome"], "stopped", "{kept:?}");
    for slip in ["--jsn", "-x", "--agnet=Explore"] {
        let answer = bench.run(&["task", slip, "Find it"]);
        let told = slip.split('=').next().unwrap();
        assert!(answer.code == Some(2) && answer.err.contains(told), "{answer:?}");
    }
}

#[test]
fn the_patch_is_one_that_git_applies() {
    let bench = Bench::with(&[
        ("run.sh", "#!/bin/sh\nexit 0\n"),
        ("a b.txt", "one\n"),
        ("quo\"te\\d.txt", "one\n"),
        ("gone.txt", "x\n"),
        ("empty-gone.txt", ""),
        ("to-link.txt", "text\n"),
    ]);
    bench.git(&["update-index", "--chmod=+x", "run.sh"]);
    bench.git(&["commit", "--quiet", "--message", "mode"]);
    bench.git(&["reset", "--quiet", "--hard"]);
    let work = "chmod -x run.sh; echo two >> 'a b.txt'; printf last >> 'quo\"te\\d.txt'; rm gone.txt empty-gone.txt; \
        ln -sf 'a b.txt' to-link.txt; : > 'new empty.txt'; printf '#!/bin/sh\\n' > tool; chmod +x tool; ln -s tool link; \
        mkdir -p deep/er; echo x > deep/er/f";
    let report = json!({
        "task_id": "task", "phase": "write", "status": "complete", "decision": "PROCEED",
        "findings": {"files_changed": [], "tests_written": []}, "context_summary": "Done.",
        "issues": [], "questions": [], "artifacts": [], "notes": [],
        "self_review": [{"item": "seen", "ok": true}],
    });
    let turns = vec![Turn::call("Bash", json!({"command": work})), Turn::report(report)];
    let server = Server::start_blocking(Script::replies(turns)).unwrap();
    let given = ["Do it", "--agent", "writer", "--model", MODELS[0]];
    let answer = task(&bench, &server, &given);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let seen = answer.json()["evidence"].clone();
    fs::write(bench.path("patch"), seen["patch"].as_str().unwrap()).unwrap();
    bench.git(&["apply", "--index", "../patch"]);
    let changed = seen["files_changed"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap_or("000000").to_owned();
    let row = |one: &Value| ["old_mode", "new_mode", "path"].map(|key| text(&one[key])).join(" ");
    let output = Command::new("git")
        .args(["diff", "--cached", "--raw", "--no-renames", "-z"])
        .current_dir(bench.repo())
        .output()
        .unwrap();
    // `:100644 100755 0123456 89abcde M`, then the path.
    let fields: Vec<_> =
        output.stdout.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
    let by_git = fields.chunks_exact(2).map(|pair| format!("{} {}", &pair[0][1..14], pair[1]));
    assert_eq!(changed.iter().map(row).collect::<Vec<_>>(), by_git.collect::<Vec<_>>());
    let claimed: Vec<&Value> = changed.iter().map(|one| &one["path"]).collect();
    assert_eq!(json!(claimed), answer.json()["findings"]["files_changed"]);
    let quoted = fs::read_to_string(bench.repo().join("quo\"te\\d.txt")).unwrap();
    assert_eq!(quoted, "one\nlast");
}

#[test]
fn calls_are_counted_the_same_in_progress_and_report_and_the_report_is_none() {
    let bench = Bench::with(&[("a.txt", "a\n")]);
    let text = "- [ ] Run: `cat a.txt`\n- [ ] Run: `true`\n";
    let arguments = ["task", text, "--agent", "writer", "--model", "literal"];
    let shown = bench.run(&arguments);
    assert!(shown.err.contains("- done (2 tools, "), "{shown:?}");
    assert!(shown.out.contains(" · 2 calls · "), "{shown:?}");
    let report = bench.run(&[&arguments[..], &["--json"]].concat()).json();
    assert_eq!(report["usage"]["calls"], 2, "{report}");
}

#[test]
fn a_refusal_of_the_sandbox_is_json_and_the_output_of_its_command_is_not_touched() {
    let bench = Bench::plain();
    let run = |profile: &str, command: &[&str]| {
        let arguments = ["sandbox", "--json", "--profile", profile, "--"];
        bench.run(&[&arguments[..], command].concat())
    };
    let refused = run("nobody", &["/bin/echo", "x"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    let error = refused.json()["error"].clone();
    for field in ["code", "message", "place", "hint"] {
        assert!(error[field].is_string(), "{field} is missing in {error}");
    }
    let ran = run("read-only", &["/bin/sh", "-c", "echo plain; exit 4"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(4), "plain\n"), "{ran:?}");
}
