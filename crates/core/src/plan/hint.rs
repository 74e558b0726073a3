//! Files that a task's prose mentions. They help to find files and to order tasks; no change is judged by them.

use serde::Serialize;

use super::{Action, FileRef};
use crate::path::RepoPath;

/// A bare name that so many files have says nothing.
const MOST: usize = 5;

/// A file that the prose of a task mentions. No file of a list is one, so nothing can take it for a deliverable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct FileHint(pub FileRef);

impl FileHint {
    /// Whether it may mean this path.
    pub fn fits(&self, path: &RepoPath) -> bool {
        fits_path(self.0.path.as_str(), path.as_str())
    }

    /// The files that it means: the one at its path, else those whose paths end with it, if these are few. Of a file to be created
    /// only the path itself counts.
    pub fn resolve<'p>(&self, paths: impl Iterator<Item = &'p RepoPath>) -> Vec<RepoPath> {
        let mut found: Vec<&RepoPath> = paths.filter(|path| self.fits(path)).collect();
        if found.contains(&&self.0.path) {
            return vec![self.0.path.clone()];
        }
        if found.len() > MOST || self.0.action == Action::Create {
            return Vec::new();
        }
        found.sort_unstable();
        found.into_iter().cloned().collect()
    }
}

/// Whether a path is the one that is mentioned, or ends with it: `app/a.py` for `a.py`.
pub fn fits_path(mentioned: &str, path: &str) -> bool {
    let before = path.strip_suffix(mentioned);
    before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::Place;

    fn resolved(hint: &str, action: Action, paths: &[&str]) -> String {
        let place = Place { line: 1, column: 1 };
        let path = RepoPath::parse(hint).unwrap();
        let hint = FileHint(FileRef { path, action, lines: None, place });
        let paths: Vec<_> = paths.iter().map(|path| RepoPath::parse(path).unwrap()).collect();
        let found = hint.resolve(paths.iter());
        found.iter().map(RepoPath::as_str).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_hint_means_its_path_or_the_few_that_end_with_it() {
        use Action::{Change, Create};
        let paths = ["a.py", "app/a.py", "app/b.py", "lib/b.py", "app/ab.py"];
        assert_eq!(resolved("a.py", Change, &paths), "a.py");
        assert_eq!(resolved("b.py", Change, &paths), "app/b.py lib/b.py");
        assert_eq!(resolved("app/b.py", Change, &paths), "app/b.py");
        assert_eq!(resolved("c.py", Change, &paths), "");
        assert_eq!(resolved("b.py", Create, &paths), "");
        assert_eq!(resolved("a.py", Create, &paths), "a.py");
    }

    #[test]
    fn a_name_that_many_files_have_means_none_of_them() {
        let many: Vec<String> = (0..6).map(|at| format!("m{at}/__init__.py")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(resolved("__init__.py", Action::Change, &many), "");
        assert_eq!(resolved("__init__.py", Action::Change, &many[..5]).split(' ').count(), 5);
    }
}
