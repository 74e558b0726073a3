//! The files of a base, written to a folder of their own.

use std::collections::BTreeSet;
use std::io::Write;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, Timespec, Timestamps, UTIME_OMIT, fchmod, futimens, mkdirat,
    openat, symlinkat, utimensat,
};
use rustix::io::Errno;
use sequester_core::repository::Error;

use super::{Export, FILE_BYTES, Item, Kind};
use crate::program::broken;
use crate::share::share_in_batches;

/// What was written of one entry, as the index needs it.
#[derive(Clone)]
pub(super) struct Stored {
    pub(super) name: String,
    pub(super) modified: Timespec,
    pub(super) size: u64,
}

impl Default for Stored {
    fn default() -> Self {
        Self { name: String::new(), modified: Timespec { tv_sec: 0, tv_nsec: 0 }, size: 0 }
    }
}

/// Gives for each entry what was written.
pub(super) fn write(export: &Export<'_>, to: &Path, now: Timespec) -> Result<Vec<Stored>, Error> {
    std::fs::create_dir(to).map_err(|error| unwritable(&to.display(), error))?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = openat(CWD, to, flags, Mode::empty());
    let folder = folder.map_err(|error| unwritable(&to.display(), error))?;
    let folders = folders(export);
    make_folders(&folders, &folder)?;
    let writer = Writer { export, folder, now };
    let mut stored =
        share_in_batches(export.items.len(), |batch, results| writer.write_files(batch, results))?;
    // Links come last, when all else lies where it should: nothing is ever written through one.
    for (at, item) in export.items.iter().enumerate() {
        match item.kind {
            Kind::Link => stored[at] = writer.write_link(item)?,
            Kind::Submodule => stored[at].name.clone_from(&item.name),
            Kind::File | Kind::Program => {}
        }
    }
    writer.date_folders(folders, &stored)?;
    Ok(stored)
}

/// All folders but the highest, parents first. A submodule is an empty one.
fn folders<'a>(export: &'a Export<'_>) -> BTreeSet<&'a str> {
    let mut folders = BTreeSet::new();
    for item in &export.items {
        let mut path = item.path.as_str();
        if item.kind == Kind::Submodule {
            folders.insert(path);
        }
        while let Some((folder, _)) = path.rsplit_once('/') {
            if !folders.insert(folder) {
                break;
            }
            path = folder;
        }
    }
    // The repository is mounted there.
    folders.insert(".git");
    folders
}

fn make_folders(folders: &BTreeSet<&str>, root: &OwnedFd) -> Result<(), Error> {
    folders.iter().try_for_each(|folder| {
        mkdirat(root, *folder, Mode::from_raw_mode(0o755))
            .map_err(|error| unwritable(folder, error))
    })
}

struct Writer<'a> {
    export: &'a Export<'a>,
    folder: OwnedFd,
    now: Timespec,
}

impl Writer<'_> {
    /// Files that the working tree holds are copied from there; the others come from the objects, in one go.
    fn write_files(
        &self,
        batch: Range<usize>,
        results: &mut Vec<(usize, Stored)>,
    ) -> Result<(), Error> {
        let mut missing: Vec<(usize, &str)> = Vec::new();
        for at in batch {
            let item = &self.export.items[at];
            if matches!(item.kind, Kind::Link | Kind::Submodule) {
                continue;
            }
            let (path, name) = (item.path.as_str(), &item.name);
            match self.export.tree.checkout.find_same(path, name, FILE_BYTES) {
                Some(same) => {
                    let stored = self.write_file(item, name, &same.bytes, same.modified)?;
                    results.push((at, stored));
                }
                None => missing.push((at, name)),
            }
        }
        for some in missing.chunks(crate::objects::BATCH) {
            let names: Vec<&str> = some.iter().map(|(_, name)| *name).collect();
            let mut outcome = Ok(());
            self.export.tree.objects.read(&names, FILE_BYTES, &mut |nth, read| {
                let (at, name) = some[nth];
                let item = &self.export.items[at];
                let written = read.and_then(|bytes| self.write_file(item, name, &bytes, self.now));
                match written {
                    Ok(stored) => results.push((at, stored)),
                    Err(error) => outcome = Err(unwritable(&item.path, error)),
                }
            });
            outcome?;
        }
        Ok(())
    }

    fn name(&self, bytes: &[u8]) -> String {
        self.export.tree.objects.format().name(crate::name::Kind::Blob, bytes).to_string()
    }

    fn write_file(
        &self,
        item: &Item,
        name: &str,
        bytes: &[u8],
        modified: Timespec,
    ) -> Result<Stored, Error> {
        let write = || -> std::io::Result<()> {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            let mode = Mode::from_raw_mode(if item.kind == Kind::Program { 0o755 } else { 0o644 });
            let mut file = std::fs::File::from(openat(
                &self.folder,
                item.path.as_str(),
                flags | OFlags::NOFOLLOW,
                mode,
            )?);
            file.write_all(bytes)?;
            fchmod(&file, mode)?;
            Ok(futimens(&file, &times(modified))?)
        };
        write().map_err(|error| unwritable(&item.path, error))?;
        Ok(Stored { name: name.to_owned(), modified, size: bytes.len() as u64 })
    }

    /// A folder whose files are all as the working tree has them gets its time there too: builds look at folders as well.
    fn date_folders(&self, folders: BTreeSet<&str>, stored: &[Stored]) -> Result<(), Error> {
        let items = self.export.items.iter().zip(stored);
        let other = items.filter(|(_, stored)| stored.modified == self.now);
        let other: BTreeSet<&str> = other
            .map(|(item, _)| item.path.as_str().rsplit_once('/').map_or("", |two| two.0))
            .collect();
        for folder in folders.into_iter().chain([""]) {
            let name = if folder.is_empty() { "." } else { folder };
            let theirs = self.export.tree.checkout.look(name).map(|(modified, _)| modified);
            let time = theirs.filter(|_| !other.contains(folder)).unwrap_or(self.now);
            utimensat(&self.folder, name, &times(time), AtFlags::SYMLINK_NOFOLLOW)
                .map_err(|error| unwritable(&folder, error))?;
        }
        Ok(())
    }

    fn write_link(&self, item: &Item) -> Result<Stored, Error> {
        let (checkout, path) = (&self.export.tree.checkout, item.path.as_str());
        let (target, modified) = match checkout.read_link(path) {
            Some(held) if self.name(&held.bytes) == item.name => (held.bytes, held.modified),
            _ => (self.read_object(&item.name)?, self.now),
        };
        symlinkat(target.as_slice(), &self.folder, path)
            .and_then(|()| {
                utimensat(&self.folder, path, &times(modified), AtFlags::SYMLINK_NOFOLLOW)
            })
            .map_err(|error: Errno| unwritable(&item.path, error))?;
        Ok(Stored { name: self.name(&target), modified, size: target.len() as u64 })
    }

    fn read_object(&self, name: &str) -> Result<Vec<u8>, Error> {
        let mut content = Err(broken("nothing was read."));
        self.export.tree.objects.read(&[name], FILE_BYTES, &mut |_, read| content = read);
        content
    }
}

fn times(modified: Timespec) -> Timestamps {
    let unchanged = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
    Timestamps { last_access: unchanged, last_modification: modified }
}

fn unwritable(path: &dyn std::fmt::Display, error: impl std::fmt::Display) -> Error {
    let why = error.to_string();
    broken(format!("`{path}` cannot be written to the base: {}.", why.trim_end_matches('.')))
}
