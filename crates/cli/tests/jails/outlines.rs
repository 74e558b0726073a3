//! Parsers in a jail of their own.

use std::time::Instant;

use sequester_core::outliner::Outliner as _;
use sequester_core::path::RepoPath;
use sequester_survey::Outlines;

use crate::bench::Bench;
use crate::wire::outlines::Confined;

fn path(name: &str) -> RepoPath {
    RepoPath::parse(name).unwrap()
}

pub(crate) fn are_confined() {
    let bench = Bench::new();
    let confined = Confined::on(bench.machine.clone());
    assert_eq!(bench.left().len(), 0, "nothing is started before it is needed");
    let (rust, text) = (path("src/a.rs"), "impl Jar {\n    /// Opens.\n    fn open() {}\n}\n");
    let reader = confined.reader();
    for _ in 0..3 {
        assert_eq!(reader.outline(&rust, text), Outlines.outline(&rust, text));
    }
    assert_eq!(bench.left().len(), 1, "one jail for all of them");
    reader.end().ok().unwrap();
    drop(confined);
    bench.assert_clean();
}

/// Text that was made to break parsers, of the largest size that one reads or more.
pub(crate) fn survive() {
    let bench = Bench::new();
    let confined = Confined::on(bench.machine.clone());
    let reader = confined.reader();
    let most = 1 << 20;
    for (about, text) in [
        ("1 MiB of open brackets", "(".repeat(most)),
        ("1 MiB of nested blocks", "fn a(){".repeat(most / 7)),
        ("1 MiB of nested types", "A<".repeat(most / 2)),
        ("1 MiB of quotes", "\"'`".repeat(most / 3)),
        ("1 MiB on one line", "let a = 1; ".repeat(most / 11)),
        ("1 MiB of zeros", "\0".repeat(most)),
        ("50 MB on one line", "x".repeat(50_000_000)),
        ("50 MB of definitions", "fn a() {}\n".repeat(5_000_000)),
    ] {
        for name in ["a.rs", "a.ts"] {
            let began = Instant::now();
            let found = reader.outline(&path(name), &text).len();
            let took = began.elapsed().as_millis();
            println!("{about}, `{name}`: {found} symbols in {took} ms");
        }
    }
    let (rust, text) = (path("a.rs"), "fn open() {}\n");
    assert_eq!(reader.outline(&rust, text), Outlines.outline(&rust, text), "and it goes on");
    reader.end().ok().unwrap();
    drop(confined);
    bench.assert_clean();
}
