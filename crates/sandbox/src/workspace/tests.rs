use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use sequester_core::path::RepoPath;
use tempfile::TempDir;

use super::{Layer, State, Swept, copy::copy, ignored};
use sequester_core::change::Action::{self, Create, Delete, Mode, Modify};

use crate::harvest::{Rules, compute};

fn write(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn path(text: &str) -> RepoPath {
    RepoPath::parse(text).unwrap()
}

/// A state folder with a base in it.
struct Bench {
    folder: TempDir,
    state: State,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let state = State::open(&folder.path().join("state")).unwrap();
        for (name, content) in
            [("src/a.rs", "a\n"), ("src/deep/b.rs", "b\n"), ("docs/c.md", "c\n"), ("top", "t\n")]
        {
            write(&folder.path().join("base").join(name), content);
        }
        symlink("src", folder.path().join("base/link")).unwrap();
        Self { folder, state }
    }

    /// What a sweep takes away. A child that another test starts holds every lock until it is another program: then the next does.
    fn swept(&self, kept: usize) -> Swept {
        for _ in 0..500 {
            let swept = self.state.sweep(kept).unwrap();
            if swept != Swept::default() {
                return swept;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Swept::default()
    }

    fn base(&self) -> PathBuf {
        self.folder.path().join("base")
    }

    /// The layer over the base, with what `script` did in it.
    fn mount(&self, layer: &Layer, script: &str) -> Mounted {
        Mounted::start(&[&self.base()], layer.store(), &self.folder.path().join("merged"), script)
    }
}

/// An overlay in a namespace of its own, for as long as this lives.
struct Mounted {
    child: Child,
    folder: PathBuf,
    said: Vec<String>,
}

impl Mounted {
    fn start(lower: &[&Path], store: &Path, at: &Path, script: &str) -> Self {
        fs::create_dir_all(at).unwrap();
        let lower: Vec<_> = lower.iter().map(|one| one.display().to_string()).collect();
        let options = format!(
            "userxattr,lowerdir={},upperdir={store}/upper,workdir={store}/work",
            lower.join(":"),
            store = store.display()
        );
        let script = format!(
            "mount -t overlay overlay -o '{options}' '{at}' && cd '{at}' && {{ {script}\n}} 2>&1; echo ready; cat > /dev/null",
            at = at.display()
        );
        let mut command = Command::new("unshare");
        command.args(["-Urm", "sh", "-c", &script]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut said = Vec::new();
        for line in BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok) {
            if line == "ready" {
                break;
            }
            said.push(line);
        }
        let folder = PathBuf::from(format!("/proc/{}/root{}", child.id(), at.display()));
        Self { child, folder, said }
    }

    fn harvest(&self, base: &Path) -> Vec<(String, Action)> {
        let change = compute(&self.folder, base, &Rules::default()).unwrap();
        assert_eq!(change.refused, []);
        change.entries.into_iter().map(|entry| (entry.path, entry.action)).collect()
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
    }
}

fn actions(list: &[(&str, Action)]) -> Vec<(String, Action)> {
    list.iter().map(|(path, action)| ((*path).to_owned(), *action)).collect()
}

#[test]
fn the_merged_view_of_a_layer_is_harvested_and_the_base_never_changes() {
    let bench = Bench::new();
    let attempt = bench.state.begin("one").unwrap();
    let layer = attempt.layer("tree", None).unwrap();
    let before = fs::metadata(bench.base().join("src/a.rs")).unwrap().ctime_nsec();
    let mounted = bench.mount(
        &layer,
        "mv src lib; rm -r docs; mkdir docs; echo new > docs/d.md; rm link; mkdir link; echo x > link/x
         rm top; echo t > top; echo y > y; chmod 755 lib/a.rs; rm lib/a.rs; printf 'a\\n' > lib/a.rs",
    );
    assert_eq!(mounted.said, Vec::<String>::new());
    let expected = [
        ("docs/c.md", Delete),
        ("docs/d.md", Create),
        ("lib/a.rs", Create),
        ("lib/deep/b.rs", Create),
        ("link", Delete),
        ("link/x", Create),
        ("src/a.rs", Delete),
        ("src/deep/b.rs", Delete),
        ("y", Create),
    ];
    assert_eq!(mounted.harvest(&bench.base()), actions(&expected));
    drop(mounted);
    let second = attempt.layer("second", None).unwrap();
    // The time and the size are put back: a change of content shows all the same.
    let script = "touch -r top ../time-of-top; printf 'u\\n' > top; touch -r ../time-of-top top; chmod 755 docs/c.md; touch src/a.rs";
    let mounted = bench.mount(&second, script);
    assert_eq!(mounted.harvest(&bench.base()), actions(&[("docs/c.md", Mode), ("top", Modify)]));
    drop(mounted);
    assert_eq!(fs::metadata(bench.base().join("src/a.rs")).unwrap().ctime_nsec(), before);
    attempt.discard().unwrap();
    assert_eq!(fs::read_dir(bench.folder.path().join("state/attempts")).unwrap().count(), 0);
}

#[test]
fn a_folder_that_was_copied_up_can_be_renamed_and_one_that_was_not_cannot() {
    let bench = Bench::new();
    let attempt = bench.state.begin("one").unwrap();
    let rename = "perl -e 'rename(\"src\", \"lib\") or print \"$!\\n\"'";
    let plain = attempt.layer("plain", None).unwrap();
    assert_eq!(bench.mount(&plain, rename).said, ["Invalid cross-device link"]);

    let layer = attempt.layer("copied", None).unwrap();
    let folders = ["src/deep", "src", "absent", "top"].map(path);
    assert_eq!(layer.copy_up(&bench.base(), &folders).unwrap(), []);
    let mounted = bench.mount(&layer, ":");
    assert_eq!(mounted.harvest(&bench.base()), []);
    drop(mounted);
    let mounted = bench.mount(&layer, rename);
    assert_eq!(mounted.said, Vec::<String>::new());
    let expected = [
        ("lib/a.rs", Create),
        ("lib/deep/b.rs", Create),
        ("src/a.rs", Delete),
        ("src/deep/b.rs", Delete),
    ];
    assert_eq!(mounted.harvest(&bench.base()), actions(&expected));
}

#[test]
fn a_file_is_given_another_time_in_one_layer_alone() {
    let bench = Bench::new();
    let attempt = bench.state.begin("one").unwrap();
    let layer = attempt.layer("tree", None).unwrap();
    let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_234_567_890);
    layer.copy_up(&bench.base(), &[path("docs")]).unwrap();
    layer
        .touch(&bench.base(), &[(path("src/deep/b.rs"), then), (path("docs/c.md"), then)])
        .unwrap();
    let mounted = bench.mount(&layer, "stat -c '%n %Y' src/deep/b.rs docs/c.md; ls src");
    let said = ["src/deep/b.rs 1234567890", "docs/c.md 1234567890", "a.rs", "deep"];
    assert_eq!(mounted.said, said);
    assert_eq!(mounted.harvest(&bench.base()), []);
}

#[test]
fn layers_over_several_folders_show_the_highest() {
    let bench = Bench::new();
    let above = bench.folder.path().join("above");
    write(&above.join("src/a.rs"), "above\n");
    let attempt = bench.state.begin("one").unwrap();
    let layer = attempt.layer("tree", None).unwrap();
    let merged = bench.folder.path().join("merged");
    let mounted =
        Mounted::start(&[&above, &bench.base()], layer.store(), &merged, "cat src/a.rs top");
    assert_eq!(mounted.said, ["above", "t"]);
}

/// What a hostile program leaves: folders without rights, deep ones, names like those that the removal uses, links.
fn leave_a_mess(bench: &Bench, layer: &Layer, kept: &Path) {
    let script = format!(
        "rm -r src; mkdir -p shut/inner 0 1/2; echo x > shut/inner/file; ln -s '{}' shut/away; mkfifo pipe
         i=0; while [ $i -lt 1200 ]; do mkdir d && cd d; i=$((i+1)); done; echo x > file; cd '{}'
         chmod 0 shut/inner shut; chmod 555 1",
        kept.display(),
        bench.folder.path().join("merged").display()
    );
    let mounted = bench.mount(layer, &script);
    assert_eq!(mounted.said, Vec::<String>::new());
    drop(mounted);
    let inner = fs::metadata(layer.store().join("work/work")).unwrap();
    assert_eq!(inner.mode() & 0o777, 0);
}

#[test]
fn what_a_dead_attempt_left_is_swept_and_what_a_living_one_holds_is_not() {
    let bench = Bench::new();
    let kept = bench.folder.path().join("kept");
    write(&kept.join("file"), "x");
    let living = bench.state.begin("living").unwrap();
    let dead = bench.state.begin("dead").unwrap();
    leave_a_mess(&bench, &dead.layer("tree", None).unwrap(), &kept);
    assert_eq!(bench.state.sweep(0).unwrap(), Swept::default());
    // As a kill would: the lock ends with the process, the folder stays.
    let folder = dead.folder().to_owned();
    let aside = bench.folder.path().join("aside");
    fs::rename(&folder, &aside).unwrap();
    drop(dead);
    fs::rename(&aside, &folder).unwrap();
    let swept = Swept { attempts: 1, ..Swept::default() };
    assert_eq!(bench.swept(0), swept);
    assert!(!folder.exists() && living.folder().exists() && kept.join("file").exists());
    // Begun and not yet locked when it died.
    fs::create_dir(&folder).unwrap();
    let other = super::Left::take(folder);
    assert_eq!(bench.state.sweep(0).unwrap(), Swept::default(), "another sweep is at it");
    drop(other);
    assert_eq!(bench.swept(0), swept);
    assert!(bench.state.begin("living").is_err());
    assert!(bench.state.begin("../x").is_err());
}

#[test]
fn a_normal_user_sweeps_too() {
    if !rustix::process::geteuid().is_root() {
        return; // then the test before this one was it
    }
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o1777)).unwrap();
    let program = folder.path().join("tests");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let output = Command::new("setpriv")
        .args(["--reuid=54321", "--regid=54321", "--clear-groups"])
        .arg(&program)
        .args(["workspace::tests::", "--skip", "a_normal_user"])
        .current_dir(folder.path())
        .env("TMPDIR", folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let swept = "what_a_dead_attempt_left_is_swept_and_what_a_living_one_holds_is_not ... ok";
    assert!(output.status.success() && said.contains(swept), "{said}");
}

