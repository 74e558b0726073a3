//! Needs that come from order and shared files.

use sequester_core::graph::TaskGraph;
use sequester_core::id::TaskId;
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
fn two_that_write_one_file_side_by_side_are_put_in_order_and_a_warning_says_so() {
    let parsed = read("native/conflict.md");
    assert_eq!(
        faults(&parsed.warnings),
        [
            "16:18 WriteConflict Tasks `a` (line 6) and `b` both create `src/x.rs`. `b` starts after `a`."
        ]
    );
    assert_eq!(parsed.faults, []);
    assert_eq!(tasks(&parsed.plan)[1], "b: Creates too <- a=src/x.rs");
    assert_eq!(tasks(&parsed.plan)[3], "d: Modifies as well <- c=src/y.rs");
}

#[test]
fn tasks_marked_parallel_that_write_one_file_are_put_in_order() {
    let parsed = read("speckit/conflict.md");
    assert_eq!(
        faults(&parsed.warnings),
        [
            "6:34 WriteConflict Tasks `T001` (line 5) and `T002` are marked to run side by side and both write `src/app.ts`. \
             `T002` starts after `T001`.",
        ]
    );
    assert_eq!(faults(&parsed.faults), Vec::<String>::new());
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
    let names = |ids: Vec<TaskId>| ids.iter().map(ToString::to_string).collect::<Vec<_>>();
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
    assert_eq!(tasks(&parsed.plan)[199], "T199: Work <- T000..T099");
    let (graph, faults) = TaskGraph::new(&parsed.plan);
    assert_eq!(faults, []);
    let ids = |range: std::ops::Range<usize>| {
        parsed.plan.tasks[range].iter().map(|task| task.id.clone()).collect::<Vec<_>>()
    };
    for last in ids(100..200) {
        assert_eq!(graph.ancestors(&last), ids(0..100));
        assert_eq!(graph.needs(&last), ids(0..100));
    }
    assert_eq!(graph.dependants(&ids(0..1)[0]), ids(100..200));
    assert_eq!(graph.waves(), [ids(0..100), ids(100..200)]);
}

#[test]
fn in_phases_no_required_task_waits_for_an_optional_one() {
    let plan = text(
        "## Phase 1\n- [ ] T001 a\n- [ ]* T002 b\n- [ ] T003 c\n- [ ] T004 [P] d\n- [ ]* T005 [P] e\n## Phase 2\n- [ ] T006 f\n- [ ]* T007 g\n",
    )
    .plan;
    assert_eq!(
        tasks(&plan),
        [
            "T001: a",
            "T002: b <- T001 (optional)",
            "T003: c <- T001",
            "T004: d <- T003",
            "T005: e <- T003 (optional)",
            "T006: f <- T004",
            "T007: g <- T006 (optional)",
        ]
    );
}

#[test]
fn a_need_on_a_parent_is_a_need_on_all_that_is_last_beneath_it() {
    let source = "### Task 1: base\n#### Task 1.1: one\n**Files:**\n- Create: `a.rs`\n\nx\n#### Task 1.2: two\n**Files:**\n- Create: `b.rs`\n\ny\n\
        ### Task 2: user\n**Files:**\n- Create: `c.rs`\n\nDepends on Task 1.\n";
    let options = Options { parallel: true, ..Options::default() };
    let parsed = plan::parse(source.as_bytes(), &options);
    assert_eq!(tasks(&parsed.plan)[2], "2: user <- 1.1! 1.2!");
    assert_eq!(tasks(&text(source).plan)[2], "2: user <- 1.2!");
    let kiro = "- [ ] 1. a\n  - [ ] 1.1 b\n  - [ ]* 1.2 c\n- [ ] 2. d\n  - depends on 1\n";
    assert_eq!(tasks(&text(kiro).plan)[2], "2: d <- 1.1!");
}

#[test]
fn very_many_needs_on_a_parent_of_very_many_tasks_stay_few() {
    let subtasks = (1..=3_000).map(|id| format!("{{\"id\": {id}, \"title\": \"x\"}}"));
    let users =
        (2..=3_001).map(|id| format!("{{\"id\": {id}, \"title\": \"y\", \"dependencies\": [1]}}"));
    let source = format!(
        "{{\"tasks\": [{{\"id\": 1, \"subtasks\": [{}]}}, {}]}}",
        subtasks.collect::<Vec<_>>().join(","),
        users.collect::<Vec<_>>().join(",\n")
    );
    let parsed = text(&source);
    assert_eq!(parsed.faults, []);
    let needs: usize = parsed.plan.tasks.iter().map(|task| task.needs.len()).sum();
    assert_eq!(needs, 3_000);
    assert_eq!(tasks(&parsed.plan)[5_999], "3001: y <- 1!");
    let (graph, faults) = TaskGraph::new(&parsed.plan);
    assert_eq!(faults, []);
    assert_eq!(graph.waves().iter().map(Vec::len).collect::<Vec<_>>(), [3_000, 3_000]);
    assert_eq!(graph.ancestors(&find(&parsed.plan, "3001").id).len(), 3_000);
}

