//! The objects of a repository. Loose ones are files, read and written here; all others are asked of long-lived
//! `git cat-file` processes.

mod loose;
mod pipe;

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use sequester_core::repository::Error;

use crate::name::{Format, Kind, Name};
use crate::program::{Program, broken};
pub(crate) use loose::{Batch, draft, sweep};
pub(crate) use pipe::BATCH;
use pipe::Reader;

/// A larger tree is nobody's folder.
const TREE_BYTES: u64 = 64 << 20;
const COMMIT_BYTES: u64 = 16 << 20;

/// How much of trees is kept in memory: tasks start from nearly the same ones.
const KEPT_BYTES: usize = 32 << 20;

pub(crate) struct Objects {
    program: Program,
    format: Format,
    /// Where they lie.
    folder: PathBuf,
    /// The processes that are idle. A reader takes one out, so that what it calls in between may read too.
    idle: Mutex<Vec<Reader>>,
    trees: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    trees: HashMap<Name, Arc<[u8]>>,
    bytes: usize,
}

impl Objects {
    pub(crate) fn of(program: &Program, format: Format, folder: PathBuf) -> Self {
        let program = program.clone();
        Self { program, format, folder, idle: Mutex::default(), trees: Mutex::default() }
    }

    pub(crate) fn format(&self) -> Format {
        self.format
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Gives the content of up to [`BATCH`] blobs to `each`, in order, with the index of each.
    pub(crate) fn read(
        &self,
        names: &[&str],
        limit: u64,
        each: &mut dyn FnMut(usize, Result<Vec<u8>, Error>),
    ) {
        let mut asked = Vec::new();
        for (at, name) in names.iter().enumerate() {
            match self.read_loose(Kind::Blob, name, limit) {
                Some(bytes) => {
                    self.ask(&names[at - asked.len()..at], Kind::Blob, limit, &mut |nth, read| {
                        each(asked[nth], read);
                    });
                    asked.clear();
                    each(at, Ok(bytes));
                }
                None => asked.push(at),
            }
        }
        let rest = &names[names.len() - asked.len()..];
        self.ask(rest, Kind::Blob, limit, &mut |nth, read| each(asked[nth], read));
    }

    /// The bytes of one blob.
    pub(crate) fn blob(&self, name: &Name, limit: u64) -> Result<Vec<u8>, Error> {
        self.find(Kind::Blob, name, limit)
    }

    pub(crate) fn commit(&self, name: &Name) -> Result<Vec<u8>, Error> {
        self.find(Kind::Commit, name, COMMIT_BYTES)
    }

    pub(crate) fn tree(&self, name: &Name) -> Result<Arc<[u8]>, Error> {
        if let Some(bytes) = self.kept().trees.get(name) {
            return Ok(Arc::clone(bytes));
        }
        // The tree without entries need not be there: git knows it by its name.
        let bytes: Arc<[u8]> = if self.format.name(Kind::Tree, b"") == *name {
            Arc::default()
        } else {
            self.find(Kind::Tree, name, TREE_BYTES)?.into()
        };
        self.keep(*name, &bytes);
        Ok(bytes)
    }

    /// Notes a tree that is likely to be read again.
    pub(crate) fn keep(&self, name: Name, bytes: &Arc<[u8]>) {
        let mut kept = self.kept();
        if kept.bytes + bytes.len() > KEPT_BYTES {
            *kept = Kept::default();
        }
        if bytes.len() <= KEPT_BYTES && kept.trees.insert(name, Arc::clone(bytes)).is_none() {
            kept.bytes += bytes.len();
        }
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.trees.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How large blobs are, in order.
    pub(crate) fn sizes(&self, names: &[String]) -> Result<Vec<u64>, Error> {
        let mut sizes = Vec::with_capacity(names.len());
        let mut reader = self.take().map_or_else(|| Reader::start(&self.program), Ok)?;
        for some in names.chunks(BATCH) {
            let some: Vec<&str> = some.iter().map(String::as_str).collect();
            reader.sizes(&some, &mut sizes)?;
        }
        self.give_back(reader);
        Ok(sizes)
    }

    /// To write new objects.
    pub(crate) fn batch(&self) -> Batch<'_> {
        Batch::new(&self.folder, self.format)
    }

    fn find(&self, kind: Kind, name: &Name, limit: u64) -> Result<Vec<u8>, Error> {
        let text = name.to_string();
        if let Some(bytes) = loose::read(&self.folder, self.format, kind, name, limit) {
            return Ok(bytes);
        }
        let mut found = Err(broken("nothing was read."));
        self.ask(&[&text], kind, limit, &mut |_, read| found = read);
        found
    }

    fn read_loose(&self, kind: Kind, name: &str, limit: u64) -> Option<Vec<u8>> {
        let name = self.format.read(name).ok()?;
        loose::read(&self.folder, self.format, kind, &name, limit)
    }

    /// Asks a process.
    fn ask(
        &self,
        names: &[&str],
        kind: Kind,
        limit: u64,
        each: &mut dyn FnMut(usize, Result<Vec<u8>, Error>),
    ) {
        if names.is_empty() {
            return;
        }
        let idle = self.take();
        let is_fresh = idle.is_none();
        let reader = idle.map_or_else(|| Reader::start(&self.program), Ok);
        let mut done = 0;
        let outcome = reader.and_then(|mut reader| {
            reader.read(names, kind, limit, &mut |result| {
                each(done, result);
                done += 1;
            })?;
            Ok(reader)
        });
        match outcome {
            Ok(reader) => self.give_back(reader),
            Err(error) if is_fresh && done + 1 == names.len() => each(done, Err(error)),
            // The process ended, by itself or at an object that it could not stand. The others may be well: each for
            // itself, in the end with a fresh process.
            Err(_) => {
                for (at, name) in names.iter().enumerate().skip(done) {
                    self.ask(&[name], kind, limit, &mut |_, result| each(at, result));
                }
            }
        }
    }

    fn take(&self) -> Option<Reader> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn give_back(&self, reader: Reader) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(reader);
    }
}

impl fmt::Debug for Objects {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Objects({})", self.folder.display())
    }
}

pub(crate) fn unwritable(error: &io::Error) -> Error {
    broken(format!(
        "objects cannot be written to the repository: {error}. Is there room, and may you write there?"
    ))
}
