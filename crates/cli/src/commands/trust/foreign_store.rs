//! Runs in the project's store that this user did not record, and the person's word on them.

use std::fmt::Write as _;
use std::iter;
use std::path::{Path, PathBuf};

use sequester_core::fault::Code;
use serde::Serialize;

use crate::failure::Failure;
use crate::render::terminal::plural;
use crate::wire::own_repository::OwnRepository;
use crate::wire::runs::{self, Runs};
use crate::wire::signing::why_foreign;

/// A store with runs of somebody else's.
#[derive(Serialize)]
pub(super) struct ForeignStore {
    file: PathBuf,
    pub(super) accepted: bool,
    runs: Vec<ForeignRun>,
    /// Whether the repository for single tasks is somebody else's too.
    repository: bool,
}

/// What resuming it would do.
#[derive(Serialize)]
struct ForeignRun {
    run: String,
    why: String,
    plan: Option<String>,
    tasks: usize,
    models: Vec<String>,
    profiles: Vec<String>,
}

impl ForeignStore {
    /// Nothing where there is no store, or where all of it is this user's.
    pub(super) fn look(root: &Path) -> Result<Option<Self>, Failure> {
        let repository = OwnRepository::look(root)? == OwnRepository::Foreign;
        let runs = Runs::look_quietly(root)?;
        let foreign = runs.as_ref().map(Runs::foreign).transpose()?.unwrap_or_default();
        if foreign.is_empty() && !repository {
            return Ok(None);
        }
        let listed =
            foreign.into_iter().zip(iter::repeat(runs.as_ref())).map(|((run, state), runs)| {
                let recorded = runs.and_then(|runs| runs.state(&run).ok());
                let agents = recorded.iter().flat_map(|state| state.started.agents.values());
                let mut models: Vec<String> =
                    agents.clone().flat_map(|one| one.models.clone()).collect();
                let mut profiles: Vec<String> = agents.map(|one| one.profile.clone()).collect();
                for list in [&mut models, &mut profiles] {
                    list.sort();
                    list.dedup();
                }
                ForeignRun {
                    run: run.to_string(),
                    why: why_foreign(state),
                    plan: recorded.as_ref().map(|state| state.started.plan.path.clone()),
                    tasks: recorded.as_ref().map_or(0, |state| state.tasks.len()),
                    models,
                    profiles,
                }
            });
        let runs = listed.collect();
        Ok(Some(Self { file: runs::place(root), accepted: false, runs, repository }))
    }

    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        if !self.runs.is_empty() {
            let runs = plural(self.runs.len(), "run");
            let _ =
                writeln!(out, "`{}` holds {runs} that you did not record:", self.file.display());
        }
        for ForeignRun { run, why, plan, tasks, models, profiles } in &self.runs {
            let _ = match plan {
                None => writeln!(out, "  {run}: {why}. It cannot be read."),
                Some(plan) => writeln!(
                    out,
                    "  {run}: {why}. Plan `{plan}`, {}, models {}, profiles {}.",
                    plural(*tasks, "task"),
                    named(models),
                    named(profiles)
                ),
            };
        }
        if self.repository {
            out += "The repository for single tasks, `.sequester/git`, is not yours.\n";
        }
        out + "To accept them signs them as they stand; they can then be resumed, answered and collected.\n"
    }

    /// Signs every run.
    pub(super) fn accept(&mut self, root: &Path) -> Result<(), Failure> {
        if self.repository {
            OwnRepository::seal(root)?;
        }
        let runs = Runs::open_unchecked(root)?;
        runs.store.adopt().map_err(|error| {
            let hint = "Move the file away; `sequester export` copies what can still be read.";
            Failure::work(Code::StoreDamaged, self.file.display(), error.to_string(), hint)
        })?;
        self.accepted = true;
        Ok(())
    }
}

fn named(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { format!("`{}`", names.join("`, `")) }
}
