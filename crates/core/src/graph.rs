//! Needs, waves and circles of a plan's tasks.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::fmt::Write as _;

use crate::fault::{Code, Fault};
use crate::id::TaskId;
use crate::plan::{Need, Plan, Reason};

mod circle;

/// The tasks of a plan by their needs.
///
/// Indexes are positions in [`Plan::tasks`]; those past the last task are the plan's groups, which are joints between
/// tasks and never shown: each needs its tasks and nothing else.
#[derive(Clone, Debug)]
pub struct TaskGraph {
    ids: Vec<TaskId>,
    index: HashMap<TaskId, usize>,
    needs: Vec<Vec<usize>>,
    dependants: Vec<Vec<usize>>,
    order: Vec<usize>,
    /// How many tasks stand one after the other before it, done or not.
    depth: Vec<usize>,
    /// `None` for tasks that are done.
    wave: Vec<Option<usize>>,
    /// Whether it can never start: it is in a circle, or needs what is.
    held: Vec<bool>,
    /// Where each task lies in a walk over the forest of deepest needs: enter and leave.
    visit: Vec<(usize, usize)>,
}

impl TaskGraph {
    /// The graph, and what is wrong with it: unknown needs, doubled ids, circles, all at once.
    ///
    /// The graph is whole even then: an unknown need is left out, an id means its first task, and a circle is cut.
    pub fn new(plan: &Plan) -> (Self, Vec<Fault>) {
        let mut faults = Vec::new();
        let index = index(plan, &mut faults);
        let mut needs = resolve(plan, &index, &mut faults);
        let (circles, circling) = circle::cut(plan, &mut needs);
        faults.extend(circles);
        let mut dependants = vec![Vec::new(); needs.len()];
        for (task, needs) in needs.iter().enumerate() {
            for need in needs {
                dependants[*need].push(task);
            }
        }
        let count = plan.tasks.len();
        let mut order = sort(&needs, &dependants, count);
        let mut depth = vec![0; needs.len()];
        let mut wave = vec![None; needs.len()];
        // The first wave in which what needs the task may run.
        let mut after = vec![0; needs.len()];
        for task in &order {
            depth[*task] = needs[*task].iter().map(|need| depth[*need] + 1).max().unwrap_or(0);
            let before = needs[*task].iter().map(|need| after[*need]).max().unwrap_or(0);
            // A need that is done is met; what it needed itself and is still open must come before all the same.
            let open = plan.tasks.get(*task).is_some_and(|task| !task.done);
            wave[*task] = open.then_some(before);
            after[*task] = before + usize::from(open);
        }
        let held = held(circling, &dependants);
        let visit = visit(&needs, &depth);
        order.retain(|node| *node < count);
        faults.sort_by_key(|fault| (fault.place, fault.code));
        let ids = plan.tasks.iter().map(|task| task.id.clone()).collect();
        (Self { ids, index, needs, dependants, order, depth, wave, held, visit }, faults)
    }

    /// The tasks that are not done, wave by wave; each wave in the plan's order.
    pub fn waves(&self) -> Vec<Vec<TaskId>> {
        let count = self.wave.iter().flatten().max().map_or(0, |last| last + 1);
        let mut waves = vec![Vec::new(); count];
        for (task, wave) in self.wave.iter().enumerate() {
            if let Some(wave) = wave {
                waves[*wave].push(self.ids[task].clone());
            }
        }
        waves
    }

    /// The wave of a task, counted from 0; none for a task that is done or not of this plan.
    pub fn wave(&self, id: &TaskId) -> Option<usize> {
        self.wave[self.position(id)?]
    }

    /// Whether a circle keeps a task from ever starting; then its wave is only what is left when the circle is cut.
    pub fn is_held(&self, id: &TaskId) -> bool {
        self.position(id).is_some_and(|task| self.held[task])
    }

    /// What a task needs itself, in the plan's order.
    pub fn needs(&self, id: &TaskId) -> Vec<TaskId> {
        self.position(id).map_or_else(Vec::new, |task| self.named(&self.needs, task))
    }

    /// The tasks that need this one themselves, in the plan's order.
    pub fn dependants(&self, id: &TaskId) -> Vec<TaskId> {
        self.position(id).map_or_else(Vec::new, |task| self.named(&self.dependants, task))
    }

    /// All that a task needs, near and far, in the plan's order.
    pub fn ancestors(&self, id: &TaskId) -> Vec<TaskId> {
        let Some(task) = self.position(id) else {
            return Vec::new();
        };
        let mut seen = vec![false; self.needs.len()];
        let mut open = self.needs[task].clone();
        while let Some(next) = open.pop() {
            if !std::mem::replace(&mut seen[next], true) {
                open.extend(&self.needs[next]);
            }
        }
        let found = self.ids.iter().zip(seen).filter(|(_, seen)| *seen);
        found.map(|(id, _)| id.clone()).collect()
    }

    /// All tasks of earlier waves, in the plan's order.
    pub fn earlier(&self, id: &TaskId) -> Vec<TaskId> {
        let own = self.wave(id);
        let before =
            self.wave.iter().enumerate().filter(|(_, wave)| wave.is_some() && **wave < own);
        before.map(|(task, _)| self.ids[task].clone()).collect()
    }

    fn position(&self, id: &TaskId) -> Option<usize> {
        self.index.get(id).copied()
    }

    /// The tasks at the other end of a task's edges, groups looked through.
    fn named(&self, edges: &[Vec<usize>], task: usize) -> Vec<TaskId> {
        let mut found: Vec<usize> = Vec::new();
        for node in &edges[task] {
            if *node < self.ids.len() {
                found.push(*node);
            } else {
                found.extend(&edges[*node]);
            }
        }
        found.sort_unstable();
        found.dedup();
        found.into_iter().map(|task| self.ids[task].clone()).collect()
    }

