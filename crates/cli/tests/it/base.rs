//! The base that commands read: HEAD, or the tree as it is.

use std::fs;

use crate::command::{Bench, FILES, PLAN, shop};

#[test]
fn head_is_read_and_uncommitted_changes_are_said() {
    let (bench, plan) = shop();
    bench.write("src/mail.rs", "pub fn dirty() {}\n");
    let clean = bench.run(&["context", &plan, "b"]);
    assert!(clean.out.contains("pub fn send") && !clean.out.contains("pub fn dirty"));
    assert!(clean.err.contains("changes that are not in HEAD"), "{}", clean.err);
    let dirty = bench.run(&["context", &plan, "b", "--include-dirty"]);
    assert!(dirty.out.contains("pub fn dirty") && !dirty.out.contains("pub fn send"));
}

#[test]
fn a_folder_without_git_works_on_what_is_there() {
    let bench = Bench::plain();
    for (path, text) in FILES {
        bench.write(path, text);
    }
    bench.write("plan.md", PLAN);
    let answer = bench.run(&["context", "plan.md", "b"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(answer.out.contains("pub fn send"));
}

#[test]
fn an_empty_repository_has_an_empty_base() {
    let bench = Bench::plain();
    bench.git(&["init", "--quiet"]);
    let plan = "---\nsequester: 1\n---\n# P\n\n## [a] One\n\nWrite a readme.\n";
    fs::write(bench.path("plan.md"), plan).unwrap();
    let answer = bench.run(&["context", "../plan.md", "a"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(answer.out.contains("No files given; ask if you need one."));
}

#[test]
fn the_git_root_is_found_from_a_folder_inside() {
    let (bench, plan) = shop();
    let answer = bench.run_in(&bench.repo().join("src"), &["context", &plan, "b"], &[]);
    assert!(answer.out.contains("pub fn send"), "{answer:?}");
}

#[test]
fn a_link_in_the_repository_is_never_followed() {
    let (bench, _) = shop();
    fs::write(bench.path("outside.txt"), "OUTSIDE-CANARY send mail token\n").unwrap();
    std::os::unix::fs::symlink(bench.path("outside.txt"), bench.repo().join("src/link.rs"))
        .unwrap();
    std::os::unix::fs::symlink(bench.path(""), bench.repo().join("up")).unwrap();
    bench.commit("links");
    let plan = PLAN.replace("modify: [src/mail.rs]", "read: [src/link.rs, up/outside.txt]");
    fs::write(bench.path("plan.md"), plan).unwrap();
    for flags in [&[][..], &["--include-dirty"]] {
        let mut arguments = vec!["plan", "../plan.md", "--json"];
        arguments.extend(flags);
        let answer = bench.run(&arguments);
        assert_eq!(answer.code, Some(0));
        let warnings = answer.json()["warnings"].clone();
        assert_eq!(warnings.as_array().unwrap().len(), 2, "{warnings}");
        assert!(
            warnings.as_array().unwrap().iter().all(|fault| fault["code"] == "SQ0111"),
            "{warnings}"
        );
        arguments = vec!["context", "../plan.md", "c"];
        arguments.extend(flags);
        assert!(!bench.run(&arguments).out.contains("OUTSIDE-CANARY"));
    }
}

#[test]
fn a_tracked_file_is_never_ignored() {
    let bench = Bench::with(&FILES);
    bench.write(".gitignore", "*.gen.rs\nbuild/\n");
    bench.write("src/table.gen.rs", "pub fn table() {}\n");
    bench.write("build/kept.rs", "pub fn table() {}\n");
    bench.write("build/loose.rs", "pub fn table() {}\n");
    bench.git(&["add", "--force", "src/table.gen.rs", "build/kept.rs"]);
    bench.commit("tracked all the same");
    let ranked = bench.run(&["files", "table", "--json", "--include-dirty"]).out;
    assert!(ranked.contains("src/table.gen.rs") && ranked.contains("build/kept.rs"), "{ranked}");
    assert!(!ranked.contains("loose.rs"), "{ranked}");
}

#[test]
fn what_lies_in_a_repository_neither_hangs_nor_leads_out() {
    let (bench, plan) = shop();
    let made = std::process::Command::new("mkfifo").arg(bench.repo().join(".gitignore")).status();
    assert!(made.unwrap().success());
    let answer = bench.run(&["context", &plan, "b", "--include-dirty"]);
    assert!(answer.out.contains("pub fn send"), "{answer:?}");
    fs::remove_file(bench.repo().join(".gitignore")).unwrap();
    fs::write(bench.path("rules"), "*.rs\n").unwrap();
    std::os::unix::fs::symlink(bench.path("rules"), bench.repo().join(".gitignore")).unwrap();
    let answer = bench.run(&["context", &plan, "b", "--include-dirty"]);
    assert!(answer.out.contains("pub fn send"), "{answer:?}");
}

#[test]
fn a_program_of_the_repository_is_never_run() {
    let (bench, plan) = shop();
    let canary = bench.path("ran");
    bench.write(
        "node_modules/.bin/git",
        format!("#!/bin/sh\ntouch '{}'\nexit 1\n", canary.display()),
    );
    let program = bench.repo().join("node_modules/.bin/git");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&program, mode).unwrap();
    let path =
        format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let answer = bench.run_in(&bench.repo(), &["context", &plan, "b"], &[("PATH", &path)]);
    assert!(answer.out.contains("pub fn send"), "{answer:?}");
    assert!(!canary.exists());
}
