//! Tools that work outside the jail.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use sequester_core::context::Refusal;
use sequester_core::future::BoxFuture;
use sequester_core::path::RepoPath;
use sequester_core::repository::{self, ErrorKind, Snapshot as _};
use sequester_core::tool::{Effect, Invocation, Outcome, Returned, Spec, Toolbox};
use sequester_engine::{Requests, Standing};
use sequester_survey::Folder;
use serde_json::Value;

/// Files that are not in the workspace: whether they are ignored, or only not committed, or not there at all.
/// What is `hidden` from all is there for none.
pub(super) fn requests(
    root: &Path,
    inside: BTreeSet<RepoPath>,
    hidden: BTreeSet<RepoPath>,
) -> Requests {
    let root = root.to_owned();
    // Nobody may ever ask: the folder is listed with the first request.
    let open: OnceLock<Result<BTreeSet<RepoPath>, repository::Error>> = OnceLock::new();
    let list = move |root: &Path| {
        let folder = Folder::list(root)?;
        Ok(folder.entries().iter().map(|entry| entry.path.clone()).collect())
    };
    Requests::new(move |path| {
        if inside.contains(path) {
            return Standing::InWorkspace;
        }
        if hidden.contains(path) || !is_file(&root, path) {
            return Standing::Absent;
        }
        match open.get_or_init(|| list(&root)) {
            Ok(open) if !open.contains(path) => Standing::Ignored,
            _ => Standing::Uncommitted,
        }
    })
}

/// A file of the person's tree, through no link.
pub(super) fn read_beside(root: &Path, path: &RepoPath, limit: u64) -> Result<Vec<u8>, Refusal> {
    let folder = Folder::unlisted(root).map_err(|_| Refusal::Unreadable)?;
    folder.read(path, limit).map_err(|error| match error.kind {
        ErrorKind::TooLarge => Refusal::TooLarge,
        ErrorKind::NotFound => Refusal::Gone,
        _ => Refusal::Unreadable,
    })
}

/// Whether a file lies there and no link leads to it.
fn is_file(root: &Path, path: &RepoPath) -> bool {
    let mut place = root.to_path_buf();
    let mut parts = path.as_str().split('/').peekable();
    while let Some(part) = parts.next() {
        place.push(part);
        let Ok(found) = place.symlink_metadata() else { return false };
        if parts.peek().is_none() {
            return found.is_file();
        }
        if !found.is_dir() {
            return false;
        }
    }
    false
}

/// The provider's own search: it is carried out where the model is, so nobody here can call it.
pub(super) struct Hosted;

impl Toolbox for Hosted {
    fn specs(&self) -> Vec<Spec> {
        vec![Spec {
            name: "WebSearch".into(),
            description: "Searches the web.".into(),
            parameters: Arc::new(Value::Null),
            effect: Effect::Reads,
        }]
    }

    fn call<'a>(&'a self, _: &'a Invocation) -> BoxFuture<'a, Returned> {
        let text = "The model's provider carries out searches itself.".to_owned();
        Box::pin(async move { Outcome::Failed(text).into() })
    }
}
