//! Nothing in a repository widens its own jail, unless the person accepted it as it stands.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Command;
use std::thread;

use serde_json::Value;

use crate::command::{Answer, Bench, FILES};

/// What a row of a table expects.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Expected {
    /// Exit code 5 with this code.
    Untrusted(&'static str),
    /// Exit code 2: it cannot be, whoever asks.
    Wrong,
    /// The jail is the one that there is without it.
    Harmless,
}
use Expected::{Harmless, Untrusted, Wrong};

const CONFIG: &[(&str, &str, Expected)] = &[
    ("agents", "agents.writer.model = \"literal\"", Harmless),
    ("checks", "checks.tests = \"touch ../outside\"", Harmless),
    ("function_lines", "function_lines = 40", Harmless),
    ("hosts", "hosts = [\"*.example.org\", \"HOST\"]", Untrusted("SQ0256")),
    ("jobs", "jobs = 200", Harmless),
    ("keys", "keys.anthropic = \"touch ../outside\"", Untrusted("SQ0256")),
    ("limits", "limits.wall = \"9h\"", Untrusted("SQ0256")),
    ("limits", "limits.context = 60001", Untrusted("SQ0256")),
    ("limits", "limits.output = \"1M\"", Untrusted("SQ0256")),
    ("limits", "limits.bash = \"1h\"", Untrusted("SQ0256")),
    ("limits", "limits.delegation = 2", Untrusted("SQ0256")),
    ("limits", "limits.turns = 5", Harmless),
    ("model", "model = \"literal\"", Harmless),
    ("models", "models.cheap = \"literal\"", Harmless),
    ("protected", "protected.grant = [\".github/workflows\"]", Untrusted("SQ0256")),
    ("protected", "protected.grant = [\".claude\", \".git\"]", Untrusted("SQ0256")),
    ("records", "records.notes = true", Harmless),
    ("relevance", "relevance = \"seed\"", Harmless),
    ("review", "review = \"none\"", Harmless),
    ("search", "search = \"http://HOST/?q={query}\"", Untrusted("SQ0256")),
    ("share", "share = \"all-earlier\"", Harmless),
    ("tdd", "tdd = false", Harmless),
    ("workflow", "workflow = \"solo\"", Harmless),
];

/// Keys of a profile called `mine`, which the jail is started with.
const PROFILE: &[(&str, &str, Expected)] = &[
    ("name", "name: full-access\nextends: writer", Wrong),
    ("description", "name: mine\nextends: writer\ndescription: all of it", Harmless),
    ("extends", "name: mine\nextends: full-access", Untrusted("SQ0253")),
    ("extends", "name: mine\nextends: theirs", Untrusted("SQ0253")),
    ("tools", "name: mine\nextends: read-only\ntools: [Read, Write]", Untrusted("SQ0253")),
    ("tools", "name: mine\nextends: writer\ntools: [Read, Task]", Untrusted("SQ0253")),
    ("tools", "name: mine\nextends: writer\ntools: [mcp__any__*]", Untrusted("SQ0253")),
    ("hosts", "name: mine\nextends: research\nhosts: [HOST]", Untrusted("SQ0253")),
    ("hosts", "name: mine\nextends: writer\nhosts: [HOST]", Untrusted("SQ0253")),
    ("limits", "name: mine\nextends: writer\nlimits: {wall: 9h}", Untrusted("SQ0253")),
    ("use_cases", "name: mine\nextends: writer\nuse_cases: [everything]", Harmless),
];

