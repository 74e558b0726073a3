//! Where attempts work: what stands there, what does not, what becomes of it, and that nothing of it is left.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;

use crate::command::{Answer, Bench, search_path};
use crate::escape::leg::Leg;
use crate::machine;

/// A task that runs a script and nothing else.
fn task(script: &str) -> String {
    format!("- [ ] Run:\n\n```bash\n{script}\n```\n\nExpected: PASS\n")
}

/// `literal` writes whatever the profile; the profile says what becomes of it.
fn arguments<'a>(profile: &'a str, text: &'a str) -> Vec<&'a str> {
    vec!["task", text, "--agent", "writer", "--profile", profile, "--model", "literal", "--json"]
}

fn carry_out(bench: &Bench, script: &str) -> Answer {
    let answer = bench.run(&arguments("writer", &task(script)));
    assert_eq!(answer.code, Some(0), "{answer:?}");
    answer
}

/// What the script left in a new file `seen`: how it tells what it found.
fn seen(answer: &Answer) -> Vec<String> {
    let patch = answer.json()["evidence"]["patch"].as_str().unwrap().to_owned();
    let part = patch.split("+++ b/seen\n").nth(1).unwrap_or_else(|| panic!("{patch}"));
    let lines = part.lines().skip(1).take_while(|line| line.starts_with('+'));
    lines.map(|line| line[1..].to_owned()).collect()
}

fn rows(answer: &Answer, list: &str, fields: [&str; 2]) -> Vec<String> {
    let rows = answer.json()["evidence"][list].as_array().unwrap().clone();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    rows.iter().map(|row| fields.map(|field| text(&row[field])).join(" ")).collect()
}

fn changed(answer: &Answer) -> Vec<String> {
    rows(answer, "files_changed", ["action", "path"])
}

fn state(bench: &Bench) -> PathBuf {
    bench.path("home/.local/state/sequester")
}

/// All that attempts and jails left.
fn leftovers(state: &Path) -> Vec<PathBuf> {
    let folders = [state.join("workspaces/attempts"), state.join("jails")];
    let list = |folder: &PathBuf| fs::read_dir(folder).into_iter().flatten().flatten();
    folders.iter().flat_map(list).map(|entry| entry.path()).collect()
}

#[test]
fn it_stands_at_the_repositorys_own_path_with_one_commit_and_no_trace_of_more() {
    let bench = Bench::with(&[("a.txt", "OLD-CANARY\n"), ("plan.md", "PLAN-CANARY\n")]);
    bench.git(&["rm", "--quiet", "plan.md"]);
    bench.write("a.txt", "now\n");
    bench.write(".env", "KEY=ENV-CANARY\n");
    bench.write(".sequester/notes.md", "OWN-CANARY\n");
    bench.commit("second: MESSAGE-CANARY");
    let script = "{ pwd; git log --format=%s; git status --short; ls -A; git remote; git config --get-regexp '^(remote|user|core.hooks)'; } > /tmp/seen; \
        git cat-file --batch-all-objects --batch --buffer > /tmp/objects; grep -ac CANARY /tmp/objects >> /tmp/seen; \
        grep -rac CANARY .git >> /tmp/seen; touch .git/x 2>> /tmp/seen; mv /tmp/seen seen";
    let answer = carry_out(&bench, script);
    let root = bench.repo().canonicalize().unwrap().display().to_string();
    let lines = seen(&answer);
    let expected = [root.as_str(), "The state this work starts from", ".git", "a.txt", "0"];
    assert_eq!(lines[..5], expected, "{lines:?}");
    let rest = &lines[5..];
    let is_clean = |line: &String| line.ends_with(":0") || line.ends_with("Read-only file system");
    assert!(rest.len() > 5 && rest.iter().all(is_clean), "{rest:?}");
    assert_eq!(changed(&answer), ["create seen"]);
}

