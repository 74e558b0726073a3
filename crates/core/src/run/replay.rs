//! An attempt taken up again: its durable turns, fed to a fresh machine.

use std::fmt;
use std::time::Duration;

use serde::de::DeserializeOwned;

use super::event::Event;
use crate::agent::AgentRun;
use crate::digest::Digest;

/// How far an attempt had come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// How many messages of the conversation are kept already.
    pub messages: usize,
    /// The last request that was sent.
    pub turn: u32,
    /// What the workspace held then.
    pub change: Option<Digest>,
}

/// Why it cannot be taken up.
#[derive(Debug)]
pub struct Unreplayable(pub String);

/// `read` finds the bytes that events name.
pub fn replay<E: fmt::Display>(
    run: &mut AgentRun,
    turns: &[Event],
    mut read: impl FnMut(&Digest) -> Result<Vec<u8>, E>,
) -> Result<Replayed, Unreplayable> {
    let mut replayed = Replayed::default();
    let mut is_calling = false;
    for event in turns {
        let goes_on = matches!(event, Event::TurnStarted { .. } | Event::CallsStarted { .. });
        if goes_on && std::mem::take(&mut is_calling) {
            // It was taken up before, from calls that had been cut off.
            run.interrupted();
        }
        match event {
            Event::TurnStarted { turn, messages, elapsed_ms } => {
                run.waited();
                // It may say that this is the last turn, which is a message too.
                let _ = run.step(Duration::from_millis(*elapsed_ms));
                replayed.turn = *turn;
                replayed.messages += messages.len();
            }
            Event::TurnEnded { reply, elapsed_ms, .. } => {
                run.tick(Duration::from_millis(*elapsed_ms));
                run.replied(parse(reply, &mut read)?);
            }
            Event::TurnFailed { error, elapsed_ms, .. } => {
                run.tick(Duration::from_millis(*elapsed_ms));
                run.failed(error.clone());
            }
            Event::CallsStarted { .. } => is_calling = true,
            Event::CallsEnded { results, change, elapsed_ms, .. } => {
                is_calling = false;
                run.tick(Duration::from_millis(*elapsed_ms));
                run.returned(parse(results, &mut read)?);
                if change.is_some() {
                    replayed.change.clone_from(change);
                }
            }
            _ => {}
        }
    }
    if is_calling {
        run.interrupted();
    }
    Ok(replayed)
}

fn parse<T: DeserializeOwned, E: fmt::Display>(
    digest: &Digest,
    read: &mut impl FnMut(&Digest) -> Result<Vec<u8>, E>,
) -> Result<T, Unreplayable> {
    let bytes = read(digest).map_err(|error| Unreplayable(error.to_string()))?;
    serde_json::from_slice(&bytes).map_err(|error| Unreplayable(error.to_string()))
}

impl fmt::Display for Unreplayable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the attempt cannot be taken up again: {}", self.0)
    }
}

impl std::error::Error for Unreplayable {}
