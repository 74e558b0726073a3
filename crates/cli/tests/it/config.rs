//! `sequester.toml` and the user's `config.toml`.

use crate::command::{Bench, shop};

#[test]
fn an_unknown_key_is_refused_with_its_place_and_the_nearest_one() {
    let bench = Bench::plain();
    bench.write("sequester.toml", "model = \"literal\"\n\n[limits]\nturn = 3\n");
    let answer = bench.run(&["agents"]);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    for part in ["SQ0255", "sequester.toml:4:1", "`turns` is meant"] {
        assert!(answer.err.contains(part), "{part} is missing in {answer:?}");
    }
}

#[test]
fn a_model_for_an_agent_that_is_not_there_is_refused_with_its_place() {
    let bench = Bench::plain();
    bench.write("sequester.toml", "model = \"literal\"\nagents.nope.model = \"literal\"\n");
    let answer = bench.run(&["agents"]);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    for part in ["SQ0005", "`nope`", "sequester.toml:2:8", "Explore"] {
        assert!(answer.err.contains(part), "{part} is missing in {answer:?}");
    }
    bench.write(".claude/agents/nope.md", "---\nname: nope\ndescription: d\n---\nHi.\n");
    assert_eq!(bench.run(&["agents"]).code, Some(0));
}

#[test]
fn what_only_the_user_may_set_ends_with_5_and_says_where_to_set_it() {
    let bench = Bench::plain();
    bench.write("sequester.toml", "modle = 1\n[keys]\nopenai = \"touch pwned\"\n");
    let answer = bench.run(&["agents", "--json"]);
    assert_eq!(answer.code, Some(5), "{answer:?}");
    let error = answer.json()["error"].clone();
    assert_eq!((&error["code"], &error["place"]), (&"SQ0256".into(), &"sequester.toml:2:2".into()));
    let hint = error["hint"].as_str().unwrap();
    assert!(hint.contains("config.toml") && hint.contains("1 more fault"), "{hint}");
    assert!(!bench.repo().join("pwned").exists());
}

#[test]
fn the_users_own_file_may_set_hosts_and_is_found_by_either_variable() {
    let bench = Bench::plain();
    let text = "hosts = [\"docs.rs\"]\n[keys]\nopenai = \"pass openai\"\n[limits]\nwall = \"2h\"\n";
    bench.write("../home/.config/sequester/config.toml", text);
    let shown = bench.run(&["profiles", "research"]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    assert!(shown.out.contains("docs.rs"), "{shown:?}");
    assert!(!bench.run(&["profiles", "writer"]).out.contains("docs.rs"));
    bench.write("../other/sequester/config.toml", "hosts = [\"crates.io\"]\n");
    let other = bench.path("other").display().to_string();
    let environment = [("XDG_CONFIG_HOME", other.as_str())];
    let shown = bench.run_in(&bench.repo(), &["profiles", "research"], &environment).out;
    assert!(shown.contains("crates.io") && !shown.contains("docs.rs"), "{shown}");
}

#[test]
fn models_come_from_the_repository_before_the_user() {
    let bench = Bench::plain();
    bench.write(
        "sequester.toml",
        "[models]\ncheap = \"a/small\"\n[agents.writer]\nmodel = \"a/own\"\n",
    );
    bench.write(
        "../home/.config/sequester/config.toml",
        "model = \"u/all\"\n[models]\ncheap = \"u/small\"\n",
    );
    for (agent, model) in
        [("validator", "cheap (a/small)"), ("writer", "(a/own)"), ("Explore", "(u/all)")]
    {
        let shown = bench.run(&["agents", agent]).out;
        assert!(shown.contains(model), "{model} is missing in {shown}");
    }
}

#[test]
fn limits_of_the_configuration_hold_for_contexts() {
    let (bench, plan) = shop();
    bench.write("sequester.toml", "[limits]\ncontext = 40\n");
    let answer = bench.run(&["context", &plan, "a"]);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    assert!(answer.err.contains("SQ0115"), "{answer:?}");
}

#[test]
fn a_configuration_that_is_no_text_file_is_refused() {
    let bench = Bench::plain();
    bench.write("sequester.toml/x", "");
    let answer = bench.run(&["agents"]);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    assert!(answer.err.contains("SQ0002") && answer.err.contains("sequester.toml"), "{answer:?}");
}

#[test]
fn a_model_that_is_none_is_refused_with_its_place_and_what_may_be_meant() {
    let bench = Bench::plain();
    for (text, place) in [
        ("\nmodel = \"litral\"\n", "sequester.toml:2:9"),
        ("[models]\nstrong = \"a/b, litral\"\n", "sequester.toml:2:10"),
        ("[agents.writer]\nmodel = \"litral\"\n", "sequester.toml:2:9"),
    ] {
        bench.write("sequester.toml", text);
        let answer = bench.run(&["agents"]);
        assert_eq!(answer.code, Some(2), "{answer:?}");
        for part in [place, "`litral` is no model's name", "Perhaps `literal` is meant."] {
            assert!(answer.err.contains(part), "{part} is missing in {answer:?}");
        }
    }
}

#[test]
fn who_names_no_model_learns_what_needs_no_name() {
    let bench = Bench::plain();
    let answer = bench.run(&["task", "Do it.", "--model", "nope"]);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    for word in ["`auto`", "`literal`"] {
        assert!(answer.err.contains(word), "{answer:?}");
    }
}
