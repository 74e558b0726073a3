use proptest::prelude::*;
use serde_json::json;

use crate::bench::{Bench, bench, failure, output, refusal, token};

fn edit(bench: &Bench, path: &str, old: &str, new: &str) -> sequester_core::tool::Returned {
    let arguments = json!({"file_path": path, "old_string": old, "new_string": new});
    bench.call_seen("Edit", arguments, &[path])
}

#[test]
fn one_exact_span_is_replaced_and_shown() {
    let bench = bench();
    bench.put("a.rs", "1\n2\n3\nfn old() {}\n5\n6\n7\n");
    let returned = edit(&bench, "a.rs", "fn old() {}", "fn new() {\n}");
    assert_eq!(bench.text("a.rs"), "1\n2\n3\nfn new() {\n}\n5\n6\n7\n");
    let digest = blake3::hash(bench.text("a.rs").as_bytes()).to_hex().to_string();
    assert_eq!(returned.seen.get("a.rs"), Some(&digest));
    assert_eq!(
        returned.outcome.text(),
        "Edited `a.rs`: 1 replacement.\n     2\t2\n     3\t3\n     4\tfn new() {\n     5\t}\n     6\t5\n     7\t6\n"
    );
}

#[test]
fn the_file_must_have_been_seen_as_it_is() {
    let bench = bench();
    bench.put("a", "x");
    let arguments = json!({"file_path": "a", "old_string": "x", "new_string": "y"});
    assert!(bench.failure("Edit", arguments.clone()).contains("Read it first"));
    let mut stale = crate::bench::invocation("Edit", arguments);
    stale.seen.insert("a".into(), blake3::hash(b"w").to_hex().to_string());
    assert!(failure(bench.workbench.call(&stale)).contains("changed since you read it"));
    assert!(
        bench
            .failure("Edit", json!({"file_path": "b", "old_string": "x", "new_string": "y"}))
            .contains("does not exist")
    );
}

#[test]
fn several_matches_are_counted_or_all_replaced() {
    let bench = bench();
    bench.put("a", format!("x\n{}x\nx\n", "-\n".repeat(20)));
    let told = failure(edit(&bench, "a", "x", "y"));
    assert!(told.starts_with("`old_string` is 3 times in `a`, at lines 1, 22, 23."), "{told}");
    let arguments =
        json!({"file_path": "a", "old_string": "x", "new_string": "y", "replace_all": true});
    let told = output(bench.call_seen("Edit", arguments, &["a"]));
    assert_eq!(bench.text("a"), format!("y\n{}y\ny\n", "-\n".repeat(20)));
    assert!(
        told.starts_with(
            "Edited `a`: 3 replacements.\n     1\ty\n     2\t-\n     3\t-\n   ...\n    20\t-\n"
        ),
        "{told}"
    );
}

#[test]
fn what_cannot_be_meant_fails() {
    let bench = bench();
    bench.put("a", "x");
    assert!(failure(edit(&bench, "a", "x", "x")).contains("are the same"));
    assert!(failure(edit(&bench, "a", "", "x")).contains("is empty"));
}

#[test]
fn a_miss_names_the_nearest_lines() {
    let bench = bench();
    bench.put("a", "fn a() {\n    let x = 1;\n    go(x);\n}\n");
    let miss = |old| failure(edit(&bench, "a", old, "?"));
    assert_eq!(
        miss("fn a() {\n  let x = 1;"),
        "`old_string` is not in `a`. Lines 1 to 2 differ from it by white space only:\n     1\tfn a() {\n     2\t    let x = 1;\n"
    );
    assert_eq!(
        miss("    let x = 1;\n    stop(x);\n"),
        "`old_string` is not in `a`. It is like line 2 and on, but line 3 is `    go(x);`, not `    stop(x);`."
    );
    assert!(miss("    go(x);\n}\nmore\n").ends_with("but the file ends there."));
    assert!(miss("nowhere").contains("No line of the file is like `nowhere`."));
    assert!(miss("     2\t    let x = 1;").contains("leave them out"));
    assert!(miss("{{\n").ends_with("Read the file again."));
}

