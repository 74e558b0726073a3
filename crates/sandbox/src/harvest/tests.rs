use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use sequester_core::change::Action::{Create, Delete, Mode as OnlyMode, Modify};
use sequester_core::change::{Action, Change, Entry, Mode, Refused};
use sequester_core::path::RepoPath;
use sequester_core::protected::Grants;

use super::{Rules, compute, receive};
use crate::workspace::copy::copy;

/// A base and a workspace that starts as its copy.
struct Pair(TempDir);

impl Pair {
    fn new(files: &[(&str, &str)]) -> Self {
        let pair = Self(tempfile::tempdir().unwrap());
        fs::create_dir(pair.base()).unwrap();
        for (path, content) in files {
            write(&pair.base().join(path), content);
        }
        symlink("src/a.rs", pair.base().join("link")).unwrap();
        copy(&pair.base(), &pair.work(), None, &|_| true).unwrap();
        pair
    }

    fn base(&self) -> PathBuf {
        self.0.path().join("base")
    }

    fn work(&self) -> PathBuf {
        self.0.path().join("work")
    }

    fn at(&self, path: &str) -> PathBuf {
        self.work().join(path)
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        write(&self.at(path), content);
    }

    /// The change, having gone over the wire.
    fn harvest_with(&self, rules: &Rules) -> Change {
        let change = compute(&self.work(), &self.base(), rules).unwrap();
        let mut wire = Vec::new();
        super::change::send(&change, &mut wire).unwrap();
        let received = receive(&mut wire.as_slice(), rules).unwrap();
        assert_eq!(received, change);
        change
    }

    fn harvest(&self) -> Change {
        self.harvest_with(&Rules::default())
    }
}

