//! A run as it is shown: one read model for terminal, web page and other programs.

use serde::Serialize;

use super::attempts::Tried;
use super::cost::Bill;
use super::event::{Base, Ended, TaskEnded};
use super::next::groups;
use super::outcome::Outcome;
use super::person::PersonDecision;
use super::said::Said;
use super::state::{Open, RunState, TaskRun};
use super::workflow::Step;
use crate::check;
use crate::id::{CommitId, QuestionId, RunId, TaskId};
use crate::moment::Moment;
use crate::record::Todo;
use crate::report::{Choice, FindingFields, OwnPhase, Phase};

/// The state of a run, and whether a process carries it out now.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunView {
    pub run: RunId,
    pub state: State,
    /// As it was named.
    pub plan: String,
    pub branch: String,
    pub base: Base,
    /// Of the branch; nothing while nothing is on it.
    pub tip: Option<CommitId>,
    pub started_at: Moment,
    /// Of the last event.
    pub updated_at: Moment,
    pub live: bool,
    /// Whether somebody looked over every change of a done task and let it stand.
    pub reviewed: bool,
    /// Checks of the project that somebody switched off.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checks_off: Vec<check::Kind>,
    /// In the plan's order.
    pub tasks: Vec<TaskView>,
    pub inbox: Vec<Waiting>,
    /// What its tasks left to be done; filled in by who can read what they left.
    pub todos: Vec<Todo>,
    #[serde(flatten)]
    pub cost: Bill,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TaskView {
    pub id: TaskId,
    pub title: String,
    pub state: TaskState,
    /// The one under way, or the last.
    pub phase: Option<Phase>,
    /// How many were started.
    pub attempts: u32,
    pub needs: Vec<TaskId>,
    #[serde(flatten)]
    pub cost: Bill,
    /// Why it ended so; nothing if it is done.
    pub reason: Option<String>,
    /// The task that kept it from beginning: its reason is this one's too.
    pub blocked_by: Option<TaskId>,
    /// What would help.
    pub resolution: Option<String>,
    /// The person's decision that it ended by: never as if it were verified.
    pub person: Option<PersonDecision>,
    pub commit: Option<CommitId>,
    /// Its change is made, and not on the branch yet.
    pub off_branch: bool,
    /// The earlier task whose change comes onto the branch first.
    pub comes_after: Option<TaskId>,
    pub reviewed: bool,
    /// Its workflow, where that changes files and no subagent judges the change.
    pub unjudged: Option<String>,
}

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Running,
    Done,
    Failed,
    Waiting,
    /// Nobody carries it out, and it can be taken up again.
    Stopped,
    BudgetExhausted,
    Cancelled,
}

impl State {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Waiting => "waiting",
            Self::Stopped => "stopped",
            Self::BudgetExhausted => "budget_exhausted",
            Self::Cancelled => "cancelled",
        }
    }

    fn of(run: &RunState, live: bool) -> Self {
        if live {
            return Self::Running;
        }
        let is_answered = || run.inbox().next().is_none();
        match run.ended.filter(|ended| *ended != Outcome::Waiting || !is_answered()) {
            // Cut off, parked, or all of it answered since: it goes on when somebody takes it up.
            None | Some(Outcome::Stopped) => Self::Stopped,
            Some(Outcome::Waiting) => Self::Waiting,
            Some(Outcome::Done) => Self::Done,
            Some(Outcome::Failed) => Self::Failed,
            Some(Outcome::BudgetExhausted) => Self::BudgetExhausted,
            Some(Outcome::Cancelled) => Self::Cancelled,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    Pending,
    Running,
    Waiting,
    Done,
    Failed,
    Blocked,
    Skipped,
    Cancelled,
}

impl TaskState {
    pub const ALL: [Self; 8] = [
        Self::Done,
        Self::Running,
        Self::Waiting,
        Self::Pending,
        Self::Failed,
        Self::Blocked,
        Self::Skipped,
        Self::Cancelled,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Blocked => "blocked",
            Self::Skipped => "skipped",
            Self::Cancelled => "cancelled",
        }
    }

    fn of(task: &TaskRun, live: bool) -> Self {
        match task.ended.as_ref().map(|ended| ended.state) {
            Some(Ended::Done) => Self::Done,
            Some(Ended::Failed) => Self::Failed,
            Some(Ended::Blocked) => Self::Blocked,
            Some(Ended::Skipped) => Self::Skipped,
            Some(Ended::Cancelled) => Self::Cancelled,
            None if !task.open.is_empty() => Self::Waiting,
            // Between two attempts it is looked at by the runtime, unless it has to begin anew.
            None if !task.running.is_empty() && live => Self::Running,
            None if task.attempts > 0 && !task.is_void(task.attempts) && live => Self::Running,
            None => Self::Pending,
        }
    }
}

