use super::super::{Options, parse};
use super::*;

const STORY: &str = "# Story 2.3: Links that end\n\nStatus: ready\n\n## Story\n\nAs a person, I want links to end.\n\n## Acceptance Criteria\n\n1. A link has an end.\n2. An ended link answers 410.\n\n## Tasks / Subtasks\n\n- [x] Task 1: Keep the end (AC: 1)\n  - [x] Field in `src/store.rs`\n- [ ] Task 2: Refuse it (AC: #2)\n  - [ ] Subtask 2.1: answer 410\n- [ ] Say it in the README\n\n## Dev Notes\n\n- Times are seconds.\n\n### References\n\n- none\n\n## Dev Agent Record\n\n- [ ] not filled in\n";

#[test]
fn a_task_has_the_criteria_that_it_names_and_the_notes() {
    let parsed = parse(STORY.as_bytes(), &Options::default());
    assert_eq!((&parsed.faults, parsed.plan.format), (&vec![], Format::Bmad));
    let rows = parsed.plan.tasks.iter().map(|task| {
        let needs: Vec<&str> = task.needs.iter().map(|need| need.id.as_str()).collect();
        (
            task.id.as_str(),
            task.title.as_str(),
            needs.join(" "),
            task.done,
            task.constraints.join("|"),
        )
    });
    let both = "1. A link has an end.\n2. An ended link answers 410.";
    let row = |id, title, needs: &str, done, constraints: &str| {
        (id, title, needs.to_owned(), done, constraints.to_owned())
    };
    assert_eq!(
        rows.collect::<Vec<_>>(),
        [
            row("1", "Keep the end (AC: 1)", "", true, "1. A link has an end."),
            row("2", "Refuse it (AC: #2)", "1", false, "2. An ended link answers 410."),
            row("3", "Say it in the README", "2", false, both),
        ]
    );
    assert_eq!(parsed.plan.title, "Story 2.3: Links that end");
    let notes = &parsed.plan.constraints[0];
    assert_eq!((notes.label.as_str(), notes.text.starts_with("- Times")), ("Dev Notes", true));
}

#[test]
fn a_spec_with_boxes_that_begin_with_a_file_is_one_too() {
    let spec = "# Ends\n\n## Tasks & Acceptance\n\n**Execution:**\n- [ ] `src/store.rs` -- keep the end -- it must last\n- [ ] `src/api.rs` -- answer 410 -- seen by people\n\n**Acceptance Criteria:**\n- Given an ended link, when it is opened, then 410\n";
    let parsed = parse(spec.as_bytes(), &Options::default());
    assert_eq!((&parsed.faults, parsed.plan.format), (&vec![], Format::Bmad));
    assert_eq!(parsed.plan.tasks.len(), 2);
    let [only] = &parsed.plan.tasks[0].constraints[..] else { panic!("{parsed:?}") };
    assert!(only.starts_with("- Given an ended link"), "{only}");
}

const CRITERIA_FIRST: &str = "# Ends\n\n## Tasks & Acceptance\n\n**Acceptance Criteria:**\n- [ ] 410 is answered\n\n**Execution:**\n- [ ] Keep the end\n- [ ] Answer 410\n";

#[test]
fn neither_criteria_nor_notes_hold_the_tasks() {
    let notes_first = "# Story 1: x\n\n## Acceptance Criteria\n\n1. 410 is answered\n\n## Dev Notes\n\n**Times:**\n\nSeconds.\n\n### Tasks / Subtasks\n\n- [ ] Keep the end\n- [ ] Answer 410\n";
    let labels = "# Story 1: x\n\n**Acceptance Criteria**\n\n1. 410 is answered\n\n**Tasks / Subtasks**\n\n- [ ] Keep the end\n\n**Backend**\n\n- [ ] Answer 410\n\n**Dev Agent Record**\n\n- [ ] not filled in\n";
    for source in [CRITERIA_FIRST, notes_first, labels] {
        let parsed = parse(source.as_bytes(), &Options::default());
        assert_eq!((&parsed.faults, parsed.plan.format), (&vec![], Format::Bmad));
        let texts: Vec<&str> = parsed.plan.tasks.iter().map(|task| task.text.as_str()).collect();
        assert_eq!(texts, ["- [ ] Keep the end", "- [ ] Answer 410"], "{source}");
        for task in &parsed.plan.tasks {
            let [only] = &task.constraints[..] else { panic!("{task:?}") };
            assert!(only.ends_with("410 is answered"), "{only}");
        }
        let notes = parsed.plan.constraints.iter().map(|one| one.text.as_str());
        assert!(notes.eq((source == notes_first).then_some("**Times:**\n\nSeconds.")));
    }
}

#[test]
fn only_a_word_of_its_own_names_a_criterion() {
    let named = |text| named_criteria(text).into_iter().collect::<Vec<_>>();
    for text in ["on the HVAC 2 unit", "ACME 2", "AC some 2", "AC"] {
        assert_eq!(named(text), [0; 0], "{text}");
    }
    for text in ["(AC: #2, #1)", "ACs 1 & 2", "*AC1* and AC #2"] {
        assert_eq!(named(text), [1, 2], "{text}");
    }
}

#[test]
fn criteria_that_are_too_large_to_be_copied_hold_for_all_once() {
    let criteria = (1..3_000).fold(String::new(), |all, at| all + &format!("{at}. It holds.\n"));
    let boxes = "- [ ] Do it (AC: 1)\n- [ ] Do more\n".repeat(500);
    let source = format!("## Acceptance Criteria\n\n{criteria}\n## Tasks / Subtasks\n\n{boxes}");
    let plan = parse(source.as_bytes(), &Options::default()).plan;
    assert!(plan.tasks.len() == 1_000 && plan.tasks.iter().all(|task| task.constraints.is_empty()));
    assert_eq!(plan.constraints[0].text, criteria.trim_end());
}

#[test]
fn boxes_beneath_a_heading_of_a_task_are_its_steps() {
    let source = "# Story 1: Bundles\n\n## Acceptance Criteria\n\n1. A bundle is made.\n2. It is sent.\n\n## Tasks / Subtasks\n\n### Task 1: Make it (AC: 1)\n- [ ] Write `src/bundle.ts`\n- [ ] Write unit tests\n\n### Task 2: Send it (AC: 2)\n- [x] Write `src/send.ts`\n- [ ] Write unit tests\n";
    let parsed = parse(source.as_bytes(), &Options::default());
    assert_eq!(parsed.faults, []);
    let rows =
        parsed.plan.tasks.iter().map(|task| {
            (task.id.as_str(), task.steps.len(), task.done, task.constraints.join("|"))
        });
    assert_eq!(
        rows.collect::<Vec<_>>(),
        [
            ("1", 2, false, "1. A bundle is made.".to_owned()),
            ("2", 2, false, "2. It is sent.".to_owned()),
        ]
    );
}
