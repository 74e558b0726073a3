use std::collections::BTreeMap;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use sequester_core::message::{Answered, Message};
use sequester_core::protected::Grants;
use sequester_core::tool::Effect;

use super::*;

mod question;

struct Unheard;

impl Deltas for Unheard {
    fn text(&self, _: &str) {}
}

fn tools(phase: &str, names: &[&'static str]) -> Vec<sequester_core::tool::Spec> {
    let report = json!({
        "type": "object",
        "properties": {
            "task_id": { "type": "string", "const": "T1" },
            "phase": { "type": "string", "const": phase },
            "findings": { "type": "object", "properties": {
                "verdict": { "type": "string", "enum": ["pass", "fail"] },
                "remarks": { "type": "array", "items": { "type": "string" } },
                "file": { "type": ["string", "null"] },
            } },
        },
    });
    let others = names.iter().map(|name| (*name, json!({ "type": "object" })));
    let spec = |(name, parameters): (&'static str, Value)| sequester_core::tool::Spec {
        name: name.into(),
        description: "".into(),
        parameters: parameters.into(),
        effect: Effect::Runs,
    };
    std::iter::once(("report", report)).chain(others).map(spec).collect()
}

const ALL: [&str; 5] = ["Read", "Write", "Edit", "Bash", "ask"];

fn request<'a>(
    task: &'a str,
    messages: &'a [Message],
    tools: &'a [sequester_core::tool::Spec],
) -> Request<'a> {
    Request {
        system: "",
        messages,
        tools,
        answer: Answer::Free,
        output_limit: 1_000,
        turns: 80,
        task,
        grants: Grants::none(),
    }
}

fn complete(request: Request<'_>) -> Result<Reply, Error> {
    let mut future = pin!(Literal.complete(request, &Unheard));
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(reply) => reply,
        Poll::Pending => panic!("it waits for nothing"),
    }
}

/// Lines that one `Read` shows.
const PAGE: usize = 50;

/// Files in memory, with the rules of the real tools, and scripted commands.
#[derive(Default)]
struct Workspace {
    files: BTreeMap<String, String>,
    seen: BTreeMap<String, String>,
    commands: BTreeMap<String, String>,
    calls: Vec<String>,
    turns: usize,
    /// No file can be changed.
    locked: bool,
}

impl Workspace {
    fn call(&mut self, call: &Call) -> Result<String, String> {
        let argument = |name: &str| call.arguments[name].as_str().unwrap_or_default().to_owned();
        let path = argument("file_path");
        let known = self.files.get(&path).is_none_or(|now| self.seen.get(&path) == Some(now));
        self.calls.push(format!("{} {path}{}", call.name, argument("command")));
        match call.name.as_str() {
            "Read" => {
                let text = self.files.get(&path).ok_or("`a` does not exist.")?.clone();
                self.seen.insert(path, text.clone());
                let from = call.arguments["offset"].as_u64().unwrap_or(1) as usize;
                let lines: Vec<(usize, &str)> = (1..).zip(text.lines()).skip(from - 1).collect();
                let shown = lines.iter().take(PAGE).map(|(at, line)| format!("{at:>6}\t{line}\n"));
                let more =
                    lines.get(PAGE).map(|(at, _)| format!("[Read on with `offset` {at}.]\n"));
                Ok(shown.chain(more).collect())
            }
            "Write" | "Edit" if self.locked => Err(format!(
                "Refused: `{path}` is protected by young rules. Ask before you change it."
            )),
            "Write" | "Edit" if !known => Err("exists and you have not read it".to_owned()),
            "Write" => {
                self.files.insert(path.clone(), argument("content"));
                self.seen.insert(path, argument("content"));
                Ok("written".to_owned())
            }
            "Edit" => {
                let (old, new) = (argument("old_string"), argument("new_string"));
                let text = self.files.get(&path).ok_or("it is not there")?;
                if text.matches(&old).count() != 1 {
                    return Err(format!(
                        "`old_string` is {} times in `{path}`",
                        text.matches(&old).count()
                    ));
                }
                let text = text.replace(&old, &new);
                self.files.insert(path.clone(), text.clone());
                self.seen.insert(path, text);
                Ok("edited".to_owned())
            }
            "Bash" => Ok(self
                .commands
                .get(&argument("command"))
                .cloned()
                .unwrap_or("exit code: 0".to_owned())),
            name => Err(format!("no tool {name}")),
        }
    }

