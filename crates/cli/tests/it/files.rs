//! `sequester files`.

use crate::command::{Bench, FILES};

#[test]
fn files_come_best_first_with_score_and_reason() {
    let bench = Bench::with(&FILES);
    let ranked = bench.run(&["files", "send a mail", "--json"]).json();
    assert_eq!(ranked[0]["path"], "src/mail.rs", "{ranked}");
    assert!(ranked[0]["score"].as_f64().unwrap() > 0.0);
    assert!(!ranked[0]["why"].as_str().unwrap().is_empty());
    let one = bench.run(&["files", "send a mail", "--json", "--top", "1"]).json();
    assert_eq!(one.as_array().unwrap().len(), 1);
}

#[test]
fn the_answer_is_the_same_with_a_cold_and_a_warm_cache_and_without_one() {
    let bench = Bench::with(&FILES);
    let arguments = ["files", "send a mail", "--json"];
    let cold = bench.run(&arguments).out;
    let warm = bench.run(&arguments).out;
    let none = bench.run_in(&bench.repo(), &arguments, &[("XDG_CACHE_HOME", "/dev/null/x")]).out;
    assert_eq!(cold, warm);
    assert_eq!(cold, none);
}

#[test]
fn the_cache_lies_in_the_users_folder_and_never_in_the_repository() {
    let bench = Bench::with(&FILES);
    let before = bench.listing();
    bench.run(&["files", "send a mail"]);
    assert_eq!(bench.listing(), before);
    assert!(bench.path("home/.cache/sequester").is_dir());
}

#[test]
fn a_text_on_standard_input_is_taken_whole_or_refused() {
    let bench = Bench::with(&FILES);
    let ask = |input: &[u8]| bench.run_with_input(&["files", "-", "--json"], input);
    let most = 1 << 20;
    for (input, message) in [
        (vec![b'x'; most + 1], "larger than 1048576 bytes"),
        (vec![0xff, b'x'], "not UTF-8"),
        ("é".repeat(most).into_bytes(), "larger than 1048576 bytes"),
    ] {
        let error = ask(&input).json()["error"].clone();
        assert_eq!(error["code"], "SQ0002", "{error}");
        assert!(error["message"].as_str().unwrap().contains(message), "{error}");
    }
    let mut whole = b"mail ".repeat(most / 5);
    whole.resize(most, b' ');
    assert_eq!(ask(&whole).code, Some(0));
}
