//! The plan under another name.

use std::fs;

use crate::command::{Bench, FILES};

/// A plan of two tasks; the first looks for a word of the second.
fn plan(word: &str) -> String {
    format!(
        "---\nsequester: 1\nworkflow: solo\n---\n# Shop\n\n{}\n\n\
         ## [a] Look\n\nRun: `grep -rl --exclude-dir=.git {word} . > seen.txt; git grep -l {word} >> seen.txt; \
         ls docs > listed.txt; true`\n\n## [b] Speak\n\nRun: `echo {word} > said.txt`\n",
        "Words that make the plan as long as plans are. ".repeat(5)
    )
}

#[test]
fn copies_and_earlier_versions_of_the_plan_are_not_in_a_workspace() {
    let bench = Bench::with(&FILES);
    let (old, new) = (plan("earlierword"), plan("laterword"));
    bench.write("plan.md", &old);
    bench.commit("first plan");
    bench.write("plan.md", &new);
    bench.write("docs/copy.md", &new);
    bench.write("docs/old.md", &old);
    bench.write("docs/other.md", "laterword earlierword, in a few words of its own.\n");
    fs::hard_link(bench.repo().join("plan.md"), bench.repo().join("docs/linked.md")).unwrap();
    bench.commit("copies");
    let path = bench.repo().join("plan.md").display().to_string();
    let answer = bench.run(&["run", &path, "--model", "literal", "--yes"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert_eq!(bench.run(&["apply"]).code, Some(0));
    let read = |name: &str| fs::read_to_string(bench.repo().join(name)).unwrap();
    assert_eq!(read("seen.txt"), "./docs/other.md\ndocs/other.md\n");
    assert_eq!(read("listed.txt"), "other.md\n");
    assert_eq!(bench.run(&["audit"]).code, Some(0));
    // They are still there for the person.
    assert!(bench.repo().join("docs/copy.md").exists());
}
