//! Turns a format's order into needs, and keeps two tasks from writing one file side by side.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::unit::{Draft, Drafts};
use super::{Action, Format, Need, Parsed, Plan, Reason, Task, stated_order};
use crate::fault::{Code, Fault};
use crate::graph::TaskGraph;
use crate::id::TaskId;
use crate::path::RepoPath;

/// How far all searches of one plan may go before a pair of tasks counts as unordered.
const SEARCH: usize = 20_000_000;

/// A need on more tasks than this at once is a need on a group that stands for them.
const MANY: usize = 64;

/// Gives the tasks their needs and makes the plan.
///
/// - superpowers, OpenSpec, Kiro: each needs the one before. With `parallel`, superpowers: see [`side_by_side`].
/// - Kiro with a graph of its own: see [`in_waves`].
/// - track: the same within each track, and through all tracks that are headed as phases.
/// - spec-kit with an order of its own: see [`in_phases`].
/// - spec-kit: a phase's tasks fall into groups, neighbouring `[P]` tasks in one, every other task alone, so that a task
///   without `[P]` is a barrier in its phase; each group needs the one before, across phases too.
/// - BMAD, lists: each needs the one before.
/// - Task Master, native, GSD, Cursor: as declared or read.
///
/// Order never makes a required task wait for an optional one, which may not run at all; only a declared need does.
pub(super) fn arrange(mut drafts: Drafts, parallel: bool) -> Parsed {
    let side = parallel && drafts.plan.format == Format::Superpowers;
    let has_waves = drafts.waves.is_some();
    drop_later_needs(&mut drafts);
    if side {
        expand_parents(&mut drafts);
        side_by_side(&mut drafts.tasks);
    } else {
        if !in_stated_order(&mut drafts) {
            in_order(&mut drafts);
        }
        // Only now, for the order tells which tasks beneath a parent are the last.
        expand_parents(&mut drafts);
    }
    let marked: Vec<bool> = drafts.tasks.iter().map(|draft| draft.parallel).collect();
    drafts.plan.tasks = drafts.tasks.into_iter().map(|draft| draft.task).collect();
    let mut plan = drafts.plan;
    let (faults, mut warnings) = (drafts.faults, drafts.warnings);
    let total = matches!(
        plan.format,
        Format::OpenSpec | Format::Kiro | Format::Superpowers | Format::Bmad | Format::List
    ) && !side;
    if !total || has_waves {
        part_writers(&mut plan, &marked, &mut warnings);
    }
    Parsed { plan, faults, warnings }
}

/// The lane of a task whose id is given: the tasks of one lane run one after the other. None where the format has another order.
fn lane<'a>(drafts: &'a Drafts, id: &'a str) -> Option<&'a str> {
    let track = || id.split('.').next().unwrap_or_default();
    match drafts.plan.format {
        _ if drafts.waves.is_some() => None,
        Format::Superpowers | Format::OpenSpec | Format::Kiro | Format::Bmad | Format::List => {
            Some("")
        }
        Format::Track if drafts.phases.contains(track()) => Some(""),
        Format::Track => Some(track()),
        _ => None,
    }
}

/// In a lane, words that make a task need a later one speak of it, and the order of the plan holds. A warning says so.
fn drop_later_needs(drafts: &mut Drafts) {
    let mut first: HashMap<&str, usize> = HashMap::new();
    for (at, draft) in drafts.tasks.iter().enumerate() {
        first.entry(draft.task.id.as_str()).or_insert(at);
    }
    for (parent, beneath) in &drafts.parents {
        if let Some(at) = beneath.iter().min() {
            first.entry(parent.as_str()).or_insert(*at);
        }
    }
    let mut dropped: Vec<(usize, usize)> = Vec::new();
    let mut warnings = Vec::new();
    for (at, draft) in drafts.tasks.iter().enumerate() {
        let Some(own) = lane(drafts, draft.task.id.as_str()) else { continue };
        for (number, need) in draft.task.needs.iter().enumerate() {
            let id = need.id.as_str();
            let is_later = first.get(id).is_some_and(|first| *first > at);
            if is_later && lane(drafts, id) == Some(own) {
                dropped.push((at, number));
                warnings.extend((!draft.task.done).then(|| later_need(&draft.task, need)));
            }
        }
    }
    for (at, number) in dropped.into_iter().rev() {
        drafts.tasks[at].task.needs.remove(number);
    }
    drafts.warnings.extend(warnings);
}

