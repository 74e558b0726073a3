//! Looking at a tree that others wrote: beneath one folder, through no link, waiting for nobody.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, fgetxattr, openat, readlinkat, statat,
};
use rustix::io::Errno;

/// A folder and all beneath it. Paths are relative to it, and the empty one is the folder itself.
#[derive(Debug)]
pub(crate) struct Folder(OwnedFd);

/// How the kernel marks a folder that hides what is beneath.
pub(super) const OPAQUE: &str = "user.overlay.opaque";

/// A name in a folder, and what it stands for.
pub(crate) struct Seen {
    pub(crate) name: OsString,
    pub(crate) kind: FileType,
}

impl Folder {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(openat(CWD, path, flags, Mode::empty())?))
    }

    /// A folder in this one. Whatever is moved meanwhile, what is looked at from there lies beneath it.
    pub(crate) fn enter(&self, name: &str) -> io::Result<Self> {
        Ok(Self(self.open_beneath(name, OFlags::DIRECTORY)?))
    }

    /// Whether it hides what a layer beneath has in its place.
    pub(crate) fn is_opaque(&self) -> bool {
        let mut value = [0; 1];
        matches!(fgetxattr(&self.0, OPAQUE, &mut value), Ok(1)) && value == *b"y"
    }

    /// What a folder holds, in the order of names.
    pub(crate) fn list(&self, path: &str) -> io::Result<Vec<Seen>> {
        let folder = self.open_beneath(path, OFlags::DIRECTORY)?;
        let mut found = Vec::new();
        for entry in Dir::new(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            let name = OsString::from_vec(name.to_vec());
            let kind = match entry.file_type() {
                FileType::Unknown => {
                    let path = join(path, &name);
                    let seen = statat(&self.0, &path, AtFlags::SYMLINK_NOFOLLOW)?;
                    FileType::from_raw_mode(seen.st_mode)
                }
                known => known,
            };
            found.push(Seen { name, kind });
        }
        found.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        Ok(found)
    }

    pub(crate) fn look(&self, path: &str) -> io::Result<Stat> {
        Ok(statat(&self.0, path, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// A regular file of at most `limit` bytes; nothing if it is larger.
    pub(crate) fn read(&self, path: &str, limit: u64) -> io::Result<Option<Vec<u8>>> {
        let file = self.open_file(path)?;
        let size = file.metadata()?.len();
        if size > limit {
            return Ok(None);
        }
        let mut bytes = Vec::with_capacity(size as usize + 1);
        file.take(limit + 1).read_to_end(&mut bytes)?;
        Ok((bytes.len() as u64 <= limit).then_some(bytes))
    }

    /// A regular file, to be read.
    pub(crate) fn open_file(&self, path: &str) -> io::Result<File> {
        let file = File::from(self.open_beneath(path, OFlags::NONBLOCK)?);
        if file.metadata()?.is_file() {
            return Ok(file);
        }
        Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"))
    }

    pub(crate) fn read_link(&self, path: &str) -> io::Result<Vec<u8>> {
        Ok(readlinkat(&self.0, path, Vec::new())?.into_bytes())
    }

    fn open_beneath(&self, path: &str, more: OFlags) -> Result<OwnedFd, Errno> {
        let path = if path.is_empty() { "." } else { path };
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | more;
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{ResolveFlags, openat2};
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
            match openat2(&self.0, path, flags, Mode::empty(), resolve) {
                Err(Errno::NOSYS) => {}
                opened => return opened,
            }
        }
        openat(&self.0, path, flags, Mode::empty())
    }
}

/// A path beneath another one.
fn join(path: &str, name: &OsStr) -> OsString {
    let mut bytes = path.as_bytes().to_vec();
    if !bytes.is_empty() {
        bytes.push(b'/');
    }
    bytes.extend(name.as_bytes());
    OsString::from_vec(bytes)
}
