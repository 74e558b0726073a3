//! Plans as people really write them.

use sequester_core::plan::Format;

use crate::fixture::{bytes, clean, faults, files, find, hints, parents, read, tasks, text};

#[test]
fn an_ugly_superpowers_plan_is_read_all_the_same() {
    let plan = clean("superpowers/ugly.md", Format::Superpowers);
    assert_eq!(tasks(&plan), ["1: Tabs and marks", "2: Second <- 1 (done)", "3: Third <- 2"]);
    assert_eq!(
        files(&plan, "1"),
        [
            "Create src/a.rs",
            "Create src/b.rs",
            "Create Makefile",
            "Change docs/x.md",
            "Modify src/c.rs:7-7",
            "Modify src/d.rs",
            "Modify src/e.rs",
        ]
    );
    assert_eq!(plan.goal.as_deref(), Some("It holds."));
    assert_eq!(plan.constraints[0].text, "None to\r\nspeak of.");
    let text = &find(&plan, "1").text;
    assert!(
        text.contains("Still task 1.")
            && text.contains("Text before a rule\r\n---")
            && text.contains("Task 7: hidden")
    );
    assert_eq!(find(&plan, "3").text, "Body.");
    let aside: Vec<_> = plan.aside.iter().map(|aside| aside.text.as_str()).collect();
    assert_eq!(aside, ["Acceptance", "Gaps found"]);
    let body =
        std::str::from_utf8(bytes("superpowers/ugly.md").strip_prefix(b"\xef\xbb\xbf").unwrap())
            .unwrap();
    for task in &plan.tasks {
        assert_eq!(&body[task.span.clone()], task.text);
    }
}

#[test]
fn files_are_found_behind_remarks_and_with_blanks_in_their_names() {
    let plan = "# T\n\n### Task 1: A\n\n**Files:**\n- Modify: `src/a.js` (the greeting), `src/b.js`\n- Create: `docs/my file.md`\n- Modify: `src/c.js` (calls `greet`)\n\nText.\n";
    let plan = text(plan).plan;
    assert_eq!(
        files(&plan, "1"),
        ["Modify src/a.js", "Modify src/b.js", "Create docs/my file.md", "Modify src/c.js"]
    );
}

#[test]
fn tasks_are_found_in_other_languages() {
    let plan = clean("superpowers/languages.md", Format::Superpowers);
    assert_eq!(tasks(&plan), ["1: Anlegen", "2: Écrire <- 1", "3: 测试 <- 2", "4: Cerrar <- 1! 3"]);
    assert_eq!(files(&plan, "1"), ["Create src/neu.rs"]);
    assert_eq!(files(&plan, "2"), ["Create src/deux.rs", "Modify src/neu.rs"]);
    assert_eq!(files(&plan, "3"), ["Test tests/三.rs"]);
    assert_eq!(plan.goal.as_deref(), Some("更快。"));
    assert_eq!(
        parents(&plan, "2"),
        [("Phase 1: Vorbereitung".to_owned(), "Was vorher zu tun ist.".to_owned())]
    );
}

#[test]
fn the_leaf_is_the_task_unless_it_is_a_mere_step() {
    let plan = clean("superpowers/levels.md", Format::Superpowers);
    assert_eq!(
        tasks(&plan),
        ["1: Upper is the work", "2.1: First half <- 1", "2.2: Second half <- 2.1"]
    );
    assert_eq!(find(&plan, "1").steps.len(), 2);
    assert_eq!(
        parents(&plan, "2.2"),
        [("Lower is the work".to_owned(), "Opening of two.".to_owned())]
    );
}

#[test]
fn boxes_of_a_track_are_tasks_and_boxes_in_them_steps() {
    let plan = clean("track/boxes.md", Format::Track);
    assert_eq!(
        tasks(&plan),
        [
            "A.9.1.1: Fragment type (done)",
            "A.9.1.2: Builder <- A.9.1.1",
            "A.9.1.3: Manifest <- A.9.1.2",
            "C.1.1: Docs"
        ]
    );
    assert_eq!(
        find(&plan, "A.9.1.2").text,
        "- [ ] **A.9.1.2**: Builder\n  - [x] test\n  - [ ] code"
    );
    let titles: Vec<_> = parents(&plan, "A.9.1.2").into_iter().map(|(title, _)| title).collect();
    assert_eq!(titles, ["Track A", "Isolation", "Contexts"]);
    let aside: Vec<&str> = plan.aside.iter().map(|aside| aside.text.as_str()).collect();
    assert_eq!(aside, ["Prose between tasks.", "Next candidates"]);
    let text = &find(&plan, "C.1.1").text;
    assert!(text.ends_with("```") && text.contains("Replace the first line:"));
}

