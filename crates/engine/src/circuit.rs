//! A circuit per provider: while it fails for everybody, one request at a time finds out whether it is back.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sequester_core::future::BoxFuture;
use sequester_core::provider::{Deltas, Error, Powers, Provider, Reply, Request};
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
    /// The same model, asked only while its provider can be expected to answer.
    pub(crate) fn guard(&self, provider: Arc<dyn Provider>) -> Arc<dyn Provider> {
        let Some((name, _)) = provider.model().split_once('/') else { return provider };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let circuit = Arc::clone(known.entry(name.to_owned()).or_default());
        Arc::new(Guarded { provider, circuit })
    }
}

struct Guarded {
    provider: Arc<dyn Provider>,
    circuit: Arc<Circuit>,
}

impl Provider for Guarded {
    fn model(&self) -> &str {
        self.provider.model()
    }

    fn powers(&self) -> Powers {
        self.provider.powers()
    }

    fn complete<'a>(
        &'a self,
        request: Request<'a>,
        deltas: &'a dyn Deltas,
    ) -> BoxFuture<'a, Result<Reply, Error>> {
        Box::pin(async move {
            let pass = self.circuit.enter().await;
            let reply = self.provider.complete(request, deltas).await;
            pass.leave(reply.as_ref().err());
            reply
        })
    }
}

#[derive(Default)]
struct Circuit(watch::Sender<State>);

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
    async fn enter(&self) -> Pass<'_> {
        let mut news = self.0.subscribe();
        loop {
            let state = *news.borrow_and_update();
            let Some(until) = state.until else { return Pass { circuit: self, tries: false } };
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
                return Pass { circuit: self, tries: true };
            }
        }
    }
}

/// Leave to ask once.
struct Pass<'a> {
    circuit: &'a Circuit,
    /// Whether others wait for what comes of it.
    tries: bool,
}

impl Pass<'_> {
    fn leave(mut self, error: Option<&Error>) {
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

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        // Whoever tried was cut off: the next one may.
        if self.tries {
            self.circuit.0.send_if_modified(|state| std::mem::replace(&mut state.is_tried, false));
        }
    }
}

#[cfg(test)]
mod tests;
