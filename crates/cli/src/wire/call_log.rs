//! What subagents said and called, turn by turn, from the events of a run and the bytes that those name.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use sequester_core::digest::Digest;
use sequester_core::id::TaskId;
use sequester_core::message::{Answered, Message};
use sequester_core::provider::Reply;
use sequester_core::report::Phase;
use sequester_core::run::{Event, Recorded, Scope};
use sequester_core::tool::{Outcome, Returned};

/// One reply of a model with what came of its calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct TurnRecord {
    pub(crate) task: Option<TaskId>,
    pub(crate) phase: Option<Phase>,
    pub(crate) attempt: Option<u32>,
    pub(crate) turn: u32,
    /// What the model said beside its calls.
    pub(crate) words: String,
    pub(crate) calls: Vec<CallRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct CallRecord {
    pub(crate) id: String,
    pub(crate) name: String,
    /// As the model wrote them.
    pub(crate) arguments: Value,
    /// Nothing where the attempt ended with the call, as with a report that was taken.
    pub(crate) result: Option<CallResult>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct CallResult {
    pub(crate) failed: bool,
    pub(crate) text: String,
}

/// Turns that are not complete yet, by attempt. Events are given in their order.
#[derive(Debug, Default)]
pub(crate) struct CallLog {
    open: BTreeMap<AttemptKey, OpenTurn>,
}

type AttemptKey = (Option<TaskId>, Option<u32>);

#[derive(Debug, Default)]
struct OpenTurn {
    record: TurnRecord,
    /// Names of the calls that went to tools and did not come back yet.
    under_way: Vec<String>,
}

impl CallLog {
    /// Takes one more event. Gives the turn that this event completes. `read` gives the bytes of a digest; without them the
    /// turn lacks what they tell.
    pub(crate) fn add(
        &mut self,
        recorded: &Recorded,
        mut read: impl FnMut(&Digest) -> Option<Vec<u8>>,
    ) -> Option<TurnRecord> {
        let scope = &recorded.entry.scope;
        let key = (scope.task.clone(), scope.attempt);
        match &recorded.entry.event {
            Event::TurnEnded { turn, reply, .. } => {
                let reply = read(reply).and_then(|bytes| serde_json::from_slice(&bytes).ok());
                let record = turn_record(scope, *turn, reply.unwrap_or_default());
                let open = OpenTurn { record, under_way: Vec::new() };
                self.open.insert(key, open).map(|before| before.record)
            }
            Event::CallsStarted { calls, .. } => {
                self.open.get_mut(&key)?.under_way.clone_from(calls);
                None
            }
            Event::CallsEnded { results, .. } => {
                let open = self.open.get_mut(&key)?;
                let bytes = read(results)?;
                open.returned(serde_json::from_slice(&bytes).ok()?);
                None
            }
            Event::TurnStarted { messages, .. } => {
                let open = self.open.get_mut(&key)?;
                for bytes in messages.iter().filter_map(&mut read) {
                    if let Ok(Message::Results(answers)) = serde_json::from_slice(&bytes) {
                        open.record.answered(answers);
                    }
                }
                self.open.remove(&key).map(|open| open.record)
            }
            Event::AttemptEnded(_) => self.open.remove(&key).map(|open| open.record),
            _ => None,
        }
    }

    /// Turns that no event completed: their attempts are under way, or were cut off.
    pub(crate) fn finish(self) -> impl Iterator<Item = TurnRecord> {
        self.open.into_values().map(|open| open.record)
    }
}

fn turn_record(scope: &Scope, turn: u32, reply: Reply) -> TurnRecord {
    let calls = reply.said.calls.into_iter().map(|call| CallRecord {
        id: call.id,
        name: call.name,
        arguments: call.arguments,
        result: None,
    });
    TurnRecord {
        task: scope.task.clone(),
        phase: scope.phase,
        attempt: scope.attempt,
        turn,
        words: reply.said.text,
        calls: calls.collect(),
    }
}

impl OpenTurn {
    /// Results carry no ids: they stand in the order of the calls under way, each of which is the next open one of its name.
    fn returned(&mut self, results: Vec<Returned>) {
        for (name, returned) in std::mem::take(&mut self.under_way).into_iter().zip(results) {
            let mut calls = self.record.calls.iter_mut();
            if let Some(call) = calls.find(|call| call.result.is_none() && call.name == name) {
                let failed = !matches!(returned.outcome, Outcome::Output(_));
                call.result = Some(CallResult { failed, text: returned.outcome.text().to_owned() });
            }
        }
    }
}

impl TurnRecord {
    /// As the model read it: also of calls that no tool saw.
    fn answered(&mut self, answers: Vec<Answered>) {
        for Answered { call: id, text, failed, .. } in answers {
            if let Some(call) = self.calls.iter_mut().find(|call| call.id == id) {
                call.result = Some(CallResult { failed, text });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use sequester_core::id::RunId;
    use sequester_core::message::{Call, Said};
    use sequester_core::moment::Moment;
    use sequester_core::run::Entry;
    use sequester_core::store::Batch;
    use sequester_core::usage::Usage;

    fn recorded(event: Event) -> Recorded {
        let scope = Scope { task: Some("a".into()), attempt: Some(1), ..Scope::default() };
        Recorded { seq: 1, at: Moment(0), run: RunId::from("r"), entry: Entry { scope, event } }
    }

    fn bytes(value: &impl Serialize) -> Vec<u8> {
        serde_json::to_vec(value).unwrap()
    }

    #[test]
    fn a_turn_has_its_calls_with_what_the_model_was_answered_also_by_no_tool() {
        let mut kept = Batch::default();
        let call = |id: &str, name: &str| Call {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: json!({"path": id}),
        };
        let calls = vec![call("1", "Read"), call("2", "Nope"), call("3", "Read")];
        let said = Said { text: "Looking.".to_owned(), calls, carried: None };
        let reply = kept.keep(bytes(&Reply { said, ..Reply::default() }));
        let output = |text: &str| Returned::from(Outcome::Output(text.to_owned()));
        let results = kept.keep(bytes(&vec![output("one"), output("three")]));
        let nope = Answered {
            call: "2".to_owned(),
            name: "Nope".to_owned(),
            text: "There is no tool `Nope`.".to_owned(),
            failed: true,
        };
        let answers = kept.keep(bytes(&Message::Results(vec![nope])));
        let usage = Usage::default();
        let events = [
            Event::TurnEnded { turn: 1, reply: reply.clone(), usage, elapsed_ms: 0 },
            Event::CallsStarted { turn: 1, calls: vec!["Read".to_owned(), "Read".to_owned()] },
            Event::CallsEnded { turn: 1, results, change: None, elapsed_ms: 0 },
            Event::TurnStarted { turn: 2, messages: vec![answers], elapsed_ms: 0 },
            Event::TurnEnded { turn: 2, reply, usage, elapsed_ms: 0 },
        ];
        let mut log = CallLog::default();
        let read = |digest: &Digest| {
            kept.blobs.iter().find(|bytes| Digest::of(bytes) == *digest).map(|bytes| bytes.to_vec())
        };
        let complete: Vec<TurnRecord> =
            events.into_iter().filter_map(|event| log.add(&recorded(event), read)).collect();
        let [turn] = &complete[..] else { panic!("{complete:?}") };
        assert_eq!((turn.turn, turn.words.as_str()), (1, "Looking."));
        let told: Vec<(&str, bool)> = turn
            .calls
            .iter()
            .filter_map(|call| call.result.as_ref())
            .map(|result| (result.text.as_str(), result.failed))
            .collect();
        assert_eq!(told, [("one", false), ("There is no tool `Nope`.", true), ("three", false)]);
        let open: Vec<TurnRecord> = log.finish().collect();
        assert_eq!(open.len(), 1);
        assert!(open[0].calls.iter().all(|call| call.result.is_none()));
    }
}