    /// Plays a task to its report, or to its question.
    fn play(&mut self, task: &str, prompt: &str) -> Call {
        let tools = tools("write", &ALL);
        let mut messages = vec![Message::User(prompt.into())];
        for turn in 0..200 {
            let reply = complete(request(task, &messages, &tools)).unwrap();
            let again = complete(request(task, &messages, &tools)).unwrap();
            assert_eq!(reply, again, "the same conversation has the same reply");
            self.turns = turn + 1;
            let mut results = Vec::new();
            for call in &reply.said.calls {
                assert_eq!(call.id, format!("literal-{}", self.calls.len()));
                if matches!(call.name.as_str(), "report" | "ask") {
                    assert_eq!(reply.said.calls.len(), 1);
                    return call.clone();
                }
                let answer = self.call(call);
                let failed = answer.is_err();
                let text = answer.unwrap_or_else(|error| error);
                results.push(Answered {
                    call: call.id.clone(),
                    name: call.name.clone(),
                    text,
                    failed,
                });
            }
            messages.push(Message::Assistant(reply.said.clone()));
            messages.push(Message::Results(results));
        }
        panic!("it never ends")
    }
}

const TEST_FIRST: &str = "\
**Files:**
- Create: `src/add.py`
- Test: `tests/test_add.py`

- [ ] **Step 1: Write the failing test**

```python
def test_add(): assert add(1, 2) == 3
```

- [ ] **Step 2: Run it to see it fail**

Run: `pytest -q`
Expected: FAIL with \"no module named add\"

- [ ] **Step 3: Write the implementation**

Create `src/add.py`:

```python
def add(a, b): return a + b
```

- [ ] **Step 4: Run it to see it pass**

Run: `pytest -q tests`
Expected: PASS

- [ ] **Step 5: Commit**

```bash
git add -A && git commit -m \"add: sums\"
```
";

fn red_and_green() -> Workspace {
    let mut workspace = Workspace::default();
    workspace.commands.insert("pytest -q".into(), "E no module named add\nexit code: 1".into());
    workspace
}

#[test]
fn a_test_first_task_is_carried_out_from_red_to_green() {
    let mut workspace = red_and_green();
    let report = workspace.play(TEST_FIRST, "").arguments;
    assert_eq!(
        workspace.calls,
        [
            "Read tests/test_add.py",
            "Write tests/test_add.py",
            "Bash pytest -q",
            "Read src/add.py",
            "Write src/add.py",
            "Bash pytest -q tests"
        ]
    );
    assert_eq!(
        (&report["task_id"], &report["status"], &report["decision"], &report["reason"]),
        (&json!("T1"), &json!("complete"), &json!("PROCEED"), &Value::Null)
    );
    assert_eq!(
        report["findings"],
        json!({ "files_changed": ["src/add.py", "tests/test_add.py"], "tests_written": ["tests/test_add.py"] })
    );
    assert_eq!(report["self_review"].as_array().unwrap().len(), 5);
}

#[test]
fn a_test_that_passes_too_early_blocks_and_names_the_step() {
    let mut workspace = Workspace::default();
    let report = workspace.play(TEST_FIRST, "").arguments;
    assert_eq!((&report["status"], &report["decision"]), (&json!("blocked"), &json!("STOP")));
    let reason = report["reason"].as_str().unwrap();
    assert!(
        reason
            .starts_with("Line 13 (\"Run it to see it fail\"): `pytest -q` was to fail, and ended with exit code 0"),
        "{reason}"
    );
    assert!(!workspace.files.contains_key("src/add.py"), "no step after it is carried out");
}

#[test]
fn a_program_that_is_not_there_is_not_the_failure_that_was_expected() {
    let mut workspace = Workspace::default();
    workspace.commands.insert("pytest -q".into(), "no module named add\nexit code: 127".into());
    let report = workspace.play(TEST_FIRST, "").arguments;
    assert_eq!(report["status"], "blocked");
    let reason = report["reason"].as_str().unwrap();
    let said =
        "`pytest -q` was to fail of itself, and a program in it was not found (exit code 127).";
    assert!(reason.contains(said), "{reason}");
}

#[test]
fn what_ran_is_never_called_nothing_and_output_stands_on_its_own_lines() {
    let mut workspace = Workspace::default();
    workspace.commands.insert("make".into(), "a\nb\nexit code: 2".into());
    let report = workspace.play("Run `make`.", "").arguments;
    let summary = report["context_summary"].as_str().unwrap();
    assert!(
        !summary.contains("Nothing was done") && summary.contains("No step was done to its end")
    );
    let reason = report["reason"].as_str().unwrap();
    assert!(reason.ends_with("ended with exit code 2. It printed:\na\nb"), "{reason}");
    workspace.calls.clear();
    let report = workspace.play("Run `true`.\n\nRun `make`.", "").arguments;
    let summary = report["context_summary"].as_str().unwrap();
    assert!(
        summary.ends_with("Done before that: `true` gave exit code 0, as expected."),
        "{summary}"
    );
}