fn later_need(task: &Task, need: &Need) -> Fault {
    let (own, later) = (&task.id, &need.id);
    Fault::new(
        Code::UnusedOrder,
        need.place,
        format!(
            "Task `{own}` is said to depend on task `{later}`, which stands after it. This need is ignored: \
             the tasks run in the order of the plan."
        ),
        format!("To run `{later}` first, put it before `{own}`."),
    )
}

fn in_order(drafts: &mut Drafts) {
    let phases = &drafts.phases;
    let track = |task: &str| {
        let track = task.split('.').next().unwrap_or_default();
        if phases.contains(track) { String::new() } else { track.to_owned() }
    };
    let tasks = &mut drafts.tasks;
    if let Some(waves) = &drafts.waves {
        return in_waves(tasks, waves, &mut drafts.plan.groups);
    }
    match drafts.plan.format {
        Format::Superpowers | Format::OpenSpec | Format::Kiro | Format::Bmad | Format::List => {
            in_sequence(tasks, |_| String::new());
        }
        Format::Track => in_sequence(tasks, track),
        Format::SpecKit => in_groups(tasks, &mut drafts.plan.groups),
        Format::TaskMaster | Format::Native | Format::Gsd | Format::Cursor | Format::Single => {}
    }
}

/// A need on a parent is a need on the tasks beneath it that no other of them needs.
fn expand_parents(drafts: &mut Drafts) {
    let mut ends: HashMap<TaskId, Vec<TaskId>> = HashMap::new();
    for need in drafts.tasks.iter().flat_map(|draft| &draft.task.needs) {
        if let Some(beneath) = drafts.parents.get(need.id.as_str()) {
            ends.entry(need.id.clone()).or_insert_with(|| last_of(&drafts.tasks, beneath));
        }
    }
    for draft in &mut drafts.tasks {
        let own = draft.task.id.clone();
        let mut needs: Vec<Need> = Vec::with_capacity(draft.task.needs.len());
        let mut seen = HashSet::new();
        for need in std::mem::take(&mut draft.task.needs) {
            let within = own
                .as_str()
                .strip_prefix(need.id.as_str())
                .is_some_and(|rest| rest.starts_with('.'));
            let ids = match ends.get(&need.id) {
                Some(_) if within => Vec::new(),
                Some(ends) => gathered(ends, || need.id.clone(), &mut drafts.plan.groups),
                None => vec![need.id.clone()],
            };
            for id in ids {
                if seen.insert(id.clone()) {
                    needs.push(Need { id, ..need.clone() });
                }
            }
        }
        draft.task.needs = needs;
    }
}

/// The tasks beneath a parent that must be done for it to be done, without those that others of them need.
///
/// Optional ones may not run at all, so they count only where nothing else stands beneath the parent.
fn last_of(tasks: &[Draft], beneath: &[usize]) -> Vec<TaskId> {
    let all = || beneath.iter().map(|at| &tasks[*at].task);
    let required: Vec<&Task> = all().filter(|task| !task.optional).collect();
    let counted: Vec<&Task> = if required.is_empty() { all().collect() } else { required };
    let needed: HashSet<&TaskId> =
        counted.iter().flat_map(|task| &task.needs).map(|need| &need.id).collect();
    let ends: Vec<TaskId> =
        counted.iter().map(|task| &task.id).filter(|id| !needed.contains(id)).cloned().collect();
    // In a circle each is needed; the circle is named elsewhere.
    if ends.is_empty() { counted.iter().map(|task| task.id.clone()).collect() } else { ends }
}

/// What a need on all of these tasks names: each of them, or a group where they are very many.
fn gathered(
    ids: &[TaskId],
    name: impl Fn() -> TaskId,
    groups: &mut BTreeMap<TaskId, Vec<TaskId>>,
) -> Vec<TaskId> {
    if ids.len() <= MANY {
        return ids.to_vec();
    }
    let name = name();
    groups.entry(name.clone()).or_insert_with(|| ids.to_vec());
    vec![name]
}