/// A question in the inbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Waiting {
    pub id: QuestionId,
    pub run: RunId,
    pub task: Option<TaskId>,
    /// Of the attempt that asked.
    pub phase: Option<Phase>,
    pub question: String,
    /// What a person needs to know for it.
    pub details: Option<String>,
    pub options: Vec<Choice>,
    pub default: Option<String>,
    pub deadline: Option<Moment>,
    pub asked_at: Moment,
}

/// What the plan is called: by its file or, where it lies in none, by its task.
fn plan_of(run: &RunState) -> &str {
    match (run.started.plan.path.as_str(), &run.tasks[..]) {
        ("", [task, ..]) => &task.spec.title,
        (path, _) => path,
    }
}

impl RunView {
    pub fn of(run: &RunState, live: bool) -> Self {
        let tasks: Vec<TaskView> =
            run.tasks.iter().map(|task| TaskView::of(run, task, live)).collect();
        let changed = || run.tasks.iter().filter(|task| task.result().is_some());
        Self {
            run: run.run.clone(),
            state: State::of(run, live),
            plan: plan_of(run).to_owned(),
            branch: run.started.branch.clone(),
            base: run.started.base.clone(),
            tip: run.tip.as_ref().map(|(commit, _)| commit.clone()),
            started_at: run.began,
            updated_at: run.at,
            live,
            reviewed: changed().next().is_some() && changed().all(is_reviewed),
            checks_off: run.started.settings.checks_off.iter().copied().collect(),
            tasks,
            inbox: run.inbox().map(|(id, open)| Waiting::of(run, id, open)).collect(),
            todos: Vec::new(),
            cost: run.cost.bill(),
        }
    }

    /// How many tasks stand how, the states in [`TaskState::ALL`]'s order; those of none are left out.
    pub fn tally(&self) -> Vec<(TaskState, usize)> {
        let count = |state| self.tasks.iter().filter(|task| task.state == state).count();
        let counted = TaskState::ALL.map(|state| (state, count(state)));
        counted.into_iter().filter(|(_, count)| *count > 0).collect()
    }
}

impl RunState {
    /// The fields that a phase of a task's workflow declares for its findings.
    pub fn finding_fields(&self, task: &TaskId, phase: Phase) -> Option<&FindingFields> {
        self.own_phase(task, phase).map(|own| &own.findings)
    }

    /// Whether a phase judges other work, by itself or as a task's workflow declares it.
    pub fn is_judging(&self, task: &TaskId, phase: Phase) -> bool {
        phase.judges() || self.own_phase(task, phase).is_some_and(|own| own.judges)
    }

    fn own_phase(&self, task: &TaskId, phase: Phase) -> Option<&OwnPhase> {
        let workflow = self.started.workflows.get(&self.task(task)?.spec.workflow)?;
        workflow.phases.get(phase.as_str())
    }

    /// The steps of a task that run side by side, group by group.
    pub fn side_by_side(&self, task: &TaskRun) -> Vec<&[Step]> {
        let Some(workflow) = self.started.workflows.get(&task.spec.workflow) else {
            return Vec::new();
        };
        let groups = groups(self, task, workflow).into_iter();
        groups.filter(|group| group.len() > 1).map(|group| &workflow.steps[group]).collect()
    }
}

