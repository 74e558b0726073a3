//! Workflows: how a task is worked on, as data.

mod file;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::check::Kind;
use crate::fault::FileFault;
use crate::report::Complexity;
use crate::source::{Origin, Source, of_file};
use crate::spelling;

/// Steps in the order in which they are taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workflow {
    pub name: String,
    pub steps: Vec<Step>,
}

/// A subagent, or checks by the runtime.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    pub id: String,
    /// Nothing where the runtime checks by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Steps without which it makes no sense: if all of them are left out, so is it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Complexity>,
    /// Fresh attempts after one that brought no valid report.
    #[serde(default)]
    pub retries: u32,
    /// Which of the project's checks are run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub check: Vec<Kind>,
}

impl Workflow {
    /// The same, with a look at the evidence after the last agent that `writes`: no workflow does without.
    #[must_use]
    pub fn completed(&self, writes: impl Fn(&str) -> bool) -> Self {
        let mut all = self.clone();
        let checks = self.sure_checks();
        let written = all.steps.iter().rposition(|step| step.agent.as_deref().is_some_and(&writes));
        if checks <= written {
            let is_taken = |id: &String| all.steps.iter().any(|step| step.id == *id);
            let mut id = "evidence".to_owned();
            while is_taken(&id) {
                id.push('-');
            }
            let place = written.map_or(all.steps.len(), |at| at + 1);
            all.steps.insert(place, Step { id, ..Step::default() });
        }
        all
    }

    /// The last checks that are made whatever an analysis says.
    fn sure_checks(&self) -> Option<usize> {
        let mut sure: BTreeSet<&str> = BTreeSet::new();
        let mut last = None;
        for (at, step) in self.steps.iter().enumerate() {
            let stays = step.needs.iter().any(|need| sure.contains(need.as_str()));
            if step.when.is_none() && (step.needs.is_empty() || stays) {
                sure.insert(&step.id);
                last = step.agent.is_none().then_some(at).or(last);
            }
        }
        last
    }

    /// The same, with two reviewers of what an agent that `writes` left, one after the other, where one gives both verdicts.
    #[must_use]
    pub fn in_two_stages(&self, writes: impl Fn(&str) -> bool) -> Self {
        let mut all = Self { name: self.name.clone(), steps: Vec::new() };
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
            let needs = vec![first.id.clone()];
            all.steps.push(first);
            all.steps.push(Step { needs, ..step.staged(STAGES[1]) });
        }
        all
    }
}

impl Step {
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
    faults: Vec<FileFault>,
}

impl Workflows {
    /// The built-in ones and those of files; a later one takes the place of an earlier one of its name.
    pub fn read(sources: &[Source]) -> Self {
        let mut known = Self { list: built_in().to_vec(), faults: Vec::new() };
        for source in sources {
            match file::read(source) {
                Ok(workflow) => {
                    known.list.retain(|earlier| earlier.name != workflow.name);
                    known.list.push(workflow);
                }
                Err(faults) => known.faults.extend(of_file(&source.origin, faults)),
            }
        }
        known
    }

    pub fn iter(&self) -> impl Iterator<Item = &Workflow> {
        self.list.iter()
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