#[test]
fn an_id_counts_where_it_is_plainest() {
    let plan = clean("track/ugly.md", Format::Track);
    assert_eq!(
        tasks(&plan),
        [
            "A.1.1: Done one (done)",
            "A.1.2: Open one <- A.1.1",
            "BE.1.1: Item in bold without a box"
        ]
    );
    assert_eq!(files(&plan, "A.1.1"), ["Create src/a.rs"]);
    assert_eq!(find(&plan, "A.1.1").steps.len(), 2);
    assert!(find(&plan, "A.1.2").text.contains("A.7.7 in a fence"));
    assert!(!find(&plan, "BE.1.1").text.contains("Execution"));
}

#[test]
fn an_ugly_spec_kit_plan_is_read_all_the_same() {
    let plan = clean("speckit/ugly.md", Format::SpecKit);
    assert_eq!(
        tasks(&plan),
        [
            "T001: 設定を追加する `crates/core/src/config.rs` (done)",
            "T002: 画像を 二行で `src/image.rs`",
            "T003: 実装する `src/lib.rs` <- T001 T002",
            "T004: 終わり <- T003",
        ]
    );
    assert_eq!(hints(&plan, "T002"), ["Change src/image.rs"]);
    assert_eq!(find(&plan, "T003").steps.len(), 2);
    assert!(find(&plan, "T004").text.ends_with("- Details of the fourth without indent"));
    assert_eq!(plan.aside[0].text, "完了条件");
}

#[test]
fn openspec_boxes_without_ids_are_counted_in_their_section() {
    let plan = clean("openspec/unnumbered/tasks.md", Format::OpenSpec);
    assert_eq!(
        tasks(&plan),
        ["1.1: Write the parser", "1.2: Write the printer <- 1.1", "2.1: Explain both <- 1.2"]
    );
    let parsed = read("openspec/ugly.md");
    assert_eq!(
        tasks(&parsed.plan),
        [
            "1.1.1: Leaf one",
            "1.1.2: Leaf two <- 1.1.1",
            "2.1: first <- 1.1.2",
            "2.2: second <- 2.1 (done)",
            "3.1: a <- 2.2",
            "3.1: b",
        ]
    );
    assert!(find(&parsed.plan, "1.1.2").text.ends_with("With a paragraph."));
    assert_eq!(parents(&parsed.plan, "1.1.1")[1].0, "Parent opening words");
    let (_, graph) = sequester_core::graph::TaskGraph::new(&parsed.plan);
    assert_eq!(
        faults(&graph),
        ["18:1 DoubledId Task `3.1` is there twice; the first is in line 17."]
    );
}

#[test]
fn kiro_details_need_no_indent_and_stars_go_down() {
    let plan = clean("kiro/flat.md", Format::Kiro);
    assert_eq!(tasks(&plan), ["1.1: Child one", "1.2: Child two <- 1.1", "2: Alone <- 1.2"]);
    assert_eq!(find(&plan, "1.1").requirements, ["1.1"]);
    assert!(find(&plan, "1.1").text.contains("detail not indented"));

    let plan = clean("kiro/ugly.md", Format::Kiro);
    assert_eq!(tasks(&plan), ["1: Начать (done)", "2.1: Тоже <- 1 (optional)", "10: Конец <- 1!"]);
    assert_eq!(find(&plan, "1").steps.len(), 2);
    assert_eq!(plan.aside[0].text, "Overview");
}

#[test]
fn a_goal_inside_a_part_of_the_plan_is_not_the_plans() {
    let plan = text(
        "# Title\n\n## Phase 1\n\n### Constraints\n\nOf phase one.\n\n### Task 1: a\n\nx\n\n## Phase 2\n\n### Goal\n\nOf phase two.\n\n\
         ### Task 2: b\n\ny\n\n### Architecture\n\nBehind a task.\n",
    )
    .plan;
    assert_eq!((plan.feature(), plan.constraints), ("Title".to_owned(), Vec::new()));
    let aside: Vec<_> = plan.aside.iter().map(|aside| aside.text.as_str()).collect();
    assert_eq!(aside, ["Constraints", "Goal", "Architecture"]);

    for source in [
        "# T\n## A.1 One\n- [ ] A.1.1 a\n## B.2 Two\n### Goal\nOf B.\n- [ ] B.2.1 b\n",
        "# T\n## Phase 1\n**Goal**: one\n- [ ] T001 a\n## Phase 2\n### Constraints\nOf two.\n- [ ] T002 b\n",
    ] {
        let plan = text(source).plan;
        assert_eq!(plan.tasks.len(), 2);
        assert_eq!((plan.goal, plan.constraints), (None, Vec::new()), "{source}");
    }
}

