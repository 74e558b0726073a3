//! Files that a person lets a task see: read when that was said and before the next attempt begins, and shown to it.

use std::collections::BTreeMap;
use std::sync::Arc;

use sequester_core::context::{Content, Given, Refusal};
use sequester_core::id::TaskId;
use sequester_core::path::RepoPath;
use sequester_core::run::{Entry, Event, Found, Scope, TaskRun};
use sequester_core::secret;
use sequester_core::store::{Batch, RunStore};

use super::world::{Crew, Trouble};
use super::{Controller, blocking};
use crate::toolbox::requests::is_closed;

impl Controller {
    /// Reads what was granted to a task since its last attempt, and records it.
    pub(super) async fn reveal(&self, task: &TaskId) -> Result<(), Trouble> {
        let unread = |known: &TaskRun| -> Vec<String> {
            let unread = known.granted.iter().filter(|(_, found)| found.is_none());
            unread.map(|(path, _)| path.clone()).collect()
        };
        let paths = self.log.read(|run| run.task(task).map(unread)).unwrap_or_default();
        if paths.is_empty() {
            return Ok(());
        }
        let crew = Arc::clone(&self.world.crew);
        let scope = Scope { task: Some(task.clone()), ..Scope::default() };
        let batch = blocking(move || {
            let mut batch = Batch::default();
            let mut files = BTreeMap::new();
            for path in paths {
                let found = match look(crew.as_ref(), &path) {
                    Ok(text) => Found::Blob(batch.keep(text.as_bytes())),
                    Err(refusal) => Found::Refused(refusal),
                };
                files.insert(path, found);
            }
            let event = Event::FilesGranted { files };
            batch.entries.push(Entry { scope, event });
            batch
        })
        .await?;
        Ok(self.log.append(batch).await?)
    }
}

/// What a task was let see, as it was recorded.
pub(crate) fn given(store: &dyn RunStore, known: &TaskRun) -> Result<Vec<Given>, Trouble> {
    let mut given = Vec::new();
    for (path, found) in &known.granted {
        let (Ok(path), Some(found)) = (RepoPath::parse(path), found) else { continue };
        let content = match found {
            Found::Blob(blob) => Ok(store.blob(blob)?),
            Found::Refused(refusal) => Err(*refusal),
        };
        given.push(Given { task: known.spec.id.clone(), path, content: Content::Outside(content) });
    }
    Ok(given)
}

/// The text of a file without its secrets: neither a model nor the store sees those.
fn look(crew: &dyn Crew, path: &str) -> Result<String, Refusal> {
    let path = RepoPath::parse(path).map_err(|_| Refusal::Gone)?;
    if secret::is_secret_name(path.as_str()).is_some() {
        return Err(Refusal::SecretName);
    }
    if is_closed(&path) {
        return Err(Refusal::Unreadable);
    }
    let text = String::from_utf8(crew.reveal(&path)?).map_err(|_| Refusal::Binary)?;
    if text.contains('\0') {
        return Err(Refusal::Binary);
    }
    Ok(secret::redact(&text).text.into_owned())
}
