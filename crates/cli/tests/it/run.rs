//! Whole plans, run by the built program in real jails, onto real branches.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::command::{Answer, Bench};

/// Two tasks side by side, one on both of them.
const PLAN: &str = "---\nsequester: 1\nworkflow: solo\n---\n# Letters\n\n\
## [a] Write a\n\n```task\nfiles: {create: [a.txt]}\n```\n\nCreate `a.txt`:\n\n```\nthe letter a\n```\n\n\
## [b] Write b\n\n```task\nfiles: {create: [b.txt]}\n```\n\nCreate `b.txt`:\n\n```\nthe letter b\n```\n\n\
## [c] Write c\n\n```task\nneeds: [a, b]\nfiles: {create: [c.txt]}\nchecks: [\"test -e a.txt && test -e b.txt && test -e c.txt\"]\n```\n\n\
Run: `cat a.txt b.txt > c.txt`\n";

fn bench(plan: &str) -> Bench {
    let bench = Bench::with(&[("README.md", "Letters\n")]);
    fs::write(bench.path("plan.md"), plan).unwrap();
    bench
}

fn run(bench: &Bench, more: &[&str]) -> Answer {
    let plan = bench.path("plan.md").display().to_string();
    let mut arguments = vec!["run", plan.as_str(), "--model", "literal"];
    arguments.extend(more);
    bench.run(&arguments)
}

