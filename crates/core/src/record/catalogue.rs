//! What the done tasks of a run left, in memory: who may see it, and what of it is handed over. It is made from what was
//! recorded, each record once, and gives the same whatever the order in which tasks happened to end.

mod hand;

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::artifact::{Todo, open_todos};
use super::backpack::Pack;
use super::left::{Read, left_with};
use super::lineage::{counted, kept};
use super::usage::{Shown, shown};
use super::wish::Offer;
use super::{Chosen, Handed, Kind, Record, Switches};
use crate::agent::Kept;
use crate::context::Share;
use crate::digest::Digest;
use crate::id::TaskId;
use crate::moment::Moment;
use crate::recall::{Entry, Index, Query, Ranked, Relevance, Seen};
use crate::run::{RunState, Settings, TaskRun};

/// How many records a question brings at most.
const RECALLED: usize = 10;

/// Grows as tasks end. One that is done again is made anew.
#[derive(Debug, Default)]
pub struct Catalogue {
    index: Index,
    /// By their numbers in the index.
    records: Vec<Filed>,
    /// The numbers of the records of each name: one of each end of its task.
    ids: HashMap<Arc<str>, Vec<usize>>,
    /// By place in the run, one of each end: what is taken back stays for those that began before.
    tasks: Vec<Vec<Shelf>>,
    places: HashMap<TaskId, usize>,
    /// What tasks of the shelves were shown: if one of these is filed later, what they made use of is looked up anew.
    sought: HashSet<String>,
}

#[derive(Debug)]
struct Filed {
    record: Arc<Record>,
    /// Of an interface.
    offer: Option<Offer>,
    /// No part of the record: contexts and rankings do not depend on the clock.
    at: Option<Moment>,
}

/// A record as people look at it.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedRecord {
    pub record: Arc<Record>,
    /// By how many tasks it was used.
    pub uses: u32,
    /// When the end of the attempt that left it was recorded.
    pub at: Option<Moment>,
}

/// What one task left. What follows from what others left is none of it: that may change while this stands.
#[derive(Debug)]
struct Shelf {
    task: TaskId,
    done_at: u64,
    needs: Vec<usize>,
    records: Vec<usize>,
    /// What it packed and took out.
    kept: Vec<Kept>,
    shown: Shown,
    /// Records of others that it made use of. Of one name only one can be seen at a time.
    used: Vec<usize>,
}

/// What was read of one task, before any of it is filed: half of it is nothing.
struct Leaving {
    shown: Shown,
    kept: Vec<Kept>,
    records: Vec<(Record, Option<Moment>)>,
}

impl Leaving {
    fn of(task: &TaskRun, read: Read<'_>) -> Self {
        let (kept, ends) = kept(task, read);
        let last = counted(task).last().map(|tried| tried.ended_at);
        let mut artifacts = kept.iter().zip(&ends).flat_map(|(kept, end)| {
            // Records of artifacts come in this order.
            kept.artifacts.iter().map(|_| *end)
        });
        let records = left_with(task, &kept, read).into_iter().map(|record| {
            let at = if record.kind == Kind::Artifact { artifacts.next() } else { last };
            (record, at)
        });
        let records = records.collect();
        Self { shown: shown(task, read), records, kept }
    }
}

/// A task that is about to begin, as far as records go.
#[derive(Clone, Debug)]
pub struct Seeker {
    settings: Settings,
    /// The tasks whose records it may see, in the plan's order.
    visible: Vec<Place>,
    ids: BTreeSet<TaskId>,
    needs: Vec<usize>,
    consumes: Vec<String>,
}

/// A task in a run, and the event that it was done by: what is begun anew has nothing any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    at: usize,
    done_at: Option<u64>,
}

impl Place {
    /// As it was after an event.
    fn of(run: &RunState, at: usize, seq: u64) -> Self {
        Self { at, done_at: run.tasks[at].done_by(seq) }
    }
}

impl Seeker {
    pub fn of(run: &RunState, task: &TaskId) -> Option<Self> {
        Self::after(run, task, run.seq)
    }

    /// One whose attempt is under way, as it was when that began: what others leave or take back meanwhile is not for it.
    pub fn begun(run: &RunState, task: &TaskId) -> Option<Self> {
        Self::after(run, task, run.task(task)?.began().unwrap_or(run.seq))
    }

    fn after(run: &RunState, task: &TaskId, seq: u64) -> Option<Self> {
        let at = run.position(task)?;
        let visible = run.visible(at);
        Some(Self {
            settings: run.started.settings.clone(),
            ids: visible.iter().map(|at| run.tasks[*at].spec.id.clone()).collect(),
            visible: visible.into_iter().map(|at| Place::of(run, at, seq)).collect(),
            needs: run.needs(at).to_vec(),
            consumes: run.tasks[at].spec.consumes.clone(),
        })
    }

