mod relative;
mod untouched;

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::change::{Action, Entry, Mode};
use crate::check::Check;
use crate::id::TreeId;
use crate::plan;
use crate::report::{Change as Claimed, Conclusion, Findings, Phase, Validation};
use crate::run::Cap;
use crate::tokens;

fn task(files: &[(&str, plan::Action)]) -> TaskSpec {
    TaskSpec {
        id: "1".into(),
        title: "Add a cart".to_owned(),
        text: Digest::of(b"text"),
        needs: Vec::new(),
        workflow: "build".to_owned(),
        agent: None,
        profile: None,
        models: Vec::new(),
        files: specs(files),
        hints: Vec::new(),
        asks_person: false,
        files_declared: !files.is_empty(),
        wording: plan::TaskWording::default(),
        checks: Vec::new(),
        produces: Vec::new(),
        consumes: Vec::new(),
        tdd: false,
        budget: Cap::default(),
        message: None,
        left_out: None,
    }
}

fn specs(files: &[(&str, plan::Action)]) -> Vec<FileSpec> {
    files
        .iter()
        .map(|(path, action)| FileSpec { path: (*path).to_owned(), action: *action })
        .collect()
}

fn change(files: &[(&str, Action)]) -> Change {
    let entry = |(path, action): &(&str, Action)| Entry {
        path: (*path).to_owned(),
        action: *action,
        was: None,
        mode: Some(Mode::File),
        added: Some(1),
        removed: Some(0),
        in_patch: true,
        size: 3,
        content: b"abc".to_vec(),
    };
    Change { entries: files.iter().map(entry).collect(), ..Change::default() }
}

fn ended(kind: Kind, command: &str, code: i32, counts: Option<(u64, u64)>) -> CheckEnded {
    let counts = counts.map(|(passed, failed)| Counts { passed, failed, skipped: 0 });
    CheckEnded {
        check: Check { kind, command: command.to_owned() },
        on: TreeId::new("t"),
        is_base: false,
        is_red: false,
        code,
        limit: None,
        passed: check::passed(kind, code, counts),
        missing_program: None,
        counts,
        output: Digest::of(command.as_bytes()),
        elapsed_ms: 1,
    }
}

fn ran(
    kind: Kind,
    code: i32,
    counts: Option<(u64, u64)>,
    base: Option<(i32, Option<(u64, u64)>)>,
) -> Ran {
    let base = base.map(|(code, counts)| ended(kind, kind.as_str(), code, counts));
    Ran { ended: ended(kind, kind.as_str(), code, counts), base }
}

/// Weighs with a tree that has these paths and names.
struct Scene<'a> {
    task: &'a TaskSpec,
    change: &'a Change,
    report: Option<&'a Report>,
    checks: &'a [Ran],
    wanted: &'a [Kind],
    tree: &'a [&'a str],
    others: &'a [Other],
    red: &'a [CheckEnded],
    outputs: BTreeMap<Digest, String>,
}

impl<'a> Scene<'a> {
    fn of(task: &'a TaskSpec, change: &'a Change) -> Self {
        Self {
            task,
            change,
            report: None,
            checks: &[],
            wanted: &[],
            tree: &[],
            others: &[],
            red: &[],
            outputs: BTreeMap::new(),
        }
    }

    fn weigh(&self) -> Evidence {
        let tree: BTreeSet<&str> = self.tree.iter().copied().collect();
        weigh(&Input {
            task: self.task,
            change: self.change,
            report: self.report,
            checks: self.checks,
            wanted: self.wanted,
            exists: &|path| tree.contains(path),
            mentioned: &|path| tree.iter().any(|one| plan::fits_path(path, one)),
            names: &|name| if tree.contains(name) { Known::Found } else { Known::Missing },
            others: self.others,
            red: self.red,
            secrets: &[],
            outputs: &self.outputs,
        })
    }

    fn fails(&self) -> Vec<String> {
        self.weigh().fails.into_iter().map(|failure| failure.sentence).collect()
    }
}

fn report(findings: Findings) -> Report {
    let mut report = Report::asking("1".into(), Phase::Write, Vec::new());
    (report.findings, report.verdict) = (findings, Conclusion::Proceed);
    report
}

