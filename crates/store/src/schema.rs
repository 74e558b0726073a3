//! The tables, their version, and how a connection to them is set up.

use std::fs::{self, DirBuilder, File, FileType, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use sequester_core::store::{Error, ErrorKind};

use crate::error::{self, Fault};
use crate::store::Options;

/// `seqs`: what tells our file from other people's.
const APPLICATION: i32 = 0x7365_7173;
/// The second one signs heads; one of the first is read, and signed when it is written to.
const VERSION: i32 = 2;

/// The last head of each run that was signed. Only the last: with older signatures a run could be set back to one of them.
const SIGNATURES: &str = "
    CREATE TABLE signatures (
        run INTEGER PRIMARY KEY REFERENCES runs (id),
        place TEXT NOT NULL,
        count INTEGER NOT NULL,
        hash BLOB NOT NULL,
        key BLOB NOT NULL,
        signature BLOB NOT NULL,
        accepted TEXT NOT NULL
    ) STRICT;
";

const PAGE_BYTES: u64 = 4096;
const LOG_BYTES: i64 = 16 << 20;

/// Ids of runs are never given twice, so that a lease of a run that was removed fits no later one.
/// The head of a run (`count`, `at`, `hash`) is written with its events: rows that are missing at the end are missed.
/// `uses` says which runs need a blob; a blob is there as long as one does.
const TABLES: &str = "
    CREATE TABLE runs (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL UNIQUE,
        epoch INTEGER NOT NULL,
        count INTEGER NOT NULL,
        at INTEGER NOT NULL,
        hash BLOB NOT NULL,
        ended INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE events (
        run INTEGER NOT NULL REFERENCES runs (id),
        seq INTEGER NOT NULL,
        body TEXT NOT NULL,
        hash BLOB NOT NULL,
        PRIMARY KEY (run, seq)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE blobs (
        id INTEGER PRIMARY KEY,
        digest TEXT NOT NULL UNIQUE,
        bytes BLOB NOT NULL
    ) STRICT;
    CREATE TABLE uses (
        run INTEGER NOT NULL REFERENCES runs (id),
        blob INTEGER NOT NULL,
        PRIMARY KEY (run, blob)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE letters (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        run INTEGER NOT NULL REFERENCES runs (id),
        body TEXT NOT NULL
    ) STRICT;
";

/// Makes the folder where there is none.
pub(crate) fn make_folder(path: &Path) -> Result<(), Error> {
    let folder = folder_of(path);
    let failed = |error: io::Error| error::of_disk(&error, folder);
    if refuse_all_but(folder, FileType::is_dir)? {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
    sync(folder_of(folder)).map_err(failed)
}

/// The real path of a store in a folder that is there.
pub(crate) fn locate(path: &Path) -> Result<PathBuf, Error> {
    let folder = folder_of(path);
    refuse_all_but(folder, FileType::is_dir)?;
    let real = fs::canonicalize(folder).map_err(|error| error::of_disk(&error, folder))?;
    let path = real.join(path.file_name().ok_or_else(|| no_place(path))?);
    refuse_all_but(&path, FileType::is_file)?;
    Ok(path)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether it is there. A repository may have come with a link at this place, or with a pipe that would never open.
fn refuse_all_but(path: &Path, wanted: fn(&FileType) -> bool) -> Result<bool, Error> {
    match fs::symlink_metadata(path) {
        Ok(found) if wanted(&found.file_type()) => Ok(true),
        Ok(_) => Err(no_place(path)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error::of_disk(&error, path)),
    }
}

fn no_place(path: &Path) -> Error {
    error::new(
        ErrorKind::Broken,
        format!("`{}` is no place for a store: something else is there.", path.display()),
        "Move it away, or name another place.",
    )
}

/// Makes the file and its tables where there are none. The caller sees to it that nobody else does at the same time.
pub(crate) fn prepare(path: &Path, options: &Options) -> Result<Connection, Error> {
    make_file(path).map_err(|error| error::of_disk(&error, path))?;
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE, options)
        .map_err(|error| error::of_sql(&error, path))?;
    let made = recognise(&connection, path).and_then(|found| match found {
        Found::Store { version: 1 } => Ok(connection.execute_batch(&format!(
            "BEGIN IMMEDIATE; {SIGNATURES} PRAGMA user_version = {VERSION}; COMMIT;"
        ))?),
        Found::Store { .. } => Ok(()),
        Found::Nothing => make_tables(&connection, path),
    });
    made.map(|()| connection).map_err(|fault| fault.at(path))
}

/// Never opens a file that is there: to close it again would drop the locks that SQLite has on it for this process.
fn make_file(path: &Path) -> io::Result<()> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(_) => sync(folder_of(path)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// A name is durable when its folder is.
fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

fn make_tables(connection: &Connection, path: &Path) -> Result<(), Fault> {
    // Before the first page is written: so that what `gc` frees can be given back piece by piece.
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    let mode = connection
        .pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0))?;
    if mode != "wal" {
        let message = format!("The disk of `{}` cannot be shared by processes.", path.display());
        let hint = "Put the project on a local disk.";
        return Err(error::new(ErrorKind::Broken, message, hint).into());
    }
    Ok(connection.execute_batch(&format!(
        "BEGIN IMMEDIATE; {TABLES} {SIGNATURES}
         PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}; COMMIT;"
    ))?)
}

pub(crate) fn connect_writing(path: &Path, options: &Options) -> Result<Connection, Error> {
    connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, options)
}

/// Neither makes nor changes a table.
pub(crate) fn connect_reading(path: &Path, options: &Options) -> Result<Connection, Error> {
    connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY, options)
}

fn connect(path: &Path, access: OpenFlags, options: &Options) -> Result<Connection, Error> {
    let opened = open(path, access, options).map_err(Fault::from);
    let found = opened.and_then(|connection| Ok((recognise(&connection, path)?, connection)));
    match found {
        Ok((Found::Store { .. }, connection)) => Ok(connection),
        Ok((Found::Nothing, _)) => Err(absent(path)),
        Err(Fault::Sql(error)) if is_unborn(&error, path) => Err(absent(path)),
        Err(fault) => Err(fault.at(path)),
    }
}

/// Whether its maker was killed in the transaction that made the file a database. Only who may write can undo that. It is the one
/// transaction with a journal, and it ends before there is a second page: tables are made by way of the log.
fn is_unborn(error: &rusqlite::Error, path: &Path) -> bool {
    let rusqlite::Error::SqliteFailure(failure, _) = error else { return false };
    failure.extended_code == rusqlite::ffi::SQLITE_READONLY_ROLLBACK
        && fs::symlink_metadata(path).is_ok_and(|found| found.len() <= PAGE_BYTES)
}

pub(crate) fn absent(path: &Path) -> Error {
    let message = format!("There is no store at `{}`.", path.display());
    error::new(ErrorKind::NotFound, message, "Start a run first.")
}

fn open(path: &Path, access: OpenFlags, options: &Options) -> rusqlite::Result<Connection> {
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(options.patience)?;
    // The file may have come with a repository: its schema is not to run anything of its own.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    // One large change does not leave a large log behind.
    connection.pragma_update(None, "journal_size_limit", LOG_BYTES)?;
    if let Some(pages) = options.most_pages {
        connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
    }
    Ok(connection)
}

/// A store of the first version has none.
pub(crate) fn has_signatures(connection: &Connection) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'signatures'")?
        .exists([])
}

enum Found {
    Store {
        version: i32,
    },
    /// An empty file, or one whose maker did not come far.
    Nothing,
}

fn recognise(connection: &Connection, path: &Path) -> Result<Found, Fault> {
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let (application, version) = (number("application_id")?, number("user_version")?);
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    match (application, version) {
        (0, 0) if tables == 0 => Ok(Found::Nothing),
        (APPLICATION, version @ 1..=VERSION) => Ok(Found::Store { version }),
        (APPLICATION, later) if later > VERSION => Err(newer(path, later).into()),
        _ => {
            let message = format!("`{}` is no store of `sequester`.", path.display());
            Err(error::new(ErrorKind::Damaged, message, "Move that file away.").into())
        }
    }
}

fn newer(path: &Path, version: i32) -> Error {
    error::new(
        ErrorKind::Newer,
        format!(
            "The store `{}` has version {version}; this program knows versions up to {VERSION}.",
            path.display()
        ),
        "Use the newer `sequester` that wrote it.",
    )
}
