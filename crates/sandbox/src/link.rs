//! A line between two processes of ours: one message at a time, and descriptors. One leads from the controller to the supervisor,
//! one from there to the first process of a jail.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags,
    SendAncillaryBuffer, SendAncillaryMessage, SendFlags, Shutdown, SocketFlags, SocketType,
    recvmsg, sendmsg, shutdown, socketpair,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::handover::Counts;
use crate::order::{Ending, Trouble};

/// What is said between the supervisor and the jail.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Word {
    /// To the jail, with the descriptor of the order: what it is.
    Order,
    /// To the jail: what it is handed next, as many at a time as there may be.
    Coming(Counts),
    /// With some of that.
    Given,
    /// To the jail: its user is mapped and its limits are set.
    Go,
    /// To the jail: names that must not be made are held, and what is on the disk is counted.
    Held,
    /// To the jail, with the descriptor that a further program reads from and writes to.
    Spawn(Vec<String>),
    Failed(Trouble),
    /// With the descriptor of a socket that listens in the jail's network.
    Listening,
    /// With the descriptor of a file system that is kept in memory.
    Memory,
    /// With the descriptor of the list of mounts, which must not change from now on.
    Mounts,
    Running,
    Ended(Ending),
}

#[derive(Debug)]
pub(crate) struct Link(OwnedFd);

/// Longer words are not said.
const BYTES: usize = 64 << 10;
/// With one word.
pub(crate) const MOST_DESCRIPTORS: usize = 64;
const ROOM: usize = rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS));

impl Link {
    pub(crate) fn pair() -> io::Result<(Self, Self)> {
        let (kind, flags) = (SocketType::SEQPACKET, SocketFlags::CLOEXEC);
        let (ours, theirs) = socketpair(AddressFamily::UNIX, kind, flags, None)?;
        Ok((Self(ours), Self(theirs)))
    }

    /// The same line, for another thread.
    pub(crate) fn share(&self) -> io::Result<Self> {
        self.0.try_clone().map(Self)
    }

    /// For both sides, whoever shares it.
    pub(crate) fn close(&self) {
        // Fails only if it is closed.
        let _ = shutdown(&self.0, Shutdown::Both);
    }

    pub(crate) fn say(&self, word: &impl Serialize) -> io::Result<()> {
        self.say_with(word, None)
    }

    pub(crate) fn say_with(
        &self,
        word: &impl Serialize,
        descriptor: Option<BorrowedFd<'_>>,
    ) -> io::Result<()> {
        self.send(word, descriptor.as_slice(), SendFlags::NOSIGNAL)
    }

    pub(crate) fn say_with_all(
        &self,
        word: &impl Serialize,
        descriptors: &[BorrowedFd<'_>],
    ) -> io::Result<()> {
        self.send(word, descriptors, SendFlags::NOSIGNAL)
    }

    /// Fails where the other side does not take it at once.
    pub(crate) fn try_say_with(
        &self,
        word: &impl Serialize,
        descriptor: Option<BorrowedFd<'_>>,
    ) -> io::Result<()> {
        self.send(word, descriptor.as_slice(), SendFlags::NOSIGNAL | SendFlags::DONTWAIT)
    }

    fn send(
        &self,
        word: &impl Serialize,
        descriptors: &[BorrowedFd<'_>],
        flags: SendFlags,
    ) -> io::Result<()> {
        let text = serde_json::to_vec(word)?;
        if text.len() > BYTES {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is too long to be told"));
        }
        if descriptors.len() > MOST_DESCRIPTORS {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "too much is given along"));
        }
        let mut space = [MaybeUninit::uninit(); ROOM];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !descriptors.is_empty() {
            control.push(SendAncillaryMessage::ScmRights(descriptors));
        }
        sendmsg(&self.0, &[IoSlice::new(&text)], &mut control, flags)?;
        Ok(())
    }

    /// The next word; nothing when the other side is gone. One thread at a time may listen.
    pub(crate) fn hear<T: DeserializeOwned>(&self) -> io::Result<Option<(T, Option<OwnedFd>)>> {
        let heard = self.hear_all()?;
        Ok(heard.map(|(word, given)| (word, given.into_iter().next())))
    }

    /// The same with all that is given along.
    pub(crate) fn hear_all<T: DeserializeOwned>(&self) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
        // Most words are short, and room for the longest would be memory that each process has to be given first.
        let peeked = RecvFlags::PEEK | RecvFlags::TRUNC;
        let (length, _) = self.receive(&mut [], &mut RecvAncillaryBuffer::default(), peeked)?;
        if length == 0 {
            return Ok(None);
        }
        let mut text = vec![0; length.min(BYTES)];
        let mut space = [MaybeUninit::uninit(); ROOM];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let (bytes, flags) = self.receive(&mut text, &mut control, RecvFlags::CMSG_CLOEXEC)?;
        if flags.contains(ReturnFlags::CTRUNC) {
            let why = "not all that was given along could be taken, as with too many open files";
            return Err(io::Error::other(why));
        }
        let given = control.drain().flat_map(|message| match message {
            RecvAncillaryMessage::ScmRights(given) => given.collect(),
            _ => Vec::new(),
        });
        let given = given.collect();
        Ok(Some((serde_json::from_slice(&text[..bytes])?, given)))
    }

    fn receive(
        &self,
        text: &mut [u8],
        control: &mut RecvAncillaryBuffer<'_>,
        flags: RecvFlags,
    ) -> io::Result<(usize, ReturnFlags)> {
        loop {
            match recvmsg(&self.0, &mut [IoSliceMut::new(text)], control, flags) {
                // The other side is gone without having read all; what it said before comes next.
                Err(rustix::io::Errno::INTR | rustix::io::Errno::CONNRESET) => {}
                received => return Ok(received.map(|received| (received.bytes, received.flags))?),
            }
        }
    }
}

impl From<OwnedFd> for Link {
    fn from(descriptor: OwnedFd) -> Self {
        Self(descriptor)
    }
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_any_length_arrive_whole_and_in_order_with_what_is_given_along() {
        let (ours, theirs) = Link::pair().unwrap();
        for length in [0, 1, 100, 5_000, 60_000] {
            ours.say_with(&Word::Spawn(vec!["x".repeat(length)]), Some(ours.as_fd())).unwrap();
            ours.say(&Word::Go).unwrap();
            let heard = theirs.hear::<Word>().unwrap();
            let Some((Word::Spawn(words), Some(_))) = heard else { panic!("{heard:?}") };
            assert_eq!(words[0].len(), length);
            assert!(matches!(theirs.hear().unwrap(), Some((Word::Go, None))), "{length}");
        }
        assert!(ours.say(&Word::Spawn(vec!["x".repeat(70_000)])).is_err());
        let too_many = [ours.as_fd(); MOST_DESCRIPTORS + 1];
        assert!(ours.say_with_all(&Word::Given, &too_many).is_err());
        drop(ours);
        assert!(theirs.hear::<Word>().unwrap().is_none());
    }
}
