use sequester_core::cache::Forgetful;
use sequester_core::limits::Limits;
use sequester_core::ranker::Ranker;
use sequester_survey::Index;

use crate::memory::{Memory, Past, open, paths, ranking};

const FILES: [(&str, &str); 7] = [
    ("lib/cookie.c", "int cookie_add(jar *j)\n{\n  return parse_url(j);\n}\n"),
    ("lib/url.c", "int parse_url(char *u)\n{\n  return 0;\n}\n"),
    ("lib/jar.c", "/* cookie jar: cookie cookie */\n"),
    ("lib/many.c", "parse_url(a); parse_url(b); parse_url(c); parse_url(d);\n"),
    ("tests/cookie_test.c", "cookie_add(1);\n"),
    ("docs/cookie.md", "A cookie is kept in the cookie jar.\n"),
    ("logo.png", "\0cookie"),
];

fn index() -> Index {
    open(&Memory::new(FILES), &Forgetful)
}

#[test]
fn a_named_path_is_first() {
    for text in [
        "The cookie jar forgets cookies, see lib/many.c.",
        "cookie: the jar forgets\n\nIn `many.c` the cookie is lost.",
        "cookie cookie cookie ./lib/many.c:12",
    ] {
        let ranked = index().rank(text, 3);
        assert_eq!(ranked[0].path.as_str(), "lib/many.c", "{text}");
        assert!(ranked[0].why.starts_with("named in the text"), "{}", ranked[0].why);
    }
}

#[test]
fn a_path_named_in_full_is_before_others_of_its_file_name() {
    let memory = Memory::new([
        ("src/a/mod.rs", "alpha alpha alpha handle handle\n"),
        ("src/b/mod.rs", "nothing\n"),
        ("src/c/mod.rs", "handle alpha\n"),
    ]);
    let text = "In src/b/mod.rs handle alpha, like the other mod.rs";
    let ranked = open(&memory, &Forgetful).rank(text, 3);
    assert_eq!(ranked[0].path.as_str(), "src/b/mod.rs");
    assert!(ranked[0].score > ranked[1].score, "{ranked:?}");
}

#[test]
fn a_file_that_defines_a_named_symbol_is_before_those_that_use_it() {
    let ranked = index().rank("Let `parse_url` refuse spaces.", 3);
    assert_eq!(ranked[0].path.as_str(), "lib/url.c");
    assert!(ranked[0].why.contains("defines `parse_url`"), "{}", ranked[0].why);
}

#[test]
fn a_test_file_counts_half() {
    let text = "cookie_add twice\n";
    let memory = Memory::new([("a/x.c", text), ("tests/x.c", text), ("z/other.c", "nothing\n")]);
    let ranked = open(&memory, &Forgetful).rank("twice", 5);
    assert_eq!(paths(&ranked), ["a/x.c", "tests/x.c"]);
    assert!((ranked[0].score - 2.0 * ranked[1].score).abs() < 1e-6, "{ranked:?}");
}

#[test]
fn a_prefix_names_a_module() {
    let body = "shared words of both files\n";
    let memory = Memory::new([("src/mailer.rs", body), ("src/dock.rs", body)]);
    assert_eq!(ranking(&open(&memory, &Forgetful), "mailer: shared words")[0], "src/mailer.rs");
}

#[test]
fn similar_commits_vote_for_their_files() {
    let memory = Memory::new([("a.rs", "alpha\n"), ("b.rs", "beta\n"), ("c.rs", "gamma\n")]);
    let past = Past::new(&[
        ("Retry on time-out of the uplink", &["b.rs"]),
        ("Tidy", &["a.rs", "c.rs", "gone.rs"]),
    ]);
    let index = Index::open(&memory, Some(&past), &Forgetful, &Limits::default());
    let ranked = index.rank("The uplink must retry", 5);
    assert_eq!(paths(&ranked), ["b.rs"]);
    assert_eq!(ranked[0].why, "1 similar commit");
}

#[test]
fn files_that_change_together_follow_each_other() {
    let memory = Memory::new([("a.rs", "alpha\n"), ("b.rs", "beta\n"), ("c.rs", "gamma\n")]);
    let past = Past::new(&[("x", &["a.rs", "b.rs"]), ("y", &["a.rs", "b.rs"]), ("z", &["c.rs"])]);
    let index = Index::open(&memory, Some(&past), &Forgetful, &Limits::default());
    let ranked = index.rank("alpha", 5);
    assert_eq!(paths(&ranked), ["a.rs", "b.rs"]);
    assert_eq!(ranked[1].why, "changes together with `a.rs`");
}

#[test]
fn equal_files_are_in_the_order_of_their_paths() {
    let memory = Memory::new([
        ("b.rs", "alike\n"),
        ("c.rs", "alike\n"),
        ("a.rs", "alike\n"),
        ("d.rs", "\n"),
    ]);
    assert_eq!(ranking(&open(&memory, &Forgetful), "alike"), ["a.rs", "b.rs", "c.rs"]);
}

#[test]
fn binary_files_and_unrelated_texts_lead_nowhere() {
    let index = index();
    assert!(!ranking(&index, "cookie logo.png").contains(&"logo.png".to_owned()));
    assert_eq!(ranking(&index, "zebra"), [""; 0]);
    assert_eq!(ranking(&index, ""), [""; 0]);
    assert_eq!(index.rank("cookie", 0), []);
    assert_eq!(ranking(&open(&Memory::new([]), &Forgetful), "cookie"), [""; 0]);
}

#[test]
fn a_shorter_answer_is_the_start_of_a_longer_one() {
    let index = index();
    let all = index.rank("cookie jar parse_url", 50);
    for top in 0..all.len() {
        assert_eq!(index.rank("cookie jar parse_url", top), all[..top]);
    }
}

#[test]
fn hostile_text_is_ranked_without_harm() {
    let index = index();
    let texts =
        ["(".repeat(1 << 20), "a_".repeat(1 << 19), "é:".repeat(1 << 19), "x1 ".repeat(1 << 18)];
    for text in &texts {
        index.rank(text, 10);
        open(&Memory::new([("a.c", text.as_str())]), &Forgetful);
    }
}
