//! The conversation so far, as calls and what came back.

use std::collections::HashMap;

use sequester_core::message::{Answered, Call, Message};

pub(super) struct History<'a> {
    /// The context's prompt.
    pub(super) prompt: &'a str,
    /// Calls before the first report, in order; one whose result is not there has none.
    pub(super) past: Vec<(&'a Call, Option<&'a Answered>)>,
    /// All calls so far, reports included.
    pub(super) calls: usize,
}

impl<'a> History<'a> {
    pub(super) fn read(messages: &'a [Message]) -> Self {
        let mut answers = HashMap::new();
        let mut calls = Vec::new();
        let mut prompt = "";
        for message in messages {
            match message {
                Message::User(text) if prompt.is_empty() => prompt = text,
                Message::User(_) => {}
                Message::Assistant(said) => calls.extend(&said.calls),
                Message::Results(results) => {
                    answers
                        .extend(results.iter().map(|answered| (answered.call.as_str(), answered)));
                }
            }
        }
        let past = calls.iter().take_while(|call| call.name != "report");
        let past = past.map(|call| (*call, answers.get(call.id.as_str()).copied())).collect();
        Self { prompt, past, calls: calls.len() }
    }
}
