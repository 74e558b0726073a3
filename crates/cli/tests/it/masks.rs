//! What covers names in a person's own folder, while others work on the same folder.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::command::{Answer, Bench};
use crate::machine;

/// A command in a jail of the bench's folder, with its lines in and out.
struct Jailed {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
}

impl Jailed {
    /// Says `ready`, waits for a line, then runs the script.
    fn start(bench: &Bench, profile: &str, script: &str) -> Self {
        Self::start_as(None, bench, profile, script)
    }

    /// As another user, to whom all of the bench is given.
    fn start_as(user: Option<u32>, bench: &Bench, profile: &str, script: &str) -> Self {
        let script = format!("echo ready; read -r line; {script}");
        let mut words = user.map(machine::as_user).unwrap_or_default();
        words.push(machine::program().display().to_string());
        if let Some(user) = user {
            let owner = format!("{user}:{user}");
            let given =
                Command::new("chown").args(["-R", &owner]).arg(bench.path("")).status().unwrap();
            assert!(given.success());
        }
        let mut child = Command::new(&words[0])
            .args(&words[1..])
            .args(["sandbox", "--profile", profile, "--", "sh", "-c", &script])
            .current_dir(bench.repo())
            .env("HOME", bench.path("home"))
            .env_remove("XDG_STATE_HOME")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        Self { child, lines }
    }

    fn go(mut self) -> Answer {
        // One that was ended meanwhile takes no line.
        let _ = self.child.stdin.take().unwrap().write_all(b"go\n");
        let mut out = String::new();
        std::io::Read::read_to_string(&mut self.lines, &mut out).unwrap();
        let output = self.child.wait_with_output().unwrap();
        Answer { out, ..Answer::of(&output) }
    }
}

