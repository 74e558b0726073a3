//! What the CI runs.

use std::collections::BTreeSet;

use crate::project_checks::ci;
use sequester_core::architecture::Stated;

use crate::architecture::line::clean;
use crate::architecture::scan::{Scan, name};

const MOST_FILES: usize = 12;
const MOST_OF_ONE: usize = 6;
const MOST_LINES: usize = 24;

pub(super) fn state(scan: &Scan<'_>, found: &mut Vec<Stated>) {
    let mut seen = BTreeSet::new();
    let mut files = scan.matching(|path| ci::is_file(path) && !is_release(path));
    files.sort_by_key(|(path, _)| !is_test(path));
    let mut lines = Vec::new();
    for (path, text) in files.into_iter().take(MOST_FILES) {
        let commands = ci::commands(text).into_iter();
        let fresh = commands.filter(|line| seen.insert(line.clone())).take(MOST_OF_ONE);
        lines.extend(
            fresh.map(|line| {
                Stated::new(format!("CI runs `{}`", clean(&line, ci::MOST_LENGTH)), path)
            }),
        );
    }
    found.extend(lines.into_iter().take(MOST_LINES));
}

fn is_release(path: &str) -> bool {
    ["release", "publish", "deploy", "codeql"].iter().any(|word| path.contains(word))
}

fn is_test(path: &str) -> bool {
    let file = name(path);
    file.starts_with("ci")
        || ["test", "build", "lint", "check"].iter().any(|word| file.contains(word))
}