/// Keys of an agent called `mine`, which is asked to do something.
const AGENT: &[(&str, &str, Expected)] = &[
    ("name", "name: Explore\ndescription: d\nprofile: writer", Untrusted("SQ0253")),
    ("description", "name: mine\ndescription: d", Harmless),
    ("profile", "name: mine\ndescription: d\nprofile: full-access", Untrusted("SQ0253")),
    ("profile", "name: mine\ndescription: d\nprofile: theirs", Untrusted("SQ0253")),
    ("phase", "name: mine\ndescription: d\nphase: write", Harmless),
    ("model", "name: mine\ndescription: d\nmodel: literal", Harmless),
    ("artifacts", "name: mine\ndescription: d\nartifacts: [FINDING]", Harmless),
    ("tools", "name: mine\ndescription: d\ntools: [Read, Task]", Untrusted("SQ0253")),
    ("tools", "name: mine\ndescription: d\ntools: [Write, WebFetch]", Untrusted("SQ0253")),
    ("disallowedTools", "name: mine\ndescription: d\ndisallowedTools: [Read]", Harmless),
];

/// Reaches for all that a jail keeps from a writer; prints what it got.
const REACH: &str = r#"
for path in ../home/secret .env; do cat $path 2>/dev/null; done
(echo y > ../outside) 2>/dev/null
for path in .claude/x .git/x sequester.toml .sequester/x .mcp.json; do
  (echo y > $path) 2>/dev/null && echo "wrote $path"
done
(exec 3<>/dev/tcp/127.0.0.1/PORT) 2>/dev/null && echo "reached the host"
echo "$http_proxy|$(ulimit -u)|$(id -u)"
"#;

/// A repository beside secrets and a host, with a wide profile in the user's own configuration.
struct World {
    bench: Bench,
    listener: TcpListener,
}

impl World {
    fn new() -> Self {
        let bench = Bench::with(&FILES);
        fs::write(bench.path("home/secret"), "canary\n").unwrap();
        bench.write(".env", "canary\n");
        bench.write(".claude/settings.json", "{}\n");
        bench.write(".sequester/NOTES.md", "None.\n");
        let theirs = "name: theirs\nextends: research\nhosts: [docs.rs]\n";
        bench.write("../home/.config/sequester/profiles/theirs.yaml", theirs);
        Self { bench, listener: TcpListener::bind("127.0.0.1:0").unwrap() }
    }

    fn port(&self) -> u16 {
        self.listener.local_addr().unwrap().port()
    }

    fn write(&self, path: &str, text: &str) {
        self.bench.write(path, text.replace("HOST", &format!("127.0.0.1:{}", self.port())));
    }

    /// Without a jail.
    fn reach_freely(&self) -> String {
        let script = REACH.replace("PORT", &self.port().to_string());
        let mut command = Command::new("/bin/bash");
        let output = command.args(["-c", &script]).current_dir(self.bench.repo()).output().unwrap();
        Answer::of(&output).out
    }

    /// The jail of a profile, reaching for what it must not have.
    fn reach(&self, profile: &str) -> Answer {
        let script = REACH.replace("PORT", &self.port().to_string());
        self.bench.run(&["sandbox", "--profile", profile, "--", "/bin/bash", "-c", &script])
    }
}

fn assert_row(expected: Expected, answer: &Answer, without: &Answer, row: &str) {
    match expected {
        Untrusted(code) => {
            assert_eq!(answer.code, Some(5), "{row}: {answer:?}");
            assert!(answer.err.contains(code), "{row}: {answer:?}");
            assert!(answer.out.is_empty(), "{row}: {answer:?}");
        }
        Wrong => assert_eq!(answer.code, Some(2), "{row}: {answer:?}"),
        Harmless => {
            assert_eq!((answer.code, &answer.out), (without.code, &without.out), "{row}");
        }
    }
}

/// The keys that a message lists where one is not known.
fn keys(answer: &Answer) -> BTreeSet<String> {
    let told = format!("{}{}", answer.out, answer.err).replace('\n', " ");
    let (_, list) = told.split_once("The keys here are `").unwrap_or_else(|| panic!("{answer:?}"));
    let (list, _) = list.split_once("`.").unwrap();
    list.split("`, `").map(|key| key.trim().to_owned()).collect()
}

fn named(rows: &[(&str, &str, Expected)]) -> BTreeSet<String> {
    rows.iter().map(|(key, ..)| (*key).to_owned()).collect()
}

