use super::*;

#[test]
fn a_number_of_tests_is_compared_where_the_output_states_it() {
    let expect = Expect { count: Some(5), ..Expect::default() };
    for ok in [
        "test result: ok. 5 passed; 0 failed",
        "===== 5 passed in 0.1s =====",
        "ℹ pass 5",
        "Ran 5 tests in 0.1s",
        "ok. 2 passed\nok. 3 passed",
        "Tests  5 passed (5)",
        "running 5 tests\ntest result: ok. 5 passed; 0 failed\n\nrunning 0 tests\ntest result: ok. 0 passed",
        " Test Files  1 passed (1)\n      Tests  5 passed (5)",
        "Test Suites: 2 passed, 2 total\nTests:       5 passed, 5 total",
        "all 5 tests passed",
        "  5 passing (3ms)",
        "Passed!  - Failed:     0, Passed:     5, Skipped:     0, Total:     5, Duration: 9 ms",
        "Total tests: 6\n     Passed: 5",
        "Tests passed: 5",
        "[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s - in a.B\n[INFO] Tests run: 5, Failures: 0",
        "[INFO] Tests run: 6, Failures: 0, Errors: 0, Skipped: 1",
    ] {
        assert_eq!(miss("x", &expect, 0, ok), None, "{ok}");
    }
    for other in [
        "15 passed",
        "all good",
        "4 passed, 5 failed",
        "running 5 tests\ntest result: ok. 4 passed; 1 ignored",
        "ok. 5 passed\nok. 3 passed",
        "running 5 tests",
        "Ran 5 tests\n4 passed",
        "Failed: 5, Passed: 0",
        "Passed: 4, Failed: 5",
        "Tests run: 5, Failures: 0, Errors: 0, Skipped: 2",
    ] {
        assert!(miss("x", &expect, 0, other).is_some(), "{other}");
    }
}

#[test]
fn what_could_not_run_is_not_the_failure_that_was_expected() {
    let fail = Expect { exit: Exit::Fail, ..Expect::default() };
    for (command, code, output) in [
        ("x", 126, ""),
        ("x", 127, ""),
        ("x", 137, "Killed"),
        ("x", 130, ""),
        ("x", 159, ""),
        ("python -m pytest -q", 1, "/usr/bin/python: No module named pytest"),
        ("python3 -m pytest", 1, "/usr/bin/python3: No module named 'pytest'"),
        ("python tests/a.py", 2, "python: can't open file 'tests/a.py': [Errno 2]"),
        ("cargo nextest run", 101, "error: no such command: `nextest`"),
        ("npm test", 1, "npm error Missing script: \"test\""),
    ] {
        assert!(miss(command, &fail, code, output).is_some(), "{command}");
    }
    for code in [1, 125, 128, 160, 255] {
        assert_eq!(miss("git show nope", &fail, code, "fatal: bad revision"), None, "{code}");
    }
    let red = "E   ModuleNotFoundError: No module named 'add'";
    assert_eq!(miss("python -m pytest", &fail, 1, red), None);
    let told = Expect { text: Some("No module named calc".to_owned()), ..fail };
    assert_eq!(miss("python -m calc", &told, 1, "python: No module named calc"), None);
}

#[test]
fn text_needs_exit_0_and_whole_words_and_lines_may_differ_in_times() {
    let text = Expect { text: Some("3 passed".to_owned()), ..Expect::default() };
    assert_eq!(miss("x", &text, 0, "= 3 passed ="), None);
    assert!(
        miss("x", &text, 0, "13 passed").is_some() && miss("x", &text, 1, "3 passed").is_some()
    );
    let lines =
        Expect { lines: vec!["a".to_owned(), "3 passed in 0.03s".to_owned()], ..Expect::default() };
    assert_eq!(miss("x", &lines, 0, "z\na\nb\n3 passed in 1.20s\n"), None);
    assert!(miss("x", &lines, 0, "3 passed in 0.03s\na\n").is_some());
    let silent = Expect { silent: true, ..Expect::default() };
    for finds in ["grep -r x .", "cat a | grep 'b|c'", "cd a && rg x", "grep x a 2>/dev/null"] {
        assert_eq!(miss(finds, &silent, 1, ""), None, "{finds}");
    }
    for other in
        ["diff a b", "grep x a && make", "grep x a | sort", "make # grep", "(grep x a; make)"]
    {
        assert!(miss(other, &silent, 1, "").is_some(), "{other}");
    }
    assert!(miss("make", &silent, 1, "").is_some() && miss("grep x .", &silent, 0, "a").is_some());
}
