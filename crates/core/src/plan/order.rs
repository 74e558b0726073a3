//! Turns a format's order into needs, and keeps two tasks from writing one file side by side.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::unit::{Draft, Drafts};
use super::{Action, Format, Need, Plan, Reason, Task};
use crate::fault::{Code, Fault};
use crate::graph::TaskGraph;
use crate::id::TaskId;
use crate::path::RepoPath;

/// How far all searches of one plan may go before a pair of tasks counts as unordered.
const SEARCH: usize = 20_000_000;

/// Two neighbouring groups with more pairs than this are joined through the first task of the second.
const PAIRS: usize = 4_096;

/// Gives the tasks their needs and makes the plan.
///
/// - superpowers, OpenSpec, Kiro: each needs the one before. With `parallel`, superpowers: see [`side_by_side`].
/// - track: the same within each track.
/// - spec-kit: a phase's tasks fall into groups, neighbouring `[P]` tasks in one, every other task alone, so that a task
///   without `[P]` is a barrier in its phase; each group needs the one before, across phases too.
/// - Task Master, native: as declared.
///
/// Order never makes a required task wait for an optional one, which may not run at all; only a declared need does.
pub(super) fn arrange(mut drafts: Drafts, parallel: bool) -> (Plan, Vec<Fault>) {
    expand_parents(&mut drafts);
    let tasks = &mut drafts.tasks;
    match drafts.plan.format {
        Format::Superpowers if parallel => side_by_side(tasks),
        Format::Superpowers | Format::OpenSpec | Format::Kiro => {
            in_sequence(tasks, |_| "");
        }
        Format::Track => in_sequence(tasks, |task| task.split('.').next().unwrap_or_default()),
        Format::SpecKit => in_groups(tasks),
        Format::TaskMaster | Format::Native => {}
    }
    let marked: Vec<bool> = tasks.iter().map(|draft| draft.parallel).collect();
    drafts.plan.tasks = drafts.tasks.into_iter().map(|draft| draft.task).collect();
    let mut plan = drafts.plan;
    let mut faults = drafts.faults;
    let total = matches!(plan.format, Format::OpenSpec | Format::Kiro)
        || plan.format == Format::Superpowers && !parallel;
    if !total {
        part_writers(&mut plan, &marked, &mut faults);
    }
    (plan, faults)
}

/// A need on a parent is a need on the tasks beneath it.
fn expand_parents(drafts: &mut Drafts) {
    for draft in &mut drafts.tasks {
        let own = draft.task.id.clone();
        let mut needs: Vec<Need> = Vec::with_capacity(draft.task.needs.len());
        let mut seen = HashSet::new();
        for need in std::mem::take(&mut draft.task.needs) {
            let beneath = drafts.parents.get(need.id.as_str());
            let ids = beneath.map_or_else(|| vec![need.id.clone()], Clone::clone);
            let within = own
                .as_str()
                .strip_prefix(need.id.as_str())
                .is_some_and(|rest| rest.starts_with('.'));
            for id in ids {
                if !(beneath.is_some() && within) && seen.insert(id.clone()) {
                    needs.push(Need { id, ..need.clone() });
                }
            }
        }
        draft.task.needs = needs;
    }
}

/// Each task needs the one before it in its lane.
fn in_sequence(tasks: &mut [Draft], lane: impl Fn(&str) -> &str) {
    let mut last: HashMap<String, (TaskId, Option<TaskId>)> = HashMap::new();
    for draft in tasks {
        let task = &mut draft.task;
        let lane = lane(task.id.as_str()).to_owned();
        let (newest, required) = last
            .get(&lane)
            .cloned()
            .map_or((None, None), |(newest, required)| (Some(newest), required));
        let before = if task.optional { newest } else { required.clone() };
        add(task, before, &Reason::Order);
        let required = if task.optional { required } else { Some(task.id.clone()) };
        last.insert(lane, (task.id.clone(), required));
    }
}

fn in_groups(tasks: &mut [Draft]) {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for index in 0..tasks.len() {
        let joins = index > 0
            && tasks[index].parallel
            && tasks[index - 1].parallel
            && tasks[index].sections == tasks[index - 1].sections;
        match groups.last_mut() {
            Some(group) if joins => group.push(index),
            _ => groups.push(vec![index]),
        }
    }
    for pair in groups.windows(2) {
        join(tasks, &pair[0], &pair[1]);
    }
}

/// Every task of the second group needs every task of the first.
fn join(tasks: &mut [Draft], first: &[usize], second: &[usize]) {
    let gate = first.len() * second.len() > PAIRS;
    let gate_id = tasks[second[0]].task.id.clone();
    for (position, task) in second.iter().enumerate() {
        let before: Vec<TaskId> = if gate && position > 0 {
            vec![gate_id.clone()]
        } else {
            first.iter().map(|before| tasks[*before].task.id.clone()).collect()
        };
        add(&mut tasks[*task].task, before, &Reason::Order);
    }
}

