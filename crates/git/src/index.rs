//! The index: what git noted of the working tree.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io::BufRead;
use std::os::unix::fs::MetadataExt;
use std::process::Stdio;

use sequester_core::path::RepoPath;
use sequester_core::repository::Error;

use crate::folder::Mode;
use crate::program::{Program, broken};

const BYTES: u64 = 1 << 30;

/// The flag of a path that `git add -N` noted.
const INTENDED: u64 = 1 << 29;

/// What git noted when it last saw a file equal to its object.
pub(crate) struct Indexed {
    /// Empty for a path that is not merged.
    pub(crate) name: String,
    /// Left out by a sparse checkout.
    pub(crate) absent_on_purpose: bool,
    pub(crate) mode: Option<Mode>,
    /// Only the path was noted (`git add -N`), nothing of the file.
    pub(crate) is_empty_promise: bool,
    modified: (i64, i64),
    size: u64,
}

impl Indexed {
    pub(crate) fn is_unmerged(&self) -> bool {
        self.name.is_empty()
    }
}

pub(crate) struct Index {
    pub(crate) entries: BTreeMap<RepoPath, Indexed>,
    /// When it was written: it cannot vouch for files that are as young.
    written: (i64, i64),
}

impl Index {
    pub(crate) fn read(program: &Program) -> Result<Self, Error> {
        let file = program.run(&["rev-parse", "--git-path", "index"])?;
        let written = program.root().join(file.text).metadata();
        let written = written.map_or((0, 0), |seen| (seen.mtime(), seen.mtime_nsec()));
        let mut process =
            program.stream(&["ls-files", "-s", "-t", "-z", "--debug"], Stdio::null())?;
        let mut output = process.output(BYTES)?;
        let mut entries = BTreeMap::new();
        while let Some((path, indexed)) = read_entry(&mut output)? {
            if let Some(path) = path {
                entries.insert(path, indexed);
            }
        }
        if process.succeeded() { Ok(Self { entries, written }) } else { Err(unreadable()) }
    }

    /// Whether the file is as git saw it last, and that was before the index was written.
    pub(crate) fn vouches(&self, indexed: &Indexed, file: Option<Metadata>) -> bool {
        let (seconds, nanos) = indexed.modified;
        file.is_some_and(|file| {
            file.mtime() == seconds
                && (nanos == 0 || file.mtime_nsec() == nanos)
                && file.len() == indexed.size
                && (file.mtime(), file.mtime_nsec()) < self.written
        })
    }
}

/// Reads `<tag> <mode> <name> <stage>\t<path>\0` and the five lines of figures after it. No path: one that a base
/// leaves out too.
fn read_entry(output: &mut impl BufRead) -> Result<Option<(Option<RepoPath>, Indexed)>, Error> {
    let mut record = Vec::new();
    if output.read_until(0, &mut record).map_err(|_| unreadable())? == 0 {
        return Ok(None);
    }
    let mut figures = String::new();
    for _ in 0..5 {
        output.read_line(&mut figures).map_err(|_| unreadable())?;
    }
    let figure = |key: &str| {
        let value = figures.split_once(key).map(|(_, rest)| rest);
        value.and_then(|rest| rest.split(['\t', '\n']).next())
    };
    let tab = record.iter().position(|byte| *byte == b'\t').ok_or_else(unreadable)?;
    let path = record[tab + 1..].strip_suffix(b"\0").ok_or_else(unreadable)?;
    let path = std::str::from_utf8(path).ok().and_then(|path| RepoPath::parse(path).ok());
    let meta = std::str::from_utf8(&record[..tab]).map_err(|_| unreadable())?;
    let words: Vec<&str> = meta.split(' ').collect();
    let [tag, mode, name, stage] = words[..] else {
        return Err(unreadable());
    };
    let modified = figure("mtime: ").and_then(|time| time.split_once(':'));
    let modified = modified.and_then(|(s, n)| Some((s.parse().ok()?, n.parse().ok()?)));
    let size = figure("size: ").and_then(|size| size.parse().ok());
    let flags = figure("flags: ").and_then(|flags| u64::from_str_radix(flags, 16).ok());
    let indexed = Indexed {
        // An unmerged path is equal to no base.
        name: if stage == "0" { name.to_owned() } else { String::new() },
        absent_on_purpose: tag == "S",
        mode: Mode::read(mode.as_bytes()),
        is_empty_promise: flags.is_some_and(|flags| flags & INTENDED != 0),
        modified: modified.ok_or_else(unreadable)?,
        size: size.ok_or_else(unreadable)?,
    };
    Ok(Some((path, indexed)))
}

fn unreadable() -> Error {
    broken("the index cannot be read. Try `git status`.")
}