#[test]
fn folders_are_renamed_removed_made_again_and_links_become_folders() {
    for agent in [Leg::Root, Leg::User] {
        if agent.obstacle().is_some() {
            continue;
        }
        let bench = Bench::with(&[
            ("src/deep/a.rs", "a\n"),
            ("src/b.rs", "b\n"),
            ("old/c.txt", "c\n"),
            ("old/d.txt", "d\n"),
            ("docs/e.md", "e\n"),
            ("run", "#!/bin/sh\n"),
        ]);
        symlink("docs", bench.repo().join("link")).unwrap();
        bench.commit("with a link");
        let script = "mv src lib; rm -r old; mkdir old; echo new > old/c.txt; rm link; mkdir link; echo x > link/f; chmod +x run";
        let answer = as_leg(agent, &bench, &arguments("writer", &task(script)));
        assert_eq!(answer.code, Some(0), "{answer:?}");
        let expected = [
            "create lib/b.rs",
            "create lib/deep/a.rs",
            "delete link",
            "create link/f",
            "modify old/c.txt",
            "delete old/d.txt",
            "modify run",
            "delete src/b.rs",
            "delete src/deep/a.rs",
        ];
        assert_eq!(changed(&answer), expected);
        assert_eq!(leftovers(&state(&bench)), Vec::<PathBuf>::new());
    }
}

/// The program as the user of a leg, to whom all of the bench belongs.
fn as_leg(leg: Leg, bench: &Bench, arguments: &[&str]) -> Answer {
    let user = leg.user();
    if let Some(user) = user {
        give(&bench.path(""), user);
    }
    let output = leg
        .command(user, machine::program())
        .args(arguments)
        .current_dir(bench.repo())
        .env("HOME", bench.path("home"))
        .env_remove("XDG_STATE_HOME")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Answer::of(&output)
}

fn give(path: &Path, user: u32) {
    let about = path.symlink_metadata().unwrap();
    if about.is_symlink() {
        return std::os::unix::fs::lchown(path, Some(user), Some(user)).unwrap();
    }
    chown(path, Some(user), Some(user)).unwrap();
    if about.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            give(&entry.unwrap().path(), user);
        }
    }
}

#[test]
fn what_no_change_may_hold_is_refused_with_the_reason() {
    let bench = Bench::with(&[("a.txt", "a\n"), (".github/workflows/ci.yml", "on: push\n")]);
    bench.write(".env", "KEY=1\n");
    bench.commit("with a secret");
    let script = "echo x > .mcp.json; ln -s /etc/passwd out; mkdir -p sub/.git; echo x > sub/.git/config; echo y > .env; \
        ! echo x > .github/workflows/ci.yml; mkdir -p .claude; echo x > .claude/settings.json;\
        mkfifo pipe; echo ok > a.txt";
    let answer = carry_out(&bench, script);
    assert_eq!(changed(&answer), ["modify a.txt"]);
    assert_eq!(
        rows(&answer, "refused", ["path", "why"]),
        [
            ".claude/settings.json `.claude` is protected (Claude Code runs its hooks and commands).",
            ".env the repository has a file there that is kept from this work.",
            ".mcp.json `.mcp.json` is protected (agents start the servers that it names).",
            "out it is a link to an absolute path.",
            "pipe it is a pipe, a socket or a device.",
            "sub it is another repository inside this one.",
        ]
    );
    let mut shown = arguments("writer", "");
    let text = task(script);
    shown[1] = &text;
    shown.pop();
    let told = bench.run(&shown).out;
    assert!(told.starts_with("Not taken over") && told.contains("out: it is a link"), "{told}");
    let text = task("mkdir -p .claude; echo x > .claude/settings.json");
    shown[1] = &text;
    assert_eq!(bench.run(&shown).code, Some(1), "all of the change is refused");
}

/// Waits for the file that an attempt makes, then takes its layer away and lets it go on.
fn take_layer_away(bench: &Bench, name: &str) {
    let (attempts, taken) = (state(bench).join("workspaces/attempts"), bench.path(name));
    let layers = || {
        let names = fs::read_dir(&attempts).into_iter().flatten().flatten();
        names.map(|name| name.path().join("tree")).find(|layer| layer.join("upper/going").exists())
    };
    let patience = Instant::now() + Duration::from_mins(1);
    let layer = loop {
        match layers() {
            Some(layer) => break layer,
            None => assert!(Instant::now() < patience, "the attempt has not begun"),
        }
        thread::sleep(Duration::from_millis(5));
    };
    fs::rename(layer, &taken).unwrap();
    fs::write(taken.join("upper/going"), "on\n").unwrap();
}

