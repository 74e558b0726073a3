//! Files of a repository's tree that the person's own git takes hooks, configuration or programs from.

mod command_words;
mod hard_links;
mod hook_code;
mod hook_script;
mod hooks;
mod shell_words;
mod spelling;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

use sequester_core::repository::Error;

use self::command_words::CommandWord;
use self::hard_links::HardLinks;
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
    /// In lower case.
    key: String,
    /// Between the section and the last part of the key, as it is written.
    subsection: String,
    value: String,
}

/// Settings whose value is a command, by how the last part of their key ends. Others that are not settings of git's end so too; what
/// they name is protected for nothing.
const COMMANDS: [&str; 24] = [
    "askpass",
    "clean",
    "cmd",
    "command",
    "driver",
    "editor",
    "external",
    "filter",
    "fsmonitor",
    "helper",
    "hook",
    "httpd",
    "pack",
    "pager",
    "process",
    "prog",
    "program",
    "providers",
    "proxy",
    "smtpserver",
    "smudge",
    "textconv",
    "tunnel",
    "update",
];

/// Sections in which `path` names a program.
const PROGRAMS: [&str; 5] = ["browser", "difftool", "lfs", "man", "mergetool"];

/// Settings that name a file or folder of more configuration, or of what is run.
const FILES: [&str; 4] =
    ["core.attributesfile", "core.hookspath", "gitflow.path.hooks", "init.templatedir"];

const KEPT: &str = "git keeps the repository in it";
const CONFIGURATION: &str = "git takes configuration from it";
const HOOK: &str = "git runs it as a hook";

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
        let mut search = Search::new(program, tree);
        let git = search.root.join(".git");
        let is_folder = git.symlink_metadata().is_ok_and(|about| about.is_dir());
        // A folder of this name is protected everywhere, and most have it: one program less to start. One with a `commondir` keeps its
        // hooks and configuration elsewhere.
        let folders = if is_folder && git.join("commondir").symlink_metadata().is_err() {
            vec![git]
        } else {
            let answer = program.run(&["rev-parse", "--git-common-dir", "--git-dir"])?;
            let lines = answer.text.lines().filter(|_| answer.success);
            lines.map(|folder| search.root.join(folder)).collect()
        };
        for folder in folders {
            search.take(&folder, KEPT);
            search.take_entries(&folder, KEPT);
            search.take_entries(&folder.join("info"), KEPT);
            search.take_hooks(&folder.join("hooks"));
        }
        for file in search.own_files() {
            search.take(&file, CONFIGURATION);
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
        search.take_hard_links();
        Ok(search.found.into_iter().map(|(path, reason)| RunPath { path, reason }).collect())
    }
}

/// Files of configuration that are read, those of conditions that do not hold now among them.
const MOST_FILES: usize = 100;

/// Entries of a folder that are looked at.
const MOST_ENTRIES: usize = 1_000;

/// Before an address that is a command.
const EXTERNAL: &str = "ext::";

/// Whether a setting's value is a command that names its program by a path. An alias without `!` is one of git's own, and a helper's name
/// alone is looked for among git's programs.
fn is_command(section: &str, last: &str, value: &str) -> bool {
    let is_shell = value.starts_with('!');
    match (section, last) {
        ("alias", _) => is_shell || value.contains('='),
        ("remote", "url" | "pushurl") => value.starts_with(EXTERNAL),
        (_, "helper") => is_shell || value.contains('/'),
        _ => section == "pager" || COMMANDS.iter().any(|end| last.ends_with(end)),
    }
}

/// For one repository in a tree.
struct Search<'p> {
    program: &'p Program,
    tree: PathBuf,
    root: PathBuf,
    home: Option<PathBuf>,
    found: BTreeMap<String, String>,
    hard_links: HardLinks,
}

impl<'p> Search<'p> {
    fn new(program: &'p Program, tree: &Path) -> Self {
        let (tree, root) = (tree.to_owned(), program.root().to_owned());
        let (found, hard_links) = (BTreeMap::new(), HardLinks::default());
        Self { program, tree, root, home: home(), found, hard_links }
    }