fn names(bench: &Bench) -> Vec<String> {
    let list = fs::read_dir(bench.repo()).unwrap();
    let mut names: Vec<String> =
        list.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

const POISON: &str = "for f in .claude/x .mcp.json .husky/pre-commit .vscode/tasks.json sequester.toml; do echo evil > $f && echo wrote $f; done; true";

#[test]
fn the_end_of_one_writer_takes_nothing_from_another() {
    let bench = Bench::with(&[("a.txt", "a\n")]);
    let before = names(&bench);
    let first = Jailed::start(&bench, "writer", "true");
    let second = Jailed::start(&bench, "writer", POISON);
    assert_eq!(first.go().code, Some(0));
    let third = Jailed::start(&bench, "writer", POISON);
    for jail in [second, third] {
        let answer = jail.go();
        assert_eq!((answer.code, answer.out.as_str()), (Some(0), ""), "{answer:?}");
        assert!(answer.err.contains("Read-only file system"), "{answer:?}");
    }
    assert_eq!(names(&bench), before);
    let state = bench.path("home/.local/state/sequester/jails");
    let left: Vec<PathBuf> =
        fs::read_dir(state).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(left, Vec::<PathBuf>::new());
}

#[test]
fn a_start_in_another_container_leaves_living_jails_alone() {
    let bench = Bench::with(&[("a.txt", "a\n")]);
    let writer = Jailed::start(&bench, "writer", POISON);
    let validator = Jailed::start(&bench, "validate", "echo x > b && cat b");
    let held = names(&bench).len();
    let apart = Command::new("unshare")
        .args(["--user", "--map-root-user", "--pid", "--fork", "--mount-proc"])
        .arg(env!("CARGO_BIN_EXE_sequester"))
        .args(["sandbox", "--profile", "read-only", "--", "true"])
        .current_dir(bench.repo())
        .env("HOME", bench.path("home"))
        .env_remove("XDG_STATE_HOME")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    // Whether it can have a jail there or not, it has swept.
    assert!(matches!(apart.status.code(), Some(0 | 5)), "{apart:?}");
    assert_eq!(names(&bench).len(), held);
    let answer = validator.go();
    assert_eq!((answer.code, answer.out.as_str()), (Some(0), "x\n"), "{answer:?}");
    assert_eq!(writer.go().out, "");
}

#[test]
fn a_secret_that_is_replaced_outside_stays_hidden_or_ends_the_jail() {
    for (profile, ends) in [("read-only", false), ("validate", false), ("writer", true)] {
        let bench = Bench::with(&[("a.txt", "a\n")]);
        bench.write(".env", "KEY=OLD-CANARY\n");
        bench.git(&["remote", "add", "origin", "https://user:OLD-CANARY@example.org/x"]);
        let script = "cat .env .git/config; cat .env | wc -c";
        let jail = Jailed::start(&bench, profile, &format!("sleep 0.3; {script}"));
        bench.write("new", "KEY=NEW-CANARY\n");
        fs::rename(bench.repo().join("new"), bench.repo().join(".env")).unwrap();
        bench.git(&["remote", "set-url", "origin", "https://user:NEW-CANARY@example.org/x"]);
        let answer = jail.go();
        assert!(!answer.out.contains("CANARY"), "{profile}: {answer:?}");
        if ends {
            assert_eq!(answer.code, Some(137), "{answer:?}");
            assert!(answer.err.contains("was replaced outside"), "{answer:?}");
        } else {
            assert_eq!(answer.code, Some(0), "{answer:?}");
        }
    }
}

/// Who runs this and, if that is root, a normal user.
fn users() -> Vec<Option<u32>> {
    let normal = machine::is_root().then(|| Some(machine::unused_user()));
    let obstacle = normal.is_none().then_some("it takes root");
    machine::may_go("covers as root and as a normal user", obstacle);
    [None].into_iter().chain(normal).collect()
}

#[test]
fn what_covers_a_name_falls_off_and_ends_the_jail_though_the_same_file_comes_back() {
    for user in users() {
        for (name, script) in
            [(".env", "cat .env"), (".mcp.json", "echo evil > .mcp.json && echo CANARY")]
        {
            let bench = Bench::with(&[("a.txt", "a\n")]);
            bench.write(name, "CANARY\n");
            let script = format!("sleep 1; {script}");
            let jail = Jailed::start_as(user, &bench, "writer", &script);
            let (at, kept) = (bench.repo().join(name), bench.repo().join("kept"));
            fs::hard_link(&at, &kept).unwrap();
            fs::remove_file(&at).unwrap();
            fs::hard_link(&kept, &at).unwrap();
            fs::remove_file(&kept).unwrap();
            let answer = jail.go();
            assert_eq!((answer.code, answer.out.as_str()), (Some(137), ""), "{name}: {answer:?}");
            assert!(answer.err.contains("was replaced outside"), "{answer:?}");
            assert_eq!(fs::read_to_string(&at).unwrap(), "CANARY\n");
        }
    }
}

#[test]
fn a_secret_file_of_a_folder_is_there_for_programs_and_empty() {
    let script =
        "stat -c '%s %a' .env; cat .env; echo x >> .env; rm -f .env; mv .env b; git status --short";
    let busy = "cannot remove '.env': Device or resource busy";
    let moved = "cannot move '.env' to 'b': Device or resource busy";
    for (profile, refusals) in [
        ("read-only", ["cannot remove '.env': Read-only", "cannot move '.env' to 'b': Read-only"]),
        ("validate", [busy, moved]),
        ("writer", [busy, moved]),
    ] {
        let bench = Bench::with(&[("a.txt", "a\n"), (".env", "TOKEN=1\n")]);
        fs::set_permissions(bench.repo().join(".env"), fs::Permissions::from_mode(0o600)).unwrap();
        let answer = bench.run(&["sandbox", "--profile", profile, "--", "sh", "-c", script]);
        let lines: Vec<&str> = answer.out.lines().filter(|line| !line.starts_with("??")).collect();
        assert_eq!(lines, ["0 644", " M .env"], "{profile}: {answer:?}");
        for refusal in ["create .env: Read-only"].into_iter().chain(refusals) {
            assert!(answer.err.contains(refusal), "{profile}: {refusal}: {answer:?}");
        }
        assert_eq!(fs::read_to_string(bench.repo().join(".env")).unwrap(), "TOKEN=1\n");
    }
}

#[test]
fn a_writer_moves_no_folder_with_a_hidden_file_in_it() {
    for user in users() {
        let bench = Bench::with(&[("a.txt", "a\n")]);
        bench.write("deps/pkg/server.pem", "CANARY\n");
        bench.write("deps/other/a", "a\n");
        let script = "mv deps old; mv deps/pkg deps/old; mv deps/other deps/new; sleep 0.2; cat deps/pkg/server.pem; exit 3";
        let answer = Jailed::start_as(user, &bench, "writer", script).go();
        assert_eq!((answer.code, answer.out.as_str()), (Some(3), ""), "{answer:?}");
        assert!(bench.repo().join("deps/pkg/server.pem").exists());
        assert!(bench.repo().join("deps/new/a").exists());
    }
}

const STARTS: usize = 8;

#[test]
fn a_secret_is_seen_by_nobody_who_starts_while_a_writer_moves_what_is_around_it() {
    let bench = Bench::with(&[("a.txt", "a\n")]);
    bench.write("sub/.env", "KEY=CANARY\n");
    let moving = "while :; do mv sub sub2; mv sub2 sub; done 2>/dev/null";
    let mut mover = Jailed::start(&bench, "writer", moving);
    mover.child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    for profile in ["read-only", "writer"] {
        for _ in 0..STARTS {
            let script = "for i in 1 2 3 4 5 6; do cat sub/.env sub2/.env; done 2>/dev/null; true";
            let words = ["sandbox", "--profile", profile, "--", "sh", "-c", script];
            let answer = bench.run(&words);
            assert!(matches!(answer.code, Some(0 | 5)), "{profile}: {answer:?}");
            assert!(!answer.out.contains("CANARY"), "{profile}: {answer:?}");
        }
    }
    let pid = rustix::process::Pid::from_child(&mover.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    mover.child.wait().unwrap();
}

/// Outside of any jail: nobody keeps the person from it.
#[test]
fn a_jail_that_starts_while_things_move_hides_them_or_does_not_start() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let bench = Bench::with(&[("a.txt", "a\n")]);
    bench.write("sub/.env", "KEY=CANARY\n");
    let (is_over, moved) = (AtomicBool::new(false), AtomicBool::new(false));
    let (one, other) = (bench.repo().join("sub"), bench.repo().join("sub2"));
    let mut answers = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                for (from, to) in [(&one, &other), (&other, &one)] {
                    moved.fetch_or(fs::rename(from, to).is_ok(), Ordering::Relaxed);
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
            }
        });
        for _ in 0..STARTS {
            let script = "cat sub/.env sub2/.env";
            answers.push(bench.run(&["sandbox", "--profile", "writer", "--", "sh", "-c", script]));
        }
        is_over.store(true, Ordering::Relaxed);
    });
    for answer in answers {
        assert!(!answer.out.contains("CANARY"), "{answer:?}");
        if answer.code == Some(5) {
            assert!(answer.err.contains("Let nothing be moved in the workspace"), "{answer:?}");
        }
    }
    assert!(moved.load(Ordering::Relaxed));
}

