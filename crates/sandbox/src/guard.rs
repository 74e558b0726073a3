//! What covers a file of the person's falls off when somebody outside takes the file away: the kernel takes a mount away with the name
//! that it stands on, even where the same file comes back to it. Once a program runs, nobody mounts anything in its jail, so that the kernel,
//! which tells of every change among a jail's mounts, then tells of nothing else.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::blueprint::Entry;

/// The list of a jail's mounts, where one of them could fall off. While it is held, so are they.
#[derive(Default)]
pub(crate) struct Guard(Option<OwnedFd>);

const TELLING: PollFlags = PollFlags::PRI.union(PollFlags::ERR);

impl Guard {
    /// By the jailed side, after the last mount: changes are told from here on.
    pub(crate) fn open(entries: &[Entry]) -> io::Result<Option<OwnedFd>> {
        let needed = entries.iter().any(|entry| covers_a_file(entries, entry));
        needed.then(|| File::open("/proc/self/mountinfo").map(OwnedFd::from)).transpose()
    }

    /// What is ready when something fell off.
    pub(crate) fn watched(&self) -> Option<PollFd<'_>> {
        self.0.as_ref().map(|mounts| PollFd::new(mounts, TELLING))
    }

    /// Whether something fell off that was not told of before.
    pub(crate) fn is_broken(&self) -> bool {
        let Some(mounts) = self.watched() else { return false };
        // What cannot be asked is taken for broken.
        poll(&mut [mounts], Some(&Timespec::default())) != Ok(0)
    }
}

impl From<OwnedFd> for Guard {
    fn from(mounts: OwnedFd) -> Self {
        Self(Some(mounts))
    }
}

/// Whether an entry stands on a file of the machine's. A layer has names of its own, which nobody outside reaches.
fn covers_a_file(entries: &[Entry], entry: &Entry) -> bool {
    let (Entry::Hidden { at } | Entry::Cover { at, .. } | Entry::Shut { at, .. }) = entry else {
        return false;
    };
    let around = entries.iter().rev().find_map(|entry| match entry {
        // Where there are no layers, what is shown is bound.
        Entry::Bind { at: bound, .. } | Entry::Shown { at: bound, .. } if at.starts_with(bound) => {
            Some(true)
        }
        Entry::Layered { at: bound, .. } | Entry::Mirror { at: bound, .. }
            if at.starts_with(bound) =>
        {
            Some(false)
        }
        _ => None,
    });
    around.unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blueprint::Access;

    #[test]
    fn only_what_stands_on_a_file_of_the_machines_is_guarded() {
        let bind = |access| Entry::Bind { from: "/a".into(), at: "/work".into(), access };
        let layer = || Entry::Layered {
            at: "/work".into(),
            lower: vec!["/home/dev/shop".into()],
            store: "/state/1".into(),
        };
        let mirror = || Entry::Mirror { from: "/home/dev/shop".into(), at: "/work".into() };
        let hidden = || Entry::Hidden { at: "/work/.env".into() };
        let elsewhere = Entry::Hidden { at: "/etc/x".into() };
        let is_guarded = |entries: &[Entry]| Guard::open(entries).unwrap().is_some();
        assert!(is_guarded(&[bind(Access::Write), hidden()]));
        assert!(is_guarded(&[bind(Access::Read), hidden()]));
        assert!(!is_guarded(&[layer(), hidden()]));
        assert!(!is_guarded(&[mirror(), hidden()]));
        assert!(!is_guarded(&[bind(Access::Read), elsewhere]));
        assert!(!is_guarded(&[bind(Access::Write)]));
    }
}
