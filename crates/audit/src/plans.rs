//! The plan of a run, read once more from its recorded text.

use std::collections::{BTreeMap, HashMap};

use super::Archive;
use super::breach::{Ledger, Rule};
use sequester_core::digest::Digest;
use sequester_core::id::TaskId;
use sequester_core::plan::{self, Format, Options, Parsed, Plan, Task};
use sequester_core::run::{Event, Recorded, Source, TaskSpec};

/// Every plan that the run had: it may have been edited.
pub(super) struct Plans {
    known: BTreeMap<Digest, Reading>,
    now: Option<Digest>,
}

pub(super) struct Reading {
    pub(super) plan: Plan,
    /// As the run names its file.
    pub(super) path: String,
    index: HashMap<TaskId, usize>,
}

impl Plans {
    pub(super) fn read(events: &[Recorded], archive: &dyn Archive, ledger: &mut Ledger) -> Self {
        let mut plans = Self { known: BTreeMap::new(), now: None };
        for recorded in events {
            let (source, specs) = match &recorded.entry.event {
                Event::RunStarted(started) => (&started.plan, &started.tasks),
                Event::PlanChanged { plan, tasks, .. } => (plan, tasks),
                _ => continue,
            };
            plans.now.get_or_insert_with(|| source.text.clone());
            if plans.known.contains_key(&source.text) {
                continue;
            }
            let text = archive.blob(&source.text).filter(|text| Digest::of(text) == source.text);
            let Some(text) = text else {
                ledger.run(Rule::Blob, "The plan's text is not there, or not what its name says.");
                continue;
            };
            match reread(&text, source, specs) {
                Some(reading) => {
                    plans.known.insert(source.text.clone(), reading);
                }
                None => ledger.run(
                    Rule::Plan,
                    "The tasks that were worked on are not those of the plan as it was recorded.",
                ),
            }
        }
        plans
    }

    pub(super) fn turn_to(&mut self, source: &Source) {
        self.now = Some(source.text.clone());
    }

    /// The plan that holds now.
    pub(super) fn now(&self) -> Option<&Reading> {
        self.known.get(self.now.as_ref()?)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Reading> {
        self.known.values()
    }

    pub(super) fn is_text(&self, bytes: &[u8]) -> bool {
        self.known.contains_key(&Digest::of(bytes))
    }

    /// Whether a file of the repository is one of them.
    pub(super) fn is_plan(&self, path: &str) -> bool {
        let ends = |full: &str| {
            full.strip_suffix(path).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        self.known.values().any(|reading| ends(&reading.path))
    }
}

impl Reading {
    pub(super) fn task(&self, id: &TaskId) -> Option<&Task> {
        self.index.get(id).map(|at| &self.plan.tasks[*at])
    }
}

/// Somebody may have said which format it is: the one that gives the recorded tasks.
fn reread(text: &[u8], source: &Source, specs: &[TaskSpec]) -> Option<Reading> {
    let file_name = source.path.rsplit('/').next().unwrap_or_default().to_owned();
    let formats = std::iter::once(None).chain(Format::ALL.map(Some));
    formats.into_iter().find_map(|format| {
        let options = Options { format, file_name: file_name.clone(), ..Options::default() };
        let Parsed { plan, .. } = plan::parse(text, &options);
        let index = plan.tasks.iter().enumerate().map(|(at, task)| (task.id.clone(), at)).collect();
        let reading = Reading { plan, path: source.path.clone(), index };
        let fits = |spec: &TaskSpec| {
            let task = reading.task(&spec.id);
            task.is_some_and(|task| Digest::of(task.text.as_bytes()) == spec.text)
        };
        specs.iter().all(fits).then_some(reading)
    })
}
