use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::process::Command;

use serde_json::json;

use crate::bench::{Bench, bench, key, token};

fn read(bench: &Bench, path: &str) -> String {
    bench.output("Read", json!({"file_path": path}))
}

#[test]
fn lines_come_with_numbers_and_the_digest_of_the_whole_file() {
    let bench = bench();
    bench.put("src/a.rs", "fn a() {}\r\n\n\tb\n");
    let returned = bench.call("Read", json!({"file_path": "src/a.rs"}));
    assert_eq!(returned.outcome.text(), "     1\tfn a() {}\n     2\t\n     3\t\tb\n");
    let digest = blake3::hash(b"fn a() {}\r\n\n\tb\n").to_hex().to_string();
    assert_eq!(returned.seen, BTreeMap::from([("src/a.rs".to_owned(), digest)]));
}

#[test]
fn a_path_may_be_absolute_or_roundabout_beneath_the_root() {
    let bench = bench();
    bench.put("src/a.txt", "x\n");
    let absolute = bench.path("src/a.txt");
    for path in ["./src//a.txt", "src/../src/a.txt", absolute.to_str().unwrap()] {
        let returned = bench.call("Read", json!({"file_path": path}));
        assert_eq!(returned.outcome.text(), "     1\tx\n");
        assert!(returned.seen.contains_key("src/a.txt"), "{path}");
    }
}

#[test]
fn a_range_says_what_it_left_out() {
    let bench = bench();
    bench.put("a", (1..=10).map(|n| format!("l{n}\n")).collect::<Vec<_>>().concat());
    let range = |offset, limit| {
        bench.output("Read", json!({"file_path": "a", "offset": offset, "limit": limit}))
    };
    let told = "     3\tl3\n     4\tl4\n[Lines 3 to 4 of 10. Read on with `offset` 5.]\n";
    assert_eq!(range(3, 2), told);
    assert_eq!(range(10, 5), "    10\tl10\n");
    let past = bench.call("Read", json!({"file_path": "a", "offset": 11}));
    assert_eq!(past.outcome.text(), "`a` has 10 lines; there is no line 11.");
    assert!(past.seen.is_empty());
}

#[test]
fn two_thousand_lines_are_read_unless_asked_for_more() {
    let bench = bench();
    bench.put("a", "\n".repeat(3_000));
    assert!(
        read(&bench, "a").ends_with("[Lines 1 to 2000 of 3000. Read on with `offset` 2001.]\n")
    );
    let all = bench.output("Read", json!({"file_path": "a", "limit": 9_999_999}));
    assert_eq!(all.lines().count(), 3_000);
}

#[test]
fn a_long_file_stops_at_a_line_from_which_one_can_read_on() {
    let bench = bench();
    bench.put("a", (0..2_000).map(|n| format!("{n:099}\n")).collect::<Vec<_>>().concat());
    let (mut next, mut seen) = (1, 0);
    loop {
        let text = bench.output("Read", json!({"file_path": "a", "offset": next}));
        assert!(text.len() <= 32 << 10);
        seen += text.lines().filter(|line| line.contains('\t')).count();
        let Some((_, on)) = text.split_once("`offset` ") else { break };
        next = on.trim_end_matches(".]\n").parse().unwrap();
    }
    assert_eq!(seen, 2_000);
}

#[test]
fn long_lines_are_cut_and_said() {
    let bench = bench();
    bench.put("a", format!("{}\nshort\n", "ü".repeat(2_500)));
    let text = read(&bench, "a");
    assert_eq!(
        text,
        format!("     1\t{} [500 more characters]\n     2\tshort\n", "ü".repeat(2_000))
    );
}

#[test]
fn what_is_no_text_is_refused_with_type_and_size() {
    let bench = bench();
    bench.put("a.png", b"\x89PNG\r\n\x1a\n\0\0").put("a.bin", b"ab\0cd");
    let refusal = |path| bench.refusal("Read", json!({"file_path": path}));
    assert_eq!(refusal("a.png"), "`a.png` is a PNG image of 10 bytes. Only text can be read.");
    assert_eq!(refusal("a.bin"), "`a.bin` is a binary file of 5 bytes. Only text can be read.");
}

#[test]
fn an_empty_file_says_so_and_counts_as_seen() {
    let bench = bench();
    bench.put("a", "");
    let returned = bench.call("Read", json!({"file_path": "a"}));
    assert_eq!(returned.outcome.text(), "`a` is empty.");
    assert_eq!(returned.seen.len(), 1);
}

#[test]
fn bytes_that_are_no_utf8_are_shown_lossy_and_said() {
    let bench = bench();
    bench.put("a", b"caf\xe9\n").put("bom", "\u{feff}x\n");
    assert!(read(&bench, "a").starts_with("     1\tcaf\u{FFFD}\n[The file is not UTF-8"));
    assert_eq!(read(&bench, "bom"), "     1\tx\n");
}

