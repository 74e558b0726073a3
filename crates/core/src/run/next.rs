//! What comes next for one task: the table of what happens and what is done about it, as code.

use super::attempts::Tried;
use super::event::{About, Agent, Ended, Purpose, Started, TaskEnded};
use super::offer::{GIVE_UP, offer};
use super::said::Said;
use super::state::{Fact, RunState, TaskRun};
use super::workflow::Step;
use crate::agent::{Fault, Outcome};
use crate::check::Kind;
use crate::digest::Digest;
use crate::id::TreeId;
use crate::report::{Complexity, Phase, Question, Status};

/// What comes next for a task whose needs are done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// A fresh subagent.
    Attempt(Order),
    /// The runtime looks at the change itself, or at the base where there is none.
    Verify {
        steps: Vec<String>,
        kinds: Vec<Kind>,
        tree: Option<TreeId>,
    },
    Skip {
        step: String,
        reason: String,
    },
    /// Something only a person can say.
    Ask {
        about: About,
        questions: Vec<Question>,
        /// What a person needs to know for them.
        details: Option<String>,
    },
    /// An answer is awaited.
    Await,
    /// All steps are complete.
    Finish {
        tree: Option<TreeId>,
    },
    End(TaskEnded),
}

/// An attempt to be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    pub step: String,
    pub agent: String,
    pub phase: Phase,
    pub purpose: Purpose,
    pub model: String,
    pub rung: usize,
    /// The change that it starts from; nothing for the clean base.
    pub from: Option<TreeId>,
    /// What speaks against the change: the digest of failing checks, or the report of who judged it.
    pub because: Option<Because>,
    /// Reports of the steps before, which it builds on.
    pub findings: Vec<Digest>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Because {
    Checks(Digest),
    Judgement(Digest),
}

/// Decides for one task by what happened to it. `None` while an attempt is under way.
pub fn next(run: &RunState, task: &TaskRun) -> Option<Next> {
    if let Some(ended) = &task.ended {
        return Some(Next::End(ended.clone()));
    }
    if !task.running.is_empty() {
        return None;
    }
    let started = &run.started;
    let Some(workflow) = started.workflows.get(&task.spec.workflow) else {
        let reason = format!("There is no workflow `{}`.", task.spec.workflow);
        return Some(failed(reason, None));
    };
    let mut walk = Walk::new(started, task, &workflow.steps);
    for fact in &task.facts {
        walk.take(fact);
    }
    Some(walk.finish())
}

/// The way through a workflow so far.
struct Walk<'a> {
    started: &'a Started,
    task: &'a TaskRun,
    steps: &'a [Step],
    /// The attempt that completed each step; 0 for one that needed none.
    complete: Vec<Option<u32>>,
    /// The change that each left; nothing where there is none yet.
    trees: Vec<Option<TreeId>>,
    /// Which of its models each step was left with.
    rungs: Vec<usize>,
    complexity: Option<Complexity>,
    /// The change under test.
    tree: Option<TreeId>,
    /// Where the last attempt belongs.
    last: usize,
    because: Option<Because>,
    tries: Tries,
    /// So many attempts count no more.
    void: u32,
    /// Why the next step is taken.
    begins: Purpose,
    decided: Option<Next>,
}

/// How often what was tried, since somebody said how to go on.
#[derive(Clone, Copy, Default)]
struct Tries {
    repeats: u32,
    simplified: bool,
    fixes: u32,
    stronger: bool,
    conflicts: u32,
}

impl<'a> Walk<'a> {
    fn new(started: &'a Started, task: &'a TaskRun, steps: &'a [Step]) -> Self {
        Self {
            started,
            task,
            steps,
            complete: vec![None; steps.len()],
            trees: vec![None; steps.len()],
            rungs: vec![0; steps.len()],
            complexity: None,
            tree: None,
            last: 0,
            because: None,
            tries: Tries::default(),
            void: 0,
            begins: Purpose::First,
            decided: None,
        }
    }

