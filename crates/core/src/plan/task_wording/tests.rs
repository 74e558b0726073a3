use super::super::Parent;
use super::*;

fn expects_failure(title: &str, text: &str, section: &str) -> bool {
    let parents = vec![Parent { title: "Phase 1".to_owned(), text: section.to_owned() }];
    let task = Task { title: title.to_owned(), text: text.to_owned(), parents, ..Task::default() };
    TaskWording::of_task(&task).expects_failing_tests
}

#[test]
fn tests_that_fail_first_are_known_by_title_text_or_section() {
    let section = "**These tests MUST be written and MUST FAIL before ANY implementation**";
    for (title, text, above) in [
        ("2.1 Write failing test: the reply is 403", "", ""),
        ("Write the failing unit tests for `a`", "", ""),
        ("T003 [P] Add red tests in tests/a.py", "", ""),
        ("Failing test: an ended link", "", ""),
        ("Add tests that fail until T005", "", ""),
        ("Create unit test in tests/a.py (must fail first)", "", ""),
        ("RED: write tests for the end", "", ""),
        ("Contract test for the end in tests/a.py", "", section),
        (
            "1. Write bug condition exploration test",
            "It will validate the fix when it passes.\n- **EXPECTED OUTCOME**: Test FAILS",
            "",
        ),
        ("Tests for the end", "Run: `npm test`\nExpected: FAIL", ""),
    ] {
        assert!(expects_failure(title, text, above), "{title}");
    }
    for (title, text, above) in [
        ("Fix failing tests", "", section),
        ("Write a failing test and make it pass", "", ""),
        ("Add tests for failing uploads", "A login will fail with 401.", ""),
        ("Add retry until failing tests end", "", ""),
        ("Implement the end", "", section),
        ("Expiry tests", "Expected: FAIL\nthen\nExpected: PASS", ""),
    ] {
        assert!(!expects_failure(title, text, above), "{title}");
    }
}

#[test]
fn looking_and_acting_need_no_change() {
    for title in [
        "Run the tests",
        "Re-run security probes",
        "Rerun all tests",
        "Checkpoint - Ensure all tests pass",
        "Make sure all tests pass",
        "Commit and push",
        "Create commit and prepare PR",
        "**Verify** it",
        "Full Automated Verification",
        "Lint and typecheck",
        "Understand the store",
        "`pnpm test`",
    ] {
        assert!(TaskWording::of_title(title).may_change_nothing, "{title}");
    }
    for title in ["Implement it", "Add tests", "", "Running totals", "`a.rs`", "Email verification"]
    {
        assert!(!TaskWording::of_title(title).may_change_nothing, "{title}");
    }
    assert!(TaskWording::of_title("Remove the flag if present").is_conditional);
}

#[test]
fn what_takes_tests_away_is_known_by_its_verb() {
    for title in [
        "2.1 Remove `a()` and its tests",
        "Clean up obsolete tests",
        "Prune tests of the store",
        "Consolidate duplicate tests (drop `tests/a.py`)",
        "Get rid of the old tests",
        "Tests: remove those of `a`",
    ] {
        assert!(TaskWording::of_title(title).removes, "{title}");
    }
    assert!(!TaskWording::of_title("Add a remove button").removes);
}
