//! The jail's file system, built from nothing in the order of its entries.

mod shown;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, mkdirat, openat2, symlinkat, unlinkat,
};
use rustix::io::{Errno, write};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountFlags, MountPropagationFlags, MoveMountFlags,
    UnmountFlags, fsconfig_create, fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen,
    mount_change, mount_remount, move_mount, unmount,
};
use rustix::process::{chdir, fchdir, pivot_root};

use crate::blueprint::{Access, Entry, Kind};
use crate::order::Trouble;
use crate::sources::{Sources, clone, clone_at};
use crate::sys::{self, Attributes};
use shown::SharedLayer;

/// Enough for the folders, links and files that hold the rest.
const BYTES: u64 = 16 << 20;
/// Where layers are attached while they are needed.
const LAYERS: &str = ".layers";
const COVER: &str = ".cover";
const EMPTY_FILE: &str = ".empty/file";
const EMPTY_FOLDER: &str = ".empty/folder";

/// Makes the entries the root of this process and leaves nothing else reachable. Gives what of it is kept in memory. Names that must not be
/// made are held from outside meanwhile, until `held` comes back.
pub(crate) fn build(
    entries: &[Entry],
    sources: Vec<Sources>,
    memory: u64,
    held: impl FnOnce() -> Result<(), Trouble>,
) -> Result<Vec<OwnedFd>, Trouble> {
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).map_err(told("cut the mounts off"))?;
    let root = scratch(BYTES, INODES, 0o755).map_err(Trouble::at("make the root"))?;
    attach(&root, CWD, Path::new("/")).map_err(Trouble::at("attach the root"))?;
    let written = entries.iter().find_map(|entry| match entry {
        Entry::Bind { at, access: Access::Write, .. } => Some(at.clone()),
        _ => None,
    });
    let inodes = INODES.min(memory / INODE_SHARE);
    let root = Root::new(root, inodes, written);
    root.prepare().map_err(Trouble::at("prepare the root"))?;
    if entries.len() != sources.len() {
        let why = io::Error::other("not every part of it was handed over");
        return Err(Trouble::at("make the root")(why));
    }
    let (mut kept, mut held) = (Vec::new(), Some(held));
    for (entry, sources) in entries.iter().zip(sources) {
        if matches!(entry, Entry::Shut { .. }) {
            held.take().map_or(Ok(()), |held| held())?;
        }
        match root.add(entry, &sources, &mut kept) {
            // Somebody took it away from the machine since it was looked at.
            Err(error) if error.kind() == io::ErrorKind::NotFound && hides(entry, entries) => {}
            made => made.map_err(|error| tell(entry, error))?,
        }
    }
    root.silence().map_err(Trouble::at("cover sockets and pipes"))?;
    held.map_or(Ok(()), |held| held())?;
    root.close().map_err(Trouble::at("close the root"))?;
    Ok(kept)
}

/// Whether an entry covers something of the machine's own, not of the person's folder.
fn hides(entry: &Entry, entries: &[Entry]) -> bool {
    let (Entry::Hidden { at } | Entry::Cover { at, .. }) = entry else { return false };
    let stands = |one: &&Entry| {
        !matches!(one, Entry::Hidden { .. } | Entry::Cover { .. } | Entry::Shut { .. })
            && at.starts_with(one.at())
    };
    let nearest = entries.iter().filter(stands).max_by_key(|one| one.at().as_os_str().len());
    matches!(nearest, Some(Entry::Shown { .. }))
}

fn told(step: &str) -> impl FnOnce(Errno) -> Trouble + '_ {
    move |error| Trouble::at(step)(error.into())
}

/// What of the person's folder is not where it was looked at may be seen elsewhere.
fn tell(entry: &Entry, error: io::Error) -> Trouble {
    let step = format!("put `{}` into the jail", entry.at().display());
    match entry {
        Entry::Hidden { at }
        | Entry::Cover { at, .. }
        | Entry::Shut { at, .. }
        | Entry::Bind { at, access: Access::Write, .. } => Trouble::with(at, step, error),
        _ => Trouble::at(step)(error),
    }
}