#[test]
fn a_change_that_cannot_be_taken_is_told_and_the_report_stands() {
    let bench = Bench::with(&[("a.txt", "a\n")]);
    let text = task("echo more >> a.txt; touch going; until [ -s going ]; do sleep 0.01; done");
    let answer = thread::scope(|scope| {
        // There is one fresh attempt.
        scope.spawn(|| ["first", "second"].map(|name| take_layer_away(&bench, name)));
        bench.run(&arguments("writer", &text))
    });
    assert_eq!(answer.code, Some(1), "{answer:?}");
    let report = answer.json();
    assert_eq!((&report["outcome"], &report["status"]), (&"done".into(), &"complete".into()));
    let trouble = report["evidence"]["trouble"].as_str().unwrap_or_else(|| panic!("{answer:?}"));
    assert!(trouble.starts_with("What was written is gone: "), "{trouble}");
    assert_eq!(report["error"]["message"], trouble, "{answer:?}");
    assert!(report["error"]["hint"].as_str().unwrap().contains("nothing of the change was kept"));
    let seen = ["files_changed", "refused"].map(|list| report["evidence"][list].clone());
    assert_eq!(seen, [serde_json::json!([]), serde_json::json!([])]);
    assert_eq!(leftovers(&state(&bench)), Vec::<PathBuf>::new());
}

#[test]
fn a_workspace_that_was_shut_is_harvested_all_the_same() {
    for leg in [Leg::Root, Leg::User] {
        if leg.obstacle().is_some() {
            continue;
        }
        let bench = Bench::with(&[("a.txt", "a\n"), ("src/b.txt", "b\n")]);
        let text = task("echo more >> a.txt; chmod 000 src; chmod 000 .");
        let answer = as_leg(leg, &bench, &arguments("writer", &text));
        // A jail that holds what nobody can count may be ended for it; the report and the change stand.
        assert!(answer.json()["findings"].is_object(), "{answer:?}");
        assert_eq!(changed(&answer), ["modify a.txt"]);
        let refused = rows(&answer, "refused", ["path", "why"]);
        assert_eq!(refused, ["src it cannot be looked at: Permission denied (os error 13)."]);
    }
}

#[test]
fn what_is_protected_is_so_through_links_too() {
    let bench = Bench::with(&[("agents/a.md", "a\n"), ("conf/x.json", "{}\n"), ("ci/b", "b\n")]);
    symlink("agents", bench.repo().join(".claude")).unwrap();
    symlink("servers", bench.repo().join(".mcp.json")).unwrap();
    symlink("conf/x.json", bench.repo().join("servers")).unwrap();
    bench.commit("with links");
    let script = "echo evil > agents/settings.json; echo evil > conf/x.json; ln -sfn ci/b servers; echo ok > conf/y; \
        mkdir -p ci/workflows; echo on: push > ci/workflows/x.yml; ln -s ci .github";
    let answer = carry_out(&bench, script);
    assert_eq!(changed(&answer), ["create ci/workflows/x.yml", "create conf/y"]);
    assert_eq!(
        rows(&answer, "refused", ["path", "why"]),
        [
            ".github it is a link above `.github/hooks`, which is protected.",
            "agents/settings.json `agents` is protected (the link at `.claude` leads to it).",
            "conf/x.json `conf/x.json` is protected (the link at `.mcp.json` leads to it).",
            "servers `servers` is protected (the link at `.mcp.json` leads to it).",
        ]
    );
}