    /// What a task is handed that gets no record: whom it may see holds for its backpack too.
    pub fn nothing(&self) -> Handed {
        Handed { visible: Some(self.ids.clone()), ..Handed::default() }
    }

    /// Whether the run still has what this one was to be shown.
    pub fn holds(&self, run: &RunState, task: &TaskId) -> bool {
        let now = run.position(task).map(|at| run.visible(at));
        now.is_some_and(|now| {
            let now = now.into_iter().map(|at| Place::of(run, at, run.seq));
            now.eq(self.visible.iter().copied())
        })
    }

    /// A person, who may see all that the run left.
    pub fn person(run: &RunState) -> Self {
        let settings = Settings { records: Switches::ALL, ..run.started.settings.clone() };
        let visible = (0..run.tasks.len()).map(|at| Place::of(run, at, run.seq)).collect();
        Self { settings, visible, ids: BTreeSet::new(), needs: Vec::new(), consumes: Vec::new() }
    }
}

impl Catalogue {
    /// The tasks that a seeker may see and that are not known yet, or were done again since.
    pub fn missing(&self, run: &RunState, seeker: &Seeker) -> Vec<(usize, TaskRun)> {
        let open = seeker.visible.iter().filter(|place| self.shelf(place).is_none());
        let task = |Place { at, done_at }: &Place| {
            Some((*at, run.tasks[*at].as_of((*done_at)?)?.into_owned()))
        };
        open.filter_map(task).collect()
    }

    /// Takes what tasks left, each after those that it needs. What cannot be read is no record that is not there: it says so.
    pub fn fill<E>(
        &mut self,
        missing: &[(usize, TaskRun)],
        read: impl Fn(&Digest) -> Result<Vec<u8>, E>,
    ) -> Result<(), E> {
        let failed: RefCell<Option<E>> = RefCell::new(None);
        let read = |digest: &Digest| match read(digest) {
            Ok(bytes) => Some(bytes),
            Err(error) => {
                failed.borrow_mut().get_or_insert(error);
                None
            }
        };
        let (mut late, mut filled) = (false, Ok(()));
        for (at, task) in missing {
            let leaving = Leaving::of(task, &read);
            if let Some(error) = failed.borrow_mut().take() {
                filled = Err(error);
                break;
            }
            late |= self.add(*at, task, leaving);
        }
        // Also after a failure: what was taken before it stays.
        if late {
            self.look_up();
        }
        filled
    }

    /// Whether somebody was shown what this task left before it was known here.
    fn add(&mut self, at: usize, task: &TaskRun, leaving: Leaving) -> bool {
        let Leaving { shown, mut kept, records } = leaving;
        let used = self.used(&shown);
        self.sought.extend(shown.ids.iter().cloned());
        self.places.insert(task.spec.id.clone(), at);
        let late = records.iter().any(|(record, _)| self.sought.contains(&*record.id));
        let records = records.into_iter().map(|(record, at)| self.file(record, at)).collect();
        kept.retain(|one| !one.backpack.is_empty() || !one.removed.is_empty());
        if self.tasks.len() <= at {
            self.tasks.resize_with(at + 1, Vec::new);
        }
        let (done_at, needs) = (task.ended_at(), task.needs().to_vec());
        let task = task.spec.id.clone();
        self.tasks[at].push(Shelf { task, done_at, needs, records, kept, shown, used });
        late
    }

    /// What was done again left other records, which those have that stand on it.
    fn look_up(&mut self) {
        for at in 0..self.tasks.len() {
            for end in 0..self.tasks[at].len() {
                self.tasks[at][end].used = self.used(&self.tasks[at][end].shown);
            }
        }
    }

    /// All that a subagent may see and its question is about, the best first.
    pub fn recall(&self, seeker: &Seeker, text: &str) -> Vec<Chosen> {
        let by = match seeker.settings.relevance {
            // Who asks wants an answer.
            Relevance::Off => Relevance::Words,
            by => by,
        };
        let seen: Vec<Seen> = self.sight(seeker).into_iter().map(|(_, seen)| seen).collect();
        let ranked = self.index.rank(&Query { text, paths: &[] }, &seen, by);
        ranked.iter().take(RECALLED).map(|one| self.chosen(one)).collect()
    }

    /// All that a seeker may see, in the plan's order, with how often those that it may see made use of it.
    pub fn all(&self, seeker: &Seeker) -> Vec<ListedRecord> {
        let uses = self.uses(seeker);
        let shelves = seeker.visible.iter().filter_map(|place| self.shelf(place));
        let listed = shelves.flat_map(|shelf| &shelf.records).map(|number| {
            let Filed { record, at, .. } = &self.records[*number];
            ListedRecord { record: Arc::clone(record), uses: uses[*number], at: *at }
        });
        listed.collect()
    }

