//! What SQLite and the disk say, in the port's words.

use std::io;
use std::path::Path;

use rusqlite::ErrorCode;
use sequester_core::store::{Error, ErrorKind};

/// Why something did not work, before anybody said in which file.
#[derive(Debug)]
pub(crate) enum Fault {
    Sql(rusqlite::Error),
    /// It has its sentence already.
    Told(Error),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Told(error)
    }
}

impl Fault {
    pub(crate) fn at(self, path: &Path) -> Error {
        match self {
            Self::Sql(error) => of_sql(&error, path),
            Self::Told(error) => error,
        }
    }
}

pub(crate) fn new(kind: ErrorKind, message: String, hint: &str) -> Error {
    Error { kind, message, hint: hint.to_owned() }
}

pub(crate) fn damaged(message: String) -> Error {
    let hint = "Copy what is still readable with `sequester export`, then restore the file from a backup or remove it.";
    new(ErrorKind::Damaged, message, hint)
}

pub(crate) fn of_sql(error: &rusqlite::Error, path: &Path) -> Error {
    let file = path.display();
    let rusqlite::Error::SqliteFailure(failure, _) = error else {
        // A value of another type than we ever write.
        return damaged(format!("The store `{file}` is damaged: {error}."));
    };
    match failure.code {
        // The last two: a table is missing, or does not take what it always took.
        ErrorCode::DatabaseCorrupt
        | ErrorCode::NotADatabase
        | ErrorCode::Unknown
        | ErrorCode::ConstraintViolation => {
            damaged(format!("The store `{file}` is damaged: {error}."))
        }
        ErrorCode::DiskFull => {
            new(ErrorKind::Full, format!("The disk of the store `{file}` is full."), FULL)
        }
        ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied => new(
            ErrorKind::ReadOnly,
            format!("The store `{file}` or its folder cannot be written to: {error}."),
            READ_ONLY,
        ),
        ErrorCode::DatabaseBusy
        | ErrorCode::DatabaseLocked
        | ErrorCode::FileLockingProtocolFailed => new(
            ErrorKind::Locked,
            format!("Another process has held the store `{file}` for too long."),
            "See which process has the file open, end it, and try again.",
        ),
        _ => new(ErrorKind::Broken, format!("The store `{file}` failed: {error}."), LOOK),
    }
}

pub(crate) fn of_disk(error: &io::Error, path: &Path) -> Error {
    let (kind, hint) = match error.kind() {
        io::ErrorKind::NotFound => (ErrorKind::NotFound, LOOK),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            (ErrorKind::ReadOnly, READ_ONLY)
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => (ErrorKind::Full, FULL),
        _ => (ErrorKind::Broken, LOOK),
    };
    new(kind, format!("`{}` could not be used: {error}.", path.display()), hint)
}

const FULL: &str = "Free some space, `sequester gc` for one, then resume the run.";
const READ_ONLY: &str = "Give yourself the right to write there, or work on a copy.";
const LOOK: &str = "Look at the disk and at who may use the file, then try again.";
