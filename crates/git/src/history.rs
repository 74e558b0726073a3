//! What led to a commit: messages and touched paths.

use std::io::{BufRead, Write};
use std::process::Stdio;

use sequester_core::repository::{Commit, Error, History};

use crate::checkout::Checkout;
use crate::name::{Format, Kind};
use crate::program::{Program, broken};

/// As many commits are given as fit in this, newest first: a commit can touch any number of paths.
const LOG_BYTES: u64 = 128 << 20;

/// The history of one commit.
/// A longer list of where a clone was cut off is not looked at.
const SHALLOW_BYTES: u64 = 16 << 20;

#[derive(Debug)]
pub struct Log {
    program: Program,
    commit: Option<String>,
    id: String,
}

impl Log {
    pub(crate) fn of(program: &Program, commit: Option<String>) -> Result<Self, Error> {
        let mut id = commit.clone().unwrap_or_default();
        // A shallow clone that is deepened gets a longer history under the same commit.
        let shallow = program.run(&["rev-parse", "--git-path", "shallow"])?;
        let path = program.root().join(shallow.text);
        let folder = Checkout::at(path.parent().unwrap_or(&path));
        if let Some(boundary) = folder.read("shallow", SHALLOW_BYTES).map(|held| held.bytes) {
            let name = Format::of(&id).map(|format| format.name(Kind::Blob, &boundary).to_string());
            id = format!("{id}-{}", name.unwrap_or_default());
        }
        Ok(Self { program: program.clone(), commit, id })
    }

    /// Lists first and looks at the differences then: `git log` could do both, but follows the configuration.
    fn list(&self, commit: &str, most: usize) -> Result<String, Error> {
        let most = format!("--max-count={most}");
        let listed = self.program.run(&[
            "rev-list",
            "--no-merges",
            "--min-parents=1",
            &most,
            commit,
            "--",
        ])?;
        if !listed.success {
            return Err(broken(format!(
                "the history of `{commit}` cannot be read: {}. Run `git fsck`.",
                listed.complaint.trim_end_matches('.')
            )));
        }
        Ok(listed.text + "\n")
    }
}

impl History for Log {
    fn id(&self) -> &str {
        &self.id
    }

    fn commits(&self, most: usize) -> Result<Vec<Commit>, Error> {
        let Some(commit) = self.commit.as_deref().filter(|_| most > 0) else {
            return Ok(Vec::new());
        };
        let names = self.list(commit, most)?;
        let format = "--format=%x00%B";
        let arguments = [
            "diff-tree",
            "--stdin",
            "--always",
            "--root",
            "-r",
            "-z",
            "--name-only",
            "--no-renames",
            "--no-ext-diff",
            "--no-textconv",
            "--no-notes",
            "--encoding=UTF-8",
            format,
        ];
        let mut process = self.program.stream(&arguments, Stdio::piped())?;
        let requests = process.0.stdin.take();
        let mut output = process.output(LOG_BYTES)?;
        std::thread::scope(|scope| {
            // Written beside the reading: the answers fill their pipe long before all names are written.
            scope.spawn(move || requests.map(|mut pipe| pipe.write_all(names.as_bytes())));
            let read = read_commits(&mut output);
            // Should it still be writing, it ends here, and the thread with it.
            drop(output);
            match read {
                (commits, End::Whole) if process.succeeded() => Ok(commits),
                (commits, End::Cut) => Ok(commits),
                _ => Err(broken(format!(
                    "the history of `{commit}` is missing in part or damaged. Run `git fsck`."
                ))),
            }
        })
    }
}

/// Whether all was read, or as much as there is room for.
#[derive(PartialEq)]
enum End {
    Whole,
    Cut,
}

/// Reads records that end in NUL: an empty one, the message, then the paths. A path is never empty.
fn read_commits(output: &mut impl BufRead) -> (Vec<Commit>, End) {
    let mut commits: Vec<Commit> = Vec::new();
    let mut message_next = false;
    let mut record = Vec::new();
    loop {
        record.clear();
        match (output.read_until(0, &mut record), record.pop()) {
            (Ok(0), _) => return (commits, End::Whole),
            (Ok(_), Some(0)) => {}
            _ => {
                commits.pop();
                return (commits, End::Cut);
            }
        }
        if message_next {
            let message = String::from_utf8_lossy(&record).trim_end().to_owned();
            commits.push(Commit { message, paths: Vec::new() });
            message_next = false;
        } else if record.is_empty() {
            message_next = true;
        } else if let Some(commit) = commits.last_mut() {
            // The first path stands on a new line after the message.
            let path = if commit.paths.is_empty() { record.strip_prefix(b"\n") } else { None };
            if let Ok(path) = std::str::from_utf8(path.unwrap_or(&record)) {
                commit.paths.push(path.to_owned());
            }
        }
    }
}