#[test]
fn build_folders_are_there_and_written_to_beside_the_persons() {
    let bench = Bench::with(&[(".gitignore", "target\nplans\n"), ("a.txt", "a\n")]);
    for (path, text) in
        [("target/out", "built\n"), ("target/.env", "KEY=CANARY\n"), ("plans/tasks.md", "CANARY\n")]
    {
        bench.write(path, text);
    }
    let before = bench.tree();
    let script = "{ cat target/out target/.env; ls; } > /tmp/seen; echo more >> target/out; touch target/new; mv /tmp/seen seen";
    let answer = carry_out(&bench, script);
    assert_eq!(seen(&answer), ["built", "a.txt", "target"]);
    assert_eq!(changed(&answer), ["create seen"]);
    assert!(bench.tree() == before);
    bench.write(".sequester/plans/next.md", "CANARY of a plan\n");
    bench.write("target/package/next.md", "CANARY of a plan\n");
    bench.write("target/package/last.md", "of a package\n");
    bench.git(&["add", "--force", ".sequester"]);
    bench.commit("with a plan");
    assert_eq!(seen(&carry_out(&bench, "cat target/package/* > seen")), ["of a package"]);
    let reader = task("cat target/out && ! touch target/x && ! touch x");
    let answer = bench.run(&arguments("read-only", &reader));
    assert_eq!(answer.code, Some(0), "{answer:?}");
}

#[test]
fn git_applies_the_patch_whatever_the_files_are() {
    let bench = Bench::with(&[("cr", "one\rtwo\n"), ("text", "a\n"), ("gone", "g\n")]);
    fs::write(bench.repo().join("old.bin"), [0, 1, 2]).unwrap();
    fs::write(bench.repo().join("away.bin"), [0, 9]).unwrap();
    bench.commit("with bytes");
    let script = "printf 'one\\rTWO\\n' > cr; head -c 300 /dev/zero | tr '\\0' '\\377' > new.bin; printf '\\0\\001' >> old.bin; \
        rm away.bin gone; chmod +x old.bin; seq 200000 > long; printf 'no end' > text; head -c 3000000 /dev/urandom > large";
    let answer = carry_out(&bench, script);
    let files = answer.json()["evidence"]["files_changed"].as_array().unwrap().clone();
    let left_out: Vec<&Value> = files.iter().filter(|file| file["in_patch"] == false).collect();
    assert_eq!((left_out.len(), &left_out[0]["path"]), (1, &"large".into()));
    let patch = bench.path("patch");
    fs::write(&patch, answer.json()["evidence"]["patch"].as_str().unwrap()).unwrap();
    bench.git(&["apply", patch.to_str().unwrap()]);
    let read = |name: &str| fs::read(bench.repo().join(name)).unwrap();
    assert_eq!((read("cr"), read("new.bin")), (b"one\rTWO\n".to_vec(), vec![255; 300]));
    assert_eq!((read("old.bin"), read("text")), (vec![0, 1, 2, 0, 1], b"no end".to_vec()));
    assert!(read("long").ends_with(b"200000\n"));
    assert!(["away.bin", "gone", "large"].iter().all(|name| !bench.repo().join(name).exists()));
}

#[test]
fn what_git_ignores_is_no_change_but_named() {
    let bench = Bench::with(&[(".gitignore", "build/\n*.db\n"), ("a.txt", "a\n")]);
    bench.write("build/.gitkeep", "");
    bench.git(&["add", "--force", "build/.gitkeep"]);
    bench.commit("with a kept folder");
    bench.write(".git/info/exclude", "mine\n");
    let script = "touch build/out.o mine; echo x > data.db; echo ok > b.txt";
    let answer = carry_out(&bench, script);
    assert_eq!(changed(&answer), ["create b.txt"]);
    let ignored = &answer.json()["evidence"]["ignored"];
    assert_eq!(*ignored, serde_json::json!(["build/out.o", "data.db", "mine"]));
    let mut shown = arguments("writer", "");
    let text = task(script);
    shown[1] = &text;
    shown.pop();
    let told = bench.run(&shown).out;
    assert!(told.contains("as git ignores it\n  - build/out.o\n"), "{told}");
}

#[test]
fn a_folder_where_the_commit_has_a_file_or_a_link_is_no_change() {
    let bench = Bench::with(&[
        (".gitignore", "node_modules\n"),
        ("lib", "a file\n"),
        ("pages/a.txt", "a\n"),
    ]);
    symlink("pages", bench.repo().join("web")).unwrap();
    bench.commit("with a link");
    for name in ["lib", "web"] {
        fs::remove_file(bench.repo().join(name)).unwrap();
        bench.write(&format!("{name}/node_modules/x.js"), "x\n");
    }
    let answer = carry_out(&bench, "true");
    assert_eq!(changed(&answer), Vec::<String>::new());
    assert_eq!(rows(&answer, "refused", ["path", "why"]), Vec::<String>::new());
}