#[test]
fn no_key_of_the_configuration_widens_the_jail() {
    let free = World::new();
    let got = free.reach_freely();
    assert_eq!((got.matches("canary").count(), got.matches("wrote").count()), (2, 5), "{got}");
    assert!(got.contains("reached the host") && free.bench.path("outside").exists(), "{got}");
    let world = World::new();
    let without = world.reach("writer");
    assert_eq!(without.code, Some(0), "{without:?}");
    assert!(!without.out.contains("canary") && !without.out.contains("wrote"), "{without:?}");
    assert!(!without.out.contains("reached"), "{without:?}");
    for (_, text, expected) in CONFIG {
        world.write("sequester.toml", &format!("{text}\n"));
        assert_row(*expected, &world.reach("writer"), &without, text);
        if let Untrusted(_) = expected {
            let research = world.reach("research");
            assert_row(*expected, &research, &without, text);
        }
    }
    assert!(!world.bench.path("outside").exists());
    world.write("sequester.toml", "zzzzzzzzzz = 1\n");
    assert_eq!(keys(&world.reach("writer")), named(CONFIG));
}

#[test]
fn no_key_of_a_profile_widens_the_jail() {
    let world = World::new();
    let without = world.reach("writer");
    for (_, text, expected) in PROFILE {
        world.write(".sequester/profiles/mine.yaml", &format!("{text}\n"));
        let name =
            if *expected == Wrong { "mine" } else { text.split(['\n', ' ']).nth(1).unwrap() };
        assert_row(*expected, &world.reach(name), &without, text);
    }
    // What is built in stays what it is.
    let full = world.bench.run(&["profiles", "full-access", "--json"]).json();
    assert_eq!(full["from"].as_str().or(full["origin"].as_str()), Some("built-in"), "{full}");
    world.write(".sequester/profiles/mine.yaml", "zzzzzzzzzz: 1\nname: mine\n");
    assert_eq!(keys(&world.reach("mine")), named(PROFILE));
}

/// What the subagent writes is all that it could: a file of its workspace.
const TASK: &str = "Create `made.txt`:\n\n```text\nmade\n```\n\nRun: `cat ../home/secret /root/secret; touch ../outside`\n";

#[test]
fn no_key_of_an_agent_widens_the_jail() {
    let world = World::new();
    world.write(".sequester/agents/mine.md", "---\nname: mine\ndescription: d\n---\nDo it.\n");
    let ask = || world.bench.run(&["agents", "mine", "--json"]);
    let jail = |answer: &Answer| (answer.code, answer.json()["profile"].clone());
    let without = jail(&ask());
    assert_eq!(without.1, "writer");
    for (_, front, expected) in AGENT {
        for folder in [".sequester/agents", ".claude/agents"] {
            world.write(&format!("{folder}/mine.md"), &format!("---\n{front}\n---\nDo it.\n"));
            let answer = world.bench.run(&["task", TASK, "--agent", "mine", "--model", "literal"]);
            if let Untrusted(_) = expected {
                assert_row(*expected, &answer, &answer, front);
            } else {
                assert_eq!(jail(&ask()), without, "{front}");
                assert!(!format!("{answer:?}").contains("canary"), "{front}: {answer:?}");
            }
            fs::remove_file(world.bench.repo().join(folder).join("mine.md")).unwrap();
        }
    }
    assert!(!world.bench.path("outside").exists());
    world.write(".sequester/agents/mine.md", "---\nzzzzzzzzzz: 1\nname: mine\n---\nDo it.\n");
    let answer = world.bench.run(&["agents", "mine"]);
    assert_eq!(keys(&answer), named(AGENT));
}

const PLAN: &str =
    "---\nsequester: 1\n---\n# Plan\n\n## [a] One\n\n```task\nprofile: PROFILE\n```\n\nDo it.\n";

