//! `sequester audit`, on recorded runs.

use crate::command::{Bench, FILES};
use crate::ledger::Ledger;

#[test]
fn a_run_that_nobody_made_cannot_be_audited() {
    let bench = Bench::with(&FILES);
    drop(Ledger::waiting(&bench, "0abcdef1"));
    let answer = bench.run(&["audit", "nothing", "--json"]);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    assert!(answer.json()["error"]["hint"].is_string());
}

/// The contexts of a written ledger are not those that a builder made.
#[test]
fn records_that_prove_nothing_are_a_breach() {
    let bench = Bench::with(&FILES);
    drop(Ledger::waiting(&bench, "0abcdef1"));
    let answer = bench.run(&["audit", "0abc", "--json"]);
    assert_eq!(answer.code, Some(1), "{answer:?}");
    let audit = answer.json();
    assert_eq!((&audit["run"], &audit["ok"]), (&"0abcdef1".into(), &false.into()));
    for key in ["contexts", "fragments", "requests"] {
        assert!(audit[key].is_u64(), "{key} in {audit}");
    }
    let breach = &audit["breaches"][0];
    for key in ["task", "attempt", "rule", "detail"] {
        assert!(breach.get(key).is_some(), "{key} in {audit}");
    }
    let text = bench.run(&["audit", "0abc"]);
    assert_eq!(text.code, Some(1), "{text:?}");
    assert!(text.out.contains("Run 0abcdef1: ") && text.out.contains("Not shown:"), "{}", text.out);
}
