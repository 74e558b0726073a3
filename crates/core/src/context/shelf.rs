//! The shelf: files of one base, made ready once and shared by all contexts of a run.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::admit::Refusal;
use super::file;
use super::render::{hash, kinds};
use crate::limits::Limits;
use crate::outliner::{Outliner, Symbol};
use crate::path::RepoPath;
use crate::plan::locate::{Located, locate};
use crate::plan::{self, FileHint, FileRef, Format, Options, Task};
use crate::repository::{self, EntryKind, ErrorKind, Snapshot};
use crate::secret::{self, SecretSet};
use crate::tokens;

/// Reads, redacts, counts and outlines each file at most once.
pub struct Shelf<'a> {
    snapshot: &'a dyn Snapshot,
    outliner: &'a dyn Outliner,
    limit: u64,
    held: Mutex<HashMap<RepoPath, Result<Arc<Held>, Refusal>>>,
}

/// A file that is ready to be shown.
pub struct Held {
    pub path: RepoPath,
    /// Redacted.
    pub text: String,
    /// BLAKE3 of the file's bytes in the base.
    pub source_hash: String,
    pub redacted: Vec<&'static str>,
    pub(super) secrets: SecretSet,
    /// The whole file as it would be rendered, and its size in tokens.
    pub(super) block: String,
    pub(super) tokens: usize,
    symbols: OnceLock<Vec<Symbol>>,
    plan: OnceLock<bool>,
}

impl Held {
    /// Whether the file itself lists tasks: an older copy of the plan, or another plan.
    pub(super) fn is_plan(&self) -> bool {
        let name = self.path.name().to_owned();
        *self.plan.get_or_init(|| {
            let options = Options { file_name: name, ..Options::default() };
            let lists_tasks = || {
                let plan = plan::parse(self.text.as_bytes(), &options).plan;
                // Steps and checklists of any document would look like a plain list.
                plan.format != Format::List && plan.tasks.len() > 1
            };
            may_list_tasks(&self.path) && lists_tasks()
        })
    }
}

/// Whether a file may be a plan by its name. In files with these endings `#` begins a comment, which would read like a heading.
fn may_list_tasks(path: &RepoPath) -> bool {
    let name = path.name().to_ascii_lowercase();
    let is_built_with = BUILD_FILES.iter().any(|known| name.starts_with(known));
    let end = name.rsplit_once('.').map_or("", |(_, end)| end);
    !name.starts_with('.') && !is_built_with && !COMMENTED.contains(&end)
}

#[rustfmt::skip]
const COMMENTED: [&str; 46] = [
    "awk", "bash", "bazel", "bzl", "cfg", "cmake", "coffee", "conf", "cr", "ex", "exs", "fish", "gd", "gemspec", "gradle", "graphql", "hcl", "ini", "jl",
    "lock", "mk", "nim", "nix", "pl", "pm", "po", "pot", "properties", "ps1", "psm1", "py", "pyi", "pyx", "r", "rake", "rb", "rego", "sed", "sh", "star", "tcl", "tf", "toml", "yaml", "yml", "zsh",
];

/// How the names of files begin that build programs read.
const BUILD_FILES: [&str; 14] = [
    "brewfile",
    "build",
    "caddyfile",
    "cmakelists",
    "codeowners",
    "containerfile",
    "dockerfile",
    "gemfile",
    "gnumakefile",
    "justfile",
    "makefile",
    "procfile",
    "rakefile",
    "requirements",
];

impl<'a> Shelf<'a> {
    pub fn new(snapshot: &'a dyn Snapshot, outliner: &'a dyn Outliner, limits: &Limits) -> Self {
        Self { snapshot, outliner, limit: limits.named_file_bytes, held: Mutex::default() }
    }

    /// The file, or the reason why it is never shown.
    pub fn take(&self, path: &RepoPath) -> Result<Arc<Held>, Refusal> {
        if let Some(known) = self.lock().get(path) {
            return known.clone();
        }
        let made = self.make(path).map(Arc::new);
        self.lock().entry(path.clone()).or_insert(made).clone()
    }

    /// The files that a hint means.
    pub(super) fn resolve(&self, hint: &FileHint) -> Vec<RepoPath> {
        let files = self.snapshot.entries().iter().filter(|entry| entry.kind == EntryKind::File);
        hint.resolve(files.map(|entry| &entry.path))
    }

    /// The file that a declared path means which is not there: one below the directory of an entry before it, or the only one that
    /// ends with it.
    pub(super) fn locate(&self, task: &Task, file: &FileRef) -> Option<RepoPath> {
        let is_file = |path: &RepoPath| {
            let entry = repository::find(self.snapshot, path.as_str());
            entry.is_some_and(|entry| entry.kind == EntryKind::File)
        };
        let mut ending = |path: &RepoPath| {
            let files = self.snapshot.entries().iter().map(|entry| &entry.path);
            let ends = |one: &&RepoPath| plan::fits_path(path.as_str(), one.as_str());
            files.filter(ends).take(2).cloned().collect()
        };
        match locate(&task.files, file, &is_file, &mut ending) {
            Located::At(path) => Some(path),
            Located::Several | Located::Nowhere => None,
        }
    }

    /// What tells one content of a file that is not shown from another.
    pub(super) fn stamp_hash(&self, path: &RepoPath) -> String {
        let entry = repository::find(self.snapshot, path.as_str());
        hash(format!("{:?}", entry.map(|entry| &entry.stamp)).as_bytes())
    }

    pub(super) fn symbols<'h>(&self, held: &'h Held) -> &'h [Symbol] {
        held.symbols.get_or_init(|| self.outliner.outline(&held.path, &held.text))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<RepoPath, Result<Arc<Held>, Refusal>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn make(&self, path: &RepoPath) -> Result<Held, Refusal> {
        if secret::is_secret_name(path.as_str()).is_some() {
            return Err(Refusal::SecretName);
        }
        let entry = repository::find(self.snapshot, path.as_str()).ok_or(Refusal::NotThere)?;
        match entry.kind {
            EntryKind::File => {}
            EntryKind::Symlink => return Err(Refusal::Symlink),
            EntryKind::Submodule => return Err(Refusal::NotThere),
        }
        let bytes = self.snapshot.read(path, self.limit).map_err(|error| match error.kind {
            ErrorKind::TooLarge => Refusal::TooLarge,
            ErrorKind::NotFound => Refusal::NotThere,
            _ => Refusal::Unreadable,
        })?;
        Self::lay(path, bytes)
    }

    /// A file that was read.
    pub(super) fn lay(path: &RepoPath, bytes: Vec<u8>) -> Result<Held, Refusal> {
        let source_hash = hash(&bytes);
        let text = String::from_utf8(bytes).map_err(|_| Refusal::Binary)?;
        if text.contains('\0') {
            return Err(Refusal::Binary);
        }
        let redacted = secret::redact(&text);
        let kinds = kinds(&redacted.found);
        let mut secrets = SecretSet::default();
        secrets.learn(&text, &redacted.found);
        let text = redacted.text.into_owned();
        let block = file::render_whole(path, &text);
        Ok(Held {
            path: path.clone(),
            tokens: count(&block),
            text,
            source_hash,
            redacted: kinds,
            secrets,
            block,
            symbols: OnceLock::new(),
            plan: OnceLock::new(),
        })
    }
}

/// A text that is larger than any context is not counted to its end.
fn count(block: &str) -> usize {
    const COUNTED: usize = 1 << 20;
    if block.len() > COUNTED { block.len() / 4 } else { tokens::count(block) }
}
