//! genai's stream, given up when it takes in much and hands out nothing.
//!
//! genai reads the body of an error whole and gathers a frame until its end, however long they are, and shows the bytes of
//! neither. What can be seen from outside is how often the connection stirs. Each time brings at most one piece, as long
//! as the connection and its reader share a thread, which `engine` sees to.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::stream::{SelectAll, Stream, StreamExt, select_all};
use genai::chat::{ChatStream, ChatStreamEvent};

use super::watch::Watch;

/// The most pieces without a frame: at first of the connection's start and of the body of an error, then of one frame.
/// A server may send single bytes, so there are many; from one that sends all it can they hold 40 KiB each, and 408 at most.
const FIRST: u32 = 1_024;
const LATER: u32 = 2_048;

/// More came than any model says.
#[derive(Debug)]
pub(super) struct Endless;

/// The stream behind a waker of its own: asked only when its connection stirs, not whenever its task does.
pub(super) struct Metered<'a>(SelectAll<Stirring<'a>>);

struct Stirring<'a> {
    stream: ChatStream,
    watch: &'a Watch,
    frames: u64,
    pieces: u32,
}

impl<'a> Metered<'a> {
    pub(super) fn new(stream: ChatStream, watch: &'a Watch) -> Self {
        Self(select_all([Stirring { stream, watch, frames: 0, pieces: 0 }]))
    }
}

impl Stream for Metered<'_> {
    type Item = Result<genai::Result<ChatStreamEvent>, Endless>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_next_unpin(context)
    }
}

impl Stream for Stirring<'_> {
    type Item = Result<genai::Result<ChatStreamEvent>, Endless>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Poll::Ready(event) = self.stream.poll_next_unpin(context) {
            return Poll::Ready(event.map(Ok));
        }
        let (frames, is_endless) = {
            let seen = self.watch.seen();
            (seen.frames, seen.is_endless())
        };
        self.pieces = if frames == self.frames { self.pieces + 1 } else { 0 };
        self.frames = frames;
        let most = if frames == 0 { FIRST } else { LATER };
        if is_endless || self.pieces > most {
            return Poll::Ready(Some(Err(Endless)));
        }
        Poll::Pending
    }
}
