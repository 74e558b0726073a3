//! Shapes of plans that people write, and that were once refused or read wrongly.

use sequester_core::fault::Code;
use sequester_core::graph::TaskGraph;
use sequester_core::path::RepoPath;
use sequester_core::plan::{self, Format, Options, Parsed, Presence, check};

use crate::fixture::{faults, files, find, hints, tasks, text};

fn named(source: &str, file_name: &str) -> Parsed {
    let options = Options { file_name: file_name.to_owned(), ..Options::default() };
    plan::parse(source.as_bytes(), &options)
}

fn checked(source: &str, base: &[&str]) -> Vec<String> {
    let plan = text(source).plan;
    let paths: Vec<RepoPath> = base.iter().map(|path| RepoPath::parse(path).unwrap()).collect();
    let presence =
        |path: &RepoPath| if paths.contains(path) { Presence::File } else { Presence::Absent };
    faults(&check(&plan, &TaskGraph::new(&plan).0, &presence, &paths))
}

#[test]
fn a_relative_path_is_taken_for_the_file_that_it_means() {
    let source = "### Task 1: a\n**Files:**\n- Modify: `web/locales/en.json`, `ru.json`\n- Modify: `only.rs`\n- Modify: `lib.rs`\n- Modify: `gone.rs`\n\nx\n";
    let base = [
        "web/locales/en.json",
        "web/locales/ru.json",
        "api/ru.json",
        "deep/only.rs",
        "a/lib.rs",
        "b/lib.rs",
    ];
    let told = checked(source, &base);
    let ends: Vec<&str> =
        told.iter().map(|one| one.split_once("does not exist").unwrap().1).collect();
    assert_eq!(
        ends,
        [
            ". `web/locales/ru.json` is taken for it.",
            ". `deep/only.rs` is taken for it.",
            ", and several files end with it. It is taken as a hint.",
            " and which no task creates. The task starts without it.",
        ]
    );
}

#[test]
fn a_file_that_an_earlier_task_makes_in_its_words_is_not_missed() {
    let source = "### Task 1: a\n**Files:**\n- Modify: `a.rs`\n- Create: `app/src/new.rs`\n\nCreate `build/out.txt` with the script.\n\
        ### Task 2: b\n**Files:**\n- Modify: `out.txt`\n- Modify: `src/new.rs`\n- Modify: `script.sh`\n\nx\n";
    let told = checked(source, &["a.rs"]);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("`script.sh`"), "{told:?}");
}

#[test]
fn a_remark_holds_for_its_own_path_and_a_code_span_is_a_whole_path() {
    let source = "### Task 1: a\n**Files:** `src/cli.rs`, `src/new.rs` (new)\n\nx\n\
        ### Task 2: b\n**Files:**\n- Modify: `My App/Views/A.swift`\n- Create: `My App/B.swift:39-46`\n- Modify: `c.rs`, `d.rs` (new)\n\nx\n";
    let plan = text(source).plan;
    assert_eq!(files(&plan, "1"), ["Change src/cli.rs", "Create src/new.rs"]);
    assert_eq!(
        files(&plan, "2"),
        [
            "Modify My App/Views/A.swift",
            "Create My App/B.swift:39-46",
            "Modify c.rs",
            "Create d.rs"
        ]
    );
}

#[test]
fn boxes_that_begin_with_a_date_or_a_count_have_no_id() {
    let source = "# Plan\n\n## Progress\n\n- [x] (2026-03-08T00:00Z) Began\n- [ ] (2026-03-08T01:00Z) 404 handling\n- [ ] 01-setup.md\n";
    let parsed = text(source);
    assert_eq!((parsed.faults, parsed.plan.format), (vec![], Format::List));
    assert_eq!(TaskGraph::new(&parsed.plan).1, []);
    assert_eq!(parsed.plan.tasks.len(), 3);
}

#[test]
fn boxes_in_bold_numbered_items_are_boxes() {
    let parsed =
        text("# Tasks\n\n1. **[x] Modify UI** - done\n2. [x] Adjust\n3. **[ ] Add tests**\n");
    assert_eq!(
        tasks(&parsed.plan),
        ["1: Modify UI - done (done)", "2: Adjust <- 1 (done)", "3: Add tests <- 2"]
    );
}

