//! `sequester recall`.

use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};

use crate::command::{Answer, Bench, FILES};

const RECORDS: &str = r#"{"id": "a", "title": "Passwords are hashed", "summary": "With argon2 and a salt.", "paths": ["src/auth/password.rs"], "age": 4}
{"id": "b", "title": "Mails are sent by a queue", "summary": "One worker.", "paths": ["src/mail/queue.rs"], "age": 3}

{"id": "c", "title": "Invoices as PDF", "summary": "A4 and Letter.", "paths": [], "age": 2}
{"id": "d", "title": "The cart keeps its items", "summary": "For a week.", "paths": ["src/cart.rs"], "age": 1, "kind": "summary"}
"#;

fn recall(records: impl AsRef<[u8]>, arguments: &[&str]) -> Answer {
    let bench = Bench::with(&FILES);
    fs::write(bench.path("records.jsonl"), records).unwrap();
    let before = bench.listing();
    let given = ["recall", "--records", "../records.jsonl"];
    let answer = bench.run(&[&given[..], arguments].concat());
    assert_eq!(bench.listing(), before, "something was written");
    answer
}

fn ids(answer: &Answer) -> Vec<String> {
    let list = answer.json();
    list.as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn only_what_would_be_loaded_is_shown_with_score_and_reason() {
    let asked = ["Hash the passwords of src/auth anew", "--json"];
    let answer = recall(RECORDS, &asked);
    assert_eq!(ids(&answer), ["a", "d", "b"], "any evidence fills up to three of a few");
    let mut ten = RECORDS.to_owned();
    for at in 0..6 {
        let _ = writeln!(ten, "{{\"id\": \"e{at}\", \"title\": \"Nothing\", \"age\": 9}}");
    }
    assert_eq!(ids(&recall(&ten, &asked)), ["a"], "among ten a stray word is too little");
    let one = &answer.json()[0];
    assert!(one["score"].as_f64().unwrap() >= 1.0, "{one}");
    assert!(one["why"].as_str().unwrap().contains("passwords"), "{one}");
    assert_eq!(one.as_object().unwrap().len(), 3);
    assert_eq!(recall(RECORDS, &["Something else altogether", "--json"]).json(), json!([]));
}

#[test]
fn all_of_them_are_ranked_where_a_number_is_given() {
    let all = recall(RECORDS, &["Hash passwords", "--json", "--top", "20"]);
    assert_eq!(ids(&all), ["a", "d", "c", "b"], "what shares nothing comes newest first");
    assert_eq!(ids(&recall(RECORDS, &["Hash passwords", "--json", "--top", "2"])), ["a", "d"]);
    let without_age = RECORDS.replace(", \"age\": ", ", \"other\": ");
    assert_eq!(ids(&recall(without_age, &["Hash passwords", "--json", "--top", "20"])), ids(&all));
}

const NONE: &str =
    "None of 4 records has enough to do with the text. `--top 10` shows the nearest.\n";

#[test]
fn people_get_a_table_or_a_sentence() {
    let answer = recall(RECORDS, &["Hash the passwords of src/auth anew"]);
    assert!(answer.out.starts_with("score"), "{answer:?}");
    assert!(answer.out.lines().nth(1).unwrap().contains("a  "), "{answer:?}");
    let none = recall(RECORDS, &["Something else altogether"]);
    assert_eq!((none.code, none.out.as_str()), (Some(0), NONE));
    let off = recall(RECORDS, &["Hash passwords", "--relevance", "off"]);
    assert!(off.out.starts_with("`relevance` is off: "), "{off:?}");
    assert_eq!(recall("", &["Hash passwords"]).out, "There are no records.\n");
}

#[test]
fn other_rules_can_be_asked_for() {
    let seed = recall(RECORDS, &["Hash passwords", "--json", "--relevance", "seed"]);
    assert_eq!(ids(&seed), ["a"]);
    let off = ["Hash passwords", "--json", "--relevance", "off"];
    assert_eq!(recall(RECORDS, &off).json(), json!([]));
    let unknown = recall(RECORDS, &["Hash passwords", "--relevance", "meaning"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.err.contains("words, seed, off"), "{unknown:?}");
}

#[test]
fn without_a_word_on_the_command_line_the_configuration_says_by_what() {
    let bench = Bench::with(&[("sequester.toml", "relevance = \"off\"\n")]);
    fs::write(bench.path("records.jsonl"), RECORDS).unwrap();
    let ask = |more: &[&str]| {
        let given = ["recall", "--records", "../records.jsonl", "Hash passwords", "--json"];
        bench.run(&[&given[..], more].concat())
    };
    assert_eq!(ask(&[]).json(), json!([]));
    assert_eq!(ids(&ask(&["--relevance", "words"])), ["a"]);
    let all = ask(&["--top", "1"]).json();
    assert_eq!(all[0]["why"], "not compared: `relevance` is off");
}

fn refuse(records: impl AsRef<[u8]>, text: &str) -> Value {
    let answer = recall(records, &[text, "--json"]);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    answer.json()["error"].clone()
}

#[test]
fn broken_lines_are_named_by_their_number() {
    for (line, said) in [
        ("{\"id\": \"x\"", "EOF"),
        ("[]", "invalid length"),
        ("{\"title\": \"x\"}", "missing field `id`"),
        ("{\"id\": \"x\", \"paths\": \"a\"}", "invalid type"),
        ("{\"id\": \"x\", \"age\": -1}", "invalid value"),
        ("not json", "expected"),
    ] {
        let error = refuse(format!("{RECORDS}{line}\n{line}\n"), "text");
        assert_eq!(error["code"], "SQ0109", "{error}");
        assert!(error["place"].as_str().unwrap().starts_with("../records.jsonl:6:"), "{error}");
        assert!(error["message"].as_str().unwrap().contains(said), "{error}");
        assert!(error["hint"].as_str().unwrap().contains("1 more fault"), "{error}");
    }
    let error = refuse(b"{\"id\": \"\xff\"}", "text");
    assert_eq!(error["place"].as_str().unwrap().split(':').nth(1), Some("1"), "{error}");
}

#[test]
fn an_id_that_is_there_twice_is_named_with_both_lines() {
    let error = refuse(format!("{RECORDS}{{\"id\": \"b\"}}\n"), "text");
    assert_eq!(error["code"], "SQ0105", "{error}");
    assert_eq!(error["message"], "The record `b` is on line 2 too.");
    assert!(error["place"].as_str().unwrap().starts_with("../records.jsonl:6:"), "{error}");
}

#[test]
fn what_is_missing_empty_or_too_large_is_said() {
    let bench = Bench::with(&FILES);
    let ask = |arguments: &[&str]| {
        let answer = bench.run(&[&["recall", "--json"], arguments].concat());
        assert_eq!(answer.code, Some(2), "{answer:?}");
        answer.json()["error"].clone()
    };
    assert_eq!(
        ask(&["text"])["code"],
        "SQ0301",
        "without a list it is a run's records, and there is none"
    );
    assert_eq!(ask(&["text", "--records", "nowhere.jsonl"])["code"], "SQ0002");
    let folder = ask(&["text", "--records", "src"]);
    assert!(folder["message"].as_str().unwrap().contains("it is a folder"), "{folder}");
    fs::write(bench.path("empty.jsonl"), "").unwrap();
    assert_eq!(ask(&[" ", "--records", "../empty.jsonl"])["code"], "SQ0002");
    let large = fs::File::create(bench.path("large.jsonl")).unwrap();
    large.set_len((64 << 20) + 1).unwrap();
    let error = ask(&["text", "--records", "../large.jsonl"]);
    assert!(error["message"].as_str().unwrap().contains("larger than 64 MB"), "{error}");
    let none = bench.run(&["recall", "text", "--records", "../empty.jsonl", "--json"]);
    assert_eq!((none.code, none.json()), (Some(0), json!([])));
}