#[test]
fn deliverables_must_be_there_and_what_is_to_go_must_be_gone() {
    use plan::Action::{Change as Touch, Create, Delete, Modify, Read, Test};
    let task = task(&[
        ("./src/cart.rs", Create),
        ("src/old.rs", Delete),
        ("src/lib.rs", Modify),
        ("tests/cart.rs", Test),
        ("docs/", Touch),
        ("gone.md", Read),
    ]);
    let some = change(&[("src/lib.rs", Action::Modify)]);
    let mut scene =
        Scene { tree: &["src/old.rs", "src/lib.rs", "docs"], ..Scene::of(&task, &some) };
    assert_eq!(
        scene.fails(),
        [
            "`src/cart.rs` is to be there after this task, and is not.",
            "`src/old.rs` is to be deleted, and is still there.",
            "`tests/cart.rs` is to be there after this task, and is not.",
        ]
    );
    scene.tree = &["src/cart.rs", "src/lib.rs", "tests/cart.rs", "docs"];
    assert!(scene.weigh().passed());
    let none = Change::default();
    scene.change = &none;
    assert_eq!(scene.fails().len(), 4, "{:?}", scene.fails());
    assert_eq!(
        scene.weigh().missing[0],
        Missing { path: "docs".to_owned(), lack: Lack::Untouched }
    );
}

#[test]
fn a_failing_check_counts_unless_the_project_had_it_before() {
    let (task, change) = (task(&[]), Change::default());
    for (ran, held, before) in [
        (ran(Kind::Tests, 0, Some((3, 0)), None), false, false),
        (ran(Kind::Tests, 1, Some((3, 1)), None), true, false),
        (ran(Kind::Tests, 1, Some((3, 1)), Some((0, Some((3, 0))))), true, false),
        (ran(Kind::Tests, 1, Some((3, 1)), Some((1, Some((3, 1))))), false, true),
        (ran(Kind::Tests, 1, Some((3, 2)), Some((1, Some((3, 1))))), true, true),
        (ran(Kind::Tests, 0, Some((0, 0)), Some((0, Some((4, 0))))), true, false),
        (ran(Kind::Tests, 0, Some((0, 0)), Some((0, Some((0, 0))))), false, true),
        (ran(Kind::Tests, 101, None, Some((1, Some((3, 1))))), true, true),
        (ran(Kind::Tests, 1, Some((0, 0)), Some((1, Some((3, 1))))), true, true),
        (ran(Kind::Tests, 1, Some((2, 1)), Some((101, None))), false, true),
        (ran(Kind::Lint, 2, None, Some((1, None))), false, true),
        (ran(Kind::Own, 1, None, Some((1, None))), true, true),
        (ran(Kind::Own, 0, None, None), false, false),
    ] {
        let checks = [ran];
        let evidence = Scene { checks: &checks, ..Scene::of(&task, &change) }.weigh();
        let seen = &evidence.checks[0];
        assert_eq!((seen.held, seen.failed_before), (held, before), "{checks:?}");
        assert_eq!(evidence.passed(), !held);
    }
}

#[test]
fn a_kind_without_a_command_is_not_found_and_has_not_passed() {
    let (task, change) = (task(&[]), Change::default());
    let checks = [ran(Kind::Tests, 0, Some((1, 0)), None)];
    let scene = Scene { checks: &checks, wanted: &Kind::PROJECT, ..Scene::of(&task, &change) };
    let evidence = scene.weigh();
    let shown: Vec<(Kind, bool, bool)> =
        evidence.checks.iter().map(|check| (check.kind, check.passed, !check.is_found())).collect();
    assert_eq!(
        shown,
        [
            (Kind::Types, false, true),
            (Kind::Lint, false, true),
            (Kind::Tests, true, false),
            (Kind::Security, false, true)
        ]
    );
    assert!(evidence.passed());
}

#[test]
fn undeclared_files_are_shown_and_count_where_another_declares_them() {
    let task = task(&[("src/cart", plan::Action::Change), ("README.md", plan::Action::Read)]);
    let change = change(&[
        ("src/cart/add.rs", Action::Create),
        ("README.md", Action::Modify),
        ("src/pay.rs", Action::Modify),
    ]);
    let other =
        |id: &str, path: &str, action| Other { task: id.into(), files: specs(&[(path, action)]) };
    let mut others = vec![other("7", "src/pay.rs", plan::Action::Read)];
    let evidence =
        Scene { others: &others, tree: &["src/cart"], ..Scene::of(&task, &change) }.weigh();
    let shown: Vec<&str> = evidence.undeclared.iter().map(|file| file.path.as_str()).collect();
    assert_eq!((shown, evidence.passed()), (vec!["README.md", "src/pay.rs"], true));
    others.push(other("8", "src/pay.rs", plan::Action::Modify));
    let scene = Scene { others: &others, tree: &["src/cart"], ..Scene::of(&task, &change) };
    assert_eq!(scene.weigh().undeclared[1].declared_by, ["8".into()]);
    assert_eq!(
        scene.fails(),
        ["`src/pay.rs` was changed, and is not among the files of this task."]
    );
}

