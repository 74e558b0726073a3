//! Reading objects: long-lived `git cat-file` processes, one asked for sizes and one for contents.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, ChildStdout, Stdio};
use std::sync::{Mutex, PoisonError};

use sequester_core::repository::{Error, ErrorKind};

use crate::program::{Process, Program, broken};

/// As many names as fit in the smallest pipe the kernel makes (4,096 bytes) at 65 bytes each. All of them can be
/// written before an answer is read, so the two sides never wait for each other.
pub(crate) const BATCH: usize = 60;

/// The processes that are idle. A reader takes one out, so that what it calls in between may read too.
pub(crate) struct Objects {
    program: Program,
    idle: Mutex<Vec<Reader>>,
}

impl Objects {
    pub(crate) fn of(program: &Program) -> Self {
        Self { program: program.clone(), idle: Mutex::default() }
    }

    /// Gives the content of up to [`BATCH`] blobs to `each`, in order, with the index of each.
    pub(crate) fn read(
        &self,
        names: &[&str],
        limit: u64,
        each: &mut dyn FnMut(usize, Result<Vec<u8>, Error>),
    ) {
        if names.is_empty() {
            return;
        }
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let is_fresh = idle.is_none();
        let reader = idle.map_or_else(|| Reader::start(&self.program), Ok);
        let mut done = 0;
        let outcome = reader.and_then(|mut reader| {
            reader.read(names, limit, &mut |result| {
                each(done, result);
                done += 1;
            })?;
            Ok(reader)
        });
        match outcome {
            Ok(reader) => {
                let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
                idle.push(reader);
            }
            Err(error) if is_fresh && done + 1 == names.len() => each(done, Err(error)),
            // The process ended, by itself or at an object that it could not stand. The others may be well: each for
            // itself, in the end with a fresh process.
            Err(_) => {
                for (at, name) in names.iter().enumerate().skip(done) {
                    self.read(&[name], limit, &mut |_, result| each(at, result));
                }
            }
        }
    }
}

struct Reader {
    sizes: Pipe,
    contents: Pipe,
}

impl Reader {
    fn start(program: &Program) -> Result<Self, Error> {
        Ok(Self {
            sizes: Pipe::open(program, "--batch-check")?,
            contents: Pipe::open(program, "--batch")?,
        })
    }

    fn read(
        &mut self,
        names: &[&str],
        limit: u64,
        each: &mut dyn FnMut(Result<Vec<u8>, Error>),
    ) -> Result<(), Error> {
        // Sizes first: a blob that is too large is never unpacked.
        self.sizes.ask(names)?;
        let mut sizes = Vec::with_capacity(names.len());
        for name in names {
            sizes.push(self.sizes.header(name)?);
        }
        let fits = |size: &Header| matches!(size, Header::Blob(size) if *size <= limit);
        let wanted: Vec<&str> = names
            .iter()
            .zip(&sizes)
            .filter(|(_, size)| fits(size))
            .map(|(name, _)| *name)
            .collect();
        self.contents.ask(&wanted)?;
        for (name, size) in names.iter().zip(&sizes) {
            match size {
                Header::Blob(size) if *size > limit => {
                    each(Err(Error::new(
                        ErrorKind::TooLarge,
                        format!("the file has {size} bytes, more than the limit of {limit}."),
                    )));
                }
                Header::Blob(_) => {
                    let content = self.contents.content(name, limit)?;
                    each(content.ok_or_else(|| unreadable(name)));
                }
                Header::Absent => each(Err(unreadable(name))),
            }
        }
        Ok(())
    }
}

/// What `cat-file` says about an object before its content.
enum Header {
    Blob(u64),
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

    /// Reads `<name> blob <size>` or `<name> missing`.
    fn header(&mut self, name: &str) -> Result<Header, Error> {
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
            (Some("blob"), Some(Ok(size))) => Ok(Header::Blob(size)),
            _ => Ok(Header::Absent),
        }
    }

    /// Reads one answer with its content; none if the object is not there. After an error the process is of no use.
    fn content(&mut self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, Error> {
        match self.header(name)? {
            Header::Absent => Ok(None),
            Header::Blob(size) if size > limit => Err(unreadable(name)),
            Header::Blob(size) => {
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