struct Root {
    folder: OwnedFd,
    /// The most files in each memory file system that may be written.
    inodes: u64,
    /// How many layers are attached so far.
    layers: Cell<usize>,
    /// Where each stands that several places share, and what it is.
    shared: RefCell<BTreeMap<(PathBuf, bool), SharedLayer>>,
    /// Folders that are bound without a layer.
    bare: RefCell<Vec<PathBuf>>,
    /// The person's folder, in which nothing is made.
    written: Option<PathBuf>,
}

const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

impl Root {
    fn new(folder: OwnedFd, inodes: u64, written: Option<PathBuf>) -> Self {
        let (layers, shared, bare) = (Cell::new(0), RefCell::default(), RefCell::default());
        Self { folder, inodes, layers, shared, bare, written }
    }

    fn prepare(&self) -> io::Result<()> {
        self.folder(Path::new(LAYERS), 0o700)?;
        self.folder(Path::new(EMPTY_FOLDER), 0o555)?;
        self.file(Path::new(EMPTY_FILE), b"")?;
        Ok(())
    }

    fn add(&self, entry: &Entry, sources: &[OwnedFd], kept: &mut Vec<OwnedFd>) -> io::Result<()> {
        match entry {
            Entry::Folder { at, mode } => self.folder(at, *mode).map(drop),
            Entry::Text { at, content } => self.file(at, content.as_bytes()).map(drop),
            Entry::Cover { at, content } => self.cover(at, content.as_bytes()),
            Entry::Link { at, to } => self.link(at, to),
            Entry::Bind { at, .. } if self.is_written(at) => {
                sources.iter().try_for_each(|tree| attach(tree, self.open(at)?, Path::new("")))
            }
            Entry::Bind { at, .. } => sources.iter().try_for_each(|tree| self.bind(tree, at)),
            Entry::Scratch { at, bytes, mode } => {
                let tree = scratch(*bytes, self.inodes, *mode)?;
                self.mount(&tree, at)?;
                kept.push(tree);
                Ok(())
            }
            Entry::Layered { at, .. } => self.layer(sources, at),
            Entry::Mirror { at, .. } => self.mirror(sources, at),
            Entry::Shown { from, at, top, as_owner } => {
                self.show((from, at), (top, *as_owner), sources)
            }
            Entry::Processes => self.processes(),
            Entry::Devices => self.devices(kept),
            Entry::Hidden { at } => self.hide(at),
            Entry::Shut { at, kind } => self.shut(at, *kind),
        }
    }

    fn is_written(&self, at: &Path) -> bool {
        self.written.as_ref().is_some_and(|written| at != written && at.starts_with(written))
    }

    /// Opens a path inside. Nothing in it is a link: whoever puts one there leads nowhere.
    fn open(&self, at: &Path) -> Result<OwnedFd, Errno> {
        let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_SYMLINKS;
        openat2(&self.folder, inner(at), flags, Mode::empty(), resolve)
    }