    /// Takes what a setting names. The answer is a file that it includes.
    fn judge(&mut self, setting: &Setting) -> Option<PathBuf> {
        let Setting { file, key, subsection, value } = setting;
        let root = self.root.clone();
        self.take(file, CONFIGURATION);
        let section = key.split('.').next().unwrap_or_default();
        let last = key.rsplit('.').next().unwrap_or_default();
        if matches!(section, "include" | "includeif") && last == "path" {
            let above = file.parent().unwrap_or(&root);
            self.take_from(above, value, CONFIGURATION);
            return self.resolved(above, value).filter(|included| included.is_file());
        }
        let reason = format!("`{key}` of git runs it");
        if FILES.contains(&key.as_str()) {
            let named = self.resolved(&root, value);
            self.take_from(&root, value, &format!("`{key}` of git names it"));
            if let Some(folder) = named {
                self.take_hooks(&folder);
            }
        } else if PROGRAMS.contains(&section) && last == "path" {
            self.take_from(&root, value, &reason);
        } else if section == "url" {
            // The address that stands in for others is in the key.
            self.take_address(subsection, &reason);
        } else if is_command(section, last, value) {
            self.take_command(value, &reason);
        } else if matches!(last, "url" | "pushurl" | "remote" | "pushremote" | "pushdefault") {
            self.take_address(value, &reason);
        }
        None
    }

    fn take_command(&mut self, text: &str, reason: &str) {
        let text = text.strip_prefix(EXTERNAL).unwrap_or(text);
        // As the shell has it where parts of a word are quoted.
        let joined = text.replace(['"', '\'', '\\'], "");
        for text in [text, &joined] {
            for word in command_words::read(text, None).0 {
                self.take_argument(&word, reason);
            }
        }
    }

    /// Takes what an address of a repository runs: a command, or a repository in the tree with hooks of its own.
    fn take_address(&mut self, address: &str, reason: &str) {
        if address.starts_with(EXTERNAL) {
            return self.take_command(address, reason);
        }
        let path = address.strip_prefix("file://").unwrap_or(address);
        let folder = self.resolved(&self.root, path);
        let is_repository =
            |folder: &PathBuf| folder.join("HEAD").is_file() && folder.join("objects").is_dir();
        if let Some(folder) = folder.filter(is_repository) {
            self.take(&folder, reason);
        }
    }

    /// Takes a word of a command that names something: a file, or with a slash a place where one may come to be. A word alone is mostly
    /// a program or an argument, so a folder of that name is left.
    fn take_argument(&mut self, word: &CommandWord<'_>, reason: &str) {
        for path in self.candidates(word, &[]) {
            let may_be = || {
                path.exists()
                    || path.parent().is_some_and(Path::is_dir)
                    || is_script_name(word.text)
            };
            let is_place = word.text.contains('/') || word.is_module;
            if path.is_file() || is_place && may_be() {
                self.take(&path, reason);
            }
        }
    }

    /// The places that a word may mean: from the directory that a `cd` before it names, else from the root of the repository and from
    /// `bases`.
    fn candidates(&self, word: &CommandWord<'_>, bases: &[&Path]) -> Vec<PathBuf> {
        let root = self.root.as_path();
        let from = word.directory.and_then(|text| self.resolved(root, self.without_rest(text)));
        let mut from: Vec<PathBuf> = from.filter(|from| from.is_dir()).into_iter().collect();
        if from.is_empty() || word.text.starts_with('/') {
            from.push(root.to_owned());
            from.extend(bases.iter().map(|base| (*base).to_owned()));
        }
        let mut paths = Vec::new();
        for text in word.places() {
            let text = self.without_rest(&text);
            paths.extend(from.iter().filter_map(|base| self.resolved(base, text)));
        }
        paths.retain(|path| !self.is_installed(path));
        paths
    }

    /// Whether a package manager put it there. It must stay free to do so again, whatever a hook starts of it.
    fn is_installed(&self, path: &Path) -> bool {
        let within = path.strip_prefix(&self.tree).unwrap_or(path);
        within.iter().any(|part| INSTALLED.iter().any(|name| part == *name))
    }

