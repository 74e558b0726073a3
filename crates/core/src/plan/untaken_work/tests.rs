use crate::plan::{Options, Parsed, parse};

fn read(source: &str) -> Parsed {
    parse(source.as_bytes(), &Options::default())
}

/// The ids of the tasks, then each warning's code with its line.
fn told(source: &str) -> String {
    let parsed = read(source);
    assert_eq!(parsed.faults, [], "{source}");
    let ids: Vec<&str> = parsed.plan.tasks.iter().map(|task| task.id.as_str()).collect();
    let warnings = parsed.warnings.iter().map(|one| format!("{}@{}", one.code, one.place.line));
    format!("{} | {}", ids.join(" "), warnings.collect::<Vec<_>>().join(" "))
}

#[test]
fn a_gap_in_the_numbers_is_told() {
    let task = |number: u32| format!("### Task {number}: a\n\nDo it.\n\n");
    let plan = |numbers: &[u32]| numbers.iter().map(|number| task(*number)).collect::<String>();
    assert_eq!(told(&plan(&[1, 2, 3])), "1 2 3 | ");
    assert_eq!(told(&plan(&[1, 2, 5, 6])), "1 2 5 6 | SQ0116@9");
    assert_eq!(told(&plan(&[1, 3, 2])), "1 3 2 | ");
    assert_eq!(told("## 1. a\n- [ ] 1.1 b\n- [ ] 1.3 c\n"), "1.1 1.3 | SQ0116@3");
    assert_eq!(told("- [ ] T001 a\n- [ ] T003 b\n"), "T001 T003 | SQ0116@2");
}

#[test]
fn numbers_that_begin_again_by_tens_under_another_heading_are_no_gap() {
    let plan = "## Phase 1\n- [ ] T001 a\n- [ ] T002 b\n## Phase 2\n- [ ] T010 c\n- [ ] T012 d\n";
    assert_eq!(told(plan), "T001 T002 T010 T012 | SQ0116@6");
}

#[test]
fn a_task_inside_an_unbalanced_fence_is_found() {
    let plan =
        "### Task 1: a\n\n```md\nx\n\n### Task 2: b\n\n```sh\ny\n```\n\n### Task 3: c\n\nDo it.\n";
    assert_eq!(told(plan), "1 2 3 | SQ0118@6");
    let parsed = read(plan);
    assert_eq!(parsed.plan.tasks[1].text, "```sh\ny\n```");
    let closed = plan.replacen("```md\nx\n", "```md\nx\n```\n", 1);
    assert_eq!(told(&closed), "1 2 3 | ");
}

#[test]
fn a_fence_around_a_fence_of_its_own_length_hides_no_task() {
    for fence in ["```", "````"] {
        let shown = format!("{fence}md\n```sh\nx\n```\n{fence}");
        let plan = format!(
            "### Task 1: a\n\n{shown}\n\n### Task 2: b\n\n```sh\ny\n```\n\n### Task 3: c\n\nDo it.\n"
        );
        assert_eq!(told(&plan), "1 2 3 | ");
        let parsed = read(&plan);
        assert_eq!(parsed.plan.tasks[0].text, shown);
        assert_eq!(parsed.plan.tasks[1].text, "```sh\ny\n```");
    }
}

#[test]
fn examples_of_tasks_in_code_stay_code() {
    let example = "```md\n### Task 1: x\n### Task 2: y\n### Task 3: z\n```\n";
    assert_eq!(told(&format!("### Task 1: a\n\n{example}\n### Task 2: b\n\nDo it.\n")), "1 2 | ");
    assert_eq!(told(&format!("### Task 1: a\n\n{example}")), "1 | ");
}

#[test]
fn a_fence_that_is_not_closed_is_told() {
    assert_eq!(told("### Task 1: a\n\nDo it.\n\n```sh\nx\n"), "1 | SQ0118@5");
    let tail = "### Task 1: a\n\n```sh\nx\n\n### Task 2: b\n\nDo it.\n";
    assert_eq!(told(tail), "1 2 | SQ0118@6");
}

#[test]
fn open_boxes_that_no_task_takes_are_told_once_for_each_section() {
    let plan = "- [ ] 1. a\n  - [ ] step\n- [ ] 2. a\n- [ ] b\n- [x] c\n\n## Acceptance\n\n- [ ] d\n- [ ] e\n";
    assert_eq!(told(plan), "1 2 | SQ0117@4 SQ0117@9");
    let message = &read(plan).warnings[1].message;
    assert_eq!(
        message,
        "2 open checkboxes under `Acceptance` belong to no task and are not worked on."
    );
}

#[test]
fn a_numbered_section_without_tasks_is_told_beside_others_with_tasks() {
    let plan = "## Phase 1: a\n- [ ] T001 b\n## Phase 2: c\nBuild it.\n## Notes\nMore.\n";
    assert_eq!(told(plan), "T001 | SQ0119@3");
    assert_eq!(told(&plan.replace("Build it.\n", "")), "T001 | ");
}

