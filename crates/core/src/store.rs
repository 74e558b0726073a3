//! The port to what is kept: events in their order, and the bytes that they name.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::change::Refused;
use crate::digest::Digest;
use crate::future::BoxFuture;
use crate::id::{QuestionId, RunId, TaskId, TreeId};
use crate::moment::Moment;
use crate::run::{Entry, Recorded};

/// What is written at once: all of it or nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    pub entries: Vec<Entry>,
    /// The bytes that the entries name; those that are there already are not written again.
    pub blobs: Vec<Arc<[u8]>>,
}

impl Batch {
    /// Adds bytes and says what they are named by.
    pub fn keep(&mut self, bytes: impl Into<Arc<[u8]>>) -> Digest {
        let bytes = bytes.into();
        let digest = Digest::of(&bytes);
        self.blobs.push(bytes);
        digest
    }
}

/// The right to write to one run. It ends with the process, however that ends.
pub trait Lease: Send + Sync {
    fn run(&self) -> &RunId;

    /// Durable when it resolves; batches are kept in the order in which this was called. `at` never goes back within a run:
    /// a clock that does is not followed.
    fn append(&self, at: Moment, batch: Batch) -> BoxFuture<'static, Result<Vec<Recorded>, Error>>;

    /// What others left since the letter `after`.
    fn letters(&self, after: u64) -> Result<Vec<(u64, Letter)>, Error>;
}

/// A word to whoever owns a run, from another process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "letter", rename_all = "snake_case")]
pub enum Letter {
    Answer {
        question: QuestionId,
        answer: String,
        by: String,
    },
    Cancel {
        by: String,
    },
    HandBack {
        task: TaskId,
        base: TreeId,
        tree: TreeId,
        left_out: Vec<Refused>,
        by: String,
        /// The last event that its sender knew of.
        #[serde(default)]
        seen: u64,
    },
}

/// All runs of a project. Any number of processes may read while one writes.
pub trait RunStore: Send + Sync {
    /// The one right to write to a run, which need not be there yet. [`ErrorKind::Held`] while somebody else has it.
    fn lease(&self, run: &RunId) -> Result<Arc<dyn Lease>, Error>;

    /// Whether somebody has it now.
    fn is_held(&self, run: &RunId) -> Result<bool, Error>;

    /// The events of a run after the number `after`, in order, at most `most` of them.
    fn events(&self, run: &RunId, after: u64, most: usize) -> Result<Vec<Recorded>, Error>;

    /// [`ErrorKind::NotFound`] where there is none, [`ErrorKind::Damaged`] where it is not what its name says.
    fn blob(&self, digest: &Digest) -> Result<Vec<u8>, Error>;

    /// Blobs that a run was recorded with and that are not what their names say; without a name those that are gone.
    fn damaged(&self, run: &RunId) -> Result<Vec<Option<Digest>>, Error>;

    /// Newest first.
    fn runs(&self) -> Result<Vec<RunId>, Error>;

    /// Leaves a word for whoever owns the run.
    fn post(&self, run: &RunId, letter: &Letter) -> Result<(), Error>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    pub kind: ErrorKind,
    /// One sentence with the place.
    pub message: String,
    pub hint: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    NotFound,
    /// Another process writes to this run.
    Held,
    /// What is there is not what was written.
    Damaged,
    /// It was written by a later version of this program.
    Newer,
    /// The disk is full.
    Full,
    ReadOnly,
    /// Somebody else holds the file for too long.
    Locked,
    /// Anything else that the disk or its file says.
    Broken,
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