#[test]
fn nothing_outside_the_root_is_read() {
    let bench = bench();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("a"), "secret of others").unwrap();
    symlink(outside.path().join("a"), bench.path("file")).unwrap();
    symlink(outside.path(), bench.path("folder")).unwrap();
    symlink("..", bench.path("up")).unwrap();
    let absolute = outside.path().join("a");
    let paths = [
        "../a",
        "/etc/passwd",
        "a/../../b",
        "~/.profile",
        "file",
        "folder/a",
        "up/a",
        "folder/new/x",
        absolute.to_str().unwrap(),
    ];
    for path in paths {
        for (tool, more) in [("Read", json!({})), ("Write", json!({"content": "x"}))] {
            let mut arguments = more;
            arguments["file_path"] = json!(path);
            let told = bench.refusal(tool, arguments);
            assert!(told.contains("leads out of the workspace"), "{tool} {path}: {told}");
        }
    }
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
    assert!(bench.refusal("Read", json!({"file_path": "a\nb"})).contains("control character"));
    assert!(bench.refusal("Read", json!({"file_path": "a/".repeat(9_000)})).contains("4096"));
}

#[test]
fn a_link_that_stays_inside_is_the_file_that_it_leads_to() {
    let bench = bench();
    bench.put("real/a", "x\n");
    symlink("real", bench.path("folder")).unwrap();
    symlink(bench.path("real/a"), bench.path("absolute")).unwrap();
    for path in ["folder/a", "absolute", "folder/../real/a"] {
        let returned = bench.call("Read", json!({"file_path": path}));
        assert_eq!(returned.outcome.text(), "     1\tx\n", "{path}");
        assert!(returned.seen.contains_key("real/a"), "{path}");
    }
}

#[test]
fn secret_files_are_refused_by_name_also_through_a_link() {
    let bench = bench();
    bench.put(".env", "A=1").put("deploy/id_rsa", "x");
    symlink(".env", bench.path("notes.txt")).unwrap();
    for path in [".env", "deploy/id_rsa", "notes.txt"] {
        let told = bench.refusal("Read", json!({"file_path": path}));
        assert!(told.contains("secret file by its name"), "{told}");
    }
}

#[test]
fn secrets_in_a_file_are_redacted_wherever_a_range_begins() {
    let bench = bench();
    bench.put("config", format!("token = \"{}\"\n{}", token(), key()));
    let text = read(&bench, "config");
    assert!(!text.contains(&token()) && text.contains("[redacted"), "{text}");
    assert!(text.contains("secrets in this file"), "{text}");
    let part = bench.output("Read", json!({"file_path": "config", "offset": 4, "limit": 2}));
    assert!(!part.contains("MIIE"), "{part}");
}

#[test]
fn pipes_sockets_devices_and_folders_fail_with_words_and_never_block() {
    let bench = bench();
    assert!(Command::new("mkfifo").arg(bench.path("pipe")).status().unwrap().success());
    let _socket = UnixListener::bind(bench.path("socket")).unwrap();
    bench.put("folder/a", "");
    let told = |path| bench.failure("Read", json!({"file_path": path}));
    assert_eq!(told("pipe"), "`pipe` is a pipe, not a file.");
    assert_eq!(told("socket"), "`socket` is a socket or device, not a file.");
    assert_eq!(told("folder"), "`folder` is a folder. List its files with `Glob`.");
    assert_eq!(told("."), "`.` is a folder. List its files with `Glob`.");
    assert_eq!(told("none"), "`none` does not exist. Find files with `Glob`.");
    assert_eq!(told("folder/a/b"), "`folder/a/b` is beneath something that is no folder.");
}

#[test]
fn links_in_a_circle_fail_with_words() {
    let bench = bench();
    symlink("loop", bench.path("loop")).unwrap();
    symlink("b", bench.path("a")).unwrap();
    symlink("./a/../a", bench.path("b")).unwrap();
    for path in ["loop", "a", "b/c"] {
        for (tool, more) in [("Read", json!({})), ("Write", json!({"content": "x"}))] {
            let mut arguments = more;
            arguments["file_path"] = json!(path);
            let told = bench.failure(tool, arguments);
            assert_eq!(told, format!("`{path}` leads through more than 40 links, or in a circle."));
        }
    }
}

#[test]
fn a_file_beyond_the_limit_is_not_taken_into_memory() {
    let bench = bench();
    std::fs::File::create(bench.path("a")).unwrap().set_len(1 << 40).unwrap();
    for arguments in [json!({"file_path": "a"}), json!({"file_path": "a", "offset": 9, "limit": 1})]
    {
        assert_eq!(
            bench.failure("Read", arguments),
            "`a` has 1099511627776 bytes, and at most 16777216 are read. Use `Bash`, for example `sed -n`."
        );
    }
}
