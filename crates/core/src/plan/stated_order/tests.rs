use crate::fault::Code;
use crate::graph::TaskGraph;
use crate::id::TaskId;
use crate::plan::{Options, parse};

const PLAN: &str = "# Tasks: x\n\n## Phase 1: Setup (Shared Infrastructure)\n\n- [ ] T001 a\n\n## Phase 2: Foundational (Blocking Prerequisites)\n\n- [ ] T002 b\n\n## Phase 3: User Story 1 - One (Priority: P1) MVP\n\n### Tests for User Story 1\n\n- [ ] T003 [P] [US1] c\n- [ ] T004 [US1] d\n\n## Phase 4: User Story 2 - Two (Priority: P2)\n\n- [ ] T005 [US2] e\n- [ ] T006 [US2] f\n\n## Phase N: Polish & Cross-Cutting Concerns\n\n- [ ] T007 g\n\n---\n\n";

const TEMPLATE: &str = "## Dependencies & Execution Order\n\n### Phase Dependencies\n\n- **Setup (Phase 1)**: No dependencies - can start immediately\n- **Foundational (Phase 2)**: Depends on Setup completion - BLOCKS all user stories\n- **User Stories (Phase 3+)**: All depend on Foundational phase completion\n  - User stories can then proceed in parallel (if staffed)\n  - Or sequentially in priority order (P1 → P2 → P3)\n- **Polish (Final Phase)**: Depends on all desired user stories being complete\n\n### User Story Dependencies\n\n- **User Story 1 (P1)**: Can start after Foundational (Phase 2) - No dependencies on other stories\n- **User Story 2 (P2)**: Can start after Foundational (Phase 2) - May integrate with US1 but should be independently testable\n\n### Within Each User Story\n\n- Tests (if included) MUST be written and FAIL before implementation\n- Models before services\n\n### Parallel Opportunities\n\n- All Setup tasks marked [P] can run in parallel\n\n---\n\n## Parallel Example: User Story 1\n\n```bash\nTask: \"x\"\n```\n";

const IN_ORDER: &str = "T001, T002, T003, T004, T005, T006, T007";

/// The waves that come out, and the codes of the warnings.
fn waves(section: &str) -> (String, Vec<String>) {
    let parsed = parse(format!("{PLAN}{section}").as_bytes(), &Options::default());
    let (graph, faults) = TaskGraph::new(&parsed.plan);
    assert_eq!((parsed.faults, faults), (vec![], vec![]));
    let waves = graph
        .waves()
        .into_iter()
        .map(|wave| wave.iter().map(TaskId::as_str).collect::<Vec<_>>().join(" "));
    let told = parsed.warnings.iter().map(|one| format!("{}@{}", one.code, one.place.line));
    (waves.collect::<Vec<_>>().join(", "), told.collect())
}

#[test]
fn stories_of_the_template_run_side_by_side() {
    let side = "T001, T002, T003 T005, T004 T006, T007";
    assert_eq!(waves(TEMPLATE), (side.to_owned(), vec![]));
    assert_eq!(waves(&TEMPLATE.replace('\n', "\r\n")), (side.to_owned(), vec![]));
    assert_eq!(waves(""), (IN_ORDER.to_owned(), vec![]));
}

#[test]
fn a_story_may_need_another() {
    let needs = "Depends on US1 completion - shares its tables";
    let section =
        TEMPLATE.replace("Can start after Foundational (Phase 2) - May", &format!("{needs}. May"));
    assert_eq!(waves(&section), (IN_ORDER.to_owned(), vec![]));
    for line in ["Phase 2 only (independent of US1)", "Phase 1 + Phase 2", "Phases 1–2"] {
        let section = format!(
            "## Dependencies\n\n- **US2: Two (Phase 4)**: Depends on {line}\n- **Polish**: Depends on all prior phases\n"
        );
        assert_eq!(waves(&section).0, "T001, T002, T003 T005, T004 T006, T007", "{line}");
    }
}

#[test]
fn lines_between_tasks_are_needs() {
    let lines = "## Dependencies\n\n- T001 blocks T002, T003\n- Tests (T003) before implementation (T004-T006)\n- T007 depends on T006\n";
    let parsed = parse(format!("{PLAN}{lines}").as_bytes(), &Options::default());
    let needs = |at: usize| {
        let needs = parsed.plan.tasks[at].needs.iter();
        needs.map(|need| need.id.as_str()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!([needs(2), needs(4), needs(6)], ["T001 T002", "T003 T004", "T006"]);
    assert_eq!(parsed.warnings, []);
}

#[test]
fn a_section_that_is_not_wholly_read_is_told_and_the_order_of_the_plan_holds() {
    let line = PLAN.lines().count() + 1;
    for section in [
        TEMPLATE.replace("Depends on Setup completion", "Depends on the weather"),
        TEMPLATE.replace("Depends on Setup completion", "Depends on Phase 9"),
        TEMPLATE.replace("Depends on Setup completion", "Depends on US2"),
        TEMPLATE.replace("No dependencies on other stories", "also depends on US2"),
        "## Dependencies\n\n```text\nPhase 1 -> Phase 2\n```\n".to_owned(),
        "## Dependencies\n\n- T009 before T001\n".to_owned(),
        "## Dependencies\n\n- T005 before T001\n".to_owned(),
        "## Dependencies\n\n- T001 → T002 → T003\n".to_owned(),
        "## Dependencies\n\nUser Story 2 depends on User Story 1.\n".to_owned(),
    ] {
        let (order, told) = waves(&section);
        assert_eq!((order.as_str(), told), (IN_ORDER, vec![format!("SQ0120@{line}")]), "{section}");
    }
}

#[test]
fn stories_that_write_one_file_are_put_in_order() {
    let plan = PLAN
        .replace("[US1] d", "[US1] Update `src/a.rs`")
        .replace("[US2] e", "[US2] Update `src/a.rs`");
    let parsed = parse(format!("{plan}{TEMPLATE}").as_bytes(), &Options::default());
    let needs: Vec<&str> = parsed.plan.tasks[4].needs.iter().map(|need| need.id.as_str()).collect();
    assert_eq!(
        (needs, parsed.warnings.iter().any(|one| one.code == Code::UnusedOrder)),
        (vec!["T002", "T004"], false)
    );
}

#[test]
fn an_order_that_is_stated_too_often_is_not_used() {
    let side = waves(
        "## Dependencies\n\n- US2 depends on Phase 2\n- Polish depends on all prior phases\n",
    );
    let again = "- US2 US2 US2 depends on Phase 2, 2, 2\n".repeat(60);
    let section = format!("## Dependencies\n\n{again}- Polish depends on all prior phases\n");
    assert_eq!((waves(&section), side.1.len()), (side, 0));
    let line = PLAN.lines().count() + 1;
    let told = vec![format!("SQ0120@{line}")];
    let many = format!("- Phase {} depends on Phase 1\n", "4 ".repeat(300));
    for lines in [many, "- Phase 1+ depends on Phase 1+\n".repeat(20_000)] {
        let found = waves(&format!("## Dependencies\n\n{lines}"));
        assert_eq!(found, (IN_ORDER.to_owned(), told.clone()));
    }
}
