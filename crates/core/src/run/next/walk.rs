//! The way through a workflow so far.

use std::ops::Range;

use super::super::attempts::Tried;
use super::super::event::{Purpose, Started};
use super::super::fact::Fact;
use super::super::offer::{ChangeOffer, RetryScope, offer};
use super::super::person::PersonDecision;
use super::super::said::Said;
use super::super::state::TaskRun;
use super::super::workflow::{Step, Workflow};
use super::answer::{Reaction, StepAnswer};
use super::{AttemptRound, Because, LITERAL, NO_MODEL, Next, Order, failed};
use crate::check::Kind;
use crate::digest::Digest;
use crate::id::TreeId;
use crate::report::{Complexity, Phase};

pub(super) struct Walk<'a> {
    pub(super) started: &'a Started,
    pub(super) task: &'a TaskRun,
    pub(super) workflow: &'a Workflow,
    /// The attempt that completed each step; 0 for one that needed none.
    pub(super) complete: Vec<Option<u32>>,
    /// The last words of steps that run side by side, until all of them have answered.
    pub(super) answers: Vec<Option<StepAnswer>>,
    /// Why such a step is tried once more.
    pub(super) again: Vec<Option<Purpose>>,
    /// The change that each left; nothing where there is none yet.
    pub(super) trees: Vec<Option<TreeId>>,
    /// Which of its models each step was left with.
    pub(super) rungs: Vec<usize>,
    pub(super) tries: Vec<StepTries>,
    /// What each step that analyses the task found.
    analyses: Vec<Option<Complexity>>,
    /// The change under test.
    pub(super) tree: Option<TreeId>,
    /// What the runtime saw of a change when it found nothing against it.
    evidence: Option<(TreeId, Digest)>,
    /// Where the last attempt belongs.
    pub(super) last: usize,
    /// Attempts of each step since it, or what it judges, was begun or a person said how to go on.
    pub(super) attempts: Vec<Vec<u32>>,
    /// Steps that nothing more was tried for, until a person says how to go on.
    pub(super) stopped: Vec<usize>,
    because: Vec<Because>,
    pub(super) fix_counts: FixCounts,
    /// So many attempts count no more.
    void: u32,
    /// Why the next step is taken.
    pub(super) begins: Purpose,
    /// The person whose change or decision it is, where attempts have changed nothing since.
    pub(super) person: Option<PersonDecision>,
    decided: Option<Next>,
}

/// How often a step was tried, since it was complete or a person said how to go on.
#[derive(Clone, Copy, Default)]
pub(super) struct StepTries {
    pub(super) repeats: u32,
    pub(super) simplified: bool,
}

/// How often a change was mended, since a person said how to go on.
#[derive(Clone, Copy, Default)]
pub(super) struct FixCounts {
    fixes: u32,
    stronger: bool,
    conflicts: u32,
}

impl<'a> Walk<'a> {
    pub(super) fn new(started: &'a Started, task: &'a TaskRun, workflow: &'a Workflow) -> Self {
        let count = workflow.steps.len();
        Self {
            started,
            task,
            workflow,
            complete: vec![None; count],
            answers: (0..count).map(|_| None).collect(),
            again: vec![None; count],
            trees: vec![None; count],
            rungs: vec![0; count],
            tries: vec![StepTries::default(); count],
            analyses: vec![None; count],
            tree: None,
            evidence: None,
            last: 0,
            attempts: vec![Vec::new(); count],
            stopped: Vec::new(),
            because: Vec::new(),
            fix_counts: FixCounts::default(),
            void: 0,
            begins: Purpose::First,
            person: None,
            decided: None,
        }
    }

