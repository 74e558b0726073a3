//! Paths: every one is resolved and opened beneath the root, and nothing outside is touched.

use std::fs::{File, Metadata};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, fchmod, mkdirat, openat, readlinkat, renameat, unlinkat,
};
use rustix::io::Errno;
use sequester_core::secret::is_secret_name;
use sequester_core::tool::Outcome;

/// Larger files are not taken into memory.
pub(crate) const FILE_BYTES: u64 = 16 << 20;
/// Links in one path, as the kernel counts them.
const LINKS: usize = 40;
/// Names that are tried for a file that is being written.
const DRAFTS: usize = 1_000;
pub(crate) const PATH_BYTES: usize = 4_096;

/// The folder that all tools work in.
pub(crate) struct Root {
    given: PathBuf,
    real: PathBuf,
    handle: OwnedFd,
}

/// Where a path leads beneath the root: no `..` and no link in it. Empty for the root itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place(String);

impl Place {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn is_root(&self) -> bool {
        self.0.is_empty()
    }
}

impl AsRef<Path> for Place {
    fn as_ref(&self) -> &Path {
        Path::new(if self.0.is_empty() { "." } else { &self.0 })
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(if self.0.is_empty() { "." } else { &self.0 })
    }
}

impl Root {
    pub(crate) fn open(folder: &Path) -> io::Result<Self> {
        let real = folder.canonicalize()?;
        let handle = openat(CWD, &real, FOLDER, Mode::empty())?;
        Ok(Self { given: folder.to_owned(), real, handle })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.real
    }

    /// Where `given` leads, links followed as long as they stay beneath the root.
    pub(crate) fn place(&self, given: &str) -> Result<Place, Outcome> {
        if given.len() > PATH_BYTES {
            return Err(refuse("The path is longer than 4096 bytes."));
        }
        if given.chars().any(char::is_control) {
            return Err(refuse("The path holds a control character."));
        }
        let leaves = || {
            let told =
                format!("`{given}` leads out of the workspace. Give a path beneath its root.");
            refuse(&told)
        };
        if given == "~" || given.starts_with("~/") {
            return Err(leaves());
        }
        let mut parts: Vec<String> = Vec::new();
        let mut ahead = self.beneath(Path::new(given)).ok_or_else(leaves)?;
        ahead.reverse();
        let mut links = 0;
        while let Some(part) = ahead.pop() {
            if part == ".." {
                parts.pop().ok_or_else(leaves)?;
                continue;
            }
            parts.push(part);
            let Ok(target) = readlinkat(&self.handle, parts.join("/"), Vec::new()) else {
                // No link, or nothing there yet.
                continue;
            };
            links += 1;
            if links > LINKS {
                let told =
                    format!("`{given}` leads through more than {LINKS} links, or in a circle.");
                return Err(failed(told));
            }
            let target = PathBuf::from(target.into_string().ok().ok_or_else(leaves)?);
            parts.pop();
            if target.is_absolute() {
                parts.clear();
            }
            ahead.extend(self.beneath(&target).ok_or_else(leaves)?.into_iter().rev());
        }
        Ok(Place(parts.join("/")))
    }

    /// The place of a file that a tool may open by name: not the root, and not secret, neither by the name given
    /// nor by the one it leads to.
    pub(crate) fn file(&self, given: &str) -> Result<Place, Outcome> {
        let place = self.place(given)?;
        if place.is_root() {
            return Err(failed(format!("`{given}` is a folder. List its files with `Glob`.")));
        }
        match is_secret_name(given).or_else(|| is_secret_name(place.as_str())) {
            Some(rule) => Err(refuse(&format!(
                "`{given}` is a secret file by its name ({rule}). No tool opens it; work without it."
            ))),
            None => Ok(place),
        }
    }

