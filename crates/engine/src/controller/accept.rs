//! What a person accepted, without what no commit may hold.

use std::collections::BTreeMap;
use std::sync::Arc;

use sequester_core::change::{Change, Refused, refuse_covering};
use sequester_core::evidence::AddedSecret;
use sequester_core::id::{TaskId, TreeId};
use sequester_core::repository::Repository;
use sequester_core::run::Event;
use sequester_core::secret::is_secret_name;

use super::verify::secrets;
use super::world::Trouble;
use super::{Controller, blocking};

impl Controller {
    /// Checks, reviews and declared files are overruled. A refused file, a protected name or a secret is not.
    pub(super) async fn accept(&self, task: &TaskId) -> Result<(), Trouble> {
        let Some(known) = self.log.read(|run| run.task(task).cloned()) else { return Ok(()) };
        let (store, repository) =
            (Arc::clone(&self.world.store), Arc::clone(&self.world.repository));
        let event = blocking(move || {
            let parked = known.parked();
            let Some((base, tree)) = parked
                .map(|one| (one.base, one.tree))
                .or_else(|| known.base.as_ref().map(|base| (base, base)))
            else {
                let why = "It has not begun, so there is nothing to accept.".to_owned();
                return Ok::<_, Trouble>(Event::AcceptRefused { why });
            };
            let written = known.tried().rfind(|tried| tried.phase.changes_files());
            let harvested = match written.and_then(|tried| tried.change.as_ref()) {
                Some(kept) if known.handed_back().is_none() => {
                    Change::unpack(&store.blob(kept)?, |_| Ok::<_, String>(Vec::new())).ok()
                }
                _ => None,
            };
            let mut left_out = harvested.map(|change| change.refused).unwrap_or_default();
            left_out.truncate(NAMED);
            let admitted = admit(repository.as_ref(), base, tree, &mut left_out)?;
            Ok(match admitted {
                Some(tree) => Event::ChangeAccepted { tree, left_out },
                None => Event::AcceptRefused { why: refused(&left_out) },
            })
        });
        let event = event.await??;
        if let Event::ChangeAccepted { tree, .. } = &event {
            self.hold([tree]).await?;
        }
        self.tell(task, event).await
    }
}

/// Of one change.
const NAMED: usize = 20;

/// The tree without files that bring a secret, which are named with the reason. Nothing where the change consists of what is left
/// out; a change that is empty by itself is admitted. May take its time.
pub fn admit(
    repository: &dyn Repository,
    base: &TreeId,
    tree: &TreeId,
    left_out: &mut Vec<Refused>,
) -> Result<Option<TreeId>, sequester_core::repository::Error> {
    let mut change = repository.between(base, tree)?;
    let before = repository.snapshot(base)?;
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    for AddedSecret { path, line, rule } in secrets(&change, before.as_ref()) {
        found.entry(path).or_insert_with(|| format!("it brings a secret in line {line} ({rule})"));
    }
    for entry in &change.entries {
        if let Some(rule) = is_secret_name(&entry.path) {
            let why = format!("it is secret by its name ({rule})");
            found.entry(entry.path.clone()).or_insert(why);
        }
    }
    let count = change.entries.len();
    change.entries.retain(|entry| !found.contains_key(&entry.path));
    left_out.extend(refuse_covering(&mut change, before.as_ref()));
    let kept = change.entries.len();
    left_out.extend(found.into_iter().map(|(path, why)| Refused { path, why }));
    if kept == 0 && !left_out.is_empty() {
        return Ok(None);
    }
    if kept == count {
        return Ok(Some(tree.clone()));
    }
    repository.with_change(base, &change).map(Some)
}

fn refused(left_out: &[Refused]) -> String {
    let told =
        left_out.iter().map(|one| format!("`{}`, {}", one.path, one.why.trim_end_matches('.')));
    let told: Vec<String> = told.collect();
    format!("it consists of what no commit may hold: {}.", told.join("; "))
}
