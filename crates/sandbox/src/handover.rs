//! What the supervisor hands to the first process of a jail: descriptors alone, since that process was made before anybody knew the jail.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use serde::{Deserialize, Serialize};

use crate::groups::Doors;
use crate::link::{Link, MOST_DESCRIPTORS, Word};
use crate::sources::Sources;

pub(crate) struct Handover {
    pub(crate) ends: Ends,
    pub(crate) doors: Doors,
    /// What the jail is made from, where only the supervisor can open it.
    pub(crate) sources: Option<Vec<Sources>>,
}

/// What a jailed program is connected to.
pub(crate) struct Ends {
    pub(crate) stdin: OwnedFd,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
    /// Of a server, or of whoever tries the jail.
    pub(crate) socket: Option<OwnedFd>,
}

/// How many descriptors come, and what for.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Counts {
    socket: bool,
    doors: usize,
    sources: Option<Vec<usize>>,
}

impl Counts {
    fn total(&self) -> usize {
        3 + usize::from(self.socket) + self.doors + self.sources.iter().flatten().sum::<usize>()
    }
}

impl Handover {
    pub(crate) fn send(&self, link: &Link) -> io::Result<()> {
        let Self { ends, doors, sources } = self;
        let counts = Counts {
            socket: ends.socket.is_some(),
            doors: doors.iter().count(),
            sources: sources.as_ref().map(|sources| sources.iter().map(Vec::len).collect()),
        };
        link.say(&Word::Coming(counts))?;
        let standard = [&ends.stdin, &ends.stdout, &ends.stderr].into_iter().chain(&ends.socket);
        let given: Vec<BorrowedFd<'_>> = standard
            .map(AsFd::as_fd)
            .chain(doors.iter().map(AsFd::as_fd))
            .chain(sources.iter().flatten().flatten().map(AsFd::as_fd))
            .collect();
        given.chunks(MOST_DESCRIPTORS).try_for_each(|some| link.say_with_all(&Word::Given, some))
    }

    /// Nothing where the supervisor is gone.
    pub(crate) fn receive(link: &Link) -> io::Result<Option<Self>> {
        let counts = match link.hear()? {
            Some((Word::Coming(counts), _)) => counts,
            Some((other, _)) => return Err(unexpected(&other)),
            None => return Ok(None),
        };
        let mut given = Vec::new();
        while given.len() < counts.total() {
            match link.hear_all()? {
                Some((Word::Given, some)) => given.extend(some),
                Some((other, _)) => return Err(unexpected(&other)),
                None => return Ok(None),
            }
        }
        let mut given = given.into_iter();
        let mut next = || given.next().ok_or(io::ErrorKind::UnexpectedEof);
        let (stdin, stdout, stderr) = (next()?, next()?, next()?);
        let socket = counts.socket.then(&mut next).transpose()?;
        let doors = Doors::take(given.by_ref().take(counts.doors));
        let sources = counts.sources.map(|counts| {
            counts.into_iter().map(|count| given.by_ref().take(count).collect()).collect()
        });
        Ok(Some(Self { ends: Ends { stdin, stdout, stderr, socket }, doors, sources }))
    }
}

fn unexpected(word: &Word) -> io::Error {
    io::Error::other(format!("it was told {word:?} instead"))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read as _, Write as _};

    use super::*;

    fn pipes(count: usize) -> (Vec<OwnedFd>, Vec<File>) {
        let made = (0..count).map(|_| rustix::pipe::pipe().unwrap());
        made.map(|(read, write)| (read, File::from(write))).unzip()
    }

    /// Each is known by what comes out of it.
    #[test]
    fn every_descriptor_arrives_in_its_place_however_many_there_are() {
        let shapes: [(bool, usize, Option<&[usize]>); 5] = [
            (false, 0, None),
            (false, 2, Some(&[])),
            (true, 3, Some(&[1, 0, 3, 1])),
            (true, 1, Some(&[2; 90])),
            (false, 0, Some(&[0, 0])),
        ];
        for (socket, doors, shape) in shapes {
            let total: usize = shape.iter().copied().flatten().sum();
            let (reads, writes) = pipes(3 + usize::from(socket) + doors + total);
            let mut reads = reads.into_iter();
            let mut next = || reads.next().unwrap();
            let (stdin, stdout, stderr) = (next(), next(), next());
            let socket = socket.then(&mut next);
            let doors = Doors::take(reads.by_ref().take(doors));
            let take = |count: &usize| reads.by_ref().take(*count).collect();
            let sources = shape.map(|shape| shape.iter().map(take).collect());
            let ends = Ends { stdin, stdout, stderr, socket };
            let (ours, theirs) = Link::pair().unwrap();
            Handover { ends, doors, sources }.send(&ours).unwrap();
            let Handover { ends, doors, sources } = Handover::receive(&theirs).unwrap().unwrap();
            let lengths: Option<Vec<usize>> =
                sources.as_ref().map(|all| all.iter().map(Vec::len).collect());
            assert_eq!(lengths.as_deref(), shape);
            let doors = doors.iter().map(|door| door.as_fd().try_clone_to_owned().unwrap());
            let arrived = [ends.stdin, ends.stdout, ends.stderr].into_iter().chain(ends.socket);
            let arrived = arrived.chain(doors).chain(sources.into_iter().flatten().flatten());
            let arrived: Vec<OwnedFd> = arrived.collect();
            assert_eq!(arrived.len(), writes.len());
            for (at, (mut write, read)) in writes.into_iter().zip(arrived).enumerate() {
                write.write_all(at.to_string().as_bytes()).unwrap();
                drop(write);
                let mut text = String::new();
                File::from(read).read_to_string(&mut text).unwrap();
                assert_eq!(text, at.to_string());
            }
        }
    }

    #[test]
    fn nothing_comes_from_a_supervisor_that_is_gone() {
        let (ours, theirs) = Link::pair().unwrap();
        ours.say(&Word::Coming(Counts { socket: false, doors: 0, sources: None })).unwrap();
        drop(ours);
        assert!(Handover::receive(&theirs).unwrap().is_none());
    }

    #[test]
    fn what_does_not_come_is_not_waited_for() {
        let (ours, theirs) = Link::pair().unwrap();
        ours.say(&Word::Coming(Counts { socket: true, doors: 0, sources: None })).unwrap();
        ours.say_with_all(&Word::Given, &[ours.as_fd(); 3]).unwrap();
        ours.say(&Word::Go).unwrap();
        assert!(Handover::receive(&theirs).is_err());
    }
}