#[test]
fn a_plan_cannot_ask_for_more_than_is_built_in() {
    let world = World::new();
    let plan = world.bench.path("plan.md");
    let name = plan.display().to_string();
    for (profile, code) in [("writer", 0), ("validate", 0), ("full-access", 5), ("theirs", 5)] {
        fs::write(&plan, PLAN.replace("PROFILE", profile)).unwrap();
        let shown = world.bench.run(&["plan", &name]);
        assert_eq!(shown.code, Some(code), "{profile}: {shown:?}");
        let context = world.bench.run(&["context", &name, "a"]);
        assert_eq!(context.code, Some(code), "{profile}: {context:?}");
        if code == 5 {
            assert!(context.err.contains("plan.md:9:10"), "{context:?}");
        }
    }
    assert_eq!(world.bench.run(&["trust", &name]).code, Some(5));
    assert_eq!(world.bench.run(&["trust", &name, "--yes"]).code, Some(0));
    assert_eq!(world.bench.run(&["plan", &name]).code, Some(0));
    fs::write(&plan, PLAN.replace("PROFILE", "full-access")).unwrap();
    let changed = world.bench.run(&["plan", &name]);
    assert_eq!(changed.code, Some(5), "{changed:?}");
    assert!(changed.err.contains("has changed since you accepted it"), "{changed:?}");
}

#[test]
fn a_plan_says_that_an_agent_or_profile_is_not_accepted() {
    let bench = Bench::with(&FILES);
    let agent = "---\nname: mine\ndescription: d\nprofile: full-access\n---\nGo.\n";
    bench.write(".sequester/agents/mine.md", agent);
    bench.write(".sequester/profiles/wide.yaml", "name: wide\nextends: full-access\n");
    for key in ["agent: mine", "profile: wide"] {
        bench.write("plan.md", PLAN.replace("profile: PROFILE", key));
        let told = bench.run(&["plan", "plan.md"]);
        assert_eq!(told.code, Some(5), "{told:?}");
        assert!(told.out.contains("SQ0253") && told.out.contains(".sequester/"), "{told:?}");
        assert!(told.out.contains("which cannot be used"), "{told:?}");
    }
}

/// Answers one request.
fn answer_once(listener: TcpListener) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 1024];
        let _ = stream.read(&mut request).unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nanswer").unwrap();
    })
}

#[test]
fn what_is_accepted_counts_until_its_content_changes() {
    let world = World::new();
    let host = format!("127.0.0.1:{}", world.port());
    world.write("sequester.toml", "hosts = [\"HOST\"]\n");
    let fetch = format!(
        "import os, urllib.request as u; [os.environ.pop(n, 0) for n in ('no_proxy', 'NO_PROXY')]; print(u.urlopen('http://{host}/', timeout=9).read().decode())"
    );
    let words = ["sandbox", "--profile", "research", "--", "/usr/bin/python3", "-c", &fetch];
    let refused = world.bench.run(&words);
    assert_eq!(refused.code, Some(5), "{refused:?}");
    for part in ["sequester.toml:1:1", "`sequester trust`"] {
        assert!(refused.err.contains(part), "{part} is missing in {refused:?}");
    }
    let shown = world.bench.run(&["trust"]);
    assert_eq!(shown.code, Some(5), "{shown:?}");
    for part in ["sequester.toml (not accepted", "1: hosts = [\"127.0.0.1", "cannot set `hosts`"] {
        assert!(shown.out.contains(part), "{part} is missing in {shown:?}");
    }
    assert_eq!(world.bench.run(&["trust", "--yes"]).code, Some(0));
    let World { bench, listener } = world;
    let answering = answer_once(listener);
    let reached = bench.run(&words);
    assert_eq!((reached.code, reached.out.as_str()), (Some(0), "answer\n"), "{reached:?}");
    answering.join().unwrap();
    // Nothing of it lies in the repository, and a writer's jail cannot reach where it lies.
    let trust = bench.path("home/.local/state/sequester/trust");
    assert_eq!(fs::read_dir(&trust).unwrap().count(), 1);
    let list = format!("ls {} 2>/dev/null | wc -l", trust.display());
    let seen = bench.run(&["sandbox", "--profile", "writer", "--", "/bin/sh", "-c", &list]);
    assert_eq!(seen.out.trim(), "0", "{seen:?}");
    bench.write("sequester.toml", format!("hosts = [\"{host}\"]\n# one more line\n"));
    let changed = bench.run(&words);
    assert_eq!(changed.code, Some(5), "{changed:?}");
    assert!(changed.err.contains("has changed since you accepted it"), "{changed:?}");
}