/// Each task needs the one before it in its lane.
fn in_sequence(tasks: &mut [Draft], lane: impl Fn(&str) -> String) {
    let mut last: HashMap<String, (TaskId, Option<TaskId>)> = HashMap::new();
    for draft in tasks {
        let task = &mut draft.task;
        let lane = lane(task.id.as_str());
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

/// Neighbouring tasks that may run side by side are a group; see [`chain_groups`].
fn in_groups(tasks: &mut [Draft], names: &mut BTreeMap<TaskId, Vec<TaskId>>) {
    let all: Vec<usize> = (0..tasks.len()).collect();
    let groups = parallel_groups(tasks, &all);
    chain_groups(tasks, &groups, ChainEnd::default(), names);
}

/// The positions of tasks, neighbours that may run side by side in one group.
fn parallel_groups(tasks: &[Draft], positions: &[usize]) -> Vec<Vec<usize>> {
    let joins = |one: &usize, two: &usize| {
        let (one, two) = (&tasks[*one], &tasks[*two]);
        one.parallel && two.parallel && one.sections == two.sections
    };
    positions.chunk_by(joins).map(<[usize]>::to_vec).collect()
}

/// Uses the order that the plan states, unless it makes a cycle: then a warning says so, and nothing of it is used.
fn in_stated_order(drafts: &mut Drafts) -> bool {
    let Some(order) = drafts.stated.take() else { return false };
    let before: Vec<Vec<Need>> =
        drafts.tasks.iter().map(|draft| draft.task.needs.clone()).collect();
    order.add_needs(drafts);
    in_phases(&mut drafts.tasks, &order.phases, &mut drafts.plan.groups);
    let mut plan = Plan::new(drafts.plan.format);
    let bare = |Draft { task, .. }: &Draft| Task {
        id: task.id.clone(),
        needs: task.needs.clone(),
        ..Task::default()
    };
    plan.tasks = drafts.tasks.iter().map(bare).collect();
    plan.groups.clone_from(&drafts.plan.groups);
    let (_, faults) = TaskGraph::new(&plan);
    let is_cycle = faults.iter().any(|fault| fault.code == Code::Cycle);
    if is_cycle {
        for (draft, needs) in drafts.tasks.iter_mut().zip(before) {
            draft.task.needs = needs;
        }
        drafts.plan.groups.clear();
        let why = "it makes a dependency cycle";
        drafts.warnings.push(stated_order::unused(order.place, why));
    }
    !is_cycle
}

/// The groups of each phase need those of the phases that it needs; see [`chain_groups`].
fn in_phases(
    tasks: &mut [Draft],
    phases: &[(Vec<usize>, Vec<usize>)],
    names: &mut BTreeMap<TaskId, Vec<TaskId>>,
) {
    let mut ends: Vec<ChainEnd> = Vec::with_capacity(phases.len());
    for (members, needs) in phases {
        let mut start = ChainEnd::default();
        for end in needs.iter().map(|need| &ends[*need]) {
            start.newest.extend(end.newest.iter().cloned());
            start.required.extend(end.required.iter().cloned());
        }
        let groups = parallel_groups(tasks, members);
        ends.push(chain_groups(tasks, &groups, start, names));
    }
}

/// The last groups of a chain: what comes next needs them.
#[derive(Default)]
struct ChainEnd {
    newest: Vec<Vec<TaskId>>,
    /// Without optional tasks.
    required: Vec<Vec<TaskId>>,
}

/// Each wave needs the one before. A task in no wave, such as a checkpoint, needs all that stands before it.
fn in_waves(tasks: &mut [Draft], waves: &[Vec<usize>], names: &mut BTreeMap<TaskId, Vec<TaskId>>) {
    chain_groups(tasks, waves, ChainEnd::default(), names);
    let listed: HashSet<usize> = waves.iter().flatten().copied().collect();
    let mut before: Vec<TaskId> = Vec::new();
    for (at, draft) in tasks.iter_mut().enumerate() {
        let id = draft.task.id.clone();
        if !listed.contains(&at) {
            add(&mut draft.task, in_blocks(&before, names), &Reason::Order);
            before.retain(|_| draft.task.optional);
        }
        if !draft.task.optional {
            before.push(id);
        }
    }
}

/// Names for a need on all of these tasks: groups of 2, 4, 8, ... of them. A longer list shares the groups of a shorter one
/// that begins it, so a list that grows and is needed again and again takes little space.
fn in_blocks(ids: &[TaskId], groups: &mut BTreeMap<TaskId, Vec<TaskId>>) -> Vec<TaskId> {
    if ids.len() <= MANY {
        return ids.to_vec();
    }
    let mut needs = Vec::new();
    let mut rest = ids;
    while !rest.is_empty() {
        let (block, behind) = rest.split_at(1 << rest.len().ilog2());
        rest = behind;
        if let [one] = block {
            needs.push(one.clone());
            continue;
        }
        let name = TaskId::new(format!("{} and {} after it", block[0], block.len() - 1));
        groups.entry(name.clone()).or_insert_with(|| block.to_vec());
        needs.push(name);
    }
    needs
}

/// Each group of tasks needs the one before: optional tasks all of it, the others what is required of it, or of the last
/// group before in which something is.
fn chain_groups(
    tasks: &mut [Draft],
    groups: &[Vec<usize>],
    start: ChainEnd,
    names: &mut BTreeMap<TaskId, Vec<TaskId>>,
) -> ChainEnd {
    let mut end = start;
    for group in groups {
        for optional in [false, true] {
            let before = if optional { &end.newest } else { &end.required };
            let members = group.iter().filter(|at| tasks[**at].task.optional == optional);
            let members: Vec<usize> = members.copied().collect();
            if members.is_empty() {
                continue;
            }
            let next = &tasks[members[0]].task.id;
            let name = |ids: &[TaskId]| match &before[..] {
                [_] => span(ids, optional),
                _ => TaskId::new(format!("before {next}")),
            };
            let ids = before.concat();
            let needs = gathered(&ids, || name(&ids), names);
            for at in members {
                add(&mut tasks[at].task, needs.clone(), &Reason::Order);
            }
        }
        let ids = |at: &usize| tasks[*at].task.id.clone();
        end.newest = vec![group.iter().map(ids).collect()];
        let firm: Vec<TaskId> =
            group.iter().filter(|at| !tasks[**at].task.optional).map(ids).collect();
        if !firm.is_empty() {
            end.required = vec![firm];
        }
    }
    end
}

/// How a group of tasks is named: by its first and last.
fn span(ids: &[TaskId], optional: bool) -> TaskId {
    let end = |id: Option<&TaskId>| id.map_or("", TaskId::as_str).to_owned();
    let with = if optional { " with optional ones" } else { "" };
    TaskId::new(format!("{}..{}{with}", end(ids.first()), end(ids.last())))
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

/// Where two tasks that may run side by side write one file, the later needs the earlier. Where the plan marks them to run side by
/// side, or both create the file, a warning says so.
fn part_writers(plan: &mut Plan, marked: &[bool], warnings: &mut Vec<Fault>) {
    let (graph, _) = TaskGraph::new(plan);
    // The others say themselves what comes after what.
    let hinted = matches!(plan.format, Format::SpecKit | Format::Track);
    let mut writers: BTreeMap<RepoPath, Vec<(usize, Action)>> = BTreeMap::new();
    for index in graph.order().iter().copied() {
        let task = &plan.tasks[index];
        let named = if hinted { &task.hints[..] } else { &[] };
        let named = task.files.iter().chain(named.iter().map(|hint| &hint.0));
        for file in named.filter(|file| file.action.writes() && !task.done) {
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
                warnings.push(conflict(plan, earlier, later, &path, both_create));
            }
            if ordered != Some(true)
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
    let mut named = two.files.iter().chain(two.hints.iter().map(|hint| &hint.0));
    let place = named.find(|file| &file.path == path).map_or(two.place, |file| file.place);
    let what =
        if both_create { "both create" } else { "are marked to run side by side and both write" };
    let (first, second) = (&one.id, &two.id);
    let line = one.place.line;
    Fault::new(
        Code::WriteConflict,
        place,
        format!(
            "Tasks `{first}` (line {line}) and `{second}` {what} `{path}`. `{second}` starts after `{first}`."
        ),
        "To keep them side by side, list the file in only one of them.",
    )
}
