//! What an attempt writes down before it acts, so that it can be taken up again.

use std::time::Duration;

use sequester_core::future::BoxFuture;
use sequester_core::message::Message;
use sequester_core::provider::{self, Reply};
use sequester_core::store;
use sequester_core::tool::{Invocation, Returned};

/// Told before each effect and after it. What was told last is kept before the next effect begins: an outcome and the intent
/// that follows from it are one.
pub trait Journal: Send {
    /// These messages are about to be sent.
    fn asking<'a>(
        &'a mut self,
        messages: &'a [Message],
        elapsed: Duration,
    ) -> BoxFuture<'a, Result<(), Halt>>;

    fn replied(&mut self, reply: Result<&Reply, &provider::Error>, elapsed: Duration);

    fn calling<'a>(&'a mut self, invocations: &'a [Invocation]) -> BoxFuture<'a, Result<(), Halt>>;

    fn returned<'a>(
        &'a mut self,
        results: &'a [Returned],
        elapsed: Duration,
    ) -> BoxFuture<'a, Result<(), Halt>>;

    /// Comes when nothing more is to begin, with all that was told kept: whoever only waits need not wait any longer.
    fn rest(&mut self) -> BoxFuture<'_, Halt>;
}

/// Why an attempt goes no further here. Nothing of it is lost: it can be taken up again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt {
    /// Somebody wants the run to rest.
    Parked,
    Store(store::Error),
}

impl From<store::Error> for Halt {
    fn from(error: store::Error) -> Self {
        Self::Store(error)
    }
}

/// Nothing is written down: what is cut off is lost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unrecorded;

impl Journal for Unrecorded {
    fn asking<'a>(&'a mut self, _: &'a [Message], _: Duration) -> BoxFuture<'a, Result<(), Halt>> {
        Box::pin(async { Ok(()) })
    }

    fn replied(&mut self, _: Result<&Reply, &provider::Error>, _: Duration) {}

    fn calling<'a>(&'a mut self, _: &'a [Invocation]) -> BoxFuture<'a, Result<(), Halt>> {
        Box::pin(async { Ok(()) })
    }

    fn returned<'a>(
        &'a mut self,
        _: &'a [Returned],
        _: Duration,
    ) -> BoxFuture<'a, Result<(), Halt>> {
        Box::pin(async { Ok(()) })
    }

    fn rest(&mut self) -> BoxFuture<'_, Halt> {
        Box::pin(std::future::pending())
    }
}
