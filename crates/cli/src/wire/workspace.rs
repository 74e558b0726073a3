//! A private copy of the base, and what became of it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use sequester_core::path::RepoPath;
use sequester_core::repository::{EntryKind, Snapshot};
use sequester_survey::Folder;
use serde::Serialize;
use similar::TextDiff;
use tempfile::TempDir;

/// The copy, gone when this is dropped.
pub(crate) struct Workspace {
    folder: TempDir,
}

/// What the runtime itself saw of the work.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Evidence {
    pub(crate) files_changed: Vec<Changed>,
    pub(crate) patch: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct Changed {
    pub(crate) path: String,
    pub(crate) action: &'static str,
    pub(crate) added: usize,
    pub(crate) removed: usize,
}

/// Files beyond this are copied, but not compared.
const FILE_BYTES: u64 = 16 << 20;

impl Workspace {
    pub(crate) fn copy(base: &dyn Snapshot) -> io::Result<Self> {
        let workspace = Self { folder: tempfile::Builder::new().prefix("sequester-").tempdir()? };
        fs::create_dir(workspace.root())?;
        fs::create_dir(workspace.home())?;
        let entries = base.entries();
        let is_file = |at: &usize| entries[*at].kind == EntryKind::File;
        let files: Vec<usize> = (0..entries.len()).filter(is_file).collect();
        let mut result = Ok(());
        base.read_many(&files, u64::MAX, &mut |at, bytes| {
            let path = workspace.root().join(entries[at].path.as_str());
            let written = match bytes {
                Ok(bytes) => write(&path, bytes),
                Err(error) => Err(io::Error::other(error)),
            };
            if result.is_ok() {
                result = written;
            }
        });
        result.map(|()| workspace)
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Compares with the base. What git would ignore is no change.
    pub(crate) fn compare(&self, base: &dyn Snapshot) -> io::Result<Evidence> {
        let tracked: BTreeSet<String> =
            base.entries().iter().map(|entry| entry.path.as_str().to_owned()).collect();
        let now = Folder::list_with(&self.root(), &tracked).map_err(io::Error::other)?;
        let paths = |snapshot: &dyn Snapshot| -> BTreeSet<RepoPath> {
            let files = snapshot.entries().iter().filter(|entry| entry.kind == EntryKind::File);
            files.map(|entry| entry.path.clone()).collect()
        };
        let mut evidence = Evidence::default();
        for path in paths(base).union(&paths(&now)) {
            let (old, new) = (base.read(path, FILE_BYTES).ok(), now.read(path, FILE_BYTES).ok());
            if old != new {
                evidence.add(path, old.as_deref(), new.as_deref());
            }
        }
        Ok(evidence)
    }
}

impl Evidence {
    fn add(&mut self, path: &RepoPath, old: Option<&[u8]>, new: Option<&[u8]>) {
        let action = match (old, new) {
            (None, _) => "create",
            (_, None) => "delete",
            _ => "modify",
        };
        let text = |bytes: Option<&[u8]>| String::from_utf8(bytes.unwrap_or_default().to_vec());
        let (mut added, mut removed) = (0, 0);
        if let (Ok(old_text), Ok(new_text)) = (text(old), text(new)) {
            let diff = TextDiff::from_lines(&old_text, &new_text);
            for change in diff.iter_all_changes() {
                match change.tag() {
                    similar::ChangeTag::Insert => added += 1,
                    similar::ChangeTag::Delete => removed += 1,
                    similar::ChangeTag::Equal => {}
                }
            }
            let name = |side: &str, there: bool| {
                if there { format!("{side}/{path}") } else { "/dev/null".to_owned() }
            };
            let (from, to) = (name("a", old.is_some()), name("b", new.is_some()));
            self.patch += &diff.unified_diff().header(&from, &to).to_string();
        } else {
            let _ = writeln!(self.patch, "Binary file {path} differs.");
        }
        self.files_changed.push(Changed { path: path.to_string(), action, added, removed });
    }
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, bytes)?;
    if bytes.starts_with(b"#!") {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}
