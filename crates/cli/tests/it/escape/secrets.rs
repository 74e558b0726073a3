//! Secrets that the workspace itself holds, and what passes on to a program from whoever starts the jail.

use super::attempt::Row::{Py, Sh};
use super::attempt::{Attempt, Breach, PLAIN, Row, Shape, rows};
use super::leg::APART;

pub(super) fn attempts() -> Vec<Attempt> {
    let held = Shape { breach: Breach::Holds("outside/held"), ..PLAIN };
    [
        rows("secrets", Shape { legs: APART, ..PLAIN }, IN_THE_WORKSPACE),
        rows("leaks", PLAIN, LEAKS),
        rows("leaks", PLAIN, ABOVE),
        rows("leaks", held, HELD),
    ]
    .concat()
}

/// A workspace like this one is refused where there are no namespaces.
const IN_THE_WORKSPACE: &[Row] = &[
    Sh("a secret of the workspace", "cat .env"),
    Sh("a key in the workspace", "cat id_rsa"),
    Sh("a secret in a folder of the workspace", "cat deploy/.env"),
    Sh("the plan", "cat .sequester/plan.md"),
    Sh("the password of the remote", "cat .git/config"),
    Sh("the password of the remote, by git", "git remote get-url origin"),
    Sh("credentials beside what git keeps", "cat .git/.git-credentials"),
    Sh("the credentials of git's own store", "cat .git/credentials"),
    Sh("the password in what git logged", "cat .git/logs/HEAD"),
    Sh("the password in what git fetched last", "cat .git/FETCH_HEAD"),
    Sh("the password in configuration that is included", "cat tools/gitconfig"),
    Sh("what an editor kept of a secret", "cat '#.env#'"),
    Sh("credentials of a cloud", "cat google-credentials.json"),
    Sh("a store of passwords", "cat .password-store/mail.gpg"),
    Sh("a search of the workspace", "grep -rsh TOKEN= ."),
    Sh("an archive of the workspace", "tar -cf - . | grep -a TOKEN="),
    Sh("another name of a secret", "cat twin.txt"),
    Sh("a copy of a secret", r#"d=$(mktemp -d); cp .env "$d/x"; cat "$d/x"; rm -r "$d""#),
    Sh("a hard link to a secret", "ln .env plain; cat plain"),
    Sh("a link to a secret", r#"d=$(mktemp -d); ln -s "$WS/.env" "$d/x"; cat "$d/x"; rm -r "$d""#),
    Sh("a secret as a program", ". ./.env; echo $TOKEN"),
    Sh("a secret as a change", "git diff --no-index /dev/null .env"),
    Sh("a secret hashed into git", "git cat-file -p $(git hash-object -w .env)"),
    Sh(
        "a secret in a folder that was moved",
        "cp -r deploy before; mv deploy moved; cat moved/.env; mv moved deploy",
    ),
    Py(
        "a secret moved away",
        r#"
os.rename(WS + "/.env", WS + "/plain.txt")
print(open(WS + "/plain.txt").read())
os.rename(WS + "/plain.txt", WS + "/.env")
"#,
    ),
    Py(
        "a secret after what hides it is gone",
        r#"
detach = 2
for path in (".env", "id_rsa", "deploy/.env"):
    call("umount2", (WS + "/" + path).encode(), detach)
print(open(WS + "/id_rsa").read())
"#,
    ),
    Py(
        "a secret by the number of its file",
        r#"
for name in os.listdir(WS):
    try:
        if os.stat(WS + "/" + name).st_size > 0: print(open(WS + "/" + name).read())
    except OSError: pass
"#,
    ),
];

const LEAKS: &[Row] = &[
    Sh("a variable of the person's", "env"),
    Sh(
        "a variable of the person's, by `/proc`",
        "cat /proc/self/environ /proc/$$/environ /proc/$PPID/environ",
    ),
    Sh(
        "a variable of whoever runs the jail",
        r#"cat /proc/$$/environ; test -e "/proc/$PID" || cat /proc/1/environ /proc/[0-9]*/environ"#,
    ),
    Sh("an open file of the person's", "cat <&9"),
    Sh("an open file of the person's, by `/proc`", "cat /proc/self/fd/9 /dev/fd/9"),
    Py(
        "any open file of the person's",
        r#"
for number in range(3, 1024):
    try: print(os.pread(number, 99, 0))
    except OSError: pass
"#,
    ),
    Sh("a variable, by another program", "node -p 'JSON.stringify(process.env)'"),
];

/// By those that are above a program, up to the first of all: in a jail, to what was forked to make it.
const ABOVE: &[Row] = &[
    Py(
        "the variables of processes above",
        r#"
for process in above():
    for path in ("environ", f"task/{process}/environ"):
        try: print(open(f"/proc/{process}/{path}").read(999))
        except OSError: pass
"#,
    ),
    Py(
        "the arguments of processes above",
        r#"
for process in (PID, *above()):
    try: print(open(f"/proc/{process}/cmdline").read(999))
    except OSError: pass
"#,
    ),
    Py(
        "the memory of processes above",
        r#"
# In two parts, so that it is not found in this text.
wanted, piece = b"DEPLOY_" + b"TOKEN=CANARY", 1 << 20
for process in above():
    try:
        memory = os.open(f"/proc/{process}/mem", os.O_RDONLY)
        parts = [line.split()[0] for line in open(f"/proc/{process}/maps") if " rw" in line]
    except OSError: continue
    for first, last in ([int(one, 16) for one in part.split("-")] for part in parts):
        for at in range(first, last, piece):
            try: text = os.pread(memory, min(piece, last - at), at)
            except OSError: break
            if wanted in text:
                sys.exit(text[text.index(wanted):][:99])
"#,
    ),
    Py(
        "the open files of processes above",
        r#"
for process in above():
    try: numbers = os.listdir(f"/proc/{process}/fd")
    except OSError: continue
    for path in (f"/proc/{process}/fd/{number}" for number in numbers):
        try:
            if os.path.isfile(path): print(open(path).read(99))
        except (OSError, ValueError): pass
"#,
    ),
    Py(
        "an open file taken from processes above",
        r#"
for process in above():
    handle = call("pidfd_open", process, 0)
    for number in range(64):
        taken = call("pidfd_getfd", handle, number, 0)
        try:
            if os.path.isfile(f"/proc/self/fd/{taken}"): print(os.pread(taken, 99, 0))
        except OSError: pass
"#,
    ),
];

const HELD: &[Row] = &[
    Sh("a write to an open file of the person's", r#"echo "$MARK" >&8"#),
    Sh("a write to an open file of the person's, by `/proc`", r#"echo "$MARK" >> /proc/self/fd/8"#),
];
