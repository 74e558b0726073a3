//! One plain plan of each format: ids, titles, needs, files, texts.

use sequester_core::plan::{self, Format, Options};

use crate::fixture::{clean, files, find, hints, parents, tasks, waves};

#[test]
fn superpowers_tasks_follow_each_other() {
    let plan = clean("superpowers/plain.md", Format::Superpowers);
    assert_eq!(
        tasks(&plan),
        ["1: The bucket (done)", "2: The layer <- 1!", "3: The docs <- 1! 2!"]
    );
    assert_eq!(waves(&plan), ["2", "3"]);
    assert_eq!(
        files(&plan, "1"),
        ["Create src/bucket.rs", "Modify src/lib.rs:10-12", "Test tests/bucket.rs"]
    );
    assert_eq!(files(&plan, "2"), ["Change src/layer.rs", "Change src/lib.rs"]);
    assert!(find(&plan, "3").files_declared && files(&plan, "3").is_empty());
    assert_eq!(find(&plan, "1").interfaces.produces, ["`Bucket::take(&mut self) -> bool`"]);
    assert_eq!(find(&plan, "2").interfaces.consumes, ["`Bucket::take` from Task 1"]);
    let steps: Vec<_> =
        find(&plan, "2").steps.iter().map(|step| (step.text.as_str(), step.done)).collect();
    assert_eq!(steps, [("**Step 1: Test**", true), ("**Step 2: Code**", false)]);
}

#[test]
fn a_superpowers_header_holds_for_all_tasks() {
    let plan = clean("superpowers/plain.md", Format::Superpowers);
    assert_eq!(plan.goal.as_deref(), Some("Keep one client from using up\nthe whole service."));
    assert_eq!(
        plan.feature(),
        "Rate limiting Implementation Plan\n\nKeep one client from using up\nthe whole service."
    );
    let constraints: Vec<_> =
        plan.constraints.iter().map(|one| (one.label.as_str(), one.text.as_str())).collect();
    assert_eq!(
        constraints,
        [
            ("Architecture", "A token bucket per client, in memory."),
            ("Tech Stack", "Rust, tower\n- tower 0.5\n- no Redis"),
            ("Global Constraints", "- No new dependencies.\n- Errors are values."),
        ]
    );
}

#[test]
fn a_task_has_its_own_text_and_nothing_after_the_last_task() {
    let plan = clean("superpowers/plain.md", Format::Superpowers);
    assert_eq!(
        find(&plan, "3").text,
        "**Files:** none (prose only)\n\nWrite a paragraph. Task 3 depends on Task 1 and Task 2."
    );
    assert!(find(&plan, "1").text.contains("### Task 9: not a heading"));
    let aside: Vec<_> =
        plan.aside.iter().map(|aside| (aside.place.line, aside.text.as_str())).collect();
    assert_eq!(aside, [(58, "Execution order")]);
}

#[test]
fn tracks_run_side_by_side() {
    let plan = clean("track/headings.md", Format::Track);
    assert_eq!(
        tasks(&plan),
        [
            "A.1.1: Schema",
            "A.1.2: Queries <- A.1.1!",
            "A.2.1: Handlers <- A.1.2",
            "B.1.1: List",
            "B.1.2: Detail <- A.2.1! B.1.1",
        ]
    );
    assert_eq!(waves(&plan), ["A.1.1 B.1.1", "A.1.2", "A.2.1", "B.1.2"]);
    assert_eq!(hints(&plan, "A.1.1"), ["Change db/schema.sql"]);
    assert_eq!(hints(&plan, "A.1.2"), Vec::<String>::new());
    assert_eq!(hints(&plan, "A.2.1"), ["Change src/app.rs"]);
    assert_eq!(
        parents(&plan, "A.1.2"),
        [
            ("Track A: Backend".to_owned(), String::new()),
            ("Storage".to_owned(), "What storage is about.".to_owned()),
        ]
    );
}

#[test]
fn spec_kit_phases_are_in_order_and_marked_tasks_side_by_side() {
    let plan = clean("speckit/plain.md", Format::SpecKit);
    assert_eq!(
        tasks(&plan),
        [
            "T001: Create project structure per plan (done)",
            "T002: Configure lint in `.eslintrc.json` <- T001",
            "T003: Configure format in .prettierrc.json <- T001",
            "T004: Contract test in tests/contract/test_signup.py <- T002 T003",
            "T005: Create User model in src/models/user.py <- T004",
            "T006: Implement UserService in src/services/user_service.py (depends on T005) <- T005!",
            "T007: Verify with Node.js and src/services/user_service.py <- T006",
        ]
    );
    // The tests of a story come before what they test.
    assert_eq!(waves(&plan), ["T002 T003", "T004", "T005", "T006", "T007"]);
    assert_eq!(hints(&plan, "T002"), ["Change .eslintrc.json"]);
    assert_eq!(hints(&plan, "T004"), ["Test tests/contract/test_signup.py"]);
    assert_eq!(hints(&plan, "T005"), ["Change src/models/user.py"]);
    assert_eq!(hints(&plan, "T007"), ["Read src/services/user_service.py"]);
    assert_eq!(files(&plan, "T005"), Vec::<String>::new());
    assert_eq!(find(&plan, "T003").text, "- [ ] T003 [P] Configure format in .prettierrc.json");
    assert_eq!(parents(&plan, "T004")[0].1, "**Goal**: Sign up");
    assert_eq!((plan.title.as_str(), &plan.goal), ("Tasks: Accounts", &None));
}

