//! `sequester export`: a run as it was recorded.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use crate::Outcome;
use crate::args::{Args, ExportArgs};
use crate::output;
use crate::wire::find_root;
use crate::wire::runs::{Runs, failed_run};

pub(crate) fn run(args: &Args, given: &ExportArgs) -> Outcome {
    let (runs, run) = Runs::seek(&find_root(args)?, given.run.as_deref())?;
    let form = if args.json { Form::Array { begun: false, ended: false } } else { Form::Lines };
    let mut out = Pipe { to: BufWriter::new(io::stdout().lock()), failed: None, form };
    let mut exported = runs.store.export(&run, &mut out);
    if given.blobs && exported.is_ok() {
        exported = runs.store.export_blobs(&run, &mut out);
    }
    out.end();
    let flushed = out.to.flush();
    // What standard output says comes first: the store can only say that writing failed.
    output::check(out.failed.map_or(flushed, Err))?;
    exported.map_err(|error| failed_run(&error, &run))?;
    Ok(ExitCode::SUCCESS)
}

/// Standard output that takes everything, and keeps in mind what it would not take.
struct Pipe<W: Write> {
    to: W,
    failed: Option<io::Error>,
    form: Form,
}

/// What the lines become.
enum Form {
    Lines,
    /// One value, however long: nothing of it is held.
    Array {
        begun: bool,
        /// The last line is, and perhaps there is another.
        ended: bool,
    },
}

impl<W: Write> Pipe<W> {
    fn put(&mut self, bytes: &[u8]) {
        if self.failed.is_none() {
            self.failed = self.to.write_all(bytes).err();
        }
    }

    fn end(&mut self) {
        match self.form {
            Form::Lines => {}
            Form::Array { begun: false, .. } => self.put(b"[]\n"),
            Form::Array { .. } => self.put(b"]\n"),
        }
    }
}

impl<W: Write> Write for Pipe<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if matches!(self.form, Form::Lines) {
            self.put(bytes);
            return Ok(bytes.len());
        }
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let Form::Array { begun, ended } = &mut self.form else { break };
            let before: &[u8] = match (std::mem::replace(begun, true), *ended) {
                (false, _) => b"[",
                (true, true) => b",",
                (true, false) => b"",
            };
            *ended = part.ends_with(b"\n");
            self.put(before);
            self.put(part);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