#[test]
fn ids_with_hyphens_are_those_of_spec_kit() {
    let parsed = text(
        "## Phase 1\n\n- [ ] T-001 a\n- [ ] T-002 [P] b\n- [ ] T-003 [P] c\n- [ ] T-M1-001 d (depends on T-002)\n",
    );
    assert_eq!((parsed.faults, parsed.plan.format), (vec![], Format::SpecKit));
    assert_eq!(
        tasks(&parsed.plan),
        [
            "T-001: a",
            "T-002: b <- T-001",
            "T-003: c <- T-001",
            "T-M1-001: d (depends on T-002) <- T-002! T-003",
        ]
    );
}

#[test]
fn boxes_of_tasks_md_need_no_heading() {
    for source in ["- [x] a\n- [ ] b\n", "# Tasks\n\n- [x] a\n- [ ] b\n"] {
        let parsed = named(source, "tasks.md");
        assert_eq!((parsed.faults, parsed.plan.format), (vec![], Format::OpenSpec), "{source}");
        assert_eq!(tasks(&parsed.plan), ["1.1: a (done)", "1.2: b <- 1.1"], "{source}");
    }
    let criteria = named("## Acceptance\n\n- [ ] a\n", "tasks.md");
    assert_eq!((criteria.plan.tasks.len(), criteria.faults[0].code), (0, Code::NoTasks));
}

#[test]
fn tasks_in_the_rows_of_a_table_are_told() {
    let row = |row: u32| format!("| T-{row:03} | Do {row} |\n");
    let rows: String = (1..=9).map(row).collect();
    let source = format!(
        "# Tasks\n\n| Id | What |\n|---|---|\n{rows}\n## Checklist\n\n- [ ] Read it\n- [ ] Sign it\n"
    );
    let parsed = named(&source, "tasks.md");
    assert_eq!(parsed.plan.format, Format::List);
    let codes: Vec<Code> = parsed.warnings.iter().map(|one| one.code).collect();
    assert!(codes.contains(&Code::GuessedShape), "{codes:?}");
    let told = faults(&parsed.warnings);
    let rows = "5:1 UntakenTask 9 rows of a table look like tasks (`T-001` to `T-009`). They are not taken as tasks.";
    assert!(told.iter().any(|one| one == rows), "{told:?}");
    let taken =
        text("| Id | For |\n|---|---|\n| T001 | x |\n| T002 | y |\n\n- [ ] T001 a\n- [ ] T002 b\n");
    assert_eq!(taken.warnings, []);
}

#[test]
fn a_story_has_its_tasks_in_headings_or_is_told_to_have_none() {
    let story = |tasks: &str| {
        text(&format!(
            "# Story 1.2: Login\n\n## Acceptance Criteria\n\n1. **Works**\n   - [ ] it opens\n\n{tasks}"
        ))
    };
    let parsed = story(
        "## Tasks / Subtasks\n\n### Task 1: Model (AC: 1) ✅\n\n- **Do:** a\n\n### Task 2: Page\n\n- b\n",
    );
    assert_eq!((&parsed.faults, parsed.plan.format), (&vec![], Format::Bmad));
    assert_eq!(tasks(&parsed.plan), ["1: Model (AC: 1) ✅ (done)", "2: Page <- 1"]);
    assert_eq!(parsed.warnings, []);
    let none = story("## Dev Notes\n\n- [ ] a remark\n");
    assert_eq!((none.plan.tasks.len(), none.plan.format), (0, Format::Bmad));
    assert!(none.faults[0].message.contains("BMAD story without a section"), "{:?}", none.faults);
}

#[test]
fn brackets_with_a_letter_are_no_checkbox() {
    let parsed = text(
        "## Notes\n\n- [P] tasks = different files, no dependencies\n\n## Phase 1\n\n- [ ] T001 a\n- [ ] T002 b\n",
    );
    assert_eq!((parsed.plan.tasks.len(), parsed.warnings), (2, vec![]));
}

