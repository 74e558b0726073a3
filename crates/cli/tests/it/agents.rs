//! `sequester agents` and `sequester profiles`.

use std::os::unix::fs::symlink;

use sequester_testkit::model::{Script, Server, Turn};
use serde_json::Value;

use crate::command::{Bench, FILES, shop};
use crate::scripted::{MODELS, found, task};

const DOCS: &str = "---\nname: docs\ndescription: Writes docs.\nprofile: careful\nmodel: cheap\n---\nYou write docs.\n";
const CAREFUL: &str = "name: careful\nextends: writer\ntools: [Read, Edit]\nlimits: {turns: 10}\n";
const SCOUT: &str = "---\nname: scout\ndescription: Use when: lost\ntools: Read, Grep\ncolor: red\n---\nYou look.\n";

/// A repository with an agent and a profile of its own, and an agent for Claude Code.
fn project() -> Bench {
    let bench = Bench::plain();
    bench.write(".sequester/agents/docs.md", DOCS);
    bench.write(".sequester/profiles/careful.yaml", CAREFUL);
    bench.write(".claude/agents/scout.md", SCOUT);
    bench
}

fn named<'a>(list: &'a Value, name: &str) -> &'a Value {
    let list = list.as_array().unwrap();
    list.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("no {name} in {list:?}"))
}

#[test]
fn built_in_agents_and_those_of_the_project_are_listed() {
    let bench = project();
    let text = bench.run(&["agents"]);
    assert_eq!(text.code, Some(0), "{text:?}");
    let heading = text.out.lines().next().unwrap();
    assert_eq!(
        heading.split_whitespace().collect::<Vec<_>>(),
        ["name", "profile", "delegates", "model", "phase", "from", "description"]
    );
    assert_eq!(text.out.lines().count(), 1 + 17 + 2, "{}", text.out);
    let list = bench.run(&["agents", "--json"]).json();
    let docs = named(&list, "docs");
    assert_eq!(docs["origin"], ".sequester/agents/docs.md");
    assert_eq!((&docs["profile"], &docs["phase"]), (&"careful".into(), &"write".into()));
    let scout = named(&list, "scout");
    assert_eq!(scout["tools"], serde_json::json!(["Read", "Grep"]));
    assert_eq!((&scout["profile"], &scout["ignored"][0]), (&"read-only".into(), &"color".into()));
    assert_eq!(named(&list, "Explore")["origin"], "built-in");
}

