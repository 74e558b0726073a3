//! What a plan says that cannot all be so: a person decides it before anything starts.

mod find;
mod prohibit;

pub use find::{Ground, contradictions};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::event::{About, Asked, Entry, Event, Scope};
use super::state::RunState;
use crate::context::Clarification;
use crate::fault::{Code, Fault, Place};
use crate::id::{QuestionId, RunId, TaskId};
use crate::plan::Action;
use crate::report::Question;

/// A contradiction, as its answer is carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contradiction {
    /// The task that the answer changes something for.
    pub task: TaskId,
    /// What its subagents are told of it: nothing of other tasks.
    pub told: String,
    /// What each option does, by its label. Any other answer is told to the task's subagents.
    pub remedies: BTreeMap<String, Remedy>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Remedy {
    AsItIs,
    /// The task is not done.
    LeaveOut,
    /// The task needs another one too.
    Need(TaskId),
    /// The file is none of the task's.
    Without(String),
    /// The file is there already: it is changed, not created.
    Change(String),
    /// The task's subagents are told the answer.
    Tell,
}

/// A contradiction with the question that a person is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    pub question: Question,
    pub contradiction: Contradiction,
    pub code: Code,
    /// Where the plan says it.
    pub place: Place,
}

impl Doubt {
    /// The doubt as one of the plan's warnings, with its default.
    pub fn to_warning(&self) -> Fault {
        let Question { question, default, .. } = &self.question;
        let default = default.as_deref().unwrap_or_default();
        let hint = format!("Without a terminal to ask in, a run takes the default: {default}.");
        Fault::new(self.code, self.place, question.clone(), hint)
    }

    /// The question on its way into the log, as the `number`th of the run.
    pub fn ask(self, run: &RunId, number: u32) -> Entry {
        let Question { question: text, options, default, .. } = self.question;
        let scope = Scope { task: Some(self.contradiction.task.clone()), ..Scope::default() };
        let event = Event::QuestionAsked(Box::new(Asked {
            question: QuestionId::new(format!("{run}-{number}")),
            text,
            details: None,
            options,
            default,
            deadline: None,
            about: About::Plan(Box::new(self.contradiction)),
        }));
        Entry { scope, event }
    }
}

impl RunState {
    /// Whether the plan is still to be decided on: until then nothing starts.
    pub(super) fn is_doubtful(&self) -> bool {
        self.questions.values().any(|open| matches!(open.asked.about, About::Plan(_)))
    }

    /// What was decided about a contradiction before, in a plan that may have been edited since.
    pub fn decided(&self, contradiction: &Contradiction) -> Option<&str> {
        let mut decided = self.decided.iter().rev();
        decided.find(|(_, known, _)| known == contradiction).map(|(.., answer)| answer.as_str())
    }

    /// Carries out what a person decided.
    pub(super) fn settle_doubt(
        &mut self,
        question: &QuestionId,
        contradiction: &Contradiction,
        answer: &str,
    ) {
        self.decided.push((question.clone(), contradiction.clone(), answer.to_owned()));
        let Some(at) = self.position(&contradiction.task) else { return };
        let remedy = contradiction.remedies.get(answer).unwrap_or(&Remedy::Tell);
        let circles = |other: &TaskId| {
            let other = self.position(other);
            other.is_none_or(|other| other == at || self.foundation(other).contains(&at))
        };
        let remedy = match remedy {
            // Two such answers may send each behind the other.
            Remedy::Need(other) if circles(other) => &Remedy::AsItIs,
            remedy => remedy,
        };
        let task = &mut self.tasks[at];
        match remedy {
            Remedy::AsItIs | Remedy::Tell => {}
            Remedy::LeaveOut => {
                task.amend().left_out = Some("A person left it out.".to_owned());
            }
            Remedy::Need(other) => {
                task.amend().needs.push(other.clone());
                let on_top = self.on_top();
                self.list();
                return self.stand_on(&on_top);
            }
            Remedy::Without(path) => task.amend().files.retain(|file| file.path != *path),
            Remedy::Change(path) => {
                let files = task.amend().files.iter_mut().filter(|file| file.path == *path);
                files.for_each(|file| file.action = Action::Change);
            }
        }
        if !matches!(remedy, Remedy::AsItIs | Remedy::LeaveOut) {
            task.clarifications.push(Clarification {
                id: question.as_str().to_owned(),
                task: task.spec.id.clone(),
                question: contradiction.told.clone(),
                answer: answer.to_owned(),
            });
        }
        self.queue.place(&self.tasks, at);
        self.close_up();
        self.part();
    }
}
