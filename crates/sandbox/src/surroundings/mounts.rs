//! Where file systems are mounted.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

/// File systems in which there is nothing to run or to read for a build.
const WITHOUT_FILES: [&str; 19] = [
    "autofs",
    "binfmt_misc",
    "bpf",
    "cgroup",
    "cgroup2",
    "configfs",
    "debugfs",
    "devpts",
    "devtmpfs",
    "efivarfs",
    "fusectl",
    "hugetlbfs",
    "mqueue",
    "nsfs",
    "proc",
    "pstore",
    "rpc_pipefs",
    "securityfs",
    "sysfs",
];

/// A place where a file system is mounted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MountPoint {
    pub at: PathBuf,
    /// Whether people's or programs' files lie in it.
    pub has_files: bool,
}

/// Sorted. Of several at one place the last one counts.
pub(super) fn look() -> Vec<MountPoint> {
    let list = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let found = list.lines().filter_map(MountPoint::read);
    let found: BTreeMap<PathBuf, bool> = found.map(|one| (one.at, one.has_files)).collect();
    found.into_iter().map(|(at, has_files)| MountPoint { at, has_files }).collect()
}

/// Folders that are added beside mounts.
const MOST_SIBLINGS: usize = 500;

/// Others than root cannot lay a layer over a folder in which something is mounted. So the folders beside such a mount get layers of their
/// own, as if they were mounted there; only the folders around the mount have none.
pub(super) fn with_siblings(mut mounts: Vec<MountPoint>, shown: &[&Path]) -> Vec<MountPoint> {
    let holds_mount = |folder: &Path| mounts.iter().any(|mount| mount.at.starts_with(folder));
    let around: BTreeSet<&Path> = mounts
        .iter()
        .flat_map(|mount| mount.at.ancestors().skip(1))
        .filter(|folder| shown.iter().any(|from| folder.starts_with(from)))
        .collect();
    let entries = around.into_iter().flat_map(|folder| fs::read_dir(folder).into_iter().flatten());
    let folders =
        entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let siblings = folders.map(|entry| entry.path()).filter(|at| !holds_mount(at));
    let siblings: Vec<MountPoint> =
        siblings.take(MOST_SIBLINGS).map(|at| MountPoint { at, has_files: true }).collect();
    mounts.extend(siblings);
    mounts.sort();
    mounts
}

impl MountPoint {
    fn read(line: &str) -> Option<Self> {
        let (before, after) = line.split_once(" - ")?;
        let at = before.split(' ').nth(4).map(unescaped)?;
        let has_files = !WITHOUT_FILES.contains(&after.split(' ').next()?);
        Some(Self { at, has_files })
    }
}

/// Blanks and their kind stand as three octal digits.
fn unescaped(text: &str) -> PathBuf {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, others @ ..] = rest {
        let digits = others.get(..3).filter(|_| *first == b'\\');
        let code = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(byte) = code.and_then(|code| u8::from_str_radix(code, 8).ok()) {
            bytes.push(byte);
            rest = &others[3..];
        } else {
            bytes.push(*first);
            rest = others;
        }
    }
    PathBuf::from(std::ffi::OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_mount_is_where_its_line_says() {
        let line = "36 35 98:0 /mnt1 /mnt/two\\040words rw,noatime master:1 - ext4 /dev/root rw";
        let point = |at: &str, has_files| Some(MountPoint { at: at.into(), has_files });
        assert_eq!(MountPoint::read(line), point("/mnt/two words", true));
        let line = "23 28 0:21 / /proc rw - proc proc rw";
        assert_eq!(MountPoint::read(line), point("/proc", false));
        assert_eq!(MountPoint::read("nonsense"), None);
        assert!(look().iter().any(|one| one.at == Path::new("/")));
    }
}
