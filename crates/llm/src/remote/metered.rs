//! genai's stream, given up when it takes in much and hands out nothing.
//!
//! genai reads the body of an error whole and gathers a frame until its end, however long they are, and shows the bytes of
//! neither. What can be seen from outside is how often the connection stirs. Each time brings at most one piece, as long
//! as the connection and its reader share a thread, which `engine` sees to.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::stream::{Stream, StreamExt};
use futures_util::task::AtomicWaker;
use genai::chat::{ChatStream, ChatStreamEvent};

use super::watch::Watch;

/// The most pieces without a frame: at first of the connection's start and of the body of an error, then of one frame.
/// A server may send short frames in single bytes, so there are many. From one that sends all it can they were seen to hold 12 KiB each;
/// hyper's largest is 408.
const FIRST: u32 = 1_024;
const LATER: u32 = 2_048;

/// More came than any model says.
#[derive(Debug)]
pub(super) struct Endless;

/// The stream behind a waker of its own: asked only when its connection stirs, not whenever its task does.
pub(super) struct Metered<'a> {
    stream: ChatStream,
    watch: &'a Watch,
    stir: Arc<Stir>,
    waker: Waker,
    frames: u64,
    pieces: u32,
}

/// Whether the connection stirred, and the task to tell.
struct Stir {
    stirred: AtomicBool,
    task: AtomicWaker,
}

impl Wake for Stir {
    fn wake(self: Arc<Self>) {
        self.stirred.store(true, Ordering::Release);
        self.task.wake();
    }
}

impl<'a> Metered<'a> {
    pub(super) fn new(stream: ChatStream, watch: &'a Watch) -> Self {
        let stir = Arc::new(Stir { stirred: AtomicBool::new(true), task: AtomicWaker::new() });
        let waker = Waker::from(Arc::clone(&stir));
        Self { stream, watch, stir, waker, frames: 0, pieces: 0 }
    }

    /// Nothing whole has come: whether more may.
    fn may_go_on(&mut self) -> bool {
        let seen = self.watch.seen();
        self.pieces = if seen.frames == self.frames { self.pieces + 1 } else { 0 };
        self.frames = seen.frames;
        let most = if self.frames == 0 { FIRST } else { LATER };
        self.pieces <= most && !seen.is_endless()
    }
}

impl Stream for Metered<'_> {
    type Item = Result<genai::Result<ChatStreamEvent>, Endless>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        this.stir.task.register(context.waker());
        if !this.stir.stirred.swap(false, Ordering::Acquire) {
            return Poll::Pending;
        }
        if let Poll::Ready(event) =
            this.stream.poll_next_unpin(&mut Context::from_waker(&this.waker))
        {
            // There may be another one.
            this.stir.stirred.store(true, Ordering::Release);
            return Poll::Ready(event.map(Ok));
        }
        if this.may_go_on() { Poll::Pending } else { Poll::Ready(Some(Err(Endless))) }
    }
}