#[test]
fn interfaces_are_looked_for_in_the_code() {
    let mut task = task(&[]);
    task.produces = vec!["`Cart::add(item)` and `total()`".to_owned(), "a shop".to_owned()];
    let change = Change::default();
    let scene = Scene { tree: &["add"], ..Scene::of(&task, &change) };
    assert_eq!(scene.fails(), ["`total` is to be produced, and is not found in the code."]);
    assert_eq!(scene.weigh().interfaces.not_checked, ["a shop"]);
}

#[test]
fn new_tests_must_fail_without_the_change_and_pass_with_it() {
    let mut task = task(&[]);
    task.tdd = true;
    let change = change(&[("src/cart.rs", Action::Create), ("tests/cart.rs", Action::Create)]);
    let laid = red_then_green(&task, &change).unwrap();
    assert_eq!((laid.entries.len(), laid.entries[0].path.as_str()), (1, "tests/cart.rs"));
    let green = [ran(Kind::Tests, 0, Some((1, 0)), None)];
    let red = |code| [ended(Kind::Tests, "tests", code, None)];
    for (checks, red, wanted) in [
        (&green[..], &red(101)[..], Tdd { red: true, green: true }),
        (&green, &red(0), Tdd { red: false, green: true }),
        (&green, &red(127), Tdd { red: false, green: true }),
        (&green, &[], Tdd { red: false, green: true }),
        (&[], &red(1), Tdd { red: true, green: false }),
    ] {
        let evidence = Scene { checks, red, ..Scene::of(&task, &change) }.weigh();
        assert_eq!(evidence.tdd, Some(wanted));
        assert_eq!(evidence.passed(), wanted.red && wanted.green);
    }
    let bare = Change::default();
    let scene = Scene { checks: &green, red: &red(1), ..Scene::of(&task, &bare) };
    assert_eq!(scene.fails(), ["Tests are to come first, and the change has no file of tests."]);
}

#[test]
fn files_of_tests_are_known_by_their_names() {
    for path in [
        "tests/cart.rs",
        "src/cart/tests.rs",
        "cart_test.go",
        "test_cart.py",
        "tests/conftest.py",
        "src/cart.spec.ts",
        "src/CartTest.java",
        "Shop.Tests/CartTests.cs",
        "spec/cart_spec.rb",
        "a/__tests__/cart.js",
        "cart.bats",
        "pkg/testdata/a.json",
    ] {
        assert!(is_test_file(path), "{path}");
    }
    for path in ["src/cart.rs", "src/latest.rs", "src/Contest.java", "attest.py", "README.md"] {
        assert!(!is_test_file(path), "{path}");
    }
}

#[test]
fn claims_that_the_runtime_saw_otherwise_are_shown() {
    let task = task(&[("src/cart.rs", plan::Action::Create)]);
    let mut change = change(&[("src/lib.rs", Action::Modify)]);
    change.refused.push(Refused { path: ".git/config".to_owned(), why: "git's".to_owned() });
    let claimed = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let wrote = report(Findings::Write(Claimed {
        files_changed: claimed(&["./src/lib.rs", "src/cart.rs", ".git/config"]),
        tests_written: claimed(&["tests/a.rs", "tests/b.rs::adds", "adds_up", "adds two prices"]),
    }));
    let scene = Scene { report: Some(&wrote), tree: &["tests/b.rs"], ..Scene::of(&task, &change) };
    assert_eq!(
        scene.weigh().contradictions,
        [
            "The report says that `.git/config` was changed, and it was refused.",
            "The report says that `src/cart.rs` was changed, and it was not.",
            "The report says that the task is complete. `src/cart.rs` is to be there after this task, and is not.",
            "The report says that the test `adds_up` was written, and it is not there.",
            "The report says that the test `tests/a.rs` was written, and it is not there.",
        ]
    );
    let mut validation = Validation::default();
    (validation.checks.tests.passed, validation.checks.lint.passed) = (true, true);
    let validated = report(Findings::Validate(validation));
    let checks = [ran(Kind::Tests, 1, None, Some((1, None))), ran(Kind::Lint, 0, None, None)];
    let scene = Scene {
        report: Some(&validated),
        checks: &checks,
        tree: &["src/cart.rs"],
        ..Scene::of(&task, &change)
    };
    let evidence = scene.weigh();
    assert_eq!(
        (evidence.contradictions, evidence.fails),
        (
            vec!["The report says that the check `tests` passed, and `tests` did not.".to_owned()],
            vec![]
        )
    );
}

