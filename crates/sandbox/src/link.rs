//! The line between the supervisor and the first process of a jail: one message at a time, and descriptors.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use serde::{Deserialize, Serialize};

use crate::order::{Ending, Trouble};

/// What is said on the line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Word {
    /// To the jail: its user is mapped and its limits are set.
    Go,
    Failed(Trouble),
    /// With the descriptor of a socket that listens in the jail's network.
    Listening,
    /// With the descriptor of a file system that is kept in memory.
    Memory,
    Running,
    Ended(Ending),
}

pub(crate) struct Link(OwnedFd);

/// Longer words are not said.
const BYTES: usize = 8 << 10;

impl Link {
    pub(crate) fn pair() -> io::Result<(Self, Self)> {
        let (kind, flags) = (SocketType::SEQPACKET, SocketFlags::CLOEXEC);
        let (ours, theirs) = socketpair(AddressFamily::UNIX, kind, flags, None)?;
        Ok((Self(ours), Self(theirs)))
    }

    pub(crate) fn say(&self, word: &Word) -> io::Result<()> {
        self.say_with(word, None)
    }

    pub(crate) fn say_with(
        &self,
        word: &Word,
        descriptor: Option<BorrowedFd<'_>>,
    ) -> io::Result<()> {
        let text = serde_json::to_vec(word)?;
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let given: Vec<_> = descriptor.into_iter().collect();
        if !given.is_empty() {
            control.push(SendAncillaryMessage::ScmRights(&given));
        }
        sendmsg(&self.0, &[IoSlice::new(&text)], &mut control, SendFlags::NOSIGNAL)?;
        Ok(())
    }

    /// The next word; nothing when the other side is gone.
    pub(crate) fn hear(&self) -> io::Result<Option<(Word, Option<OwnedFd>)>> {
        let mut text = vec![0; BYTES];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::CMSG_CLOEXEC;
        let heard = loop {
            match recvmsg(&self.0, &mut [IoSliceMut::new(&mut text)], &mut control, flags) {
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::CONNRESET) => return Ok(None),
                heard => break heard?,
            }
        };
        if heard.bytes == 0 {
            return Ok(None);
        }
        let descriptor = control.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut given) => given.next(),
            _ => None,
        });
        Ok(Some((serde_json::from_slice(&text[..heard.bytes])?, descriptor)))
    }
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