    /// The order in which tasks could run one by one: the plan's, wherever the needs allow it.
    pub(crate) fn order(&self) -> &[usize] {
        &self.order
    }

    /// Whether a task needs another, near or far. `steps` bounds the search over all questions; past it, `None`.
    ///
    /// Most questions are answered by the forest of deepest needs alone, so a chain costs one look.
    pub(crate) fn reaches(&self, task: usize, ancestor: usize, steps: &mut usize) -> Option<bool> {
        if task == ancestor {
            return Some(false);
        }
        let mut seen = HashSet::new();
        let mut open = vec![task];
        let above = |task: usize| {
            let ((enter, leave), (at, _)) = (self.visit[ancestor], self.visit[task]);
            enter <= at && at < leave
        };
        while let Some(next) = open.pop() {
            if above(next) {
                return Some(true);
            }
            for need in &self.needs[next] {
                *steps = steps.checked_sub(1)?;
                if self.depth[*need] >= self.depth[ancestor] && seen.insert(*need) {
                    open.push(*need);
                }
            }
        }
        Some(false)
    }
}

/// All that lies behind the tasks whose needs closed circles: the circles themselves, and what needs them.
fn held(mut open: Vec<usize>, dependants: &[Vec<usize>]) -> Vec<bool> {
    let mut held = vec![false; dependants.len()];
    while let Some(task) = open.pop() {
        if !std::mem::replace(&mut held[task], true) {
            open.extend(&dependants[task]);
        }
    }
    held
}

fn index(plan: &Plan, faults: &mut Vec<Fault>) -> HashMap<TaskId, usize> {
    let mut index = HashMap::new();
    for (position, task) in plan.tasks.iter().enumerate() {
        let first = *index.entry(task.id.clone()).or_insert(position);
        if first != position {
            let line = plan.tasks[first].place.line;
            faults.push(Fault::new(
                Code::DoubledId,
                task.place,
                format!("Task `{}` is there twice; the first is in line {line}.", task.id),
                "Give each task an id of its own.",
            ));
        }
    }
    index
}

fn resolve(
    plan: &Plan,
    index: &HashMap<TaskId, usize>,
    faults: &mut Vec<Fault>,
) -> Vec<Vec<usize>> {
    let mut all = Vec::with_capacity(plan.tasks.len() + plan.groups.len());
    let groups: HashMap<&TaskId, usize> = plan.groups.keys().zip(plan.tasks.len()..).collect();
    let sorted = |mut found: Vec<usize>| {
        found.sort_unstable();
        found.dedup();
        found
    };
    for task in &plan.tasks {
        let mut found = Vec::with_capacity(task.needs.len());
        for need in &task.needs {
            match groups.get(&need.id).or_else(|| index.get(&need.id)) {
                Some(position) => found.push(*position),
                None => faults.push(unknown(task.id.as_str(), need)),
            }
        }
        all.push(sorted(found));
    }
    for group in plan.groups.values() {
        all.push(sorted(group.iter().filter_map(|id| index.get(id).copied()).collect()));
    }
    all
}

fn unknown(task: &str, need: &Need) -> Fault {
    Fault::new(
        Code::UnknownNeed,
        need.place,
        format!("Task `{task}` needs `{}`, and the plan has no such task.", need.id),
        "Name a task of this plan, or take the need away.",
    )
}

/// Every task after all it needs, otherwise in the plan's order. Groups hold nothing up: they come as soon as they can.
fn sort(needs: &[Vec<usize>], dependants: &[Vec<usize>], tasks: usize) -> Vec<usize> {
    let mut missing: Vec<usize> = needs.iter().map(Vec::len).collect();
    let rank = |node: usize| Reverse((node < tasks, node));
    let free = (0..needs.len()).filter(|node| missing[*node] == 0).map(rank);
    let mut free: BinaryHeap<Reverse<(bool, usize)>> = free.collect();
    let mut order = Vec::with_capacity(needs.len());
    while let Some(Reverse((_, next))) = free.pop() {
        order.push(next);
        for node in &dependants[next] {
            missing[*node] -= 1;
            if missing[*node] == 0 {
                free.push(rank(*node));
            }
        }
    }
    order
}

/// Walks the forest in which each task hangs on its deepest need.
fn visit(needs: &[Vec<usize>], depth: &[usize]) -> Vec<(usize, usize)> {
    let mut children = vec![Vec::new(); needs.len()];
    let mut roots = Vec::new();
    for (task, needs) in needs.iter().enumerate() {
        match needs.iter().max_by_key(|need| depth[**need]) {
            Some(above) => children[*above].push(task),
            None => roots.push(task),
        }
    }
    let mut visit = vec![(0, 0); needs.len()];
    let mut clock = 0;
    let mut open: Vec<(usize, bool)> = roots.into_iter().rev().map(|root| (root, false)).collect();
    while let Some((task, left)) = open.pop() {
        if left {
            visit[task].1 = clock;
        } else {
            visit[task].0 = clock;
            clock += 1;
            open.push((task, true));
            open.extend(children[task].iter().map(|child| (*child, false)));
        }
    }
    visit
}

/// Why one task of a circle needs the next, for the message.
fn explain(message: &mut String, task: &TaskId, need: &Need) {
    let reason = match &need.reason {
        Reason::Declared => String::new(),
        Reason::Order => " by the plan's order".to_owned(),
        Reason::SameFile(path) => format!(" because both write `{path}`"),
    };
    // Writing to a string cannot fail.
    let _ = write!(message, "`{task}` needs `{}`{reason} (line {})", need.id, need.place.line);
}

#[cfg(test)]
mod tests;
