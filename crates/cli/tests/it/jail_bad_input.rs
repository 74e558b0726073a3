//! Bad input to a jail: what happened, where and what to do; and nothing left behind.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, lchown};
use std::path::PathBuf;

use crate::command::{Answer, Bench};
use crate::guarantees::{Place, mounting};
use crate::machine::{is_root, may_go};

const PROFILES: [&str; 5] = ["read-only", "research", "validate", "writer", "full-access"];

fn run(place: &Place, before: &[String], profile: &str, words: &[&str]) -> Answer {
    let arguments = [&["sandbox", "--profile", profile][..], words].concat();
    place.run(before, &[], &arguments)
}

/// Every part of a message, then that nothing is left: no process, mount, folder or placeholder.
fn assert_told(place: &Place, answer: &Answer, code: i32, parts: &[&str]) {
    assert_eq!(answer.code, Some(code), "{answer:?}");
    for part in parts {
        assert!(answer.err.contains(part), "{part} is missing in {answer:?}");
    }
    assert!(!answer.err.contains("panicked"), "{answer:?}");
    assert_eq!(place.left(), Vec::<PathBuf>::new(), "{answer:?}");
    assert_eq!(processes(place), Vec::<String>::new(), "{answer:?}");
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains(&place.path("").display().to_string()), "{mounts}");
}

/// Of the user, who is nobody else's.
fn processes(place: &Place) -> Vec<String> {
    let Some(user) = place.user else { return Vec::new() };
    let all = fs::read_dir("/proc").unwrap().flatten();
    let own = all.filter(|entry| entry.metadata().is_ok_and(|about| about.uid() == user));
    let names = own.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.parse::<u32>().is_ok()).collect()
}

