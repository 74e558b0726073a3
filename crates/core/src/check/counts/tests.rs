use proptest::prelude::*;

use super::*;
use crate::check::{Kind, ended, passed};

/// Passed, failed, skipped.
fn read(output: &str) -> Option<(u64, u64, u64)> {
    counts(output).map(|counts| (counts.passed, counts.failed, counts.skipped))
}

fn assert_read(table: &[(&str, (u64, u64, u64))]) {
    for (output, wanted) in table {
        assert_eq!(read(output), Some(*wanted), "{output}");
    }
}

#[test]
fn rust_s_runners_are_read() {
    assert_read(&[
        (
            "running 5 tests\n.....\ntest result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.00s\n",
            (5, 0, 1),
        ),
        (
            "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out",
            (3, 2, 0),
        ),
        (
            "running 3 tests\ntest result: ok. 3 passed; 0 failed; 0 ignored\n\n   Doc-tests shop\n\nrunning 1 test\ntest result: ok. 1 passed; 0 failed; 1 ignored\n",
            (4, 0, 1),
        ),
        ("running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored\n", (0, 0, 0)),
        (
            "────────────\n     Summary [   0.004s] 5 tests run: 5 passed (1 slow), 2 skipped\n",
            (5, 0, 2),
        ),
        (
            "     Summary [   1.204s] 3/9 tests run: 1 passed, 1 failed, 1 timed out, 2 skipped\nerror: test run failed",
            (1, 2, 2),
        ),
        ("error: no tests to run\n(hint: use `--no-tests`)", (0, 0, 0)),
    ]);
}

#[test]
fn javascript_s_runners_are_read() {
    assert_read(&[
        (
            "PASS src/a.test.js\nTest Suites: 1 failed, 2 passed, 3 total\nTests:       1 failed, 1 skipped, 2 todo, 5 passed, 9 total\nSnapshots:   1 passed, 1 total\nTime:        1.2 s",
            (5, 1, 3),
        ),
        (
            "Test Suites: 0 of 1 total\nTests:       0 total\nNo tests found, exiting with code 1",
            (0, 0, 0),
        ),
        (
            " Test Files  1 failed | 2 passed (3)\n      Tests  1 failed | 5 passed | 1 skipped (7)\n   Start at  10:00:00\n",
            (5, 1, 1),
        ),
        (" Test Files  no tests\n      Tests  no tests\n", (0, 0, 0)),
        ("No test files found, exiting with code 1\n", (0, 0, 0)),
        (
            "  cart\n    ✔ adds\n\n  5 passing (3ms)\n  2 pending\n  1 failing\n\n  1) cart\n",
            (5, 1, 2),
        ),
        ("  0 passing (1ms)\n", (0, 0, 0)),
        (
            "TAP version 13\n# Subtest: adds\nok 1 - adds\nnot ok 2 - takes\n1..2\n# tests 4\n# suites 1\n# pass 2\n# fail 1\n# cancelled 0\n# skipped 1\n# todo 0\n# duration_ms 4.1\n",
            (2, 1, 1),
        ),
        (
            "▶ cart\n  ✔ adds (0.4ms)\nℹ tests 3\nℹ suites 1\nℹ pass 3\nℹ fail 0\nℹ cancelled 0\nℹ skipped 0\nℹ todo 0\nℹ duration_ms 41.5\n",
            (3, 0, 0),
        ),
        ("ℹ tests 0\nℹ suites 0\nℹ pass 0\nℹ fail 0\n", (0, 0, 0)),
        (
            "bun test v1.1\n\n 5 pass\n 1 fail\n 7 expect() calls\nRan 6 tests across 2 files. [12.00ms]\n",
            (5, 1, 0),
        ),
        ("ok | 5 passed (3 steps) | 0 failed | 1 ignored (12ms)\n", (5, 0, 1)),
        (
            "a:test: Tests:       2 passed, 2 total\nb:test:       Tests  3 passed (3)\npackages/c test:   4 passing (2ms)\n",
            (9, 0, 0),
        ),
    ]);
}

