//! Who is who on both sides of a jail's wall.

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::process::Pid;

use crate::blueprint::Ids;
use crate::link::{Link, Word};
use crate::sys::{self, Cloned};
use crate::tree;

/// A user namespace that says: what belongs to the person belongs to the jail's user.
pub(crate) struct Mapping {
    /// Whose files, and whose they are then.
    maps: (Ids, Ids),
    namespace: OwnedFd,
    /// The process that it was made with, which has nothing else to do.
    handle: OwnedFd,
}

impl Mapping {
    pub(crate) fn is_of(&self, owner: Ids, outside: Ids) -> bool {
        self.maps == (owner, outside)
    }

    pub(crate) fn make(owner: Ids, outside: Ids) -> io::Result<Self> {
        let (ours, theirs) = Link::pair()?;
        let Cloned::Parent { pid, handle } = sys::clone_apart(libc::CLONE_NEWUSER as u64)? else {
            drop(ours);
            let _ = theirs.hear::<Word>();
            sys::leave(0);
        };
        drop(theirs);
        let path = format!("/proc/{}/ns/user", pid.as_raw_nonzero());
        let namespace = map(pid, owner, outside).and_then(|()| fs::File::open(path));
        drop(ours);
        match namespace {
            Ok(namespace) => {
                Ok(Self { maps: (owner, outside), namespace: namespace.into(), handle })
            }
            Err(error) => {
                tree::wait_for(&handle);
                Err(error)
            }
        }
    }
}

impl AsFd for Mapping {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.namespace.as_fd()
    }
}

impl Drop for Mapping {
    /// It ends while its namespace is used; only its entry among the processes is waited for.
    fn drop(&mut self) {
        tree::wait_for(&self.handle);
    }
}

/// Says who a user of a new namespace is outside.
pub(crate) fn map(pid: Pid, inside: Ids, outside: Ids) -> io::Result<()> {
    let put = |file: &str, text: String| {
        fs::write(format!("/proc/{}/{file}", pid.as_raw_nonzero()), text)
    };
    put("setgroups", "deny".to_owned())?;
    put("uid_map", format!("{} {} 1", inside.user, outside.user))?;
    put("gid_map", format!("{} {} 1", inside.group, outside.group))
}
