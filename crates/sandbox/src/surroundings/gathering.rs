//! Places as they are found, each one admitted before it is taken.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::admission::Admission;
use super::{Place, What};

pub(super) struct Gathering<'e> {
    pub(super) admission: Admission,
    environment: &'e BTreeMap<String, String>,
    places: BTreeMap<PathBuf, What>,
    pub(super) leads: BTreeMap<String, PathBuf>,
    /// What must not be seen where a place that is taken holds it.
    credentials: BTreeSet<PathBuf>,
    /// What folders really are, as far as it was asked: most tools are looked for in the same few.
    folders: BTreeMap<PathBuf, Option<PathBuf>>,
}

impl<'e> Gathering<'e> {
    pub(super) fn new(environment: &'e BTreeMap<String, String>, admission: Admission) -> Self {
        Self {
            admission,
            environment,
            places: BTreeMap::new(),
            leads: BTreeMap::new(),
            credentials: BTreeSet::new(),
            folders: BTreeMap::new(),
        }
    }

    pub(super) fn variable(&self, name: &str) -> Option<&'e str> {
        self.environment.get(name).map(String::as_str)
    }

    /// Takes a file or folder of the machine's, if it is there and the rule admits it and what it really is.
    pub(super) fn take(&mut self, at: &Path, what: fn(PathBuf) -> What) -> bool {
        let Some(real) = self.real(at) else { return false };
        let admitted = self.admission.admits(at) && self.admission.admits(&real);
        if admitted {
            self.places.entry(at.to_owned()).or_insert_with(|| what(real));
        }
        admitted
    }

    /// What an absolute path leads to; nothing where nothing is there.
    pub(super) fn real(&mut self, at: &Path) -> Option<PathBuf> {
        let (Some(above), Some(name)) = (at.parent(), at.file_name()) else {
            return fs::canonicalize(at).ok();
        };
        if !self.folders.contains_key(above) {
            let real = self.real(above);
            self.folders.insert(above.to_owned(), real);
        }
        let path = self.folders.get(above)?.as_ref()?.join(name);
        let is_link = fs::symlink_metadata(&path).ok()?.is_symlink();
        if is_link { fs::canonicalize(path).ok() } else { Some(path) }
    }

    /// Takes what a table of ours names.
    pub(super) fn put(&mut self, at: &Path, what: What) {
        self.places.entry(at.to_owned()).or_insert(what);
    }

    pub(super) fn hide(&mut self, path: PathBuf) {
        self.credentials.insert(path);
    }

    /// Whether a path is there inside, by a place that is taken.
    pub(super) fn shows(&self, path: &Path) -> bool {
        path.ancestors().any(|above| match self.places.get(above) {
            Some(What::Read(_) | What::System(_) | What::Layered(_) | What::Link(_)) => true,
            Some(What::Text(_) | What::Hidden | What::Scratch) | None => false,
        })
    }

    pub(super) fn finish(mut self) -> (Vec<Place>, BTreeMap<String, PathBuf>) {
        for path in std::mem::take(&mut self.credentials) {
            let there = fs::symlink_metadata(&path).is_ok_and(|found| !found.is_symlink());
            if there && self.shows(&path) {
                self.put(&path, What::Hidden);
            }
        }
        let needless: Vec<PathBuf> =
            self.places.keys().filter(|at| self.is_needless(at)).cloned().collect();
        for at in needless {
            self.places.remove(&at);
        }
        let places = self.places.into_iter().map(|(at, what)| Place { at, what });
        (places.collect(), self.leads)
    }

    /// Whether a place above shows the same thing already.
    fn is_needless(&self, at: &Path) -> bool {
        let Some(What::Read(real)) = self.places.get(at) else { return false };
        at.ancestors().skip(1).any(|above| match self.places.get(above) {
            Some(What::Read(from) | What::System(from) | What::Layered(from)) => {
                at.strip_prefix(above).is_ok_and(|rest| from.join(rest) == *real)
            }
            _ => false,
        })
    }
}