    fn take(&mut self, fact: &Fact) {
        self.decided = match fact {
            // What a subagent does with another's report is its own business.
            Fact::Tried(tried) if tried.parent.is_some() => return,
            Fact::Tried(tried) if tried.number <= self.void => return,
            Fact::Tried(tried) => self.tried(tried),
            Fact::Skipped { step } => {
                self.pass(step);
                None
            }
            Fact::Verified { steps, failing: None, .. } => {
                for step in steps {
                    self.pass(step);
                }
                None
            }
            Fact::Verified { steps, failing: Some(digest), gist, .. } => {
                let at = steps.first().and_then(|step| self.place(step));
                let because = Because::Checks(digest.clone());
                self.judged(at.unwrap_or(self.steps.len()), because, gist.clone())
            }
            Fact::Answered { about, answer } => self.answered(about, answer),
            Fact::Conflicted { paths } => self.conflicted(paths),
            Fact::Reopened => {
                *self = Self::new(self.started, self.task, self.steps);
                None
            }
            Fact::Withdrawn { attempts } => {
                *self = Self::new(self.started, self.task, self.steps);
                (self.void, self.begins) = (*attempts, Purpose::Rebased);
                None
            }
        };
    }

    fn tried(&mut self, tried: &Tried) -> Option<Next> {
        let at = self.place(&tried.step)?;
        self.last = at;
        self.begins = Purpose::First;
        self.rungs[at] = tried.rung;
        match (&tried.outcome, &tried.said) {
            _ if tried.trouble.is_some() => {
                self.repeat(at, tried.trouble.clone().unwrap_or_default())
            }
            (_, Some(Said::Clarify { questions, files })) => {
                let about = match files[..] {
                    [] => About::Clarification,
                    _ => About::Files(files.clone()),
                };
                Some(Next::Ask { about, questions: questions.clone(), details: None })
            }
            (_, Some(Said::Stop { .. } | Said::Proceed { passed: Some(false), .. }))
                if is_judging(tried.phase) && self.target(at).is_some() =>
            {
                let because = Because::Judgement(tried.report.clone()?);
                self.judged(at, because, tried.said.as_ref().and_then(Said::gist))
            }
            (_, Some(Said::Stop { status: Status::Blocked, reason, resolution })) => {
                let next = self.next_model(at);
                Some(next.unwrap_or_else(|| failed(reason.clone(), resolution.clone())))
            }
            (_, Some(Said::Stop { reason, resolution, .. })) => {
                Some(failed(reason.clone(), resolution.clone()))
            }
            (Outcome::Done, Some(Said::Proceed { complexity, .. })) => {
                self.complete(at, tried, *complexity);
                None
            }
            (Outcome::TimedOut, _) if !self.tries.simplified => {
                self.tries.simplified = true;
                self.attempt(at, Purpose::Simplified)
            }
            (Outcome::TimedOut, _) => Some(offer(&tried.outcome.sentence(), None)),
            (Outcome::Failed { fault: Fault::NoReport { .. } | Fault::Runtime { .. } }, _) => {
                self.repeat(at, tried.outcome.sentence())
            }
            (Outcome::Failed { fault: Fault::Provider { .. } } | Outcome::Refused { .. }, _) => {
                let next = self.next_model(at);
                let hint = tried.outcome.hint().map(str::to_owned);
                Some(next.unwrap_or_else(|| failed(tried.outcome.sentence(), hint)))
            }
            (Outcome::Cancelled, _) => Some(end(Ended::Cancelled, tried.outcome.sentence(), None)),
            (
                Outcome::Looped { .. }
                | Outcome::BudgetExhausted { .. }
                | Outcome::Done
                | Outcome::Stopped
                | Outcome::Waiting,
                _,
            ) => Some(failed(tried.outcome.sentence(), None)),
        }
    }

    fn complete(&mut self, at: usize, tried: &Tried, complexity: Option<Complexity>) {
        self.undo(at);
        self.complete[at] = Some(tried.number);
        self.complexity = complexity.or(self.complexity);
        self.because = None;
        self.tries.repeats = 0;
        self.tries.simplified = false;
        if tried.phase.changes_files() {
            self.tree.clone_from(&tried.tree);
            self.trees[at].clone_from(&tried.tree);
        }
    }

    /// A fresh attempt, on the next model if there is one; once, or as often as the workflow says.
    fn repeat(&mut self, at: usize, why: String) -> Option<Next> {
        if self.tries.repeats >= self.steps[at].retries.max(1) {
            return Some(failed(why, None));
        }
        self.tries.repeats += 1;
        let last = self.models(at).len().saturating_sub(1);
        self.rungs[at] = (self.rungs[at] + 1).min(last);
        self.attempt(at, Purpose::Repeat)
    }

    /// From the clean base on the next model, if there is one.
    fn next_model(&mut self, at: usize) -> Option<Next> {
        if self.rungs[at] + 1 >= self.models(at).len() {
            return None;
        }
        self.rungs[at] += 1;
        self.restart(at);
        self.attempt(at, Purpose::NextModel)
    }

