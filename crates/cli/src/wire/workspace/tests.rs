use std::os::unix::fs::symlink;
use std::time::Instant;

use super::evidence::{Changed, DIFF_TIME, PATCH_BYTES};
use super::*;

/// A base of these files, its copy after `work`, and what was seen of that.
fn evidence(files: &[(&str, &[u8])], work: impl FnOnce(&Path)) -> Evidence {
    let folder = tempfile::tempdir().unwrap();
    for (path, bytes) in files {
        fs::write(folder.path().join(path), bytes).unwrap();
    }
    let base = Folder::list(folder.path()).unwrap();
    let workspace = Workspace::copy(&base).unwrap();
    work(&workspace.root());
    workspace.compare(&base).unwrap()
}

fn rows(evidence: &Evidence) -> Vec<String> {
    let row =
        |one: &Changed| format!("{} {} {:?} {:?}", one.action, one.path, one.added, one.removed);
    evidence.files_changed.iter().map(row).collect()
}

#[test]
fn modes_links_empty_and_binary_files_are_changes_too() {
    let files: [(&str, &[u8]); 6] = [
        ("file", b"text\n"),
        ("none", b""),
        ("plain", b"x\n"),
        ("same", b"#!/bin/sh\n"),
        ("script", b"#!/bin/sh\n"),
        ("zero", b"a\0b"),
    ];
    let seen = evidence(&files, |root| {
        let set = |path: &str, mode| {
            fs::set_permissions(root.join(path), Permissions::from_mode(mode)).unwrap();
        };
        fs::remove_file(root.join("file")).unwrap();
        symlink("../somewhere", root.join("file")).unwrap();
        fs::remove_file(root.join("none")).unwrap();
        set("plain", 0o755);
        set("same", 0o700);
        set("script", 0o644);
        fs::write(root.join("zero"), b"a\0c").unwrap();
        fs::write(root.join("empty"), "").unwrap();
        symlink("plain", root.join("link")).unwrap();
    });
    let modes = |one: &Changed| format!("{:?} {:?}", one.old_mode, one.new_mode);
    let told: Vec<String> = rows(&seen)
        .into_iter()
        .zip(seen.files_changed.iter().map(modes))
        .map(|(row, modes)| format!("{row} {modes}"))
        .collect();
    assert_eq!(
        told,
        [
            "create empty Some(0) Some(0) None Some(Plain)",
            "modify file Some(1) Some(1) Some(Plain) Some(Link)",
            "create link Some(1) Some(0) None Some(Link)",
            "delete none Some(0) Some(0) Some(Plain) None",
            "modify plain Some(0) Some(0) Some(Plain) Some(Executable)",
            "modify script Some(0) Some(0) Some(Executable) Some(Plain)",
            "modify zero None None Some(Plain) Some(Plain)",
        ]
    );
    for part in [
        "diff --git a/empty b/empty\nnew file mode 100644\ndiff --git",
        "deleted file mode 100644\n--- a/file\n+++ /dev/null\n",
        "new file mode 120000\n--- /dev/null\n+++ b/link\n@@ -0,0 +1 @@\n+plain\n\\ No newline at end of file\n",
        "diff --git a/plain b/plain\nold mode 100644\nnew mode 100755\ndiff --git",
        "File zero is binary.\n",
    ] {
        assert!(seen.patch.contains(part), "{part} is missing in {}", seen.patch);
    }
}

#[test]
fn a_link_of_the_base_is_missed_by_nobody_and_what_replaces_it_is_a_change() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["kept", "replaced"] {
        symlink("nowhere", folder.path().join(name)).unwrap();
    }
    let base = Folder::list(folder.path()).unwrap();
    let workspace = Workspace::copy(&base).unwrap();
    fs::write(workspace.root().join("replaced"), "x\n").unwrap();
    let seen = workspace.compare(&base).unwrap();
    assert_eq!(rows(&seen), ["modify replaced None None"]);
}

#[test]
fn the_copy_is_for_nobody_else() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::copy(&Folder::list(folder.path()).unwrap()).unwrap();
    let found = fs::metadata(workspace.folder.path()).unwrap();
    assert_eq!(found.permissions().mode() & 0o777, 0o700);
}

#[test]
fn a_file_too_large_to_be_read_is_neither_absent_nor_the_same() {
    let large = vec![b'x'; FILE_BYTES as usize + 1];
    let files: [(&str, &[u8]); 4] =
        [("changed", &large), ("gone", &large), ("grown", b"a\n"), ("same", &large)];
    let seen = evidence(&files, |root| {
        let mut other = large.clone();
        other[7] = b'y';
        fs::write(root.join("changed"), other).unwrap();
        fs::remove_file(root.join("gone")).unwrap();
        fs::write(root.join("grown"), &large).unwrap();
        fs::write(root.join("made"), &large).unwrap();
    });
    assert_eq!(
        rows(&seen),
        [
            "modify changed None None",
            "delete gone None None",
            "modify grown None None",
            "create made None None",
        ]
    );
    assert_eq!(seen.patch.matches("is too large to show.\n").count(), 4, "{}", seen.patch);
}

#[test]
fn a_diff_takes_a_bounded_time_and_of_too_many_lines_none_is_made() {
    // Few different lines in two orders: nearly every pair of places has to be looked at.
    let lines = |step: usize, count: usize| {
        let lines: Vec<String> = (0..count).map(|at| format!("{}\n", at * step % 997)).collect();
        lines.concat()
    };
    let (many, old, new) = (lines(1, 60_000), lines(7, 49_000), lines(331, 49_000));
    let start = Instant::now();
    let seen = evidence(&[("many", many.as_bytes()), ("slow", old.as_bytes())], |root| {
        fs::write(root.join("many"), "one\n").unwrap();
        fs::write(root.join("slow"), new).unwrap();
    });
    assert!(start.elapsed() < DIFF_TIME * 4, "{:?}", start.elapsed());
    assert_eq!(rows(&seen)[0], "modify many None None");
    let slow = &seen.files_changed[1];
    assert!(slow.added.is_some_and(|added| added > 0) && slow.added == slow.removed, "{slow:?}");
}

#[test]
fn a_patch_is_cut_visibly() {
    let text = "0123456789\n".repeat(30_000);
    let seen = evidence(&[], |root| {
        for name in ["a", "b", "c", "d", "e"] {
            fs::write(root.join(name), &text).unwrap();
        }
    });
    assert_eq!(seen.files_changed.len(), 5);
    assert!(seen.patch.len() < PATCH_BYTES + 100);
    assert!(seen.patch.ends_with("The patch is cut: 3 files had no room in it.\n"));
}

#[test]
fn links_of_the_base_are_said_to_be_left_out() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a"), "a").unwrap();
    assert_eq!(left_out(&Folder::list(folder.path()).unwrap()), Vec::<String>::new());
    symlink("a", folder.path().join("b")).unwrap();
    let base = Folder::list(folder.path()).unwrap();
    assert_eq!(left_out(&base), ["1 symbolic link of the base is not in the copy."]);
    symlink("a", folder.path().join("c")).unwrap();
    let base = Folder::list(folder.path()).unwrap();
    assert_eq!(left_out(&base), ["2 symbolic links of the base are not in the copy."]);
}
