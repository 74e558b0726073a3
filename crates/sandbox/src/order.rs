//! What goes between the controller, the supervisor and the jailed side.

use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::blueprint::Blueprint;
use crate::harvest::Rules;
use crate::trial::deed::Deed;

/// Which jail the supervisor keeps, told by descriptor.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) blueprint: Blueprint,
    pub(crate) program: Program,
}

impl Order {
    /// From the beginning, whoever else reads the same descriptor.
    pub(crate) fn read(sheet: &File) -> io::Result<Self> {
        let length = usize::try_from(sheet.metadata()?.len()).map_err(io::Error::other)?;
        let mut text = vec![0; length];
        sheet.read_exact_at(&mut text, 0)?;
        Ok(serde_json::from_slice(&text)?)
    }
}

/// What runs in the jail.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Program {
    Command(Vec<String>),
    /// This same program, as what `enter_if_jailed` was given.
    Server,
    /// This same program, which computes a change.
    Harvest(Rules),
    /// This same program, trying its jail.
    Trial(Deed),
}

/// What the controller says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Wish {
    /// First of all, with the descriptor of an order.
    Keep,
    Stop,
    /// A further program in the same jail, with the descriptor that it reads from and writes to.
    Spawn(Vec<String>),
}

/// What the supervisor says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Said {
    /// The jail stands, and the program has been started.
    Started,
    /// There is no jail, and nothing was started.
    Failed(Trouble),
    /// Somebody inside asked for a host.
    Asked { host: String, port: u16, allowed: bool, why: String },
    /// Some of what was printed could not be passed on.
    Lost { stream: String, why: String },
    /// A limit was met: what the program wanted beyond it was refused, and it may have gone on.
    Met(Cause),
    /// Somebody inside looked for a way to another machine, and there is none.
    NoWay,
    /// All processes have ended.
    Ended(Ending),
}

/// Why a jail could not be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trouble {
    pub step: String,
    pub why: String,
    /// There is no room left on a disk.
    pub full: bool,
}

/// The step at which a jail is given up because something is not where it was looked at.
const MOVED_STEP: &str = "find everything in its place";

impl Trouble {
    /// Something is not where it was looked at.
    pub(crate) fn moved(path: &Path) -> Self {
        let why = format!("`{}` moved meanwhile", path.display());
        Self { step: MOVED_STEP.to_owned(), why, full: false }
    }

    /// At a step with something that was looked at before: if it is gone, it may be elsewhere by now.
    pub(crate) fn with(path: &Path, step: String, error: io::Error) -> Self {
        use rustix::io::Errno;
        match Errno::from_io_error(&error) {
            Some(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Self::moved(path),
            _ => Self::at(step)(error),
        }
    }

    /// Whether another look may find everything in its place.
    pub fn is_moved(&self) -> bool {
        self.step == MOVED_STEP
    }

    pub(crate) fn at(step: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let step = step.into();
        |error| {
            use io::ErrorKind::{QuotaExceeded, StorageFull};
            let full = matches!(error.kind(), StorageFull | QuotaExceeded);
            Self { step, why: error.to_string(), full }
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.step, self.why)
    }
}

/// How the program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    Exited(i32),
    Signalled(i32),
    /// No such program in the jail.
    NotFound,
    /// It is there and cannot be run.
    NotRunnable,
    /// The folder that it starts in cannot be entered.
    NotEntered,
    Killed(Cause),
}

impl Ending {
    /// By whoever cannot be refused.
    pub(crate) const KILLED: Self = Self::Signalled(9);
}

/// Why the supervisor ended a jail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    Wall,
    Output,
    Memory,
    Disk,
    Cpu,
    Pids,
    /// The kernel keeps so much of a user's pipes, for all of their programs.
    Pipes,
    /// Something that was covered in the person's folder was replaced outside.
    Exposed,
    /// The controller asked for it, or is gone.
    Asked,
}

impl Cause {
    /// As a sentence for a person.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Wall => "It took longer than it may, so it was ended.",
            Self::Output => "It printed more than it may, so it was ended.",
            Self::Memory => "It used more memory than it may, so it was ended.",
            Self::Disk => "It wrote more to disk than it may, so it was ended.",
            Self::Cpu => "It used more processor time than it may, so it was ended.",
            Self::Pids => "It started more processes than it may, so it was ended.",
            Self::Pipes => "It held more than 900 pipes, so it was ended.",
            Self::Exposed => {
                "Something that it may not see or change was replaced outside of it, so it was ended."
            }
            Self::Asked => "It was ended before it was done.",
        }
    }
}