#[test]
fn a_digest_shows_errors_with_their_places_then_the_end() {
    let (task, change) = (task(&[]), Change::default());
    let checks =
        [ran(Kind::Tests, 101, Some((4, 1)), None), ran(Kind::Lint, 1, None, Some((1, None)))];
    let evidence = Scene { checks: &checks, ..Scene::of(&task, &change) }.weigh();
    let noise = "compiling\n".repeat(2_000);
    let output = format!(
        "{noise}\u{1b}[31merror\u{1b}[0m[E0425]: no `add`\n --> src/cart.rs:3:5\n{noise}thread 'adds' panicked\nend\n"
    );
    let outputs = BTreeMap::from([
        (Digest::of(b"tests"), output),
        (Digest::of(b"lint"), "src/old.rs:1: bad".to_owned()),
    ]);
    let text = digest(&evidence, &outputs);
    let head = "What speaks against the change:\n\n- The check `tests` does not pass: `tests` ended with exit code 101, \
        and 1 test failed.\n\n## tests: `tests`, exit code 101, 4 passed, 1 failed, 0 skipped\n\n```text\n\
        error[E0425]: no `add`\n --> src/cart.rs:3:5\n...\nthread 'adds' panicked\n...\ncompiling\n";
    assert!(text.starts_with(head) && text.ends_with("compiling\n...\nend\n```\n"), "{text}");
    assert!(!text.contains("old.rs") && tokens::count(&text) <= TOKENS);
    let fine = Scene::of(&task, &change).weigh();
    assert_eq!(digest(&fine, &outputs), "");
}

#[test]
fn of_two_runs_of_a_check_the_one_that_lost_more_tests_counts() {
    let (task, change) = (task(&[]), Change::default());
    let mut checks = [1, 2].map(|failed| ran(Kind::Tests, 0, None, Some((0, Some((0, failed))))));
    for _ in 0..2 {
        let evidence = Scene { checks: &checks, ..Scene::of(&task, &change) }.weigh();
        assert_eq!(evidence.checks[0].ran_before, Some(2));
        checks.reverse();
    }
}

#[test]
fn evidence_outlives_a_process() {
    let mut task = task(&[("a.rs", plan::Action::Create)]);
    task.tdd = true;
    let change = change(&[("b.rs", Action::Create)]);
    let checks = [ran(Kind::Tests, 1, None, None)];
    let scene = Scene { checks: &checks, wanted: &[Kind::Lint], ..Scene::of(&task, &change) };
    let evidence = scene.weigh();
    let text = serde_json::to_string(&evidence).unwrap();
    assert_eq!(serde_json::from_str::<Evidence>(&text).unwrap(), evidence);
}

fn any_ran() -> impl Strategy<Value = Ran> {
    let kinds = prop::sample::select(vec![Kind::Types, Kind::Lint, Kind::Tests, Kind::Own]);
    let counts = || prop::option::of((0_u64..3, 0_u64..3));
    let base = prop::option::of((0_i32..2, counts()));
    (kinds, 0_i32..2, counts(), base)
        .prop_map(|(kind, code, counts, base)| ran(kind, code, counts, base))
}