#[test]
fn an_extension_is_no_file() {
    let plan = text("- [ ] T001 [P] Add `.ics` export in src/a.ts\n- [ ] T002 [P] Parse `.ics` in src/b.ts and `.env.example`\n").plan;
    assert_eq!(hints(&plan, "T001"), ["Change src/a.ts"]);
    assert_eq!(hints(&plan, "T002"), ["Change src/b.ts", "Change .env.example"]);
    assert_eq!(tasks(&plan)[1], "T002: Parse `.ics` in src/b.ts and `.env.example`");
}

#[test]
fn user_stories_in_json_are_read_in_order_and_other_json_is_named_by_its_keys() {
    let source = r#"{"project": "Shop", "userStories": [
        {"id": "US-002", "title": "Pay", "acceptanceCriteria": ["It pays", "It tells"], "notes": "By card.", "priority": 2, "passes": false},
        {"id": "US-001", "title": "Cart", "description": "A cart.", "priority": 1, "passes": true}]}"#;
    let parsed = text(source);
    assert_eq!((&parsed.faults, parsed.plan.title.as_str()), (&vec![], "Shop"));
    assert_eq!(tasks(&parsed.plan), ["US-001: Cart (done)", "US-002: Pay <- US-001"]);
    assert_eq!(
        parsed.plan.tasks[1].text,
        "Acceptance criteria:\n- It pays\n- It tells\n\nNotes:\nBy card."
    );
    assert_eq!(
        faults(&text("{\"name\": \"x\", \"features\": []}").faults),
        ["1:1 NoTasks This JSON has no tasks. Its keys are `features`, `name`."]
    );
}

#[test]
fn texts_of_task_master_may_be_lists_or_objects() {
    let source = r#"{"tasks": [{"id": 1, "title": "a", "acceptanceCriteria": "- It pays", "details": ["x", {"y": 1}]}]}"#;
    let parsed = text(source);
    assert_eq!(parsed.faults, vec![]);
    let wanted = "Details:\n- x\n- {\"y\":1}\n\nAcceptance criteria:\n- It pays";
    assert_eq!(parsed.plan.tasks[0].text, wanted);
}

#[test]
fn a_restated_parent_is_a_parent_and_an_equal_copy_counts_once() {
    let source = "# Plan\n\n- [x] 11. Check\n- [ ] 11. Check all\n  - [ ] 11.1 one\n  - [ ] 11.2 two\n- [ ] 12. End\n  - depends on 11\n- [ ] 12. End\n  - depends on 11\n";
    let parsed = text(source);
    assert_eq!((&parsed.faults, TaskGraph::new(&parsed.plan).1), (&vec![], vec![]));
    assert_eq!(tasks(&parsed.plan), ["11.1: one", "11.2: two <- 11.1", "12: End <- 11.2!"]);
    let told: Vec<Code> = parsed.warnings.iter().map(|one| one.code).collect();
    assert_eq!(told, [Code::DoubledId; 2], "{:?}", parsed.warnings);
}

/// A plan of Kiro's kind with the headings of superpowers, as people have it.
const SECTIONS: &str = "## Backend\n\n### Task 1: Connect\n\n**Description**: Set it up.\n\n**Subtasks**:\n- [ ] 1.1 Create the pool\n- [ ] 1.2 Add the variables\n\n**Files to Create**:\n- `config/database.js`\n\n**Files to Modify**:\n- `.env` (add the host)\n- `old.js` (delete)\n\n**Acceptance Criteria**:\n- It connects.\n\n---\n\n### Task 2: Serve\n\n**Subtasks**:\n- [ ] 2.1 Serve it\n\n**Acceptance Criteria**:\n- It serves.\n";

#[test]
fn a_section_with_files_or_criteria_behind_its_boxes_is_one_task() {
    let plan = text(SECTIONS).plan;
    assert_eq!(tasks(&plan), ["1: Connect", "2: Serve <- 1"]);
    let first = find(&plan, "1");
    assert_eq!((first.steps.len(), first.files_declared), (2, true));
    assert_eq!(files(&plan, "1"), ["Create config/database.js", "Modify .env", "Delete old.js"]);
    assert!(first.text.contains("- It connects."), "{}", first.text);
    assert_eq!(plan.aside, []);
}

