use std::os::unix::fs::symlink;

use serde_json::json;

use crate::bench::{Bench, bench};

fn project() -> Bench {
    let bench = bench();
    for path in [
        "a.rs",
        "src/b.rs",
        "src/deep/c.rs",
        "src/d.ts",
        "src.rs",
        ".github/e.rs",
        "target/f.rs",
        ".git/g.rs",
    ] {
        bench.put(path, "");
    }
    bench.put(".gitignore", "target\n");
    bench
}

#[test]
fn files_come_in_the_order_of_their_paths() {
    let bench = project();
    let glob = |pattern| bench.output("Glob", json!({"pattern": pattern}));
    assert_eq!(glob("**/*.rs"), ".github/e.rs\na.rs\nsrc/b.rs\nsrc/deep/c.rs\nsrc.rs\n");
    assert_eq!(glob("*.ts"), "src/d.ts\n", "a name is looked for in every folder");
    assert_eq!(glob("./src/*.{rs,ts}"), "src/b.rs\nsrc/d.ts\n");
    assert_eq!(glob("*.py"), "No file in `.` fits `*.py`.\n");
}

#[test]
fn a_pattern_is_relative_to_the_path() {
    let bench = project();
    let glob = |pattern, path| bench.output("Glob", json!({"pattern": pattern, "path": path}));
    assert_eq!(glob("deep/*", "src"), "src/deep/c.rs\n");
    assert_eq!(glob("*.rs", "src"), "src/b.rs\nsrc/deep/c.rs\n");
    assert_eq!(glob("*", "target"), "target/f.rs\n", "asked for by name");
}

#[test]
fn what_leads_out_is_refused_and_what_is_no_glob_fails() {
    let bench = project();
    for pattern in ["../*", "/etc/*", "a/../../*"] {
        assert!(
            bench.refusal("Glob", json!({"pattern": pattern})).contains("leads out"),
            "{pattern}"
        );
    }
    assert!(bench.refusal("Glob", json!({"pattern": "*", "path": "/etc"})).contains("leads out"));
    assert!(bench.failure("Glob", json!({"pattern": "[a"})).contains("unclosed character class"));
    assert!(
        bench.failure("Glob", json!({"pattern": "*", "path": "none"})).contains("does not exist")
    );
}

#[test]
fn links_are_not_followed_and_secret_names_not_shown() {
    let bench = bench();
    bench.put("a/x", "").put("a/id_rsa", "");
    symlink(bench.path("a"), bench.path("b")).unwrap();
    symlink(".", bench.path("loop")).unwrap();
    assert_eq!(
        bench.output("Glob", json!({"pattern": "**"})),
        "a/x\n[1 file left out: a secret by its name.]\n"
    );
}

#[test]
fn many_files_are_cut_and_said() {
    let bench = bench();
    for number in 0..1_200 {
        bench.put(&format!("{number:04}"), "");
    }
    let text = bench.output("Glob", json!({"pattern": "*"}));
    assert_eq!(text.lines().count(), 1_001);
    assert!(text.ends_with("[Only the first 1000 files are shown. Narrow the pattern.]\n"));
}

#[test]
fn a_pattern_that_explodes_costs_no_more_than_others() {
    let bench = project();
    bench.put(&format!("{}b", "a/".repeat(100)), "").put(&format!("{}.rs", "a".repeat(200)), "");
    for pattern in ["**/".repeat(300) + "x", "{a,b}".repeat(180) + "x", "*a".repeat(450) + "x"] {
        assert!(bench.output("Glob", json!({"pattern": pattern})).starts_with("No file in `.`"));
    }
    for braces in [100, 240, 400] {
        let pattern = format!("{}a{}", "{".repeat(braces), "}".repeat(braces));
        // Whether so many are understood does not matter; that nothing breaks does.
        let told = bench.call("Glob", json!({"pattern": pattern})).outcome;
        assert!(!told.text().is_empty());
    }
    let told = bench.failure("Glob", json!({"pattern": "*".repeat(1_001)}));
    assert_eq!(told, "The pattern has 1001 bytes; 1000 are the most.");
}
