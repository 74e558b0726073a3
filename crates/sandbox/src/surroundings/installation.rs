//! The search path: which folders programs lie in, and what those programs need around them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use sequester_core::secret::is_secret_name;

use super::What;
use super::gathering::Gathering;

/// Folders of a search path, and links in one of them, that are looked at.
const MOST: usize = 256;

/// A virtual environment of a virtual environment of ...
const DEEPEST: usize = 4;

/// What lies beside `bin` where programs were installed together.
const BESIDE: [&str; 6] = ["conda-meta", "include", "lib", "lib64", "libexec", "pyvenv.cfg"];

impl Gathering<'_> {
    /// Takes what is on the search path, and says what the path is then.
    pub(super) fn take_path(&mut self) -> Vec<PathBuf> {
        let variable = self.variable("PATH").unwrap_or_default().to_owned();
        let folders: Vec<PathBuf> = variable
            .split(':')
            .take(MOST)
            .map(PathBuf::from)
            .filter(|folder| folder.is_absolute() && folder.is_dir())
            .collect();
        for folder in folders.iter().collect::<BTreeSet<_>>() {
            self.take_programs(folder);
        }
        folders
            .into_iter()
            .map(|folder| {
                // A link that is not there inside, to a folder that is.
                let real = fs::canonicalize(&folder).unwrap_or_else(|_| folder.clone());
                if !self.shows(&folder) && self.shows(&real) { real } else { folder }
            })
            .collect()
    }

    fn take_programs(&mut self, folder: &Path) {
        let folder = &fs::canonicalize(folder)
            .ok()
            .filter(|real| !self.admission.admits(folder) && self.admission.admits(real))
            .unwrap_or_else(|| folder.to_owned());
        if self.shows(folder) {
            return;
        }
        let root = installation(folder).filter(|root| self.admission.admits(root));
        if let Some(root) = root {
            self.take_installation(&root, DEEPEST);
        } else if self.take(folder, What::Read) {
            self.hide_secrets(folder);
            self.follow_links(folder);
        }
    }

    /// A folder of programs with what belongs to them, and for a virtual environment the one it was made from.
    pub(super) fn take_installation(&mut self, root: &Path, deepest: usize) {
        if deepest == 0 || !self.take(root, What::Read) {
            return;
        }
        self.hide_secrets(root);
        if !root.join("pyvenv.cfg").is_file() {
            return;
        }
        let Ok(python) = fs::canonicalize(root.join("bin/python")) else { return };
        let Some(origin) = python.parent().and_then(installation) else { return };
        if !self.shows(&origin) && origin != *root {
            self.take_installation(&origin, deepest - 1);
        }
    }

    /// What the links in a folder lead to: a whole installation, or the one program.
    pub(super) fn follow_links(&mut self, folder: &Path) {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let links = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
        let targets: BTreeSet<PathBuf> =
            links.filter_map(|link| fs::canonicalize(link.path()).ok()).collect();
        for target in targets.into_iter().take(MOST) {
            if self.shows(&target) || is_secret_name(&target.to_string_lossy()).is_some() {
                continue;
            }
            let root = if target.is_dir() {
                Some(target.clone())
            } else {
                target.parent().and_then(installation).filter(|root| self.admission.admits(root))
            };
            match root {
                Some(root) => self.take_installation(&root, DEEPEST),
                None => drop(self.take(&target, What::Read)),
            }
        }
    }

    fn hide_secrets(&mut self, folder: &Path) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if is_secret_name(&path.to_string_lossy()).is_some() {
                self.hide(path);
            }
        }
    }
}

/// The folder that programs in `bin` were installed into, if it looks like one.
fn installation(bin: &Path) -> Option<PathBuf> {
    let parent = bin.parent()?;
    if bin.ends_with("node_modules/.bin") {
        return Some(parent.to_owned());
    }
    let named = ["bin", "sbin", "condabin"].iter().any(|name| bin.ends_with(name));
    (named && BESIDE.iter().any(|name| parent.join(name).exists())).then(|| parent.to_owned())
}
