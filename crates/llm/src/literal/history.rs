//! The conversation so far, as calls and what came back.

use std::collections::HashMap;

use sequester_core::agent::REPORT;
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
        let past = calls.iter().take_while(|call| call.name != REPORT);
        let past = past.map(|call| (*call, answers.get(call.id.as_str()).copied())).collect();
        Self { prompt, past, calls: calls.len() }
    }

    /// What the prompt says behind the task's text that holds for it, without the checks that are run on the result.
    pub(super) fn constraints(&self, task: &str) -> &'a str {
        let behind = self.prompt.split_once(task).map_or("", |(_, behind)| behind);
        let section = behind.split_once("\n# Constraints\n\n").map_or("", |(_, section)| section);
        let section = section.split("\n# Interfaces\n").next().unwrap_or_default();
        let section =
            section.split("\nThese checks are run on the result:").next().unwrap_or_default();
        section.strip_prefix("None.").unwrap_or(section)
    }
}