#[test]
fn a_task_block_under_a_heading_without_an_id_is_told() {
    let front = "---\nsequester: 1\n---\n# P\n\n## [a] One\n\nDo it.\n\n";
    let plan = format!("{front}## [b c] Two\n\n```task\nneeds: [a]\n```\n\nDo it.\n");
    assert_eq!(told(&plan), "a | SQ0119@10");
}

#[test]
fn two_part_ids_are_tasks_beside_three_part_ones() {
    let plan = "# P\n\n## Phase A\n\n### A.1 x\n\n- [ ] **A.1.1** a\n- [ ] **A.1.2** b\n\n## Phase B\n\n- [ ] **B.1** c\n- [ ] **B.2** d\n";
    assert_eq!(told(plan), "A.1.1 A.1.2 B.1 B.2 | ");
    let parsed = read(plan);
    let needs = |at: usize| {
        parsed.plan.tasks[at].needs.iter().map(|need| need.id.as_str()).collect::<Vec<_>>()
    };
    assert_eq!([needs(0), needs(2), needs(3)], [vec![], vec!["A.1.2"], vec!["B.1"]]);
    let tracks = read(&plan.replace("Phase", "Track"));
    assert_eq!(tracks.plan.tasks[2].needs, []);
    let bare = plan.replace("## Phase B\n", "### A.2 y\n\nOnly words.\n\n## Phase B\n");
    assert_eq!(told(&bare), "A.1.1 A.1.2 B.1 B.2 | SQ0119@10");
}

#[test]
fn a_task_between_two_numbers_is_a_neighbour_and_no_child() {
    let task = |id: &str| format!("### Task {id}: a\n\nDo it.\n\n");
    assert_eq!(told(&format!("{}{}{}", task("1"), task("1.5"), task("2"))), "1 1.5 2 | ");
    assert_eq!(told(&format!("### Task 1: a\n\n{}{}", task("1.1"), task("1.2"))), "1.1 1.2 | ");
}

#[test]
fn a_range_is_one_task_for_each_id() {
    assert_eq!(told("- [ ] **E.1.1-1.3** a\n- [ ] E.1.4 b\n"), "E.1.1 E.1.2 E.1.3 E.1.4 | ");
    assert_eq!(told("### Task 1: a\n\nDo it.\n\n### Task 2: b\n\n2-3 days.\n"), "1 2 | ");
    let parsed = read("- [ ] T001-T003 [P] a\n- [ ] T004 b\n");
    let texts: Vec<(&str, &str)> =
        parsed.plan.tasks.iter().map(|task| (task.title.as_str(), task.text.as_str())).collect();
    assert_eq!(texts[1], ("a", "- [ ] T001-T003 [P] a"));
    assert_eq!(texts.len(), 4);
    assert_eq!(parsed.plan.tasks[3].needs.len(), 3);
}

#[test]
fn struck_and_cancelled_items_are_skipped_and_needs_on_them_are_met() {
    let plan = "- [ ] T001 a\n- [⛔] T002 b\n- [ ] ~~T003 c~~\n- [-] T004 d\n- [x] ~~T005 e~~\n- [ ] T006 f (depends on T002)\n";
    assert_eq!(told(plan), "T001 T005 T006 | SQ0119@2");
    let parsed = read(plan);
    let aside: Vec<_> =
        parsed.plan.aside.iter().map(|aside| (aside.place.line, aside.text.as_str())).collect();
    assert_eq!(aside, [(2, "b"), (3, "c"), (4, "d")]);
    assert_eq!(
        parsed.warnings[0].message,
        "Skipped, because struck or marked as cancelled: `T002` (line 2), `T003` (line 3), `T004` (line 4). A need on such a task counts as met."
    );
    assert_eq!(told("- [ ] 1. a\n- [-] 2. b\n  - [ ] 2.1 c\n"), "1 2.1 | ");
    assert_eq!(told("- [ ] 1. a\n- [⛔] 2. b\n  - [ ] 2.1 c\n"), "1 | SQ0119@3");
    let partly = "- [ ] T001 a\n- [ ] T002 ~~Use axios~~ Use fetch in src/api.ts\n";
    assert_eq!(told(partly), "T001 T002 | ");
}

#[test]
fn a_dash_in_a_box_is_read_as_open_with_a_warning_where_it_may_mean_either() {
    let plan = "## 1. a\n- [-] 1.1 b\n- [ ] 1.2 c\n- [-] 1.3 d\n";
    assert_eq!(told(plan), "1.1 1.2 1.3 | SQ0117@2");
    assert_eq!(
        read(plan).warnings[0].message,
        "`[-]` is read as open, so these tasks are worked on: `1.1` (line 2), `1.3` (line 4)."
    );
    assert_eq!(told("- [-] 1. a\n- [ ] 2. b\n"), "1 2 | ");
}

