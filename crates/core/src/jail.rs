//! The port to jails: where an attempt works, and where its result is checked.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use crate::change::Change;
use crate::future::BoxFuture;
use crate::id::TreeId;
use crate::path::RepoPath;
use crate::profile::Profile;
use crate::protected::Grants;
use crate::tool::{Spec, Toolbox};

/// What an attempt is confined to.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    pub profile: Profile,
    /// What it starts from. The plan, lists of tasks, our own folder and secrets are never in it.
    pub base: TreeId,
    /// What was done on it already, by this attempt before it was cut off.
    pub change: Option<Change>,
    /// Paths that the task names: folders of theirs can be renamed.
    pub named: BTreeSet<RepoPath>,
    /// Protected names that it may change.
    pub grants: Grants,
    pub wall: Duration,
}

/// Makes jails.
pub trait Jails: Send + Sync {
    /// The tools that are in every jail; profiles grant some of them.
    fn specs(&self) -> Vec<Spec>;

    /// A guarantee that cannot be had is [`ErrorKind::Guarantee`], before anything starts.
    fn open<'a>(&'a self, cell: &'a Cell) -> BoxFuture<'a, Result<Box<dyn Jail>, Error>>;
}

/// One jail with its workspace. All that ran in it is gone when this is dropped.
pub trait Jail: Send + Sync {
    /// Started with the first call, and gone when they are dropped.
    fn tools(&self) -> Box<dyn Toolbox>;

    /// What the workspace holds by now that the base does not, while the tools are there; nothing if it is what this said last.
    fn look(&self) -> BoxFuture<'_, Result<Option<Change>, Error>>;

    /// Runs a command by the shell, as checks are.
    fn run<'a>(&'a self, command: &'a str, limit: Duration) -> BoxFuture<'a, Result<Ran, Error>>;

    /// Hosts that were asked for since this was said last, in order.
    fn asked(&self) -> Vec<HostAsked> {
        Vec::new()
    }

    /// Once the tools are gone: ends all that runs inside, and says what became of the workspace.
    fn harvest(self: Box<Self>) -> BoxFuture<'static, Result<Change, Error>>;
}

/// A host that something in a jail asked for, and whether it was let through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostAsked {
    pub host: String,
    pub port: u16,
    pub allowed: bool,
    pub why: String,
}

/// What became of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// 128 and the signal for one that was killed.
    pub code: i32,
    /// Both streams, head and tail, redacted.
    pub output: String,
    pub elapsed: Duration,
    /// The limit that ended it, in words.
    pub limit: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    pub kind: ErrorKind,
    pub message: String,
    pub hint: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// This machine cannot give what the profile needs.
    Guarantee,
    /// The workspace could not be made, or is gone.
    Workspace,
    /// The jail could not be started or ended by itself.
    Broken,
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