#[test]
fn no_socket_in_the_git_folder_of_a_worktree_is_reached() {
    let bench = Bench::with(&[("a.txt", "a\n")]);
    bench.git(&["worktree", "add", "--quiet", "../tree"]);
    let socket = bench.repo().join(".git/fsmonitor--daemon.ipc");
    let _bound = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let ask = format!("import socket; socket.socket(socket.AF_UNIX).connect({socket:?})");
    let free = Command::new("python3").args(["-c", &ask]).output().unwrap();
    assert!(free.status.success(), "{free:?}");
    for profile in ["read-only", "validate", "writer"] {
        let tree = bench.path("tree");
        let git = ["sandbox", "--profile", profile, "--", "git", "log", "--format=%s"];
        let answer = bench.run_in(&tree, &git, &[]);
        assert_eq!((answer.code, answer.out.as_str()), (Some(0), "first\n"), "{answer:?}");
        let words = ["sandbox", "--profile", profile, "--", "python3", "-c", &ask];
        let answer = bench.run_in(&tree, &words, &[]);
        assert_eq!(answer.code, Some(1), "{profile}: {answer:?}");
        assert!(answer.err.contains("Error"), "{profile}: {answer:?}");
    }
}

#[test]
fn a_jail_that_root_starts_has_none_of_roots_groups() {
    let obstacle = (!machine::is_root()).then_some("it takes root");
    if !machine::may_go("groups of root", obstacle) {
        return;
    }
    let bench = Bench::with(&[("a.txt", "a\n")]);
    let start = |words: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--groups", "4242,4243", "--"]).args(words).current_dir(bench.repo());
        Answer::of(&command.env("HOME", bench.path("home")).output().unwrap())
    };
    let show = ["grep", "Groups", "/proc/self/status"];
    assert_eq!(start(&show).out.trim(), "Groups:\t4242 4243");
    let program = machine::program().display().to_string();
    let jailed = [&[&program, "sandbox", "--profile", "read-only", "--"][..], &show].concat();
    let answer = start(&jailed);
    assert_eq!((answer.code, answer.out.trim()), (Some(0), "Groups:"), "{answer:?}");
}