#[test]
fn a_name_that_is_taken_and_a_file_that_is_missing_are_said_so() {
    for (task, why) in [
        (
            "Rename `a.txt` to `b.txt`.",
            "`a.txt` could not become `b.txt`: `b.txt` is there already.",
        ),
        ("Delete `a.txt`.", "`a.txt` could not be deleted: it is not there."),
        ("Append to `a.txt`:\n\n```\nx\n```\n", "`a.txt` could not be added to: it is not there."),
    ] {
        let mut messages = vec![Message::User("".into())];
        let tools = tools("write", &ALL);
        let asked = complete(request(task, &messages, &tools)).unwrap();
        let results = asked.said.calls.iter().map(|call| Answered {
            call: call.id.clone(),
            name: call.name.clone(),
            text: "exit code: 1".into(),
            failed: false,
        });
        let results = results.collect();
        messages.push(Message::Assistant(asked.said.clone()));
        messages.push(Message::Results(results));
        let report = complete(request(task, &messages, &tools)).unwrap().said.calls.remove(0);
        assert!(report.arguments["reason"].as_str().unwrap().ends_with(why), "{report:?}");
    }
}

#[test]
fn constraints_hold_the_steps_and_those_that_nothing_compares_are_named() {
    let tools = tools("write", &ALL);
    let first = |task: &str| {
        let prompt = format!(
            "# Task\n\n{task}\n\n# Constraints\n\n- Do not change package.json.\n- Use tabs.\n\n\
             These checks are run on the result:\n\n- `make`\n\n# Interfaces\n\nNone.\n"
        );
        let messages = [Message::User(prompt.as_str().into())];
        complete(request(task, &messages, &tools)).unwrap().said.calls.remove(0)
    };
    let report = first("Delete `package.json`.").arguments;
    assert_eq!(report["status"], "blocked");
    let reason = report["reason"].as_str().unwrap();
    assert!(reason.contains("`Do not change package.json.` forbids it"), "{reason}");
    assert_eq!(report["issues"], json!(["Not checked by `literal`: Use tabs."]));
    assert_eq!(first("Delete `a.json`.").name, "Bash");
}

#[test]
fn the_expected_text_must_be_in_the_output() {
    let mut workspace = Workspace::default();
    workspace.commands.insert("pytest -q".into(), "E something else\nexit code: 1".into());
    let report = workspace.play(TEST_FIRST, "").arguments;
    assert!(
        report["reason"]
            .as_str()
            .unwrap()
            .contains("was to print `no module named add`, and did not"),
        "{report}"
    );
}

#[test]
fn a_vague_step_blocks_before_anything_is_done() {
    let mut workspace = Workspace::default();
    let task = format!("{TEST_FIRST}\n- [ ] **Step 6: Handle overflow**\n\nAdd validation.\n");
    let report = workspace.play(&task, "").arguments;
    assert_eq!((workspace.calls.len(), &report["status"]), (0, &json!("blocked")));
    assert!(report["reason"].as_str().unwrap().contains("Handle overflow"), "{report}");
}

#[test]
fn what_exists_is_read_before_it_is_replaced_and_after_a_command_once_more() {
    let mut workspace = Workspace::default();
    workspace.files.insert("a.txt".into(), "one\ntwo\n".into());
    let task = "Replace the contents of `a.txt` with:\n\n```\none\nthree\n```\n\nChange `three` to `four` in `a.txt`.\n\n\
        Run `make`.\n\nChange `four` to `five` in `a.txt`.\n";
    let report = workspace.play(task, "").arguments;
    assert_eq!(report["status"], "complete", "{report}");
    assert_eq!(workspace.files["a.txt"], "one\nfive\n");
    assert_eq!(
        workspace.calls,
        ["Read a.txt", "Write a.txt", "Edit a.txt", "Bash make", "Read a.txt", "Edit a.txt"]
    );
}

#[test]
fn a_file_that_is_new_by_the_plan_only_is_never_overwritten() {
    let mut workspace = red_and_green();
    workspace.files.insert("tests/test_add.py".into(), "precious".into());
    let report = workspace.play(TEST_FIRST, "").arguments;
    assert_eq!(
        (&report["status"], workspace.files["tests/test_add.py"].as_str()),
        (&json!("blocked"), "precious")
    );
}

