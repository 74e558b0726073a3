//! What the last attempt of a step amounts to, and how the answers of steps that ran side by side are joined.

use std::fmt::Write as _;
use std::ops::Range;

use super::super::attempts::Tried;
use super::super::event::{About, Ended, Purpose, TaskEnded};
use super::super::offer::{ChangeOffer, RetryScope, offer};
use super::super::said::Said;
use super::walk::Walk;
use super::{Because, Next, end, failed};
use crate::agent::{Fault, Outcome};
use crate::report::{Question, Status};

/// How a step goes on after an attempt.
pub(super) enum Reaction {
    Again(Purpose),
    Answer(StepAnswer),
}

/// The last word of a step.
pub(super) enum StepAnswer {
    Proceed,
    /// It speaks against earlier work; the text is for people.
    Against(Because, Option<String>),
    Ask(About, Vec<Question>),
    /// Nothing more is tried.
    Stop(Next),
}

impl Walk<'_> {
    /// By the table of what happens and what the controller does.
    pub(super) fn react(&mut self, at: usize, tried: &Tried) -> Reaction {
        let answer = match (&tried.outcome, &tried.said) {
            _ if tried.trouble.is_some() => {
                return self.repeat(at, tried.trouble.clone().unwrap_or_default());
            }
            (_, Some(Said::Clarify { questions, files })) => {
                let about = match files[..] {
                    [] => About::Clarification,
                    _ => About::Files(files.clone()),
                };
                StepAnswer::Ask(about, questions.clone())
            }
            (_, Some(said @ (Said::Stop { .. } | Said::Proceed { passed: Some(false), .. })))
                if self.judges(at) && self.target(self.group(at).start).is_some() =>
            {
                match &tried.report {
                    Some(report) => {
                        StepAnswer::Against(Because::Judgement(report.clone()), said.gist())
                    }
                    None => StepAnswer::Stop(failed(tried.outcome.sentence(), None)),
                }
            }
            (_, Some(Said::Stop { status: Status::Blocked, reason, resolution })) => {
                return self.next_model(at, failed(reason.clone(), resolution.clone()));
            }
            (_, Some(Said::Stop { reason, resolution, .. })) => {
                StepAnswer::Stop(failed(reason.clone(), resolution.clone()))
            }
            (Outcome::Done, Some(Said::Proceed { .. })) => StepAnswer::Proceed,
            (Outcome::TimedOut, _) if !self.tries[at].simplified => {
                self.tries[at].simplified = true;
                return Reaction::Again(Purpose::Simplified);
            }
            (Outcome::TimedOut, _) => {
                let writes = tried.phase.changes_files();
                let scope = if writes { RetryScope::Change } else { RetryScope::Step };
                let why = tried.outcome.sentence();
                StepAnswer::Stop(offer(&why, None, scope, ChangeOffer::AcceptOrEdit))
            }
            (Outcome::Failed { fault: Fault::NoReport { .. } | Fault::Runtime { .. } }, _) => {
                return self.repeat(at, tried.outcome.sentence());
            }
            (Outcome::Failed { fault: Fault::Provider { .. } } | Outcome::Refused { .. }, _) => {
                let hint = tried.outcome.hint().map(str::to_owned);
                return self.next_model(at, failed(tried.outcome.sentence(), hint));
            }
            (Outcome::Cancelled, _) => {
                StepAnswer::Stop(end(Ended::Cancelled, tried.outcome.sentence(), None))
            }
            (
                Outcome::Looped { .. }
                | Outcome::BudgetExhausted { .. }
                | Outcome::Done
                | Outcome::Stopped
                | Outcome::Waiting,
                _,
            ) => StepAnswer::Stop(failed(tried.outcome.sentence(), None)),
        };
        Reaction::Answer(answer)
    }

    /// A fresh attempt, on the next model if there is one; as often as the workflow says.
    fn repeat(&mut self, at: usize, why: String) -> Reaction {
        if self.tries[at].repeats >= self.steps()[at].retries() {
            return Reaction::Answer(StepAnswer::Stop(failed(why, None)));
        }
        self.tries[at].repeats += 1;
        let last = self.models(at).len().saturating_sub(1);
        self.rungs[at] = (self.rungs[at] + 1).min(last);
        Reaction::Again(Purpose::Repeat)
    }

    /// On the next model, else the end.
    fn next_model(&mut self, at: usize, end: Next) -> Reaction {
        if self.rungs[at] + 1 >= self.models(at).len() {
            return Reaction::Answer(StepAnswer::Stop(end));
        }
        self.rungs[at] += 1;
        Reaction::Again(Purpose::NextModel)
    }

    /// Joins the answers of a group once all of it has answered. The group proceeds only if every step does. A stop beats an
    /// objection, and an objection beats a question. A stop keeps the other answers: a person may have only the stopped steps
    /// tried again.
    pub(super) fn join(&mut self, group: Range<usize>) -> Option<Next> {
        let stops: Vec<(usize, Next)> =
            group.clone().filter_map(|at| Some((at, self.take_stop(at)?))).collect();
        if let Some((last, _)) = stops.last() {
            self.last = *last;
            self.stopped = stops.iter().map(|(at, _)| *at).collect();
            return Some(self.stop_all(stops));
        }
        let (mut against, mut gists, mut questions) = (Vec::new(), String::new(), Vec::new());
        for at in group.clone() {
            match self.answers[at].take() {
                Some(StepAnswer::Against(because, gist)) => {
                    against.push(because);
                    if group.len() > 1 && gist.is_some() {
                        let _ = writeln!(gists, "{}:", self.steps()[at].id);
                    }
                    gists.extend(gist);
                }
                Some(StepAnswer::Ask(about, asked)) => {
                    questions.extend(asked.into_iter().map(|one| (about.clone(), one)));
                    self.complete[at] = None;
                    self.again[at] = Some(Purpose::Answered);
                    self.last = at;
                }
                _ => {}
            }
        }
        if !against.is_empty() {
            self.again[group.clone()].fill(None);
            return self.judged(group.start, against, Some(gists).filter(|text| !text.is_empty()));
        }
        (!questions.is_empty()).then_some(Next::Ask { questions, details: None })
    }

    /// How a step ends the task; it has no answer then.
    fn take_stop(&mut self, at: usize) -> Option<Next> {
        match self.answers[at].take() {
            Some(StepAnswer::Stop(next)) => {
                self.complete[at] = None;
                Some(next)
            }
            answer => {
                self.answers[at] = answer;
                None
            }
        }
    }

    /// One end for several: a question to a person goes first, else all reasons are told, each with its step.
    fn stop_all(&self, mut stops: Vec<(usize, Next)>) -> Next {
        let is_question = |(_, next): &(usize, Next)| matches!(next, Next::Ask { .. });
        if let Some(at) = stops.iter().position(is_question) {
            return stops.swap_remove(at).1;
        }
        if let [(at, _)] = stops[..]
            && self.group(at).len() == 1
        {
            return stops.swap_remove(0).1;
        }
        let reason = |(at, next): &(usize, Next)| match next {
            Next::End(TaskEnded { reason: Some(reason), .. }) => {
                Some(format!("{}: {reason}", self.steps()[*at].id))
            }
            _ => None,
        };
        let reasons: Vec<String> = stops.iter().filter_map(reason).collect();
        let resolution = stops.iter().find_map(|(_, next)| match next {
            Next::End(ended) => ended.resolution.clone(),
            _ => None,
        });
        let cancelled = |(_, next): &(usize, Next)| {
            matches!(next, Next::End(TaskEnded { state: Ended::Cancelled, .. }))
        };
        let state = if stops.iter().all(cancelled) { Ended::Cancelled } else { Ended::Failed };
        end(state, reasons.join(" "), resolution)
    }
}