    /// The backpack that a task begins with; nothing where none passes.
    pub fn backpack(&self, seeker: &Seeker) -> Option<Pack> {
        let Settings { share, records, .. } = &seeker.settings;
        let passes = records.backpack && *share != Share::None;
        passes.then(|| self.packed(seeker))
    }

    /// Made from the first task on: whatever is done again hands on something else.
    fn packed(&self, seeker: &Seeker) -> Pack {
        let most = seeker.settings.handover.backpack_tokens;
        let mut packs: HashMap<usize, Pack> = HashMap::new();
        for place in &seeker.visible {
            let Some(shelf) = self.shelf(place) else { continue };
            let mut pack = self.merged(&packs, &shelf.needs, most);
            if !shelf.kept.is_empty() {
                pack = pack.after(&shelf.task, &shelf.kept, most);
            }
            packs.insert(place.at, pack);
        }
        self.merged(&packs, &seeker.needs, most)
    }

    /// What those left that a seeker needs itself, in the plan's order.
    fn needs(&self, seeker: &Seeker) -> Vec<&Shelf> {
        let needs = seeker.visible.iter().filter(|place| seeker.needs.contains(&place.at));
        needs.filter_map(|place| self.shelf(place)).collect()
    }

    /// What is still to be done of what a seeker may see.
    pub fn todos(&self, seeker: &Seeker) -> Vec<Todo> {
        let all = self.all(seeker);
        open_todos(all.iter().map(|one| &*one.record))
    }

    fn merged(&self, packs: &HashMap<usize, Pack>, needs: &[usize], most: usize) -> Pack {
        let packs = needs.iter().filter_map(|need| packs.get(need));
        let place = |task: &TaskId| self.places.get(task).copied().unwrap_or(usize::MAX);
        Pack::merged(packs, place, most)
    }

    /// No two tasks end by the same event.
    fn shelf(&self, place: &Place) -> Option<&Shelf> {
        self.tasks.get(place.at)?.iter().find(|shelf| place.done_at == Some(shelf.done_at))
    }

    /// With how many tasks back they are: 1 is the last one before it.
    fn shelves<'a>(&'a self, seeker: &'a Seeker) -> impl Iterator<Item = (u32, &'a Shelf)> {
        let places = (1..).zip(seeker.visible.iter().rev());
        places.filter_map(|(age, place)| Some((age, self.shelf(place)?)))
    }

    /// How often each record was made use of, by those that a seeker may see.
    fn uses(&self, seeker: &Seeker) -> Vec<u32> {
        let mut uses = vec![0; self.records.len()];
        for at in self.shelves(seeker).flat_map(|(_, shelf)| &shelf.used) {
            uses[*at] += 1;
        }
        uses
    }

    /// Records of the kinds that pass.
    fn sight(&self, seeker: &Seeker) -> Vec<(Kind, Seen)> {
        let mut sight = self.view(seeker);
        sight.retain(|(kind, _)| seeker.settings.records.has(*kind));
        sight
    }

    /// Records of all kinds. No number comes from any that the seeker may not see.
    fn view(&self, seeker: &Seeker) -> Vec<(Kind, Seen)> {
        let uses = self.uses(seeker);
        let all = self.shelves(seeker).flat_map(|(age, shelf)| {
            shelf.records.iter().map(move |at| Seen { at: *at, age, uses: 0 })
        });
        let all = all.map(|seen| {
            let kind = self.records[seen.at].record.kind;
            (kind, Seen { uses: uses[seen.at], ..seen })
        });
        all.collect()
    }

    fn chosen(&self, ranked: &Ranked) -> Chosen {
        let record = Arc::clone(&self.records[ranked.at].record);
        Chosen { record, score: Some(ranked.score), why: ranked.why.clone() }
    }

    fn file(&mut self, record: Record, at: Option<Moment>) -> usize {
        let Record { title, text, paths, .. } = &record;
        let number = self.index.add(&Entry { title, summary: text, paths });
        let offer = (record.kind == Kind::Interface).then(|| Offer::of(text));
        self.ids.entry(Arc::clone(&record.id)).or_default().push(number);
        self.records.push(Filed { record: Arc::new(record), offer, at });
        number
    }

    /// Which of the records that a task was shown it made use of.
    fn used(&self, shown: &Shown) -> Vec<usize> {
        let found = shown.ids.iter().filter_map(|id| self.ids.get(id.as_str())).flatten();
        let is_used = |at: &&usize| shown.uses(&self.records[**at].record);
        found.filter(is_used).copied().collect()
    }
}

fn of_kind(sight: &[(Kind, Seen)], wanted: Kind) -> Vec<Seen> {
    sight.iter().filter(|(kind, _)| *kind == wanted).map(|(_, seen)| *seen).collect()
}