#[test]
fn unchanged_files_keep_the_time_they_have_in_the_persons_tree() {
    let bench = Bench::with(&[("same", "1\n"), ("edited", "2\n"), ("touched", "3\n")]);
    let set = |name: &str, seconds: u64| {
        let file = fs::File::options().append(true).open(bench.repo().join(name)).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
    };
    for name in ["same", "edited", "touched"] {
        set(name, 1_000_000_000);
    }
    let script = "stat -c '%Y %n' same edited touched > /tmp/seen; mv /tmp/seen seen";
    let first = seen(&carry_out(&bench, script));
    assert_eq!(first, ["1000000000 same", "1000000000 edited", "1000000000 touched"]);
    set("touched", 1_100_000_000);
    bench.write("edited", "other\n");
    set("edited", 1_000_000_000);
    let second = carry_out(&bench, script);
    let lines = seen(&second);
    assert_eq!((&*lines[0], &*lines[2]), ("1000000000 same", "1100000000 touched"));
    let edited: u64 = lines[1].split(' ').next().unwrap().parse().unwrap();
    assert!(edited > 1_700_000_000, "outputs were made from something else: {lines:?}");
    assert_eq!(changed(&second), ["create seen"]);
    assert!(second.err.contains("not in HEAD"), "{second:?}");
}