    /// Checks or a judging subagent speak against the change.
    fn judged(&mut self, at: usize, because: Because, gist: Option<String>) -> Option<Next> {
        let Some(target) = self.target(at) else {
            return Some(failed("The checks fail, and no step of the workflow can mend it.", None));
        };
        // The same model says the same of the same text: what it does word for word it does not mend.
        let scripted = self.model(target) == Some(LITERAL);
        let may_fix = self.tries.fixes < self.started.settings.fixes && !scripted;
        if may_fix && !self.tries.stronger {
            self.tries.fixes += 1;
            self.undo(target);
            self.because = Some(because);
            return self.attempt(target, Purpose::Fix);
        }
        let strongest = self.models(target).len().saturating_sub(1);
        if !self.tries.stronger && strongest > self.rungs[target] {
            self.tries.stronger = true;
            self.rungs[target] = strongest;
            self.restart(target);
            self.because = Some(because);
            return self.attempt(target, Purpose::Stronger);
        }
        let why = if scripted { SCRIPTED } else { STILL };
        Some(offer(why, gist))
    }

    /// The one that a step was left with.
    fn model(&self, at: usize) -> Option<&str> {
        self.models(at).get(self.rungs[at]).map(String::as_str)
    }

    fn answered(&mut self, about: &About, answer: &str) -> Option<Next> {
        match about {
            // It was carried out when it was given.
            About::Plan(_) => None,
            About::Failure if answer == GIVE_UP => Some(failed("A person gave it up.", None)),
            About::Failure => {
                let at = self.target(self.steps.len()).unwrap_or(self.last);
                self.tries = Tries::default();
                self.restart(at);
                self.attempt(at, Purpose::Answered)
            }
            About::Clarification | About::Files(_) => {
                let at = self.last;
                if self.phase(at)?.changes_files() {
                    self.restart(at);
                }
                self.attempt(at, Purpose::Answered)
            }
        }
    }

    fn conflicted(&mut self, paths: &[String]) -> Option<Next> {
        self.tries.conflicts += 1;
        let writer = (0..self.steps.len()).find(|at| self.trees[*at].is_some());
        let at = writer.or_else(|| self.target(self.steps.len()))?;
        if self.tries.conflicts > 1 {
            let paths = paths.join("`, `");
            let why = format!(
                "What it changes in `{paths}` does not fit what other tasks changed there."
            );
            return Some(offer(&why, None));
        }
        self.restart(at);
        self.attempt(at, Purpose::Rebased)
    }

    /// The step whose work is mended when what comes after it fails: one that changes files, else the last that found something.
    fn target(&self, before: usize) -> Option<usize> {
        let done = || {
            (0..before.min(self.steps.len()))
                .rev()
                .filter(|at| self.complete[*at].is_some_and(|by| by > 0))
        };
        let writes = |at: &usize| self.phase(*at).is_some_and(Phase::changes_files);
        let finds = |at: &usize| self.phase(*at).is_some_and(|phase| !is_judging(phase));
        done().find(writes).or_else(|| done().find(finds))
    }

    /// What came after a step has to be done again.
    fn undo(&mut self, at: usize) {
        self.complete[at..].fill(None);
    }

    /// The same, from what the steps before it left: the clean base, mostly.
    fn restart(&mut self, at: usize) {
        self.undo(at);
        self.trees[at..].fill(None);
        self.tree = self.trees.iter().flatten().next_back().cloned();
        self.because = None;
    }

    fn attempt(&self, at: usize, purpose: Purpose) -> Option<Next> {
        let (agent, phase) = (self.agent(at)?, self.phase(at)?);
        let models = self.models(at);
        let rung = self.rungs[at].min(models.len().saturating_sub(1));
        Some(Next::Attempt(Order {
            step: self.steps[at].id.clone(),
            agent: agent.to_owned(),
            phase,
            purpose,
            model: models.get(rung)?.clone(),
            rung,
            from: self.tree.clone(),
            because: self.because.clone(),
            findings: self.findings(at),
        }))
    }

    /// What the steps before it found.
    fn findings(&self, before: usize) -> Vec<Digest> {
        let found = |at: usize| {
            let phase = self.phase(at)?;
            let number =
                self.complete[at].filter(|_| !is_judging(phase) && !phase.changes_files())?;
            self.task.tried().find(|tried| tried.number == number)?.report.clone()
        };
        (0..before).filter_map(found).collect()
    }

