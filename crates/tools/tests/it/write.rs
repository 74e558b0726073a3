use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::json;

use crate::bench::{bench, failure, output, refusal, token};

#[test]
fn a_new_file_is_written_with_its_folders() {
    let bench = bench();
    let returned = bench.call("Write", json!({"file_path": "a/b/c.txt", "content": "one\ntwo"}));
    assert_eq!(returned.outcome.text(), "Created `a/b/c.txt`: 7 bytes, 2 lines.");
    assert_eq!(bench.text("a/b/c.txt"), "one\ntwo");
    let digest = blake3::hash(b"one\ntwo").to_hex().to_string();
    assert_eq!(returned.seen, BTreeMap::from([("a/b/c.txt".to_owned(), digest)]));
    assert_eq!(std::fs::read_dir(bench.path("a/b")).unwrap().count(), 1, "no draft is left");
}

#[test]
fn a_file_that_exists_must_have_been_seen_as_it_is() {
    let bench = bench();
    bench.put("a", "old");
    let arguments = json!({"file_path": "a", "content": "new"});
    let told = bench.failure("Write", arguments.clone());
    assert_eq!(told, "`a` exists and you have not read it. Read it first.");
    let mut stale = crate::bench::invocation("Write", arguments.clone());
    stale.seen.insert("a".into(), "0".repeat(64));
    let told = failure(bench.workbench.call(&stale));
    assert_eq!(told, "`a` changed since you read it. Read it again.");
    assert_eq!(bench.text("a"), "old");
    let told = output(bench.call_seen("Write", arguments, &["a"]));
    assert_eq!(told, "Replaced `a`: 3 bytes, 1 line.");
    assert_eq!(bench.text("a"), "new");
}

#[test]
fn a_replaced_file_keeps_its_mode_and_a_link_stays_a_link() {
    let bench = bench();
    bench.put("run.sh", "old");
    std::fs::set_permissions(bench.path("run.sh"), PermissionsExt::from_mode(0o755)).unwrap();
    symlink("run.sh", bench.path("link")).unwrap();
    output(bench.call_seen("Write", json!({"file_path": "link", "content": "new"}), &["run.sh"]));
    assert_eq!(bench.text("run.sh"), "new");
    let mode = std::fs::metadata(bench.path("run.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
    assert!(bench.path("link").is_symlink());
}

#[test]
fn a_replaced_file_keeps_its_line_ends_and_mark_and_says_so() {
    let bench = bench();
    bench.put("a", "\u{feff}one\r\ntwo\r\n");
    let arguments = json!({"file_path": "a", "content": "1\n2\n3\n"});
    let returned = bench.call_seen("Write", arguments, &["a"]);
    assert_eq!(
        returned.outcome.text(),
        "Replaced `a`: 12 bytes, 3 lines. It keeps its CRLF line ends and its byte order mark, which `Read` does not show."
    );
    assert_eq!(bench.text("a"), "\u{feff}1\r\n2\r\n3\r\n");
    let digest = blake3::hash(bench.text("a").as_bytes()).to_hex().to_string();
    assert_eq!(returned.seen.get("a"), Some(&digest), "what is there now is known");
}

#[test]
fn the_bits_that_lend_rights_do_not_stay() {
    let bench = bench();
    bench.put("run", "old");
    std::fs::set_permissions(bench.path("run"), PermissionsExt::from_mode(0o6755)).unwrap();
    output(bench.call_seen("Write", json!({"file_path": "run", "content": "new"}), &["run"]));
    let mode = std::fs::metadata(bench.path("run")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o755);
}

#[test]
fn a_folder_that_becomes_a_link_outwards_is_not_written_through() {
    let bench = bench();
    let outside = tempfile::tempdir().unwrap();
    symlink(outside.path(), bench.path("out")).unwrap();
    bench.put("real/a", "x");
    symlink("../out/new", bench.path("real/link")).unwrap();
    for path in ["out/a", "real/link", "real/../out/a"] {
        let told = refusal(bench.call("Write", json!({"file_path": path, "content": "x"})));
        assert!(told.contains("leads out of the workspace"), "{told}");
    }
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn folders_secret_names_and_git_itself_are_not_written() {
    let bench = bench();
    bench.put("folder/a", "").put(".git/HEAD", "ref");
    let write = |path| bench.call("Write", json!({"file_path": path, "content": "x"}));
    assert!(failure(write("folder")).contains("is a folder"));
    assert!(failure(write("folder/a/b")).contains("beneath something that is no folder"));
    assert!(refusal(write(".env")).contains("secret file by its name"));
    assert!(refusal(write(".git/hooks/pre-commit")).contains("Nothing in `.git`"));
}

#[test]
fn marks_are_not_written_over_secrets() {
    let bench = bench();
    bench.put("config", format!("token = \"{}\"\nport = 1\n", token()));
    let content = "token = \"[redacted: github-token]\"\nport = 2\n";
    let told = refusal(bench.call_seen(
        "Write",
        json!({"file_path": "config", "content": content}),
        &["config"],
    ));
    assert!(told.contains("holds secrets"), "{told}");
    assert!(bench.text("config").contains(&token()));
    output(bench.call("Write", json!({"file_path": "notes", "content": content})));
}
