//! Workflows: how a task is worked on, as data.

mod file;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::check::Kind;
use crate::fault::{Fault, FileFault};
use crate::report::{Complexity, OwnPhase, Phase};
use crate::source::{Origin, Source, of_file};
use crate::spelling;

/// Steps in the order in which they are taken.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workflow {
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Phases that it declares itself, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub phases: BTreeMap<String, OwnPhase>,
    pub steps: Vec<Step>,
}

/// A subagent, or checks by the runtime.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    pub id: String,
    /// Nothing where the runtime checks by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// One of the workflow's own phases, in the place of the agent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// Earlier steps that it builds on: if all of them are left out, so is it. Nothing where it simply follows the step before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Complexity>,
    /// Fresh attempts after one that brought no valid report; nought where the file does not say.
    #[serde(default)]
    pub retries: u32,
    /// The file says that there are none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub once: bool,
    /// Which of the project's checks are run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub check: Vec<Kind>,
}

impl Workflow {
    /// The same, with all of the project's checks between the last agent that changes files and whoever judges the change. A
    /// workflow that changes nothing gets a look at the evidence at its end.
    #[must_use]
    pub fn completed(&self, phase: impl Fn(&str) -> Option<Phase>) -> Self {
        let sure = self.sure_steps();
        let mut all = Self { steps: Vec::new(), ..self.clone() };
        let mut missing: Vec<Kind> = Vec::new();
        let (mut writes, mut looks) = (false, false);
        for step in &self.steps {
            let phase = step.phase(&phase);
            if self.is_judging(step, phase) {
                all.insert_checks(&mut missing);
            }
            if phase.is_some_and(Phase::changes_files) {
                missing = Kind::PROJECT.to_vec();
                writes = true;
            }
            if step.agent.is_none() && sure.contains(step.id.as_str()) {
                missing.retain(|kind| !step.check.contains(kind));
                looks = true;
            }
            all.steps.push(step.clone());
        }
        all.insert_checks(&mut missing);
        if !writes && !looks {
            let id = all.free_id("evidence");
            all.steps.push(Step { id, ..Step::default() });
        }
        all
    }

    /// Whether it changes files and no subagent judges the change.
    pub fn is_unjudged(&self, phase: impl Fn(&str) -> Option<Phase>) -> bool {
        let steps = || self.steps.iter().map(|step| (step, step.phase(&phase)));
        let written = steps().position(|(_, phase)| phase.is_some_and(Phase::changes_files));
        // An agent that is not known may judge.
        let may_judge = |(step, phase): (&Step, Option<Phase>)| {
            self.is_judging(step, phase) || step.agent.is_some() && phase.is_none()
        };
        let judged = |at| steps().skip(at).any(may_judge);
        written.is_some_and(|at| !judged(at))
    }

    /// Whether a step of that phase says of other work that it may stand.
    pub fn is_judging(&self, step: &Step, phase: Option<Phase>) -> bool {
        phase.is_some_and(Phase::judges) || self.own_phase(step).is_some_and(|own| own.judges)
    }

    /// The phase of its own that a step has.
    pub fn own_phase(&self, step: &Step) -> Option<&OwnPhase> {
        self.phases.get(step.phase.as_deref()?)
    }

    /// Adds a step that runs the checks which are missing, if any are.
    fn insert_checks(&mut self, missing: &mut Vec<Kind>) {
        if !missing.is_empty() {
            let (id, check) = (self.free_id("check"), std::mem::take(missing));
            self.steps.push(Step { id, check, ..Step::default() });
        }
    }

    fn free_id(&self, wanted: &str) -> String {
        let mut id = wanted.to_owned();
        while self.steps.iter().any(|step| step.id == id) {
            id.push('-');
        }
        id
    }

    /// Steps that are taken whatever an analysis says.
    fn sure_steps(&self) -> BTreeSet<&str> {
        let mut sure: BTreeSet<&str> = BTreeSet::new();
        for step in &self.steps {
            let stays = step.needs().iter().any(|need| sure.contains(need.as_str()));
            if step.when.is_none() && (step.needs().is_empty() || stays) {
                sure.insert(&step.id);
            }
        }
        sure
    }

    /// The steps that run side by side with the one at this place: neighbours that say what they need, change no files, and do
    /// not need each other. All others run alone, and so does one that an analysis among them could leave out.
    pub fn side_by_side(&self, at: usize, phase: impl Fn(usize) -> Option<Phase>) -> Range<usize> {
        let may_join = |at: usize| {
            let step = &self.steps[at];
            let reads = phase(at).is_some_and(|phase| !phase.changes_files());
            step.needs.is_some() && step.agent.is_some() && reads
        };
        let mut group = 0..0;
        for next in 0..self.steps.len() {
            let step = &self.steps[next];
            let decides = |one: usize| {
                let analyzes = phase(one) == Some(Phase::Analyze);
                step.needs().contains(&self.steps[one].id) || analyzes && self.is_conditional(step)
            };
            let is_free = !group.is_empty() && !group.clone().any(decides);
            if may_join(next) && is_free && may_join(group.start) {
                group.end = next + 1;
            } else if group.contains(&at) {
                break;
            } else {
                group = next..next + 1;
            }
        }
        group
    }