impl TaskView {
    pub fn of(run: &RunState, task: &TaskRun, live: bool) -> Self {
        let running = task.running.values().next().map(|running| running.phase);
        let ended = task.ended.as_ref();
        let is_blocked = ended.is_some_and(TaskEnded::is_by_need);
        let root = Some(task).filter(|_| is_blocked).map(|task| run.root_of(task));
        let why = |task: &TaskRun| task.ended.as_ref().and_then(|ended| ended.reason.clone());
        let whys: Vec<String> = [Some(task), root].into_iter().flatten().filter_map(why).collect();
        Self {
            id: task.spec.id.clone(),
            title: task.spec.title.clone(),
            state: TaskState::of(task, live),
            phase: running.or_else(|| task.tried().next_back().map(|tried| tried.phase)),
            attempts: task.attempts,
            needs: task.spec.needs.clone(),
            cost: task.cost.bill(),
            reason: (!whys.is_empty()).then(|| whys.join(" ")),
            blocked_by: root.map(|root| root.spec.id.clone()),
            resolution: ended.and_then(|ended| ended.resolution.clone()),
            person: ended.and_then(|ended| ended.person.clone()),
            commit: task.committed.clone(),
            off_branch: task.is_off_branch(),
            comes_after: run.first_before(task).map(|first| first.spec.id.clone()),
            reviewed: is_reviewed(task),
            unjudged: unjudged(run, task),
        }
    }
}

fn unjudged(run: &RunState, task: &TaskRun) -> Option<String> {
    let name = &task.spec.workflow;
    let phase = |agent: &str| run.started.agents.get(agent).map(|agent| agent.phase);
    let workflow = run.started.workflows.get(name)?;
    (workflow.is_unjudged(phase) && task.result().is_some()).then(|| name.clone())
}

impl Waiting {
    fn of(run: &RunState, id: &QuestionId, open: &Open) -> Self {
        let task = open.task.as_ref().and_then(|task| run.task(task));
        let last = || task?.tried().next_back().map(|tried| tried.phase);
        Self {
            id: id.clone(),
            run: run.run.clone(),
            task: open.task.clone(),
            phase: open.phase.or_else(last),
            question: open.asked.text.clone(),
            details: open.asked.details.clone(),
            options: open.asked.options.clone(),
            default: open.asked.default.clone(),
            deadline: open.asked.deadline,
            asked_at: open.asked_at,
        }
    }
}

impl RunState {
    /// The first task that keeps a change that is made from the branch: changes come there in the order of the line.
    fn first_before(&self, task: &TaskRun) -> Option<&TaskRun> {
        let at = self.position(&task.spec.id).filter(|_| task.is_off_branch())?;
        let line = self.line.rest(self.settled);
        let first = self.sunk_by(at).or_else(|| line.first().map(|at| &self.tasks[*at]))?;
        (first.spec.id != task.spec.id).then_some(first)
    }

    /// Questions whose answers still decide something, the first that was asked first.
    pub fn inbox(&self) -> impl Iterator<Item = (&QuestionId, &Open)> {
        let is_open = |open: &Open| {
            let task = open.task.as_ref().and_then(|task| self.task(task));
            task.is_none_or(|task| task.ended.is_none())
        };
        let mut open: Vec<_> = self.questions.iter().filter(|(_, open)| is_open(open)).collect();
        open.sort_by_key(|(id, open)| (open.asked_at, id.as_str().len(), id.as_str()));
        open.into_iter()
    }
}

/// Whether the last reviewer of a done task's result let it stand: of this very tree, not of one before it.
fn is_reviewed(task: &TaskRun) -> bool {
    let Some(result) = task.result() else { return false };
    let judged =
        |tried: &&Tried| tried.phase == Phase::Review && tried.tree.as_ref() == Some(result);
    let last = task.tried().rfind(judged);
    last.is_some_and(|last| matches!(last.said, Some(Said::Proceed { passed: Some(true), .. })))
}