#[test]
fn one_agent_is_shown_with_tools_jail_and_prompt() {
    let bench = project();
    let shown = bench.run(&["agents", "docs"]).out;
    for part in
        ["docs: Writes docs.", "careful", "Read, Edit", "turns 10", "no network", "You write docs."]
    {
        assert!(shown.contains(part), "{part} is missing in {shown}");
    }
    assert_eq!(bench.run(&["agents", "docs", "--json"]).json()["prompt"], "You write docs.\n");
    let unknown = bench.run(&["agents", "nobody"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.err.contains("SQ0005") && unknown.err.contains("scout"), "{unknown:?}");
}

#[test]
fn profiles_are_listed_and_shown_with_what_the_jail_keeps_to() {
    let bench = project();
    let list = bench.run(&["profiles", "--json"]).json();
    let names: Vec<_> = list.as_array().unwrap().iter().map(|one| one["name"].clone()).collect();
    assert_eq!(names, ["read-only", "research", "validate", "writer", "full-access", "careful"]);
    let careful = named(&list, "careful");
    assert_eq!((&careful["extends"], &careful["jail"]), (&"writer".into(), &"writer".into()));
    assert_eq!(careful["limits"]["turns"], 10);
    assert!(careful["guarantees"].as_array().unwrap().contains(&"no_network".into()));
    let shown = bench.run(&["profiles", "research"]).out;
    assert!(shown.contains("WebSearch?") && shown.contains("hosts that are named"), "{shown}");
    let unknown = bench.run(&["profiles", "nothing"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.err.contains("SQ0251") && unknown.err.contains("careful"), "{unknown:?}");
}

#[test]
fn the_user_may_grant_what_a_repository_may_not() {
    let bench = Bench::plain();
    let wide = "name: packages\nextends: writer\nhosts: [crates.io]\n";
    bench.write("../home/.config/sequester/profiles/packages.yaml", wide);
    let shown = bench.run(&["profiles", "packages"]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    assert!(shown.out.contains("crates.io"), "{shown:?}");
    bench.write(".sequester/profiles/mine.yaml", wide.replace("packages", "mine"));
    bench.write(
        ".sequester/agents/sly.md",
        "---\nname: sly\ndescription: d\nprofile: packages\n---\nHi.\n",
    );
    for (command, place) in [
        ("profiles", ".sequester/profiles/mine.yaml:3:9"),
        ("agents", ".sequester/agents/sly.md:4:10"),
    ] {
        let answer = bench.run(&[command]);
        assert_eq!(answer.code, Some(5), "{answer:?}");
        assert!(answer.out.contains("SQ0253") && answer.out.contains(place), "{answer:?}");
        assert!(answer.out.contains("your own configuration"), "{answer:?}");
    }
    let asked = bench.run(&["agents", "sly", "--json"]);
    assert_eq!(asked.code, Some(5));
    assert_eq!(asked.json()["error"]["place"], ".sequester/agents/sly.md:4:10");
}

#[test]
fn a_broken_file_is_shown_after_the_list_and_hides_no_other() {
    let bench = project();
    bench.write(
        ".sequester/agents/broken.md",
        "---\nname: broken\ndescription: d\nprofil: x\n---\n",
    );
    bench.write(".sequester/agents/bytes.md", b"\xff\xfe");
    bench.write(".sequester/agents/huge.md", vec![b'x'; 300 << 10]);
    bench.write("secret.md", "---\nname: outside\ndescription: d\n---\nHi.\n");
    symlink("../../secret.md", bench.repo().join(".sequester/agents/link.md")).unwrap();
    let answer = bench.run(&["agents"]);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    for part in
        ["docs", "broken.md:4:1", "`profile` is meant", "not UTF-8", "256 KB", "a link", "4 faults"]
    {
        assert!(answer.out.contains(part), "{part} is missing in {}", answer.out);
    }
    assert!(!answer.out.contains("outside"), "{}", answer.out);
    let json = bench.run(&["agents", "--json"]);
    assert_eq!(json.code, Some(2));
    assert!(json.json().as_array().unwrap().len() == 19 && json.err.contains("SQ0250"), "{json:?}");
}

#[test]
fn a_task_says_when_a_file_stands_in_for_a_built_in_agent_and_keeps_its_profiles_limits() {
    let bench = Bench::with(&FILES);
    let small = "name: small\nextends: read-only\nlimits: {context: 50}\n";
    bench.write(".sequester/profiles/small.yaml", small);
    let explore = "---\nname: Explore\ndescription: d\n---\nLook.\n";
    bench.write(".sequester/agents/explore.md", explore);
    let server =
        Server::start_blocking(Script::replies(vec![Turn::report(found("Here."))])).unwrap();
    let arguments = ["Find it", "--agent", "Explore", "--model", MODELS[0]];
    let replaced = task(&bench, &server, &arguments);
    let note = "`Explore` is the agent of .sequester/agents/explore.md, not the built-in one.";
    assert!(replaced.code == Some(0) && replaced.err.contains(note), "{replaced:?}");
    let cramped = task(&bench, &server, &[&arguments[..], &["--profile", "small"]].concat());
    assert_eq!(cramped.json()["error"]["code"], "SQ0115", "{cramped:?}");
}

#[test]
fn a_command_keeps_to_its_profiles_limits_unless_others_are_named() {
    let bench = Bench::with(&FILES);
    let brief = "name: brief\nextends: read-only\nlimits: {wall: 1s, pids: 32}\n";
    bench.write(".sequester/profiles/brief.yaml", brief);
    let run = |given: &[&str], script: &str| {
        let words = [&["sandbox", "--profile", "brief"][..], given, &["--", "sh", "-c", script]];
        bench.run(&words.concat())
    };
    let late = run(&[], "sleep 60");
    assert!(late.code == Some(124) && late.err.contains("longer than it may"), "{late:?}");
    let named = run(&["--limit", "wall=1m"], "sleep 2; echo awake");
    assert_eq!((named.code, named.out.trim()), (Some(0), "awake"), "{named:?}");
    let many =
        run(&["--limit", "wall=1m"], "for i in $(seq 60); do sleep 5 & done; wait; echo all");
    assert!(many.code != Some(0) && !many.out.contains("all"), "{many:?}");
}

#[test]
fn a_context_can_be_made_for_an_agent_of_the_project() {
    let (bench, plan) = shop();
    bench.write(".sequester/agents/docs.md", DOCS.replace("careful", "writer"));
    let shown = bench.run(&["context", &plan, "a", "--agent", "docs"]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    assert!(shown.out.contains("You write docs."), "{shown:?}");
    let unknown = bench.run(&["context", &plan, "a", "--agent", "nobody"]);
    assert!(unknown.err.contains("orchestrator, docs."), "{unknown:?}");
    bench.write(".sequester/agents/docs.md", DOCS);
    let broken = bench.run(&["context", &plan, "a", "--agent", "docs"]);
    assert_eq!(broken.code, Some(2), "{broken:?}");
    assert!(broken.err.contains("SQ0251") && broken.err.contains("docs.md:4:10"), "{broken:?}");
}

#[test]
fn the_manifest_names_an_agents_file_and_says_where_it_is_not_committed() {
    let (bench, plan) = shop();
    let agent = DOCS.replace("careful", "writer");
    let row = |agent: &str| {
        let shown = bench.run(&["context", &plan, "a", "--agent", agent, "--manifest", "--json"]);
        let rows = shown.json()["fragments"].clone();
        let rows = rows.as_array().unwrap().clone();
        let row = rows.into_iter().find(|row| row["kind"] == "agent").unwrap();
        (row["source"].as_str().unwrap().to_owned(), row["why"].as_str().unwrap_or("").to_owned())
    };
    let path = ".sequester/agents/docs.md";
    bench.write(path, &agent);
    assert_eq!(row("docs"), (path.to_owned(), "not committed".to_owned()));
    bench.commit("an agent");
    assert_eq!(row("docs"), (path.to_owned(), String::new()));
    bench.write(path, format!("{agent}More.\n"));
    assert_eq!(row("docs"), (path.to_owned(), "not committed".to_owned()));
    assert_eq!(row("writer"), ("agent writer".to_owned(), String::new()));
    let text = bench.run(&["context", &plan, "a", "--agent", "docs", "--manifest"]).out;
    assert!(text.contains(path) && text.contains("; not committed"), "{text}");
}

#[test]
fn a_profile_that_was_refused_is_told_by_the_name_that_its_file_gives() {
    let bench = Bench::plain();
    bench.write(".sequester/profiles/x.yaml", "name: wide\nextends: read-only\ntools: [Write]\n");
    for arguments in [&["profiles", "wide"][..], &["task", "x", "--profile", "wide"]] {
        let answer = bench.run_in(&bench.repo(), arguments, &[("SEQUESTER_TEST_UNJAILED", "1")]);
        assert_eq!(answer.code, Some(5), "{answer:?}");
        assert!(answer.err.contains(".sequester/profiles/x.yaml:3:"), "{answer:?}");
    }
    let slip = bench.run(&["profiles", "read-onyl"]);
    assert!(slip.err.contains("Perhaps `read-only` is meant."), "{slip:?}");
}

#[test]
fn a_profile_is_shown_with_the_limits_in_force() {
    let bench = project();
    let writer = bench.run(&["profiles", "writer"]).out;
    assert!(writer.contains("turns 80") && writer.contains("wall 1,800 s"), "{writer}");
    let careful = bench.run(&["profiles", "careful"]).out;
    assert!(careful.contains("turns 10") && careful.contains("wall 1,800 s"), "{careful}");
    let full = bench.run(&["profiles", "full-access"]).out;
    assert!(full.contains("Task") && full.contains("delegation 1"), "{full}");
}