/// A task needs the last one that writes a file it names; one that does not list its files is a barrier.
///
/// A barrier needs every task since the barrier before that nothing else needs yet, so needs stay few and everything
/// earlier is needed, near or far.
fn side_by_side(tasks: &mut [Draft]) {
    let mut barrier: Option<(usize, TaskId)> = None;
    let mut writers: HashMap<RepoPath, TaskId> = HashMap::new();
    let mut ends: BTreeMap<usize, TaskId> = BTreeMap::new();
    let mut positions: HashMap<TaskId, usize> = HashMap::new();
    for (position, draft) in tasks.iter_mut().enumerate() {
        let task = &mut draft.task;
        if task.files_declared {
            let shared = task
                .files
                .iter()
                .filter_map(|file| Some((writers.get(&file.path)?.clone(), file.path.clone())));
            for (writer, path) in shared.collect::<Vec<_>>() {
                add(task, [writer], &Reason::SameFile(path));
            }
            let behind = |barrier: usize| {
                task.needs
                    .iter()
                    .any(|need| positions.get(&need.id).is_some_and(|need| *need >= barrier))
            };
            let open =
                barrier.as_ref().filter(|(at, _)| !behind(*at)).map(|(_, barrier)| barrier.clone());
            add(task, open, &Reason::Order);
            for file in task.files.iter().filter(|file| file.action.writes()) {
                writers.insert(file.path.clone(), task.id.clone());
            }
        } else {
            add(task, std::mem::take(&mut ends).into_values(), &Reason::Order);
            writers.clear();
            barrier = Some((position, task.id.clone()));
        }
        for need in &task.needs {
            if let Some(position) = positions.get(&need.id) {
                ends.remove(position);
            }
        }
        ends.insert(position, task.id.clone());
        positions.insert(task.id.clone(), position);
    }
}

fn add(task: &mut Task, ids: impl IntoIterator<Item = TaskId>, reason: &Reason) {
    let mut known: HashSet<TaskId> = task.needs.iter().map(|need| need.id.clone()).collect();
    known.insert(task.id.clone());
    for id in ids {
        if known.insert(id.clone()) {
            task.needs.push(Need { id, reason: reason.clone(), place: task.place });
        }
    }
}

/// Where two tasks that may run side by side write one file: a fault, or a need of the later on the earlier.
fn part_writers(plan: &mut Plan, marked: &[bool], faults: &mut Vec<Fault>) {
    let (graph, _) = TaskGraph::new(plan);
    let mut writers: BTreeMap<RepoPath, Vec<(usize, Action)>> = BTreeMap::new();
    for index in graph.order().iter().copied() {
        let task = &plan.tasks[index];
        for file in task.files.iter().filter(|file| file.action.writes() && !task.done) {
            let known = writers.entry(file.path.clone()).or_default();
            match known.last_mut() {
                Some((last, action)) if *last == index && file.action == Action::Create => {
                    *action = Action::Create;
                }
                Some((last, _)) if *last == index => {}
                _ => known.push((index, file.action)),
            }
        }
    }
    let mut steps = SEARCH;
    let mut added: Vec<(usize, usize, RepoPath)> = Vec::new();
    for (path, writers) in writers {
        for pair in writers.windows(2) {
            let ((earlier, first), (later, second)) = (pair[0], pair[1]);
            let ordered = graph.reaches(later, earlier, &mut steps);
            let both_create = first == Action::Create && second == Action::Create;
            if ordered == Some(false) && (both_create || marked[earlier] && marked[later]) {
                faults.push(conflict(plan, earlier, later, &path, both_create));
            } else if ordered != Some(true)
                && (plan.tasks[later].optional || !plan.tasks[earlier].optional)
            {
                added.push((earlier, later, path.clone()));
            }
        }
    }
    for (earlier, later, path) in added {
        let id = plan.tasks[earlier].id.clone();
        add(&mut plan.tasks[later], [id], &Reason::SameFile(path));
    }
}

fn conflict(
    plan: &Plan,
    earlier: usize,
    later: usize,
    path: &RepoPath,
    both_create: bool,
) -> Fault {
    let (one, two) = (&plan.tasks[earlier], &plan.tasks[later]);
    let place =
        two.files.iter().find(|file| &file.path == path).map_or(two.place, |file| file.place);
    let what =
        if both_create { "both create" } else { "are marked to run side by side and both write" };
    Fault::new(
        Code::WriteConflict,
        place,
        format!("Tasks `{}` (line {}) and `{}` {what} `{path}`.", one.id, one.place.line, two.id),
        format!("Let `{}` need `{}`, or give the file to one of them.", two.id, one.id),
    )
}