    /// The folder at `at`, made with all above it where it is not there.
    fn folder(&self, at: &Path, mode: u32) -> io::Result<OwnedFd> {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        let inner = inner(at);
        // Most are there, or lie in one that is.
        let error = match openat2(&self.folder, &inner, FOLDER, Mode::empty(), resolve) {
            Ok(there) => return Ok(there),
            Err(error) => error,
        };
        let (Some(above), Some(name)) = (inner.parent(), inner.file_name()) else {
            return Err(error.into());
        };
        let above = self.folder(above, 0o755)?;
        match mkdirat(&above, name, Mode::from_raw_mode(mode)) {
            Ok(()) | Err(Errno::EXIST | Errno::ROFS) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(openat2(&above, name, FOLDER, Mode::empty(), ResolveFlags::NO_SYMLINKS)?)
    }

    /// The folder that something lies in.
    fn above(&self, at: &Path) -> io::Result<OwnedFd> {
        self.folder(at.parent().unwrap_or(Path::new("/")), 0o755)
    }

    fn link(&self, at: &Path, to: &Path) -> io::Result<()> {
        // Not by its whole path: in that a link would be followed.
        let name = at.file_name().ok_or(Errno::INVAL)?;
        Ok(symlinkat(to, self.above(at)?, name)?)
    }

    fn file(&self, at: &Path, content: &[u8]) -> io::Result<OwnedFd> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_SYMLINKS;
        let mode = Mode::from_raw_mode(0o644);
        let open = || openat2(&self.folder, inner(at), flags, mode, resolve);
        let file = match open() {
            // Most folders are there.
            Err(Errno::NOENT) => self.above(at).and_then(|_| Ok(open()?)),
            file => Ok(file?),
        }?;
        let mut rest = content;
        while !rest.is_empty() {
            rest = &rest[write(&file, rest)?..];
        }
        Ok(file)
    }

    fn bind(&self, tree: &OwnedFd, at: &Path) -> io::Result<()> {
        if is_folder(tree)? {
            return self.mount(tree, at);
        }
        let there = match self.open(at) {
            Err(Errno::NOENT) => self.file(at, b""),
            there => there.map_err(io::Error::from),
        };
        attach(tree, there?, Path::new(""))
    }

    fn mount(&self, tree: &OwnedFd, at: &Path) -> io::Result<()> {
        attach(tree, self.folder(at, 0o755)?, Path::new(""))
    }

    fn layer(&self, sources: &[OwnedFd], at: &Path) -> io::Result<()> {
        let Some((store, lower)) = sources.split_last() else { return Ok(()) };
        for tree in sources {
            self.attach_layer(tree)?;
        }
        let lower: Vec<String> = lower.iter().map(named).collect();
        let overlay = overlay(&lower)?;
        let beside =
            |name: &str| openat2(store, name, FOLDER, Mode::empty(), ResolveFlags::NO_SYMLINKS);
        let (upper, work) = (beside("upper")?, beside("work")?);
        fsconfig_set_string(&overlay, "upperdir", named(&upper))?;
        fsconfig_set_string(&overlay, "workdir", named(&work))?;
        fsconfig_set_flag(&overlay, "userxattr")?;
        // With its end the whole disk would be written out otherwise. Kernels before 5.10 do not know it.
        let _ = fsconfig_set_flag(&overlay, "volatile");
        self.mount(&finish(&overlay)?, at)
    }

    fn mirror(&self, sources: &[OwnedFd], at: &Path) -> io::Result<()> {
        let Some((tree, _)) = sources.split_first() else { return Ok(()) };
        self.attach_layer(tree)?;
        self.mount(&self.mirror_of(tree)?, at)
    }

    /// A layer over a folder that is attached somewhere. Where nothing takes what is written, nothing can be written. Marks of layers that
    /// somebody left on the person's own files mean nothing here.
    fn mirror_of(&self, tree: &OwnedFd) -> io::Result<OwnedFd> {
        // The kernel layers no less than two; the lowest is the root's own, which nobody reaches.
        let floor = self.open(Path::new(EMPTY_FOLDER))?;
        let mirror = finish(&overlay(&[named(tree), named(&floor)])?)?;
        sys::set_attributes(&mirror, Attributes { read_only: true, ..Attributes::default() })?;
        Ok(mirror)
    }

    /// Where it stands until the root is closed.
    fn attach_layer(&self, tree: &OwnedFd) -> io::Result<PathBuf> {
        if self.layers.get() == 0 {
            self.mount(&scratch(BYTES, INODES, 0o700)?, Path::new(LAYERS))?;
        }
        let number = self.layers.replace(self.layers.get() + 1);
        let at = Path::new(LAYERS).join(number.to_string());
        self.mount(tree, &at)?;
        Ok(at)
    }

