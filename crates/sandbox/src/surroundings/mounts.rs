//! Where file systems are mounted.

use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

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

/// Sorted, each once. Without a list of them there is one file system.
pub(super) fn look() -> Vec<PathBuf> {
    let list = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let mut mounts: Vec<PathBuf> = list.lines().filter_map(mounted).collect();
    mounts.push(PathBuf::from("/"));
    mounts.sort();
    mounts.dedup();
    mounts
}

/// Where a line says that something with files in it is mounted.
fn mounted(line: &str) -> Option<PathBuf> {
    let (before, after) = line.split_once(" - ")?;
    let kind = after.split(' ').next()?;
    if WITHOUT_FILES.contains(&kind) {
        return None;
    }
    before.split(' ').nth(4).map(unescaped)
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
    use super::*;

    #[test]
    fn a_mount_is_where_its_line_says() {
        let line = "36 35 98:0 /mnt1 /mnt/two\\040words rw,noatime master:1 - ext4 /dev/root rw";
        assert_eq!(mounted(line), Some("/mnt/two words".into()));
        assert_eq!(mounted("23 28 0:21 / /proc rw - proc proc rw"), None);
        assert_eq!(mounted("nonsense"), None);
        assert!(look().contains(&PathBuf::from("/")));
    }
}
