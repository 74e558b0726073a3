use super::super::{Options, Parsed, parse};
use super::*;

fn read_text(source: &str) -> Parsed {
    parse(source.as_bytes(), &Options::default())
}

fn tasks(parsed: &Parsed) -> Vec<String> {
    let row = |task: &super::super::Task| format!("{} {}", task.id, task.title);
    parsed.plan.tasks.iter().map(row).collect()
}

#[test]
fn lists_of_many_kinds_are_read_with_a_warning_to_confirm() {
    for (source, wanted) in [
        ("# P\n\n### Step 1: Add it\n\nx\n\n### Step 2 - Use it\n\ny\n", ["1 Add it", "2 Use it"]),
        ("# P\n\n### Fix 1: Add it\n\nx\n\n### Fix 2: Use it\n\ny\n", ["1 Add it", "2 Use it"]),
        ("# P\n\n## 1. Add it\n\nx\n\n## 2. Use it\n\ny\n", ["1 Add it", "2 Use it"]),
        ("Fix this.\n\n- [ ] Add it\n  - [ ] part\n- [x] Use it\n", ["1 Add it", "2 Use it"]),
        (
            "# P\n\nWords.\n\n1. Add it\n   - here\n2. Use it\n\n- a remark\n",
            ["1 Add it", "2 Use it"],
        ),
    ] {
        let parsed = read_text(source);
        assert_eq!(
            (parsed.plan.format, tasks(&parsed)),
            (Format::List, wanted.map(str::to_owned).into()),
            "{source}"
        );
        let codes: Vec<Code> = parsed.warnings.iter().map(|one| one.code).collect();
        assert_eq!(codes, [Code::GuessedShape], "{source}");
        let options = Options { format: Some(Format::List), ..Options::default() };
        assert_eq!(parse(source.as_bytes(), &options).warnings, [], "{source}");
    }
}

#[test]
fn a_heading_may_say_all_and_one_with_numbers_below_it_is_their_parent() {
    let source = "# P\n\n## 1. Add `a.rs`\n\n## 2. Use it\n\n## 2.1 Here\n\nx\n\n## 2.2 There\n\ny\n\n## 3. Test it\n";
    let parsed = read_text(source);
    let told: Vec<String> =
        parsed.plan.tasks.iter().map(|task| format!("{} {}", task.id, task.text)).collect();
    assert_eq!(told, ["1 Add `a.rs`", "2.1 x", "2.2 y", "3 Test it"]);
    assert_eq!(parsed.plan.tasks[0].hints[0].0.path.as_str(), "a.rs");
    assert_eq!(parsed.faults, []);
}

#[test]
fn two_lists_that_could_be_meant_are_none() {
    let twice = read_text("## A\n\n### 1. x\n\n### 2. y\n\n## B\n\n### 1. z\n");
    assert_eq!(twice.faults[0].code, Code::NoTasks);
    let parsed = read_text("Before:\n\n1. a\n2. b\n\nThen:\n\n1. c\n2. d\n");
    assert_eq!(parsed.faults[0].code, Code::NoTasks);
    assert!(parsed.faults[0].message.contains("2 numbered lists"), "{:?}", parsed.faults);
    for named in ["--format single", "a plain list: numbered headings"] {
        assert!(parsed.faults[0].hint.contains(named), "{:?}", parsed.faults);
    }
    // Without a number the word is no part.
    assert_eq!(read_text("## Change the text\n\nx\n\n## Fix the end\n\ny\n").plan.tasks, []);
    // A list of one item is a list.
    let short = read_text("Before:\n\n1. a\n2. b\n\nThen:\n\n1. c\n");
    assert_eq!(short.faults[0].code, Code::NoTasks);
}

#[test]
fn the_whole_text_is_one_task_where_a_person_says_so() {
    let options = Options { format: Some(Format::Single), ..Options::default() };
    let parsed = parse(b"# Make it fast\n\n1. a\n2. b\n", &options);
    assert_eq!(tasks(&parsed), ["1 Make it fast"]);
    assert_eq!(parsed.plan.tasks[0].text, "# Make it fast\n\n1. a\n2. b");
    assert_eq!((parsed.faults.len(), parsed.warnings.len()), (0, 0));
}

/// An issue as people write them.
const ISSUE: &str = "Export to CSV.\n\n## Tasks\n\n- [ ] Write `src/csv.rs`\n- [ ] Add the command\n\n## Acceptance criteria\n\n- [ ] CSV opens in Excel\n- [ ] Quotes are kept\n\n## Checklist\n\n- [ ] I have searched the issues\n";

#[test]
fn only_boxes_under_a_heading_of_work_are_tasks_and_criteria_hold_for_all() {
    let labels = ISSUE
        .replace("## Tasks", "**Tasks:**")
        .replace("## Acceptance criteria", "**Acceptance criteria**");
    for source in [
        ISSUE.to_owned(),
        labels.replace("## Checklist", "Checklist:"),
        ISSUE.replace('\n', "\r\n"),
    ] {
        let parsed = read_text(&source);
        assert_eq!(tasks(&parsed), ["1 Write `src/csv.rs`", "2 Add the command"], "{source}");
        let [criteria] = &parsed.plan.constraints[..] else {
            panic!("{:?}", parsed.plan.constraints)
        };
        assert_eq!(criteria.label, "Acceptance criteria");
        assert!(
            criteria.text.starts_with("- [ ] CSV opens in Excel")
                && criteria.text.ends_with("kept")
        );
        let left: Vec<(Code, u32)> =
            parsed.warnings.iter().map(|one| (one.code, one.place.line)).collect();
        assert_eq!(left, [(Code::GuessedShape, 5), (Code::UntakenBox, 15)], "{source}");
    }
}