    pub(super) fn steps(&self) -> &'a [Step] {
        &self.workflow.steps
    }

    /// The steps that run side by side with this one.
    pub(super) fn group(&self, at: usize) -> Range<usize> {
        self.workflow.side_by_side(at, |at| self.phase(at))
    }

    pub(super) fn take(&mut self, fact: &Fact) {
        self.decided = match fact {
            // What a subagent does with another's report is its own business.
            Fact::Tried(tried) if tried.parent.is_some() => return,
            Fact::Tried(tried) if tried.number <= self.void => return,
            Fact::Tried(tried) => self.tried(tried),
            Fact::Skipped { step } => {
                self.pass(step);
                None
            }
            // The person handed back another tree while the checks ran.
            Fact::Verified { tree, .. } if self.tree.as_ref().is_some_and(|own| own != tree) => {
                None
            }
            Fact::Verified { steps, failing: None, tree, evidence, .. } => {
                for step in steps {
                    self.pass(step);
                }
                self.evidence = evidence.clone().map(|evidence| (tree.clone(), evidence));
                None
            }
            Fact::Verified { steps, failing: Some(digest), gist, .. } => {
                let at = steps.first().and_then(|step| self.place(step));
                let because = vec![Because::Checks(digest.clone())];
                self.judged(at.unwrap_or(self.steps().len()), because, gist.clone())
            }
            Fact::Answered { decision: Some(decision), .. } => Some(self.person_decided(decision)),
            Fact::Answered { about, answer, .. } => self.answered(about, answer),
            Fact::Accepted { tree, left_out } => self.accepted(tree, left_out),
            Fact::AcceptRefused { why } => self.accept_refused(why),
            Fact::HandedBack { tree, by, .. } => {
                self.handed_back(tree, by);
                None
            }
            Fact::Conflicted { paths } => self.conflicted(paths),
            Fact::Reopened => {
                *self = Self::new(self.started, self.task, self.workflow);
                None
            }
            Fact::Withdrawn { attempts } => {
                *self = Self::new(self.started, self.task, self.workflow);
                (self.void, self.begins) = (*attempts, Purpose::Rebased);
                None
            }
        };
    }

    fn tried(&mut self, tried: &Tried) -> Option<Next> {
        let at = self.place(&tried.step)?;
        let group = self.group(at);
        self.last = at;
        self.rungs[at] = tried.rung;
        self.attempts[at].push(tried.number);
        match self.react(at, tried) {
            Reaction::Again(purpose) if group.len() > 1 => {
                self.again[at] = Some(purpose);
                None
            }
            Reaction::Again(purpose) => {
                self.begins = Purpose::First;
                if purpose == Purpose::NextModel {
                    self.restart(at);
                }
                self.attempt(at, purpose)
            }
            Reaction::Answer(answer) => {
                if matches!(answer, StepAnswer::Proceed) {
                    self.complete(at, tried);
                }
                self.answers[at] = Some(answer);
                if !self.is_answered(&group) {
                    return None;
                }
                self.begins = Purpose::First;
                self.join(group)
            }
        }
    }

    /// Whether nothing of a group is still to be asked.
    fn is_answered(&self, group: &Range<usize>) -> bool {
        let left_out = self.left_out();
        group
            .clone()
            .all(|at| left_out[at] || self.complete[at].is_some() || self.answers[at].is_some())
    }

    fn complete(&mut self, at: usize, tried: &Tried) {
        let group = self.group(at);
        self.undo(if group.len() > 1 { group.end } else { at });
        if let Some(Said::Proceed { complexity: Some(complexity), .. }) = &tried.said {
            self.analyses[at] = Some(*complexity);
        }
        self.complete[at] = Some(tried.number);
        self.because.clear();
        self.tries[at] = StepTries::default();
        self.again[at] = None;
        if tried.phase.changes_files() {
            self.tree.clone_from(&tried.tree);
            self.trees[at].clone_from(&tried.tree);
            self.person = None;
        }
    }

    /// Checks or judging subagents speak against the change.
    pub(super) fn judged(
        &mut self,
        at: usize,
        because: Vec<Because>,
        gist: Option<String>,
    ) -> Option<Next> {
        if self.person.is_some() {
            let why = "The checks fail on what was handed back.";
            return Some(offer(why, gist, RetryScope::Change, ChangeOffer::AcceptOrEdit));
        }
        let Some(target) = self.target(at) else {
            let why = gist.unwrap_or_else(|| "- The checks fail.\n".to_owned());
            let why = why.replace("\n- ", " ");
            let why = why.trim_start_matches("- ").trim_end();
            return Some(failed(format!("{why} No step of the workflow can mend that."), None));
        };
        // The same model says the same of the same text: what it does word for word it does not mend.
        let scripted = self.model(target) == Some(LITERAL);
        let may_fix = self.fix_counts.fixes < self.started.settings.fixes && !scripted;
        if may_fix && !self.fix_counts.stronger {
            self.fix_counts.fixes += 1;
            self.undo(target);
            self.because = because;
            return self.attempt(target, Purpose::Fix);
        }
        let strongest = self.models(target).len().saturating_sub(1);
        if !self.fix_counts.stronger && strongest > self.rungs[target] {
            self.fix_counts.stronger = true;
            self.rungs[target] = strongest;
            self.restart(target);
            self.because = because;
            return self.attempt(target, Purpose::Stronger);
        }
        let tries = 1 + self.fix_counts.fixes + u32::from(self.fix_counts.stronger);
        let why = match tries {
            _ if scripted => SCRIPTED.to_owned(),
            1 => "Checks or review fail.".to_owned(),
            _ => format!("Checks or review still fail after {tries} attempts."),
        };
        Some(offer(&why, gist, RetryScope::Change, ChangeOffer::AcceptOrEdit))
    }

    fn conflicted(&mut self, paths: &[String]) -> Option<Next> {
        self.fix_counts.conflicts += 1;
        let writer = (0..self.steps().len()).find(|at| self.trees[*at].is_some());
        let at = writer.or_else(|| self.target(self.steps().len()))?;
        // No subagent does again what a person made or accepted.
        if self.fix_counts.conflicts > 1 || self.person.is_some() {
            let paths = paths.join("`, `");
            let why = format!(
                "What it changes in `{paths}` does not fit what other tasks changed there."
            );
            return Some(offer(&why, None, RetryScope::Change, ChangeOffer::Edit));
        }
        self.restart(at);
        self.attempt(at, Purpose::Rebased)
    }

    /// The step whose work is mended when what comes after it fails: one that changes files, else the last that found something.
    pub(super) fn target(&self, before: usize) -> Option<usize> {
        let done = || {
            (0..before.min(self.steps().len()))
                .rev()
                .filter(|at| self.complete[*at].is_some_and(|by| by > 0))
        };
        let writes = |at: &usize| self.phase(*at).is_some_and(Phase::changes_files);
        let finds = |at: &usize| !self.judges(*at);
        done().find(writes).or_else(|| done().find(finds))
    }

    /// What came after a step has to be done again.
    fn undo(&mut self, at: usize) {
        self.complete[at..].fill(None);
        self.again[at..].fill(None);
        self.answers[at..].fill_with(|| None);
        self.attempts[at..].fill_with(Vec::new);
        self.analyses[at..].fill(None);
    }

    /// The same, from what the steps before it left: the clean base, mostly.
    pub(super) fn restart(&mut self, at: usize) {
        self.undo(at);
        self.trees[at..].fill(None);
        self.tree = self.trees.iter().flatten().next_back().cloned();
        self.evidence = None;
        self.because.clear();
    }

    pub(super) fn attempt(&self, at: usize, purpose: Purpose) -> Option<Next> {
        Some(Next::Attempts(AttemptRound::alone(self.order(at, purpose)?)))
    }

    fn order(&self, at: usize, purpose: Purpose) -> Option<Order> {
        let (agent, phase) = (self.agent(at)?, self.phase(at)?);
        let models = self.models(at);
        let rung = self.rungs[at].min(models.len().saturating_sub(1));
        let evidence = self.evidence.as_ref().filter(|(tree, _)| {
            self.judges(at) && self.tree.as_ref().is_none_or(|own| own == tree)
        });
        Some(Order {
            step: self.steps()[at].id.clone(),
            place: u32::try_from(at).unwrap_or(u32::MAX),
            agent: agent.to_owned(),
            phase,
            purpose,
            model: models.get(rung)?.clone(),
            rung,
            from: self.tree.clone(),
            because: self.because.clone(),
            findings: self.findings(at, phase),
            evidence: evidence.map(|(_, evidence)| evidence.clone()),
        })
    }

    /// Reports of the steps before it that a step builds on. Those beside it are not among them.
    fn findings(&self, at: usize, phase: Phase) -> Vec<Digest> {
        let (before, judges) = (self.group(at).start, self.judges(at));
        let judged = self.target(before).filter(|_| judges);
        let found = |at: usize| {
            let from = self.phase(at)?;
            let is_judged = judged == Some(at) && !from.changes_files();
            let passes = is_judged || !self.judges(at) && from.passes_to(phase, judges);
            let number = self.complete[at].filter(|_| passes)?;
            self.task.tried().find(|tried| tried.number == number)?.report.clone()
        };
        (0..before).filter_map(found).collect()
    }

    pub(super) fn finish(mut self) -> Next {
        if !self.task.open.is_empty() {
            return Next::Await;
        }
        if let Some(decided) = self.decided.take() {
            return decided;
        }
        let left_out = self.left_out();
        let open = |at: &usize| self.complete[*at].is_none() && !left_out[*at];
        let Some(at) = (0..self.steps().len()).find(open) else {
            return Next::Finish { tree: self.tree, person: self.person };
        };
        if self.steps()[at].agent.is_none() {
            return self.verify((at..self.steps().len()).filter(open));
        }
        let group = self.group(at);
        let pending: Vec<usize> =
            group.clone().filter(open).filter(|at| self.answers[*at].is_none()).collect();
        let (pending, ended) = self.next_round(group, &pending);
        match self.begin(&pending) {
            Ok(orders) => Next::Attempts(AttemptRound { orders, ended }),
            Err(next) => *next,
        }
    }

    /// Of the pending steps of a group those that were tried least, and the attempts of others that were tried as often: a step that is
    /// tried again waits for all others.
    fn next_round(&self, group: Range<usize>, pending: &[usize]) -> (Vec<usize>, Vec<u32>) {
        let count = |at: &usize| self.attempts[*at].len();
        let least = pending.iter().map(count).min().unwrap_or(0);
        let due = pending.iter().copied().filter(|at| count(at) == least).collect();
        let ended = group.filter_map(|at| self.attempts[at].get(least).copied());
        (due, ended.collect())
    }

    /// The checks that come next, all at once.
    fn verify(&self, open: impl Iterator<Item = usize>) -> Next {
        let together = open.map(|at| &self.steps()[at]).take_while(|step| step.agent.is_none());
        let together: Vec<&Step> = together.collect();
        let mut kinds: Vec<Kind> =
            together.iter().flat_map(|step| step.check.iter().copied()).collect();
        if self.is_read_only() {
            kinds.clear();
        }
        kinds.sort_unstable();
        kinds.dedup();
        let steps = together.iter().map(|step| step.id.clone()).collect();
        Next::Verify { steps, kinds, tree: self.tree.clone() }
    }

    /// Fresh subagents for these steps.
    fn begin(&mut self, pending: &[usize]) -> Result<Vec<Order>, Box<Next>> {
        let writes = |at: usize| self.phase(at).is_some_and(Phase::changes_files);
        // A task that nothing else would work on is not done by skipping.
        let can_skip = (0..self.steps().len()).any(writes);
        let mut orders = Vec::new();
        for &at in pending {
            let step = self.steps()[at].id.clone();
            let Some(phase) = self.phase(at) else {
                return Err(Box::new(failed(
                    format!("The step `{step}` has no agent that is known."),
                    None,
                )));
            };
            let literal = self.models(at).iter().all(|model| model == LITERAL);
            if literal && !phase.changes_files() && can_skip {
                return Err(Box::new(Next::Skip { step, reason: NO_MODEL.to_owned() }));
            }
            if self.again[at].is_none() {
                self.rungs[at] = 0;
            }
            let Some(order) = self.order(at, self.again[at].unwrap_or(self.begins)) else {
                let why = format!("The step `{step}` has no model.");
                return Err(Box::new(failed(why, None)));
            };
            orders.push(order);
        }
        Ok(orders)
    }

    fn left_out(&self) -> Vec<bool> {
        let mut left_out = vec![false; self.steps().len()];
        for at in 0..left_out.len() {
            left_out[at] = self.is_left_out(at, &left_out);
        }
        left_out
    }

    /// What the last analysis found; of several side by side, what the one found that found more.
    fn complexity(&self) -> Option<Complexity> {
        let last = self.analyses.iter().rposition(Option::is_some)?;
        self.group(last).filter_map(|at| self.analyses[at]).max()
    }

    /// Whether an analysis, or what it needs, makes a step pointless.
    fn is_left_out(&self, at: usize, left_out: &[bool]) -> bool {
        let step = &self.steps()[at];
        // What was not analysed is not simple.
        let found = self.complexity().unwrap_or(Complexity::Complex);
        let gone = |need: &String| self.place(need).is_some_and(|need| left_out[need]);
        step.when.is_some_and(|when| when != found)
            || (!step.needs().is_empty() && step.needs().iter().all(gone))
    }

    fn pass(&mut self, step: &str) {
        if let Some(at) = self.place(step) {
            self.complete[at] = Some(0);
        }
    }

    fn place(&self, step: &str) -> Option<usize> {
        self.steps().iter().position(|one| one.id == step)
    }
}

/// What is asked where nothing can mend it.
const SCRIPTED: &str = "Its checks fail, and `literal` did what its text says, word for word: it does the same again unless the text or the project changes. Edit the plan (`sequester resume --plan`), or give the task to a model.";
