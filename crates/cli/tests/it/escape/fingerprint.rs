//! What a file or folder looks like, to see whether anybody touched it.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Every file below with all that can be changed about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fingerprint(Vec<String>);

pub(super) fn take(path: &Path) -> Fingerprint {
    let mut seen = Vec::new();
    walk(path, &mut |path, about| {
        // A pipe would be waited for.
        let content = about.is_file().then(|| fs::read(path).unwrap_or_default());
        let link = fs::read_link(path).ok();
        // A folder's time tells what its entries tell better.
        let time = if about.is_dir() { (0, 0) } else { (about.mtime(), about.mtime_nsec()) };
        let mut names = [0; 1024];
        let named = rustix::fs::llistxattr(path, &mut names).unwrap_or_default();
        let (mode, user, group) = (about.mode(), about.uid(), about.gid());
        let names = String::from_utf8_lossy(&names[..named]).into_owned();
        let path = path.display();
        seen.push(format!("{path} {mode:o} {user} {group} {time:?} {link:?} {names} {content:?}"));
    });
    seen.sort();
    Fingerprint(seen)
}

/// Whether a file below runs with its owner's rights.
pub(super) fn gives_rights(path: &Path) -> bool {
    let mut found = false;
    walk(path, &mut |_, about| found |= about.mode() & 0o6000 != 0);
    found
}

pub(super) fn bytes(path: &Path) -> u64 {
    let mut all = 0;
    walk(path, &mut |_, about| all += about.len());
    all
}

fn walk(path: &Path, see: &mut impl FnMut(&Path, &fs::Metadata)) {
    let Ok(about) = fs::symlink_metadata(path) else { return };
    see(path, &about);
    if about.is_dir() {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            walk(&entry.path(), see);
        }
    }
}
