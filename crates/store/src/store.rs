//! A project's store, as others see it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::Connection;
use sequester_core::digest::Digest;
use sequester_core::id::RunId;
use sequester_core::run::Recorded;
use sequester_core::store::{Error, ErrorKind, Lease, Letter, RunStore};

use crate::error::{self, Fault};
use crate::hold::Holds;
use crate::lease::Held;
use crate::letters::LetterSeal;
use crate::signing::{Signer, place_of};
use crate::writer::{Stats, Writer};
use crate::{blobs, letters, log, schema};

/// How a store is opened. `slower` and `most_pages` are there to measure and to try bad luck.
#[derive(Clone)]
pub struct Options {
    /// How long another process that writes is waited for.
    pub patience: Duration,
    /// How much longer every sync takes than the disk needs.
    pub slower: Duration,
    /// Where the disk ends, in pages of 4,096 bytes.
    pub most_pages: Option<u32>,
    /// Signs what is written; without one it stays unsigned.
    pub signer: Option<Arc<Signer>>,
}

impl Default for Options {
    fn default() -> Self {
        let patience = Duration::from_secs(10);
        Self { patience, slower: Duration::ZERO, most_pages: None, signer: None }
    }
}

/// The events, blobs and letters of a project's runs, in one file.
pub struct Store {
    pub(crate) reader: Arc<Reader>,
    holds: Holds,
    /// As it is signed.
    pub(crate) place: Arc<str>,
    /// Nothing where it was opened for reading.
    writing: Option<Arc<Writing>>,
}

/// What only those have who may write.
pub(crate) struct Writing {
    pub(crate) writer: Writer,
    pub(crate) holds: Holds,
    pub(crate) options: Options,
    pub(crate) place: Arc<str>,
}

impl Store {
    /// Makes the file, readable by its owner only, where there is none.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::open_with(path, Options::default())
    }

    pub fn open_with(path: &Path, options: Options) -> Result<Self, Error> {
        schema::make_folder(path)?;
        let path = schema::locate(path)?;
        let holds = Holds::beside(&path);
        let connection = {
            let _gate = holds.gate()?;
            schema::prepare(&path, &options)?
        };
        let writer = Writer::start(&path, connection, options.slower)?;
        let place: Arc<str> = place_of(&path).into();
        let reader = Reader::open(path, &options)?;
        let writing = Writing { writer, holds: holds.clone(), options, place: Arc::clone(&place) };
        Ok(Self { reader, holds, place, writing: Some(Arc::new(writing)) })
    }

    /// Makes and changes nothing, and takes no lease.
    pub fn open_reading(path: &Path) -> Result<Self, Error> {
        if !path.try_exists().map_err(|error| error::of_disk(&error, path))? {
            return Err(schema::absent(path));
        }
        let path = schema::locate(path)?;
        let (holds, place) = (Holds::beside(&path), place_of(&path).into());
        let reader = Reader::open(path, &Options::default())?;
        Ok(Self { reader, holds, place, writing: None })
    }

    pub fn stats(&self) -> Stats {
        self.writing.as_ref().map(|writing| writing.writer.stats()).unwrap_or_default()
    }

    pub(crate) fn writing(&self) -> Result<&Arc<Writing>, Error> {
        self.writing.as_ref().ok_or_else(|| {
            let message = format!("The store `{}` was opened for reading.", self.path().display());
            error::new(ErrorKind::ReadOnly, message, "Open it for writing.")
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.reader.path
    }
}

impl RunStore for Store {
    fn lease(&self, run: &RunId) -> Result<Arc<dyn Lease>, Error> {
        Ok(Arc::new(Held::take(run, &self.reader, self.writing()?)?))
    }

    fn is_held(&self, run: &RunId) -> Result<bool, Error> {
        self.holds.is_held(run)
    }

    fn events(&self, run: &RunId, after: u64, most: usize) -> Result<Vec<Recorded>, Error> {
        let mut lines = Vec::new();
        self.reader.read(|connection| log::read(connection, run, after, most, &mut lines))?;
        Ok(lines.into_iter().map(|line| line.event).collect())
    }

    fn blob(&self, digest: &Digest) -> Result<Vec<u8>, Error> {
        self.reader.read(|connection| blobs::read(connection, digest))
    }

    fn damaged(&self, run: &RunId) -> Result<Vec<Option<Digest>>, Error> {
        self.reader.read(|connection| blobs::damaged(connection, run))
    }

    fn runs(&self) -> Result<Vec<RunId>, Error> {
        self.reader.read(|connection| log::runs(connection))
    }

    fn post(&self, run: &RunId, letter: &Letter) -> Result<(), Error> {
        let body = serde_json::to_string(letter).map_err(|error| {
            let message = format!("The letter has no text: {error}.");
            error::new(ErrorKind::Broken, message, "Report this as a bug.")
        })?;
        let (run, writing) = (run.clone(), self.writing()?);
        let body = match writing.options.signer.as_deref() {
            Some(signer) => LetterSeal { signer, place: &self.place, run: &run }.close(&body),
            None => body,
        };
        writing.writer.wait(move |transaction| letters::post(transaction, &run, &body))
    }
}

/// The connection for reading, one question at a time.
pub(crate) struct Reader {
    path: PathBuf,
    connection: Mutex<Connection>,
}

impl Reader {
    fn open(path: PathBuf, options: &Options) -> Result<Arc<Self>, Error> {
        let connection = Mutex::new(schema::connect_reading(&path, options)?);
        Ok(Arc::new(Self { path, connection }))
    }

    pub(crate) fn read<T>(
        &self,
        question: impl FnOnce(&mut Connection) -> Result<T, Fault>,
    ) -> Result<T, Error> {
        // Whoever panicked left a transaction at most, and that was undone.
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        question(&mut connection).map_err(|fault| fault.at(&self.path))
    }
}
