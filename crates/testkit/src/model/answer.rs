//! An HTTP answer as a list of what to send, when to wait and how to end.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, SizeHint};
use serde_json::Value;
use tokio::time::{Sleep, sleep};

use super::ledger::Presence;

/// What the server does with a request.
#[derive(Debug)]
pub(super) enum Answer {
    /// Nothing, until the client leaves.
    Silence,
    Reply {
        status: u16,
        headers: Vec<(&'static str, String)>,
        steps: Vec<Step>,
    },
}

/// One step of sending a body. A body without steps left ends properly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Send(Bytes),
    Wait(Duration),
    /// All that was sent is on its way before the next step.
    Flush,
    /// Drops the connection.
    Cut,
    /// Nothing more, until the client leaves.
    Hang,
}

impl Answer {
    pub(super) fn json(status: u16, body: &Value) -> Self {
        Self::typed(status, "application/json", vec![Step::Send(body.to_string().into())])
    }

    pub(super) fn typed(status: u16, content_type: &str, steps: Vec<Step>) -> Self {
        Self::Reply { status, headers: vec![("content-type", content_type.to_owned())], steps }
    }

    pub(super) fn with(mut self, header: &'static str, value: impl fmt::Display) -> Self {
        if let Self::Reply { headers, .. } = &mut self {
            headers.push((header, value.to_string()));
        }
        self
    }
}

/// The steps as hyper takes them.
pub(super) struct Steps {
    left: VecDeque<Step>,
    timer: Option<Pin<Box<Sleep>>>,
    is_silent: bool,
    /// The request counts as in progress until the body is gone.
    presence: Presence,
}

impl Steps {
    pub(super) fn new(steps: Vec<Step>, presence: Presence) -> Self {
        Self { left: steps.into(), timer: None, is_silent: false, presence }
    }
}

/// The connection is dropped on purpose.
#[derive(Debug)]
pub(super) struct Dropped;

impl fmt::Display for Dropped {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("The script drops this connection.")
    }
}

impl std::error::Error for Dropped {}

impl Body for Steps {
    type Data = Bytes;
    type Error = Dropped;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Dropped>>> {
        loop {
            if let Some(timer) = &mut self.timer {
                if timer.as_mut().poll(context).is_pending() {
                    return Poll::Pending;
                }
                self.timer = None;
            }
            match self.left.pop_front() {
                None => return Poll::Ready(None),
                Some(Step::Send(bytes)) => {
                    if self.left.is_empty() {
                        self.presence.deliver();
                    }
                    return Poll::Ready(Some(Ok(Frame::data(bytes))));
                }
                Some(Step::Wait(delay)) => self.timer = Some(Box::pin(sleep(delay))),
                // hyper writes out what it has whenever a body is not ready.
                Some(Step::Flush) => {
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Some(Step::Cut) => return Poll::Ready(Some(Err(Dropped))),
                // Asked again only when the connection stirs, and then it is still silent.
                Some(Step::Hang) => {
                    if !self.is_silent {
                        self.is_silent = true;
                        self.presence.fall_silent();
                    }
                    self.left.push_front(Step::Hang);
                    return Poll::Pending;
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.left.is_empty() && self.timer.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        match self.left.as_slices() {
            // One piece: the length is known, as with the real APIs' unstreamed replies.
            ([Step::Send(bytes)], []) => SizeHint::with_exact(bytes.len() as u64),
            _ => SizeHint::new(),
        }
    }
}