#[test]
fn a_miss_in_a_hostile_file_is_told_in_good_time() {
    let bench = bench();
    bench.put("a", "a\n".repeat(500_000)).put("b", "\n".repeat(8 << 20));
    for path in ["a", "b"] {
        failure(edit(&bench, path, &format!("{}b", "a\n".repeat(400_000)), "?"));
    }
}

#[test]
fn line_ends_and_byte_order_mark_stay() {
    let bench = bench();
    bench.put("a", "\u{feff}one\r\ntwo\r\nthree\r\n");
    output(edit(&bench, "a", "one\ntwo", "1\n2\n2b"));
    assert_eq!(bench.text("a"), "\u{feff}1\r\n2\r\n2b\r\nthree\r\n");
    bench.put("mixed", "one\r\ntwo\nthree\n");
    output(edit(&bench, "mixed", "two\nthree", "2\n3"));
    output(edit(&bench, "mixed", "one\n2", "1\n2"));
    assert_eq!(bench.text("mixed"), "1\r\n2\n3\n");
    output(edit(&bench, "mixed", "1\n2\n3", "x\ny"));
    assert_eq!(bench.text("mixed"), "x\r\ny\n", "a text may span both");
    bench.put("latin", b"caf\xe9 = 1\n");
    output(edit(&bench, "latin", "= 1", "= 2"));
    assert_eq!(std::fs::read(bench.path("latin")).unwrap(), b"caf\xe9 = 2\n");
}

#[test]
fn a_replacement_does_not_grow_beyond_what_can_be_read() {
    let bench = bench();
    let replace = |length: usize, new: &str| {
        bench.put("a", "a".repeat(length));
        let arguments =
            json!({"file_path": "a", "old_string": "a", "new_string": new, "replace_all": true});
        let told = failure(bench.call_seen("Edit", arguments, &["a"]));
        assert_eq!(bench.text("a").len(), length);
        told
    };
    let told = replace(1 << 16, &"b".repeat(1 << 10));
    assert_eq!(told, "`a` would have 67108864 bytes, and at most 16777216 are written.");
    let told = replace(1 << 20, "b");
    assert!(told.starts_with("`old_string` is more than 100000 times in `a`."), "{told}");
}

#[test]
fn a_redacted_span_is_not_edited() {
    let bench = bench();
    let text = format!("name = 1\ntoken = \"{}\"\n", token());
    bench.put("config", &text);
    let shown = bench.output("Read", json!({"file_path": "config"}));
    let line = shown.lines().nth(1).unwrap().split_once('\t').unwrap().1;
    let whole_line = text.lines().nth(1).unwrap();
    for old in [line, whole_line, &token()[4..12]] {
        let told = refusal(edit(&bench, "config", old, "?"));
        assert!(told.starts_with("Edit on a redacted span is refused"), "{told}");
    }
    let told = output(edit(&bench, "config", "name = 1", "name = 2"));
    assert!(!told.contains(&token()), "{told}");
    assert_eq!(bench.text("config"), text.replace("= 1", "= 2"));
}

#[test]
fn words_like_a_mark_that_really_stand_in_the_file_can_be_edited() {
    let bench = bench();
    bench.put("doc", "It shows `[redacted: x]` there.\n");
    output(edit(&bench, "doc", "`[redacted: x]` there", "a mark"));
    assert_eq!(bench.text("doc"), "It shows a mark.\n");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn an_edit_equals_the_operation_on_strings(
        text in "([a-zäß \\t]{0,12}\n){1,12}[a-z]{1,6}",
        new in "[A-Z\n]{0,8}",
        ends in any::<(prop::sample::Index, prop::sample::Index)>(),
    ) {
        let mut at: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        at.dedup();
        let (a, b) = (at[ends.0.index(at.len())], at[ends.1.index(at.len())]);
        let old = &text[a.min(b)..a.max(b)];
        prop_assume!(!old.is_empty() && old != new);
        let bench = bench();
        bench.put("a", &text);
        let places = at.iter().filter(|&&at| text[at..].starts_with(old)).count();
        if places == 1 {
            output(edit(&bench, "a", old, &new));
            prop_assert_eq!(bench.text("a"), text.replacen(old, &new, 1));
        } else {
            failure(edit(&bench, "a", old, &new));
            prop_assert_eq!(bench.text("a"), text);
        }
    }
}
