//! A run that goes on without whoever started it.

use std::env;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use sequester_core::fault::Code;
use sequester_core::id::RunId;

use rustix::fs::OFlags;

use crate::Outcome;
use crate::args::{Args, RunArgs};
use crate::failure::Failure;
use crate::output;
use crate::wire::runs::log_file;

/// A run that has begun is taken up by a process of its own, as after a crash.
pub(super) fn go_on(args: &Args, given: &RunArgs, root: &Path, id: &RunId) -> Outcome {
    let failed = |error: std::io::Error| {
        let message = format!("The run `{id}` has begun, but cannot go on by itself: {error}.");
        let hint = format!("`sequester resume {id}` takes it up.");
        Failure::work(Code::NoWorkspace, root.display(), message, hint)
    };
    // What it says when something is wrong with the machine; the rest is in its events.
    let mut open = OpenOptions::new();
    open.append(true).create(true).mode(0o600).custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
    let words = open.open(log_file(root, id));
    let mut command = Command::new(env::current_exe().map_err(failed)?);
    command.arg("resume").arg(id.as_str()).arg("--repo").arg(root).arg("--linger");
    if let Some(jobs) = given.jobs {
        command.arg("--jobs").arg(jobs.to_string());
    }
    // A group of its own: what ends the terminal's does not end it.
    command.stdin(Stdio::null()).stdout(Stdio::null()).process_group(0);
    command.stderr(Stdio::from(words.map_err(failed)?));
    command.spawn().map_err(failed)?;
    // A program has read the first event, which names the run.
    if !args.json {
        output::print(&format!(
            "Run {id} goes on in the background.\n`sequester status {id}` shows how it stands, `sequester inbox` what it asks, `sequester cancel {id}` ends it.\n"
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}
