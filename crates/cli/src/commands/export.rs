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
    let mut out = Pipe { to: BufWriter::new(io::stdout().lock()), failed: None };
    let mut exported = runs.store.export(&run, &mut out);
    if given.blobs && exported.is_ok() {
        exported = runs.store.export_blobs(&run, &mut out);
    }
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
}

impl<W: Write> Write for Pipe<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.failed.is_none() {
            self.failed = self.to.write_all(bytes).err();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
