//! Loose objects: files of their own, read and written without a process.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use flate2::read::ZlibDecoder;
use flate2::{Compress, Compression, FlushCompress, Status};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::name::{Format, Kind, Name};

/// `<kind> <size>` and a zero byte; the longest is shorter.
const HEAD_BYTES: usize = 32;

fn place(folder: &Path, name: &Name) -> PathBuf {
    let digits = name.to_string();
    let (first, rest) = digits.split_at(2);
    folder.join(first).join(rest)
}

/// The object's bytes, if it lies there in good order and has no more than `limit`. Anything else is for git to judge.
pub(super) fn read(
    folder: &Path,
    format: Format,
    kind: Kind,
    name: &Name,
    limit: u64,
) -> Option<Vec<u8>> {
    let mut stream = ZlibDecoder::new(File::open(place(folder, name)).ok()?);
    let mut head = [0; HEAD_BYTES];
    let mut length = 0;
    while length < HEAD_BYTES {
        match stream.read(&mut head[length..]).ok()? {
            0 => break,
            more => length += more,
        }
    }
    let end = head[..length].iter().position(|byte| *byte == 0)?;
    let (given, size) = std::str::from_utf8(&head[..end]).ok()?.split_once(' ')?;
    let size: u64 = size.parse().ok()?;
    if given != kind.as_str() || size > limit {
        return None;
    }
    let mut bytes = Vec::with_capacity((size as usize).saturating_add(1));
    bytes.extend(&head[end + 1..length]);
    stream.take(size.saturating_add(1)).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 == size && format.name(kind, &bytes) == *name).then_some(bytes)
}

/// So many files are open at once.
const WAITING: usize = 128;
const THREADS: usize = 8;

/// Objects that belong together and come to disk together.
pub(crate) struct Batch<'a> {
    folder: &'a Path,
    format: Format,
    /// One for all: it is larger than most objects.
    compress: Compress,
    /// What is written but not yet under its name.
    waiting: Vec<(PathBuf, File, Name)>,
}

impl<'a> Batch<'a> {
    pub(super) fn new(folder: &'a Path, format: Format) -> Self {
        let compress = Compress::new(Compression::fast(), true);
        Self { folder, format, compress, waiting: Vec::new() }
    }

    /// Adds an object, unless it lies there already. An empty file is none: a machine that went down leaves them, where
    /// others did not wait for the disk.
    pub(crate) fn add(&mut self, kind: Kind, bytes: &[u8]) -> io::Result<Name> {
        let name = self.format.name(kind, bytes);
        if self.waiting.iter().any(|(_, _, other)| *other == name)
            || place(self.folder, &name).metadata().is_ok_and(|seen| seen.len() > 0)
        {
            return Ok(name);
        }
        if self.waiting.len() == WAITING {
            self.flush()?;
        }
        let packed = self.pack(kind, bytes)?;
        let (draft, file) = draft(self.folder)?;
        // Registered first: what goes wrong from here on is cleared away.
        self.waiting.push((draft, file, name));
        match self.waiting.last_mut() {
            Some((_, file, _)) => file.write_all(&packed).map(|()| name),
            None => Ok(name),
        }
    }

    fn pack(&mut self, kind: Kind, bytes: &[u8]) -> io::Result<Vec<u8>> {
        self.compress.reset();
        let head = format!("{} {}\0", kind.as_str(), bytes.len());
        let mut packed = Vec::with_capacity(bytes.len() / 2 + 256);
        let inputs = [(head.as_bytes(), FlushCompress::None), (bytes, FlushCompress::Finish)];
        for (mut input, flush) in inputs {
            loop {
                packed.reserve(256);
                let before = self.compress.total_in();
                let status = self.compress.compress_vec(input, &mut packed, flush);
                let status = status.map_err(io::Error::other)?;
                input = &input[(self.compress.total_in() - before) as usize..];
                let is_done = match flush {
                    FlushCompress::Finish => status == Status::StreamEnd,
                    _ => input.is_empty(),
                };
                if is_done {
                    break;
                }
            }
        }
        Ok(packed)
    }

    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.flush()
    }

    /// Brings all to disk, then under their names, and those to disk: no name ever stands for half an object.
    fn flush(&mut self) -> io::Result<()> {
        sync(&self.waiting.iter().map(|(_, file, _)| file).collect::<Vec<_>>())?;
        let mut folders = BTreeSet::new();
        for (draft, _, name) in &self.waiting {
            let place = place(self.folder, name);
            let folder = place.parent().unwrap_or(self.folder);
            match fs::create_dir(folder) {
                Ok(()) => drop(folders.insert(self.folder.to_owned())),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
            fs::rename(draft, &place)?;
            folders.insert(folder.to_owned());
        }
        self.waiting.clear();
        // A name is on disk with its own folder, and with no other's.
        let folders: Vec<File> = folders.iter().map(File::open).collect::<io::Result<_>>()?;
        sync(&folders.iter().collect::<Vec<_>>())
    }
}

/// Waits for the disk, for all of them at once: what several ask for it does together, ten times as fast as one after the
/// other.
fn sync(files: &[&File]) -> io::Result<()> {
    let sync = |file: &&File| file.sync_all();
    std::thread::scope(|scope| {
        let (own, others) = files.split_at(files.len().min(files.len().div_ceil(THREADS)));
        let others = others.chunks(own.len().max(1));
        let others: Vec<_> =
            others.map(|some| scope.spawn(move || some.iter().try_for_each(sync))).collect();
        own.iter().try_for_each(sync)?;
        let ended = |_| Err(io::Error::other("a thread ended early"));
        others.into_iter().try_for_each(|other| other.join().unwrap_or_else(ended))
    })
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        for (draft, ..) in &self.waiting {
            let _ = fs::remove_file(draft);
        }
    }
}

/// What a draft's name begins with: `git gc` knows by it what nobody needs any more.
const DRAFT: &str = "tmp_obj_sequester_";

/// A new file, locked as long as it is open: so it is known whether anybody still writes it.
pub(crate) fn draft(folder: &Path) -> io::Result<(PathBuf, File)> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    loop {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!("{DRAFT}{}_{count}", std::process::id()));
        let mut options = File::options();
        options.write(true).create_new(true).mode(0o444);
        let file = match options.open(&path) {
            Ok(file) => file,
            // Another machine's process over the same folder, or one of ours that was killed.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(error),
        };
        // Somebody who swept may have come before the lock. A file system without locks has nobody who sweeps.
        let is_taken = flock(&file, FlockOperation::NonBlockingLockExclusive)
            .is_err_and(|error| error == Errno::WOULDBLOCK);
        if !is_taken && path.exists() {
            return Ok((path, file));
        }
    }
}

/// Takes away drafts that killed processes left.
pub(crate) fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_draft = entry.file_name().to_str().is_some_and(|name| name.starts_with(DRAFT));
        let Some(file) = is_draft.then(|| File::open(entry.path()).ok()).flatten() else {
            continue;
        };
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            let _ = fs::remove_file(entry.path());
        }
    }
}