#[test]
fn a_new_file_that_is_there_with_the_same_lines_is_as_it_says_to_its_last_byte() {
    for before in ["x\n", "x"] {
        let mut workspace = Workspace::default();
        workspace.files.insert("a.txt".into(), before.into());
        let report = workspace.play("Create `a.txt`:\n\n```\nx\n```\n", "").arguments;
        let found = (&report["status"], workspace.files["a.txt"].as_str());
        assert_eq!(found, (&json!("complete"), "x\n"));
    }
}

#[test]
fn changes_of_whole_lines_match_once_or_block_before_any_of_them_is_made() {
    let mut workspace = Workspace::default();
    let long: Vec<String> = (0..120).map(|at| format!("line {at}\n")).collect();
    workspace.files.insert("long.txt".into(), long.concat());
    workspace.files.insert("a.txt".into(), "max = 1\n  x = 1\ny\n".into());
    let task = |old: &str| {
        format!(
            "In `long.txt`, replace:\n\n```\nline 10\n```\n\nwith:\n\n```\nten\n```\n\n\
             In `a.txt`, after the line `x = 1`, add:\n\n```\nz\n```\n\nChange `{old}` to `2` in `a.txt`.\n"
        )
    };
    for (old, why) in [("q", "does not hold `q`"), ("ax = 1", "longer word"), ("1", "2 times")] {
        let report = workspace.play(&task(old), "").arguments;
        let reason = report["reason"].as_str().unwrap();
        assert!(reason.contains(why) && !reason.contains("old_string"), "{reason}");
        assert!(
            report["context_summary"].as_str().unwrap().ends_with("Nothing was done."),
            "{report}"
        );
        assert!(
            workspace.calls.iter().all(|call| call.starts_with("Read ")),
            "{:?}",
            workspace.calls
        );
        workspace.calls.clear();
    }
    let report = workspace.play(&task("y"), "").arguments;
    assert_eq!(report["status"], "complete", "{report}");
    assert_eq!(workspace.files["a.txt"], "max = 1\n  x = 1\nz\n2\n");
    assert!(workspace.files["long.txt"].contains("line 9\nten\nline 11\n"));
    assert_eq!(workspace.turns, 5, "three to read pages, one to change, one to report");
}

#[test]
fn a_tool_that_does_not_take_a_change_is_told_in_words_for_people() {
    let mut workspace = Workspace::default();
    workspace.files.insert("a.txt".into(), "x".into());
    workspace.locked = true;
    let report = workspace.play("Change `x` to `y` in `a.txt`.", "").arguments;
    let reason = report["reason"].as_str().unwrap();
    assert!(
        reason.ends_with("it could not be changed: `a.txt` is protected by young rules."),
        "{reason}"
    );
}

#[test]
fn changes_in_a_row_take_two_turns() {
    let mut workspace = Workspace::default();
    let file = |at: usize| format!("Create `f{at}.txt`:\n\n```\n{at}\n```\n\n");
    let report = workspace.play(&(0..10).map(file).collect::<Vec<_>>().concat(), "").arguments;
    assert_eq!(
        (&report["status"], workspace.turns, workspace.calls.len()),
        (&json!("complete"), 3, 20)
    );
}

#[test]
fn a_task_that_takes_too_many_turns_is_refused_before_it_begins() {
    let task = |runs: usize| "Run `make`.\n\n".repeat(runs);
    let tools = tools("write", &ALL);
    let reply = |task: &str| complete(request(task, &[], &tools)).unwrap().said.calls.remove(0);
    assert_eq!(reply(&task(79)).name, "Bash");
    let report = reply(&task(80)).arguments;
    assert_eq!(report["reason"], "The steps take 81 turns, and the limit of this attempt is 80.");
    assert_eq!(
        report["resolution"],
        "Split the task, or raise the limit `turns`. Or give this task to a model: `--model literal,auto` takes one where this is not enough."
    );
}

#[test]
fn a_remedy_names_what_is_missing() {
    for (task, remedy) in [
        ("Create `a.ts`.", "Give the exact text in a fence"),
        ("- [ ] **Step 1: Add it**\n\n```ts\nx\n```\n", "Name the file right before its code"),
        ("Run `x` if it is there.", "without a condition"),
        ("Run `x`.\n\nIt should print `3`.", "Say what must come of the command"),
        ("- [ ] ~~Run `x`~~", "Leave it out"),
        ("Run: `x`\nExpected: Shows it\n", "Say what must come of the command"),
        ("Create `a.ts`:\n\n```ts\n...\n```\n", "Write the code out in full."),
    ] {
        let report = Workspace::default().play(task, "").arguments;
        assert!(report["resolution"].as_str().unwrap().contains(remedy), "{report}");
    }
}

