//! Each finished task's change becomes one commit on the branch of the run.

use std::fmt::Write as _;
use std::sync::Arc;

use sequester_core::id::{CommitId, RunId, TaskId, TreeId};
use sequester_core::moment::Moment;
use sequester_core::repository::{Draft, Merge, Repository};
use sequester_core::run::{Entry, Event, PersonChoice, PersonDecision, Scope, TaskSpec};
use sequester_core::store::Batch;

use super::bases::{Bases, Ground};
use super::world::Trouble;
use super::{Controller, blocking};

/// What a done task changed, to be laid on the branch.
struct Layer {
    task: TaskId,
    base: TreeId,
    result: TreeId,
    message: String,
    /// Where it stands among the tasks.
    at: usize,
}

/// Commits that are recorded at once, at most.
const ROW: usize = 32;

impl Controller {
    /// The task and those that stand in line behind it: what many finish together is written down together.
    pub(super) async fn commit(&self, task: &TaskId) -> Result<(), Trouble> {
        // Nothing of it is withdrawn before it is recorded.
        let unmoved = self.ground.read().await;
        let (layers, mut ground, tip) = self.log.read(|run| {
            let row = run.row(task, ROW);
            let layer = |at: &usize| {
                let task = &run.tasks[*at];
                // What was committed before and done again gives way to what is there now.
                let base = task.replaced.as_ref().or(task.base.as_ref())?.clone();
                let result = task.result()?.clone();
                let id = task.spec.id.clone();
                let person = task.ended.as_ref().and_then(|ended| ended.person.as_ref());
                let message = message(&task.spec, &run.run, person);
                Some(Layer { task: id, base, result, message, at: *at })
            };
            let layers: Vec<Layer> = row.iter().filter_map(layer).collect();
            let start = &run.started.base;
            let tip = match &run.tip {
                Some((commit, tree)) => (Some(commit.clone()), tree.clone()),
                None => (start.commit.clone(), start.tree.clone()),
            };
            (layers, self.bases.ground(run, &row), tip)
        });
        let (bases, repository) = (Arc::clone(&self.bases), Arc::clone(&self.world.repository));
        let at = self.log.clock().now();
        let lay = move || {
            let made = lay(&bases, repository.as_ref(), layers, &mut ground, tip, at);
            made.map(|made| (made, ground))
        };
        let (made, mut ground) = blocking(lay).await??;
        let trees = std::mem::take(&mut ground.made);
        self.bases.keep(ground);
        match made {
            Made::Conflict { result, paths } => {
                drop(unmoved);
                self.clash(task, &result, paths).await
            }
            Made::Commits(entries) => {
                self.hold(&trees).await?;
                self.hold_commit(&entries).await?;
                self.log.append(Batch { entries, blobs: Vec::new() }).await?;
                drop(unmoved);
                self.move_branch().await
            }
        }
    }

    /// To the last commit that is recorded, wherever a crash left it.
    pub(super) async fn move_branch(&self) -> Result<(), Trouble> {
        let _alone = self.branch.lock().await;
        let to = self.log.read(|run| {
            run.tip.as_ref().map(|(commit, _)| (run.started.branch.clone(), commit.clone()))
        });
        let Some((branch, to)) = to else { return Ok(()) };
        let repository = Arc::clone(&self.world.repository);
        blocking(move || {
            let from = repository.branch(&branch)?;
            if from.as_ref() == Some(&to) {
                return Ok(());
            }
            repository.move_branch(&branch, from.as_ref(), &to)
        })
        .await?
        .map_err(Trouble::from)
    }
}

enum Made {
    Commits(Vec<Entry>),
    /// Of the first; another one that does not fit is found when it is the first.
    Conflict {
        result: TreeId,
        paths: Vec<String>,
    },
}

/// One commit on another, as far as they fit. May take its time.
fn lay(
    bases: &Bases,
    repository: &dyn Repository,
    layers: Vec<Layer>,
    ground: &mut Ground,
    (mut parent, mut ours): (Option<CommitId>, TreeId),
    at: Moment,
) -> Result<Made, Trouble> {
    let mut entries = Vec::new();
    for Layer { task, base, result, message, at: place } in layers {
        let merged = match bases.merge(repository, &base, &ours, &result)? {
            Merge::Clean(tree) => match ground.parts(bases, repository, place)? {
                None => Ok(tree),
                Some(paths) => Err(paths),
            },
            Merge::Conflict(paths) => Err(paths),
        };
        let tree = match merged {
            Ok(tree) => tree,
            Err(paths) if entries.is_empty() => return Ok(Made::Conflict { result, paths }),
            Err(_) => break,
        };
        let draft = Draft { tree: tree.clone(), parent, message, author: None, at };
        let commit = repository.commit(&draft)?;
        (parent, ours) = (Some(commit.clone()), tree.clone());
        let scope = Scope { task: Some(task), ..Scope::default() };
        entries.push(Entry { scope, event: Event::TaskCommitted { commit, tree } });
    }
    Ok(Made::Commits(entries))
}

/// What the task says of it, else its title; and where it comes from.
fn message(spec: &TaskSpec, run: &RunId, person: Option<&PersonDecision>) -> String {
    // One line, whatever the plan holds.
    let line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let id = line(spec.id.as_str());
    let said = spec.message.as_deref().unwrap_or_default();
    // Nobody but us says where a commit comes from.
    let is_own = |text: &&str| !text.trim_start().to_ascii_lowercase().starts_with("sequester-");
    let said = said.lines().filter(is_own).map(str::trim_end).collect::<Vec<_>>().join("\n");
    let said = match (said.trim(), line(&spec.title)) {
        ("", title) if title.is_empty() => id.clone(),
        ("", title) => title,
        (said, _) => said.to_owned(),
    };
    let mut text =
        format!("{said}\n\nSequester-Run: {}\nSequester-Task: {id}\n", line(run.as_str()));
    let trailer = |person: &PersonDecision| match person.choice {
        PersonChoice::Accepted => Some("Sequester-Accepted-By"),
        PersonChoice::HandedBack => Some("Sequester-Handed-Back-By"),
        _ => None,
    };
    if let Some((person, name)) = person.and_then(|person| Some((person, trailer(person)?))) {
        let _ = writeln!(text, "{name}: {}", line(&person.by));
    }
    text
}
