//! What the played model says to which request.

use std::fmt;
use std::sync::Arc;

use super::request::Request;
use super::turn::Turn;

/// A function of the request alone, so that thousands of subagents can share one server in any order.
#[derive(Clone)]
pub struct Script(Arc<Play>);

type Play = dyn Fn(&Request) -> Option<Turn> + Send + Sync;

impl Script {
    pub fn new(turn: impl Fn(&Request) -> Turn + Send + Sync + 'static) -> Self {
        Self(Arc::new(move |request| Some(turn(request))))
    }

    /// The first reply to a conversation without assistant messages, the second to one with one, and so on. A conversation that goes
    /// on after the last is rejected.
    pub fn replies(turns: Vec<Turn>) -> Self {
        Self(Arc::new(move |request| turns.get(request.turn).cloned()))
    }

    pub(super) fn turn(&self, request: &Request) -> Option<Turn> {
        (self.0)(request).map(|turn| turn.settle(request))
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Script")
    }
}