#[test]
fn who_could_give_work_away_is_told_what_that_comes_to() {
    let bench = Bench::with(&FILES);
    let lead = "---\nname: lead\ndescription: d\ntools: [Read, Task]\n---\nLead.\n";
    bench.write(".claude/agents/lead.md", lead);
    bench.write(".sequester/profiles/mini.yaml", "name: mini\nextends: writer\ntools: [Task]\n");
    let told = bench.run(&["trust"]);
    let words = told.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "delegates: work to any agent, with no more than this and no more than that agent may",
        "which `writer` does not grant; only profiles that are made from `full-access` can. It stays refused.",
    ] {
        assert!(words.contains(part), "{part} is missing in {told:?}");
    }
    let files = bench.run(&["trust", "--yes", "--json"]).json()["files"].clone();
    assert_eq!(files[0]["grants"]["delegates"].as_array().map(Vec::len), Some(1), "{files}");
    // What was said of both is what is so.
    let lead = bench.run(&["agents", "lead", "--json"]).json();
    assert_eq!(lead["profile"], "full-access", "{lead}");
    let mini = bench.run(&["profiles", "mini"]);
    assert_eq!(mini.code, Some(5), "{mini:?}");
    assert!(mini.err.contains("extend `full-access`"), "{mini:?}");
}

#[test]
fn trust_is_for_one_place_and_can_be_taken_back() {
    let bench = Bench::with(&FILES);
    let text = "name: wide\nextends: full-access\nlimits: {wall: 9h}\n";
    bench.write(".sequester/profiles/wide.yaml", text);
    bench.write("../other/.sequester/profiles/wide.yaml", text);
    assert_eq!(bench.run(&["trust", "--yes", "--json"]).code, Some(0));
    assert_eq!(bench.run(&["profiles", "wide"]).code, Some(0));
    let other = bench.path("other");
    assert_eq!(bench.run_in(&other, &["profiles", "wide"], &[]).code, Some(5));
    let told = bench.run(&["trust", "--json"]);
    assert_eq!(told.code, Some(0), "{told:?}");
    let file = &told.json()["files"][0];
    assert_eq!(
        (&file["file"], &file["standing"]),
        (&Value::from(".sequester/profiles/wide.yaml"), &Value::from("accepted"),)
    );
    assert_eq!(bench.run(&["trust", "--forget"]).code, Some(0));
    assert_eq!(bench.run(&["profiles", "wide"]).code, Some(5));
}

#[test]
fn an_agent_needs_trust_of_its_own_for_a_profile_that_was_accepted() {
    let bench = Bench::with(&FILES);
    bench.write(
        ".sequester/profiles/wide.yaml",
        "name: wide\nextends: full-access\ntools: [Read]\n",
    );
    bench.write(
        ".sequester/agents/mine.md",
        "---\nname: mine\ndescription: d\nprofile: wide\n---\nGo.\n",
    );
    let profile = [".sequester/profiles/wide.yaml", "--yes"];
    assert_eq!(bench.run(&["trust", profile[0], profile[1]]).code, Some(0));
    assert_eq!(bench.run(&["agents", "mine"]).code, Some(5));
    assert_eq!(bench.run(&["trust", "--yes"]).code, Some(0));
    assert_eq!(bench.run(&["agents", "mine"]).code, Some(0));
}

