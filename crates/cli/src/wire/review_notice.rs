//! Files of a change that a person should read before their own programs do.

use std::env;
use std::path::Path;

use sequester_core::change::Change;
use sequester_core::printable::turns_text;
use sequester_core::protected::{self, instructed_program};
use sequester_git::RunPath;
use serde::Serialize;

/// A file that another program of the person's obeys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ReviewNotice {
    pub(crate) path: String,
    pub(crate) reason: String,
}

impl ReviewNotice {
    /// For a change in the repository at `root`.
    pub(crate) fn find(root: &Path, change: &Change) -> Vec<Self> {
        let search_path = env::var_os("PATH").unwrap_or_default();
        let run_paths = RunPath::of(root, root, &search_path).unwrap_or_default();
        let paths = change.entries.iter().map(|entry| entry.path.as_str());
        let obeyed = paths.filter_map(|path| {
            let reason = reason(path, &run_paths)?;
            Some(Self { path: path.to_owned(), reason })
        });
        obeyed.chain(turned_files(&change.patch)).collect()
    }

    pub(crate) fn sentence(&self) -> String {
        let Self { path, reason } = self;
        format!("Read `{path}` before you use it: {reason}.")
    }
}

fn reason(path: &str, run_paths: &[RunPath]) -> Option<String> {
    if let Some(program) = instructed_program(path) {
        return Some(format!("it gives orders to {program}"));
    }
    let mut run = run_paths.iter();
    let run = run.find(|run| protected::covers(&format!("/{}", run.path), path))?;
    Some(run.reason.clone())
}

/// Files whose new lines, or names, hold characters that change the direction of text: they read otherwise than they run.
fn turned_files(patch: &str) -> Vec<ReviewNotice> {
    let mut turned: Vec<ReviewNotice> = Vec::new();
    let mut path = "";
    for line in patch.lines() {
        if let Some(names) = line.strip_prefix("diff --git ") {
            path = names.rsplit_once(" b/").map_or(names, |(_, path)| path);
        }
        let is_shown = line.starts_with('+') || line.starts_with("diff --git ");
        let Some(c) = line.chars().find(|c| is_shown && turns_text(*c)) else { continue };
        if turned.last().is_none_or(|last| last.path != path) {
            let code = u32::from(c);
            let reason = format!("it holds U+{code:04X}, which changes the direction of text");
            turned.push(ReviewNotice { path: path.to_owned(), reason });
        }
    }
    turned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_read_otherwise_than_they_run_are_told_once_for_a_file() {
        let patch = "diff --git a/a.c b/a.c\n+++ b/a.c\n-old \u{202e}\n context \u{2066}\n\
            diff --git a/b.c b/b.c\n+++ b/b.c\n+x \u{202e}y\n+\u{2066}\n\
            diff --git a/c\u{200f} b/c\u{200f}\n+plain\n";
        let told = turned_files(patch);
        let told: Vec<String> = told.iter().map(ReviewNotice::sentence).collect();
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].contains("`b.c`") && told[0].contains("U+202E"), "{told:?}");
        assert!(told[1].contains("U+200F"), "{told:?}");
    }
}
