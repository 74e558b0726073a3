//! Protected names that a writer may change, because somebody who may says so.

use serde_json::json;

use crate::command::{Answer, Bench};

const USERS: &str = "../home/.config/sequester/config.toml";
const GRANT: &str = "[protected]\ngrant = [\".github/workflows\"]\n";
const CREATE: &str = "Create `.github/workflows/ci.yml`:\n\n```yaml\non: push\n```\n";

fn bench() -> Bench {
    Bench::with(&[
        ("a.txt", "a\n"),
        (".github/workflows/old.yml", "on: pull_request\n"),
        (".github/actions/one/action.yml", "name: one\n"),
    ])
}

fn task(bench: &Bench, text: &str, more: &[&str]) -> Answer {
    let mut arguments = vec!["task", text, "--agent", "writer", "--model", "literal", "--json"];
    arguments.extend(more);
    bench.run(&arguments)
}

/// What was changed, and what was not taken over.
fn paths(answer: &Answer) -> [Vec<String>; 2] {
    let report = answer.json();
    ["files_changed", "refused"].map(|key| {
        let rows = report["evidence"][key].as_array().unwrap_or_else(|| panic!("{answer:?}"));
        rows.iter().map(|row| row["path"].as_str().unwrap().to_owned()).collect()
    })
}

fn assert_made(answer: &Answer) {
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert_eq!(paths(answer), [vec![".github/workflows/ci.yml".to_owned()], vec![]]);
    let patch = answer.json()["evidence"]["patch"].as_str().unwrap().to_owned();
    assert!(
        patch.contains("+++ b/.github/workflows/ci.yml\n@@ -0,0 +1 @@\n+on: push\n"),
        "{patch}"
    );
}

#[test]
fn what_the_persons_own_configuration_grants_is_part_of_the_change() {
    let bench = bench();
    let without = task(&bench, CREATE, &[]);
    assert_eq!(without.code, Some(1), "{without:?}");
    assert!(without.out.contains("`.github/workflows` is protected"), "{without:?}");
    bench.write(USERS, GRANT);
    assert_made(&task(&bench, CREATE, &[]));
    let script = "Run: `echo x >> .github/workflows/old.yml; echo x > .github/actions/one/b; echo x > .mcp.json; echo x > .github/workflows/.env; true`\n";
    let [changed, refused] = paths(&task(&bench, script, &[]));
    assert_eq!(changed, [".github/workflows/old.yml"]);
    assert_eq!(refused, [".github/workflows/.env", ".mcp.json"]);
}

#[test]
fn a_repository_grants_nothing_before_it_is_accepted() {
    let bench = bench();
    bench.write("sequester.toml", GRANT);
    let doubted = task(&bench, CREATE, &[]);
    assert_eq!(doubted.code, Some(5), "{doubted:?}");
    let error = doubted.json()["error"].clone();
    assert_eq!((&error["code"], &error["place"]), (&json!("SQ0256"), &json!("sequester.toml:1:2")));
    let shown = bench.run(&["trust", "--json"]).json();
    assert_eq!(shown["files"][0]["grants"]["protected"], json!([".github/workflows"]), "{shown}");
    assert_eq!(bench.run(&["trust", "--yes"]).code, Some(0));
    assert_made(&task(&bench, CREATE, &[]));
    bench.write("sequester.toml", format!("{GRANT}\n"));
    assert_eq!(task(&bench, CREATE, &[]).code, Some(5));
}

#[test]
fn some_names_are_granted_to_nobody() {
    let bench = bench();
    for name in [".git", ".git/hooks", ".hg", ".sequester", "sequester.toml"] {
        bench.write(USERS, format!("[protected]\ngrant = [\"Jenkinsfile\", \"{name}\"]\n"));
        let answer = task(&bench, CREATE, &[]);
        assert_eq!(answer.code, Some(2), "{name}: {answer:?}");
        let error = answer.json()["error"].clone();
        assert_eq!(error["code"], json!("SQ0255"), "{error}");
        assert!(error["place"].as_str().unwrap().ends_with("config.toml:2:25"), "{error}");
        assert!(error["message"].as_str().unwrap().contains("granted to nobody"), "{error}");
        assert_eq!(error["hint"], json!("Take it out, and change it by yourself."), "{error}");
    }
    bench.write(USERS, "[protected]\ngrant = [\"src\"]\n");
    let answer = task(&bench, CREATE, &[]);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    assert!(answer.out.contains("no protected name") && answer.out.contains(".github/workflows"));
    // Nobody becomes able to by being accepted.
    std::fs::remove_file(bench.repo().join(USERS)).unwrap();
    bench.write("sequester.toml", "[protected]\ngrant = [\".git\"]\n");
    assert_eq!(task(&bench, CREATE, &[]).code, Some(5));
    assert_eq!(bench.run(&["trust", "--yes"]).code, Some(2));
    assert_eq!(task(&bench, CREATE, &[]).code, Some(5));
}

#[test]
fn a_file_of_a_build_service_that_is_named_may_be_changed_and_no_other() {
    let bench = bench();
    bench.write(".vscode/settings.json", "{}\n");
    bench.commit("with settings");
    let script = "Run: `for path in .github/workflows/old.yml .github/workflows/new.yml; do echo x >> $path; done; true`\n";
    let [changed, refused] = paths(&task(&bench, script, &["--file", ".github/workflows/old.yml"]));
    assert_eq!(changed, [".github/workflows/old.yml"]);
    assert_eq!(refused, [".github/workflows/new.yml"]);
    let script = "Run: `echo x >> .vscode/settings.json`\n";
    let answer = task(&bench, script, &["--file", ".vscode/settings.json"]);
    assert_eq!(answer.code, Some(1), "{answer:?}");
    assert_eq!(paths(&answer), [Vec::<String>::new(), vec![]]);
}

#[test]
fn a_writer_on_a_folder_of_the_persons_own_has_the_grants_too() {
    let bench = bench();
    let write = |path: &str| {
        let script = format!("echo x > {path}");
        bench.run(&["sandbox", "--profile", "writer", "--", "/bin/sh", "-c", &script]).code
    };
    assert_ne!(write(".github/workflows/new.yml"), Some(0));
    bench.write(USERS, GRANT);
    assert_eq!(write(".github/workflows/new.yml"), Some(0));
    assert_ne!(write(".github/actions/new.yml"), Some(0));
    assert!(bench.repo().join(".github/workflows/new.yml").exists());
}

#[test]
fn a_grant_opens_nothing_beside_it_where_the_folder_around_both_is_not_there() {
    let bench = Bench::with(&[("a.txt", "a\n")]);
    bench.write(USERS, GRANT);
    std::fs::create_dir_all(bench.path("victim/actions")).unwrap();
    let run = |script: &str| {
        bench.run(&["sandbox", "--profile", "writer", "--", "/bin/sh", "-c", script])
    };
    let made = run("mkdir -p .github/workflows && echo 'on: push' > .github/workflows/ci.yml");
    assert_eq!(made.code, Some(0), "{made:?}");
    assert!(bench.repo().join(".github/workflows/ci.yml").exists());
    std::fs::remove_dir_all(bench.repo().join(".github")).unwrap();
    let moved =
        run("mv .github x; mkdir -p .github/actions; echo evil > .github/actions/action.yml; true");
    assert!(!bench.repo().join(".github/actions/action.yml").exists(), "{moved:?}");
    let led = run("mv .github x; rmdir .github; ln -s ../victim .github; ls -l .github/; true");
    assert!(bench.path("victim/actions").is_dir(), "{led:?}");
    assert!(!bench.repo().join(".github").is_symlink(), "{led:?}");
}