/// Every event of a run that was told as JSON lines.
fn events(answer: &Answer) -> Vec<Value> {
    answer.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn id(answer: &Answer) -> String {
    events(answer)[0]["run"].as_str().unwrap().to_owned()
}

fn git(bench: &Bench, arguments: &[&str]) -> String {
    let output = std::process::Command::new("git")
        .args(["-c", "user.name=Somebody", "-c", "user.email=somebody@example.org"])
        .args(arguments)
        .current_dir(bench.repo())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn subjects(bench: &Bench, run: &str) -> Vec<String> {
    let branch = format!("sequester/{run}");
    let log = git(bench, &["log", "--format=%s", "--reverse", &format!("main..{branch}")]);
    log.lines().map(str::to_owned).collect()
}

#[test]
fn a_plan_becomes_a_branch_with_one_commit_per_task_and_the_checkout_stays_as_it_is() {
    let bench = bench(PLAN);
    let answer = run(&bench, &["--json"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let events = events(&answer);
    let last = events.last().unwrap();
    assert_eq!((&last["event"], &last["outcome"]), (&"run_ended".into(), &"done".into()));
    assert_eq!(last["tasks"]["done"], 3);
    let seqs: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (1..=events.len() as u64).collect::<Vec<_>>());
    let run = id(&answer);
    assert_eq!(subjects(&bench, &run), ["Write a", "Write b", "Write c"]);
    let branch = format!("sequester/{run}");
    assert_eq!(git(&bench, &["show", &format!("{branch}:c.txt")]), "the letter a\nthe letter b\n");
    let trailers = git(&bench, &["log", "-1", "--format=%(trailers)", &branch]);
    assert_eq!(trailers.trim(), format!("Sequester-Run: {run}\nSequester-Task: c"));
    assert!(!bench.repo().join("a.txt").exists());
    assert_eq!(git(&bench, &["status", "--porcelain"]), "");
    // What was skipped is said, and nothing is left where attempts worked.
    assert_eq!(leftovers(&bench), 0);
}

#[test]
fn what_programs_leave_beside_the_work_is_no_part_of_a_commit() {
    let plan = "---\nsequester: 1\nworkflow: solo\n---\n# Python\n\n\
        ## [a] Import\n\n```task\nfiles: {create: [a.py]}\n```\n\nCreate `a.py`:\n\n```python\nX = 1\n```\n\n\
        Run: `python3 -c \"import a\" && ls __pycache__`\nExpected: PASS\n";
    let bench = bench(plan);
    let answer = run(&bench, &["--json"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let branch = format!("sequester/{}", id(&answer));
    assert_eq!(git(&bench, &["diff", "--name-only", "main", &branch]), "a.py\n");
}

fn leftovers(bench: &Bench) -> usize {
    let state = bench.path("home/.local/state/sequester");
    let list = |name: &str| fs::read_dir(state.join(name)).into_iter().flatten().count();
    list("workspaces/attempts") + list("jails")
}

#[test]
fn a_report_that_the_evidence_refutes_is_no_success() {
    let plan = "---\nsequester: 1\nworkflow: solo\n---\n# Letters\n\n\
        ## [a] Write two\n\n```task\nfiles: {create: [docs/a.txt, docs/missing.txt]}\n```\n\nCreate `docs/a.txt`:\n\n```\na\n```\n\n\
        ## [b] Write b\n\n```task\nneeds: [a]\nfiles: {create: [b.txt]}\n```\n\nCreate `b.txt`:\n\n```\nb\n```\n";
    let bench = bench(plan);
    bench.write("docs/old.txt", "There before.\n");
    bench.commit("second");
    let answer = run(&bench, &["--json", "--unattended"]);
    assert_eq!(answer.code, Some(1), "{answer:?}");
    let events = events(&answer);
    let attempts = events.iter().filter(|event| event["event"] == "attempt_ended");
    let outcomes: Vec<&str> = attempts.map(|event| event["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["done"], "who does what is written mends nothing: {answer:?}");
    let ended: Vec<String> = events
        .iter()
        .filter(|event| event["event"] == "task_ended")
        .map(|event| format!("{} {}", event["task"], event["state"]))
        .collect();
    assert_eq!(ended, ["\"a\" \"failed\"", "\"b\" \"blocked\""]);
}

#[test]
fn a_question_parks_its_task_and_its_answer_lets_the_run_go_on() {
    let plan = "---\nsequester: 1\nworkflow: solo\n---\n# Letters\n\n\
        ## [a] Ask\n\n```task\nfiles: {create: [a.txt]}\n```\n\nAsk: Which colour?\n- Red\n- Blue\n\nCreate `a.txt`:\n\n```\na\n```\n\n\
        ## [b] Write b\n\n```task\nfiles: {create: [b.txt]}\n```\n\nCreate `b.txt`:\n\n```\nb\n```\n";
    let bench = bench(plan);
    let answer = run(&bench, &["--json"]);
    assert_eq!(answer.code, Some(3), "{answer:?}");
    let run = id(&answer);
    assert_eq!(subjects(&bench, &run), ["Write b"], "the rest goes on");
    let inbox = bench.run(&["inbox", "--json"]).json();
    let question = inbox[0]["id"].as_str().unwrap();
    assert_eq!(bench.run(&["answer", question, "Red"]).code, Some(0));
    let answer = bench.run(&["resume", &run, "--json"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert_eq!(subjects(&bench, &run), ["Write b", "Ask"]);
    assert_eq!(bench.run(&["resume", &run]).code, Some(0), "there is nothing left to do");
}

#[test]
fn what_cannot_be_run_is_refused_before_anything_starts() {
    let cases: [(&[&str], &str, &str); 5] = [
        (&["--only", "z"], "SQ0004", "The plan has no task `z`."),
        (&["--only", "c"], "SQ0106", "Task `c` needs"),
        (&["--workflow", "biuld"], "SQ0258", "There is no workflow `biuld`."),
        (&["--model", "nobody/nothing"], "SQ0211", "nobody"),
        (&["--share", "all"], "SQ0006", "all"),
    ];
    for (flags, code, message) in cases {
        let bench = bench(PLAN);
        let plan = bench.path("plan.md").display().to_string();
        let mut arguments = vec!["run", plan.as_str(), "--json"];
        arguments.extend(flags);
        let answer = bench.run(&arguments);
        assert_eq!(answer.code, Some(2), "{flags:?}: {answer:?}");
        let error = &answer.json()["error"];
        assert_eq!(error["code"], code, "{flags:?}: {error}");
        assert!(error["message"].as_str().unwrap().contains(message), "{flags:?}: {error}");
        assert!(!Path::new(&bench.repo().join(".git/refs/heads/sequester")).exists());
    }
    let plain = Bench::plain();
    fs::write(plain.path("plan.md"), PLAN).unwrap();
    let answer = run(&plain, &["--json"]);
    assert_eq!((answer.code, &answer.json()["error"]["code"]), (Some(2), &"SQ0003".into()));
}

#[test]
fn what_a_subagent_was_shown_in_a_run_is_what_its_context_was_said_to_be() {
    let bench = bench(PLAN);
    let answer = run(&bench, &["--json"]);
    let (id, plan) = (id(&answer), bench.path("plan.md").display().to_string());
    let said = bench.run(&["context", &plan, "a", "--json"]).json();
    let shown = bench.run(&["context", "--run", &id, "a", "--json"]).json();
    for key in ["task", "agent", "digest", "tokens", "system", "prompt", "fragments", "withheld"] {
        assert_eq!(said[key], shown[key], "{key}");
    }
    let manifest = bench.run(&["context", "--run", &id, "c", "--phase", "write", "--manifest"]);
    assert_eq!(manifest.code, Some(0), "{manifest:?}");
    for wrong in [
        &["context", "--run", &id, "z"][..],
        &["context", "--run", &id, "a", "--attempt", "2"],
        &["context", "--run", &id, "a", "--phase", "review"],
        &["context", "--run", &id, &plan, "a"],
        &["context", &plan, "a", "--phase", "write"],
        &["context", &plan],
    ] {
        assert_eq!(bench.run(wrong).code, Some(2), "{wrong:?}");
    }
}

#[test]
fn a_done_task_whose_text_was_edited_is_named_and_done_again_only_when_that_is_said() {
    let bench = bench(PLAN);
    let id = id(&run(&bench, &["--json"]));
    let show = |path: &str| git(&bench, &["show", &format!("sequester/{id}:{path}")]);
    let plan = bench.path("plan.md").display().to_string();
    fs::write(bench.path("plan.md"), PLAN.replace("the letter a\n", "the first letter\n")).unwrap();
    let kept = bench.run(&["resume", &id, "--plan", &plan]);
    assert_eq!(kept.code, Some(0), "{kept:?}");
    assert!(kept.err.contains("`a` is done") && kept.err.contains("--redo a"), "{kept:?}");
    assert_eq!(show("a.txt"), "the letter a\n");
    let refused = bench.run(&["resume", &id, "--retry", "a"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    let again = bench.run(&["resume", &id, "--plan", &plan, "--redo", "a"]);
    assert_eq!(again.code, Some(0), "{again:?}");
    let told = "`c` stays as it is, done, and builds on `a`; `--redo a,c` does all of them again.";
    assert!(again.err.contains(told), "{again:?}");
    assert_eq!(show("a.txt"), "the first letter\n");
    assert_eq!(show("c.txt"), "the letter a\nthe letter b\n", "what was built on it stays");
    assert_eq!(subjects(&bench, &id), ["Write a", "Write b", "Write c", "Write a"]);
}

#[test]
fn two_stages_of_review_are_two_steps_and_skipped_as_such_without_a_model() {
    let plan = PLAN.replace("workflow: solo", "workflow: build");
    let bench = bench(&plan);
    fs::write(bench.repo().join("sequester.toml"), "review = \"two-stage\"\n").unwrap();
    let answer = run(&bench, &["--json"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let skipped: Vec<String> = events(&answer)
        .iter()
        .filter(|event| event["event"] == "step_skipped" && event["task"] == "a")
        .map(|event| event["step"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(skipped, ["review-spec", "review"]);
}

#[test]
fn no_plan_that_a_run_ever_had_is_seen_in_a_jail_from_wherever_it_is_taken_up() {
    let plan = "---\nsequester: 1\nworkflow: solo\n---\n# Colours\n\n\
        ## [a] Ask\n\n```task\nfiles: {create: [a.txt]}\n```\n\nAsk: Which colour?\n- Red\n- Blue\n\nCreate `a.txt`:\n\n```\na\n```\n\n\
        ## [b] Look\n\n```task\nneeds: [a]\nfiles: {create: [b.txt]}\n```\n\nRun: `ls docs > b.txt`\n";
    let edited = plan.replace("# Colours", "# Colours, again");
    let files = [("docs/plan.md", plan), ("docs/plan2.md", edited.as_str()), ("docs/kept.txt", "")];
    for plan in [None, Some("docs/plan2.md")] {
        let bench = Bench::with(&files);
        let docs = bench.repo().join("docs");
        let first = bench.run_in(&docs, &["run", "plan.md", "--model", "literal", "--json"], &[]);
        assert_eq!(first.code, Some(3), "{first:?}");
        let run = id(&first);
        let asked = bench.run(&["inbox", "--json"]).json()[0]["id"].as_str().unwrap().to_owned();
        assert_eq!(bench.run(&["answer", &asked, "Red"]).code, Some(0));
        let mut arguments = vec!["resume", run.as_str()];
        arguments.extend(plan.iter().flat_map(|plan| ["--plan", *plan]));
        let second = bench.run(&arguments);
        assert_eq!(second.code, Some(0), "{second:?}");
        let seen = git(&bench, &["show", &format!("sequester/{run}:b.txt")]);
        let hidden = plan.map_or("plan2.md\n", |_| "");
        assert_eq!(seen, format!("kept.txt\n{hidden}"));
    }
}

#[test]
fn a_task_that_an_edited_plan_adds_is_worked_on_as_it_says() {
    let head = "---\nsequester: 1\n---\n# Letters\n\n";
    let task = |id: &str, more: &str| {
        format!(
            "## [{id}] Write {id}\n\n```task\nfiles: {{create: [{id}.txt]}}\n{more}```\n\nCreate `{id}.txt`:\n\n```\n{id}\n```\n\n"
        )
    };
    let bench = bench(&format!("{head}{}", task("a", "")));
    let first = run(&bench, &["--json"]);
    assert_eq!(first.code, Some(0), "{first:?}");
    let run = id(&first);
    let own = "workflow: solo\nagent: quick-writer\n";
    let plan = [head, &task("a", ""), &task("b", own), &task("c", "optional: true\n")].concat();
    fs::write(bench.path("plan.md"), plan).unwrap();
    let plan = bench.path("plan.md").display().to_string();
    let second = bench.run(&["resume", &run, "--plan", &plan]);
    assert_eq!(second.code, Some(0), "{second:?}");
    assert_eq!(subjects(&bench, &run), ["Write a", "Write b"]);
    let shown = bench.run(&["show", &run, "b", "--json"]).json();
    assert_eq!(
        (shown["attempts"].as_array().unwrap().len(), &shown["attempts"][0]["agent"]),
        (1, &"quick-writer".into())
    );
    let left = bench.run(&["status", &run, "c", "--json"]).json();
    assert_eq!(left["tasks"][0]["state"], "skipped");
}

#[test]
fn what_a_person_had_not_committed_is_no_tasks_work() {
    let bench = bench(PLAN);
    bench.write("README.md", "edited\n");
    bench.write("mine.txt", "mine\n");
    let answer = run(&bench, &["--include-dirty", "--json"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let run = id(&answer);
    let names = git(
        &bench,
        &["log", "--reverse", "--format=%s", "--name-only", &format!("main..sequester/{run}")],
    );
    let lines: Vec<&str> = names.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(
        lines,
        [
            "Uncommitted changes that a run began with",
            "README.md",
            "mine.txt",
            "Write a",
            "a.txt",
            "Write b",
            "b.txt",
            "Write c",
            "c.txt",
        ]
    );
    // Once they are committed, both are joined.
    git(&bench, &["add", "-A"]);
    git(&bench, &["commit", "-q", "-m", "Mine"]);
    let applied = bench.run(&["apply", &run, "--merge"]);
    assert_eq!(applied.code, Some(0), "{applied:?}");
    assert_eq!(fs::read_to_string(bench.repo().join("README.md")).unwrap(), "edited\n");
    assert!(bench.repo().join("c.txt").exists());
}

#[test]
fn a_run_that_began_with_a_commit_takes_nothing_that_is_committed_no_more() {
    let bench = bench(PLAN);
    bench.write("mine.txt", "mine\n");
    git(&bench, &["add", "-A"]);
    git(&bench, &["commit", "-q", "-m", "Mine"]);
    let answer = run(&bench, &["--json"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    git(&bench, &["reset", "-q", "--soft", "HEAD~1"]);
    let refused = bench.run(&["apply", &id(&answer)]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.err.contains("mine.txt"), "{refused:?}");
    assert_eq!(git(&bench, &["status", "--porcelain"]), "A  mine.txt\n");
}

#[test]
fn a_link_in_the_way_of_a_change_is_told_as_one() {
    let bench = bench(PLAN);
    let run = id(&run(&bench, &["--json"]));
    fs::write(bench.path("mine.txt"), "mine\n").unwrap();
    std::os::unix::fs::symlink(bench.path("mine.txt"), bench.repo().join("a.txt")).unwrap();
    let refused = bench.run(&["apply", &run]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.err.replace('\n', " ").contains("`a.txt` (a link)"), "{refused:?}");
    assert_eq!(fs::read_to_string(bench.path("mine.txt")).unwrap(), "mine\n");
}

/// A `git` that cleans the repository up at the first moment when something is to be held.
fn cleaning_git(bench: &Bench) -> String {
    let path = std::env::var("PATH").unwrap();
    let git =
        std::env::split_paths(&path).map(|folder| folder.join("git")).find(|git| git.exists());
    let (git, mark) = (git.unwrap(), bench.path("cleaned"));
    let (git, mark, repo) = (git.display(), mark.display(), bench.repo());
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *for-each-ref*/held*) mkdir '{mark}' 2>/dev/null && \
         '{git}' -C '{}' prune --expire=now;; esac\nexec '{git}' \"$@\"\n",
        repo.display()
    );
    let folder = bench.path("programs");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("git"), script).unwrap();
    fs::set_permissions(folder.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:{path}", folder.display())
}

#[test]
fn what_a_person_had_not_committed_outlives_who_cleans_up_before_it_is_held() {
    let bench = bench(PLAN);
    bench.write("mine.txt", "mine\n");
    let path = cleaning_git(&bench);
    let plan = bench.path("plan.md").display().to_string();
    let arguments = ["run", &plan, "--model", "literal", "--include-dirty", "--json"];
    let answer = bench.run_in(&bench.repo(), &arguments, &[("PATH", &path)]);
    assert!(bench.path("cleaned").exists(), "nobody cleaned up");
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let run = id(&answer);
    assert_eq!(git(&bench, &["show", &format!("sequester/{run}:mine.txt")]), "mine\n");
    git(&bench, &["fsck", "--connectivity-only"]);
}

#[test]
fn nothing_is_held_for_a_run_that_does_not_begin() {
    let bench = bench(PLAN);
    bench.write("mine.txt", "mine\n");
    let plan = bench.path("plan.md").display().to_string();
    let answer = bench.run(&["run", &plan, "--model", "openai/gpt-5", "--include-dirty", "--json"]);
    assert_ne!(answer.code, Some(0), "{answer:?}");
    assert_eq!(git(&bench, &["for-each-ref", "refs/sequester"]), "");
}

#[test]
fn what_was_held_for_a_run_that_never_began_goes_with_gc_after_a_day() {
    let bench = bench(PLAN);
    let run = id(&run(&bench, &["--json"]));
    for name in ["00000000-7/held", "zzzzzzzz-7/held", "mine"] {
        git(&bench, &["update-ref", &format!("refs/sequester/{name}"), "HEAD"]);
    }
    assert_eq!(bench.run(&["gc"]).code, Some(0));
    let left = git(&bench, &["for-each-ref", "--format=%(refname:lstrip=2)", "refs/sequester"]);
    let left: Vec<&str> = left.lines().collect();
    assert_eq!(left, [&*format!("{run}/held"), "mine", "zzzzzzzz-7/held"]);
}

#[test]
fn a_run_that_is_detached_goes_on_by_itself() {
    let bench = bench(PLAN);
    let answer = run(&bench, &["--detach", "--json"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let run = id(&answer);
    let end = Instant::now() + Duration::from_mins(2);
    let state = || bench.run(&["status", &run, "--json"]).json()["state"].clone();
    while state() != "done" {
        assert!(Instant::now() < end, "{:?}", bench.run(&["log", &run]));
        thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(subjects(&bench, &run), ["Write a", "Write b", "Write c"]);
    assert_eq!(git(&bench, &["status", "--porcelain"]), "");
}