#[test]
fn python_s_runners_are_read() {
    assert_read(&[
        (
            "collected 9 items\n\ntests/test_a.py ..F.sx\n==== 1 failed, 4 passed, 2 skipped, 1 deselected, 1 xfailed, 1 xpassed, 3 warnings, 1 error in 0.12s ====\n",
            (5, 2, 3),
        ),
        (".....\n5 passed in 61.02s (0:01:01)\n", (5, 0, 0)),
        ("========= no tests ran in 0.01s =========\n", (0, 0, 0)),
        ("==== 1 error in 0.31s ====", (0, 1, 0)),
        ("....\n------\nRan 4 tests in 0.001s\n\nOK\n", (4, 0, 0)),
        ("Ran 6 tests in 0.001s\n\nOK (skipped=1)\n", (5, 0, 1)),
        (
            "Ran 9 tests in 0.004s\n\nFAILED (failures=1, errors=2, skipped=1, expected failures=1, unexpected successes=1)\n",
            (3, 4, 2),
        ),
        ("Ran 0 tests in 0.000s\n\nNO TESTS RAN\n", (0, 0, 0)),
        ("Ran 0 tests in 0.000s\n\nOK\n", (0, 0, 0)),
        ("Ran 2 tests in 0.1s\n\nOK\nRan 3 tests in 0.1s\n\nFAILED (failures=1)\n", (4, 1, 0)),
    ]);
}

#[test]
fn go_names_its_tests_or_only_its_packages() {
    assert_read(&[
        ("ok  \texample.org/shop\t0.003s\nok  \texample.org/shop/pay\t(cached)\n", (2, 0, 0)),
        ("?   \texample.org/shop\t[no test files]\n", (0, 0, 0)),
        ("ok  \texample.org/shop\t0.1s [no tests to run]\n", (0, 0, 0)),
        ("ok      example.org/shop        0.003s  coverage: 81.0% of statements\n", (1, 0, 0)),
        (
            "=== RUN   TestAdd\n=== RUN   TestAdd/one\n--- PASS: TestAdd (0.00s)\n    --- PASS: TestAdd/one (0.00s)\n--- SKIP: TestNet (0.00s)\n--- FAIL: TestPay (0.01s)\nFAIL\nFAIL\texample.org/shop\t0.010s\n=== RUN   TestB\n--- PASS: TestB (0.00s)\nPASS\nok  \texample.org/shop/b\t0.1s\nFAIL\n",
            (2, 1, 1),
        ),
        ("FAIL\texample.org/shop [build failed]\nok  \texample.org/b\t0.1s\nFAIL\n", (1, 1, 0)),
        ("--- PASS: TestA (0.00s)\n[12000 bytes left out]\n", (1, 0, 0)),
    ]);
}

#[test]
fn runners_of_other_languages_are_read() {
    assert_read(&[
        (
            "[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s -- in a.B\n[ERROR] Tests run: 4, Failures: 1, Errors: 1, Skipped: 1, Time elapsed: 0.1 s <<< FAILURE! -- in a.C\n[INFO] Results:\n[ERROR] Tests run: 7, Failures: 1, Errors: 1, Skipped: 1\n",
            (4, 2, 1),
        ),
        (
            "Tests run: 3, Failures: 0, Errors: 0, Skipped: 0\n...\nTests run: 2, Failures: 0, Errors: 0, Skipped: 0",
            (5, 0, 0),
        ),
        (
            "[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s - in a.B\n[cut",
            (3, 0, 0),
        ),
        ("[INFO] No tests to run.\n", (0, 0, 0)),
        (
            "> Task :test FAILED\nCartTest > adds() FAILED\n12 tests completed, 1 failed, 2 skipped\n",
            (9, 1, 2),
        ),
        (
            "> Task :test\n\nCartTest > adds() PASSED\nCartTest > pays SKIPPED\n\nBUILD SUCCESSFUL in 1s",
            (1, 0, 1),
        ),
        ("> Task :test NO-SOURCE\nBUILD SUCCESSFUL in 1s", (0, 0, 0)),
        (
            "Passed!  - Failed:     0, Passed:     5, Skipped:     1, Total:     6, Duration: 9 ms - A.dll (net8.0)\nFailed!  - Failed:     1, Passed:     2, Skipped:     0, Total:     3, Duration: 9 ms - B.dll",
            (7, 1, 1),
        ),
        (
            "Total tests: 6\n     Passed: 4\n     Failed: 1\n    Skipped: 1\n Total time: 1.2 Seconds",
            (4, 1, 1),
        ),
        ("Test summary: total: 5, failed: 1, succeeded: 4, skipped: 0, duration: 1.2s", (4, 1, 0)),
        ("OK (5 tests, 12 assertions)\n", (5, 0, 0)),
        (
            "FAILURES!\nTests: 9, Assertions: 12, Errors: 1, Failures: 1, Skipped: 1, Incomplete: 1, Risky: 1.\n",
            (4, 2, 3),
        ),
        ("No tests executed!\n", (0, 0, 0)),
        ("Finished in 0.01 seconds\n9 examples, 1 failure, 2 pending\n", (6, 1, 2)),
        ("0 examples, 0 failures\n", (0, 0, 0)),
        ("5 runs, 7 assertions, 1 failures, 0 errors, 1 skips\n", (3, 1, 1)),
        ("2 doctests, 3 tests, 1 failure (2 excluded)\n", (4, 1, 0)),
        ("1..4\nok 1 adds\nnot ok 2 takes\nok 3 pays # skip no net\nok 4 sums in 3ms\n", (2, 1, 1)),
        (" ✓ adds\n ✗ takes\n\n2 tests, 1 failure\n", (1, 1, 0)),
        ("80% tests passed, 1 tests failed out of 5\n", (4, 1, 0)),
        (
            "100% tests passed, 0 tests failed out of 3\nTotal Test time (real) =   0.01 sec",
            (3, 0, 0),
        ),
        ("No tests were found!!!\n", (0, 0, 0)),
        (
            "Executed 2 tests, with 1 failure (0 unexpected) in 0.1 seconds\nExecuted 5 tests, with 1 failure (0 unexpected) in 0.2 (0.3) seconds\n",
            (4, 1, 0),
        ),
    ]);
}