#[test]
fn lists_of_files_in_the_boxes_leave_the_boxes_tasks() {
    let plan =
        "### Task 1: a\n\n- [ ] 1.1 b\n- **Files:** `a.rs`\n- [ ] 1.2 c\n  - **Files:** `b.rs`\n";
    assert_eq!(tasks(&text(plan).plan), ["1.1: b", "1.2: c <- 1.1"]);
}

#[test]
fn text_behind_the_tasks_of_a_section_is_left_aside() {
    let plan = "### Task 1: a\n\nOpening.\n\n- [ ] 1.1 b\n- [ ] 1.2 c\n\nRemember the tests.\n\nAnd the docs.\n\n**Notes**:\n- d\n";
    let plan = text(plan).plan;
    assert_eq!(tasks(&plan), ["1.1: b", "1.2: c <- 1.1"]);
    let aside: Vec<_> =
        plan.aside.iter().map(|aside| (aside.place.line, aside.text.as_str())).collect();
    assert_eq!(aside, [(8, "Remember the tests."), (12, "**Notes**:")]);
}

#[test]
fn a_file_that_is_mentioned_twice_is_one() {
    let plan = "### Task 1: a\n\n- Create `hello.txt`\n- Update `hello.txt`\n- Read `b.txt`\n";
    let plan = text(plan).plan;
    assert_eq!(hints(&plan, "1"), ["Create hello.txt", "Change hello.txt", "Read b.txt"]);
    let mentioned: Vec<&str> = find(&plan, "1").mentioned().map(RepoPath::as_str).collect();
    assert_eq!(mentioned, ["hello.txt", "b.txt"]);
}

#[test]
fn an_example_plan_with_code_blocks_of_its_own_in_a_code_block_is_no_part_of_the_plan() {
    let example = "```bash\ncat > plan.md <<'END'\n## Task 1: a\n\n```js\n1\n```\n\n## Task 2: b\n\n```js\n2\n```\nEND\nrun plan.md\n```\n";
    let source = format!(
        "# Plan\n\n### Task 1: one\n\nx\n\n### Task 2: two\n\n- [ ] Write the test\n\n{example}\n- [ ] Run it\n\n```bash\nsh run\n```\n\n### Task 3: three\n\ny\n"
    );
    let read = text(&source);
    assert_eq!(faults(&read.faults), Vec::<String>::new());
    assert_eq!(tasks(&read.plan).len(), 3);
    let second = find(&read.plan, "2");
    assert!(second.text.contains(example), "{}", second.text);
    assert_eq!(second.steps.len(), 2);
}

#[test]
fn a_required_item_with_optional_ones_beneath_is_a_task() {
    let nested = "- [ ] 1. Set up\n  - Create `a.ts`\n- [ ] 2. Build the reader\n  - Parse each line\n  - [ ]* 2.1 Write tests\n    - _Requirements: 1.1_\n- [ ] 3. Build the writer\n  - Write them\n";
    for source in [nested.to_owned(), nested.replace("  - [ ]* 2.1", "- [ ]* 2.1")] {
        let plan = text(&source).plan;
        assert_eq!(
            tasks(&plan),
            [
                "1: Set up",
                "2: Build the reader <- 1",
                "2.1: Write tests <- 2 (optional)",
                "3: Build the writer <- 2",
            ],
            "{source}"
        );
    }
    // Words that only name requirements say nothing to do.
    let bare = text(
        "- [ ] 1. Set up\n- [ ] 2. Test it\n  - _Requirements: 1.1_\n  - [ ]* 2.1 Write tests\n",
    )
    .plan;
    assert_eq!(tasks(&bare).len(), 2);
}

#[test]
fn numbers_with_a_part_behind_a_point_are_ids() {
    let plan =
        text("## Phase 1\n- [ ] T001 a\n- [ ] T002 b\n\n### Follow-up\n- [ ] T002.1 [US1] c\n")
            .plan;
    assert_eq!(tasks(&plan), ["T001: a", "T002: b <- T001", "T002.1: c <- T002"]);
    let beside = text("## 1. A\n- [ ] 1.1 a\n- [ ] 1.2 b\n- [ ] 1.2.1 c\n- [ ] 1.3 d\n").plan;
    assert_eq!(tasks(&beside), ["1.1: a", "1.2: b <- 1.1", "1.2.1: c <- 1.2", "1.3: d <- 1.2.1"]);
}

