//! The runtime looks at a change itself: checks in jails, deliverables, interfaces. Then all of it is weighed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::try_join_all;
use sequester_core::change::{self, Change};
use sequester_core::check::{self, Check, Kind, counts};
use sequester_core::digest::Digest;
use sequester_core::evidence::{
    self, AddedSecret, Evidence, Input, Known as Name, Other, Ran, red_then_green,
};
use sequester_core::id::{TaskId, TreeId};
use sequester_core::jail::{Cell, ErrorKind};
use sequester_core::path::RepoPath;
use sequester_core::plan;
use sequester_core::report::{Findings, Report};
use sequester_core::repository::{self, Snapshot};
use sequester_core::run::{CheckEnded, Entry, Event, RunState, Scope, TaskRun, Tried};
use sequester_core::secret::redact;
use sequester_core::store::Batch;
use tokio::sync::OnceCell;

use super::recorder::{json, milliseconds};
use super::world::Trouble;
use super::{Controller, blocking};

/// Checks that were run, by what on: two tasks on one base wait for one run, and a task's result is the next one's base.
#[derive(Default)]
pub(super) struct Known(Mutex<BTreeMap<(TreeId, Check), Once>>);

/// Whoever comes second waits for the first.
type Once = Arc<OnceCell<CheckEnded>>;

/// What a check is run on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Change,
    Base,
    /// The base with nothing but the new tests.
    Red,
}

/// A change to be looked at.
struct Subject {
    task: TaskRun,
    base: TreeId,
    tree: TreeId,
    change: Change,
    report: Option<Report>,
    snapshot: Arc<dyn Snapshot>,
    /// The base with nothing but the new tests, where those must fail first.
    red: Option<TreeId>,
    /// Secrets that the change brings in.
    secrets: Vec<AddedSecret>,
}

impl Controller {
    pub(super) async fn verify(
        &self,
        task: &TaskId,
        steps: Vec<String>,
        kinds: Vec<Kind>,
        tree: Option<TreeId>,
    ) -> Result<(), Trouble> {
        let Some(known) = self.log.read(|run| run.task(task).cloned()) else { return Ok(()) };
        let base = match &known.base {
            Some(base) => base.clone(),
            None => match self.base(task).await? {
                Some(base) => base,
                None => return Ok(()),
            },
        };
        let tree = tree.unwrap_or_else(|| base.clone());
        let off = self.log.read(|run| run.started.settings.checks_off.clone());
        let kinds: Vec<Kind> = kinds.into_iter().filter(|kind| !off.contains(kind)).collect();
        let subject = self.subject(known, base, tree).await?;
        let checks = self.checks(&subject, &kinds);
        let ran = try_join_all(checks.iter().map(|one| self.check_both(&subject, one))).await?;
        let red = match &subject.red {
            Some(red) => {
                let tests = checks.iter().filter(|one| matches!(one.kind, Kind::Tests | Kind::Own));
                try_join_all(
                    tests.map(|one| self.check(&subject.task.spec.id, one, red, Side::Red)),
                )
                .await?
            }
            None => Vec::new(),
        };
        let names = self.names(&subject).await?;
        let outputs = self.outputs(&ran, &red).await?;
        let evidence = self.weigh(&subject, &kinds, (&ran, &red, &outputs), names.as_ref());
        let mut batch = Batch::default();
        let fails = !evidence.passed();
        let failing = fails.then(|| batch.keep(evidence::digest(&evidence, &outputs).into_bytes()));
        let report = subject.report.as_ref();
        let gist = || evidence::gist(&evidence, &outputs, report);
        let gist = fails.then(|| redact(&gist()).text.into_owned());
        let (evidence, tree) = (batch.keep(json(&evidence)), subject.tree);
        let scope = Scope { task: Some(task.clone()), ..Scope::default() };
        let event = Event::TaskVerified { steps, evidence, tree, failing, gist };
        batch.entries.push(Entry { scope, event });
        Ok(self.log.append(batch).await?)
    }

    /// All that git and the store know of it.
    async fn subject(&self, task: TaskRun, base: TreeId, tree: TreeId) -> Result<Subject, Trouble> {
        let (store, repository) =
            (Arc::clone(&self.world.store), Arc::clone(&self.world.repository));
        blocking(move || {
            let mut change = repository.between(&base, &tree)?;
            // What a person handed back has no report, and its refused files were told when it was taken.
            let written = task.tried().rfind(|tried| tried.phase.changes_files());
            let written = written.filter(|_| task.handed_back().is_none());
            if let Some(kept) = written.and_then(|tried| tried.change.as_ref()) {
                // What was refused never reached a tree.
                let last = Change::unpack(&store.blob(kept)?, |_| Ok::<_, String>(Vec::new()));
                if let Ok(last) = last {
                    (change.refused, change.refused_more) = (last.refused, last.refused_more);
                }
            }
            let report = match written.and_then(|tried| tried.report.as_ref()) {
                Some(report) => serde_json::from_slice(&store.blob(report)?).ok(),
                None => None,
            };
            let report = report.map(|report| as_said(report, written));
            let tests = if task.spec.tdd { red_then_green(&task.spec, &change) } else { None };
            let red = match tests {
                Some(tests) => Some(repository.with_change(&base, &tests)?),
                None => None,
            };
            let snapshot = repository.snapshot(&tree)?;
            let before = repository.snapshot(&base)?;
            let secrets = secrets(&change, before.as_ref());
            Ok(Subject { task, base, tree, change, report, snapshot, red, secrets })
        })
        .await?
    }