fn write(path: &Path, content: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn told(change: &Change) -> Vec<(&str, Action)> {
    change.entries.iter().map(|entry| (entry.path.as_str(), entry.action)).collect()
}

fn refused(change: &Change) -> Vec<(&str, &str)> {
    change.refused.iter().map(|Refused { path, why }| (path.as_str(), why.as_str())).collect()
}

const FILES: &[(&str, &str)] = &[
    (".gitignore", "/target/\n*.log\n!keep.log\n"),
    ("src/a.rs", "one\ntwo\n"),
    ("src/deep/b.rs", "b\n"),
    ("src/deep/.gitignore", "out\n"),
    ("empty", ""),
    ("noise.log", "held though ignored\n"),
];

#[test]
fn an_unchanged_workspace_is_no_change() {
    let pair = Pair::new(FILES);
    pair.write("target/debug/x", "ignored");
    fs::create_dir(pair.at("empty-folder")).unwrap();
    write(&pair.at(".git/config"), "the jail's own");
    assert_eq!(pair.harvest(), Change::default());
}

#[test]
fn each_kind_of_change_is_told_with_its_content() {
    let pair = Pair::new(FILES);
    pair.write("src/a.rs", "one\n2\nthree\n");
    pair.write("new/empty", "");
    pair.write("keep.log", "not ignored\n");
    pair.write("noise.log", "changed\n");
    pair.write("binary", [0, 255, 1]);
    set_mode(&pair.at("empty"), 0o755);
    fs::remove_file(pair.at("src/deep/b.rs")).unwrap();
    fs::remove_file(pair.at("link")).unwrap();
    symlink("src/deep", pair.at("link")).unwrap();
    let change = pair.harvest();
    assert_eq!(
        told(&change),
        [
            ("binary", Create),
            ("empty", OnlyMode),
            ("keep.log", Create),
            ("link", Modify),
            ("new/empty", Create),
            ("noise.log", Modify),
            ("src/a.rs", Modify),
            ("src/deep/b.rs", Delete),
        ]
    );
    assert_eq!(refused(&change), []);
    let entry = |path: &str| change.entries.iter().find(|entry| entry.path == path).unwrap();
    assert_eq!(entry("link").content, b"src/deep");
    assert_eq!(entry("link").mode, Some(Mode::Link));
    assert_eq!((entry("empty").mode, entry("binary").added), (Some(Mode::Executable), None));
    let expected = Entry {
        path: "src/a.rs".to_owned(),
        action: Modify,
        was: Some(Mode::File),
        mode: Some(Mode::File),
        added: Some(2),
        removed: Some(1),
        in_patch: true,
        size: 12,
        content: b"one\n2\nthree\n".to_vec(),
    };
    assert_eq!(entry("src/a.rs"), &expected);
    let part = "diff --git a/src/a.rs b/src/a.rs\n--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1,2 +1,3 @@\n one\n-two\n+2\n+three\n";
    for part in [
        part,
        "old mode 100644\nnew mode 100755\n",
        "new file mode 100644\nindex 0000000000000000000000000000000000000000..",
        "deleted file mode 100644\n",
    ] {
        assert!(change.patch.contains(part), "{part}\n{}", change.patch);
    }
}

#[test]
fn what_is_new_and_ignored_is_named_and_no_change() {
    let mut files = FILES.to_vec();
    files[0].1 = "/target/\n*.log\n!keep.log\nbuild/\nnotes/\n";
    files.push(("build/.gitkeep", ""));
    let pair = Pair::new(&files);
    for path in [
        "target/debug/x",
        "src/other.log",
        "src/deep/out",
        "build/out.o",
        "build/deep/keep.log",
        "notes/a",
        "mine",
        "src/__pycache__/x",
    ] {
        pair.write(path, "x");
    }
    pair.write("build/.gitkeep", "changed\n");
    let exclude = "mine\n__pycache__\n".to_owned();
    let change = pair.harvest_with(&Rules { exclude, ..Rules::default() });
    assert_eq!(told(&change), [("build/.gitkeep", Modify)]);
    let expected =
        ["build/deep/", "build/out.o", "mine", "notes/", "src/deep/out", "src/other.log"];
    assert_eq!((change.ignored, change.ignored_more), (expected.map(str::to_owned).to_vec(), 0));
    for number in 0..150 {
        pair.write(&format!("{number}.log"), "x");
    }
    let change = pair.harvest();
    assert_eq!((change.ignored.len(), change.ignored_more), (100, 55));
}

#[test]
fn a_folder_that_moved_is_deleted_here_and_created_there() {
    let pair = Pair::new(FILES);
    fs::rename(pair.at("src"), pair.at("lib")).unwrap();
    let change = pair.harvest();
    // The link is left dangling, which is the agent's business.
    let expected = [
        ("lib/a.rs", Create),
        ("lib/deep/.gitignore", Create),
        ("lib/deep/b.rs", Create),
        ("src/a.rs", Delete),
        ("src/deep/.gitignore", Delete),
        ("src/deep/b.rs", Delete),
    ];
    assert_eq!(told(&change), expected);
}

#[test]
fn files_folders_and_links_take_each_others_place() {
    let pair = Pair::new(FILES);
    fs::remove_file(pair.at("link")).unwrap();
    pair.write("link/inside", "x");
    fs::remove_dir_all(pair.at("src/deep")).unwrap();
    pair.write("src/deep", "now a file");
    fs::remove_file(pair.at("empty")).unwrap();
    symlink("src", pair.at("empty")).unwrap();
    let expected = [
        ("empty", Modify),
        ("link", Delete),
        ("link/inside", Create),
        ("src/deep", Create),
        ("src/deep/.gitignore", Delete),
        ("src/deep/b.rs", Delete),
    ];
    assert_eq!(told(&pair.harvest()), expected);
    // Deleted and made again with the same content is no change.
    let pair = Pair::new(FILES);
    fs::remove_dir_all(pair.at("src")).unwrap();
    for (path, content) in FILES {
        pair.write(path, content);
    }
    assert_eq!(pair.harvest(), Change::default());
}

#[test]
fn what_no_change_may_bring_is_refused_with_the_reason() {
    let pair = Pair::new(FILES);
    for path in
        [".GIT/hooks/x", "vendored/.git/HEAD", "vendored/lib.c", "src/.git", ".Claude/a", "PLAN.md"]
    {
        pair.write(path, "x");
    }
    pair.write(".github/workflows/ci.yml", "x");
    pair.write(".github/other.md", "x");
    pair.write("conf/.env", "x");
    pair.write("sub/suid", "x");
    set_mode(&pair.at("sub/suid"), 0o4755);
    pair.write("src/A.rs", "x");
    symlink("../../etc/passwd", pair.at("sub/out")).unwrap();
    symlink("/etc/passwd", pair.at("absolute")).unwrap();
    symlink("src", pair.at("github~1")).unwrap();
    pair.write("plan.md.", "x");
    symlink("src/../../x", pair.at("sideways")).unwrap();
    symlink("../src/a.rs", pair.at("sub/in")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        pair.at("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    fs::File::create(pair.at("huge")).unwrap().set_len(17 << 20).unwrap();
    let rules = Rules { withheld: vec!["plan.md".to_owned()], ..Rules::default() };
    let change = pair.harvest_with(&rules);
    assert_eq!(told(&change), [(".github/other.md", Create), ("sub/in", Create)]);
    let expected = [
        (".Claude/a", "`.claude` is protected (Claude Code runs its hooks and commands)."),
        (".GIT", "it belongs to another repository inside this one."),
        (".github/workflows/ci.yml", "`.github/workflows` is protected (GitHub runs its jobs)."),
        ("PLAN.md", "the repository has a file there that is kept from this work."),
        ("absolute", "it is a link to an absolute path."),
        ("conf/.env", "it is secret by its name (environment-file)."),
        ("github~1", "it is a link above `.github/hooks`, which is protected."),
        ("huge", "it is larger than 16 MiB."),
        ("pipe", "it is a pipe, a socket or a device."),
        ("plan.md.", "the repository has a file there that is kept from this work."),
        ("sideways", "it is a link that goes up after a name."),
        ("src/.git", "it belongs to another repository inside this one."),
        ("src/A.rs", "another name differs from it in case alone."),
        ("sub/out", "it is a link that leaves the tree."),
        ("sub/suid", "it has a set-user, set-group or sticky bit."),
        ("vendored", "it is another repository inside this one."),
    ];
    assert_eq!(refused(&change), expected);
}

#[test]
fn what_a_task_deletes_takes_the_files_of_build_services_along() {
    let pair = Pair::new(FILES);
    for path in ["x/a/Jenkinsfile", "x/.vscode/b", "y/Jenkinsfile", "y/.travis.yml"] {
        write(&pair.base().join(path), "a");
    }
    let deleted = RepoPath::parse("x/").unwrap();
    let grants = Grants::default().with_deleted([&deleted]);
    let change = pair.harvest_with(&Rules { grants, ..Rules::default() });
    assert_eq!(told(&change), [("x/a/Jenkinsfile", Delete), ("y/.travis.yml", Delete)]);
    let expected = [
        ("x/.vscode/b", "`.vscode` is protected (Visual Studio Code runs its tasks)."),
        ("y/Jenkinsfile", "`Jenkinsfile` is protected (Jenkins runs its stages)."),
    ];
    assert_eq!(refused(&change), expected);
}

#[test]
fn a_large_file_that_is_the_same_is_no_change_and_a_withheld_one_no_deletion() {
    let pair = Pair::new(FILES);
    let large = vec![7; 17 << 20];
    fs::write(pair.base().join("large"), &large).unwrap();
    fs::create_dir(pair.base().join("submodule")).unwrap();
    pair.write("large", &large);
    fs::create_dir(pair.at("submodule")).unwrap();
    let rules = Rules { withheld: vec!["plan.md".to_owned()], ..Rules::default() };
    assert_eq!(pair.harvest_with(&rules), Change::default());
    let mut other = large;
    other[16 << 20] = 8;
    pair.write("large", other);
    pair.write("submodule/x", "x");
    let change = pair.harvest();
    let expected = [
        ("large", "it is larger than 16 MiB."),
        ("submodule", "it is the place of another repository."),
    ];
    assert_eq!((refused(&change), told(&change)), (expected.to_vec(), Vec::new()));
    fs::remove_file(pair.at("large")).unwrap();
    assert_eq!(told(&pair.harvest()), [("large", Delete)]);
}

#[test]
fn a_lone_carriage_return_ends_no_line() {
    let pair = Pair::new(&[("src/a.rs", "one\rtwo\nthree\r")]);
    pair.write("src/a.rs", "one\rTWO\nthree\rfour\r");
    let part = "@@ -1,2 +1,2 @@\n-one\rtwo\n-three\r\n\\ No newline at end of file\n+one\rTWO\n+three\rfour\r\n\\ No newline at end of file\n";
    let change = pair.harvest();
    assert!(change.patch.ends_with(part), "{:?}", change.patch);
    assert_eq!((change.entries[0].added, change.entries[0].removed), (Some(2), Some(2)));
}

#[test]
fn what_has_no_room_is_not_read() {
    let pair = Pair::new(FILES);
    for number in 10..110 {
        let file = fs::File::create(pair.at(&format!("{number}.bin"))).unwrap();
        file.set_len(16 << 20).unwrap();
    }
    // To read all of them would take seconds.
    let start = std::time::Instant::now();
    let change = compute(&pair.work(), &pair.base(), &Rules::default()).unwrap();
    assert!(start.elapsed() < std::time::Duration::from_secs(30));
    assert_eq!((told(&change).len(), change.refused.len()), (4, 96));
    assert_eq!(change.refused[0].why, "a change has at most 64 MiB.");
}

#[test]
fn a_deep_tree_and_names_that_are_no_text_are_refused() {
    use std::os::unix::ffi::OsStrExt;
    let pair = Pair::new(FILES);
    fs::write(pair.work().join(std::ffi::OsStr::from_bytes(b"bad\xff")), "x").unwrap();
    pair.write("tab\there", "x");
    let deep = ["d"; 400].join("/");
    pair.write(&format!("{deep}/x"), "x");
    let change = pair.harvest();
    assert_eq!(told(&change), []);
    let whys: Vec<&str> = change.refused.iter().map(|one| one.why.as_str()).collect();
    let expected = [
        "its name is not UTF-8.",
        "it lies too deep.",
        "its name is none that a repository can hold.",
    ];
    assert_eq!(whys, expected);
}

#[test]
fn an_answer_that_lies_is_not_taken() {
    let entry = |path: &str| Entry {
        path: path.to_owned(),
        action: Create,
        was: None,
        mode: Some(Mode::File),
        added: None,
        removed: None,
        in_patch: true,
        size: 1,
        content: b"x".to_vec(),
    };
    let judge = |entries: Vec<Entry>| {
        let (mut wire, change) = (Vec::new(), Change { entries, ..Change::default() });
        super::change::send(&change, &mut wire).unwrap();
        let rules = Rules::default();
        receive(&mut wire.as_slice(), &rules).map_err(|error| error.to_string())
    };
    assert!(judge(vec![entry("a"), entry("b/c")]).is_ok());
    let link = |target: &str| Entry {
        mode: Some(Mode::Link),
        size: target.len() as u64,
        content: target.into(),
        ..entry("l")
    };
    assert!(judge(vec![link("a")]).is_ok());
    for (entries, why) in [
        (vec![entry("../x")], "leaves the repository"),
        (vec![entry("/etc/passwd")], "absolute"),
        (vec![entry("a/./b")], "shortest form"),
        (vec![entry("a/.git/config")], "another repository"),
        (vec![entry(".MCP.json")], "protected"),
        (vec![entry(".env")], "secret by its name"),
        (vec![entry("b"), entry("a")], "not sorted"),
        (vec![entry("a"), entry("a")], "doubled"),
        (vec![entry("a"), entry("a/b")], "a file and a folder"),
        (vec![Entry { action: Delete, ..entry("a") }], "deleted and there"),
        (vec![Entry { was: Some(Mode::File), ..entry("a") }], "new and was there"),
        (vec![Entry { size: 1 << 40, ..entry("a") }], "too large"),
        (vec![Entry { size: 9, ..entry("a") }], "cannot be read"),
        (vec![link("../x")], "leaves the tree"),
        (vec![link("..\\x")], "another system"),
        (vec![link("c:x")], "another system"),
        (vec![link("git~1/x")], "repository's own files"),
    ] {
        let told = judge(entries).unwrap_err();
        assert!(told.contains(why), "{why}: {told}");
    }
    let mut wire = Vec::new();
    super::change::send_trouble("it is shut", &mut wire).unwrap();
    let told = receive(&mut wire.as_slice(), &Rules::default()).unwrap_err().to_string();
    assert_eq!(told, "the workspace and its base cannot be compared: it is shut.");
    let long = [&u64::MAX.to_be_bytes()[..], b"{}"].concat();
    assert!(receive(&mut long.as_slice(), &Rules::default()).is_err());
}

/// What a program of git's ran, as told by a mark beside the folder.
fn is_marked_by_git(folder: &Path, mark: &Path) -> bool {
    let _ = fs::remove_file(mark);
    let mut git = std::process::Command::new("git");
    git.arg("status").current_dir(folder).env("HOME", "/").env("GIT_CONFIG_NOSYSTEM", "1");
    drop(git.env("GIT_CEILING_DIRECTORIES", folder.parent().unwrap()).output().unwrap());
    mark.exists()
}

#[test]
fn a_repository_of_another_name_does_not_come_out() {
    let pair = Pair::new(FILES);
    let mark = pair.0.path().join("mark");
    let orders = format!(
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = \"touch {}; false\"\n",
        mark.display()
    );
    for path in ["evil/refs/x", "evil/objects/x", "shared/refs/x", "shared/objects/x"] {
        pair.write(path, "");
    }
    pair.write("evil/config", &orders);
    pair.write("evil/HEAD", "ref: refs/heads/main\n");
    pair.write("shared/config", &orders);
    pair.write("led/commondir", "../shared\n");
    pair.write("led/Head", "0123456789012345678901234567890123456789\n");
    pair.write("docs/HEAD", "Where the work stands.\n");
    symlink("../docs/HEAD", pair.at("shared/HEAD")).unwrap();
    assert!(is_marked_by_git(&pair.at("evil"), &mark), "it would do what it says");
    let change = pair.harvest();
    let why = "git would take the folder for a repository, and do what it says.";
    assert_eq!(refused(&change), [("evil/HEAD", why), ("led/Head", why), ("shared/HEAD", why)]);
    let applied = pair.0.path().join("applied");
    for entry in &change.entries {
        write(&applied.join(&entry.path), &entry.content);
    }
    assert!(!is_marked_by_git(&applied.join("evil"), &mark));
}

#[test]
fn nothing_is_added_to_what_the_base_has_of_a_repository() {
    let pair = Pair::new(&[("evil/HEAD", "ref: refs/heads/main\n"), ("evil/a", "a\n")]);
    let rules = Rules { repositories: vec!["evil".to_owned()], ..Rules::default() };
    assert_eq!(pair.harvest_with(&rules), Change::default());
    pair.write("evil/refs/x", "");
    pair.write("evil2/a", "a");
    let change = pair.harvest_with(&rules);
    let why = "it lies in a folder that git may take for a repository.";
    assert_eq!(
        (told(&change), refused(&change)),
        (vec![("evil2/a", Create)], vec![("evil/refs/x", why)])
    );
}
