use super::*;
use crate::plan::{Format, Task};

fn plan(needs: &[&[usize]]) -> Plan {
    let mut plan = Plan::new(Format::Native);
    for (index, needs) in needs.iter().enumerate() {
        let need = |need: &usize| Need {
            id: TaskId::new(need.to_string()),
            reason: Reason::Declared,
            place: crate::fault::Place::default(),
        };
        plan.tasks.push(Task {
            id: TaskId::new(index.to_string()),
            needs: needs.iter().map(need).collect(),
            ..Task::default()
        });
    }
    plan
}

fn reaches(graph: &TaskGraph, task: usize, ancestor: usize) -> bool {
    graph.reaches(task, ancestor, &mut 1_000).unwrap()
}

#[test]
fn reaching_agrees_with_the_ancestors() {
    let plan = plan(&[&[], &[0], &[0], &[1, 2], &[], &[4, 2], &[3, 5], &[6]]);
    let (graph, faults) = TaskGraph::new(&plan);
    assert_eq!(faults, []);
    for task in 0..8 {
        let ancestors = graph.ancestors(&plan.tasks[task].id);
        for other in 0..8 {
            let expected = ancestors.contains(&plan.tasks[other].id);
            assert_eq!(reaches(&graph, task, other), expected, "{task} {other}");
        }
    }
}

#[test]
fn a_search_that_runs_out_of_steps_says_so() {
    let (graph, _) = TaskGraph::new(&plan(&[&[], &[], &[0, 1], &[0], &[2, 3]]));
    assert_eq!(graph.reaches(4, 1, &mut 0), None);
}

#[test]
fn circles_are_cut_and_the_rest_still_has_waves() {
    let (graph, faults) = TaskGraph::new(&plan(&[&[2], &[0], &[1], &[2], &[4]]));
    assert_eq!(faults.len(), 2);
    assert!(faults.iter().all(|fault| fault.code == Code::Cycle));
    assert_eq!(graph.waves().concat().len(), 5);
}

#[test]
fn what_a_circle_keeps_from_starting_is_known() {
    let plan = plan(&[&[2], &[0], &[1], &[2], &[], &[4], &[3, 4]]);
    let (graph, _) = TaskGraph::new(&plan);
    let held: Vec<bool> = plan.tasks.iter().map(|task| graph.is_held(&task.id)).collect();
    assert_eq!(held, [true, true, true, true, false, false, true]);
}

#[test]
fn a_circle_through_a_done_task_is_no_fault() {
    let mut plan = plan(&[&[2], &[0], &[1]]);
    plan.tasks[1].done = true;
    let (graph, faults) = TaskGraph::new(&plan);
    assert_eq!(faults, []);
    assert_eq!(graph.waves().concat().len(), 2);
}

#[test]
fn very_many_circles_are_counted_and_not_all_named() {
    let needs: Vec<Vec<usize>> = (0..300).map(|task| vec![(task + 1) % 300, 0]).collect();
    let needs: Vec<&[usize]> = needs.iter().map(Vec::as_slice).collect();
    let (graph, faults) = TaskGraph::new(&plan(&needs));
    assert_eq!(faults.len(), 100);
    assert!(faults.iter().any(|fault| fault.hint.contains("more circles")));
    assert_eq!(graph.waves().concat().len(), 300);
}
