//! Writes an attempt down: each outcome together with the intent that follows from it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sequester_core::future::BoxFuture;
use sequester_core::message::Message;
use sequester_core::provider::{self, Reply};
use sequester_core::run::{Entry, Event, Scope};
use sequester_core::store::Batch;
use sequester_core::tool::{Effect, Invocation, Returned, Spec};

use super::Controller;
use super::bench::Bench;
use crate::circuit::{Circuit, Pass};
use crate::journal::{Halt, Journal};

pub(super) struct Recorder<'a> {
    pub(super) controller: &'a Controller,
    pub(super) scope: Scope,
    /// What was not kept yet.
    pub(super) batch: Batch,
    /// How many messages of the conversation are kept.
    pub(super) messages: usize,
    pub(super) turn: u32,
    pub(super) bench: &'a Bench<'a>,
    pub(super) specs: &'a [Spec],
    /// Whether the calls under way may change the workspace.
    pub(super) touches: bool,
    /// Of the model's provider.
    pub(super) circuit: Option<Arc<Circuit>>,
    /// Leave for the request under way.
    pub(super) pass: Option<Pass>,
    /// Why somebody that this one waited for went no further.
    pub(super) halt: &'a Mutex<Option<Halt>>,
}

impl Recorder<'_> {
    pub(super) fn note(&mut self, event: Event) {
        self.batch.entries.push(Entry { scope: self.scope.clone(), event });
    }

    async fn keep(&mut self) -> Result<(), Halt> {
        self.controller.keep(std::mem::take(&mut self.batch)).await
    }

    /// Before an intent: where the run is to rest, nothing more begins.
    async fn go_on(&mut self) -> Result<(), Halt> {
        if self.controller.park.is_stopped() { Err(self.rest().await) } else { Ok(()) }
    }

    /// Leave to ask, once the provider can be expected to answer.
    async fn wait_in_line(&mut self) -> Result<(), Halt> {
        let Some(circuit) = self.circuit.clone() else { return Ok(()) };
        tokio::select! {
            biased;
            pass = circuit.enter() => self.pass = Some(pass),
            halt = self.rest() => return Err(halt),
        }
        Ok(())
    }

    fn changes(&self, call: &Invocation) -> bool {
        let spec = self.specs.iter().find(|spec| spec.name == call.call.name);
        spec.is_none_or(|spec| spec.effect != Effect::Reads)
    }
}

impl Journal for Recorder<'_> {
    fn asking<'a>(
        &'a mut self,
        messages: &'a [Message],
        elapsed: Duration,
    ) -> BoxFuture<'a, Result<(), Halt>> {
        Box::pin(async move {
            self.go_on().await?;
            self.wait_in_line().await?;
            let new = messages.get(self.messages..).unwrap_or_default();
            let new = new.iter().map(|message| self.batch.keep(json(message))).collect();
            self.messages = messages.len();
            self.turn += 1;
            let (turn, elapsed_ms) = (self.turn, milliseconds(elapsed));
            self.note(Event::TurnStarted { turn, messages: new, elapsed_ms });
            self.keep().await
        })
    }

    fn replied(&mut self, reply: Result<&Reply, &provider::Error>, elapsed: Duration) {
        if let Some(pass) = self.pass.take() {
            pass.leave(reply.err());
        }
        let (turn, elapsed_ms) = (self.turn, milliseconds(elapsed));
        let event = match reply {
            Ok(reply) => {
                let usage = reply.usage;
                let reply = self.batch.keep(json(reply));
                Event::TurnEnded { turn, reply, usage, elapsed_ms }
            }
            Err(error) => Event::TurnFailed { turn, error: error.clone(), elapsed_ms },
        };
        self.note(event);
    }

    fn calling<'a>(&'a mut self, invocations: &'a [Invocation]) -> BoxFuture<'a, Result<(), Halt>> {
        Box::pin(async move {
            self.go_on().await?;
            self.touches = invocations.iter().any(|call| self.changes(call));
            let calls = invocations.iter().map(|call| call.call.name.clone()).collect();
            self.note(Event::CallsStarted { turn: self.turn, calls });
            self.keep().await
        })
    }

    fn returned<'a>(
        &'a mut self,
        results: &'a [Returned],
        elapsed: Duration,
    ) -> BoxFuture<'a, Result<(), Halt>> {
        Box::pin(async move {
            let halt = self.halt.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(halt) = halt {
                return Err(halt);
            }
            // A workspace that cannot be looked at is told by the harvest, when the attempt ends.
            let look = if self.touches { self.bench.news().await.ok().flatten() } else { None };
            let change = look.map(|change| change.pack(&mut self.batch));
            for event in self.bench.asked().await {
                self.note(event);
            }
            let results = self.batch.keep(json(&results));
            let (turn, elapsed_ms) = (self.turn, milliseconds(elapsed));
            self.note(Event::CallsEnded { turn, results, change, elapsed_ms });
            Ok(())
        })
    }

    fn rest(&mut self) -> BoxFuture<'_, Halt> {
        Box::pin(async move {
            self.controller.park.stopped().await;
            match self.keep().await {
                Ok(()) => Halt::Parked,
                Err(halt) => halt,
            }
        })
    }
}

pub(super) fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Our own types: there is nothing in them that could not be written.
pub(super) fn json(value: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}
