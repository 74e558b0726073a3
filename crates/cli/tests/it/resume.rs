//! `sequester resume`: which run is taken up, and with what.

use crate::command::{Bench, FILES};
use crate::ledger::{Ledger, PLAN};

#[test]
fn a_plan_that_is_named_alone_means_the_newest_run_that_was_made_from_it() {
    let bench = Bench::with(&FILES);
    std::fs::write(bench.path("plan.md"), PLAN).unwrap();
    std::fs::write(bench.path("other.md"), PLAN).unwrap();
    drop(Ledger::waiting(&bench, "0abcdef1"));
    let plan = bench.path("plan.md").display().to_string();
    let other = bench.path("other.md").display().to_string();
    let refused = bench.run(&["resume", "--plan", &other, "--json"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    let error = &refused.json()["error"];
    assert_eq!(error["code"], "SQ0301");
    assert!(error["message"].as_str().unwrap().starts_with("No run was made from"), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("`0abcdef1` of `"), "{error}");
    let taken = bench.run(&["resume", "--plan", &plan]);
    assert!(taken.err.contains("Run `0abcdef1` of `"), "{taken:?}");
}

#[test]
fn a_plan_that_was_edited_since_is_told_and_does_not_count() {
    let bench = Bench::with(&FILES);
    drop(Ledger::waiting(&bench, "0abcdef1"));
    for (text, is_told) in [(PLAN.to_owned(), false), (format!("{PLAN}\nMore.\n"), true)] {
        std::fs::write(bench.path("plan.md"), text).unwrap();
        let taken = bench.run(&["resume", "0abcdef1"]);
        assert_eq!(taken.err.contains("was edited since"), is_told, "{taken:?}");
    }
}