#[test]
fn boxes_are_left_aside_only_where_others_are_work() {
    let plain = "# Fix it\n\n- [ ] a\n\n## Part\n\n- [ ] b\n\n## Verification\n\n- [ ] c\n";
    assert_eq!(tasks(&read_text(plain)), ["1 a", "2 b"]);
    let only = read_text("# Release checklist\n\n- [ ] a\n- [ ] b\n");
    assert_eq!(tasks(&only), ["1 a", "2 b"]);
    let listed = read_text("## Implementation checklist\n\n- [ ] a\n\n## Notes\n\n- [ ] b\n");
    assert_eq!(tasks(&listed), ["1 a"]);
}

#[test]
fn criteria_are_never_the_tasks() {
    let criteria = "## Acceptance criteria\n\n- [ ] a\n- [ ] b\n";
    for work in ["", "## Plan\n\n1. c\n\n", "## Plan\n\n1. c\n2. d\n\n## Then\n\n1. e\n\n"] {
        let none = read_text(&format!("{work}{criteria}"));
        assert_eq!((tasks(&none), none.faults[0].code), (vec![], Code::NoTasks), "{work}");
        let (message, hint) = (&none.faults[0].message, &none.faults[0].hint);
        assert!(
            message.ends_with(" Checkboxes under acceptance criteria are not tasks: 2."),
            "{message}"
        );
        assert!(hint.contains("--format single"), "{hint}");
    }
    let more = "\n## Acceptance of it\n\n1. e\n2. f\n";
    let parsed = read_text(&format!("## Plan\n\n1. c\n2. d\n\n{criteria}{more}"));
    assert_eq!(tasks(&parsed), ["1 c", "2 d"]);
    let [both] = &parsed.plan.constraints[..] else { panic!("{:?}", parsed.plan.constraints) };
    assert_eq!(both.text, format!("- [ ] a\n- [ ] b\n{}", more.trim_end()));
    let codes: Vec<Code> = parsed.warnings.iter().map(|one| one.code).collect();
    assert_eq!((codes, parsed.plan.aside), (vec![Code::GuessedShape], vec![]));
    let beside = read_text(&format!("{criteria}\n## Checklist\n\n- [ ] c\n"));
    assert_eq!(tasks(&beside), ["1 c"]);
}

#[test]
fn one_task_is_spoken_of_as_one_and_a_struck_title_loses_its_marks() {
    let parsed = read_text("Fix this.\n\n- [ ] Add it\n- [ ] ~~gone~~\n");
    let told: Vec<&str> = parsed.warnings.iter().map(|one| one.message.as_str()).collect();
    assert_eq!(
        told,
        [
            "This plan has no known format. Its one checkbox is taken as a task.",
            "Skipped, because struck or marked as cancelled: `2` (line 4). A need on such a task counts as met.",
        ]
    );
    assert_eq!(parsed.plan.aside[0].text, "gone");
}

/// Texts with numbers or boxes that are no work. A person may still say that one of them is a list.
const NO_WORK: [&str; 5] = [
    "# Offload\n\n## Approach\nMove the tiles.\n\n## Rollback plan\n1. Turn the old storage on\n2. Point `TILE_URL` back\n",
    "# Access\n\n## User flow\n1. Open the page\n2. Sign in\n",
    "# Crash\n\n## Steps to reproduce\n1. Open it\n2. Close it\n",
    "# Login\n\n## 1. Purpose & Success Criteria\nUsers log in.\n\n## 2. Foundation\nA framework.\n\n## 3. Open Questions\n- Which?\n",
    "# Keyboard\n\n## Change\nIn `src/keys.ts` ignore it.\n\n## Verification checklist\n- [ ] One click sends one mail\n- [ ] The search opens\n",
];

#[test]
fn what_names_no_work_is_run_only_where_a_person_says_so() {
    for source in NO_WORK {
        let parsed = read_text(source);
        assert_eq!((parsed.faults[0].code, parsed.plan.tasks), (Code::NoTasks, vec![]), "{source}");
        let options = Options { format: Some(Format::List), ..Options::default() };
        assert!(parse(source.as_bytes(), &options).plan.tasks.len() > 1, "{source}");
    }
    let boxes = read_text(
        &NO_WORK[3].replace("## 3.", "## 3. Milestones\n- [ ] Set up\n- [ ] Add it\n\n## 4."),
    );
    assert_eq!(tasks(&boxes), ["1 Set up", "2 Add it"]);
}

#[test]
fn a_chapter_that_judges_is_no_task_and_a_task_with_its_word_is_one() {
    let parsed = read_text(
        "# P\n\n## 1. Add email verification\n\nx\n\n## 2. Use it\n\ny\n\n## 3. Verification\n\nz\n",
    );
    assert_eq!(tasks(&parsed), ["1 Add email verification", "2 Use it"]);
    assert_eq!(parsed.plan.aside[0].text, "3. Verification");
}

#[test]
fn a_need_on_what_is_no_task_is_met_in_a_guessed_shape() {
    let parsed =
        read_text("# P\n\n## Step 1: Add it\n\nDepends on: Task 7\n\n## Step 2: Use it\n\ny\n");
    assert_eq!((tasks(&parsed).len(), parsed.faults), (2, vec![]));
    let codes: Vec<Code> = parsed.warnings.iter().map(|one| one.code).collect();
    assert_eq!(codes, [Code::GuessedShape, Code::UnknownNeed]);
}
