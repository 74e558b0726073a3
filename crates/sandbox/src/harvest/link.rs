//! Links that stay inside the tree.

use sequester_core::path::RepoPath;

use super::rules::{Rules, is_git};

/// Why a link at `path` to `target` is refused, if it is.
pub(super) fn refuse(path: &RepoPath, target: &[u8], rules: &Rules) -> Option<String> {
    leave(path, target).map(str::to_owned).or_else(|| rules.refuse_link(path))
}

/// How a link leaves the tree.
///
/// Steps upwards are taken only at the start, where the folders are real ones: after a name that may itself be a link, a step
/// upwards could lead anywhere.
fn leave(path: &RepoPath, target: &[u8]) -> Option<&'static str> {
    let Ok(target) = std::str::from_utf8(target) else {
        return Some("it is a link to a path that is not UTF-8");
    };
    if target.is_empty() || target.chars().any(char::is_control) {
        return Some("it is a link to a path that is none");
    }
    let drive = target.as_bytes().get(..2);
    if drive.is_some_and(|drive| drive[0].is_ascii_alphabetic() && drive[1] == b':')
        || target.contains('\\')
    {
        return Some("it is a link to a path that leads elsewhere on another system");
    }
    if target.starts_with('/') {
        return Some("it is a link to an absolute path");
    }
    let mut depth = path.as_str().matches('/').count();
    let mut named = false;
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." if named => return Some("it is a link that goes up after a name"),
            ".." if depth == 0 => return Some("it is a link that leaves the tree"),
            ".." => depth -= 1,
            part if is_git(part) => return Some("it is a link into a repository's own files"),
            _ => named = true,
        }
    }
    None
}