    /// Read-only, since some of it steers the machine; what tells of the machine is hidden.
    fn processes(&self) -> io::Result<()> {
        let proc = finish(&fsopen("proc", FsOpenFlags::FSOPEN_CLOEXEC)?)?;
        let attributes = Attributes { read_only: true, ..closed() };
        sys::set_attributes(&proc, attributes)?;
        self.mount(&proc, Path::new("/proc"))?;
        PROC_HIDDEN.iter().try_for_each(|name| match self.hide(&Path::new("/proc").join(name)) {
            // Not every kernel has each of them.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            hidden => hidden,
        })
    }

    fn devices(&self, kept: &mut Vec<OwnedFd>) -> io::Result<()> {
        let tree = scratch(1 << 20, self.inodes, 0o755)?;
        self.mount(&tree, Path::new("/dev"))?;
        kept.push(tree);
        // Not `tty`: it would answer nobody here, and who watches the machine's own sees each key that is typed anywhere.
        for name in ["null", "zero", "full", "random", "urandom"] {
            let path = Path::new("/dev").join(name);
            let device = clone(&path)?;
            // A device takes what is written all the same; its times and mode stay.
            sys::set_attributes(&device, Attributes { read_only: true, ..Attributes::default() })?;
            self.bind(&device, &path)?;
        }
        for (name, to) in [
            ("fd", "/proc/self/fd"),
            ("stdin", "/proc/self/fd/0"),
            ("stdout", "/proc/self/fd/1"),
            ("stderr", "/proc/self/fd/2"),
            ("ptmx", "pts/ptmx"),
        ] {
            symlinkat(to, &self.folder, inner(&Path::new("/dev").join(name)))?;
        }
        let terminals = fsopen("devpts", FsOpenFlags::FSOPEN_CLOEXEC)?;
        fsconfig_set_flag(&terminals, "newinstance")?;
        fsconfig_set_string(&terminals, "ptmxmode", "0666")?;
        fsconfig_set_string(&terminals, "mode", "0620")?;
        self.mount(&finish(&terminals)?, Path::new("/dev/pts"))
    }

    /// The text is a file of the root's own, which is then mounted where it is to be seen.
    fn cover(&self, at: &Path, content: &[u8]) -> io::Result<()> {
        let there = self.open(at)?;
        let draft = Path::new(COVER);
        self.file(draft, content)?;
        let text = clone_at(&self.folder, draft)?;
        sys::set_attributes(&text, Attributes { read_only: true, ..closed() })?;
        attach(&text, there, Path::new(""))?;
        // Its name may go now, not before: the next one has it.
        Ok(unlinkat(&self.folder, COVER, AtFlags::empty())?)
    }

    fn hide(&self, at: &Path) -> io::Result<()> {
        let there = self.open(at)?;
        let empty = if is_folder(&there)? { EMPTY_FOLDER } else { EMPTY_FILE };
        let empty = clone_at(&self.folder, Path::new(empty))?;
        sys::set_attributes(&empty, Attributes { read_only: true, ..closed() })?;
        attach(&empty, there, Path::new(""))
    }

    fn shut(&self, at: &Path, kind: Kind) -> io::Result<()> {
        let there = match (self.open(at), kind) {
            // Held from outside until somebody took it away: what is made here instead would be left there.
            (Err(Errno::NOENT), _) if self.is_written(at) => Err(Errno::NOENT.into()),
            (Err(Errno::NOENT), Kind::File) => self.file(at, b""),
            (Err(Errno::NOENT), Kind::Folder) => self.folder(at, 0o755),
            (there, _) => there.map_err(io::Error::from),
        }?;
        let same = clone_at(&there, Path::new(""))?;
        sys::set_attributes(&same, Attributes { read_only: true, ..Attributes::default() })?;
        attach(&same, there, Path::new(""))
    }

