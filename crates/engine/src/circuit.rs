//! A circuit per provider: while it fails for everybody, one request at a time finds out whether it is back.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sequester_core::provider::Error;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// Failures in a row, of all who ask, that open a circuit.
const MOST: u32 = 5;
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_mins(1);

/// The circuits of all providers that one process asks.
#[derive(Default)]
pub(crate) struct Circuits(Mutex<BTreeMap<String, Arc<Circuit>>>);

impl Circuits {
    /// Of the provider that a model belongs to; those without one never fail for everybody.
    pub(crate) fn of(&self, model: &str) -> Option<Arc<Circuit>> {
        let (name, _) = model.split_once('/')?;
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Some(Arc::clone(known.entry(name.to_owned()).or_default()))
    }
}

#[derive(Default)]
pub(crate) struct Circuit(watch::Sender<State>);

#[derive(Clone, Copy, Default)]
struct State {
    /// Failures since the last answer.
    failed: u32,
    /// Pauses since the last answer.
    pauses: u32,
    /// Set while the circuit is open; afterwards one may try.
    until: Option<Instant>,
    is_tried: bool,
}

impl Circuit {
    /// Waits while the circuit is open.
    pub(crate) async fn enter(self: &Arc<Self>) -> Pass {
        let mut news = self.0.subscribe();
        loop {
            let state = *news.borrow_and_update();
            let Some(until) = state.until else { return self.pass(false) };
            if state.is_tried {
                // The sender lives as long as `self`.
                let _ = news.changed().await;
            } else if Instant::now() < until {
                sleep_until(until).await;
            } else if self.0.send_if_modified(|now| {
                let is_free = now.until.is_some() && !now.is_tried;
                now.is_tried |= is_free;
                is_free
            }) {
                return self.pass(true);
            }
        }
    }

    fn pass(self: &Arc<Self>, tries: bool) -> Pass {
        Pass { circuit: Arc::clone(self), tries }
    }
}

/// Leave to ask once.
pub(crate) struct Pass {
    circuit: Arc<Circuit>,
    /// Whether others wait for what comes of it.
    tries: bool,
}

impl Pass {
    /// What came of it.
    pub(crate) fn leave(mut self, error: Option<&Error>) {
        let tries = std::mem::take(&mut self.tries);
        let failure = error.filter(|error| error.kind.is_passing());
        self.circuit.0.send_if_modified(|state| {
            let Some(failure) = failure else {
                let was_troubled = state.failed > 0 || state.until.is_some();
                *state = State::default();
                return was_troubled;
            };
            state.failed += 1;
            // What was asked before it opened says nothing new.
            let opens = tries || state.until.is_none() && state.failed >= MOST;
            if opens {
                let pause = (SHORTEST * 2u32.saturating_pow(state.pauses)).min(LONGEST);
                let pause = failure.retry_after.map_or(pause, |asked| asked.max(pause));
                state.pauses = (state.pauses + 1).min(8);
                state.until = Some(Instant::now() + pause.min(LONGEST));
                state.is_tried = false;
            }
            opens
        });
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        // Whoever tried was cut off: the next one may.
        if self.tries {
            self.circuit.0.send_if_modified(|state| std::mem::replace(&mut state.is_tried, false));
        }
    }
}

#[cfg(test)]
mod tests;