    /// Those of the project that the workflow asks for, and the task's own.
    fn checks(&self, subject: &Subject, kinds: &[Kind]) -> Vec<Check> {
        let found = self.log.read(|run| run.started.settings.checks.clone());
        let project = kinds.iter().filter_map(|kind| {
            let command = found.get(kind)?.clone();
            Some(Check { kind: *kind, command })
        });
        let own = subject.task.spec.checks.iter();
        let own = own.map(|command| Check { kind: Kind::Own, command: command.clone() });
        project.chain(own).collect()
    }

    /// On the change, and if it fails there, on the base: what failed before is not this task's fault. The project's tests run on
    /// the base in any case: fewer than there speak against the task. So do those that are to fail first.
    async fn check_both(&self, subject: &Subject, check: &Check) -> Result<Ran, Trouble> {
        let task = &subject.task.spec.id;
        let ended = self.check(task, check, &subject.tree, Side::Change).await?;
        let is_compared = match check.kind {
            Kind::Tests => true,
            Kind::Own => subject.red.is_some(),
            _ => false,
        };
        let base = if subject.base == subject.tree {
            // An attempt that could change files and changed none makes nothing worse.
            let is_written = subject.task.tried().any(|tried| tried.phase.changes_files());
            is_written.then(|| ended.clone())
        } else if is_compared || !ended.passed {
            Some(self.check(task, check, &subject.base, Side::Base).await?)
        } else {
            None
        };
        Ok(Ran { ended, base })
    }

    /// Once on each tree.
    async fn check(
        &self,
        task: &TaskId,
        check: &Check,
        on: &TreeId,
        side: Side,
    ) -> Result<CheckEnded, Trouble> {
        let known = self.known.cell(on, check);
        known.get_or_try_init(|| self.run_check(task, check, on, side)).await.cloned()
    }

    async fn run_check(
        &self,
        task: &TaskId,
        check: &Check,
        on: &TreeId,
        side: Side,
    ) -> Result<CheckEnded, Trouble> {
        self.tell(task, Event::CheckStarted { check: check.clone(), on: on.clone() }).await?;
        let member = self.world.crew.checker()?;
        let cell = Cell {
            profile: member.profile.clone(),
            base: on.clone(),
            change: None,
            named: BTreeSet::new(),
            grants: member.grants.clone(),
            wall: member.budget.wall,
        };
        let jail = self.world.jails.open(&cell).await.map_err(broken)?;
        let ran = jail.run(&check.command, member.budget.wall).await.map_err(broken)?;
        drop(jail);
        let counts = counts(&ran.output);
        let mut batch = Batch::default();
        let text = match &ran.limit {
            Some(limit) => format!("{}\n[{limit}]\n", ran.output),
            None => ran.output.clone(),
        };
        let ended = CheckEnded {
            check: check.clone(),
            on: on.clone(),
            is_base: side == Side::Base,
            is_red: side == Side::Red,
            code: ran.code,
            passed: ran.limit.is_none() && check::passed(check.kind, ran.code, counts),
            missing_program: check::missing_program(ran.code, &ran.output),
            limit: ran.limit,
            counts,
            output: batch.keep(text.into_bytes()),
            elapsed_ms: milliseconds(ran.elapsed),
        };
        let scope = Scope { task: Some(task.clone()), ..Scope::default() };
        let event = Event::CheckEnded(Box::new(ended.clone()));
        batch.entries.push(Entry { scope, event });
        self.log.append(batch).await?;
        Ok(ended)
    }

    /// Names in the files that the change leads to, where the task promises any.
    async fn names(&self, subject: &Subject) -> Result<Option<BTreeSet<String>>, Trouble> {
        if subject.task.spec.produces.is_empty() {
            return Ok(Some(BTreeSet::new()));
        }
        let there = subject.change.entries.iter().filter(|entry| entry.mode.is_some());
        let paths: Vec<String> = there.map(|entry| entry.path.clone()).collect();
        self.world.crew.names(&subject.tree, &paths).await
    }

