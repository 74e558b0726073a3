//! The order that a spec-kit plan gives itself under `## Dependencies & Execution Order`: which phases wait for which, and which
//! tasks for which. It is used whole or not at all.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::markdown::{Document, Kind};
use super::unit::Drafts;
use super::{Need, Reason, words};
use crate::fault::{Code, Fault, Place};
use crate::id::TaskId;

mod statement;

use statement::{Phase, Statement};

/// A plan with more phases keeps the order in which they stand.
const PHASES: usize = 200;

/// The order of a plan with more needs between tasks is not read.
const NEEDS: usize = 10_000;

/// The order of a plan with more needs between phases, named again or not, is not read.
const PHASE_NEEDS: usize = 4 * PHASES * PHASES;

/// The phases of a plan and what each waits for.
#[derive(Debug)]
pub(super) struct StatedOrder {
    /// The heading of the section.
    pub(super) place: Place,
    /// The positions of the tasks of each phase, and the phases that it needs; each stands behind those that it needs.
    pub(super) phases: Vec<(Vec<usize>, Vec<usize>)>,
    /// Which task needs which, by their positions, and where the plan says so.
    needs: Vec<(usize, usize, Place)>,
}

/// The order that a plan states; none without a section, or, with a warning, where not all of it is understood.
pub(super) fn read(document: &Document<'_>, drafts: &mut Drafts) -> Option<StatedOrder> {
    let phases = phases(document, drafts);
    let (heading, lines) = section(document, &phases)?;
    let place = document.lines.place(document.blocks[heading].range.start);
    let order = match lines {
        Ok(lines) if lines.is_empty() => return None,
        Ok(lines) => order(&lines, phases, drafts, place),
        Err(why) => Err(why),
    };
    order.map_err(|why| drafts.warnings.push(unused(place, &why))).ok()
}

pub(super) fn unused(place: Place, why: &str) -> Fault {
    Fault::new(
        Code::UnusedOrder,
        place,
        format!(
            "The section of dependencies is not used: {why}. The tasks run in the order of the plan."
        ),
        "Write it as the template of spec-kit has it, or remove it if the order of the plan is meant.",
    )
}

impl StatedOrder {
    /// Gives the tasks the needs that the plan states between tasks.
    pub(super) fn add_needs(&self, drafts: &mut Drafts) {
        let named = drafts.tasks.iter().enumerate();
        let mut known: HashSet<(usize, TaskId)> = named
            .flat_map(|(at, draft)| draft.task.needs.iter().map(move |need| (at, need.id.clone())))
            .collect();
        for (task, need, place) in &self.needs {
            let id: TaskId = drafts.tasks[*need].task.id.clone();
            if known.insert((*task, id.clone())) {
                let needs = &mut drafts.tasks[*task].task.needs;
                needs.push(Need { id, reason: Reason::Declared, place: *place });
            }
        }
    }
}

fn phases(document: &Document<'_>, drafts: &Drafts) -> Vec<Phase> {
    let mut phases: Vec<Phase> = Vec::new();
    let mut last = None;
    for (at, draft) in drafts.tasks.iter().enumerate() {
        let section = draft.sections.last().copied();
        if phases.is_empty() || section != last {
            let title = section.map_or("", |block| document.text(&document.blocks[block].words));
            phases.push(Phase::new(title, &draft.task.text));
            last = section;
        }
        if let Some(phase) = phases.last_mut() {
            phase.tasks.push(at);
        }
    }
    phases
}

/// A line of the section, with where it stands.
type Line<'a> = (&'a str, Place);

/// The heading of the section and its lines, or why they are not read. Advice about parallel work is no order.
fn section<'a>(
    document: &Document<'a>,
    phases: &[Phase],
) -> Option<(usize, Result<Vec<Line<'a>>, String>)> {
    let is_heading = |at: &usize| {
        let block = &document.blocks[*at];
        let title = document.text(&block.words).to_lowercase();
        let own = !["cross", "external", "package"].iter().any(|word| title.contains(word));
        let names = title.contains("dependenc") || title.contains("execution order");
        block.level().is_some_and(|level| level <= 2) && names && own
    };
    let heading = (0..document.blocks.len()).find(is_heading).filter(|_| !phases.is_empty())?;
    let level = document.blocks[heading].level().unwrap_or(1);
    let mut lines = Vec::new();
    let mut is_advice = false;
    let mut stray = None;
    for block in &document.blocks[heading + 1..] {
        let text = document.text(&block.words);
        if block.level().is_some_and(|own| own <= level) {
            break;
        } else if block.level().is_some() {
            is_advice = statement::is_advice(text);
            continue;
        } else if is_advice {
            continue;
        }
        let place = document.lines.place(block.range.start);
        match block.kind {
            Kind::Item(_) if block.within.is_none() => lines.push((text, place)),
            Kind::Fence(_) => stray = stray.or(Some(place)),
            Kind::Paragraph if block.within.is_none() && statement::says_order(text) => {
                stray = stray.or(Some(place));
            }
            _ => {}
        }
    }
    let lines = match stray {
        Some(place) => Err(format!("line {} is not in the form of the template", place.line)),
        None => Ok(lines),
    };
    Some((heading, lines))
}

