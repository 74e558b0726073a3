//! What git takes for a repository, whatever the folder is called: one that holds a `HEAD`, with objects and references beside it or where
//! its `commondir` leads. Without a `HEAD` it is none, so that this is the one file that no change may bring.

use sequester_core::change::Mode;
use sequester_core::protected;

/// Why a file or link at `path` is refused, if it is.
pub(super) fn refuse(path: &str, mode: Mode, content: &[u8]) -> Option<String> {
    is_head(path, mode, content)
        .then(|| "git would take the folder for a repository, and do what it says".to_owned())
}

/// Whether git would take this for a `HEAD`, on some file system.
pub fn is_head(path: &str, mode: Mode, content: &[u8]) -> bool {
    let is_named = path.rsplit('/').next().is_some_and(|name| protected::covers("HEAD", name));
    // A link may lead to one, by now or later.
    is_named && (mode == Mode::Link || names_something(content))
}

/// A branch, or a commit by its digest.
fn names_something(content: &[u8]) -> bool {
    let digest = content.get(..DIGEST).is_some_and(|text| text.iter().all(u8::is_ascii_hexdigit));
    digest || content.starts_with(b"ref:")
}

/// Letters of the shortest.
const DIGEST: usize = 40;
