//! What a plan says that cannot all be so, held against the code that a run starts from.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashSet};

use sequester_core::fault::Fault;
use sequester_core::id::{QuestionId, RunId, TaskId};
use sequester_core::plan::Action;
use sequester_core::protected::Grants;
use sequester_core::repository::{self, EntryKind, Filtered, Snapshot};
use sequester_core::run::{Doubt, Entry, Event, Ground, RunState, contradictions};

use super::{PlanFile, Project};

/// So many are asked about; whoever has more edits the plan.
const MOST: usize = 100;

/// So many files that are there already are named.
const NAMED: usize = 3;

/// Of the code, so many bytes of so large files are read for its words. Past that any word is taken for known.
const ALL_BYTES: usize = 100 << 20;
const FILE_BYTES: u64 = 1 << 20;

pub(crate) struct Doubts<'a> {
    pub(crate) project: &'a Project,
    pub(crate) file: &'a PlanFile,
    /// What the command line grants.
    pub(crate) grants: &'a Grants,
    /// What the run starts from.
    pub(crate) base: &'a dyn Snapshot,
}

/// What is asked before anything starts.
pub(crate) struct Found {
    doubts: Vec<Doubt>,
    /// What a person should know besides.
    pub(crate) notes: Vec<String>,
}

impl Doubts<'_> {
    /// Of the tasks that take part in the run.
    pub(crate) fn find(&self, part: &BTreeSet<TaskId>) -> Found {
        let words = OnceCell::new();
        let mut grants = self.project.settings.grants().with_named(&self.file.granted());
        grants.extend(self.grants);
        let mut doubts = contradictions(&Ground {
            plan: &self.file.plan,
            graph: &self.file.graph,
            takes_part: &|task| part.contains(task),
            grants: &grants,
            is_known: &|word| {
                let words = words.get_or_init(|| self.words());
                words.as_ref().is_none_or(|words| words.contains(word))
            },
        });
        let mut notes = Vec::new();
        if doubts.len() > MOST {
            let more = doubts.len() - MOST;
            notes.push(format!(
                "The plan contradicts itself in {more} more places, which are left as they are."
            ));
            doubts.truncate(MOST);
        }
        notes.extend(self.there_already(part));
        Found { doubts, notes }
    }

    /// Files that are to be created and are there: most often the plan has been run before.
    fn there_already(&self, part: &BTreeSet<TaskId>) -> Option<String> {
        let tasks = self.file.plan.tasks.iter().filter(|task| part.contains(&task.id));
        let files = tasks.flat_map(|task| task.files.iter().map(move |file| (task, file)));
        let created = files.filter(|(_, file)| file.action == Action::Create);
        let there: Vec<String> = created
            .filter(|(_, file)| repository::find(self.base, file.path.as_str()).is_some())
            .map(|(task, file)| format!("`{}` (task `{}`)", file.path, task.id))
            .collect();
        let named = there.get(..there.len().min(NAMED))?.join(", ");
        let more = match there.len().checked_sub(NAMED) {
            Some(more @ 1..) => format!(" and {more} more"),
            _ => String::new(),
        };
        (!there.is_empty()).then(|| {
            format!(
                "To be created, and there already: {named}{more}. If the plan has been run, mark what is done: by ticking its boxes (`sequester apply --tick` does), or by `done: true` in a task's block."
            )
        })
    }

    /// All words of the code; nothing where it is too much of it.
    fn words(&self) -> Option<HashSet<String>> {
        let companions = self.file.companions(self.project);
        let hidden = self.project.plan_paths((self.file, &companions));
        let visible = Filtered::visible(self.base, |entry| hidden.contains(&entry.path));
        let files = visible.entries().iter().enumerate();
        let files = files.filter(|(_, entry)| entry.kind == EntryKind::File);
        let files: Vec<usize> = files.map(|(at, _)| at).collect();
        let (mut words, mut left) = (HashSet::new(), Some(ALL_BYTES));
        visible.read_many(&files, FILE_BYTES, &mut |_, read| {
            let Ok(bytes) = read else { return };
            left = left.and_then(|left| left.checked_sub(bytes.len()));
            if let (Some(_), Ok(text)) = (left, std::str::from_utf8(bytes)) {
                let edge = |c: char| !c.is_alphanumeric() && c != '_' && c != '$';
                for word in text.split(edge).filter(|word| !word.is_empty()) {
                    if !words.contains(word) {
                        words.insert(word.to_owned());
                    }
                }
            }
        });
        left.map(|_| words)
    }
}

impl Found {
    pub(crate) fn doubts(&self) -> &[Doubt] {
        &self.doubts
    }

    /// As warnings, in the order of places.
    pub(crate) fn warnings(&self) -> Vec<Fault> {
        let mut warnings: Vec<Fault> = self.doubts.iter().map(Doubt::to_warning).collect();
        warnings.sort_by_key(|warning| (warning.place, warning.code));
        warnings
    }

    /// As the first questions of a run.
    pub(crate) fn asked(self, run: &RunId) -> Vec<Entry> {
        (1..).zip(self.doubts).map(|(number, doubt)| doubt.ask(run, number)).collect()
    }

    /// As the next questions of a run whose plan was edited: about open tasks, and what was decided before is decided so again.
    pub(crate) fn asked_again(self, state: &RunState) -> Vec<Entry> {
        let is_open = |doubt: &Doubt| {
            let task = state.task(&doubt.contradiction.task);
            task.is_none_or(|task| !task.is_done())
        };
        let mut entries = Vec::new();
        let open = self.doubts.into_iter().filter(is_open);
        for (number, doubt) in (state.asked + 1..).zip(open) {
            let before = state.decided(&doubt.contradiction).map(str::to_owned);
            let asked = doubt.ask(&state.run, number);
            let scope = asked.scope.clone();
            let answer = before.zip(match &asked.event {
                Event::QuestionAsked(asked) => Some(asked.question.clone()),
                _ => None,
            });
            entries.push(asked);
            entries.extend(answer.map(|(answer, question)| {
                let by = "the answer before".to_owned();
                Entry { scope, event: Event::QuestionAnswered { question, answer, by } }
            }));
        }
        entries
    }
}

/// Who answers when the default is taken at once.
const BY_DEFAULT: &str = "no terminal: default";

/// The same questions, each answered with its default unless it has an answer: a doubt never keeps a run waiting where no terminal
/// is there to ask in.
pub(crate) fn answered_by_default(asked: Vec<Entry>) -> Vec<Entry> {
    let answered: BTreeSet<QuestionId> = asked
        .iter()
        .filter_map(|entry| match &entry.event {
            Event::QuestionAnswered { question, .. } => Some(question.clone()),
            _ => None,
        })
        .collect();
    let mut entries = Vec::with_capacity(2 * asked.len());
    for entry in asked {
        let answer = match &entry.event {
            Event::QuestionAsked(asked) if !answered.contains(&asked.question) => {
                asked.default.clone().map(|answer| Entry {
                    scope: entry.scope.clone(),
                    event: Event::QuestionAnswered {
                        question: asked.question.clone(),
                        answer,
                        by: BY_DEFAULT.to_owned(),
                    },
                })
            }
            _ => None,
        };
        entries.push(entry);
        entries.extend(answer);
    }
    entries
}