    /// The place of a file that a tool may change.
    pub(crate) fn writable(&self, given: &str) -> Result<Place, Outcome> {
        let place = self.file(given)?;
        if place.as_str().split('/').any(|part| part.eq_ignore_ascii_case(".git")) {
            return Err(refuse(
                "Nothing in `.git` is changed by tools. The runtime commits your change when you report.",
            ));
        }
        Ok(place)
    }

    /// The parts of a path, if it is relative or lies beneath the root.
    fn beneath(&self, path: &Path) -> Option<Vec<String>> {
        let inner = if path.is_absolute() {
            path.strip_prefix(&self.given).or_else(|_| path.strip_prefix(&self.real)).ok()?
        } else {
            path
        };
        let parts = inner.to_str()?.split('/').filter(|part| !matches!(*part, "" | "."));
        Some(parts.map(str::to_owned).collect())
    }

    /// Opens a regular file. Follows no link, in whatever part of the path, and waits for nobody.
    pub(crate) fn open_file(&self, path: &Path) -> Result<(File, Metadata), Fault> {
        let flags =
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = File::from(self.open_beneath(path, flags).map_err(Fault::of)?);
        let about = file.metadata().map_err(|error| Fault::Other(error.to_string()))?;
        let kind = about.file_type();
        if kind.is_dir() {
            return Err(Fault::Kind("a folder. List its files with `Glob`"));
        }
        if kind.is_fifo() {
            return Err(Fault::Kind("a pipe, not a file"));
        }
        if !kind.is_file() {
            return Err(Fault::Kind("a device, not a file"));
        }
        if about.len() > FILE_BYTES {
            return Err(Fault::TooLarge(about.len()));
        }
        Ok((file, about))
    }

    fn open_beneath(&self, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{ResolveFlags, openat2};
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
            match openat2(&self.handle, path, flags, Mode::empty(), resolve) {
                // Old kernels lack the call, and old containers forbid what they do not know.
                Err(Errno::NOSYS | Errno::PERM) => {}
                opened => return opened,
            }
        }
        let (folder, name) = (path.parent().unwrap_or(Path::new("")), path.file_name());
        let mut at = openat(&self.handle, ".", FOLDER, Mode::empty())?;
        for part in folder.components() {
            at = openat(&at, part.as_os_str(), FOLDER, Mode::empty())?;
        }
        openat(&at, name.ok_or(Errno::ISDIR)?, flags, Mode::empty())
    }

    /// The whole contents of a regular file.
    pub(crate) fn read(&self, path: &Path) -> Result<Vec<u8>, Fault> {
        self.open_file(path).and_then(|(file, about)| read_whole(file, &about))
    }

    /// Puts `bytes` at `place` in one step, folders included. A file that was there keeps its mode, but for what a write
    /// takes away too: the bits that lend a program its owner's rights.
    pub(crate) fn replace(&self, place: &Place, bytes: &[u8]) -> Result<(), Outcome> {
        let told = |error: io::Error| failed(format!("`{place}` could not be written: {error}."));
        let mode = match self.open_file(place.as_ref()) {
            Ok((_, about)) => Some(Mode::from_raw_mode(about.permissions().mode() & 0o777)),
            Err(Fault::Missing) => None,
            // It was looked at before, so it changed in between.
            Err(fault) => return Err(fault.told(place.as_str())),
        };
        let (folder, name) = place.0.rsplit_once('/').unwrap_or(("", &place.0));
        let folder = self.make_folder(folder).map_err(|error| told(error.into()))?;
        let (draft, file) = create_draft(&folder).map_err(|error| told(error.into()))?;
        let written = write_draft(file, bytes, mode)
            .and_then(|()| Ok(renameat(&folder, &draft, &folder, name)?));
        written.map_err(|error| {
            // Best effort: what failed is the writing, and that is what is told.
            let _ = unlinkat(&folder, &draft, AtFlags::empty());
            told(error)
        })
    }

    fn make_folder(&self, path: &str) -> Result<OwnedFd, Errno> {
        let mut at = openat(&self.handle, ".", FOLDER, Mode::empty())?;
        for part in path.split('/').filter(|part| !part.is_empty()) {
            at = match openat(&at, part, FOLDER, Mode::empty()) {
                Err(Errno::NOENT) => {
                    mkdirat(&at, part, Mode::from_raw_mode(0o777))?;
                    openat(&at, part, FOLDER, Mode::empty())?
                }
                opened => opened?,
            };
        }
        Ok(at)
    }
}

