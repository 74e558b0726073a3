//! A model that says what it was told to say.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use sequester_core::future::BoxFuture;
use sequester_core::message::{Call, Message, Said};
use sequester_core::provider::{Deltas, Error, Powers, Provider, Reply, Request, Stop};
use sequester_core::usage::Usage;
use serde_json::Value;

/// Replies in order; after the last one it hangs, as a model may.
pub struct Scripted {
    replies: Mutex<VecDeque<Result<Reply, Error>>>,
    asked: Mutex<Vec<Asked>>,
}

/// What it was asked, once.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    pub system: String,
    pub messages: Vec<Message>,
    pub tools: Vec<String>,
}

impl Scripted {
    pub fn new(replies: impl IntoIterator<Item = Result<Reply, Error>>) -> Self {
        Self { replies: Mutex::new(replies.into_iter().collect()), asked: Mutex::default() }
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A reply that calls tools.
pub fn calls(list: &[(&str, Value)]) -> Reply {
    let calls = list.iter().enumerate().map(|(place, (name, arguments))| Call {
        id: format!("call-{place}"),
        name: (*name).to_owned(),
        arguments: arguments.clone(),
    });
    Reply {
        said: Said { calls: calls.collect(), ..Said::default() },
        usage: Usage { input: 100, output: 10, ..Usage::default() },
        stop: Stop::End,
    }
}

/// A reply of text alone.
pub fn text(text: &str) -> Reply {
    let said = Said { text: text.to_owned(), ..Said::default() };
    Reply { said, ..Reply::default() }
}

impl Provider for Scripted {
    fn model(&self) -> &'static str {
        "scripted"
    }

    fn powers(&self) -> Powers {
        Powers { schema: false, free: true, scripted: false }
    }

    fn complete<'a>(
        &'a self,
        request: Request<'a>,
        deltas: &'a dyn Deltas,
    ) -> BoxFuture<'a, Result<Reply, Error>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(Asked {
            system: request.system.to_owned(),
            messages: request.messages.to_vec(),
            tools: request.tools.iter().map(|spec| spec.name.to_string()).collect(),
        });
        let next = self.replies.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        Box::pin(async move {
            let Some(next) = next else { return std::future::pending().await };
            if let Ok(reply) = &next {
                deltas.text(&reply.said.text);
            }
            next
        })
    }
}