#[test]
fn for_root_a_layer_belongs_to_whoever_is_jailed() {
    if !rustix::process::geteuid().is_root() {
        return; // anyone else is jailed as themselves
    }
    let bench = Bench::new();
    let attempt = bench.state.begin("one").unwrap();
    let owner = crate::Ids { user: 61_234, group: 61_235 };
    let layer = attempt.layer("tree", Some(owner)).unwrap();
    layer.copy_up(&bench.base(), &[path("src/deep")]).unwrap();
    layer.touch(&bench.base(), &[(path("docs/c.md"), SystemTime::UNIX_EPOCH)]).unwrap();
    for name in
        ["upper", "work", "upper/src", "upper/src/deep", "upper/src/deep/b.rs", "upper/docs/c.md"]
    {
        let seen = fs::metadata(layer.store().join(name)).unwrap();
        assert_eq!((seen.uid(), seen.gid()), (61_234, 61_235), "{name}");
    }
}

#[test]
fn a_base_is_kept_once_and_goes_when_nobody_holds_it() {
    let bench = Bench::new();
    let attempt = bench.state.begin("maker").unwrap();
    assert!(bench.state.base("b1").unwrap().is_none());
    for content in ["first", "second"] {
        let made = attempt.make(content).unwrap();
        write(&made.join("tree/file"), content);
        let base = bench.state.keep(&made, "b1").unwrap();
        assert_eq!(fs::read_to_string(base.folder().join("tree/file")).unwrap(), "first");
    }
    let made = attempt.make("other").unwrap();
    let newer = bench.state.keep(&made, "b2").unwrap();
    let held = bench.state.base("b1").unwrap().unwrap();
    assert_eq!(bench.state.sweep(0).unwrap(), Swept::default());
    drop((held, newer));
    // Both were of use within one tick of the clock.
    let lock = bench.folder.path().join("state/bases/b2/lock");
    fs::File::open(lock).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(bench.state.sweep(2).unwrap(), Swept::default());
    // Of an earlier one of this name, which another sweep is taking away.
    let earlier = bench.folder.path().join("state/attempts/0-b2");
    write(&earlier.join("file"), "x");
    let _other = super::Left::take(earlier);
    assert_eq!(bench.swept(1), Swept { bases: 1, ..Swept::default() });
    // The one that was of use last is the one that stays.
    assert!(bench.state.base("b2").unwrap().is_none());
    assert!(bench.state.base("b1").unwrap().is_some());
}