#[test]
fn a_circle_through_a_parent_of_very_many_tasks_is_named() {
    let subtasks: Vec<String> = (1..=70)
        .map(|number| format!("{{\"id\": {number}, \"title\": \"x\", \"dependencies\": [200]}}"))
        .collect();
    let source = format!(
        "[{{\"id\": 1, \"subtasks\": [{}]}}, {{\"id\": 200, \"title\": \"y\", \"dependencies\": [1]}}]",
        subtasks.join(", ")
    );
    let parsed = text(&source);
    let (graph, found) = TaskGraph::new(&parsed.plan);
    assert!(faults(&found)[0].contains("Cycle Tasks need each other in a circle: `1.1` needs `200` (line 1), `200` needs `1` (line 1)."));
    assert_eq!(graph.waves().concat().len(), 71);
}

#[test]
fn a_done_task_in_the_middle_keeps_the_order_of_the_others() {
    let plan =
        text("### Task 1: a\n- [ ] x\n### Task 2: b\n- [x] x\n### Task 3: c\n- [ ] x\n").plan;
    assert_eq!(waves(&plan), ["1", "3"]);
    let (graph, _) = TaskGraph::new(&plan);
    assert_eq!(graph.wave(&find(&plan, "2").id), None);
}

#[test]
fn a_later_task_in_a_list_of_consumed_interfaces_is_no_need() {
    let plan = |line: &str| {
        let parsed = text(&format!("### Task 1: a\n\n{line}\n\nDo a.\n\n### Task 2: b\n\nDo b.\n"));
        TaskGraph::new(&parsed.plan).1.len()
    };
    assert_eq!(plan("**Interfaces:**\n- Consumes: `Store` (Task 2 refines it)"), 0);
    assert_eq!(plan("**Interfaces:**\n- Consumes: `Store` of Task 9"), 0);
    assert_eq!(plan("**Depends on:** Task 2"), 0);
}

#[test]
fn optional_tasks_in_no_wave_need_all_required_ones_before_them_with_few_needs() {
    let boxes = (1..=200).map(|at| format!("- [ ] {at}. a\n- [ ]* {at}000. b\n"));
    let ids: Vec<String> = (1..=200).map(|at| format!("\"{at}\"")).collect();
    let plan = format!(
        "{}\n## Task Dependency Graph\n\n```json\n{{\"waves\": [{{\"tasks\": [{}]}}]}}\n```\n",
        boxes.collect::<String>(),
        ids.join(", ")
    );
    let parsed = text(&plan);
    assert_eq!(parsed.faults, []);
    let (graph, faults) = TaskGraph::new(&parsed.plan);
    assert_eq!(faults, []);
    for at in [1, 64, 65, 127, 128, 200] {
        let optional = &find(&parsed.plan, &format!("{at}000")).id;
        let before: Vec<TaskId> = (1..=at).map(|at| TaskId::new(at.to_string())).collect();
        assert_eq!(graph.ancestors(optional), before, "{at}");
        assert_eq!(graph.needs(optional), before, "{at}");
    }
    let members: usize = parsed.plan.groups.values().map(Vec::len).sum();
    assert!(members < 200 * 8, "{members}");
}

#[test]
fn a_phase_that_waits_for_many_phases_has_few_needs() {
    let phase = |phase: usize| {
        let tasks = (0..40).map(|at| format!("- [ ] T{:03} [P] Work\n", phase * 40 + at));
        format!("## Phase {phase}: p\n\n{}\n", tasks.collect::<String>())
    };
    let phases: String = (1..=5).map(phase).collect();
    let lines = "- Phases 2-3: No dependencies\n- Phase 4: Depends on Phases 1-3\n- Phase 5: Depends on Phases 1, 3\n";
    let parsed = text(&format!("{phases}## Dependencies\n\n{lines}"));
    assert_eq!((&parsed.faults, &parsed.warnings), (&vec![], &vec![]));
    let (graph, _) = TaskGraph::new(&parsed.plan);
    let ids = |range: std::ops::Range<usize>| {
        parsed.plan.tasks[range].iter().map(|task| task.id.clone()).collect::<Vec<_>>()
    };
    for (first, before) in [(120, ids(0..120)), (160, [ids(0..40), ids(80..120)].concat())] {
        for task in ids(first..first + 40) {
            assert_eq!(
                (graph.needs(&task), graph.ancestors(&task)),
                (before.clone(), before.clone())
            );
        }
    }
    let needs: usize = parsed.plan.tasks.iter().map(|task| task.needs.len()).sum();
    assert_eq!(needs, 80);
}
