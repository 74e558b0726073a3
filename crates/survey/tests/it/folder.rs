use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use sequester_core::path::RepoPath;
use sequester_core::repository::{EntryKind, ErrorKind, Snapshot};
use sequester_survey::Folder;
use tempfile::TempDir;

fn folder(files: &[&str]) -> TempDir {
    let root = TempDir::new().unwrap();
    for file in files {
        write(root.path(), file, file);
    }
    root
}

fn write(root: &Path, file: &str, text: &str) {
    let path = root.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn listed(folder: &Folder) -> Vec<&str> {
    folder.entries().iter().map(|entry| entry.path.as_str()).collect()
}

fn read(folder: &Folder, path: &str, limit: u64) -> Result<Vec<u8>, ErrorKind> {
    folder.read(&RepoPath::parse(path).unwrap(), limit).map_err(|error| error.kind)
}

#[test]
fn ignore_rules_hold_without_a_git_repository_and_hidden_files_are_listed() {
    let root =
        folder(&["a.rs", "target/x", "deep/b.log", "deep/c.rs", ".github/ci.yml", "kept/y.tmp"]);
    write(root.path(), ".gitignore", "target/\n*.log\n");
    write(root.path(), "deep/.gitignore", "c.rs\n");
    write(root.path(), "kept/.ignore", "y.tmp\n");
    write(root.path(), ".git/config", "");
    write(root.path(), "deep/.git", "gitdir: elsewhere");
    let folder = Folder::list(root.path()).unwrap();
    assert_eq!(
        listed(&folder),
        [".github/ci.yml", ".gitignore", "a.rs", "deep/.gitignore", "kept/.ignore", "kept/y.tmp"]
    );
    assert_eq!(folder.problems(), [""; 0]);
}

#[test]
fn entries_are_in_the_order_of_their_bytes_however_they_were_made() {
    let names = ["b/a", "a.rs", "a/z", "a-b", "Z", "a/b/c"];
    let forward = folder(&names);
    let mut reversed = names;
    reversed.reverse();
    let backward = folder(&reversed);
    let expected = ["Z", "a-b", "a.rs", "a/b/c", "a/z", "b/a"];
    for root in [forward, backward] {
        assert_eq!(listed(&Folder::list(root.path()).unwrap()), expected);
    }
}

#[test]
fn links_are_listed_and_never_followed() {
    let root = folder(&["real/a.rs"]);
    symlink("real/a.rs", root.path().join("file_link")).unwrap();
    symlink("real", root.path().join("folder_link")).unwrap();
    symlink("/etc", root.path().join("outside")).unwrap();
    let folder = Folder::list(root.path()).unwrap();
    let kinds: Vec<_> =
        folder.entries().iter().map(|entry| (entry.path.as_str(), entry.kind)).collect();
    assert_eq!(
        kinds,
        [
            ("file_link", EntryKind::Symlink),
            ("folder_link", EntryKind::Symlink),
            ("outside", EntryKind::Symlink),
            ("real/a.rs", EntryKind::File),
        ]
    );
    for path in ["file_link", "folder_link/a.rs", "outside/passwd"] {
        assert_eq!(read(&folder, path, 1 << 20), Err(ErrorKind::Denied), "{path}");
    }
    assert_eq!(read(&folder, "real/a.rs", 1 << 20), Ok(b"real/a.rs".to_vec()));
}

#[test]
fn a_pipe_is_left_out_and_never_waited_for() {
    let root = folder(&["a.rs", "b.rs"]);
    mknodat(CWD, root.path().join("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    let folder = Folder::list(root.path()).unwrap();
    assert_eq!(listed(&folder), ["a.rs", "b.rs"]);
    assert_eq!(folder.problems(), ["`pipe` is no regular file. It is left out."]);
    assert_eq!(read(&folder, "pipe", 10), Err(ErrorKind::Denied));
    // A file that became a pipe after it was listed.
    fs::remove_file(root.path().join("b.rs")).unwrap();
    mknodat(CWD, root.path().join("b.rs"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    assert_eq!(read(&folder, "b.rs", 10), Err(ErrorKind::Denied));
}

#[test]
fn after_ten_odd_files_the_rest_is_counted() {
    let root = folder(&["a.rs"]);
    for at in 0..12 {
        fs::write(root.path().join(format!("odd\n{at}")), "").unwrap();
    }
    let folder = Folder::list(root.path()).unwrap();
    assert_eq!(folder.problems().len(), 11, "{:?}", folder.problems());
    assert_eq!(folder.problems()[10], "2 more were left out.");
}

#[test]
fn a_folder_that_may_not_be_read_is_named_and_the_rest_is_listed() {
    let root = folder(&["a.rs", "locked/b.rs"]);
    let locked = root.path().join("locked");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
    let all_powerful = fs::read_dir(&locked).is_ok();
    let folder = Folder::list(root.path()).unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o700)).unwrap();
    if all_powerful {
        assert_eq!(listed(&folder), ["a.rs", "locked/b.rs"]);
    } else {
        assert_eq!(listed(&folder), ["a.rs"]);
        assert!(folder.problems()[0].contains("locked"), "{:?}", folder.problems());
    }
}

#[test]
fn names_that_are_no_text_are_left_out_and_named() {
    let root = folder(&["a.rs"]);
    fs::write(root.path().join(OsStr::from_bytes(b"b\xff.rs")), "").unwrap();
    fs::write(root.path().join("c\nd.rs"), "").unwrap();
    let folder = Folder::list(root.path()).unwrap();
    assert_eq!(listed(&folder), ["a.rs"]);
    assert_eq!(folder.problems().len(), 2, "{:?}", folder.problems());
    assert!(folder.problems()[0].contains("is not UTF-8"), "{:?}", folder.problems());
}

#[test]
fn reading_stops_at_the_limit() {
    let root = folder(&["a.rs"]);
    let folder = Folder::list(root.path()).unwrap();
    assert_eq!(read(&folder, "a.rs", 4), Ok(b"a.rs".to_vec()));
    assert_eq!(read(&folder, "a.rs", 3), Err(ErrorKind::TooLarge));
    assert_eq!(read(&folder, "gone.rs", 3), Err(ErrorKind::NotFound));
    let mut seen = Vec::new();
    folder.read_many(&[0, 7], 10, &mut |at, content| {
        seen.push((at, content.is_ok()));
    });
    assert_eq!(seen, [(0, true), (7, false)]);
}

#[test]
fn a_folder_that_is_not_there_is_an_error() {
    let root = folder(&["a.rs"]);
    let missing = Folder::list(&root.path().join("nowhere")).unwrap_err();
    assert_eq!(missing.kind, ErrorKind::NotFound);
    assert!(Folder::list(&root.path().join("a.rs")).is_err());
}
