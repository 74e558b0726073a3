//! What happens, while it happens: for people who watch. Nothing depends on it.

use std::time::Duration;

use sequester_core::agent::Ending;
use sequester_core::provider::{self, Deltas, Reply};
use sequester_core::tool::{Invocation, Returned};

/// One thing that happened.
#[derive(Clone, Copy, Debug)]
pub enum News<'a> {
    Asking,
    /// A piece of the reply that is under way.
    Text(&'a str),
    Replied(&'a Reply),
    /// The request failed; it is sent again after so long, or not at all.
    Failed(&'a provider::Error, Option<Duration>),
    Calling(&'a [Invocation]),
    Returned(&'a [Returned]),
    Ended(&'a Ending),
}

/// Somebody who wants to know.
pub trait Feed: Send + Sync {
    fn tell(&self, news: News<'_>);
}

/// Nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Feed for Silent {
    fn tell(&self, _: News<'_>) {}
}

/// Hands the pieces of a reply on as news.
pub(crate) struct Aloud<'a>(pub(crate) &'a dyn Feed);

impl Deltas for Aloud<'_> {
    fn text(&self, piece: &str) {
        self.0.tell(News::Text(piece));
    }
}
