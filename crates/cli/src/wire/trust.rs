//! What of the repository the person accepted: files by their place, each bound to its content.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use sequester_core::fault::{Fault, Place};
use sequester_core::source::{Origin, Source};
use serde::Serialize;

use crate::output;

/// The person's own notes of it, one file for each, outside of every repository.
pub(crate) struct Trust {
    /// Nowhere where there is no home: then nothing is trusted.
    folder: Option<PathBuf>,
}

/// A file of the repository, by its path in it.
pub(crate) struct Untrusted<'a> {
    pub(crate) root: &'a Path,
    pub(crate) path: &'a str,
}

/// A file that asks for more than a repository may have, or that cannot be used.
pub(crate) struct Asking {
    pub(crate) source: Source,
    pub(crate) asks: Vec<Fault>,
    /// What it gets from nobody, accepted or not.
    pub(crate) refused: Vec<Fault>,
    /// What is wrong with it, whoever accepts it: then it is not accepted either.
    pub(crate) faults: Vec<Fault>,
    /// All that counts once it is accepted, as it was read: each key with its values.
    pub(crate) grants: Grants,
}

pub(crate) type Grants = BTreeMap<&'static str, Vec<String>>;

impl Asking {
    /// `doubted` is what is wrong with the file as the repository's, `accepted` what is wrong with it if it is accepted.
    /// Nothing where there is nothing to accept or refuse.
    pub(crate) fn of(
        source: Source,
        doubted: Vec<Fault>,
        accepted: Vec<Fault>,
        grants: Grants,
    ) -> Option<Self> {
        let is_trust = |fault: &Fault| fault.code.is_trust();
        let (refused, faults): (Vec<_>, Vec<_>) =
            distinct(accepted).into_iter().partition(is_trust);
        let places: BTreeSet<Place> = refused.iter().map(|fault| fault.place).collect();
        let mut asks = distinct(doubted);
        asks.retain(|fault| is_trust(fault) && !places.contains(&fault.place));
        let is_fine = asks.is_empty() && refused.is_empty() && faults.is_empty();
        (!is_fine).then_some(Self { source, asks, refused, faults, grants })
    }
}

/// In the order of places. What a plan sets for all its tasks is told of each of them.
fn distinct(mut faults: Vec<Fault>) -> Vec<Fault> {
    faults.sort_by(|one, two| (one.place, &one.message).cmp(&(two.place, &two.message)));
    faults.dedup();
    faults
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Standing {
    Never,
    /// It was accepted with another content.
    Changed,
    Accepted,
}

impl Trust {
    /// `$XDG_STATE_HOME/sequester/trust`, else `~/.local/state/sequester/trust`.
    pub(crate) fn look() -> Self {
        Self { folder: state_folder().map(|state| state.join("trust")) }
    }

    /// Who stands for the file as it is. Trust that is gone is told.
    pub(crate) fn origin(&self, file: &Untrusted<'_>, content: &[u8]) -> Origin {
        let path = file.path.to_owned();
        match self.standing(file, content) {
            Standing::Never => Origin::Repository(path),
            Standing::Accepted => Origin::Accepted(path),
            Standing::Changed => {
                output::tell(&format!(
                    "`{path}` has changed since you accepted it, so it is not trusted any more; `sequester trust` shows it."
                ));
                Origin::Repository(path)
            }
        }
    }

    pub(crate) fn standing(&self, file: &Untrusted<'_>, content: &[u8]) -> Standing {
        let note = self.note(file).and_then(|note| fs::read_to_string(note).ok());
        match note.as_deref().and_then(|note| note.lines().next()) {
            None => Standing::Never,
            Some(digest) if digest == digest_of(content) => Standing::Accepted,
            Some(_) => Standing::Changed,
        }
    }

    pub(crate) fn accept(&self, file: &Untrusted<'_>, content: &[u8]) -> io::Result<()> {
        let (Some(folder), Some(note)) = (&self.folder, self.note(file)) else {
            return Err(io::Error::other("neither `XDG_STATE_HOME` nor `HOME` names a folder"));
        };
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        // Written beside and renamed: a reader sees the old note or the new one.
        let fresh = note.with_extension(std::process::id().to_string());
        let text = format!("{}\n{}\n", digest_of(content), file.place().display());
        let written = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&fresh)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .and_then(|()| fs::rename(&fresh, note));
        if written.is_err() {
            let _ = fs::remove_file(fresh);
        }
        written
    }

    /// Whether there was anything to forget.
    pub(crate) fn forget(&self, file: &Untrusted<'_>) -> io::Result<bool> {
        match self.note(file).map(fs::remove_file) {
            None => Ok(false),
            Some(Err(error)) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Some(removed) => removed.map(|()| true),
        }
    }

    fn note(&self, file: &Untrusted<'_>) -> Option<PathBuf> {
        let name = blake3::hash(file.place().as_os_str().as_encoded_bytes()).to_hex();
        Some(self.folder.as_ref()?.join(name.as_str()))
    }
}

/// `$XDG_STATE_HOME/sequester`, else `~/.local/state/sequester`; nothing where there is no home.
pub(crate) fn state_folder() -> Option<PathBuf> {
    let absolute =
        |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
    state.map(|state| state.join("sequester"))
}

impl Untrusted<'_> {
    pub(crate) fn place(&self) -> PathBuf {
        self.root.join(self.path)
    }
}

/// By which a content is known.
pub(crate) fn digest_of(content: &[u8]) -> String {
    blake3::hash(content).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trust_is_for_one_content_at_one_place() {
        let folder = tempfile::tempdir().unwrap();
        let trust = Trust { folder: Some(folder.path().join("trust")) };
        let file = Untrusted { root: Path::new("/repo"), path: "sequester.toml" };
        assert_eq!(trust.standing(&file, b"a"), Standing::Never);
        trust.accept(&file, b"a").unwrap();
        assert_eq!(trust.standing(&file, b"a"), Standing::Accepted);
        assert_eq!(trust.standing(&file, b"b"), Standing::Changed);
        let other = Untrusted { root: Path::new("/other"), path: "sequester.toml" };
        assert_eq!(trust.standing(&other, b"a"), Standing::Never);
        trust.accept(&file, b"b").unwrap();
        assert_eq!(trust.standing(&file, b"b"), Standing::Accepted);
        assert_eq!((trust.forget(&file).unwrap(), trust.forget(&file).unwrap()), (true, false));
        assert_eq!(trust.standing(&file, b"b"), Standing::Never);
    }

    #[test]
    fn without_a_home_nothing_can_be_accepted() {
        let trust = Trust { folder: None };
        let file = Untrusted { root: Path::new("/repo"), path: "sequester.toml" };
        assert!(trust.accept(&file, b"a").is_err());
        assert_eq!(trust.standing(&file, b"a"), Standing::Never);
    }
}
