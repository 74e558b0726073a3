//! A file and a directory at one path: no tree can hold both.

use std::collections::BTreeSet;

use super::{Change, Entry, Refused};
use crate::repository::{Snapshot, find};

const COVERS: &str = "it takes the place of a directory with files that stay";
const BENEATH: &str = "it lies below a file that stays";

/// Takes out of a change what cannot stand beside the files of the base that stay, and gives it back with the reasons. A deletion
/// that was refused leaves such a file behind.
pub fn refuse_covering(change: &mut Change, base: &dyn Snapshot) -> Vec<Refused> {
    let is_gone = |entry: &&Entry| entry.mode.is_none();
    let gone: BTreeSet<String> =
        change.entries.iter().filter(is_gone).map(|entry| entry.path.clone()).collect();
    let stays = |path: &str| !gone.contains(path);
    let why = |entry: &Entry| {
        entry.mode?;
        let path = entry.path.as_str();
        let directory = format!("{path}/");
        let files = base.entries();
        let first = files.partition_point(|one| one.path.as_str() < directory.as_str());
        let mut below =
            files[first..].iter().take_while(|one| one.path.as_str().starts_with(&directory));
        if below.any(|one| stays(one.path.as_str())) {
            return Some(COVERS);
        }
        let mut above = path.rmatch_indices('/').map(|(slash, _)| &path[..slash]);
        above.any(|one| find(base, one).is_some() && stays(one)).then_some(BENEATH)
    };
    let mut refused = Vec::new();
    change.entries.retain(|entry| {
        let reason = why(entry);
        refused
            .extend(reason.map(|why| Refused { path: entry.path.clone(), why: format!("{why}.") }));
        reason.is_none()
    });
    refused
}