#[test]
fn uncommitted_files_come_with_the_flag_and_a_folder_needs_no_git() {
    let bench = Bench::with(&[("a.txt", "committed\n"), ("gone.txt", "x\n")]);
    bench.write("a.txt", "edited\n");
    bench.write("new.txt", "new\n");
    fs::set_permissions(bench.repo().join("new.txt"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_file(bench.repo().join("gone.txt")).unwrap();
    let text = task("{ cat a.txt; ls; git status --short; } > /tmp/seen; mv /tmp/seen seen");
    let plain = bench.run(&arguments("writer", &text));
    assert_eq!(seen(&plain), ["committed", "a.txt", "gone.txt"]);
    let mut with_all = arguments("writer", &text);
    with_all.push("--include-dirty");
    let dirty = bench.run(&with_all);
    assert_eq!(seen(&dirty), ["edited", "a.txt", "new.txt"]);
    assert_eq!(changed(&dirty), ["create seen"]);
    let folder = Bench::plain();
    folder.write("src/a.txt", "a\n");
    folder.write(".env", "KEY=1\n");
    let answer = carry_out(&folder, "find . -type f > /tmp/seen; rm src/a.txt; mv /tmp/seen seen");
    assert_eq!(seen(&answer), ["./src/a.txt"]);
    assert_eq!(changed(&answer), ["create seen", "delete src/a.txt"]);
    let empty = Bench::plain();
    empty.git(&["init", "--quiet"]);
    assert_eq!(changed(&carry_out(&empty, "git status > seen")), ["create seen"]);
}

#[test]
fn what_a_living_jail_holds_is_not_taken_for_the_persons_work() {
    let bench = Bench::with(&[("a.txt", "a\n"), ("lefthook.yml", "x\n")]);
    fs::remove_file(bench.repo().join("lefthook.yml")).unwrap();
    let words = ["sandbox", "--profile", "writer", "--", "/bin/sh", "-c", "echo up; cat"];
    let mut command = bench.command(&words);
    let mut jail = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    jail.stdout.as_mut().unwrap().read_exact(&mut [0; 3]).unwrap();
    let is_held = || ["Jenkinsfile", "lefthook.yml"].map(|name| bench.repo().join(name).exists());
    assert_eq!(is_held(), [true, true]);
    let text = task("ls > /tmp/seen; mv /tmp/seen seen");
    let mut with_all = arguments("writer", &text);
    with_all.push("--include-dirty");
    assert_eq!(seen(&bench.run(&with_all)), ["a.txt"]);
    let ranked = bench.run(&["files", "a Jenkinsfile", "--json", "--include-dirty"]);
    assert!(!ranked.out.contains("Jenkinsfile"), "{ranked:?}");
    drop(jail.stdin.take());
    assert!(jail.wait().unwrap().success());
    assert_eq!(is_held(), [false, false]);
}

#[test]
fn what_a_validator_writes_is_no_change() {
    let bench = Bench::with(&[("a.txt", "a\n")]);
    let answer = bench.run(&arguments("validate", &task("echo x >> a.txt && grep -q x a.txt")));
    assert_eq!((answer.code, changed(&answer)), (Some(0), Vec::new()), "{answer:?}");
}

#[test]
fn a_base_is_written_once_and_old_ones_go() {
    let bench = Bench::with(&[("a.txt", "0\n")]);
    let bases = || fs::read_dir(state(&bench).join("workspaces/bases")).unwrap().count();
    for round in 1..8 {
        carry_out(&bench, "true");
        carry_out(&bench, "true");
        assert_eq!(bases(), round.min(4), "of commit {round}");
        bench.write("a.txt", format!("{round}\n"));
        bench.commit("next");
    }
}

#[test]
fn each_checkout_has_a_base_with_its_own_times() {
    let bench = Bench::with(&[("a.txt", "a\n")]);
    let second = bench.path("second");
    bench.git(&["worktree", "add", "--quiet", "--detach", second.to_str().unwrap()]);
    let bases = || fs::read_dir(state(&bench).join("workspaces/bases")).unwrap().count();
    carry_out(&bench, "true");
    assert_eq!(bases(), 1);
    let text = task("true");
    let answer = bench.run_in(&second, &arguments("writer", &text), &[]);
    assert_eq!((answer.code, bases()), (Some(0), 2), "{answer:?}");
}

#[test]
fn a_checkout_whose_times_all_changed_has_a_base_with_the_new_ones() {
    let names: Vec<String> = (0..2_001).map(|number| format!("src/{number}.txt")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "same\n")).collect();
    let bench = Bench::with(&files);
    carry_out(&bench, "true");
    let base = || {
        let bases = fs::read_dir(state(&bench).join("workspaces/bases")).unwrap();
        let mut bases: Vec<PathBuf> = bases.map(|entry| entry.unwrap().path()).collect();
        assert_eq!(bases.len(), 1, "{bases:?}");
        bases.remove(0)
    };
    let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    for name in &names {
        let file = fs::File::options().append(true).open(bench.repo().join(name)).unwrap();
        file.set_modified(then).unwrap();
    }
    let script =
        "{ git status --short; stat -c %Y src/*.txt | sort -u; } > /tmp/seen; mv /tmp/seen seen";
    for _ in 0..2 {
        let answer = carry_out(&bench, script);
        assert_eq!(seen(&answer), ["1000000000"]);
        assert_eq!(changed(&answer), ["create seen"]);
    }
    let written = fs::metadata(base().join("tree/src/7.txt")).unwrap();
    assert_eq!(written.modified().unwrap(), then);
}

#[test]
fn a_damaged_base_is_made_anew() {
    let bench = Bench::with(&[("a.txt", "a\n")]);
    carry_out(&bench, "true");
    let bases = state(&bench).join("workspaces/bases");
    let base = fs::read_dir(&bases).unwrap().next().unwrap().unwrap().path();
    for damaged in ["times", "tree/a.txt"] {
        fs::write(base.join(damaged), "").unwrap();
        for _ in 0..2 {
            assert_eq!(changed(&carry_out(&bench, "echo b >> a.txt; cat a.txt")), ["modify a.txt"]);
            assert_eq!(fs::read_to_string(base.join("tree/a.txt")).unwrap(), "a\n");
        }
    }
    let left: Vec<PathBuf> =
        fs::read_dir(&bases).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(left, [base]);
}

#[test]
fn what_a_killed_controller_leaves_goes_with_the_next_start() {
    let bench = Bench::with(&[("a.txt", "a\n")]);
    let text = task("echo x > a.txt; mkdir -m 0 closed; echo ready > /dev/shm/x; sleep 600");
    let mut child = Command::new(env!("CARGO_BIN_EXE_sequester"))
        .args(arguments("writer", &text))
        .current_dir(bench.repo())
        .env("HOME", bench.path("home"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let attempts = state(&bench).join("workspaces/attempts");
    let working = || {
        let found = fs::read_dir(&attempts).into_iter().flatten().flatten();
        found.map(|entry| entry.path().join("tree/upper/closed")).any(|path| path.exists())
    };
    let mut patience = 600;
    while !working() {
        patience -= 1;
        assert!(patience > 0, "it never got to work");
        thread::sleep(Duration::from_millis(50));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // Whatever held the other end of this pipe is gone when it ends.
    child.stdout.take().unwrap().read_to_end(&mut Vec::new()).unwrap();
    carry_out(&bench, "true");
    let mut left = leftovers(&state(&bench));
    // The dead one's supervisor may still be at its own clearing up.
    for _ in 0..200 {
        if left.is_empty() {
            break;
        }
        thread::sleep(Duration::from_millis(50));
        left = leftovers(&state(&bench));
    }
    assert_eq!(left, Vec::<PathBuf>::new());
}

#[test]
fn a_build_that_was_done_outside_compiles_nothing_inside() {
    let bench = Bench::with(&[
        ("Cargo.toml", "[package]\nname = \"warm\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        (".gitignore", "target\n"),
        ("build.rs", "fn main() { println!(\"cargo:rerun-if-changed=src\"); }\n"),
        ("src/lib.rs", "pub fn one() -> u32 {\n    1\n}\n"),
        ("tests/one.rs", "#[test]\nfn one() {\n    assert_eq!(warm::one(), 1);\n}\n"),
    ]);
    let path = search_path();
    let variables = [("PATH", &*path), ("CARGO_TERM_COLOR", "never")];
    let outside = Command::new("cargo")
        .args(["test", "--offline"])
        .current_dir(bench.repo())
        .env("HOME", bench.path("home"))
        .envs(variables)
        .env_remove("CARGO_TARGET_DIR")
        .output()
        .unwrap();
    assert!(outside.status.success(), "{outside:?}");
    bench.commit("with its lock file");
    let is_warm = |printed: &str| {
        assert!(printed.contains("Finished `test`"), "{printed}");
        assert!(printed.contains("test one ... ok"), "{printed}");
        assert!(!printed.contains("Compiling"), "{printed}");
    };
    for profile in ["validate", "writer"] {
        let command = ["sandbox", "--profile", profile, "--", "cargo", "test"];
        let answer = bench.run_in(&bench.repo(), &command, &variables);
        is_warm(&format!("{}{}", answer.out, answer.err));
    }
    let text = task("cargo test > /tmp/seen 2>&1; mv /tmp/seen seen");
    let answer = bench.run_in(&bench.repo(), &arguments("writer", &text), &variables);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    is_warm(&seen(&answer).join("\n"));
    let text = task("echo >> src/lib.rs; cargo test > /tmp/seen 2>&1; mv /tmp/seen seen");
    let answer = bench.run_in(&bench.repo(), &arguments("writer", &text), &variables);
    assert!(seen(&answer).join("\n").contains("Compiling warm"), "{answer:?}");
}

#[test]
fn what_the_persons_git_runs_from_the_tree_is_refused_in_a_change() {
    let bench = Bench::with(&[
        ("a.txt", "a\n"),
        ("ci/hooks/pre-commit", "#!/bin/sh\n"),
        ("ci/gitconfig", "[alias]\n\tst = status\n"),
        ("ci/smudge.sh", "#!/bin/sh\n"),
    ]);
    bench.git(&["config", "core.hooksPath", "ci/hooks"]);
    bench.git(&["config", "include.path", "../ci/gitconfig"]);
    bench.git(&["config", "filter.x.smudge", "sh ci/smudge.sh"]);
    let script = "echo ok > a.txt; mkdir -p ci/hooks ci/more; echo x > ci/more/b; ! echo x >> ci/hooks/pre-commit; \
        echo x > ci/hooks/post-checkout; ! echo x >> ci/gitconfig; ! echo x >> ci/smudge.sh; true";
    let answer = carry_out(&bench, script);
    assert_eq!(changed(&answer), ["modify a.txt", "create ci/more/b"]);
}
