//! Words of other tasks in what a subagent read or said.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::plans::Plans;
use super::records::{Lefts, shown};
use super::shingle::{Shingle, shingles};
use super::{Archive, history, texts};
use sequester_core::digest::Digest;
use sequester_core::id::{TaskId, TreeId};
use sequester_core::report::{Phase, Report};
use sequester_core::repository::{EntryKind, Snapshot, Stamp};
use sequester_core::run::{RunState, Running, TaskRun};

/// The words of all tasks, indexed once, and what each task may have seen of them.
pub(super) struct Leaks {
    names: Vec<TaskId>,
    index: HashMap<u64, Owners>,
    tasks: HashMap<TaskId, Seen>,
    /// What of the index stands in files and reports, each read once.
    contents: HashMap<String, Arc<[u64]>>,
    trees: HashMap<TreeId, Arc<HashSet<u64>>>,
    reports: HashMap<Digest, HashSet<u64>>,
    /// The same of what tasks left, by the event that they ended by.
    records: HashMap<(TaskId, u64), HashSet<u64>>,
}

/// Whose words they are. What three tasks say is the plan's way of speaking and nobody's.
#[derive(Clone, Copy)]
struct Owners {
    first: usize,
    second: Option<usize>,
    is_common: bool,
}

/// What one task may have seen, as far as it is in the index.
#[derive(Default)]
struct Seen {
    own: HashSet<u64>,
    /// What its subagents said before: it comes back from files that they wrote.
    said: HashSet<u64>,
    tree: TreeId,
}

pub(super) struct Found {
    pub(super) task: TaskId,
    pub(super) words: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    System,
    Prompt,
    Message,
    Result,
    Reply,
}

impl Place {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::System => "The system part",
            Self::Prompt => "The prompt",
            Self::Message => "A message",
            Self::Result => "A tool's result",
            Self::Reply => "A reply",
        }
    }

    /// Shingles in a row that are no chance. What a model says by itself may sound like others.
    fn least(self) -> usize {
        if self == Self::Reply { 8 } else { 2 }
    }
}

impl Leaks {
    pub(super) fn new(plans: &Plans) -> Self {
        let mut leaks = Self {
            names: Vec::new(),
            index: HashMap::new(),
            tasks: HashMap::new(),
            contents: HashMap::new(),
            trees: HashMap::new(),
            reports: HashMap::new(),
            records: HashMap::new(),
        };
        let mut places: BTreeMap<&TaskId, usize> = BTreeMap::new();
        for task in plans.all().flat_map(|reading| &reading.plan.tasks) {
            let count = places.len();
            let owner = *places.entry(&task.id).or_insert(count);
            if owner == count {
                leaks.names.push(task.id.clone());
            }
            for shingle in shingles(&format!("{}\n{}", task.title, task.text)) {
                let new = Owners { first: owner, second: None, is_common: false };
                leaks.index.entry(shingle.hash).or_insert(new).add(owner);
            }
        }
        leaks
    }

    /// An attempt begins: `beside` is what it is shown that comes from neither plan nor repository.
    pub(super) fn begin(
        &mut self,
        task: &TaskRun,
        running: &Running,
        plans: &Plans,
        beside: &[String],
    ) {
        let id = &task.spec.id;
        let mut own = HashSet::new();
        let mut allow = |text: &str| own.extend(self.known(text).map(|shingle| shingle.hash));
        if let Some((plan, planned)) = plans.now().and_then(|now| Some((&now.plan, now.task(id)?)))
        {
            for (_, text) in texts::own(plan, planned, Phase::Write) {
                allow(&text);
            }
        }
        for text in beside {
            allow(text);
        }
        for given in &task.clarifications {
            allow(&given.question);
            allow(&given.answer);
        }
        let started = &running.started;
        let tree = started.from.as_ref().unwrap_or(&started.base).clone();
        let seen = self.tasks.entry(id.clone()).or_default();
        if started.parent.is_some() {
            // Who delegated it goes on as well, over what it began with.
            seen.own.extend(own);
        } else {
            (seen.own, seen.tree) = (own, tree);
        }
    }

    /// The first words of another task that this one had no right to.
    pub(super) fn search(
        &mut self,
        run: &RunState,
        id: &TaskId,
        text: &str,
        place: Place,
        (plans, lefts, archive): (&Plans, &Lefts, &dyn Archive),
    ) -> Option<Found> {
        let hits: Vec<(Shingle, usize)> = {
            let seen = self.tasks.get(id);
            let may = |hash: u64| {
                seen.is_some_and(|seen| seen.own.contains(&hash) || seen.said.contains(&hash))
            };
            let foreign = self.known(text).filter(|shingle| !may(shingle.hash));
            foreign.filter_map(|shingle| Some((shingle, self.other(shingle.hash, id)?))).collect()
        };
        if place == Place::Reply {
            let said: Vec<u64> = self.known(text).map(|shingle| shingle.hash).collect();
            self.tasks.entry(id.clone()).or_default().said.extend(said);
        }
        let hits = cluster(&hits, place.least());
        if hits.is_empty() {
            return None;
        }
        let tree = self.tasks.get(id).map(|seen| seen.tree.clone()).unwrap_or_default();
        let files = self.files(&tree, plans, archive);
        let mut hits: Vec<(Shingle, usize)> =
            hits.into_iter().filter(|(shingle, _)| !files.contains(&shingle.hash)).collect();
        if !hits.is_empty() {
            let told = self.told(run, id, lefts, archive);
            hits.retain(|(shingle, _)| !told.contains(&shingle.hash));
        }
        let hits = cluster(&hits, place.least());
        let &(first, owner) = hits.first()?;
        let words = text.get(first.start..first.end).unwrap_or_default();
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(Found { task: self.names[owner].clone(), words })
    }