const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Why a file was not read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Missing,
    Link,
    Kind(&'static str),
    TooLarge(u64),
    Other(String),
}

impl Fault {
    fn of(error: Errno) -> Self {
        match error {
            Errno::NOENT => Self::Missing,
            Errno::LOOP | Errno::XDEV => Self::Link,
            Errno::NXIO => Self::Kind("a socket or device, not a file"),
            Errno::NOTDIR => Self::Kind("beneath something that is no folder"),
            error => Self::Other(io::Error::from(error).to_string()),
        }
    }

    pub(crate) fn told(self, path: &str) -> Outcome {
        match self {
            Self::Missing => failed(format!("`{path}` does not exist. Find files with `Glob`.")),
            Self::Link => refuse(&format!("`{path}` leads through a link out of the workspace.")),
            Self::Kind(kind) => failed(format!("`{path}` is {kind}.")),
            Self::TooLarge(bytes) => failed(format!(
                "`{path}` has {bytes} bytes, and at most {FILE_BYTES} are read. Use `Bash`, for example `sed -n`."
            )),
            Self::Other(why) => failed(format!("`{path}` could not be read: {why}.")),
        }
    }
}

fn read_whole(file: File, about: &Metadata) -> Result<Vec<u8>, Fault> {
    let mut bytes = Vec::with_capacity(about.len() as usize + 1);
    let read = file.take(FILE_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| Fault::Other(error.to_string()))?;
    match bytes.len() as u64 {
        grown if grown > FILE_BYTES => Err(Fault::TooLarge(grown)),
        _ => Ok(bytes),
    }
}

/// A new file beside the one that it becomes. One that another writer has, or left behind when it was killed, is passed
/// over: processes of different jails may have the same number.
fn create_draft(folder: impl AsFd) -> Result<(String, File), Errno> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for _ in 0..DRAFTS {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!(".sequester-{}-{count}.tmp", std::process::id());
        match openat(folder.as_fd(), &name, flags, Mode::from_raw_mode(0o666)) {
            Err(Errno::EXIST) => {}
            opened => return opened.map(|file| (name, File::from(file))),
        }
    }
    Err(Errno::EXIST)
}

fn write_draft(mut file: File, bytes: &[u8], mode: Option<Mode>) -> io::Result<()> {
    file.write_all(bytes)?;
    if let Some(mode) = mode {
        fchmod(&file, mode)?;
    }
    Ok(())
}

pub(crate) fn refuse(words: &str) -> Outcome {
    Outcome::Refused(words.to_owned())
}

pub(crate) fn failed(words: String) -> Outcome {
    Outcome::Failed(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_that_was_left_behind_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path()).unwrap();
        let (first, _) = create_draft(&root.handle).unwrap();
        let (start, end) = first.rsplit_once('-').unwrap();
        let count: u64 = end.trim_end_matches(".tmp").parse().unwrap();
        for left in count + 1..count + 20 {
            std::fs::write(folder.path().join(format!("{start}-{left}.tmp")), "left").unwrap();
        }
        let place = root.place("a").unwrap();
        root.replace(&place, b"new").unwrap();
        assert_eq!(std::fs::read(folder.path().join("a")).unwrap(), b"new");
        let next = format!("{start}-{}.tmp", count + 1);
        assert_eq!(std::fs::read(folder.path().join(next)).unwrap(), b"left");
    }
}
