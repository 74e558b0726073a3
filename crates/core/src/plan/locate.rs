//! Where a declared path lies that is written relative to the entry before it, or to a subproject.

use super::FileRef;
use crate::path::RepoPath;

/// Entries before a path whose directories are tried.
const BEFORE: usize = 16;

/// Directories of such an entry that are tried.
const DEPTH: usize = 16;

/// What a declared path means that is not there itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Located {
    At(RepoPath),
    /// More than one file ends with it.
    Several,
    Nowhere,
}

/// Looks below the directories of the entries before it, the nearest first, then for files whose paths end with it.
///
/// `ending` gives such files; two are enough.
pub(crate) fn locate(
    files: &[FileRef],
    file: &FileRef,
    is_file: &dyn Fn(&RepoPath) -> bool,
    ending: &mut dyn FnMut(&RepoPath) -> Vec<RepoPath>,
) -> Located {
    let at = files.iter().position(|other| std::ptr::eq(other, file)).unwrap_or(0);
    for before in files[..at].iter().rev().take(BEFORE) {
        let path = before.path.as_str();
        for (slash, _) in path.rmatch_indices('/').take(DEPTH) {
            let below = RepoPath::parse(&format!("{}/{}", &path[..slash], file.path));
            if let Some(path) = below.ok().filter(|path| is_file(path)) {
                return Located::At(path);
            }
        }
    }
    let mut found = ending(&file.path);
    match found.len() {
        0 => Located::Nowhere,
        1 => found.pop().map_or(Located::Nowhere, Located::At),
        _ => Located::Several,
    }
}