#[test]
fn colour_progress_and_line_ends_are_no_hindrance() {
    assert_read(&[
        ("\u{1b}[1m\u{1b}[32m5 passed\u{1b}[0m\u{1b}[32m in 0.01s\u{1b}[0m\r\n", (5, 0, 0)),
        (
            "\u{1b}[2m      Tests \u{1b}[22m \u{1b}[1m\u{1b}[32m5 passed\u{1b}[39m\u{1b}[22m\u{1b}[90m (5)\u{1b}[39m",
            (5, 0, 0),
        ),
        ("\u{1b}]0;title\u{7}test result: ok. 2 passed; 0 failed\n", (2, 0, 0)),
        ("12 %\r57 %\rTests run: 2, Failures: 0\r\n", (2, 0, 0)),
    ]);
}

#[test]
fn several_runners_are_summed_and_other_talk_is_not_counted() {
    assert_read(&[(
        "test result: ok. 2 passed; 0 failed; 0 ignored\n[300 bytes left out]\nTests:       3 passed, 3 total\n5 passed in 0.1s\n",
        (10, 0, 0),
    )]);
    for talk in [
        "",
        "all good",
        "errors: 0",
        "Failures: 3",
        "Found 5 errors in 3 files",
        "3 errors in 2 files",
        "Finished in 3s",
        "BUILD SUCCESSFUL in 1s\n> Task :test UP-TO-DATE\n> Task :b:test NO-SOURCE",
        "Tests are to come: 5",
        "running 5 tests",
        "OK",
        "ok  \tsome words",
        "99999999999999999999999 passed in 1s",
    ] {
        assert_eq!(read(talk), None, "{talk}");
    }
    let most = u64::MAX;
    assert_eq!(read(&format!("{most} passed in 1s\n{most} passed in 1s")), Some((most, 0, 0)));
}

#[test]
fn no_test_is_no_pass_and_no_failure_is_talked_away() {
    let of = |passed, failed| Some(Counts { passed, failed, skipped: 3 });
    assert!(passed(Kind::Tests, 0, of(1, 0)) && passed(Kind::Tests, 0, None));
    assert!(!passed(Kind::Tests, 0, of(0, 0)) && !passed(Kind::Tests, 1, of(1, 0)));
    assert!(!passed(Kind::Tests, 0, of(1, 1)) && !passed(Kind::Own, 0, of(1, 1)));
    assert!(passed(Kind::Own, 0, of(0, 0)) && passed(Kind::Lint, 0, of(0, 1)));
    assert!(ended(0) && ended(101) && ended(160) && !ended(127) && !ended(137) && !ended(-1));
}

#[test]
fn hostile_output_takes_linear_time() {
    let output = [&"\u{1b}[".repeat(500_000), &"1 ".repeat(500_000), &"ok 1\n".repeat(200_000)];
    let output = output.map(String::as_str).join("\n");
    assert_eq!(read(&output), Some((200_000, 0, 0)));
}

proptest! {
    #[test]
    fn any_output_is_borne(output in "([0-9]{1,3}|passed|failed|Tests:|ok|not ok|#|Ran|tests| |\t|\n|\r|=|\u{1b}\\[3m|é|,|\\(){0,80}") {
        let _ = counts(&output);
    }

    #[test]
    fn no_code_but_0_passes(code in proptest::num::i32::ANY, passes in 0_u64..5, failed in 0_u64..5) {
        let counts = Counts { passed: passes, failed, skipped: 0 };
        for kind in Kind::PROJECT {
            prop_assert!(code == 0 || !passed(kind, code, Some(counts)));
        }
    }
}
