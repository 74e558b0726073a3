//! What crashes left behind: taken away at the next start.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::hold::{self, Turn};
use crate::{groups, placeholder, probe};

/// Takes away what jails left whose supervisors are gone. Touches nothing of a jail that lives.
pub fn sweep(state: &Path) {
    // Nothing is left where there is no folder to leave it in.
    let Ok(entries) = fs::read_dir(state) else { return };
    let Ok(_turn) = Turn::take(state) else { return };
    placeholder::sweep(state);
    for entry in entries.flatten() {
        let is_store = entry.file_name().to_str().is_some_and(|name| name.starts_with("jail-"));
        if is_store && hold::is_left(&entry.path()) {
            // Only a jail that could not clear up leaves one, and that may have had control groups.
            for parent in probe::group_parents() {
                groups::sweep(&parent);
            }
            let _ = remove(&entry.path());
        }
    }
}

/// A folder with all in it, whatever modes its folders have. Follows no link.
pub(crate) fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open(folder);
            fs::remove_dir_all(folder)
        }
        removed => removed,
    }
}

/// Lets the owner into every folder beneath.
fn open(folder: &Path) {
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        let _ = fs::set_permissions(&folder, fs::Permissions::from_mode(0o700));
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        waiting.extend(folders.map(|entry| entry.path()));
    }
}
