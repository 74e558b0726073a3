//! What every jail begins with, made while it is still thought out: its first process in namespaces of its own, and the mapping of owners.

use std::fs::File;
use std::os::fd::{AsFd as _, OwnedFd};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, getpid, kill_process, pidfd_send_signal, set_child_subreaper};
use rustix::thread::set_thread_groups;

use crate::blueprint::Isolation;
use crate::link::{Link, Word};
use crate::mapping::Mapping;
use crate::order::Trouble;
use crate::surroundings::identity;
use crate::sys::{self, Cloned};
use crate::tree;

/// The steps that tell whether there are user namespaces here at all.
pub(crate) const APART_STEP: &str = "make the jail's namespaces";
pub(crate) const MAP_STEP: &str = "map the jail's user";
pub(crate) const OWNERS_STEP: &str = "map the owners of files";

const APART: u64 = (libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWNET) as u64;

/// All the processes of a jail, by its first. They end with this value.
pub(crate) struct Jail {
    pub(crate) pid: Pid,
    pub(crate) handle: OwnedFd,
    /// In namespaces of its own: the kernel ends all with the first.
    pub(crate) is_apart: bool,
}

/// A jail whose first process waits to be told what the jail is.
pub(crate) struct Waiting {
    pub(crate) jail: Jail,
    pub(crate) link: Link,
}

/// Which side of a new process this is.
pub(crate) enum Begun {
    /// The jail's, with the line to the supervisor.
    Inside(Link),
    Outside(Waiting),
}

impl Waiting {
    /// In namespaces of its own.
    pub(crate) fn apart() -> Result<Begun, Trouble> {
        let (owner, stranger) = identity::look();
        if stranger.is_some_and(|stranger| stranger != owner) {
            // Of whoever started this: the jail's user has none.
            set_thread_groups(&[]).map_err(at("leave its groups"))?;
        }
        Self::begin(true, || sys::clone_apart(APART).map_err(Trouble::at(APART_STEP)))
    }

    /// Among the machine's other processes.
    pub(crate) fn beside() -> Result<Begun, Trouble> {
        let step = "take in what the program leaves behind";
        set_child_subreaper(Some(getpid())).map_err(at(step))?;
        // Where namespaces are refused, so may be the newer call that could make them.
        Self::begin(false, || sys::fork_handled().map_err(Trouble::at("start the jail")))
    }

    fn begin(
        is_apart: bool,
        clone: impl FnOnce() -> Result<Cloned, Trouble>,
    ) -> Result<Begun, Trouble> {
        let (ours, theirs) = Link::pair().map_err(Trouble::at("connect the jail"))?;
        Ok(match clone()? {
            Cloned::Child => Begun::Inside(theirs),
            Cloned::Parent { pid, handle } => {
                Begun::Outside(Self { jail: Jail { pid, handle, is_apart }, link: ours })
            }
        })
    }

    pub(crate) fn tell(&self, order: &File) -> Result<(), Trouble> {
        let told = self.link.say_with(&Word::Order, Some(order.as_fd()));
        told.map_err(Trouble::at("tell the jail what it is"))
    }
}

/// Where something is not here, the jail's own start makes it, or tells why it cannot.
pub(crate) struct Ready {
    pub(crate) waiting: Option<Waiting>,
    pub(crate) mapping: Option<Mapping>,
}

impl Ready {
    /// The first process of a jail of this kind.
    pub(crate) fn begin(&mut self, isolation: Isolation) -> Result<Begun, Trouble> {
        match (isolation, self.waiting.take()) {
            (Isolation::Namespaces(_), Some(waiting)) => Ok(Begun::Outside(waiting)),
            (Isolation::Namespaces(_), None) => Waiting::apart(),
            (Isolation::Fallback, _) => Waiting::beside(),
        }
    }
}

fn at(step: &str) -> impl FnOnce(Errno) -> Trouble + '_ {
    move |error| Trouble::at(step)(error.into())
}

impl Jail {
    pub(crate) fn kill(&self) {
        match pidfd_send_signal(&self.handle, Signal::KILL) {
            Ok(()) | Err(Errno::SRCH) => {}
            // A filter around us refuses what it does not know. It is not yet waited for, so its number is its own.
            Err(_) => drop(kill_process(self.pid, Signal::KILL)),
        }
    }

    pub(crate) fn wait_for_all(&self) {
        tree::wait_for(&self.handle);
        if !self.is_apart {
            tree::end_all();
        }
    }
}

impl Drop for Jail {
    fn drop(&mut self) {
        self.kill();
        self.wait_for_all();
    }
}
