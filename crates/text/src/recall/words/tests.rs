//! The words of texts.

use super::*;

fn found(text: &str) -> Vec<(String, u32)> {
    let mut found = Vec::new();
    words(text, |word| found.push((word.text.to_owned(), word.count)));
    found
}

fn only(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    words(text, |word| found.extend((word.count == WORD).then(|| word.text.to_owned())));
    found
}

#[test]
fn names_are_split_where_people_see_words_and_kept_whole() {
    for name in ["parse_url", "parseUrl", "ParseURL", "PARSE_URLs"] {
        assert_eq!(only(name), ["pars", "url", "parsurl"], "{name}");
    }
    assert_eq!(
        only("HTTPServer2Go __init__ x"),
        ["http", "server2", "go", "httpserver2go", "init"]
    );
}

#[test]
fn forms_of_a_word_meet() {
    for forms in [
        vec!["cache", "caches", "cached", "caching"],
        vec!["cookie", "cookies", "cooky"],
        vec!["query", "queries"],
        vec!["stop", "stops", "stopped", "stopping"],
        vec!["pass", "passes", "passed", "passing"],
        vec!["test", "tests", "tested", "testing"],
    ] {
        let stems: Vec<String> = forms.iter().map(|form| stem((*form).to_owned())).collect();
        assert!(stems.iter().all(|one| *one == stems[0]), "{stems:?}");
    }
    for word in ["status", "this", "string", "need", "ring", "éclairs", "sha256s"] {
        assert_eq!(stem(word.to_owned()), word);
    }
}

#[test]
fn words_beside_each_other_are_a_pair_unless_one_says_nothing() {
    let words = |words: &[(&str, u32)]| -> Vec<(String, u32)> {
        words.iter().map(|(word, count)| ((*word).to_owned(), *count)).collect()
    };
    for text in ["thread safe", "thread-safe", "Threads::safe", "thread/\u{73}afe"] {
        let expected = words(&[("thread", WORD), ("safe", WORD), ("threadsaf", PAIR)]);
        assert_eq!(found(text), expected, "{text}");
    }
    assert_eq!(found("threadsafe"), words(&[("threadsaf", WORD)]));
    for text in ["red, blue", "red and blue", "red  blue"] {
        assert_eq!(found(text), words(&[("red", WORD), ("blue", WORD)]), "{text}");
    }
    assert_eq!(found("the"), []);
}

#[test]
fn scripts_without_spaces_have_pairs_of_characters() {
    assert_eq!(only("数据库连接"), ["数据", "据库", "库连", "连接"]);
    assert_eq!(only("用API"), ["用", "api"]);
    assert_eq!(only("База данных"), ["база", "данных"]);
    assert_eq!(only("قاعدة البيانات"), ["قاعدة", "البيانات"]);
}

#[test]
fn a_prefix_names_a_part_of_the_code_unless_it_names_the_kind_of_change() {
    for (title, expected) in [
        ("url: parse more", Some(":url")),
        ("fix(css): keep order", Some(":css")),
        ("feat(css)!: keep order", Some(":css")),
        ("lib/http2.c: split", Some(":lib/http2.c")),
        ("fix: keep order", None),
        ("What is done: everything", None),
        ("no prefix", None),
        (": empty", None),
    ] {
        assert_eq!(scope(title).as_deref(), expected, "{title}");
    }
}

#[test]
fn long_runs_and_what_lies_past_the_bound_are_data() {
    assert_eq!(only(&"a".repeat(LONGEST + 1)), [""; 0]);
    let long = "é ".repeat(MOST_BYTES) + "last";
    assert!(!only(&long).contains(&"last".to_owned()));
}
