//! Needs that come from order and shared files.

use sequester_core::graph::TaskGraph;
use sequester_core::plan::{self, Options};

use crate::fixture::{bytes, faults, find, read, tasks, text, waves};

#[test]
fn disjoint_write_sets_run_side_by_side_and_unknown_ones_are_barriers() {
    let options = Options { parallel: true, ..Options::default() };
    let parsed = plan::parse(bytes("superpowers/parallel.md"), &options);
    assert_eq!(parsed.faults, []);
    assert_eq!(
        tasks(&parsed.plan),
        [
            "1: a",
            "2: b",
            "3: a again <- 1=src/a.rs",
            "4: who knows <- 2 3",
            "5: c <- 4",
            "6: d <- 1! 4",
        ]
    );
    assert_eq!(waves(&parsed.plan), ["1 2", "3", "4", "5 6"]);
}

#[test]
fn without_parallel_each_task_needs_the_one_before() {
    let parsed = read("superpowers/parallel.md");
    assert_eq!(waves(&parsed.plan), ["1", "2", "3", "4", "5", "6"]);
}

#[test]
fn two_that_create_one_file_side_by_side_are_a_fault_and_others_are_ordered() {
    let parsed = read("native/conflict.md");
    assert_eq!(
        faults(&parsed.faults),
        ["16:18 WriteConflict Tasks `a` (line 6) and `b` both create `src/x.rs`."]
    );
    assert_eq!(tasks(&parsed.plan)[3], "d: Modifies as well <- c=src/y.rs");
}

#[test]
fn tasks_marked_parallel_may_not_write_one_file() {
    let parsed = read("speckit/conflict.md");
    assert_eq!(
        faults(&parsed.faults),
        [
            "6:34 WriteConflict Tasks `T001` (line 5) and `T002` are marked to run side by side and both write `src/app.ts`.",
            "11:23 BadPath `../outside/file.ts` is not a path inside the repository: the path leaves the repository.",
        ]
    );
}

#[test]
fn later_tracks_wait_for_a_file_they_share() {
    let plan = "### A.1.1 one\nwords\n### A.1.2 two\nUpdate `src/x.rs`.\n### B.1.1 three\nUpdate `src/x.rs`.\n";
    let parsed = text(plan);
    assert_eq!(parsed.faults, []);
    assert_eq!(tasks(&parsed.plan)[2], "B.1.1: three <- A.1.2=src/x.rs");
}

#[test]
fn ancestors_are_near_and_far_in_the_order_of_the_plan() {
    let parsed = read("taskmaster/plain.json");
    let (graph, _) = TaskGraph::new(&parsed.plan);
    let id = |name: &str| find(&parsed.plan, name).id.clone();
    let names = |ids: Vec<sequester_core::id::TaskId>| {
        ids.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(names(graph.ancestors(&id("3"))), ["1", "2.1", "2.2", "2.3"]);
    assert_eq!(names(graph.needs(&id("3"))), ["2.2", "2.3"]);
    assert_eq!(names(graph.dependants(&id("2.1"))), ["2.2", "2.3"]);
    assert_eq!((graph.wave(&id("1")), graph.wave(&id("3"))), (None, Some(2)));
}

#[test]
fn large_neighbouring_groups_keep_their_order_with_few_needs() {
    let mut plan = "# Tasks\n## Phase 1: a\n".to_owned();
    for number in 0..200 {
        let phase = if number == 100 { "## Phase 2: b\n" } else { "" };
        plan.extend([phase, &format!("- [ ] T{number:03} [P] Work\n")]);
    }
    let parsed = text(&plan);
    let needs: usize = parsed.plan.tasks.iter().map(|task| task.needs.len()).sum();
    assert!(needs < 400, "{needs}");
    let (graph, _) = TaskGraph::new(&parsed.plan);
    let last = parsed.plan.tasks[199].id.clone();
    assert_eq!(graph.ancestors(&last).len(), 101);
}

#[test]
fn a_done_task_in_the_middle_keeps_the_order_of_the_others() {
    let plan = text("### Task 1: a\n- [ ] x\n### Task 2: b\n- [x] x\n### Task 3: c\n- [ ] x\n").plan;
    assert_eq!(waves(&plan), ["1", "3"]);
    let (graph, _) = TaskGraph::new(&plan);
    assert_eq!(graph.wave(&find(&plan, "2").id), None);
}