#[test]
fn what_stands_above_all_tasks_is_the_plans_before_and_after_them() {
    let plan = text(
        "# T\n## Overview\n### Architecture\nLayers.\n## Goal\nSpeed.\n### Task 1: a\nx\n## Global Constraints\nNo unsafe.\n",
    )
    .plan;
    assert_eq!(plan.goal.as_deref(), Some("Speed."));
    let constraints: Vec<_> = plan.constraints.iter().map(|one| one.text.as_str()).collect();
    assert_eq!(constraints, ["Layers.", "No unsafe."]);
}

#[test]
fn a_heading_of_the_first_level_is_the_title_only_if_it_heads_the_whole_plan() {
    for source in [
        "# Task 1: a\n\nx\n\n# Task 2: b\n\ny\n",
        "### Task 1: a\n\nx\n\n### Task 2: b\n\ny\n\n# Appendix\n\nwords\n",
        "---\nsequester: 1\n---\n\n## [a] A\n\nx\n\n# Inside\n\nmore\n\n## [b] B\n\ny\n",
    ] {
        let plan = text(source).plan;
        assert_eq!((plan.tasks.len(), plan.feature()), (2, String::new()), "{source}");
    }
    let plan = text(
        "# Track A\n\n**Goal:** Log in.\n\n## A.1 One\n\n- [ ] A.1.1 a\n\n# Track B\n\n## B.1 One\n\n- [ ] B.1.1 b\n",
    )
    .plan;
    assert_eq!(plan.feature(), "");
    assert_eq!(parents(&plan, "A.1.1")[0], ("Track A".to_owned(), "**Goal:** Log in.".to_owned()));
    assert_eq!(parents(&plan, "B.1.1")[0], ("Track B".to_owned(), String::new()));
}

#[test]
fn a_parents_opening_ends_at_any_task_and_at_restated_ones() {
    let plan = text(
        "# T\n\n## A.1 One\n\nOpening.\n\n- [ ] B.1.1 other track\n  - its detail\n- [ ] A.1.1 own\n",
    )
    .plan;
    assert_eq!(parents(&plan, "A.1.1"), [("One".to_owned(), "Opening.".to_owned())]);
    let plan =
        text("## A.1 One\n\n- [ ] B.1.1 restated\n\n### A.1.1 own\n\nx\n\n### B.1.1 other\n\ny\n")
            .plan;
    assert_eq!(parents(&plan, "A.1.1"), [("One".to_owned(), String::new())]);
}

#[test]
fn a_task_that_goes_takes_no_parent_from_the_next() {
    let rest = "---\n\n### Task 2: b\n\ny\n";
    let opening = "# T\n\n## Phase 1\n\nIntro.\n\n";
    for source in [format!("{opening}### Task 1: a\n\nx\n\n{rest}"), format!("{opening}{rest}")] {
        let plan = text(&source).plan;
        assert_eq!(parents(&plan, "2"), [("Phase 1".to_owned(), "Intro.".to_owned())], "{source}");
    }
}

#[test]
fn words_behind_a_rule_belong_to_no_task_and_work_behind_it_does() {
    for rule in ["Do b.\n\n---\n", "Do b.\n---\n"] {
        let source = format!(
            "# T\n\n### Task 1: a\n\nDo a.\n\n---\n\n- [ ] step\n\n### Task 2: b\n\n{rule}\nExecution order: Task 1, then Task 2.\n"
        );
        let plan = text(&source).plan;
        assert_eq!(find(&plan, "1").text, "Do a.\n\n---\n\n- [ ] step");
        assert_eq!(find(&plan, "2").text, "Do b.");
        let aside: Vec<_> = plan.aside.iter().map(|aside| aside.text.as_str()).collect();
        assert_eq!(aside, ["Execution order: Task 1, then Task 2."]);
    }
    let plan = text("### Task 1: a\n\nx\n\n---\n\n### Task 2: b\n\ny\n\n---\n").plan;
    assert_eq!(find(&plan, "1").text, "x\n\n---");
    assert_eq!(plan.aside, []);
}

#[test]
fn code_belongs_to_an_item_only_directly_behind_it_or_announced() {
    let plan = text(
        "## A.1 One\n\n- [ ] A.1.1 a\n\n```\nmine\n```\n\nReplace this:\n\n```\nalso mine\n```\n\n- [ ] A.1.2 b\n\nProse of the plan.\n\n```\nnot its\n```\n",
    )
    .plan;
    assert!(find(&plan, "A.1.1").text.ends_with("also mine\n```"));
    assert_eq!(find(&plan, "A.1.2").text, "- [ ] A.1.2 b");
}