#[test]
fn openspec_tasks_follow_each_other() {
    let plan = clean("openspec/plain.md", Format::OpenSpec);
    assert_eq!(
        tasks(&plan),
        [
            "1.1: Add `scope` to `src/config.ts` (done)",
            "1.2: Validate it <- 1.1",
            "2.1: Create `src/command.ts` with the command <- 1.2",
            "2.2: Tests (depends on 2.1) <- 2.1!",
        ]
    );
    assert_eq!(hints(&plan, "1.1"), ["Change src/config.ts"]);
    assert_eq!(hints(&plan, "2.1"), ["Create src/command.ts"]);
    assert_eq!(
        find(&plan, "1.2").text,
        "- [ ] 1.2 Validate it\n  - [ ] bad values\n  - [ ] missing values"
    );
    assert_eq!(find(&plan, "1.2").steps.len(), 2);
    assert_eq!(
        parents(&plan, "1.2"),
        [("1. Configuration".to_owned(), "Opening of one.".to_owned())]
    );
}

#[test]
fn kiro_leaves_are_tasks_with_their_requirements() {
    let plan = clean("kiro/plain.md", Format::Kiro);
    assert_eq!(
        tasks(&plan),
        [
            "1: Set up the project (done)",
            "2.1: Implement the reader <- 1",
            "2.2: Write property tests <- 2.1 (optional)",
            "2.3: Wire it up <- 2.1",
            "3: Ship it <- 2.3",
        ]
    );
    assert_eq!(find(&plan, "2.1").requirements, ["2.1", "2.3"]);
    assert_eq!(find(&plan, "2.3").text, "- [ ] 2.3 Wire it up");
    assert_eq!(hints(&plan, "2.1"), ["Create src/reader.ts", "Read docs/format.md"]);
    assert_eq!(
        parents(&plan, "2.3"),
        [("Build the importer".to_owned(), "  Opening words of two.".to_owned())]
    );
    assert!(
        find(&plan, "2.1").text.starts_with("- [ ] 2.1 Implement")
            && !find(&plan, "2.1").text.contains("2.2")
    );
}

#[test]
fn task_master_needs_are_as_declared() {
    let plan = clean("taskmaster/plain.json", Format::TaskMaster);
    assert_eq!(
        tasks(&plan),
        [
            "1: Init (done)",
            "2.1: Types <- 1!",
            "2.2: Code <- 2.1!",
            "2.3: Docs <- 2.1!",
            "3: Ship <- 2.2! 2.3!",
            "5: Later (optional)",
        ]
    );
    assert_eq!(waves(&plan), ["2.1 5", "2.2 2.3", "3"]);
    assert_eq!(plan.title, "Mill");
    assert_eq!(
        parents(&plan, "2.1"),
        [(
            "Core".to_owned(),
            "Description:\nThe heart.\n\nDetails:\nWrite it.\n\nTest strategy:\nRun it.".to_owned()
        )]
    );
    assert_eq!(find(&plan, "2.3").place.line, 8);
}

#[test]
fn only_the_field_of_task_master_says_how_the_work_is_looked_at() {
    let words = "Details:\nRun: `make`\n\nTest strategy:\nBy hand.\n\nRun: `make test`";
    let pieces = |source: &str| {
        let parsed = plan::parse(source.as_bytes(), &Options::default());
        assert_eq!(parsed.faults, []);
        parsed.plan.tasks[0].pieces().map(str::to_owned)
    };
    let fields = r#"[{"id": 1, "title": "A", "details": "Run: `make`", "testStrategy": "By hand.\n\nRun: `make test`"}]"#;
    let (work, tests) = words.split_at(words.find("Test strategy").unwrap());
    assert_eq!(pieces(fields), [work, tests]);
    let native = format!("---\nsequester: 1\n---\n# P\n\n## [a] A\n\n{words}\n");
    assert_eq!(pieces(&native), [words, ""]);
    let superpowers = format!("# P\n\n### Task 1: A\n\n{words}\n");
    assert_eq!(pieces(&superpowers), [words, ""]);
}

#[test]
fn task_master_tags_prefer_the_master() {
    let plan = clean("taskmaster/tagged.json", Format::TaskMaster);
    assert_eq!(tasks(&plan), ["1: Uno", "2: Due <- 1!"]);
    assert_eq!(find(&plan, "1").text, "Description:\nÄ\nb");
    let aside: Vec<_> =
        plan.aside.iter().map(|aside| (aside.text.as_str(), aside.place.line)).collect();
    assert_eq!(aside, [("feature", 1)]);
}

#[test]
fn native_tasks_say_everything_themselves() {
    let plan = clean("native/plain.md", Format::Native);
    assert_eq!(
        tasks(&plan),
        ["reset-1: Store the token", "reset-2: Send the mail <- reset-1!", "reset-3: Docs"]
    );
    let task = find(&plan, "reset-2");
    assert_eq!(
        files(&plan, "reset-2"),
        ["Create src/mail.rs", "Modify src/lib.rs", "Test tests/mail.rs"]
    );
    assert_eq!(files(&plan, "reset-1")[1], "Modify src/lib.rs:3-9");
    assert_eq!(task.settings.agent.as_deref(), Some("writer"));
    assert_eq!(task.settings.workflow.as_deref(), Some("build"));
    assert_eq!((task.settings.tdd, task.settings.budget.as_deref()), (Some(true), Some("200k")));
    assert_eq!(task.checks, ["cargo test mail"]);
    assert_eq!(find(&plan, "reset-3").checks, ["cargo test"]);
    assert_eq!(task.constraints, ["plain text only"]);
    assert_eq!(plan.constraints[0].text, "no new dependencies");
    assert_eq!(plan.feature(), "Password reset\n\nPeople can help themselves.");
    assert!(task.text.starts_with("Everything up to") && task.text.contains("### [not a task]"));
    assert!(!task.text.contains("reset-1"));
}
