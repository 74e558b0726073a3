use std::os::unix::fs::symlink;
use std::process::Command;
use std::time::Duration;

use sequester_tools::Settings;
use serde_json::json;

use crate::bench::{Bench, bench, key, token, with};

fn project() -> Bench {
    let bench = bench();
    bench
        .put(".gitignore", "target/\n*.log\n")
        .put("src/a.rs", "fn alpha() {}\nlet beta = 1;\nfn gamma() {}\n")
        .put("src/b.ts", "const Alpha = 2;\r\n")
        .put("sub/.gitignore", "skipped\n")
        .put("sub/skipped/a", "alpha\n")
        .put("target/x", "alpha\n")
        .put("run.log", "alpha\n")
        .put(".hidden/a", "alpha\n")
        .put(".git/config", "alpha\n");
    bench
}

#[test]
fn files_with_matches_come_sorted_without_what_git_ignores() {
    let bench = project();
    assert_eq!(bench.output("Grep", json!({"pattern": "alpha"})), ".hidden/a\nsrc/a.rs\n");
    assert_eq!(
        bench.output("Grep", json!({"pattern": "alpha", "-i": true})),
        ".hidden/a\nsrc/a.rs\nsrc/b.ts\n"
    );
    assert_eq!(bench.output("Grep", json!({"pattern": "nowhere"})), "No matches.\n");
}

#[test]
fn a_path_narrows_the_search_and_ignore_files_above_it_count() {
    let bench = project();
    let grep = |path| bench.output("Grep", json!({"pattern": "alpha", "path": path}));
    assert_eq!(grep("src"), "src/a.rs\n");
    assert_eq!(grep("src/a.rs"), "src/a.rs\n");
    assert_eq!(grep("sub"), "No matches.\n");
    assert_eq!(grep("target"), "target/x\n", "asked for by name");
    assert_eq!(grep("run.log"), "run.log\n", "asked for by name");
    assert_eq!(
        bench.failure("Grep", json!({"pattern": "a", "path": "none"})),
        "`none` does not exist."
    );
    assert!(bench.refusal("Grep", json!({"pattern": "a", "path": ".."})).contains("leads out"));
}

#[test]
fn content_shows_lines_with_numbers_and_context() {
    let bench = project();
    let content = |more: serde_json::Value| {
        let mut arguments = json!({"pattern": "^fn", "output_mode": "content"});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        bench.output("Grep", arguments)
    };
    assert_eq!(content(json!({})), "src/a.rs:1:fn alpha() {}\nsrc/a.rs:3:fn gamma() {}\n");
    assert_eq!(
        content(json!({"-n": false, "head_limit": 1})),
        "src/a.rs:fn alpha() {}\n[There are more matches; only the first line is shown. Narrow the search.]\n"
    );
    assert_eq!(
        content(json!({"-A": 1})),
        "src/a.rs:1:fn alpha() {}\nsrc/a.rs-2-let beta = 1;\nsrc/a.rs:3:fn gamma() {}\n"
    );
    bench.put("z", "fn z\n\n\n\nfn y\n");
    let with_context = content(json!({"-B": 1, "path": "z"}));
    assert_eq!(with_context, "z:1:fn z\n--\nz-4-\nz:5:fn y\n");
}

#[test]
fn matches_are_counted_per_file() {
    let bench = project();
    bench.put("many", "x\n".repeat(100_000));
    let count = |pattern| bench.output("Grep", json!({"pattern": pattern, "output_mode": "count"}));
    assert_eq!(count("fn"), "src/a.rs:2\n");
    assert_eq!(count("^x$"), "many:100000\n");
}

#[test]
fn globs_choose_files() {
    let bench = project();
    let grep = |glob| bench.output("Grep", json!({"pattern": "(?i)alpha", "glob": glob}));
    assert_eq!(grep("*.rs"), "src/a.rs\n");
    assert_eq!(grep("src/*.{ts,js}"), "src/b.ts\n");
    assert_eq!(grep("!*.rs"), ".hidden/a\nsrc/b.ts\n");
    let told = bench.failure("Grep", json!({"pattern": "a", "glob": "{a"}));
    assert!(told.contains("is no glob"), "{told}");
}

#[test]
fn line_ends_do_not_matter_and_lines_can_be_spanned() {
    let bench = project();
    assert_eq!(bench.output("Grep", json!({"pattern": "2;$"})), "src/b.ts\n");
    let spanning = json!({"pattern": "alpha.*beta", "multiline": true, "output_mode": "content"});
    assert_eq!(
        bench.output("Grep", spanning),
        "src/a.rs:1:fn alpha() {}\nsrc/a.rs:2:let beta = 1;\n"
    );
}

