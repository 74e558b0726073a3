//! Long-lived `git cat-file` processes, one asked for sizes and one for contents.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, ChildStdout, Stdio};

use sequester_core::repository::{Error, ErrorKind};

use crate::name::Kind;
use crate::program::{Process, Program, broken};

/// As many names as fit in the smallest pipe the kernel makes (4,096 bytes) at 65 bytes each. All of them can be
/// written before an answer is read, so the two sides never wait for each other.
pub(crate) const BATCH: usize = 60;

pub(super) struct Reader {
    sizes: Pipe,
    contents: Pipe,
}

impl Reader {
    pub(super) fn start(program: &Program) -> Result<Self, Error> {
        Ok(Self {
            sizes: Pipe::open(program, "--batch-check")?,
            contents: Pipe::open(program, "--batch")?,
        })
    }

    pub(super) fn read(
        &mut self,
        names: &[&str],
        kind: Kind,
        limit: u64,
        each: &mut dyn FnMut(Result<Vec<u8>, Error>),
    ) -> Result<(), Error> {
        // Sizes first: a blob that is too large is never unpacked.
        self.sizes.ask(names)?;
        let mut sizes = Vec::with_capacity(names.len());
        for name in names {
            sizes.push(self.sizes.header(name, kind)?);
        }
        let fits = |size: &Header| matches!(size, Header::Size(size) if *size <= limit);
        let wanted: Vec<&str> = names
            .iter()
            .zip(&sizes)
            .filter(|(_, size)| fits(size))
            .map(|(name, _)| *name)
            .collect();
        self.contents.ask(&wanted)?;
        for (name, size) in names.iter().zip(&sizes) {
            match size {
                Header::Size(size) if *size > limit => {
                    each(Err(Error::new(
                        ErrorKind::TooLarge,
                        format!("the file has {size} bytes, more than the limit of {limit}."),
                    )));
                }
                Header::Size(_) => {
                    let content = self.contents.content(name, kind, limit)?;
                    each(content.ok_or_else(|| unreadable(name)));
                }
                Header::Absent => each(Err(unreadable(name))),
            }
        }
        Ok(())
    }

    /// Adds the sizes of up to [`BATCH`] blobs.
    pub(super) fn sizes(&mut self, names: &[&str], sizes: &mut Vec<u64>) -> Result<(), Error> {
        self.sizes.ask(names)?;
        for name in names {
            match self.sizes.header(name, Kind::Blob)? {
                Header::Size(size) => sizes.push(size),
                Header::Absent => return Err(unreadable(name)),
            }
        }
        Ok(())
    }
}

/// What `cat-file` says about an object before its content.
enum Header {
    Size(u64),
    Absent,
}

struct Pipe {
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// Ends with the pipes.
    _process: Process,
}

impl Pipe {
    fn open(program: &Program, mode: &str) -> Result<Self, Error> {
        let mut process = program.stream(&["cat-file", mode], Stdio::piped())?;
        match (process.0.stdin.take(), process.0.stdout.take()) {
            (Some(requests), Some(answers)) => Ok(Self {
                requests,
                answers: BufReader::with_capacity(1 << 16, answers),
                _process: process,
            }),
            _ => Err(broken("`git cat-file` has no pipes.")),
        }
    }

    fn ask(&mut self, names: &[&str]) -> Result<(), Error> {
        let mut lines = String::with_capacity(names.len() * 65);
        for name in names {
            lines.push_str(name);
            lines.push('\n');
        }
        let written = self.requests.write_all(lines.as_bytes());
        written.map_err(|error| broken(format!("`git cat-file` ended early: {error}.")))
    }

    /// Reads `<name> <kind> <size>` or `<name> missing`.
    fn header(&mut self, name: &str, wanted: Kind) -> Result<Header, Error> {
        let mut line = Vec::new();
        let most = 256;
        let read = (&mut self.answers).take(most).read_until(b'\n', &mut line);
        if read.is_err() || line.last() != Some(&b'\n') {
            return Err(unreadable(name));
        }
        let line = String::from_utf8_lossy(&line);
        let mut words = line.split_whitespace();
        let (given, kind, size) = (words.next(), words.next(), words.next());
        if given != Some(name) {
            return Err(broken("`git cat-file` answered out of turn."));
        }
        match (kind, size.map(str::parse)) {
            (Some(kind), Some(Ok(size))) if kind == wanted.as_str() => Ok(Header::Size(size)),
            _ => Ok(Header::Absent),
        }
    }

    /// Reads one answer with its content; none if the object is not there. After an error the process is of no use.
    fn content(&mut self, name: &str, kind: Kind, limit: u64) -> Result<Option<Vec<u8>>, Error> {
        match self.header(name, kind)? {
            Header::Absent => Ok(None),
            Header::Size(size) if size > limit => Err(unreadable(name)),
            Header::Size(size) => {
                let mut bytes = vec![0; size as usize + 1];
                self.answers.read_exact(&mut bytes).map_err(|_| unreadable(name))?;
                bytes.pop();
                Ok(Some(bytes))
            }
        }
    }
}

fn unreadable(name: &str) -> Error {
    broken(format!(
        "the object `{name}` is missing or damaged. Run `git fsck`; in a partial clone, `git fetch --refetch`."
    ))
}