    /// From here on there is nothing but this root, and it cannot be changed itself.
    fn close(self) -> io::Result<()> {
        if self.layers.get() > 0 {
            let path = format!("/proc/self/fd/{}/{LAYERS}", self.folder.as_raw_fd());
            unmount(path, UnmountFlags::DETACH)?;
        }
        unlinkat(&self.folder, LAYERS, AtFlags::REMOVEDIR)?;
        fchdir(&self.folder)?;
        pivot_root(".", ".")?;
        unmount(".", UnmountFlags::DETACH)?;
        chdir("/")?;
        let flags = MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
        Ok(mount_remount("/", flags, "")?)
    }
}

/// Not for jailed programs: the machine's keys, memory, messages, switches, how it was started and built, and what its disks do. Programs
/// size their pools by `stat` and `loadavg`.
const PROC_HIDDEN: &[&str] = &[
    "cmdline",
    "config.gz",
    "diskstats",
    "kcore",
    "key-users",
    "keys",
    "kmsg",
    "sysrq-trigger",
    "timer_list",
];

fn closed<'a>() -> Attributes<'a> {
    Attributes { no_devices: true, no_programs: true, ..Attributes::default() }
}

fn scratch(bytes: u64, inodes: u64, mode: u32) -> io::Result<OwnedFd> {
    let memory = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&memory, "size", bytes.to_string())?;
    fsconfig_set_string(&memory, "nr_inodes", inodes.to_string())?;
    fsconfig_set_string(&memory, "mode", format!("{mode:o}"))?;
    let tree = finish(&memory)?;
    sys::set_attributes(&tree, Attributes { no_devices: true, ..Attributes::default() })?;
    Ok(tree)
}

/// Files in one memory file system: each costs about a kilobyte that its size does not count.
const INODES: u64 = 200_000;
/// So many bytes of the memory limit for each of them: the files of all such file systems together are no more than half of it.
const INODE_SHARE: u64 = 8 << 10;

/// As the kernel finds it without a path.
fn named(descriptor: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", descriptor.as_raw_fd())
}

/// The kernel takes only layers that are attached somewhere. All are taken away at once in the end, since each time takes as long as the rest of
/// a mount.
fn overlay(lower: &[String]) -> io::Result<OwnedFd> {
    let overlay = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&overlay, "lowerdir", lower.join(":"))?;
    Ok(overlay)
}

fn finish(context: &OwnedFd) -> io::Result<OwnedFd> {
    fsconfig_create(context)?;
    Ok(fsmount(context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::MOUNT_ATTR_NOSUID)?)
}

fn attach(tree: &OwnedFd, folder: impl AsFd, at: &Path) -> io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH
        | if at.as_os_str().is_empty() {
            MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH
        } else {
            MoveMountFlags::empty()
        };
    Ok(move_mount(tree, "", folder, at, flags)?)
}

fn is_folder(tree: &OwnedFd) -> io::Result<bool> {
    let about = rustix::fs::fstat(tree)?;
    Ok(FileType::from_raw_mode(about.st_mode) == FileType::Directory)
}

fn inner(at: &Path) -> PathBuf {
    let parts: PathBuf =
        at.components().filter(|part| matches!(part, std::path::Component::Normal(_))).collect();
    if parts.as_os_str().is_empty() { PathBuf::from(".") } else { parts }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn nothing_is_made_where_a_link_leads() {
        let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        symlink(outside.path(), inside.path().join("out")).unwrap();
        let folder = File::open(inside.path()).unwrap().into();
        let root = Root::new(folder, 10, None);
        let at = Path::new("/out/name");
        assert!(root.link(at, Path::new("anywhere")).is_err());
        assert!(root.file(at, b"x").is_err());
        assert!(root.folder(at, 0o755).is_err());
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
        let at = Path::new("/new/folder/name");
        root.link(at, Path::new("anywhere")).unwrap();
        root.file(Path::new("/new/other/file"), b"x").unwrap();
        assert_eq!(
            fs::read_link(inside.path().join("new/folder/name")).unwrap(),
            Path::new("anywhere")
        );
        assert_eq!(fs::read(inside.path().join("new/other/file")).unwrap(), b"x");
    }
}