#[test]
fn another_name_of_a_secret_is_hidden_too_and_names_outside_are_told() {
    let bench = Bench::with(&[("a.txt", "a\n")]);
    bench.write(".env", "KEY=CANARY\n");
    bench.write("node_modules/b/c", "c\n");
    let link = |from: &str, to: &str| {
        fs::hard_link(bench.repo().join(from), bench.repo().join(to)).unwrap();
    };
    link(".env", "plain.txt");
    link(".env", "node_modules/b/plain");
    link("node_modules/b/c", "../outside");
    link("a.txt", "b.txt");
    for profile in ["read-only", "validate", "writer"] {
        let words =
            ["sandbox", "--profile", profile, "--", "cat", "plain.txt", "node_modules/b/plain"];
        let answer = bench.run(&words);
        assert_eq!((answer.code, answer.out.as_str()), (Some(0), ""), "{profile}: {answer:?}");
        let is_told = answer.err.contains("node_modules/b/c`: a write changes");
        assert_eq!(is_told, profile == "writer", "{answer:?}");
    }
}

#[test]
fn protected_names_deep_in_a_folder_are_shut_and_new_ones_are_told() {
    for user in users() {
        let bench = Bench::with(&[("a.txt", "a\n")]);
        let there = ["n/.git/hooks/pre-commit", "sub/.claude/settings.json", "a/b/.mcp.json"];
        for path in there {
            bench.write(path, "before\n");
        }
        let script = "for f in n/.git/hooks/pre-commit sub/.claude/settings.json a/b/.mcp.json sub/.claude/new; do \
            echo evil > $f && echo wrote $f; done; rm -rf n/.git a/b/.mcp.json; echo x > sub/work; \
            mkdir -p pkg/.vscode && echo made > pkg/.vscode/tasks.json; true";
        let answer = Jailed::start_as(user, &bench, "writer", script).go();
        assert_eq!((answer.code, answer.out.as_str()), (Some(0), ""), "{answer:?}");
        for path in there {
            assert_eq!(fs::read_to_string(bench.repo().join(path)).unwrap(), "before\n", "{path}");
        }
        assert!(bench.repo().join("sub/work").exists());
        assert!(answer.err.contains("repo/pkg/.vscode` is new"), "{answer:?}");
        assert!(!answer.err.contains(".claude` is new"), "{answer:?}");
    }
}

#[test]
fn a_state_folder_that_others_may_write_is_not_used() {
    let bench = Bench::with(&[("a.txt", "a\n")]);
    let state = bench.path("state/sequester");
    fs::create_dir_all(state.join("jails")).unwrap();
    fs::set_permissions(&state, fs::Permissions::from_mode(0o777)).unwrap();
    let place = bench.path("state").display().to_string();
    for arguments in [
        vec!["sandbox", "--profile", "read-only", "--", "true"],
        vec!["task", "x", "--model", "literal"],
    ] {
        let answer = bench.run_in(&bench.repo(), &arguments, &[("XDG_STATE_HOME", &place)]);
        assert_eq!(answer.code, Some(1), "{answer:?}");
        assert!(answer.err.contains("others may write to it"), "{answer:?}");
    }
}

#[test]
fn a_host_on_the_machines_loopback_is_reached_by_ordinary_clients() {
    let bench = Bench::with(&[("a.txt", "a\n")]);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut line = String::new();
        BufReader::new(stream.try_clone().unwrap()).read_line(&mut line).unwrap();
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello";
        stream.write_all(answer.as_bytes()).unwrap();
    });
    let host = format!("127.0.0.1:{port}");
    let ask =
        format!("import urllib.request as u; print(u.urlopen('http://{host}/').read().decode())");
    let arguments =
        ["sandbox", "--profile", "research", "--net", &host, "--", "python3", "-c", &ask];
    let answer = bench.run(&arguments);
    assert_eq!((answer.code, answer.out.trim()), (Some(0), "hello"), "{answer:?}");
    server.join().unwrap();
}

#[test]
fn marks_of_layers_on_ones_own_files_hide_nothing_from_a_reader() {
    use rustix::fs::{XattrFlags, setxattr};
    let bench = Bench::with(&[("src/evil.rs", "evil\n"), ("ok/a", "a\n"), ("empty", "")]);
    let mark = |path: &str, name: &str, value: &[u8]| {
        setxattr(bench.repo().join(path), name, value, XattrFlags::CREATE).unwrap();
    };
    mark("src", "user.overlay.redirect", b"/ok");
    mark("ok", "user.overlay.opaque", b"y");
    mark("empty", "user.overlay.whiteout", b"y");
    for profile in ["read-only", "research"] {
        let words = ["sandbox", "--profile", profile, "--", "cat", "src/evil.rs", "ok/a", "empty"];
        let answer = bench.run(&words);
        assert_eq!((answer.code, answer.out.as_str()), (Some(0), "evil\na\n"), "{answer:?}");
    }
}