proptest! {
    #[test]
    fn nothing_passes_with_a_check_that_the_change_broke(checks in prop::collection::vec(any_ran(), 0..6)) {
        let (task, change) = (task(&[]), Change::default());
        let evidence = Scene { checks: &checks, ..Scene::of(&task, &change) }.weigh();
        let broken = |ran: &Ran| !ran.ended.passed && ran.base.as_ref().is_none_or(|base| base.passed);
        prop_assert!(!checks.iter().any(broken) || !evidence.passed());
    }

    #[test]
    fn the_order_of_what_is_known_says_nothing(
        checks in prop::collection::vec(any_ran(), 0..6),
        paths in prop::collection::btree_set("[a-c]{1,2}(/[a-c])?", 0..6),
        refused in prop::collection::vec("[a-c]", 0..4),
    ) {
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let declared: Vec<_> = paths.iter().step_by(2).map(|path| (*path, plan::Action::Create)).collect();
        let mut task = task(&declared);
        task.produces = refused.iter().map(|name| format!("`{name}`")).collect();
        let entries: Vec<_> = paths.iter().map(|path| (*path, Action::Create)).collect();
        let mut change = change(&entries);
        change.refused = refused
            .iter()
            .map(|path| Refused { path: path.clone(), why: "no".to_owned() })
            .collect();
        let others: Vec<Other> = paths
            .iter()
            .map(|path| Other { task: (*path).into(), files: specs(&[("a", plan::Action::Modify)]) })
            .collect();
        let one = Scene { checks: &checks, others: &others, wanted: &Kind::PROJECT, ..Scene::of(&task, &change) }.weigh();
        let (mut task, mut change, mut checks, mut others) = (task.clone(), change.clone(), checks.clone(), others.clone());
        task.files.reverse();
        task.produces.reverse();
        change.entries.reverse();
        change.refused.reverse();
        checks.reverse();
        others.reverse();
        let wanted: Vec<Kind> = Kind::PROJECT.into_iter().rev().collect();
        let other = Scene { checks: &checks, others: &others, wanted: &wanted, ..Scene::of(&task, &change) }.weigh();
        prop_assert_eq!(one, other);
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_digest_is_bounded_whatever_was_printed(
        commands in prop::collection::vec("[a-z` \n]{0,300}", 1..12),
        output in "(error: |src/a.rs:3 |`{1,9}|\u{1b}\\[31m|[a-zé ]{0,40}|\n|世界){0,400}",
        repeat in 1_usize..40,
    ) {
        let files: Vec<_> = commands.iter().map(|path| (path.as_str(), plan::Action::Create)).collect();
        let (task, change) = (task(&files), Change::default());
        let checks: Vec<Ran> = commands
            .iter()
            .map(|command| Ran { ended: ended(Kind::Own, command, 1, None), base: None })
            .collect();
        let evidence = Scene { checks: &checks, ..Scene::of(&task, &change) }.weigh();
        let outputs = commands
            .iter()
            .map(|command| (Digest::of(command.as_bytes()), output.repeat(repeat)))
            .collect();
        let text = digest(&evidence, &outputs);
        prop_assert!(tokens::count(&text) <= TOKENS && !text.is_empty());
        prop_assert_eq!(text, digest(&evidence, &outputs));
    }
}

/// A check of a kind that failed, with what it printed.
fn failed(kind: Kind, output: &str, outputs: &mut BTreeMap<Digest, String>) -> CheckEnded {
    let digest = Digest::of(output.as_bytes());
    outputs.insert(digest.clone(), output.to_owned());
    CheckEnded { output: digest, ..ended(kind, kind.as_str(), 1, None) }
}

#[test]
fn what_failed_before_excuses_nothing_that_is_new() {
    let (task, change) = (task(&[]), change(&[]));
    let mut outputs = BTreeMap::new();
    let base = failed(Kind::Lint, "src/a.py:3:1: E501 too long\n", &mut outputs);
    let same = failed(Kind::Lint, "src/a.py:7:1: E501 too long\n", &mut outputs);
    let more = failed(
        Kind::Lint,
        "src/a.py:7:1: E501 too long\nsrc/b.py:1:1: F401 unused\n",
        &mut outputs,
    );
    let held = |now: &CheckEnded, base: &CheckEnded| {
        let checks = [Ran { ended: now.clone(), base: Some(base.clone()) }];
        let outputs = outputs.clone();
        Scene { checks: &checks, outputs, ..Scene::of(&task, &change) }.weigh().checks[0].held
    };
    assert!(!held(&same, &base));
    assert!(held(&more, &base));
    let limit = Some("It took too long.".to_owned());
    assert!(
        held(&same, &CheckEnded { limit, ..base.clone() }),
        "nobody knows how it would have gone on"
    );
}

#[test]
fn tests_that_run_no_more_speak_against_the_task() {
    let change = change(&[]);
    let fails = |task: &TaskSpec, now, base| {
        let checks = [ran(Kind::Tests, 0, now, Some((0, base)))];
        Scene { checks: &checks, ..Scene::of(task, &change) }.fails()
    };
    let plain = task(&[]);
    let lost = fails(&plain, Some((3, 0)), Some((10, 0)));
    assert_eq!(
        lost,
        [
            "The check `tests` does not pass: `tests` ran 10 tests without the change, and 3 with it."
        ]
    );
    assert_eq!(
        fails(&plain, None, Some((10, 0))).len(),
        1,
        "an exit code of 0 alone proves nothing"
    );
    assert_eq!(fails(&plain, Some((11, 0)), Some((10, 0))), [""; 0]);
    assert_eq!(fails(&plain, None, None), [""; 0]);
    let goes = task(&[("tests/old.rs", plan::Action::Delete)]);
    assert!(
        !fails(&goes, Some((3, 0)), Some((10, 0))).iter().any(|one| one.contains("tests` ran"))
    );
}

#[test]
fn tests_that_a_removing_task_takes_away_may_be_fewer() {
    let task = TaskSpec { title: "2.1 Remove `diff` and its tests".to_owned(), ..task(&[]) };
    let checks = [ran(Kind::Tests, 0, Some((3, 0)), Some((0, Some((4, 0)))))];
    let fails =
        |change: &Change| Scene { checks: &checks, ..Scene::of(&task, change) }.fails().len();
    assert_eq!(fails(&change(&[("tests/diff.py", Action::Delete)])), 0);
    assert_eq!(fails(&change(&[("src/diff.py", Action::Delete)])), 1);
}

#[test]
fn new_tests_may_fail_where_the_task_is_to_write_failing_tests() {
    let title = "2.1 Write failing test: the reply is 403".to_owned();
    let red = TaskSpec { title, ..task(&[]) };
    let tests = change(&[("tests/guard.py", Action::Modify)]);
    let both = change(&[("tests/guard.py", Action::Modify), ("src/guard.py", Action::Modify)]);
    let fails = |task: &TaskSpec, change: &Change, now| {
        let checks = [ran(Kind::Tests, 1, Some(now), Some((0, Some((2, 0)))))];
        let evidence = Scene { checks: &checks, ..Scene::of(task, change) }.weigh();
        (evidence.fails.len(), evidence.checks[0].fails_as_asked)
    };
    assert_eq!(fails(&red, &tests, (2, 1)), (0, true));
    assert_eq!(fails(&red, &tests, (1, 2)), (1, false), "one that passed before fails");
    assert_eq!(fails(&red, &both, (2, 1)), (1, false), "it is no change of tests alone");
    assert_eq!(fails(&task(&[]), &tests, (2, 1)), (1, false));
}

#[test]
fn a_check_that_fails_anyway_is_no_red() {
    let task = TaskSpec { tdd: true, ..task(&[]) };
    let change = change(&[("tests/cart.rs", Action::Create)]);
    let mut outputs = BTreeMap::new();
    let before = failed(Kind::Own, "went wrong\n", &mut outputs);
    let tests = ran(Kind::Tests, 0, Some((4, 0)), Some((0, Some((3, 0)))));
    let own = Ran { ended: ended(Kind::Own, "own", 0, None), base: Some(before.clone()) };
    let checks = [tests, own];
    let green = ended(Kind::Tests, "tests", 0, Some((4, 0)));
    let red = |red: &[CheckEnded]| {
        let outputs = outputs.clone();
        Scene { checks: &checks, red, outputs, ..Scene::of(&task, &change) }
            .weigh()
            .tdd
            .unwrap()
            .red
    };
    let both = [green, before.clone()];
    assert!(!red(&both), "it failed without the new tests too");
    let fails = Scene {
        checks: &checks,
        red: &both,
        outputs: outputs.clone(),
        ..Scene::of(&task, &change)
    }
    .fails();
    let told = "With the new tests alone nothing fails that did not fail before them, so it is not shown that they test the change.";
    assert!(fails.iter().any(|one| one == told), "{fails:?}");
    let tests_fail = ended(Kind::Tests, "tests", 101, Some((3, 1)));
    assert!(red(&[tests_fail, before]));
}
