//! What every jail begins with, made while it is still thought out: its first process in namespaces of its own, and the mapping of owners.

use std::fs::File;
use std::os::fd::{AsFd as _, OwnedFd};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, getgroups, getpid, kill_process, pidfd_send_signal, set_child_subreaper,
};
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
    /// It has none of the groups that whoever started this is in.
    left_groups: bool,
}

/// Which side of a new process this is.
pub(crate) enum Begun {
    /// The jail's, with the line to the supervisor.
    Inside(Link),
    Outside(Waiting),
}

impl Waiting {
    /// In namespaces of its own. What is to leave its groups must do so before: once its user is mapped, nobody lets it.
    fn apart(leave_groups: bool) -> Result<Begun, Trouble> {
        let clone = || sys::clone_apart(APART).map_err(Trouble::at(APART_STEP));
        if !leave_groups {
            return Self::begin(true, false, clone);
        }
        let step = "leave its groups";
        let groups = getgroups().map_err(at(step))?;
        set_thread_groups(&[]).map_err(at(step))?;
        let begun = Self::begin(true, true, clone);
        if !matches!(begun, Ok(Begun::Inside(_))) {
            set_thread_groups(&groups).map_err(at("take its groups again"))?;
        }
        begun
    }

    /// Among the machine's other processes.
    fn beside() -> Result<Begun, Trouble> {
        let step = "take in what the program leaves behind";
        set_child_subreaper(Some(getpid())).map_err(at(step))?;
        // Where namespaces are refused, so may be the newer call that could make them.
        Self::begin(false, false, || sys::fork_handled().map_err(Trouble::at("start the jail")))
    }

    fn begin(
        is_apart: bool,
        left_groups: bool,
        clone: impl FnOnce() -> Result<Cloned, Trouble>,
    ) -> Result<Begun, Trouble> {
        let (ours, theirs) = Link::pair().map_err(Trouble::at("connect the jail"))?;
        Ok(match clone()? {
            Cloned::Child => Begun::Inside(theirs),
            Cloned::Parent { pid, handle } => {
                let jail = Jail { pid, handle, is_apart };
                Begun::Outside(Self { jail, link: ours, left_groups })
            }
        })
    }

    /// Hands it the file that says what the jail is.
    pub(crate) fn tell(&self, order: &File) -> Result<(), Trouble> {
        let told = self.link.say_with(&Word::Order, Some(order.as_fd()));
        self.or_its_own(told.map_err(Trouble::at("tell the jail what it is")))
    }

    /// Whoever speaks to one that has ended only learns that: why it ended it said itself, if it could.
    pub(crate) fn or_its_own(&self, spoken: Result<(), Trouble>) -> Result<(), Trouble> {
        spoken.map_err(|met| {
            self.jail.kill();
            self.jail.wait_for_all();
            loop {
                match self.link.hear() {
                    Ok(Some((Word::Failed(trouble), _))) => return trouble,
                    Ok(Some(_)) => {}
                    Ok(None) | Err(_) => return met,
                }
            }
        })
    }

    /// Whether a jail of this kind can begin with it.
    fn fits(isolation: Isolation, left_groups: bool) -> bool {
        match isolation {
            Isolation::Namespaces(identity) => left_groups || identity.owner == identity.outside,
            Isolation::Fallback => false,
        }
    }
}

/// What a jail of this user's is expected to need. Where something is not here or does not fit, the jail's own start makes it, or tells why
/// it cannot.
pub(crate) struct Ready {
    waiting: Option<Waiting>,
    pub(crate) mapping: Option<Mapping>,
}

impl Ready {
    /// The line to the supervisor, in the jail's first process.
    pub(crate) fn make() -> Result<Self, Link> {
        let (owner, stranger) = identity::look();
        let waiting = match Waiting::apart(stranger.is_some()) {
            Ok(Begun::Inside(link)) => return Err(link),
            Ok(Begun::Outside(waiting)) => Some(waiting),
            Err(_) => None,
        };
        let mapping = stranger.and_then(|stranger| Mapping::make(owner, stranger).ok());
        Ok(Self { waiting, mapping })
    }

    /// The first process of a jail of this kind.
    pub(crate) fn begin(&mut self, isolation: Isolation) -> Result<Begun, Trouble> {
        let waiting = self.waiting.take();
        // One that does not fit ends here.
        match waiting.filter(|waiting| Waiting::fits(isolation, waiting.left_groups)) {
            Some(waiting) => Ok(Begun::Outside(waiting)),
            None => match isolation {
                Isolation::Namespaces(identity) => {
                    Waiting::apart(identity.owner != identity.outside)
                }
                Isolation::Fallback => Waiting::beside(),
            },
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

#[cfg(test)]
mod tests {
    use rustix::process::{PidfdFlags, pidfd_open};

    use super::*;
    use crate::blueprint::{Identity, Ids};

    #[test]
    fn why_the_first_process_ended_is_told_in_its_own_words() {
        let trouble = |step: &str| Trouble { step: step.to_owned(), why: "x".into(), full: false };
        for own in [None, Some(trouble("its own"))] {
            let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
            let pid = Pid::from_child(&child);
            let handle = pidfd_open(pid, PidfdFlags::empty()).unwrap();
            let (ours, theirs) = Link::pair().unwrap();
            let jail = Jail { pid, handle, is_apart: true };
            let waiting = Waiting { jail, link: ours, left_groups: false };
            theirs.say(&Word::Running).unwrap();
            if let Some(own) = &own {
                theirs.say(&Word::Failed(own.clone())).unwrap();
            }
            drop(theirs);
            assert_eq!(waiting.or_its_own(Ok(())), Ok(()));
            let met = waiting.or_its_own(Err(trouble("met")));
            assert_eq!(met, Err(own.unwrap_or_else(|| trouble("met"))));
            assert!(child.wait().is_err(), "it was waited for");
        }
    }

    #[test]
    fn who_has_the_groups_of_root_is_no_strangers_jail() {
        let ids = |id| Ids { user: id, group: id };
        let identity = |owner, outside| {
            let inside = ids(1000);
            Isolation::Namespaces(Identity { inside, outside: ids(outside), owner: ids(owner) })
        };
        assert!(Waiting::fits(identity(0, 65_409), true));
        assert!(!Waiting::fits(identity(0, 65_409), false));
        assert!(Waiting::fits(identity(1000, 1000), false));
        assert!(!Waiting::fits(Isolation::Fallback, true));
    }
}
