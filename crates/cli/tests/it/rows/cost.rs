//! What a run costs, told in parts that add up.

use sequester_testkit::model::{Request, Turn};
use serde_json::{Value, json};

use super::{A, Row, content, deliver, one, role};

fn play(request: &Request) -> Turn {
    match role(request) {
        "writer" => deliver(request, "a.txt", "right\n"),
        _ => Turn::report(content(request)),
    }
}

fn sum(rows: &Value, key: &str) -> u64 {
    rows.as_array().unwrap().iter().filter_map(|row| row.pointer(key)?.as_u64()).sum()
}

#[test]
fn attempts_and_phases_add_up_to_the_task_and_the_run() {
    let row = Row::new(&one("build"), play);
    let ran = row.run(&["--model", A]);
    let run = ran.ended(0, "done");
    let (status, shown) = (row.json(&["status", run]), row.json(&["show", run, "a"]));
    let whole = row.json(&["show", run]);
    let price = status["price"].as_u64().unwrap();
    assert!(price > 0 && status["unpriced"] == 0, "{status}");
    assert_eq!(ran.events.last().unwrap()["price"], price);
    for key in ["/price", "/usage/input", "/usage/output"] {
        let wanted = status.pointer(key).unwrap().as_u64().unwrap();
        assert_eq!(sum(&status["tasks"], key), wanted, "{key}: {status}");
        for (name, parts) in [
            ("attempts", &shown["attempts"]),
            ("phases", &shown["phases"]),
            ("run", &whole["phases"]),
        ] {
            assert_eq!(sum(parts, key), wanted, "{name} {key}: {parts}");
        }
    }
    let phases: Vec<&Value> = shown["phases"].as_array().unwrap().iter().collect();
    assert_eq!([&phases[0]["phase"], &phases[1]["phase"]], ["write", "review"]);
}

#[test]
fn a_price_that_nobody_knows_is_said_and_is_not_nothing() {
    let row = Row::new(&one("build"), play);
    let ran = row.run(&["--model", A, "--model", "reviewer=openai/unheard-of"]);
    let run = ran.ended(0, "done");
    assert_eq!(ran.events.last().unwrap()["price"], Value::Null, "not all of it is known");
    let status = row.json(&["status", run]);
    assert!(status["price"].as_u64() > Some(0) && status["unpriced"] == 1, "{status}");
    let shown = row.json(&["show", run, "a"]);
    let prices = |parts: &Value| -> Vec<bool> {
        parts.as_array().unwrap().iter().map(|part| part["price"].is_u64()).collect()
    };
    assert_eq!(prices(&shown["attempts"]), [true, false], "{shown}");
    assert_eq!(prices(&shown["phases"]), [true, false], "{shown}");
    assert_eq!(shown["phases"][1]["unpriced"], json!(1));
    let text = |arguments: &[&str]| {
        String::from_utf8(row.command(arguments).output().unwrap().stdout).unwrap()
    };
    for (arguments, words) in [
        (&["status", run][..], "and 1 reply at an unknown price"),
        (&["show", run, "a"], "tokens, price unknown"),
        (&["show", run], "price unknown"),
    ] {
        let told = text(arguments);
        assert!(told.contains(words) && !told.contains("$0.00"), "{words} in {told}");
    }
}