#[test]
fn a_workspace_that_cannot_be_a_workspace_is_refused_with_the_reason() {
    let place = Place::of_user();
    let make = |name: &str| {
        fs::create_dir_all(place.path(name)).unwrap();
        lchown(place.path(name), place.user, place.user).unwrap();
        place.path(name).display().to_string()
    };
    let dark = make("dark");
    fs::set_permissions(&dark, fs::Permissions::from_mode(0o000)).unwrap();
    let own = make("other/.sequester/runs");
    let file = place.path("file").display().to_string();
    fs::write(&file, "").unwrap();
    let absent = place.path("absent").display().to_string();
    for profile in PROFILES {
        for (workspace, parts) in [
            (dark.as_str(), ["cannot be read: Permission denied", "a folder that you can read"]),
            (absent.as_str(), ["cannot be read: No such file", "a folder that you can read"]),
            (file.as_str(), ["is no folder", "Name a folder, not a file."]),
            (own.as_str(), ["the product's own state", "outside of `.sequester`"]),
            ("/", ["The workspace holds", "Name a folder that does not"]),
            ("/proc/self", ["every jail has of its own", "a folder that holds one project"]),
        ] {
            let answer = run(&place, &[], profile, &["--workspace", workspace, "--", "/bin/true"]);
            assert_told(&place, &answer, 2, &[&["SQ0209", "= help: "][..], &parts].concat());
        }
    }
    fs::set_permissions(dark, fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn a_workspace_that_meets_the_products_own_folders_is_refused() {
    let place = Place::of_user();
    let home = place.path("home");
    for own in [".config", ".config/sequester", ".local/state", ".local/state/sequester/jails/deep"]
    {
        let own = home.join(own);
        fs::create_dir_all(&own).unwrap();
    }
    for folder in [".config", ".config/sequester", ".local", ".local/state/sequester/jails/deep"] {
        let workspace = home.join(folder).display().to_string();
        for profile in PROFILES {
            let answer = run(&place, &[], profile, &["--workspace", &workspace, "--", "/bin/true"]);
            // What stands in the state folder is this test's own.
            assert_eq!(answer.code, Some(2), "{answer:?}");
            assert!(answer.err.contains("the product's own folder"), "{answer:?}");
        }
    }
}

/// One works in a folder of the other's, at the same time.
#[test]
fn a_workspace_inside_another_has_a_jail_of_its_own() {
    let place = Place::of_user();
    let inner = place.path("workspace/inner");
    fs::create_dir(&inner).unwrap();
    lchown(&inner, place.user, place.user).unwrap();
    let outer = place.path("workspace").display().to_string();
    let inner_name = inner.display().to_string();
    std::thread::scope(|scope| {
        // Each waits for what the other writes; the outer one sees the inner one's folder, not the other way round.
        let wait = "for i in $(seq 200); do [ -e inner/made ] && break; sleep 0.05; done; cat inner/made; echo done > told";
        let both = scope.spawn(|| {
            run(&place, &[], "writer", &["--workspace", &outer, "--", "/bin/sh", "-c", wait])
        });
        let within = "echo made > made; cat ../told 2>/dev/null; ls -d ../*";
        let answer = run(
            &place,
            &[],
            "writer",
            &["--workspace", &inner_name, "--", "/bin/sh", "-c", within],
        );
        assert_eq!((answer.code, answer.out.trim()), (Some(0), "../inner"), "{answer:?}");
        let outer = both.join().unwrap();
        assert_eq!((outer.code, outer.out.as_str()), (Some(0), "made\n"), "{outer:?}");
    });
    let names = |folder: &str| -> Vec<String> {
        let entries = fs::read_dir(place.path(folder)).unwrap().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(
        (names("workspace"), names("workspace/inner")),
        (vec!["inner".to_owned(), "told".to_owned()], vec!["made".to_owned()],)
    );
    assert_eq!(fs::read_dir(place.state()).unwrap().count(), 0);
}

#[test]
fn a_command_that_is_not_there_and_one_that_cannot_be_run_are_told_apart() {
    let place = Place::of_user();
    for profile in PROFILES {
        let answer = run(&place, &[], profile, &["--", "no-such-command"]);
        assert_told(
            &place,
            &answer,
            127,
            &["there is no `no-such-command` in the jail", "install it"],
        );
        let answer = run(&place, &[], profile, &["--", "/etc"]);
        assert_told(&place, &answer, 126, &["`/etc` is there and cannot be run", "chmod +x"]);
    }
}

#[test]
fn a_workspace_that_cannot_be_entered_is_not_told_as_a_command_that_cannot_be_run() {
    // Others cannot look into it, and are told so before.
    if !may_go("a workspace that only root sees", (!is_root()).then_some("it takes root")) {
        return;
    }
    let place = Place::new(None);
    fs::set_permissions(place.path("workspace"), fs::Permissions::from_mode(0o000)).unwrap();
    // Others work in a layer over it, which has a mode of its own.
    for profile in ["writer", "full-access"] {
        let answer = run(&place, &[], profile, &["--", "/bin/true"]);
        assert_told(&place, &answer, 126, &["The workspace cannot be entered", "chmod u+rx"]);
    }
}

#[test]
fn what_is_no_host_is_told_with_what_is_one() {
    let place = Place::of_user();
    let answer = run(&place, &[], "research", &["--net", "http://x", "--", "/bin/true"]);
    assert_told(&place, &answer, 2, &["`http://x` is no host.", "Write a name such as"]);
}

/// Takes files away from `/usr/bin`, for what follows alone.
fn without_shells(place: &Place) -> Vec<String> {
    let base = place.path("programs").display().to_string();
    mounting(&format!(
        "mkdir -p {base}/upper {base}/work && for name in sh dash bash; do [ -e {base}/upper/$name ] || mknod {base}/upper/$name c 0 0; done && \
         mount -t overlay none -o lowerdir=/usr/bin,upperdir={base}/upper,workdir={base}/work /usr/bin"
    ))
}

#[test]
fn a_machine_without_a_shell_is_told_as_such() {
    if !may_go("no shell", (!is_root()).then_some("it takes root")) {
        return;
    }
    let place = Place::of_user();
    let before = without_shells(&place);
    for profile in PROFILES {
        let answer = run(&place, &before, profile, &["--", "bash", "-c", "true"]);
        assert_told(&place, &answer, 127, &["there is no `bash` in the jail"]);
        assert_eq!(run(&place, &before, profile, &["--", "/bin/true"]).code, Some(0));
    }
    place.init();
    let text = "Create `made.txt`:\n\n```text\nmade\n```\n\nRun: `cat made.txt`\n";
    let answer =
        place.run(&before, &[], &["task", text, "--agent", "writer", "--model", "literal"]);
    assert_eq!(answer.code, Some(1), "{answer:?}");
    assert!(answer.out.contains("/bin/sh"), "{answer:?}");
}

#[test]
fn a_full_disk_is_told_with_what_to_do() {
    if !may_go("a full disk", (!is_root()).then_some("it takes root")) {
        return;
    }
    let full = |folder: &str, user: u32| {
        mounting(&format!(
            "mkdir -p {folder} && mount -t tmpfs -o size=32k none {folder} && mkdir -p {folder}/sequester/jails && \
             chown -R {user}:{user} {folder} && (yes > {folder}/fill; true) 2>/dev/null"
        ))
    };
    let place = Place::of_user();
    let user = place.user.unwrap();
    let state = full(&place.path("home/.local/state").display().to_string(), user);
    for profile in ["writer", "full-access"] {
        let answer = run(&place, &state, profile, &["--", "/bin/true"]);
        let parts = ["SQ0214", "No space left on device", "Make room on the disk"];
        assert_told(&place, &answer, 1, &parts);
    }
    // Who keeps nothing there needs no room.
    assert_told(&place, &run(&place, &state, "read-only", &["--", "/bin/true"]), 0, &[]);
}

#[test]
fn a_workspace_without_room_for_placeholders_is_left_as_it_was() {
    if !may_go("a full workspace", (!is_root()).then_some("it takes root")) {
        return;
    }
    let place = Place::of_user();
    let (folder, user) = (place.path("workspace").display().to_string(), place.user.unwrap());
    let script = format!(
        "mount -t tmpfs -o nr_inodes=9 none {folder} && chown {user}:{user} {folder} && cd {folder} && \
         {{ \"$@\"; code=$?; ls -A; exit $code; }}"
    );
    let before: Vec<String> =
        ["unshare", "--mount", "--", "/bin/sh", "-c", &script, "sh"].map(str::to_owned).into();
    let answer = run(&place, &before, "writer", &["--", "/bin/true"]);
    let parts = ["SQ0214", "hold the name", "No space left on device", "Make room on the disk"];
    assert_told(&place, &answer, 1, &parts);
    assert_eq!(answer.out, "", "{answer:?}");
}

/// The kernel shows nobody but root what such a program holds.
#[test]
fn what_a_program_holds_that_nobody_may_read_counts_by_what_the_disk_lost() {
    if !may_go("a disk of its own", (!is_root()).then_some("it takes root")) {
        return;
    }
    let place = Place::of_user();
    let (folder, user) = (place.path("workspace").display().to_string(), place.user.unwrap());
    let before = mounting(&format!(
        "mount -t tmpfs -o size=400m none {folder} && chown {user}:{user} {folder} && cd {folder}"
    ));
    // No other program has the files open at the end, or more than one of them before.
    let shut = "3>&- 4>&- 5>&- 6>&- 7>&-";
    let hold = [3, 4, 5, 6, 7].map(|file| {
        format!("exec {file}>{file}; rm {file}; head -c 20M /dev/zero >&{file} {shut};")
    });
    let hold = hold.join(" ");
    let script = format!(
        "cp /bin/sh own && chmod 0111 own && ./own -c '{hold} sleep 3 {shut}; echo held'; rm own"
    );
    let words = ["--limit", "disk=50M", "--", "/bin/sh", "-c", &script];
    let answer = run(&place, &before, "writer", &words);
    assert_told(&place, &answer, 137, &["wrote more to disk", "50 MiB"]);
    assert_eq!(answer.out, "", "{answer:?}");
    let words = ["--limit", "disk=200M", "--", "/bin/sh", "-c", &script];
    let answer = run(&place, &before, "writer", &words);
    assert_eq!((answer.code, answer.out.as_str()), (Some(0), "held\n"), "{answer:?}");
}

#[test]
fn a_state_folder_that_cannot_be_made_is_told_with_its_place() {
    let place = Place::of_user();
    fs::write(place.path("home/.local"), "").unwrap();
    for profile in PROFILES {
        let answer = run(&place, &[], profile, &["--", "/bin/true"]);
        let parts = ["SQ0214", "cannot be made", ".local/state/sequester/jails", "XDG_STATE_HOME"];
        assert_told(&place, &answer, 1, &parts);
    }
}

#[test]
fn a_workspace_that_cannot_be_written_is_told_to_a_writer() {
    let place = Place::of_user();
    fs::set_permissions(place.path("workspace"), fs::Permissions::from_mode(0o555)).unwrap();
    for profile in PROFILES {
        let answer = run(&place, &[], profile, &["--", "/bin/true"]);
        if profile == "writer" || profile == "full-access" {
            let parts = ["SQ0209", "You cannot write", "Name a folder that you can write"];
            assert_told(&place, &answer, 2, &parts);
        } else {
            assert_told(&place, &answer, 0, &[]);
        }
    }
}

#[test]
fn a_folder_of_the_workspace_that_cannot_be_written_is_named_to_a_writer() {
    let place = Place::of_user();
    let closed = place.path("workspace/.github");
    fs::create_dir(&closed).unwrap();
    if place.user.is_none() {
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).unwrap();
    }
    let answer = run(&place, &[], "writer", &["--", "/bin/true"]);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    let told = closed.display().to_string();
    assert!(answer.err.contains(&told) && answer.err.contains("You cannot write"), "{answer:?}");
}

#[test]
fn a_place_where_no_workspace_stands_is_refused_before_it_is_looked_through() {
    let place = Place::of_user();
    for path in ["/", "/usr"] {
        let begun = std::time::Instant::now();
        let answer = run(&place, &[], "read-only", &["--workspace", path, "--", "/bin/true"]);
        assert_eq!(answer.code, Some(2), "{answer:?}");
        // To look through it takes many times as long, however little there is to do.
        assert!(begun.elapsed() < std::time::Duration::from_secs(3), "{path}");
    }
}

#[test]
fn output_that_nothing_takes_is_told_and_fails() {
    let place = Place::of_user();
    let to = |redirection: &str| -> Vec<String> {
        ["/bin/sh", "-c", &format!("\"$@\" {redirection}"), "sh"].map(str::to_owned).into()
    };
    let words = ["--", "/bin/sh", "-c", "echo lost; echo kept >&2"];
    let answer = run(&place, &to(">/dev/full"), "read-only", &words);
    let parts = ["kept", "standard output", "No space left on device"];
    assert_told(&place, &answer, 1, &parts);
    // A reader that has enough is no failure of anybody's.
    let words = ["--", "/bin/sh", "-c", "yes | head -n 100000"];
    let answer = run(&place, &to("| head -n 1"), "read-only", &words);
    assert_told(&place, &answer, 0, &[]);
    assert_eq!((answer.out.as_str(), answer.err.as_str()), ("y\n", ""));
}

#[test]
fn a_limit_that_the_kernel_ends_a_program_by_is_named() {
    let place = Place::of_user();
    for (limit, script, code, part) in [
        ("disk=1M", "head -c 2M /dev/zero >/tmp/large", 153, "a larger file than it may"),
        // Who ends so by its own will is not told that it was ended.
        ("wall=10s", "exit 153", 153, "If this is why"),
        ("wall=1s", "sleep 60", 124, "longer than it may"),
    ] {
        let words = ["--limit", limit, "--", "/bin/sh", "-c", script];
        let answer = run(&place, &[], "read-only", &words);
        assert_told(&place, &answer, code, &[part, "--limit"]);
    }
}

#[test]
fn a_limit_that_a_program_met_and_went_on_from_is_named_with_its_value_and_who_set_it() {
    let place = Place::of_user();
    let many =
        "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do sleep 1 & done 2>/dev/null; wait";
    let words = ["--limit", "pids=8", "--", "/bin/bash", "-c", many];
    let answer = run(&place, &[], "read-only", &words);
    assert!(answer.err.contains("limit reached: pids (8, set by --limit)"), "{answer:?}");
    let words = ["--limit", "wall=1s", "--", "/bin/sh", "-c", "sleep 60"];
    let answer = run(&place, &[], "read-only", &words);
    assert_told(&place, &answer, 124, &["The limit was wall (1 s, set by --limit)."]);
    let words = ["--limit", "pids=64", "--", "/bin/sh", "-c", "exit 0"];
    let answer = run(&place, &[], "read-only", &words);
    assert!(!answer.err.contains("limit reached"), "{answer:?}");
}

#[test]
fn who_fails_for_want_of_a_network_is_told_that_there_is_none() {
    let place = Place::of_user();
    let look = "exec 3<>/dev/tcp/192.0.2.1/80";
    let words = ["--", "/bin/bash", "-c", look];
    let answer = run(&place, &[], "read-only", &words);
    let parts = ["under the profile `read-only` there is no network", "--net HOST"];
    assert_told(&place, &answer, 1, &parts);
    let name = "import socket; socket.getaddrinfo('example.org', 443)";
    let answer = run(&place, &[], "read-only", &["--", "/usr/bin/python3", "-c", name]);
    assert_told(&place, &answer, 1, &parts);
    for script in ["exit 1".to_owned(), format!("({look}) 2>/dev/null; exit 0")] {
        let words = ["--", "/bin/bash", "-c", &script];
        let answer = run(&place, &[], "read-only", &words);
        assert!(!answer.err.contains("no network"), "{script}: {answer:?}");
    }
}

#[test]
fn in_a_folder_of_a_repository_the_jail_has_all_of_it_and_starts_in_that_folder() {
    let bench = Bench::with(&[("a.txt", "above\n"), ("sub/b.txt", "here\n")]);
    let words = ["sandbox", "--profile", "read-only", "--"];
    let show = ["sh", "-c", "cat b.txt ../a.txt && git rev-parse --show-prefix"];
    let answer = bench.run_in(&bench.repo().join("sub"), &[&words[..], &show].concat(), &[]);
    assert_eq!((answer.code, answer.out.as_str()), (Some(0), "here\nabove\nsub/\n"), "{answer:?}");
    let named = ["sandbox", "--profile", "read-only", "--workspace", ".", "--", "ls", ".."];
    let answer = bench.run_in(&bench.repo().join("sub"), &named, &[]);
    assert!(!answer.out.contains("a.txt"), "what is named alone is alone: {answer:?}");
}

#[test]
fn a_repository_of_another_user_above_is_no_workspace() {
    if !is_root() {
        return;
    }
    let words = ["sandbox", "--profile", "read-only", "--", "sh", "-c", "ls . .."];
    for name in ["", ".git"] {
        let bench = Bench::with(&[("a.txt", "above\n"), ("sub/b.txt", "here\n")]);
        let foreign = bench.repo().join(name);
        lchown(&foreign, Some(61_234), None).unwrap();
        let answer = bench.run_in(&bench.repo().join("sub"), &words, &[]);
        assert_eq!(answer.code, Some(0), "{answer:?}");
        assert!(answer.out.contains("b.txt") && !answer.out.contains("a.txt"), "{answer:?}");
        assert!(answer.err.contains("above is another user's"), "{answer:?}");
    }
}

#[test]
fn a_command_that_is_empty_is_refused() {
    let place = Place::of_user();
    let answer = run(&place, &[], "read-only", &["--", ""]);
    assert_told(&place, &answer, 2, &["The command is empty."]);
}

#[test]
fn names_that_are_held_for_a_writer_are_no_work_to_git_in_its_jail() {
    let bench = Bench::with(&[("a.txt", "a\n")]);
    let script = "echo b > b.txt && git status --porcelain";
    let answer = bench.run(&["sandbox", "--profile", "writer", "--", "sh", "-c", script]);
    assert_eq!((answer.code, answer.out.as_str()), (Some(0), "?? b.txt\n"), "{answer:?}");
}