    fn finish(mut self) -> Next {
        if !self.task.open.is_empty() {
            return Next::Await;
        }
        if let Some(decided) = self.decided.take() {
            return decided;
        }
        let mut left_out = vec![false; self.steps.len()];
        for at in 0..self.steps.len() {
            left_out[at] = self.is_left_out(at, &left_out);
        }
        let open = |at: &usize| self.complete[*at].is_none() && !left_out[*at];
        let Some(at) = (0..self.steps.len()).find(open) else {
            return Next::Finish { tree: self.tree };
        };
        if self.steps[at].agent.is_none() {
            let together = (at..self.steps.len()).take_while(|at| self.steps[*at].agent.is_none());
            let together: Vec<&Step> = together.filter(open).map(|at| &self.steps[at]).collect();
            let mut kinds: Vec<Kind> =
                together.iter().flat_map(|step| step.check.iter().copied()).collect();
            kinds.sort_unstable();
            kinds.dedup();
            let steps = together.iter().map(|step| step.id.clone()).collect();
            return Next::Verify { steps, kinds, tree: self.tree };
        }
        let step = self.steps[at].id.clone();
        let Some(phase) = self.phase(at) else {
            return failed(format!("The step `{step}` has no agent that is known."), None);
        };
        let literal = self.models(at).iter().all(|model| model == LITERAL);
        // Where nobody at all would work on the task, it is not done by skipping.
        let writes = |at: usize| self.phase(at).is_some_and(Phase::changes_files);
        if literal && !phase.changes_files() && (0..self.steps.len()).any(writes) {
            return Next::Skip { step, reason: NO_MODEL.to_owned() };
        }
        self.rungs[at] = 0;
        let next = self.attempt(at, self.begins);
        next.unwrap_or_else(|| failed(format!("The step `{step}` has no model."), None))
    }

    /// Whether an analysis, or what it needs, makes a step pointless.
    fn is_left_out(&self, at: usize, left_out: &[bool]) -> bool {
        let step = &self.steps[at];
        // What nobody looked at is not simple.
        let found = self.complexity.unwrap_or(Complexity::Complex);
        let gone = |need: &String| self.place(need).is_some_and(|need| left_out[need]);
        step.when.is_some_and(|when| when != found)
            || (!step.needs.is_empty() && step.needs.iter().all(gone))
    }

    fn pass(&mut self, step: &str) {
        if let Some(at) = self.place(step) {
            self.complete[at] = Some(0);
        }
    }

    fn place(&self, step: &str) -> Option<usize> {
        self.steps.iter().position(|one| one.id == step)
    }

    /// Who takes a step: the task may name who writes.
    fn agent(&self, at: usize) -> Option<&str> {
        let named = self.steps[at].agent.as_deref()?;
        let writes = self.started.agents.get(named).is_some_and(|one| one.phase.changes_files());
        Some(self.task.spec.agent.as_deref().filter(|_| writes).unwrap_or(named))
    }

    fn role(&self, at: usize) -> Option<&Agent> {
        self.started.agents.get(self.agent(at)?)
    }

    fn phase(&self, at: usize) -> Option<Phase> {
        self.role(at).map(|role| role.phase)
    }

    fn models(&self, at: usize) -> &[String] {
        match self.role(at) {
            _ if !self.task.spec.models.is_empty() => &self.task.spec.models,
            Some(role) => &role.models,
            None => &[],
        }
    }
}

/// The model that carries tasks out word for word, and judges nothing.
pub const LITERAL: &str = "literal";
pub const NO_MODEL: &str = "no model";

const STILL: &str = "Its checks or its review still fail after all that could be tried.";
/// What is asked where nobody can mend it.
const SCRIPTED: &str = "Its checks fail, and `literal` did what its text says, word for word: it does the same again unless the text or the project changes. Edit the plan (`sequester resume --plan`), or give the task to a model.";

/// Whether a phase says of another's work that it may stand.
fn is_judging(phase: Phase) -> bool {
    matches!(phase, Phase::Validate | Phase::Review | Phase::Verify)
}

fn failed(reason: impl Into<String>, resolution: Option<String>) -> Next {
    end(Ended::Failed, reason, resolution)
}

fn end(state: Ended, reason: impl Into<String>, resolution: Option<String>) -> Next {
    Next::End(TaskEnded { state, reason: Some(reason.into()), resolution, tree: None })
}
