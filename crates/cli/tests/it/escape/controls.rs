//! What must work in a jail: one in which nobody can work is switched off.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;

use super::attempt::Row::{Py, Sh};
use super::attempt::{Attempt, Breach, CONNECTED, EVERY, PLAIN, Place, Profile, Row, Shape, rows};
use super::ground::Ground;
use super::leg::{APART, Leg};
use super::trial::in_parallel;
use super::{may_go, profiles};

/// Each says so when it works. It is asked for where it works without the jail.
fn controls() -> Vec<Attempt> {
    let says = Shape { breach: Breach::Says, place: Place::Workspace, ..PLAIN };
    let writing = &[Profile::Validate, Profile::Writer, Profile::FullAccess];
    let mut all = [
        rows("controls", says, ANYWHERE),
        rows("controls", Shape { legs: APART, ..says }, WITH_NAMESPACES),
        rows("controls", Shape { legs: APART, profiles: writing, ..says }, IN_THE_WORKSPACE),
        rows("controls", Shape { legs: APART, profiles: CONNECTED, ..says }, NAMED_HOST),
    ]
    .concat();
    for (number, control) in all.iter_mut().enumerate() {
        control.id = format!("c{number:03}");
    }
    all
}

const ANYWHERE: &[Row] = &[
    Sh("a shell", "test $((6 * 7)) = 42 && say"),
    Sh("bash", "bash -c 'read word < <(echo hi); [[ $word == hi ]]' && say"),
    Sh(
        "python",
        "python3 -c 'import json, ssl, sqlite3, ctypes; print(6 * 7)' | grep -qx 42 && say",
    ),
    Sh("node", "node -p '6 * 7' | grep -qx 42 && say"),
    Sh("perl", "perl -e 'print 6 * 7' | grep -qx 42 && say"),
    Sh(
        "make",
        r#"cd "$(mktemp -d)" && printf 'all:\n\t@echo made\n' > Makefile && make | grep -q made && say"#,
    ),
    Sh("git status", "git status --short > /dev/null && say"),
    Sh("git log", "git log --oneline | grep -q first && say"),
    Sh(
        "git diff",
        "git diff --stat HEAD > /dev/null && git show HEAD:README.md | grep -q Shop && say",
    ),
    Sh("pipes", "seq 1 100000 | sort -rn | head -1 | grep -qx 100000 && say"),
    Sh("temporary files", r#"f=$(mktemp) && echo x > "$f" && grep -q x "$f" && rm "$f" && say"#),
    Sh(
        "a home",
        r#"echo x > "$HOME/x" && mkdir -p "$HOME/.cache/y" && grep -q x "$HOME/x" && say"#,
    ),
    Sh("signals", "sleep 30 & kill $!; wait $!; test $? = 143 && say"),
    Sh("a time limit of its own", "timeout 0.2 sleep 5; test $? = 124 && say"),
    Sh(
        "text of any language",
        "python3 -c 'print(\"gr\u{fc}\u{df}e \u{65e5}\u{672c}\")' | grep -q 'gr\u{fc}\u{df}e \u{65e5}\u{672c}' && say",
    ),
    Sh("time zones", r#"test "$(TZ=Europe/Berlin date -d @0 +%H)" = 01 && say"#),
    Sh("standard output by its name", "echo x > /dev/stdout | grep -q x && echo y >&2 && say"),
    Sh(
        "devices",
        "head -c 8 /dev/urandom > /dev/null && head -c 8 /dev/zero | wc -c | grep -qx 8 && say",
    ),
    Sh("the name of the user", "id -un > /dev/null && say"),
    Sh(
        "files of the workspace",
        "grep -q Shop README.md && find . -name main.c | grep -q src && say",
    ),
    Sh("a search", "grep -rn 'int main' src | grep -q main.c && say"),
    Sh("locks", r#"cd "$(mktemp -d)" && flock lock true && say"#),
    Py(
        "a database",
        r#"
import sqlite3, tempfile
with tempfile.TemporaryDirectory() as folder:
    line = sqlite3.connect(folder + "/x.db")
    line.execute("pragma journal_mode=wal")
    line.execute("create table t (x)")
    line.execute("insert into t values (42)")
    line.commit()
    if line.execute("select x from t").fetchone() == (42,): say()
"#,
    ),
    Py(
        "threads",
        r#"
found = []
threads = [threading.Thread(target=found.append, args=(number,)) for number in range(20)]
for thread in threads: thread.start()
for thread in threads: thread.join()
if sorted(found) == list(range(20)): say()
"#,
    ),
    Py(
        "children",
        r#"
done = subprocess.run(["sh", "-c", "cat; exit 3"], input=b"x", capture_output=True)
if (done.stdout, done.returncode) == (b"x", 3): say()
"#,
    ),
    Py(
        "memory that runs",
        r#"
code = mmap.mmap(-1, 4096, prot=7)
if os.uname().machine == "x86_64":
    code.write(b"\xb8\x2a\x00\x00\x00\xc3")
    address = ctypes.addressof(ctypes.c_char.from_buffer(code))
    if ctypes.CFUNCTYPE(ctypes.c_int)(address)() == 42: say()
"#,
    ),
];

const WITH_NAMESPACES: &[Row] = &[
    // Without namespaces nobody may set a mode or a time: of which file, only namespaces could tell.
    Sh(
        "a compiler, and what it made",
        r#"
cd "$(mktemp -d)" && echo 'int main(void) { return 42; }' > a.c && cc -o a a.c && ./a; test $? = 42 && say"#,
    ),
    Sh(
        "a repository of its own",
        r#"
cd "$(mktemp -d)" && git init --quiet . && echo x > a && git add a &&
    git -c user.name=T -c user.email=t@example.com commit --quiet -m one && git log --oneline | grep -q one && say"#,
    ),
    Sh(
        "archives",
        r#"
cd "$(mktemp -d)" && echo x > a && tar -czf a.tar.gz a && rm a && tar -xzf a.tar.gz && grep -q x a && say"#,
    ),
    Py(
        "a server and its client",
        r#"
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
client.send(b"hello")
if server.accept()[0].recv(9) == b"hello": say()
"#,
    ),
    Py(
        "a server and its client by IPv6",
        r#"
server = socket.create_server(("::1", 0), family=socket.AF_INET6)
client = socket.create_connection(server.getsockname()[:2])
client.send(b"hello")
if server.accept()[0].recv(9) == b"hello": say()
"#,
    ),
    Sh(
        "a web server and its client",
        r#"
node -e '
const server = require("http").createServer((_, reply) => reply.end("hello"));
server.listen(0, "localhost", async () => {
  const text = await (await fetch(`http://localhost:${server.address().port}`)).text();
  console.log(text); process.exit();
});' | grep -q hello && say"#,
    ),
    Py(
        "a socket in a folder",
        r#"
import tempfile
with tempfile.TemporaryDirectory() as folder:
    server = socket.socket(socket.AF_UNIX)
    server.bind(folder + "/s")
    server.listen()
    client = socket.socket(socket.AF_UNIX)
    client.connect(folder + "/s")
    client.send(b"hello")
    if server.accept()[0].recv(9) == b"hello": say()
"#,
    ),
    Sh("a list of processes", "ps -e | grep -q ps && say"),
    Sh(
        "a terminal",
        "script -qec 'test -t 0 && echo terminal' /dev/null < /dev/null | grep -q terminal && say",
    ),
    Py(
        "a terminal, by python",
        r#"
import pty
child, terminal = pty.fork()
if child == 0: os.execvp("tty", ["tty"])
text = os.read(terminal, 99)
os.waitpid(child, 0)
if b"/dev/pts/" in text: say()
"#,
    ),
    Py(
        "processes that share work",
        r#"
import multiprocessing
with multiprocessing.get_context("fork").Pool(2) as pool:
    if pool.map(abs, [-1, -2]) == [1, 2]: say()
"#,
    ),
    Py(
        "shared memory",
        r#"
from multiprocessing import shared_memory
shared = shared_memory.SharedMemory(create=True, size=4096)
shared.buf[0] = 42
again = shared_memory.SharedMemory(name=shared.name)
if again.buf[0] == 42: say()
again.close()
shared.close()
shared.unlink()
"#,
    ),
    Sh(
        "a program that was just written",
        r#"
cd "$(mktemp -d)" && printf '#!/bin/sh\necho 42\n' > x && chmod 755 x && ./x | grep -qx 42 && say"#,
    ),
];

const IN_THE_WORKSPACE: &[Row] = &[
    Sh("a file", r#"echo x > "$T/new" && grep -q x "$T/new" && say"#),
    Sh("a file moved", r#"echo x > "$T/a" && mv "$T/a" "$T/b" && test ! -e "$T/a" && say"#),
    Sh(
        "a folder made, filled and removed",
        r#"
mkdir -p "$T/d/e" && echo x > "$T/d/e/f" && rm -r "$T/d" && test ! -e "$T/d" && say"#,
    ),
    Sh("a mode", r#"echo x > "$T/m" && chmod 700 "$T/m" && test -x "$T/m" && say"#),
    Sh("a build", r#"cc -o "$T/program" src/main.c && "$T/program" && say"#),
    Sh("a link", r#"ln -s file "$T/link" && grep -q before "$T/link" && say"#),
];

/// So that what does not arrive elsewhere does not for want of a way.
const NAMED_HOST: &[Row] = &[
    Py(
        "a request to the named host",
        r#"
line = through(f"GET http://127.0.0.1:{NAMED}/ HTTP/1.1\r\nHost: 127.0.0.1:{NAMED}\r\n\r\n", receive=False)
if b"200 OK" in line.recv(99): say()
"#,
    ),
    Py(
        "a connection to the named host",
        r#"
line = through(f"CONNECT 127.0.0.1:{NAMED} HTTP/1.1\r\nHost: 127.0.0.1:{NAMED}\r\n\r\n", "GET / HTTP/1.1\r\n\r\n")
if b"200 OK" in line.recv(99): say()
"#,
    ),
    Sh(
        "a request by curl",
        r#"
curl -s -m 5 --noproxy '' "http://127.0.0.1:$NAMED/" | grep -q ok && say"#,
    ),
];

fn work(leg: Leg) {
    if !may_go(leg) {
        return;
    }
    let all = controls();
    let of_leg: Vec<&Attempt> = all.iter().filter(|one| one.shape.legs.contains(&leg)).collect();
    let mut ground = Ground::new(leg, &of_leg);
    let free = ground.run(None, None);
    let (asked, others): (Vec<&Attempt>, Vec<&Attempt>) =
        of_leg.into_iter().partition(|one| ground.is_breached(one, &free));
    for one in others {
        eprintln!("{leg:?}: not asked for: {}: {}", one.name, free.of_attempt(&one.id));
    }
    let faults = in_parallel(profiles(leg), |profile| {
        let of_profile = asked.iter().filter(|one| one.shape.profiles.contains(profile)).copied();
        let of_profile: Vec<&Attempt> = of_profile.collect();
        let mut ground = Ground::new(leg, &of_profile);
        let printed = ground.run(Some(*profile), None);
        let broken = of_profile.iter().filter(|one| !ground.is_breached(one, &printed));
        let broken = broken.map(|one| {
            let text = printed.of_attempt(&one.id);
            format!("{leg:?}, {}: `{}` does not work: {text}", profile.name(), one.name)
        });
        broken.chain(printed.trouble.clone()).collect::<Vec<_>>()
    });
    eprintln!("{leg:?}: {} of {} controls", asked.len(), all.len());
    assert!(asked.len() >= 15, "{leg:?}: only {} controls work without a jail", asked.len());
    let faults = faults.concat();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn roots_jail_can_be_worked_in() {
    work(Leg::Root);
}

#[test]
fn a_users_jail_can_be_worked_in() {
    work(Leg::User);
}

#[test]
fn a_jail_without_namespaces_can_be_worked_in() {
    work(Leg::Fallback);
}

/// As whoever runs this, with their own tool chain.
fn own_leg() -> Leg {
    if crate::machine::is_root() { Leg::Root } else { Leg::User }
}

/// The tool chain that runs this test comes first: a home of its own knows no other.
fn search_path() -> String {
    let cargo = Path::new(env!("CARGO")).parent().unwrap();
    format!("{}:{}", cargo.display(), std::env::var("PATH").unwrap_or_default())
}

const CARGO: &str = "cd \"$(mktemp -d)\" && cargo new --quiet --vcs none shop && cd shop && cargo test --quiet && cargo run";

#[test]
fn rust_is_built_and_run_in_a_jail() {
    let ground = Ground::new(own_leg(), &[]);
    for profile in [Profile::Validate, Profile::Writer] {
        let mut command = ground.jailed(profile, &[], &["/bin/sh", "-c", CARGO]);
        for name in ["HOME", "CARGO_HOME", "RUSTUP_HOME"] {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        command.env("PATH", search_path());
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("Hello, world!"), "{output:?}");
    }
}

/// As machines have it that are made for building: one installation for all, outside of every home.
#[test]
fn rust_is_built_in_a_jail_by_a_rustup_that_lies_outside_of_the_home() {
    let search = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&search).map(|folder| folder.join("rustup"));
    let Some(rustup) = found.into_iter().find(|path| path.is_file()) else {
        return eprintln!("not tried: there is no rustup");
    };
    let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
    if ["/mnt", "/srv", "/tmp", "/var"].iter().any(|closed| place.starts_with(closed)) {
        return eprintln!("not tried: tools are not taken from {}", place.display());
    }
    let kept = tempfile::Builder::new().prefix("rustup-").tempdir_in(place).unwrap();
    let (rustup_home, cargo_home) = (kept.path().join("rustup"), kept.path().join("cargo"));
    let (toolchains, bin) = (rustup_home.join("toolchains"), cargo_home.join("bin"));
    fs::create_dir_all(&toolchains).unwrap();
    fs::create_dir_all(&bin).unwrap();
    let toolchain = Path::new(env!("CARGO")).ancestors().nth(2).unwrap();
    symlink(toolchain, toolchains.join("own")).unwrap();
    let settings = "version = \"12\"\ndefault_toolchain = \"own\"\n";
    fs::write(rustup_home.join("settings.toml"), settings).unwrap();
    fs::copy(rustup, bin.join("rustup")).unwrap();
    for name in ["cargo", "rustc", "rustdoc"] {
        symlink("rustup", bin.join(name)).unwrap();
    }
    let ground = Ground::new(own_leg(), &[]);
    for profile in [Profile::Validate, Profile::Writer] {
        let mut command = ground.jailed(profile, &[], &["/bin/sh", "-c", CARGO]);
        command.env("RUSTUP_HOME", &rustup_home).env("CARGO_HOME", &cargo_home);
        command.env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display()));
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("Hello, world!"), "{output:?}");
    }
    let names = |folder: &Path| fs::read_dir(folder).unwrap().count();
    assert_eq!((names(&rustup_home), names(&cargo_home)), (2, 1), "what is written is thrown away");
}

#[test]
fn a_command_keeps_its_code() {
    let ground = Ground::new(own_leg(), &[]);
    for (script, code) in
        [("exit 7", 7), ("true", 0), ("kill -TERM $$", 143), ("kill -KILL $$", 137)]
    {
        let output = ground.jailed(Profile::ReadOnly, &[], &["/bin/sh", "-c", script]).output();
        assert_eq!(output.as_ref().unwrap().status.code(), Some(code), "{script}: {output:?}");
    }
    let output = ground.jailed(Profile::ReadOnly, &[], &["/no/such/program"]).output().unwrap();
    assert_eq!(output.status.code(), Some(127), "{output:?}");
    for (limit, script, code) in [
        ("wall=1s", "sleep 20", 124),
        ("output=10K", "head -c 1000000 /dev/zero", 137),
        ("cpu=1s", "while :; do :; done", 137),
    ] {
        let mut command = ground.jailed(Profile::ReadOnly, &[limit], &["/bin/sh", "-c", script]);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{limit}: {output:?}");
        assert!(!output.stderr.is_empty(), "{limit}: no reason is given");
    }
}

#[test]
fn what_goes_through_a_jail_arrives_whole() {
    let ground = Ground::new(own_leg(), &[]);
    for profile in EVERY {
        let mut child = ground
            .jailed(*profile, &[], &["/bin/cat"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let sent: Vec<u8> = (0..3_000_000_u32).map(|number| (number % 251) as u8).collect();
        let (mut stdin, copy) = (child.stdin.take().unwrap(), sent.clone());
        let writer = std::thread::spawn(move || stdin.write_all(&copy));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap().unwrap();
        assert!(output.status.success() && output.stdout == sent, "{}", profile.name());
    }
}
