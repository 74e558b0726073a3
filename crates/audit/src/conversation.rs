//! The requests of an attempt: made once more from its recorded replies and results, and compared.

use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;

use super::Auditor;
use super::breach::Rule;
use super::leak::Place;
use sequester_core::agent::{AgentRun, Brief, Inherited, Step, UNTAKEN, hand_back, seed_of};
use sequester_core::context::Manifest;
use sequester_core::digest::Digest;
use sequester_core::id::TaskId;
use sequester_core::message::Message;
use sequester_core::profile::TASK;
use sequester_core::protected::Grants;
use sequester_core::provider::Reply;
use sequester_core::run::{Delegation, Event, RunState, Running};
use sequester_core::secret::{is_less_of, redact};
use sequester_core::tool::{self, Invocation, Returned, Spec};

/// A conversation while it is made again.
struct Replay {
    machine: AgentRun,
    /// Messages that were compared.
    compared: usize,
    is_calling: bool,
}

/// Why it cannot be followed any further; what is wrong is entered.
struct Lost;

impl Auditor<'_> {
    pub(super) fn conversation(&mut self, run: &RunState, id: &TaskId, running: &Running) {
        let Some(machine) = self.machine(run, id, running) else { return };
        let mut replay = Replay { machine, compared: 0, is_calling: false };
        for event in &running.turns {
            if self.turn(run, id, running, &mut replay, event).is_err() {
                return;
            }
        }
    }

    fn machine(&mut self, run: &RunState, id: &TaskId, running: &Running) -> Option<AgentRun> {
        let started = &running.started;
        let shown = &started.context;
        let mut text = |digest| -> Option<Arc<str>> {
            let bytes = self.blob(id, running, digest, "context")?;
            Some(String::from_utf8_lossy(&bytes).into())
        };
        let (system, prompt) = (text(&shown.system)?, text(&shown.prompt)?);
        let tools: Vec<Spec> = self.parsed(id, running, &started.specs, "list of tools").ok()?;
        let inherited = match &started.inherited {
            Some(digest) => self.parsed(id, running, digest, "inheritance").ok()?,
            None => Inherited::default(),
        };
        let manifest: Manifest = self.parsed(id, running, &shown.manifest, "manifest").ok()?;
        let brief = Brief {
            task: id.clone(),
            phase: running.phase,
            model: started.model.clone(),
            powers: started.powers,
            system,
            prompt,
            text: shown.text.clone(),
            tools,
            grants: Grants::default(),
            inherited,
            whole_files: manifest.whole_files(),
            fields: run.finding_fields(id, running.phase).cloned(),
            seed: seed_of(shown.digest.as_str()),
        };
        Some(AgentRun::new(brief, started.budget.clone()))
    }

    fn turn(
        &mut self,
        run: &RunState,
        id: &TaskId,
        running: &Running,
        replay: &mut Replay,
        event: &Event,
    ) -> Result<(), Lost> {
        let machine = &mut replay.machine;
        // Calls that a crash cut off were told to the model, or made again.
        let cut_off = matches!(event, Event::TurnStarted { .. } | Event::CallsStarted { .. });
        if cut_off && std::mem::take(&mut replay.is_calling) {
            machine.interrupted();
        }
        match event {
            Event::TurnStarted { messages, elapsed_ms, .. } => {
                self.ledger.request();
                machine.waited();
                let _ = machine.step(Duration::from_millis(*elapsed_ms));
                self.compare(run, id, running, replay, messages)
            }
            Event::TurnEnded { reply, elapsed_ms, .. } => {
                let reply: Reply = self.parsed(id, running, reply, "reply")?;
                let mut said = reply.said.text.clone();
                for call in &reply.said.calls {
                    said.push('\n');
                    said.push_str(&spoken(&call.arguments));
                }
                self.search(run, id, running.number, &said, Place::Reply);
                machine.tick(Duration::from_millis(*elapsed_ms));
                machine.replied(reply);
                Ok(())
            }
            Event::TurnFailed { error, elapsed_ms, .. } => {
                machine.tick(Duration::from_millis(*elapsed_ms));
                machine.failed(error.clone());
                Ok(())
            }
            Event::CallsStarted { calls, .. } => {
                replay.is_calling = true;
                self.calls(id, running, replay, calls)
            }
            Event::CallsEnded { turn, results, elapsed_ms, .. } => {
                replay.is_calling = false;
                let results: Vec<Returned> = self.parsed(id, running, results, "results")?;
                for result in &results {
                    self.search(run, id, running.number, result.outcome.text(), Place::Result);
                }
                if let Step::Call(calls) = machine.step(machine.elapsed()) {
                    self.handed_back(run, (id, running.number), *turn, &calls, &results);
                    self.recalled(run, (id, running), &calls, &results);
                }
                machine.tick(Duration::from_millis(*elapsed_ms));
                machine.returned(results);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Of what was delegated nothing comes back but how it ended and its summary.
    fn handed_back(
        &mut self,
        run: &RunState,
        (id, number): (&TaskId, u32),
        turn: u32,
        calls: &[Invocation],
        results: &[Returned],
    ) {
        let delegated = calls.iter().zip(results).filter(|(call, _)| call.call.name == TASK);
        for (Invocation { call, .. }, result) in delegated {
            let is =
                |one: &Delegation| one.attempt == number && one.turn == turn && one.call == call.id;
            let tried = run.task(id).and_then(|task| {
                // The last of those that were tried at it.
                task.all_tried().rfind(|tried| tried.parent.as_ref().is_some_and(is))
            });
            let Some(tried) = tried else { continue };
            let report = tried.report.as_ref().and_then(|digest| self.archive.blob(digest));
            let report = report.and_then(|bytes| serde_json::from_slice(&bytes).ok());
            let handed = hand_back(&tried.outcome, report.as_ref());
            let (told, given) = (redact(handed.text()).text, result.outcome.text());
            // It may have been cut, or the runtime could not take the change.
            let is_less = given.len() < told.len();
            let is_own =
                matches!(&result.outcome, tool::Outcome::Failed(text) if text.starts_with(UNTAKEN));
            if !is_less_of(given, &told) && !is_less && !is_own {
                let detail = "More than its summary came back from what it delegated.";
                self.ledger.attempt(id, Some(number), Rule::Request, detail);
            }
        }
    }

    /// A request is what was said before, word for word, and nothing else.
    fn compare(
        &mut self,
        run: &RunState,
        id: &TaskId,
        running: &Running,
        replay: &mut Replay,
        messages: &[Digest],
    ) -> Result<(), Lost> {
        for digest in messages {
            let message: Message = self.parsed(id, running, digest, "message")?;
            let expected = replay.machine.conversation().get(replay.compared);
            if expected != Some(&message) {
                self.search(run, id, running.number, &words(&message), Place::Message);
                let detail = match (&message, replay.compared) {
                    (_, 0) => "Its first message is not its prompt.",
                    (Message::Assistant(_), _) => "A request holds a reply that was not given so.",
                    (Message::Results(_), _) => "A request holds results that no tool gave so.",
                    (Message::User(_), _) => "A request holds words that nobody was to say.",
                };
                return self.lost(id, running, detail);
            }
            replay.compared += 1;
        }
        if replay.compared != replay.machine.conversation().len() {
            return self.lost(id, running, "A request leaves out what was said before it.");
        }
        Ok(())
    }

    /// What is carried out was asked for in the reply before, and is listed.
    fn calls(
        &mut self,
        id: &TaskId,
        running: &Running,
        replay: &mut Replay,
        calls: &[String],
    ) -> Result<(), Lost> {
        let unlisted = calls.iter().find(|name| !running.started.tools.contains(name));
        if let Some(name) = unlisted {
            let detail = format!("`{name}` was carried out, which was not listed.");
            self.ledger.attempt(id, Some(running.number), Rule::Tool, detail);
            return Err(Lost);
        }
        let now = replay.machine.elapsed();
        let asked: Vec<String> = match replay.machine.step(now) {
            Step::Call(asked) => asked.into_iter().map(|one| one.call.name).collect(),
            _ => Vec::new(),
        };
        if asked != calls {
            return self.lost(id, running, "Tools were called that the reply did not ask for.");
        }
        Ok(())
    }

    fn lost(&mut self, id: &TaskId, running: &Running, detail: &str) -> Result<(), Lost> {
        self.ledger.attempt(id, Some(running.number), Rule::Request, detail);
        Err(Lost)
    }

    fn parsed<T: DeserializeOwned>(
        &mut self,
        id: &TaskId,
        running: &Running,
        digest: &Digest,
        what: &str,
    ) -> Result<T, Lost> {
        let bytes = self.blob(id, running, digest, what).ok_or(Lost)?;
        serde_json::from_slice(&bytes).map_err(|error| {
            let detail = format!("Its {what} cannot be read: {error}.");
            self.ledger.attempt(id, Some(running.number), Rule::Blob, detail);
            Lost
        })
    }
}

fn words(message: &Message) -> String {
    match message {
        Message::User(text) => text.to_string(),
        Message::Assistant(said) => said.text.clone(),
        Message::Results(results) => {
            results.iter().map(|result| result.text.as_str()).collect::<Vec<_>>().join("\n")
        }
    }
}

/// All texts in the arguments of a call.
fn spoken(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Array(items) => items.iter().map(spoken).collect::<Vec<_>>().join("\n"),
        serde_json::Value::Object(fields) => {
            fields.values().map(spoken).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}
