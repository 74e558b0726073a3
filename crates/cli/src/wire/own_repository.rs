//! The repository of our own in a folder that has none: `.sequester/git`, sealed with the person's key, since a folder may come with one.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use sequester_core::fault::Code;
use sequester_git::Repo;
use sequester_store::Signer;

use super::runs::{FOLDER, git_failed};
use super::signing;
use crate::failure::Failure;

const KIND: &str = "git";
const SEAL: &str = "sequester-seal";

/// How the folder stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnRepository {
    Absent,
    Sealed,
    /// Somebody else made it, or it was moved.
    Foreign,
}

fn place(root: &Path) -> PathBuf {
    root.join(FOLDER).join("git")
}

impl OwnRepository {
    /// Follows no link: what is no folder of its own is somebody else's.
    pub(crate) fn look(root: &Path) -> Result<Self, Failure> {
        let git = place(root);
        let is_folder = |path: &Path| {
            fs::symlink_metadata(path).map(|about| about.is_dir()).map_err(|error| error.kind())
        };
        match (is_folder(&root.join(FOLDER)), is_folder(&git)) {
            (Err(io::ErrorKind::NotFound), _) | (Ok(true), Err(io::ErrorKind::NotFound)) => {
                return Ok(Self::Absent);
            }
            (Ok(true), Ok(true)) => {}
            _ => return Ok(Self::Foreign),
        }
        let Some(signer) = signing::existing_signer()? else { return Ok(Self::Foreign) };
        let seal = git.join(SEAL);
        let is_file = fs::symlink_metadata(&seal).is_ok_and(|about| about.is_file());
        let seal =
            if is_file { fs::read_to_string(seal).unwrap_or_default() } else { String::new() };
        let is_sealed = real(&git).is_ok_and(|git| signer.has_sealed_place(KIND, &git, &seal));
        Ok(if is_sealed { Self::Sealed } else { Self::Foreign })
    }

    /// The repository, which is made where there is none.
    pub(crate) fn open(root: &Path) -> Result<Repo, Failure> {
        match Self::look(root)? {
            Self::Sealed => {}
            Self::Absent => Self::seal(root)?,
            Self::Foreign => return Err(foreign(root)),
        }
        let search = env::var_os("PATH").unwrap_or_default();
        Repo::own(root, &place(root), &search).map_err(|error| git_failed(root, &error))
    }

    /// Makes the folder this user's. One that leads elsewhere is refused.
    pub(crate) fn seal(root: &Path) -> Result<(), Failure> {
        let git = place(root);
        let signer = signing::signer()?;
        sealed(&git, &signer).map_err(|error| {
            let message = format!("The repository for single tasks cannot be used: {error}.");
            let hint = "Move that folder away.";
            Failure::work(Code::StoreFailed, git.display(), message, hint)
        })
    }
}

/// Before git makes anything in it: whoever is killed in between leaves a folder that is sealed.
fn sealed(git: &Path, signer: &Signer) -> io::Result<()> {
    let elsewhere = |odd: &Path| io::Error::other(format!("`{}` leads elsewhere", odd.display()));
    if let Some(above) = git.parent().filter(|above| !is_folder(above)) {
        return Err(elsewhere(above));
    }
    match fs::create_dir(git) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ if !is_folder(git) => return Err(elsewhere(git)),
        _ => {}
    }
    if let Some(odd) = leads_elsewhere(git)? {
        return Err(elsewhere(&odd));
    }
    let seal = git.join(SEAL);
    let _ = fs::remove_file(&seal);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(seal)?;
    file.write_all(signer.seal_place(KIND, &real(git)?).as_bytes())?;
    file.sync_all()
}

/// Itself, not by a link.
fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|about| about.is_dir())
}

/// What would have git write to, or read from, another folder. Git itself makes no links in there.
fn leads_elsewhere(git: &Path) -> io::Result<Option<PathBuf>> {
    let named = ["commondir", "gitdir", "objects/info/alternates"].map(|name| git.join(name));
    if let Some(found) = named.into_iter().find(|path| fs::symlink_metadata(path).is_ok()) {
        return Ok(Some(found));
    }
    let mut folders = vec![git.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_symlink() {
                return Ok(Some(entry.path()));
            }
            folders.extend(kind.is_dir().then(|| entry.path()));
        }
    }
    Ok(None)
}

fn real(git: &Path) -> io::Result<PathBuf> {
    git.canonicalize()
}

fn foreign(root: &Path) -> Failure {
    let message = "The repository for single tasks is not yours: it came with this folder, or was moved here.";
    let hint = "`sequester trust` accepts it as it stands; or move it away.";
    Failure::trust(Code::ForeignStore, place(root).display(), message, hint)
}
