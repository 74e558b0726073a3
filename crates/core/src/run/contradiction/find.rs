//! Contradictions that the plan itself shows.

use std::collections::{BTreeMap, HashSet};

use super::prohibit;
use super::{Contradiction, Doubt, Remedy};
use crate::evidence::{Named, named};
use crate::fault::{Code, Place};
use crate::graph::TaskGraph;
use crate::id::TaskId;
use crate::path::RepoPath;
use crate::plan::{Action, FileRef, Plan, Task};
use crate::protected::{self, Grants};
use crate::report::{Choice, Question};

/// How far all searches of one plan may go; past it two tasks count as ordered.
const SEARCH: usize = 20_000_000;

/// What a plan is held against.
pub struct Ground<'a> {
    pub plan: &'a Plan,
    pub graph: &'a TaskGraph,
    /// Whether a task is part of the run.
    pub takes_part: &'a dyn Fn(&TaskId) -> bool,
    /// Protected names that a person lets tasks change.
    pub grants: &'a Grants,
    /// Whether the code has a word before the run starts.
    pub is_known: &'a dyn Fn(&str) -> bool,
}

/// What a person must decide, in the plan's order.
pub fn contradictions(ground: &Ground<'_>) -> Vec<Doubt> {
    let order = ground.graph.order().iter().copied();
    let tasks = order.filter(|at| (ground.takes_part)(&ground.plan.tasks[*at].id)).collect();
    let mut finder =
        Finder { ground, tasks, steps: SEARCH, refused: HashSet::new(), found: Vec::new() };
    for at in finder.tasks.clone() {
        finder.forbidden(at);
    }
    let forbidden = std::mem::take(&mut finder.found);
    finder.files();
    finder.produced();
    finder.consumed();
    finder.found.extend(forbidden);
    finder.found.sort_by_key(|(at, _)| *at);
    finder.found.into_iter().map(|(_, doubt)| doubt).collect()
}

struct Finder<'a> {
    ground: &'a Ground<'a>,
    /// Those that take part, none before one that it needs.
    tasks: Vec<usize>,
    steps: usize,
    /// Files that a task is to write, and that are protected.
    refused: HashSet<(usize, &'a RepoPath)>,
    found: Vec<(usize, Doubt)>,
}

/// Why a task may not write a file.
enum Bar<'a> {
    Protected(String),
    /// By this sentence of a constraint.
    Prohibited(&'a str),
}

/// What a task is to write beside what it may not.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    Work,
    /// Without these files it would come to nothing.
    Nothing,
}