#[test]
fn a_copy_keeps_times_bits_and_links_and_leaves_out_what_is_denied() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    write(&from.join("a/run.sh"), "x");
    write(&from.join("secret/key"), "x");
    fs::set_permissions(from.join("a/run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("/nowhere", from.join("dangling")).unwrap();
    let fifo = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, from.join("pipe"), fifo, rustix::fs::Mode::RWXU, 0)
        .unwrap();
    let copied = copy(&from, &to, None, &|path| path != "secret").unwrap();
    assert_eq!(
        (copied.files, copied.problems),
        (2, vec!["`pipe` was left out: it is no file.".to_owned()])
    );
    let seen = |root: &Path, name: &str| {
        let seen = fs::symlink_metadata(root.join(name)).unwrap();
        (seen.mtime(), seen.mtime_nsec(), seen.mode())
    };
    for name in ["a/run.sh", "dangling"] {
        assert_eq!(seen(&from, name), seen(&to, name));
    }
    assert_eq!(fs::read_link(to.join("dangling")).unwrap(), Path::new("/nowhere"));
    assert!(!to.join("secret").exists());
}

#[test]
fn ignored_build_folders_are_found_and_the_secrets_in_them() {
    let folder = tempfile::tempdir().unwrap();
    let (root, base) = (folder.path().join("root"), folder.path().join("base"));
    write(
        &root.join(".gitignore"),
        "/target/\nnode_modules\nvendor/\n.secrets/\n*.tmp\nplans/\ncached/\n",
    );
    write(&root.join(".git/info/exclude"), "local/\n");
    write(&root.join("web/.gitignore"), "dist/\n!node_modules\n");
    for name in [
        "target/debug/x",
        "app/node_modules/.npmrc",
        "app/node_modules/dep/index.js",
        "web/node_modules/kept",
        "web/dist/x",
        "dist/not-ignored",
        "vendor/tracked/x",
        "vendor/built/x",
        "local/x",
        "cached/CACHEDIR.TAG",
        "plans/tasks.md",
        ".secrets/x",
        "file.tmp",
    ] {
        write(&root.join(name), "x");
    }
    write(&root.join("untracked/node_modules/x"), "x");
    for name in ["vendor/tracked/x", "app/x", "web/x"] {
        write(&base.join(name), "x");
    }
    write(&root.join("target/.sequester/notes"), "x");
    write(
        &root.join("target/one/.git/config"),
        "[remote \"origin\"]\nurl = https://me:pass@host/x\n",
    );
    write(&root.join("target/two/.git/config"), "[remote \"origin\"]\nurl = https://host/@x\n");
    let found = ignored::find(&root, &base).unwrap();
    let expected = ["app/node_modules", "cached", "target", "web/dist"].map(path);
    assert_eq!((&found.folders[..], &found.left_out[..]), (&expected[..], &[][..]));
    let secrets = ignored::secrets(&root, &found.folders, &BTreeSet::new()).unwrap();
    let expected = ["app/node_modules/.npmrc", "target/.sequester", "target/one/.git/config"];
    assert_eq!(secrets, Some(expected.map(path).to_vec()));
}

