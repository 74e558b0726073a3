//! One jail after another on the same ground, each asked for one deed.

use std::io::{self, Read as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use sequester_core::profile::{Confinement, Guarantee};

use super::Tried;
use super::deed::{BEGUN, DONE, Deed, Seen};
use super::ground::Ground;
use crate::capabilities::Capabilities;
use crate::compile::{Compiled, compile};
use crate::launch::{Error, Jail, Streams};
use crate::limits::Limits;
use crate::order::{Cause, Ending, Program};
use crate::surroundings::Surroundings;

pub(super) struct Trial<'a> {
    pub(super) surroundings: &'a Surroundings,
    pub(super) capabilities: &'a Capabilities,
    pub(super) ground: Ground,
    pub(super) confinement: Confinement,
}

/// What became of one deed.
pub(super) struct Outcome {
    pub(super) ending: Ending,
    pub(super) said: Vec<u8>,
    /// Whether a process of the jail still holds its end of the line.
    pub(super) survived: bool,
}

#[derive(Debug, PartialEq)]
pub(super) enum Verdict {
    Kept,
    Exceeded,
    Unknown(Ending),
}

impl Outcome {
    /// Of a deed that goes beyond the limit of that cause: what the supervisor reports decides, and what the deed said of
    /// itself, never how long it took. One that came to no step of its own shows nothing.
    pub(super) fn judge(&self, cause: Cause) -> Verdict {
        if self.ending == Ending::Killed(cause) {
            Verdict::Kept
        } else if self.said.contains(&DONE) {
            Verdict::Exceeded
        } else if self.said.contains(&BEGUN) && !matches!(self.ending, Ending::Killed(_)) {
            // The kernel itself refused the next step, or ended it.
            Verdict::Kept
        } else {
            Verdict::Unknown(self.ending)
        }
    }
}

impl Trial<'_> {
    pub(super) fn run(&self, tried: &mut Tried) -> Result<(), Error> {
        self.look(tried)?;
        let workspace = self.ground.workspace();
        for (guarantee, deed, limit, cause, beyond) in [
            (
                Guarantee::Limits,
                Deed::Stay,
                "wall=150ms",
                Cause::Wall,
                "it took longer than it may",
            ),
            (
                Guarantee::Limits,
                Deed::Print(1 << 20),
                "output=64K",
                Cause::Output,
                "it printed more than it may",
            ),
            (
                Guarantee::Limits,
                Deed::Breed(64),
                "pids=16",
                Cause::Pids,
                "it started more processes than it may",
            ),
            (
                Guarantee::MemoryLimit,
                Deed::Grow(256 << 20),
                "memory=64M",
                Cause::Memory,
                "it used more memory than it may",
            ),
            (
                Guarantee::DiskLimit,
                Deed::Fill(workspace, 32 << 20),
                "disk=4M",
                Cause::Disk,
                "it wrote more to disk than it may",
            ),
        ] {
            if !tried.guarantees.contains_key(&guarantee) {
                continue;
            }
            match self.perform(deed, limit)?.judge(cause) {
                Verdict::Kept => {}
                Verdict::Exceeded => drop(tried.broken.insert(guarantee, beyond)),
                Verdict::Unknown(ending) => {
                    let told = format!("`{limit}` could not be tried ({ending:?})");
                    tried.untried.insert(guarantee, told);
                }
            }
        }
        Ok(())
    }

    fn look(&self, tried: &mut Tried) -> Result<(), Error> {
        let held = self.ground.held()?;
        let deed = Deed::Look(Box::new(self.ground.questions(self.confinement, &held)?));
        let outcome = self.perform(deed, "wall=60s")?;
        let seen: Seen = serde_json::from_slice(&outcome.said).map_err(|_| {
            io::Error::other(format!("it ended without an answer ({:?})", outcome.ending))
        })?;
        tried.broken = self.ground.judge(self.confinement, &seen);
        if outcome.survived {
            tried.broken.insert(Guarantee::TreeKill, "a process outlived it");
        }
        tried.renames = seen.renamed;
        Ok(())
    }

    fn perform(&self, deed: Deed, limit: &str) -> Result<Outcome, Error> {
        let mut policy = self.ground.policy(self.confinement)?;
        policy.limits = limits(limit);
        let compiled = compile(&policy, self.surroundings, self.capabilities);
        let Compiled { blueprint, .. } = compiled.map_err(io::Error::other)?;
        let null = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null")?;
        let null = null.as_fd();
        let streams = Streams { stdin: null, stdout: null, stderr: null };
        let (mut ours, theirs) = UnixStream::pair()?;
        let program = Program::Trial(deed);
        let jail = Jail::launch(&blueprint, program, streams, Some(theirs.as_fd()))?;
        drop(theirs);
        let ending = jail.wait(drop)?;
        // All is said, and nobody is left to hold the line open but, for a moment, a process that another thread is
        // starting; one that outlives its jail holds it for good.
        ours.set_read_timeout(Some(Duration::from_secs(5)))?;
        let mut said = Vec::new();
        let survived = ours.read_to_end(&mut said).is_err();
        Ok(Outcome { ending, said, survived })
    }
}

/// One that is tried, the others out of the way.
fn limits(limit: &str) -> Limits {
    let mut limits = Limits { wall: Duration::from_mins(1), ..Limits::default() };
    // They are ours, and well formed.
    let _ = limits.set(limit);
    limits
}