impl<'a> Finder<'a> {
    fn task(&self, at: usize) -> &'a Task {
        &self.ground.plan.tasks[at]
    }

    fn needs(&mut self, later: usize, earlier: usize) -> bool {
        self.ground.graph.reaches(later, earlier, &mut self.steps).unwrap_or(true)
    }

    /// Files that are created twice, or used when they are gone. Who writes one side by side with another is put behind it, or
    /// is a fault.
    fn files(&mut self) {
        let mut named: BTreeMap<&RepoPath, Vec<(usize, Action)>> = BTreeMap::new();
        for at in self.tasks.clone() {
            for file in &self.task(at).files {
                named.entry(&file.path).or_default().push((at, file.action));
            }
        }
        for (path, users) in named {
            let (mut creator, mut deleter) = (None, None);
            for (at, action) in users {
                match action {
                    Action::Create => {
                        let before = creator.replace(at).filter(|before| *before != at);
                        let gone = deleter.take().is_some();
                        // What it may not write at all is asked about by itself.
                        if let Some(before) = before.filter(|_| !gone)
                            && self.needs(at, before)
                            && !self.refused.contains(&(at, path))
                        {
                            self.created_twice(before, at, path);
                        }
                    }
                    Action::Change => deleter = None,
                    Action::Modify | Action::Delete | Action::Read => {
                        let before = deleter.filter(|before| *before != at);
                        if let Some(before) = before
                            && self.needs(at, before)
                        {
                            self.used_when_gone(before, at, path, action);
                        }
                    }
                    Action::Test => {}
                }
                if action == Action::Delete {
                    (creator, deleter) = (None, Some(at));
                }
            }
        }
    }

    fn created_twice(&mut self, before: usize, at: usize, path: &RepoPath) {
        let (first, second) = (&self.task(before).id, &self.task(at).id);
        let text = format!(
            "Task `{first}` creates `{path}`, and task `{second}`, which comes after it, is to create it too."
        );
        let told =
            format!("`{path}` is there when this task begins, though the plan says to create it.");
        let change = Remedy::Change(path.to_string());
        let change = ("Change it", format!("`{second}` changes what it finds."), change);
        self.doubt(self.about_file(at, path, Code::WriteConflict), text, told, vec![change]);
    }

    fn used_when_gone(&mut self, before: usize, at: usize, path: &RepoPath, action: Action) {
        let (first, second) = (&self.task(before).id, &self.task(at).id);
        let text = format!(
            "Task `{first}` deletes `{path}`, and task `{second}`, which comes after it, is to {} it.",
            action.as_str()
        );
        let told =
            format!("`{path}` is not there when this task begins, though the plan names it.");
        let options = vec![without(second, path), as_it_is("It is made anew.")];
        self.doubt(self.about_file(at, path, Code::MissingFile), text, told, options);
    }

    /// Names that two tasks produce which do not know of each other.
    fn produced(&mut self) {
        let mut makers: BTreeMap<&str, usize> = BTreeMap::new();
        for at in self.tasks.clone() {
            for Named { whole, .. } in names(&self.task(at).interfaces.produces) {
                let Some(before) = makers.insert(whole, at).filter(|before| *before != at) else {
                    continue;
                };
                if self.needs(at, before) {
                    continue;
                }
                let (first, second) = (&self.task(before).id, &self.task(at).id);
                let text = format!(
                    "Tasks `{first}` and `{second}` both produce `{whole}`, and neither needs the other."
                );
                let told = format!("`{whole}` is produced elsewhere too.");
                let wait =
                    format!("`{second}` begins when `{first}` is done, and sees what it left.");
                let wait = ("One after the other", wait, Remedy::Need(first.clone()));
                let side = as_it_is("Side by side; what does not fit is done again.");
                self.doubt(self.about_task(at, Code::WriteConflict), text, told, vec![wait, side]);
            }
        }
    }

    /// Names that a task consumes and that are not there for it.
    fn consumed(&mut self) {
        let mut makers: BTreeMap<&str, Vec<(usize, &str)>> = BTreeMap::new();
        for at in &self.tasks {
            for Named { whole, own } in names(&self.task(*at).interfaces.produces) {
                makers.entry(own).or_default().push((*at, whole));
            }
        }
        for at in self.tasks.clone() {
            let mut seen = HashSet::new();
            for name in names(&self.task(at).interfaces.consumes) {
                if seen.insert(name.whole) {
                    let makers = makers.get(name.own).map_or(&[][..], Vec::as_slice);
                    self.consumes(at, &name, makers);
                }
            }
        }
    }

    fn consumes(&mut self, at: usize, name: &Named<'_>, makers: &[(usize, &str)]) {
        let whole = name.whole;
        // Who leaves out where it belongs means any.
        let fits = |made: &str| made == whole || made == name.own || whole == name.own;
        let makers: Vec<usize> =
            makers.iter().filter(|(_, made)| fits(made)).map(|(maker, _)| *maker).collect();
        if makers.iter().any(|maker| *maker == at || self.needs(at, *maker)) {
            return;
        }
        if (self.ground.is_known)(name.own) {
            return;
        }
        let task = &self.task(at).id;
        let told = format!("The plan says that this task consumes `{whole}`, which is not there.");
        let there = as_it_is("It is there already, or the task does without it.");
        let about = self.about_task(at, Code::MissingNeed);
        let Some(maker) = makers.first().copied() else {
            let says = |one: &&Task| {
                one.done && names(&one.interfaces.produces).any(|made| fits(made.whole))
            };
            // A name that no task speaks of is most often prose, or comes from a library.
            let Some(Task { id, .. }) = self.ground.plan.tasks.iter().find(says) else { return };
            let text = format!(
                "Task `{task}` consumes `{whole}`, which task `{id}` produces, and the plan says that it is done; the code does not have it."
            );
            return self.doubt(about, text, told, vec![there]);
        };
        let other = &self.task(maker).id;
        // What a later task makes cannot be waited for: the words are about what comes of it.
        if self.needs(maker, at) {
            return;
        }
        let text = format!(
            "Task `{task}` consumes `{whole}`, which only task `{other}` produces, and it does not need that task."
        );
        let wait = format!("`{task}` begins when `{other}` is done, and sees what it left.");
        let wait = ("Wait for it", wait, Remedy::Need(other.clone()));
        self.doubt(about, text, told, vec![wait, there]);
    }

    /// Files that a task is to change and may not.
    fn forbidden(&mut self, at: usize) {
        let task = self.task(at);
        let paths: Vec<&RepoPath> = task.files.iter().map(|file| &file.path).collect();
        let grants = self.ground.grants.clone().with_named(paths);
        let (mut seen, mut bars) = (HashSet::new(), Vec::new());
        for file in task.files.iter().filter(|file| file.action.writes()) {
            if !seen.insert(&file.path) {
                continue;
            }
            if let Some(why) = protected::refuse(&file.path, &grants) {
                self.refused.insert((at, &file.path));
                bars.push((file, Bar::Protected(why)));
            } else if let Some(sentence) = self.prohibition(task, file) {
                bars.push((file, Bar::Prohibited(sentence)));
            }
        }
        let rest = if bars.len() == seen.len() { Rest::Nothing } else { Rest::Work };
        for (file, bar) in bars {
            match bar {
                Bar::Protected(why) => self.protected(at, file, &why, rest),
                Bar::Prohibited(sentence) => self.prohibited(at, file, sentence),
            }
        }
    }

    fn protected(&mut self, at: usize, file: &FileRef, why: &str, rest: Rest) {
        let (id, path, verb) = (&self.task(at).id, &file.path, verb(file.action));
        let text = format!("Task `{id}` is to {verb} `{path}`, which it may not: {why}.");
        let told = format!("`{path}` cannot be changed here: {why}.");
        let grant = as_it_is(if protected::can_be_granted(path) {
            "It is refused, unless you grant it: `--grant PATH` for this run, or `protected.grant` in your configuration."
        } else {
            "It is refused, and nobody can grant it."
        });
        let mut options = vec![without(id, path), grant];
        if rest == Rest::Nothing {
            options.insert(0, leave_out(id));
        }
        self.doubt((at, Code::BadPath, file.place), text, told, options);
    }

    fn prohibition(&self, task: &'a Task, file: &FileRef) -> Option<&'a str> {
        let shared = self.ground.plan.constraints.iter().map(|one| one.text.as_str());
        let mut all = shared.chain(task.constraints.iter().map(String::as_str));
        all.find_map(|text| prohibit::sentence(text, file.path.as_str(), file.action))
    }

    fn prohibited(&mut self, at: usize, file: &FileRef, sentence: &str) {
        let (id, path, verb) = (&self.task(at).id, &file.path, verb(file.action));
        let text = format!("Task `{id}` is to {verb} `{path}`, and a constraint says: {sentence}");
        let told =
            format!("The plan names `{path}` for this task, and a constraint says: {sentence}");
        let (_, without, remedy) = without(id, path);
        let keep = ("Keep the constraint", without, remedy);
        let change = ("Change the file", "For this task the constraint does not hold.".to_owned());
        let options = vec![keep, (change.0, change.1, Remedy::Tell)];
        self.doubt((at, Code::BadPath, file.place), text, told, options);
    }

    fn about_task(&self, at: usize, code: Code) -> About {
        (at, code, self.task(at).place)
    }

    fn about_file(&self, at: usize, path: &RepoPath, code: Code) -> About {
        let task = self.task(at);
        let file = task.files.iter().find(|file| file.path == *path);
        (at, code, file.map_or(task.place, |file| file.place))
    }

    /// The first option is the default; to do without the task is always one.
    fn doubt(
        &mut self,
        (at, code, place): About,
        text: String,
        told: String,
        mut options: Vec<Offer>,
    ) {
        let task = self.task(at).id.clone();
        if !options.iter().any(|(.., remedy)| *remedy == Remedy::LeaveOut) {
            options.push(leave_out(&task));
        }
        let question = Question {
            question: text,
            default: options.first().map(|(label, ..)| (*label).to_owned()),
            options: options
                .iter()
                .map(|(label, description, _)| Choice {
                    label: (*label).to_owned(),
                    description: Some(description.clone()),
                })
                .collect(),
            ..Question::default()
        };
        let remedies =
            options.into_iter().map(|(label, _, remedy)| (label.to_owned(), remedy)).collect();
        let contradiction = Contradiction { task, told, remedies };
        self.found.push((at, Doubt { question, contradiction, code, place }));
    }
}

/// The task it is about, what is in doubt, and where.
type About = (usize, Code, Place);

/// Its label, what it means, and what it does.
type Offer = (&'static str, String, Remedy);

fn as_it_is(what: &str) -> Offer {
    ("As it is", what.to_owned(), Remedy::AsItIs)
}

fn without(task: &TaskId, path: &RepoPath) -> Offer {
    let what = format!(
        "The subagent of `{task}` is told to do without the file. `literal` does what the text says, and stops at it."
    );
    ("Without it", what, Remedy::Without(path.to_string()))
}

fn leave_out(task: &TaskId) -> Offer {
    let what = format!("`{task}` is not done; what needs it goes on without it.");
    ("Leave it out", what, Remedy::LeaveOut)
}

fn verb(action: Action) -> &'static str {
    match action {
        Action::Test => "write",
        other => other.as_str(),
    }
}

fn names(texts: &[String]) -> impl Iterator<Item = Named<'_>> {
    texts.iter().flat_map(|text| named(text))
}
