//! Files of a repository's tree that the person's own git takes hooks, configuration or programs from.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

use sequester_core::repository::Error;

use crate::program::Program;
use crate::repo::Repo;

/// A path of the tree that git runs, or reads what it runs from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunPath {
    /// From the root, without a slash before it.
    pub path: String,
    /// What names it.
    pub reason: String,
}

/// One setting, and the file that it stands in.
struct Setting {
    file: PathBuf,
    key: String,
    value: String,
}

/// Settings whose value is a command, by the last part of their key. Others that are not settings of git's have it too; what they name is
/// protected for nothing.
const COMMANDS: [&str; 27] = [
    "askpass",
    "clean",
    "cmd",
    "command",
    "driver",
    "editor",
    "external",
    "fsmonitor",
    "gitproxy",
    "helper",
    "packobjectshook",
    "pager",
    "process",
    "program",
    "proxy",
    "receivepack",
    "smtpserver",
    "smudge",
    "sshcommand",
    "sendmailcmd",
    "textconv",
    "tocmd",
    "cccmd",
    "update",
    "uploadpack",
    "difffilter",
    "alternaterefscommand",
];

/// Sections in which every value is a command.
const SECTIONS: [&str; 2] = ["alias.", "pager."];

/// Settings that name a file or folder of more configuration, or of what is run.
const FILES: [&str; 3] = ["core.attributesfile", "core.hookspath", "init.templatedir"];

impl Repo {
    /// Asks git, with the person's own configuration. Reading it runs nothing.
    pub fn run_paths(&self) -> Result<Vec<RunPath>, Error> {
        RunPath::find(&self.program, self.program.root())
    }
}

impl RunPath {
    /// Those in a tree for the repository at `repository`, which lies in it; none where git is not installed.
    pub fn of(repository: &Path, tree: &Path, search_path: &OsStr) -> Result<Vec<Self>, Error> {
        let program = Program::find(search_path, repository.to_owned());
        program.map_or(Ok(Vec::new()), |program| Self::find(&program, tree))
    }

    fn find(program: &Program, tree: &Path) -> Result<Vec<Self>, Error> {
        let (tree, root) = (tree.to_owned(), program.root().to_owned());
        let mut search = Search { tree, root, home: home(), found: BTreeMap::new() };
        // A folder of this name is protected everywhere, and most have it: one program less to start.
        if !search.root.join(".git").is_dir() {
            let answer = program.run(&["rev-parse", "--git-common-dir", "--git-dir"])?;
            for folder in answer.text.lines().filter(|_| answer.success) {
                search.take_from(&search.root.clone(), folder, "git keeps the repository in it");
            }
        }
        let mut read = BTreeSet::new();
        let mut waiting = vec![None];
        while let Some(file) = waiting.pop().filter(|_| read.len() < MOST_FILES) {
            let settings = settings(program, file.as_deref())?;
            read.extend(file.into_iter().chain(settings.iter().map(|one| one.file.clone())));
            let included = settings.iter().filter_map(|setting| search.judge(setting));
            waiting.extend(included.collect::<Vec<_>>().into_iter().map(Some));
            waiting.retain(|file| file.as_ref().is_none_or(|file| !read.contains(file)));
        }
        Ok(search.found.into_iter().map(|(path, reason)| RunPath { path, reason }).collect())
    }
}

/// Files of configuration that are read, those of conditions that do not hold now among them.
const MOST_FILES: usize = 100;

/// For one repository in a tree.
struct Search {
    tree: PathBuf,
    root: PathBuf,
    home: Option<PathBuf>,
    found: BTreeMap<String, String>,
}

impl Search {
    /// Takes what a setting names. The answer is a file that it includes.
    fn judge(&mut self, Setting { file, key, value }: &Setting) -> Option<PathBuf> {
        let root = self.root.clone();
        self.take(file, "git takes configuration from it");
        let section = key.split('.').next().unwrap_or_default();
        let last = key.rsplit('.').next().unwrap_or_default();
        if matches!(section, "include" | "includeif") && last == "path" {
            let above = file.parent().unwrap_or(&root);
            self.take_from(above, value, "git takes configuration from it");
            return self.resolved(above, value).filter(|included| included.is_file());
        }
        if FILES.contains(&key.as_str()) {
            self.take_from(&root, value, &format!("`{key}` of git names it"));
        } else if COMMANDS.contains(&last) || SECTIONS.iter().any(|one| key.starts_with(one)) {
            for word in words(value) {
                let named = self.resolved(&root, word);
                let is_place = named.is_some_and(|path| {
                    path.exists() || word.contains('/') && path.parent().is_some_and(Path::is_dir)
                });
                if is_place {
                    self.take_from(&root, word, &format!("`{key}` of git runs it"));
                }
            }
        }
        None
    }

    fn resolved(&self, above: &Path, value: &str) -> Option<PathBuf> {
        match value.strip_prefix("~/") {
            Some(rest) => Some(self.home.as_ref()?.join(rest)),
            None => Some(above.join(value)),
        }
    }

    fn take_from(&mut self, above: &Path, value: &str, reason: &str) {
        if let Some(path) = self.resolved(above, value) {
            self.take(&path, reason);
        }
    }

    /// Takes a path that lies in the tree, by its own name and by the one behind its links. The tree itself is left; `.git` is
    /// protected everywhere.
    fn take(&mut self, path: &Path, reason: &str) {
        let real = path.canonicalize().ok();
        for path in [Some(plain(path)), real].into_iter().flatten() {
            let Ok(within) = path.strip_prefix(&self.tree) else { continue };
            let is_git = within.iter().any(|part| part == ".git");
            if let Some(text) = within.to_str().filter(|text| !text.is_empty() && !is_git) {
                self.found.entry(text.to_owned()).or_insert_with(|| reason.to_owned());
            }
        }
    }
}

/// Without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// Words of a command as a shell has them, with what stands before an equals sign taken off.
fn words(command: &str) -> impl Iterator<Item = &str> {
    let parts = command.split(|c: char| c.is_whitespace() || "'\"`;|&()<>$!".contains(c));
    parts.map(|word| word.rsplit('=').next().unwrap_or(word)).filter(|word| !word.is_empty())
}

/// Every setting that is in force for the person, or every one of a file.
fn settings(program: &Program, file: Option<&Path>) -> Result<Vec<Setting>, Error> {
    let mut arguments = vec!["config", "-z", "--show-origin", "--includes", "--list"];
    let Ok(file) = file.map(|file| file.to_str().ok_or(())).transpose() else {
        return Ok(Vec::new());
    };
    arguments.extend(file.into_iter().flat_map(|file| ["--file", file]));
    let answer = program.run_as_person(&arguments)?;
    let root = program.root();
    let mut fields = answer.split(|byte| *byte == 0).map(<[u8]>::to_vec);
    let mut settings = Vec::new();
    while let (Some(origin), Some(entry)) = (fields.next(), fields.next()) {
        let Some(file) = origin.strip_prefix(b"file:") else { continue };
        let file = root.join(PathBuf::from(OsString::from_vec(file.to_vec())));
        let entry = String::from_utf8_lossy(&entry).into_owned();
        let (key, value) = entry.split_once('\n').unwrap_or((&entry, ""));
        settings.push(Setting { file, key: key.to_lowercase(), value: value.to_owned() });
    }
    Ok(settings)
}

fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute())
}