#[test]
fn a_list_of_ids_is_one_task_for_each_id() {
    assert_eq!(told("- [ ] T011 a\n- [ ] T012, T013 [P] both\n"), "T011 T012 T013 | ");
    let tracks = "- [ ] A.1.9 a\n- [ ] **A.1.10 / A.1.11** two\n- [ ] A.1.12-1.13, A.1.14 c\n";
    assert_eq!(told(tracks), "A.1.9 A.1.10 A.1.11 A.1.12 A.1.13 A.1.14 | ");
    let parsed = read("- [ ] T001, T002 [P] both\n- [ ] T003 c\n");
    let titles: Vec<&str> = parsed.plan.tasks.iter().map(|task| task.title.as_str()).collect();
    assert_eq!(titles, ["both", "both", "c"]);
    // Ids of tasks that stand elsewhere are spoken of.
    assert_eq!(
        told("- [ ] T001 a\n- [ ] T003 b\n- [ ] T002, T003 are done\n").split(' ').count(),
        5
    );
    let long = format!("- [ ] T001{} a\n", ", T002".repeat(50_000));
    assert_eq!(told(&long), "T001 | SQ0103@1");
}

#[test]
fn numbers_that_jump_far_in_one_series_or_begin_late_are_told() {
    let task = |number: u32| format!("### Task {number}: a\n\nDo it.\n\n");
    let plan = |numbers: &[u32]| numbers.iter().map(|number| task(*number)).collect::<String>();
    assert_eq!(told(&plan(&[1, 2, 40])), "1 2 40 | SQ0116@9");
    let message = read(&plan(&[8, 9, 12, 60])).warnings.remove(0).message;
    assert_eq!(message, "The tasks begin with `8`: no task `1` to `7` was found.");
    let message = read(&plan(&[1, 9, 12])).warnings.remove(1).message;
    assert_eq!(message, "Task `12` follows task `9`: no task `10` to `11` was found.");
    // Numbers of tickets.
    assert_eq!(told(&plan(&[116, 220, 431])), "116 220 431 | ");
    assert_eq!(told(&plan(&[3, 4])), "3 4 | SQ0116@1");
    assert_eq!(told(&plan(&[0, 1])), "0 1 | ");
    assert_eq!(told(&plan(&[12, 13])), "12 13 | ");
    assert_eq!(told(&format!("# P\n\nContinues from task 2.\n\n{}", plan(&[3, 4]))), "3 4 | ");
    assert_eq!(told("- [ ] T004 a\n- [ ] T005 b\n"), "T004 T005 | SQ0116@1");
    assert_eq!(told("- [ ] 3. a\n- [ ] 4. b\n"), "3 4 | ");
}

#[test]
fn numbers_far_apart_are_told_without_naming_what_is_between() {
    let plan = |one: &str, two: &str| {
        format!(
            "---\nsequester: 1\n---\n# P\n\n## [{one}] One\n\nDo it.\n\n## [{two}] Two\n\nDo it.\n"
        )
    };
    assert_eq!(told(&plan("a1", "a40000000")), "a1 a40000000 | ");
    assert_eq!(told(&plan("a4294967295", "a7")), "a4294967295 a7 | ");
    assert_eq!(told(&plan("a1", "a3")), "a1 a3 | SQ0116@10");
    let long = [format!("a{}1", "0".repeat(70_000)), format!("a{}3", "0".repeat(70_000))];
    assert_eq!(told(&plan(&long[0], &long[1])), format!("{} {} | ", long[0], long[1]));
}

#[test]
fn a_last_task_inside_an_unbalanced_fence_is_found() {
    let plan = "### Task 1: a\n\n```sh\nx\n\n### Task 2: b\n\n```sh\ny\n```\n\nMore.\n";
    assert_eq!(told(plan), "1 2 | SQ0118@6");
    assert_eq!(read(plan).plan.tasks[1].text, "```sh\ny\n```\n\nMore.");
    let three = plan.replace("More.", "### Task 3: c\n\nDo it.");
    assert_eq!(told(&three), "1 2 3 | SQ0118@6");
}

#[test]
fn the_next_task_inside_a_closed_fence_stays_code_with_a_warning() {
    let plan = "### Task 1: a\n\n```md\n### Task 2: b\n```\n\nMore.\n";
    assert_eq!(told(plan), "1 | SQ0118@4");
    let nested = "### Task 1: a\n\n````md\n### Task 2: b\n```sh\nx\n```\n````\n";
    assert_eq!(told(nested), "1 | SQ0118@4");
    assert_eq!(told(&plan.replace("Task 2", "Task 5")), "1 | ");
}

#[test]
fn the_share_of_the_text_that_reaches_a_task_is_counted_without_white_space() {
    let percent = |source: &str| read(source).plan.reached_percent(source.as_bytes());
    assert_eq!(percent("### Task 1: a\n\nDo it.\n"), 100);
    assert_eq!(percent("### Task 1: a\nDo it now.\n## Rest\n0123456789abcdefghi\n"), 41);
    assert_eq!(percent("\u{feff}# P\n\n**Goal:** g\n\n### Task 1: a\n\nDo it.\n"), 100);
    let json = "{\"tasks\": [{\"id\": 1, \"title\": \"a\", \"details\": \"Do it.\"}]}";
    assert_eq!(percent(json), 76);
}