    fn known(&self, text: &str) -> impl Iterator<Item = Shingle> {
        shingles(text).into_iter().filter(|shingle| self.index.contains_key(&shingle.hash))
    }

    /// Another task that says it, if this one does not.
    fn other(&self, hash: u64, id: &TaskId) -> Option<usize> {
        let owners = self.index.get(&hash).filter(|owners| !owners.is_common)?;
        let is_own = |owner: usize| self.names[owner] == *id;
        (!is_own(owners.first) && !owners.second.is_some_and(is_own)).then_some(owners.first)
    }

    /// What of the index stands in the files of a tree, but for the plan.
    fn files(&mut self, tree: &TreeId, plans: &Plans, archive: &dyn Archive) -> Arc<HashSet<u64>> {
        if let Some(known) = self.trees.get(tree) {
            return Arc::clone(known);
        }
        let all = archive.tree(tree).map_or_else(HashSet::new, |snapshot| {
            self.read(snapshot.as_ref(), plans);
            let stamps = snapshot.entries().iter().filter_map(|entry| stamp(&entry.stamp));
            stamps
                .filter_map(|stamp| self.contents.get(stamp))
                .flat_map(|hits| hits.iter().copied())
                .collect()
        });
        let all = Arc::new(all);
        self.trees.insert(tree.clone(), Arc::clone(&all));
        all
    }

    /// Reads what no tree before it had.
    fn read(&mut self, snapshot: &dyn Snapshot, plans: &Plans) {
        let entries = snapshot.entries();
        let is_new = |at: &usize| {
            let entry = &entries[*at];
            let is_file = entry.kind == EntryKind::File && !plans.is_plan(entry.path.as_str());
            is_file && stamp(&entry.stamp).is_some_and(|stamp| !self.contents.contains_key(stamp))
        };
        let wanted: Vec<usize> = (0..entries.len()).filter(is_new).collect();
        let mut read: Vec<(String, Arc<[u64]>)> = Vec::new();
        snapshot.read_many(&wanted, LARGEST, &mut |at, bytes| {
            let (Ok(bytes), Some(stamp)) = (bytes, stamp(&entries[at].stamp)) else { return };
            let hits: Vec<u64> = if plans.is_text(bytes) {
                Vec::new()
            } else {
                self.known(&String::from_utf8_lossy(bytes)).map(|shingle| shingle.hash).collect()
            };
            read.push((stamp.to_owned(), hits.into()));
        });
        self.contents.extend(read);
    }

    /// What the tasks that this one builds on reported, and left for it.
    fn told(
        &mut self,
        run: &RunState,
        id: &TaskId,
        lefts: &Lefts,
        archive: &dyn Archive,
    ) -> HashSet<u64> {
        let mut told = HashSet::new();
        for task in history::visible(run, id) {
            let key = (task.spec.id.clone(), task.ended_at());
            if !self.records.contains_key(&key) {
                let left: String = lefts.of(archive, &task).iter().map(shown).collect();
                let hits = self.known(&left).map(|one| one.hash).collect();
                self.records.insert(key.clone(), hits);
            }
            told.extend(self.records.get(&key).into_iter().flatten());
            for digest in task.tried().filter_map(|tried| tried.report.as_ref()) {
                if !self.reports.contains_key(digest) {
                    let text = archive.blob(digest).map(|bytes| whole_text(&bytes));
                    let hits = self.known(&text.unwrap_or_default()).map(|one| one.hash).collect();
                    self.reports.insert(digest.clone(), hits);
                }
                told.extend(self.reports.get(digest).into_iter().flatten());
            }
        }
        told
    }
}

/// All that a report says in words.
fn whole_text(report: &[u8]) -> String {
    let Ok(report) = serde_json::from_slice::<Report>(report) else { return String::new() };
    let findings = report.findings.lists().into_iter().flat_map(|list| list.items);
    let said = std::iter::once(report.context_summary).chain(findings).chain(report.issues);
    said.collect::<Vec<_>>().join("\n")
}

/// A larger file is no text that anybody reads whole.
const LARGEST: u64 = 8 << 20;

fn stamp(stamp: &Stamp) -> Option<&str> {
    match stamp {
        Stamp::Content(hash) => Some(hash),
        Stamp::Stat { .. } => None,
    }
}

impl Owners {
    fn add(&mut self, owner: usize) {
        if owner == self.first || self.second == Some(owner) {
            return;
        }
        self.is_common = self.second.replace(owner).is_some();
    }
}

/// Hits that stand close together, at least so many.
fn cluster(hits: &[(Shingle, usize)], least: usize) -> Vec<(Shingle, usize)> {
    const CLOSE: usize = 3;
    let near = |one: &(Shingle, usize), two: &(Shingle, usize)| two.0.word - one.0.word <= CLOSE;
    let rows = hits.chunk_by(near);
    rows.filter(|row| row.len() >= least).flatten().copied().collect()
}