fn order(
    lines: &[Line<'_>],
    phases: Vec<Phase>,
    drafts: &Drafts,
    place: Place,
) -> Result<StatedOrder, String> {
    if phases.len() > PHASES {
        return Err(format!("the plan has more than {PHASES} phases"));
    }
    let ids = drafts.tasks.iter().enumerate();
    let positions: HashMap<&str, usize> =
        ids.map(|(at, draft)| (draft.task.id.as_str(), at)).collect();
    let mut stated: Vec<Option<BTreeSet<usize>>> = vec![None; phases.len()];
    let mut needs = Vec::new();
    let mut between_phases = 0;
    for (text, place) in lines {
        let unread = || format!("line {} is not in the form of the template", place.line);
        match Statement::read(text, &phases).ok_or_else(unread)? {
            Statement::Remark => {}
            Statement::Phases(of, on) => {
                for phase in of {
                    let on = on.of(phase, &phases);
                    between_phases += on.len();
                    if between_phases > PHASE_NEEDS {
                        return Err(format!("it has more than {PHASE_NEEDS} needs between phases"));
                    }
                    let own = stated[phase].get_or_insert_default();
                    own.extend(on.into_iter().filter(|need| *need != phase));
                }
            }
            Statement::Tasks { before, after } => {
                if needs.len() + before.len() * after.len() > NEEDS {
                    return Err(format!("it has more than {NEEDS} needs"));
                }
                let find = |id: &String| {
                    let known = positions.get(id.as_str()).copied();
                    known.ok_or_else(|| {
                        format!("line {} names `{id}`, which is no task", place.line)
                    })
                };
                let before = before.iter().map(find).collect::<Result<Vec<_>, _>>()?;
                for task in &after {
                    let task = find(task)?;
                    needs.extend(before.iter().map(|need| (task, *need, *place)));
                }
            }
        }
    }
    let stated: Vec<Vec<usize>> = stated
        .into_iter()
        .enumerate()
        .map(|(at, on)| on.map_or_else(|| (0..at).collect(), Vec::from_iter))
        .collect();
    let phases = sorted(phases, &stated).ok_or("its phases wait for each other in a cycle")?;
    Ok(StatedOrder { place, phases, needs })
}

/// The phases so that each stands behind those that it needs; none if they wait for each other. A phase that another needed one
/// waits for is not named again.
fn sorted(phases: Vec<Phase>, needs: &[Vec<usize>]) -> Option<Vec<(Vec<usize>, Vec<usize>)>> {
    let count = phases.len();
    // Everything that a phase waits for.
    let mut above: Vec<Vec<bool>> = vec![vec![false; count]; count];
    let mut places: Vec<Option<usize>> = vec![None; count];
    let mut order: Vec<usize> = Vec::new();
    while order.len() < count {
        let is_next = |at: &usize| {
            places[*at].is_none() && needs[*at].iter().all(|need| places[*need].is_some())
        };
        let next = (0..count).find(is_next)?;
        places[next] = Some(order.len());
        order.push(next);
        for need in &needs[next] {
            let far = above[*need].clone();
            above[next][*need] = true;
            above[next].iter_mut().zip(far).for_each(|(own, far)| *own |= far);
        }
    }
    let mut tasks: Vec<Vec<usize>> = phases.into_iter().map(|phase| phase.tasks).collect();
    let near = |at: usize| {
        let is_near = |need: &usize| !needs[at].iter().any(|other| above[*other][*need]);
        let mut near: Vec<usize> = needs[at]
            .iter()
            .filter(|need| is_near(need))
            .filter_map(|need| places[*need])
            .collect();
        near.sort_unstable();
        near.dedup();
        near
    };
    Some(order.into_iter().map(|at| (std::mem::take(&mut tasks[at]), near(at))).collect())
}

/// Whether a word is the id of a task.
fn is_id(word: &str) -> bool {
    words::is_spec_kit(word)
}

#[cfg(test)]
mod tests;