#[test]
fn a_bad_pattern_fails_with_the_engines_own_words() {
    let bench = bench();
    let told = bench.failure("Grep", json!({"pattern": "(a"}));
    assert!(told.contains("unclosed group"), "{told}");
    let told = bench.failure("Grep", json!({"pattern": "a\\nb"}));
    assert!(told.contains("needs `multiline`"), "{told}");
    let told = bench.failure("Grep", json!({"pattern": "(((a{1000}){1000}){1000})"}));
    assert!(told.contains("size"), "{told}");
    let told = bench.failure("Grep", json!({"pattern": "a".repeat(10_001)}));
    assert_eq!(told, "The pattern has 10001 bytes; 10000 are the most. Search for a part of it.");
}

#[test]
fn binary_and_secret_files_links_and_pipes_are_left_out() {
    let bench = bench();
    bench.put("a.bin", b"alpha\0").put(".env", "alpha=1\n").put("real", "alpha\n");
    symlink("real", bench.path("link")).unwrap();
    symlink("/", bench.path("everything")).unwrap();
    assert!(Command::new("mkfifo").arg(bench.path("pipe")).status().unwrap().success());
    std::fs::File::create(bench.path("vast")).unwrap().set_len(1 << 40).unwrap();
    assert_eq!(
        bench.output("Grep", json!({"pattern": "alpha"})),
        "real\n[1 file left out: a secret by its name.]\n[1 file left out: no text but binary, first `a.bin`.]\n\
         [1 file left out: larger than 16777216 bytes, first `vast`.]\n"
    );
    assert!(bench.refusal("Grep", json!({"pattern": "a", "path": ".env"})).contains("secret file"));
}

#[test]
fn lines_inside_a_key_are_redacted() {
    let bench = bench();
    bench.put("a", format!("{}token = \"{}\"\n", key(), token()));
    for pattern in ["MII", "token"] {
        let text = bench.output("Grep", json!({"pattern": pattern, "output_mode": "content"}));
        assert!(!text.contains("MIIE") && !text.contains(&token()), "{text}");
    }
}

#[test]
fn much_is_cut_and_said() {
    let bench = bench();
    bench.put("a", format!("{}\n", "x".repeat(600)));
    for number in 0..1_500 {
        bench.put(&format!("f/{number:04}"), "x\n");
    }
    let text = bench.output("Grep", json!({"pattern": "x"}));
    assert_eq!(text.lines().count(), 1_001);
    let told =
        "[There are more matches; only the first 1000 lines are shown. Narrow the search.]\n";
    assert!(text.ends_with(told), "{text}");
    let text = bench.output("Grep", json!({"pattern": "x", "path": "a", "output_mode": "content"}));
    assert_eq!(text, format!("a:1:{} [100 more characters]\n", "x".repeat(500)));
}

#[test]
fn a_search_that_takes_too_long_stops_and_says_so() {
    let bench = with(Settings { search_time: Duration::ZERO, ..Settings::default() });
    bench.put("a", "x");
    let text = bench.output("Grep", json!({"pattern": "x"}));
    assert_eq!(
        text,
        "No matches.\n[Stopped early: the time was up. Narrow `path` or the pattern.]\n"
    );
    assert_eq!(
        bench.output("Grep", json!({"pattern": "x", "path": "a"})),
        text,
        "within a file too"
    );
}

#[test]
fn a_pattern_that_is_dear_for_each_byte_keeps_the_time_limit_in_one_file() {
    let bench = with(Settings { search_time: Duration::from_millis(100), ..Settings::default() });
    // Where an `a` may have been counts for the next thousands of bytes, so that each costs as many steps: minutes for
    // the whole file, which is one line.
    let mut state = 7_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        if state >> 63 == 0 { 'a' } else { 'b' }
    };
    bench.put("a", (0..8 << 20).map(|_| next()).collect::<String>());
    for multiline in [false, true] {
        let arguments = json!({"pattern": "a[ab]{8000}[^ab]", "multiline": multiline});
        let text = bench.output("Grep", arguments);
        assert!(text.contains("Stopped early: the time was up."), "{text}");
    }
}

#[test]
fn what_cannot_be_read_is_named_with_the_reason() {
    let bench = bench();
    bench.put("real", "alpha\n");
    assert!(Command::new("mkfifo").arg(bench.path("pipe")).status().unwrap().success());
    assert_eq!(
        bench.output("Grep", json!({"pattern": "alpha", "path": "pipe"})),
        "No matches.\n[1 file left out: not readable; `pipe` is a pipe, not a file.]\n"
    );
}
