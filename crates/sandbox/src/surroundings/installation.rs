//! The search path: which folders programs lie in, and what those programs need around them.

use std::collections::{BTreeSet, VecDeque};
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

/// What programs need around them: beside what is named first, what comes after it. Nothing else that lies there is shown.
#[rustfmt::skip]
const PARTS: [(&str, &[&str]); 9] = [
    ("", &["bin", "include", "lib", "lib32", "lib64", "libexec", "libx32", "sbin", "share"]),
    // Python
    ("conda-meta", &["conda-meta", "condabin", "etc", "ssl", "sysroot"]),
    ("pyvenv.cfg", &["etc", "pyvenv.cfg", "src"]),
    // Versions side by side: pyenv, rbenv, nodenv, asdf, mise
    ("shims", &["installs", "nodenv.d", "plugins", "pyenv.d", "rbenv.d", "shims", "version", "versions"]),
    // Go
    ("src/runtime", &["VERSION", "api", "go.env", "misc", "pkg", "src"]),
    // Java, Maven, Gradle, Android
    ("release", &["conf", "jmods", "jre", "legal", "release"]),
    ("boot", &["boot", "conf"]),
    ("init.d", &["init.d"]),
    ("platform-tools", &["build-tools", "cmake", "cmdline-tools", "licenses", "ndk", "platform-tools", "platforms", "sources", "tools"]),
];

/// What makes a folder somebody's project, whatever lies beside its `bin`.
#[rustfmt::skip]
const PROJECT: [&str; 25] = [
    ".git", ".hg", ".jj", ".svn", "CMakeLists.txt", "Cargo.toml", "Gemfile", "Makefile", "Rakefile", "build.gradle", "build.gradle.kts",
    "composer.json", "configure.ac", "deno.json", "go.mod", "meson.build", "mix.exs", "package.json", "pom.xml", "pubspec.yaml",
    "pyproject.toml", "requirements.txt", "sequester.toml", "setup.cfg", "setup.py",
];

/// Names that are looked at for secrets in one installation, those next to its root first.
const NAMES: usize = 20_000;

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
                let real = self.real(&folder).unwrap_or_else(|| folder.clone());
                if !self.shows(&folder) && self.shows(&real) { real } else { folder }
            })
            .collect()
    }

    fn take_programs(&mut self, folder: &Path) {
        let folder = &self
            .real(folder)
            .filter(|real| !self.admission.admits(folder) && self.admission.admits(real))
            .unwrap_or_else(|| folder.to_owned());
        if self.shows(folder) {
            return;
        }
        if let Some(root) = installation(folder)
            && self.take_installation(&root, DEEPEST)
        {
            return;
        }
        if self.take(folder, What::Read) {
            self.hide_secrets(folder);
            self.follow_links(folder);
        }
    }

    /// Programs with what belongs to them, and for a virtual environment the one it was made from. Says whether there was anything.
    pub(super) fn take_installation(&mut self, root: &Path, deepest: usize) -> bool {
        if deepest == 0 || !self.admission.admits(root) || is_project(root) {
            return false;
        }
        let mut taken = false;
        for part in parts(root) {
            if self.take(&part, What::Read) {
                taken = true;
                self.hide_secrets(&part);
            }
        }
        if !root.join("pyvenv.cfg").is_file() {
            return taken;
        }
        let Ok(python) = fs::canonicalize(root.join("bin/python")) else { return taken };
        let Some(origin) = python.parent().and_then(installation) else { return taken };
        if !self.shows(&origin.join("bin")) && origin != *root {
            self.take_installation(&origin, deepest - 1);
        }
        taken
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
                target.parent().and_then(installation)
            };
            let taken = root.is_some_and(|root| self.take_installation(&root, DEEPEST));
            if !taken && target.is_file() {
                self.take(&target, What::Read);
            }
        }
    }

    fn hide_secrets(&mut self, folder: &Path) {
        let (mut open, mut left) = (VecDeque::from([folder.to_owned()]), NAMES);
        while let Some(folder) = open.pop_front() {
            let entries: Vec<_> =
                fs::read_dir(folder).into_iter().flatten().flatten().take(left).collect();
            left -= entries.len();
            for entry in entries {
                let path = entry.path();
                if is_secret_name(&path.to_string_lossy()).is_some() {
                    self.hide(path);
                } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    open.push_back(path);
                }
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
    if bin.ends_with("shims") && keeps_versions(parent) {
        return Some(parent.to_owned());
    }
    let named = ["bin", "sbin", "condabin"].iter().any(|name| bin.ends_with(name));
    (named && BESIDE.iter().any(|name| parent.join(name).exists())).then(|| parent.to_owned())
}

/// Whether versions of programs lie here side by side. Such a folder is often somebody's checkout, too.
fn keeps_versions(folder: &Path) -> bool {
    folder.join("shims").is_dir()
        && ["installs", "versions"].iter().any(|name| folder.join(name).is_dir())
}

fn is_project(folder: &Path) -> bool {
    !keeps_versions(folder)
        && PROJECT.iter().any(|name| fs::symlink_metadata(folder.join(name)).is_ok())
}

/// What is shown of an installation; packages of one project lie in a folder of their own.
fn parts(root: &Path) -> Vec<PathBuf> {
    if root.ends_with("node_modules") {
        return vec![root.to_owned()];
    }
    let known = PARTS.iter().filter(|(mark, _)| root.join(mark).exists());
    let known = known.flat_map(|(_, parts)| parts.iter().map(|part| root.join(part)));
    // Compilers for other machines keep what is theirs under the machine's name.
    let entries = fs::read_dir(root).into_iter().flatten().flatten().take(MOST);
    let mut machines: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().to_string_lossy().contains("-linux-"))
        .map(|entry| entry.path())
        .collect();
    machines.sort();
    known.chain(machines).filter(|part| part.exists()).collect()
}