#[test]
fn what_is_accepted_does_not_change_with_a_file_that_is_not() {
    let bench = Bench::with(&FILES);
    let b = |text: &str| bench.write(".sequester/profiles/b.yaml", format!("name: b\n{text}\n"));
    b("extends: research\ntools: [Read]");
    let a = "name: a\nextends: b\nhosts: [docs.example.com]\n";
    bench.write(".sequester/profiles/a.yaml", a);
    let own = "../home/.config/sequester/profiles/own.yaml";
    bench.write(own, "name: own\nextends: b\nlimits: {wall: 2h}\n");
    let code = |name: &str| bench.run(&["profiles", name]).code;
    assert_eq!(bench.run(&["trust", ".sequester/profiles/a.yaml", "--yes"]).code, Some(0));
    assert_eq!((code("a"), code("own")), (Some(5), Some(5)), "`b` is not accepted");
    let shown = bench.run(&["trust"]);
    assert!(shown.out.contains(".sequester/profiles/b.yaml (not accepted"), "{shown:?}");
    assert_eq!(bench.run(&["trust", "--yes"]).code, Some(0));
    assert_eq!((code("a"), code("own")), (Some(0), Some(0)));
    b("extends: writer");
    assert_eq!((code("a"), code("own"), code("b")), (Some(5), Some(5), Some(0)));
}

#[test]
fn an_agent_that_was_accepted_does_not_change_with_a_profile_that_was_not() {
    let bench = Bench::with(&FILES);
    let b = |text: &str| bench.write(".sequester/profiles/b.yaml", format!("name: b\n{text}\n"));
    let front = "---\nname: reviewer\ndescription: d\nprofile: b\n---\nGo.\n";
    bench.write(".sequester/agents/reviewer.md", front);
    b("extends: writer\ntools: [Read]");
    assert_eq!(bench.run(&["trust", "--yes"]).code, Some(0));
    let jail = || bench.run(&["agents", "reviewer", "--json"]).json()["profile"].clone();
    assert_eq!(jail(), "b");
    b("extends: writer");
    assert_eq!(jail(), "read-only");
    assert_eq!(bench.run(&["agents"]).code, Some(5));
}

#[test]
fn key_commands_of_a_repository_are_refused_whoever_accepts_them() {
    let bench = Bench::with(&FILES);
    bench.write("sequester.toml", "hosts = [\"docs.rs\"]\n[keys]\nanthropic = \"touch pwned\"\n");
    let answer = bench.run(&["trust", "--yes"]);
    assert_eq!(answer.code, Some(5), "{answer:?}");
    assert!(answer.out.contains("It stays refused."), "{answer:?}");
    let last = answer.out.lines().last().unwrap_or_default();
    assert!(last.contains("refused as long as line 2 is there"), "{answer:?}");
    let still = bench.run(&["agents"]);
    assert_eq!(still.code, Some(5), "{still:?}");
    assert!(!bench.repo().join("pwned").exists());
}