#[test]
fn the_plan_is_hidden_in_build_folders_where_it_lies_and_where_it_was_copied() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    for (name, text) in [
        ("docs/plan.md", "Do it.\n"),
        ("target/doc/plan.md", "Do it.\n"),
        ("target/other/plan.md", "Do that.\n"),
        ("target/other/renamed.md", "Do it.\n"),
        ("target/own.md", "1. Build it.\n"),
        ("target/a", "x"),
    ] {
        write(&root.join(name), text);
    }
    let withheld = BTreeSet::from(["docs/plan.md", "target/own.md", "gone.md"].map(path));
    let hidden = ignored::secrets(root, &[path("target")], &withheld).unwrap();
    assert_eq!(hidden, Some(["target/doc/plan.md", "target/own.md"].map(path).to_vec()));
}

#[test]
fn what_has_no_name_to_hide_it_by_is_hidden_with_the_folder_that_it_lies_in() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("target");
    let strange = |bytes: &'static [u8]| std::ffi::OsStr::from_bytes(bytes);
    write(&target.join("a").join(strange(b"\xff")).join(".env"), "x");
    write(&target.join("b/con\ntrol/.env"), "x");
    write(&target.join("c").join(strange(b"\xff.pem")), "x");
    write(&target.join("d").join(strange(b"\xff.o")), "x");
    write(&target.join("e/.env"), "x");
    let hidden = ignored::secrets(folder.path(), &[path("target")], &BTreeSet::new()).unwrap();
    let expected = ["target/a", "target/b", "target/c", "target/e/.env"];
    assert_eq!(hidden, Some(expected.map(path).to_vec()));
}

#[test]
fn rules_beyond_what_may_be_compiled_do_not_count_and_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let (root, base) = (folder.path().join("root"), folder.path().join("base"));
    let rules: Vec<String> = (0..9_000).map(|number| format!("*{number}*x?")).collect();
    let rules = rules.join("\n");
    for name in ["a", "b"] {
        write(&root.join(name).join(".gitignore"), &format!("{rules}\ntarget\n"));
        write(&root.join(name).join("target/x"), "x");
        write(&base.join(name).join("x"), "x");
    }
    write(&root.join("c/.gitignore"), &"x".repeat(1 << 20));
    write(&base.join("c/x"), "x");
    let found = ignored::find(&root, &base).unwrap();
    assert_eq!(found.folders, [path("a/target")]);
    assert_eq!(found.unread, ["b/.gitignore", "c/.gitignore"]);
}