#[test]
fn what_one_step_says_does_not_make_another_a_task() {
    let head = "# T\n\n## A.1 Section\n\n### A.1.1 Thing\n\n**Files:**\n- Modify: `src/x.rs`\n\n";
    for steps in [
        "- [ ] A.1.1.1 one\n- [ ] A.1.1.2 two\n",
        "- [ ] A.1.1.1 one\n- [ ] A.1.1.2 two\n  more\n",
        "- [ ] A.1.1.1 one\n- [ ] A.1.1.2 two\n  - [ ] A.1.1.2.1 deeper\n",
    ] {
        let plan = text(&format!("{head}{steps}")).plan;
        assert_eq!(tasks(&plan), ["A.1.1: Thing"], "{steps}");
        assert!(find(&plan, "A.1.1").steps.len() >= 2);
    }
    // A section of tasks is no task, whatever it opens with.
    let plan =
        text("# T\n\n## A.1 Section\n\n```\ncode\n```\n\n- [ ] A.1.1 one\n- [ ] A.1.2 two\n").plan;
    assert_eq!(tasks(&plan), ["A.1.1: one", "A.1.2: two <- A.1.1"]);
}

#[test]
fn no_heading_in_a_native_task_reaches_another() {
    let plan = |inside: &str| {
        let source = format!(
            "---\nsequester: 1\n---\n# Title\n\n**Goal:** Speed.\n\n### [a] A\n\nx\n\n{inside}\n\n### [b] B\n\ny\n"
        );
        text(&source).plan
    };
    let plain = plan("");
    for inside in ["# Top\n\nwords", "## Constraints\n\nOnly mine.", "## Part\n\nwords"] {
        let plan = plan(inside);
        assert_eq!((plan.feature(), &plan.constraints), (plain.feature(), &plain.constraints));
        assert_eq!(parents(&plan, "b"), [], "{inside}");
        assert_eq!(find(&plan, "a").text, "x");
        assert_eq!(plan.aside.len(), 1);
    }
}

#[test]
fn what_a_list_of_files_names_that_is_no_file_is_told() {
    let source = "### Task 1: a\n\n**Files:**\n- Create: `src/*.py`\n- Modify: `src/`, `a.py`\n- Modify: whatever is needed\n- Test: by hand\n\nDo a.\n\n\
                  ### Task 2: b\n\n**Files:**\n- Modify: `old/`\n\n- [x] **Step 1: done**\n";
    let plan = text(source).plan;
    let aside: Vec<_> =
        plan.aside.iter().map(|aside| (aside.place.line, aside.text.as_str())).collect();
    assert_eq!(aside, [(4, "src/*.py"), (5, "src/"), (6, "Modify: whatever is needed")]);
    assert!(!find(&plan, "1").files_declared);
    assert_eq!(find(&plan, "1").files[0].path.as_str(), "a.py");
}

#[test]
fn an_entry_is_a_path_only_where_it_is_one() {
    let task = |entry: &str| {
        let plan = text(&format!("### Task 1: a\n\n**Files:**\n- {entry}\n\nDo a.\n"));
        assert_eq!(plan.faults, [], "{entry}");
        (files(&plan.plan, "1").join(", "), hints(&plan.plan, "1").join(", "))
    };
    for (entry, listed, mentioned) in [
        ("Modify: All files that import from `chats.ts`", "", "Read chats.ts"),
        ("Modify only files that fail with `Error::exec`", "", ""),
        ("Modify: `Error::exec`", "", ""),
        ("Modify: `tests/x.test.ts` (if exists)", "", "Modify tests/x.test.ts"),
        ("Modify (if needed): `src/a.ts`", "", "Modify src/a.ts"),
        ("Create: `web/`", "Create web", ""),
        ("Modify: `src/a.ts:3-9` (the parser) — it is long", "Modify src/a.ts:3-9", ""),
        ("Modify: `src/a.ts` to export it", "Modify src/a.ts", ""),
        ("`src/a.ts` - new", "Create src/a.ts", ""),
        ("`src/a.ts` stays as it is", "", "Change src/a.ts"),
        ("New file: src/a.ts", "Create src/a.ts", ""),
        ("Everything that `src/a.ts` needs", "", "Change src/a.ts"),
    ] {
        assert_eq!(task(entry), (listed.to_owned(), mentioned.to_owned()), "{entry}");
    }
}

#[test]
fn a_path_outside_of_the_repository_is_ignored_with_a_warning() {
    let parsed = text(
        "### Task 1: a\n\n**Files:**\n- Modify: `/etc/hosts`\n- Modify: `../x.rs`, `y.rs`\n\nDo a.\n",
    );
    assert_eq!(
        (faults(&parsed.faults), files(&parsed.plan, "1")),
        (Vec::new(), vec!["Modify y.rs".to_owned()])
    );
    let told = faults(&parsed.warnings);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told.iter().all(|line| line.ends_with("The entry is ignored.")), "{told:?}");
}
