//! From a jail to a change.

use std::fs;

use sequester_core::change::Action;
use sequester_sandbox::harvest::Rules;
use sequester_sandbox::{Error, Jail};

use crate::bench::Bench;

pub(crate) fn after() {
    let bench = Bench::new();
    let (jail, mut tools) = bench.start();
    let at = bench.at().display().to_string();
    let script = format!(
        "cd {at} && echo more >> a.txt && rm b.txt && mkdir -m 700 d && echo c > d/c.txt && touch .mcp.json"
    );
    assert_eq!(tools.ask(&script), "");
    drop(jail);
    let rules = Rules::default();
    let change = Jail::harvest(&bench.harvest(), &rules).unwrap();
    let told: Vec<_> =
        change.entries.iter().map(|entry| (entry.path.as_str(), entry.action)).collect();
    let expected =
        [("a.txt", Action::Modify), ("b.txt", Action::Delete), ("d/c.txt", Action::Create)];
    assert_eq!(told, expected);
    assert_eq!(change.entries[0].content, b"a\nmore\n");
    assert_eq!((change.refused.len(), &*change.refused[0].path), (1, ".mcp.json"));
    // Once more, and the same: looking changes nothing.
    assert_eq!(Jail::harvest(&bench.harvest(), &rules).unwrap(), change);
}

pub(crate) fn impossible() {
    let bench = Bench::new();
    let mut blueprint = bench.harvest();
    blueprint.root.retain(|entry| entry.at() != "/base");
    match Jail::harvest(&blueprint, &Rules::default()) {
        Err(Error::Harvest(why)) => assert!(why.contains("No such file"), "{why}"),
        other => panic!("{other:?}"),
    }
    fs::remove_dir_all(&bench.policy.store).unwrap_or_default();
}