    /// Whether an analysis may leave a step out, or one that it needs.
    fn is_conditional(&self, step: &Step) -> bool {
        let needs = || self.steps.iter().filter(|one| step.needs().contains(&one.id));
        step.when.is_some() || needs().any(|one| self.is_conditional(one))
    }

    /// The same, with two reviewers of what an agent that `writes` left, one after the other, where one gives both verdicts.
    #[must_use]
    pub fn in_two_stages(&self, writes: impl Fn(&str) -> bool) -> Self {
        let mut all = Self { steps: Vec::new(), ..self.clone() };
        let mut is_written = false;
        for step in &self.steps {
            let agent = step.agent.as_deref();
            is_written |= agent.is_some_and(&writes);
            if !is_written || agent != Some(REVIEWER) {
                all.steps.push(step.clone());
                continue;
            }
            // The second keeps the id: what needs the review needs all of it.
            let first = Step { id: format!("{}-spec", step.id), ..step.staged(STAGES[0]) };
            let needs = Some(vec![first.id.clone()]);
            all.steps.push(first);
            all.steps.push(Step { needs, ..step.staged(STAGES[1]) });
        }
        all
    }
}

impl Step {
    /// Its own, else that of its agent.
    fn phase(&self, of_agent: impl Fn(&str) -> Option<Phase>) -> Option<Phase> {
        match &self.phase {
            Some(own) => Phase::named(own),
            None => self.agent.as_deref().and_then(of_agent),
        }
    }

    /// Nothing where it names none.
    pub fn needs(&self) -> &[String] {
        self.needs.as_deref().unwrap_or_default()
    }

    /// Fresh attempts after one that brought no valid report.
    pub fn retries(&self) -> u32 {
        if self.once { 0 } else { self.retries.max(1) }
    }

    fn staged(&self, agent: &str) -> Self {
        Self { agent: Some(agent.to_owned()), ..self.clone() }
    }
}

/// Gives both verdicts on a change.
const REVIEWER: &str = "reviewer";
/// Give one each: whether it is what was asked, then how it is made.
const STAGES: [&str; 2] = ["spec-reviewer", "quality-reviewer"];

/// The workflow of a task that names none.
pub const DEFAULT: &str = "build";

/// The agent of a step that leaves it to the task.
pub const WRITER: &str = "writer";

/// All workflows that are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workflows {
    list: Vec<Workflow>,
    /// Of those that come from files, by name.
    origins: BTreeMap<String, Origin>,
    faults: Vec<FileFault>,
}

impl Workflows {
    /// The built-in ones and those of files; a later one takes the place of an earlier one of its name.
    pub fn read(sources: &[Source]) -> Self {
        let mut known = Self { list: built_in().to_vec(), ..Self::default() };
        for source in sources {
            match file::read(source) {
                Ok(workflow) if known.is_kept_from(&workflow, &source.origin) => {
                    let what = format!("the built-in workflow `{}`", workflow.name);
                    known.faults.extend(of_file(&source.origin, [Fault::replaces(&what)]));
                }
                Ok(workflow) => {
                    known.list.retain(|earlier| earlier.name != workflow.name);
                    known.origins.insert(workflow.name.clone(), source.origin.clone());
                    known.list.push(workflow);
                }
                Err(faults) => known.faults.extend(of_file(&source.origin, faults)),
            }
        }
        known
    }

    /// A repository could leave out the steps that judge.
    fn is_kept_from(&self, workflow: &Workflow, origin: &Origin) -> bool {
        let is_built_in = || built_in().iter().any(|one| one.name == workflow.name);
        let is_own = || self.origins.contains_key(&workflow.name);
        matches!(origin, Origin::Repository(_)) && is_built_in() && !is_own()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Workflow> {
        self.list.iter()
    }

    /// The file that a workflow comes from; nothing for a built-in one.
    pub fn origin(&self, name: &str) -> Option<&Origin> {
        self.origins.get(name)
    }

    pub fn find(&self, name: &str) -> Option<&Workflow> {
        self.list.iter().find(|workflow| workflow.name == name)
    }

    /// What is wrong with files that were left out.
    pub fn faults(&self) -> &[FileFault] {
        &self.faults
    }

    /// What to do about a name that no workflow has.
    pub fn hint(&self, name: &str) -> String {
        let names = || self.list.iter().map(|one| one.name.as_str());
        let known = || format!("Known workflows are {}.", names().collect::<Vec<_>>().join(", "));
        spelling::perhaps(name, names()).unwrap_or_else(known)
    }
}

const FILES: [&str; 6] = [
    include_str!("workflow/builtin/solo.yaml"),
    include_str!("workflow/builtin/chain.yaml"),
    include_str!("workflow/builtin/pipeline.yaml"),
    include_str!("workflow/builtin/build.yaml"),
    include_str!("workflow/builtin/parallel.yaml"),
    include_str!("workflow/builtin/adaptive.yaml"),
];

fn built_in() -> &'static [Workflow] {
    static LIST: LazyLock<Vec<Workflow>> = LazyLock::new(|| {
        let source = |text: &&str| Source { origin: Origin::BuiltIn, text: (*text).to_owned() };
        // A test reads every one of them.
        FILES.iter().filter_map(|text| file::read(&source(text)).ok()).collect()
    });
    &LIST
}

#[cfg(test)]
mod tests;