#[test]
fn other_phases_and_missing_tools_are_refused_in_the_report() {
    let judged = complete(request(TEST_FIRST, &[], &tools("review", &ALL))).unwrap();
    let report = &judged.said.calls[0].arguments;
    assert_eq!(report["findings"], json!({ "verdict": "fail", "remarks": [], "file": null }));
    assert!(report["reason"].as_str().unwrap().contains("judges nothing"));
    assert_eq!(report["resolution"], "Give this phase to a model.");
    let reader = complete(request(TEST_FIRST, &[], &tools("write", &["Read", "Bash"]))).unwrap();
    assert!(reader.said.calls[0].arguments["reason"].as_str().unwrap().contains("`Write`"));
    let none = complete(request(TEST_FIRST, &[], &tools("write", &ALL)[1..])).unwrap_err();
    assert_eq!(none.kind, Kind::BadRequest);
}

#[test]
fn the_last_turn_is_a_report_of_what_was_done() {
    let tools = tools("write", &ALL);
    let last = Request { answer: Answer::Call("report"), ..request(TEST_FIRST, &[], &tools) };
    let report = complete(last).unwrap().said.calls.remove(0);
    assert_eq!((report.name.as_str(), &report.arguments["status"]), ("report", &json!("partial")));
}

/// Whatever the tools answer, the calls made are the steps' own, in order, none twice, and it ends.
#[test]
fn no_step_is_skipped_or_doubled_whatever_answers_come() {
    let answers = [
        "exit code: 0",
        "exit code: 1",
        "no module named add\nexit code: 1",
        "nonsense",
        "     1\tx",
        "",
    ];
    let tools = tools("write", &ALL);
    for seed in 0..600_usize {
        let mut messages = vec![Message::User("".into())];
        let mut made: Vec<String> = Vec::new();
        let mut state = seed;
        loop {
            let reply = complete(request(TEST_FIRST, &messages, &tools)).unwrap();
            let call = reply.said.calls[0].clone();
            if call.name == "report" {
                break;
            }
            made.push(format!(
                "{} {}",
                call.name,
                call.arguments["file_path"].as_str().unwrap_or_default()
            ));
            let (failed, text) = (state % 2 == 1, answers[state / 2 % answers.len()]);
            state = state.wrapping_mul(31).wrapping_add(7) % 9_973;
            let answered = Answered {
                call: call.id.clone(),
                name: call.name.clone(),
                text: text.into(),
                failed,
            };
            messages.push(Message::Assistant(reply.said));
            messages.push(Message::Results(vec![answered]));
        }
        let whole = [
            "Read tests/test_add.py",
            "Write tests/test_add.py",
            "Bash ",
            "Read src/add.py",
            "Write src/add.py",
            "Bash ",
        ];
        assert!(
            whole.starts_with(&made.iter().map(String::as_str).collect::<Vec<_>>()),
            "{made:?}"
        );
    }
}

#[test]
fn a_report_that_came_back_is_sent_again() {
    let tools = tools("write", &ALL);
    let first = complete(request("Add more.", &[], &tools)).unwrap();
    let messages = [
        Message::User("".into()),
        Message::Assistant(first.said.clone()),
        Message::User("not valid".into()),
    ];
    let again = complete(request("Add more.", &messages, &tools)).unwrap();
    assert_eq!(again.said.calls[0].arguments, first.said.calls[0].arguments);
    assert_eq!(again.said.calls[0].id, "literal-1");
}

#[test]
fn a_sentence_that_is_passed_over_is_named_in_the_report() {
    let task = TEST_FIRST.replace("Expected: PASS\n", "Expected: PASS\n\nThis is all of it.\n");
    let report = red_and_green().play(&task, "").arguments;
    assert_eq!(report["status"], "complete", "{report}");
    assert_eq!(report["issues"], json!(["Passed over as explanation: This is all of it."]));
    let many = task.replace("This is all of it.", &"This is all of it. ".repeat(30));
    let report = red_and_green().play(&many, "").arguments;
    assert_eq!(report["issues"].as_array().unwrap().len(), 10);
    assert_eq!(report["issues"][9], "Passed over as explanation: 21 more sentences.");
}

#[test]
fn an_instruction_among_words_blocks_before_anything_is_done() {
    let mut workspace = red_and_green();
    let task =
        TEST_FIRST.replace("Expected: PASS\n", "Expected: PASS\n\nThe README must say so.\n");
    let report = workspace.play(&task, "").arguments;
    assert_eq!((workspace.calls.len(), &report["status"]), (0, &json!("blocked")));
    assert!(report["reason"].as_str().unwrap().contains("The README must say so."), "{report}");
}