    /// `$PWD/x` and `$(dirname "$0")/x` leave a rest that looks absolute. `/bin/sh` is the machine's.
    fn without_rest<'t>(&self, text: &'t str) -> &'t str {
        let path = Path::new(text);
        let is_rest = path.is_absolute() && !path.starts_with(&self.tree) && !path.exists();
        if is_rest { text.trim_start_matches('/') } else { text }
    }

    /// Takes what the entries of a folder lead to, and notes their other names.
    fn take_entries(&mut self, folder: &Path, reason: &str) {
        for entry in folder.read_dir().into_iter().flatten().flatten().take(MOST_ENTRIES) {
            if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                self.take(&entry.path(), reason);
            }
            self.hard_links.note(&entry.path(), reason);
        }
    }

    /// Files of the person's own that git reads; a folder of them may lie in this tree by a link.
    fn own_files(&self) -> Vec<PathBuf> {
        let Some(home) = &self.home else { return Vec::new() };
        let folder = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
        let folder = folder.filter(|folder| folder.is_absolute());
        let folder = folder.unwrap_or_else(|| home.join(".config")).join("git");
        vec![home.join(".gitconfig"), folder.join("config"), folder.join("attributes")]
    }

    /// A path as git takes it: `~/` is the person's home, `~name/` another one's.
    fn resolved(&self, above: &Path, value: &str) -> Option<PathBuf> {
        if let Some(rest) = value.strip_prefix("~/") {
            return Some(self.home.as_ref()?.join(rest));
        }
        if value.starts_with('~') && value.contains('/') {
            return self.expanded(value);
        }
        Some(above.join(value))
    }

    /// Git itself says where a user's home is.
    fn expanded(&self, value: &str) -> Option<PathBuf> {
        let setting = format!("sequester.path={value}");
        let arguments = ["-c", &setting, "config", "--type=path", "-z", "sequester.path"];
        let answer = self.program.run_as_person(&arguments).ok()?;
        let path = answer.strip_suffix(b"\0").unwrap_or(&answer).to_vec();
        (!path.is_empty()).then(|| PathBuf::from(OsString::from_vec(path)))
    }

    fn take_from(&mut self, above: &Path, value: &str, reason: &str) {
        if let Some(path) = self.resolved(above, value) {
            self.take(&path, reason);
        }
    }

    /// Takes a path that lies in the tree, by its own name and by the one behind its links. The tree itself is left; `.git` is
    /// protected everywhere.
    fn take(&mut self, path: &Path, reason: &str) {
        self.hard_links.note(path, reason);
        for path in [plain(path), behind_links(path)] {
            let Ok(within) = path.strip_prefix(&self.tree) else { continue };
            let is_git = within.iter().any(|part| part == ".git");
            if let Some(text) = within.to_str().filter(|text| !text.is_empty() && !is_git) {
                self.found.entry(text.to_owned()).or_insert_with(|| reason.to_owned());
            }
        }
    }

    /// Takes the tree's own names of files that git runs under another one.
    fn take_hard_links(&mut self) {
        for (path, reason) in std::mem::take(&mut self.hard_links).find(&self.tree) {
            self.take(&path, &reason);
        }
    }
}

fn folder_of(file: &Path) -> &Path {
    file.parent().unwrap_or(file)
}

/// Where a path leads, whether something is there or not.
fn behind_links(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let above = path.parent().and_then(|above| above.canonicalize().ok());
        let Some((above, name)) = above.zip(path.file_name()) else { break };
        let there = above.join(name);
        match there.read_link() {
            Ok(to) => path = plain(&above.join(to)),
            Err(_) => return there,
        }
    }
    path
}

/// As many as the kernel follows.
const MOST_LINKS: usize = 40;

/// Directories that package managers fill.
const INSTALLED: [&str; 5] = ["node_modules", ".venv", "venv", ".tox", ".yarn"];

/// Whether a word is the path of a script, be it there or not.
fn is_script_name(word: &str) -> bool {
    word.contains('/') && (word.starts_with("./") || has_script_end(word))
}

fn has_script_end(word: &str) -> bool {
    const ENDS: [&str; 12] =
        [".sh", ".bash", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php", ".lua", ".zsh"];
    ENDS.iter().any(|end| word.ends_with(end))
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
        let subsection = key.split_once('.').and_then(|(_, rest)| rest.rsplit_once('.'));
        let subsection = subsection.map_or("", |(name, _)| name).to_owned();
        settings.push(Setting {
            file,
            key: key.to_lowercase(),
            subsection,
            value: value.to_owned(),
        });
    }
    Ok(settings)
}

fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute())
}
