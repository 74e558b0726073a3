//! What crashes left behind: taken away at the next start.

use std::fs;
use std::path::Path;

use crate::discard::discard;
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
            let _ = discard(&entry.path());
        }
    }
}