    fn weigh(
        &self,
        subject: &Subject,
        kinds: &[Kind],
        (ran, red, outputs): (&[Ran], &[CheckEnded], &BTreeMap<Digest, String>),
        names: Option<&BTreeSet<String>>,
    ) -> Evidence {
        let others = self.log.read(|run| others(run, subject));
        evidence::weigh(&Input {
            task: &subject.task.spec,
            change: &subject.change,
            report: subject.report.as_ref(),
            checks: ran,
            wanted: kinds,
            exists: &|path| is_there(subject.snapshot.as_ref(), path),
            mentioned: &|path| {
                let mut entries = subject.snapshot.entries().iter();
                entries.any(|entry| plan::fits_path(path, entry.path.as_str()))
            },
            names: &|name| match names {
                Some(names) if names.contains(name) => Name::Found,
                Some(_) => Name::Missing,
                None => Name::Unknown,
            },
            others: &others,
            red,
            secrets: &subject.secrets,
            outputs,
        })
    }

    /// What failing checks printed.
    async fn outputs(
        &self,
        ran: &[Ran],
        red: &[CheckEnded],
    ) -> Result<BTreeMap<Digest, String>, Trouble> {
        let ran = ran.iter().flat_map(|one| [Some(&one.ended), one.base.as_ref()]).flatten();
        let failed = ran.chain(red).filter(|one| !one.passed);
        let wanted: BTreeSet<Digest> = failed.map(|one| one.output.clone()).collect();
        let store = Arc::clone(&self.world.store);
        blocking(move || {
            let read = |digest: Digest| {
                let text = String::from_utf8_lossy(&store.blob(&digest)?).into_owned();
                Ok((digest, text))
            };
            wanted.into_iter().map(read).collect()
        })
        .await?
    }
}

impl Known {
    fn cell(&self, on: &TreeId, check: &Check) -> Once {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.entry((on.clone(), check.clone())).or_default())
    }
}

/// With what the subagent claimed beyond what the runtime saw of its attempt.
fn as_said(mut report: Report, written: Option<&Tried>) -> Report {
    if let Findings::Write(found) | Findings::Execute(found) = &mut report.findings {
        found.files_changed.extend(written.into_iter().flat_map(|tried| tried.claimed.clone()));
    }
    report
}

pub(super) fn broken(error: sequester_core::jail::Error) -> Trouble {
    if error.kind == ErrorKind::Guarantee {
        return Trouble::Guarantee(error);
    }
    Trouble::Crew { message: error.message, hint: error.hint }
}

/// What our own rules find in the files that a change brings, and not in those that it replaces.
pub(super) fn secrets(change: &Change, before: &dyn Snapshot) -> Vec<AddedSecret> {
    let old = |entry: &change::Entry| {
        let path = RepoPath::parse(&entry.path).ok()?;
        Some(String::from_utf8_lossy(&before.read(&path, LARGEST).ok()?).into_owned())
    };
    let replaced = change.entries.iter().filter(|entry| entry.was.is_some());
    let old: Vec<String> = replaced.filter_map(old).collect();
    let brought = change.entries.iter().filter(|entry| entry.mode.is_some());
    let found = brought.flat_map(|entry| {
        let new = String::from_utf8_lossy(&entry.content);
        evidence::added_secrets(&entry.path, &old, &new)
    });
    found.collect()
}

/// No text that a person writes is larger.
const LARGEST: u64 = 16 << 20;

/// A file, or a folder with something in it.
fn is_there(snapshot: &dyn Snapshot, path: &str) -> bool {
    let inside = format!("{}/", path.trim_end_matches('/'));
    let entries = snapshot.entries();
    let at = entries.partition_point(|entry| entry.path.as_str() < inside.as_str());
    let below = entries.get(at).is_some_and(|entry| entry.path.as_str().starts_with(&inside));
    below || repository::find(snapshot, path).is_some()
}

/// Tasks that declare a file which this change touches without having declared it, and that it neither needs nor is needed by.
fn others(run: &RunState, subject: &Subject) -> Vec<Other> {
    let spec = &subject.task.spec;
    let declared = |path: &str| spec.files.iter().any(|file| file.path == path);
    let touched = subject.change.entries.iter().map(|entry| entry.path.as_str());
    let touched: BTreeSet<&str> = touched.filter(|path| !declared(path)).collect();
    let Some(own) = run.position(&spec.id).filter(|_| !touched.is_empty()) else {
        return Vec::new();
    };
    let declares = |at: &usize| {
        let files = &run.tasks[*at].spec.files;
        files.iter().any(|file| file.action.writes() && touched.contains(file.path.as_str()))
    };
    let all = (0..run.tasks.len()).filter(|at| *at != own && declares(at));
    let all: Vec<usize> = all.collect();
    if all.is_empty() {
        return Vec::new();
    }
    let needs = run.foundation(own);
    let stranger = |at: &usize| !needs.contains(at) && !run.foundation(*at).contains(&own);
    let other = |at: usize| {
        let spec = &run.tasks[at].spec;
        Other { task: spec.id.clone(), files: spec.files.clone() }
    };
    all.into_iter().filter(stranger).map(other).collect()
}