#[test]
fn boxes_of_a_part_belong_to_its_numbered_section_and_the_guess_is_told() {
    let source = "### 1. Main\n- [ ] a\n\n### 2. More\n- [ ] b\n\n### 3. Dialogs\n\n#### 3.1 Approve\n- [ ] c\n\n#### 3.2 Reject\n- [ ] d\n";
    let parsed = text(source);
    assert_eq!(tasks(&parsed.plan), ["1.1: a", "2.1: b <- 1.1", "3.1: c <- 2.1", "3.2: d <- 3.1"]);
    let codes: Vec<Code> = parsed.warnings.iter().map(|one| one.code).collect();
    assert_eq!(codes, [Code::GuessedShape]);
    assert_eq!(named(source, "tasks.md").warnings, []);
}

#[test]
fn a_rule_is_no_work_and_what_stands_before_the_tasks_is_told() {
    let parsed = text(
        "# P\n\n**Testing:** There is no test target; build it and look at the result.\n\n## Background\n\nOld.\n\n## Decisions (apply to every task)\n\n- Never touch `core/`.\n\n### Task 1: a\n\nDo it.\n\n### Task 2: b\n\n---\n",
    );
    assert_eq!(parsed.faults[0].code, Code::EmptyTask);
    let constraint = &parsed.plan.constraints[0];
    assert_eq!(constraint.text, "- Never touch `core/`.");
    let aside: Vec<&str> = parsed.plan.aside.iter().map(|one| one.text.as_str()).collect();
    assert_eq!(
        aside,
        ["**Testing:** There is no test target; build it and look at the result.", "Background"]
    );
}

#[test]
fn a_rename_deletes_one_file_and_creates_the_other() {
    let plan = text(
        "### Task 1: a\n**Files:**\n- Rename: `src/codes.py` → `src/alphabet.py`\n- Move: `a.py` -> `b.py`\n- Rename: `c.py` to `d.py`\n- `e.py` → `f.py`\n- Modify: `g.py` and `h.py`\n\nx\n\
         ### Task 2: b\n**Files:**\n- Move: `docs/adr/` → `docs/decisions/`\n\nx\n",
    )
    .plan;
    assert_eq!(
        files(&plan, "1"),
        [
            "Delete src/codes.py",
            "Create src/alphabet.py",
            "Delete a.py",
            "Create b.py",
            "Delete c.py",
            "Create d.py",
            "Delete e.py",
            "Create f.py",
            "Modify g.py",
            "Modify h.py",
        ]
    );
    assert!(find(&plan, "1").files_declared);
    assert_eq!((files(&plan, "2").len(), find(&plan, "2").files_declared), (0, false));
}

#[test]
fn names_beneath_a_file_are_no_files() {
    let plan = text(
        "### Task 1: a\n**Files:**\n- Create: `src/update.ts`\n  - Create `UpdateValidator` class\n  - Add `parse_id`\n- Test `parse_id` function\n- Modify:\n  - `src/b.ts`\n  - `src/c.ts`\n\n**Files:** No code changes in this task.\n\nx\n",
    )
    .plan;
    assert_eq!(files(&plan, "1"), ["Create src/update.ts", "Modify src/b.ts", "Modify src/c.ts"]);
}

#[test]
fn a_checkpoint_of_several_sentences_is_one_question() {
    let source = "---\nphase: 01-a\nplan: 01\n---\n<task type=\"checkpoint:human-verify\">\n<what-built>Login page. It has two fields.</what-built>\n<how-to-verify>Visit /login and sign in. You should see the dashboard. Expected: no error.</how-to-verify>\n</task>\n";
    let plan = text(source).plan;
    let [task] = &plan.tasks[..] else { panic!("{plan:?}") };
    assert_eq!(task.title, "Login page. It has two fields.");
    let told = plan::step::read(&task.text);
    let [step] = &told.steps[..] else { panic!("{told:?}") };
    assert!(matches!(step.action, plan::step::Action::Ask { .. }), "{told:?}");
}