#[test]
fn where_nothing_is_asked_for_there_is_nothing_to_accept() {
    let bench = Bench::with(&FILES);
    bench.write("sequester.toml", "model = \"literal\"\n");
    let answer = bench.run(&["trust"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(answer.out.contains("Nothing asks for more"), "{answer:?}");
    bench.write("notes.txt", "just words\n");
    for file in ["no-such-file", "notes.txt"] {
        let named = bench.run(&["trust", file]);
        assert_eq!(named.code, Some(2), "{named:?}");
    }
}

#[test]
fn all_that_is_accepted_is_shown_as_it_was_read() {
    let bench = Bench::with(&FILES);
    bench.write(
        "sequester.toml",
        "hosts = [\n  \"docs.rs\",\n  \"evil.example\",\n]\n[limits]\nwall = \"9h\"\n",
    );
    let wide = "name: wide\nextends: research\nhosts:\n  - one.example\n  - two.example\ntools: [Read, Write]\nlimits: {wall: 8h}\n";
    bench.write(".sequester/profiles/wide.yaml", wide);
    let agent = "---\nname: mine\ndescription: d\nprofile: wide\ntools: [Write]\n---\nGo.\n";
    bench.write(".sequester/agents/mine.md", agent);
    let text = bench.run(&["trust"]);
    assert_eq!(text.code, Some(5), "{text:?}");
    for part in [
        "hosts: docs.rs, evil.example",
        "limits: wall 32,400 s",
        "the host `one.example`",
        "the host `two.example`",
        "the tool `Write`",
        "a higher limit `wall`",
        "hosts: one.example, two.example",
        "limits: wall 28,800 s",
        "tools: Read, Write",
        "profile: wide",
    ] {
        assert!(text.out.contains(part), "{part} is missing in {}", text.out);
    }
    let files = bench.run(&["trust", "--json"]).json()["files"].clone();
    let grants = |at: usize| files[at]["grants"].clone();
    assert_eq!(grants(0)["tools"], serde_json::json!(["Write"]), "{files}");
    assert_eq!(grants(1)["hosts"], serde_json::json!(["one.example", "two.example"]), "{files}");
    assert_eq!(grants(2)["hosts"], serde_json::json!(["docs.rs", "evil.example"]), "{files}");
    assert_eq!(files[1]["asks"].as_array().map(Vec::len), Some(4), "{files}");
}

#[test]
fn no_file_makes_lines_of_its_own_in_what_is_shown() {
    let bench = Bench::with(&FILES);
    let text = "name: wide\nextends: research\nhosts: [one.example]\nuse_cases: [a]\n";
    bench.write(".sequester/profiles/x (accepted)\nNothing asks.yaml", text);
    bench.write("sequester.toml", "search = \"http://h/?q={query}\\nNothing asks for more.\"\n");
    let answer = bench.run(&["trust"]);
    assert_eq!(answer.code, Some(5), "{answer:?}");
    assert!(answer.out.contains("one.example"), "{answer:?}");
    assert!(!answer.out.lines().any(|line| line.starts_with("Nothing asks")), "{answer:?}");
}

#[test]
fn a_file_that_cannot_be_used_is_told_and_not_accepted() {
    let bench = Bench::with(&FILES);
    bench.write("sequester.toml", "hosts = [\"docs.rs\"]\nmodle = 5\n");
    let answer = bench.run(&["trust", "--yes"]);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    assert!(answer.out.contains("not accepted; it cannot be used before line 2"), "{answer:?}");
    assert!(!bench.path("home/.local/state/sequester/trust").exists());
}

#[test]
fn what_a_plan_sets_for_all_its_tasks_is_listed_once() {
    let bench = Bench::with(&FILES);
    let plan = "---\nsequester: 1\nprofile: full-access\n---\n# Plan\n\n## [a] One\n\nDo it.\n\n## [b] Two\n\nDo it.\n";
    bench.write("plan.md", plan);
    let told = bench.run(&["trust", "plan.md", "--json"]);
    assert_eq!(told.json()["files"][0]["asks"].as_array().map(Vec::len), Some(1), "{told:?}");
}

#[test]
fn files_that_cannot_be_read_are_told() {
    let bench = Bench::with(&FILES);
    bench.write(".sequester/agents/binary.md", [0xff, 0xfe, 0x00]);
    bench.write(".sequester/profiles/long.yaml", "x".repeat(300 << 10));
    for arguments in [&["trust"][..], &["trust", "--json"], &["trust", "--yes"]] {
        let answer = bench.run(arguments);
        assert_eq!(answer.code, Some(2), "{answer:?}");
        for file in [".sequester/agents/binary.md", ".sequester/profiles/long.yaml"] {
            assert!(answer.err.contains(&format!("`{file}` does not count: ")), "{answer:?}");
        }
    }
    assert_eq!(bench.run(&["trust", "sequester.toml"]).code, Some(2));
    bench.write("sequester.toml", "");
    assert_eq!(bench.run(&["trust", "sequester.toml"]).code, Some(0));
}
