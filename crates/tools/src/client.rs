//! The other end of a tool server: calls as futures, without a runtime.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use futures_channel::oneshot;
use sequester_core::future::BoxFuture;
use sequester_core::tool::{Invocation, Outcome, Returned, Spec, Toolbox};
use serde_json::Value;

use crate::server::serve;
use crate::wire::{ANSWER_BYTES, Answer, REQUEST_BYTES, Request, encode, receive, send};
use crate::workbench::Workbench;

/// Arguments nested deeper could not be read on the other side.
const DEPTH: usize = 64;

/// Speaks to one server. Dropping it closes the server's input, which ends the server.
pub struct Client {
    frames: Sender<Vec<u8>>,
    waiting: Arc<Mutex<Waiting>>,
}

#[derive(Default)]
struct Waiting {
    last: u64,
    calls: BTreeMap<u64, oneshot::Sender<Returned>>,
    /// Why there is no server any more.
    ended: Option<String>,
}

impl Client {
    /// Starts one thread that writes and one that reads; both end with the server.
    pub fn new(
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
    ) -> io::Result<Self> {
        let waiting = Arc::new(Mutex::new(Waiting::default()));
        let (frames, queue) = channel();
        let thread = |name: &str| thread::Builder::new().name(name.into());
        let theirs = waiting.clone();
        thread("tool-answers").spawn(move || read_answers(input, &theirs))?;
        let theirs = waiting.clone();
        thread("tool-calls").spawn(move || write_calls(output, &queue, &theirs))?;
        Ok(Self { frames, waiting })
    }

    /// To a server on a thread of this process: for tools that only look. What changes files or runs commands belongs in a
    /// jail.
    pub fn in_process(workbench: Workbench) -> io::Result<Self> {
        let (requests, calls) = io::pipe()?;
        let (answers, output) = io::pipe()?;
        // Whoever waits for an answer hears that the server ended.
        let server = move || drop(serve(requests, output, workbench));
        thread::Builder::new().name("tools".into()).spawn(server)?;
        Self::new(answers, calls)
    }

    /// Sends a call at once; the future is its answer. A future that is dropped drops the answer, not the work.
    pub fn call(&self, invocation: Invocation) -> BoxFuture<'static, Returned> {
        let answer = self.send(invocation);
        Box::pin(async move {
            match answer {
                // The sender is dropped unused only with all that could have answered.
                Ok(answer) => answer.await.unwrap_or_else(|_| gone("nobody is left to answer")),
                Err(returned) => returned,
            }
        })
    }

    fn send(&self, invocation: Invocation) -> Result<oneshot::Receiver<Returned>, Returned> {
        if is_deeper(&invocation.call.arguments, DEPTH) {
            return Err(fail(format!("The arguments are nested deeper than {DEPTH} levels.")));
        }
        let mut waiting = lock(&self.waiting);
        if let Some(why) = &waiting.ended {
            return Err(gone(why));
        }
        waiting.last += 1;
        let id = waiting.last;
        let frame = match encode(&Request { id, invocation }, REQUEST_BYTES) {
            Ok(Ok(frame)) => frame,
            Ok(Err(bytes)) => {
                return Err(fail(format!(
                    "The call has {bytes} bytes and may have {REQUEST_BYTES}."
                )));
            }
            Err(error) => return Err(fail(format!("The call could not be sent: {error}."))),
        };
        let (sender, receiver) = oneshot::channel();
        waiting.calls.insert(id, sender);
        // Fails only if the writer has ended; it then answers all who wait.
        let _ = self.frames.send(frame);
        Ok(receiver)
    }
}

impl Toolbox for Client {
    fn specs(&self) -> Vec<Spec> {
        crate::specs()
    }

    fn call<'a>(&'a self, invocation: &'a Invocation) -> BoxFuture<'a, Returned> {
        Client::call(self, invocation.clone())
    }
}

fn write_calls(mut output: impl Write, frames: &Receiver<Vec<u8>>, waiting: &Mutex<Waiting>) {
    while let Ok(frame) = frames.recv() {
        if let Err(error) = send(&mut output, &frame) {
            return end(waiting, &error.to_string());
        }
    }
}

fn read_answers(mut input: impl Read, waiting: &Mutex<Waiting>) {
    let why = loop {
        match receive::<Answer>(&mut input, ANSWER_BYTES) {
            Ok(Some(Answer { id, returned })) => {
                let call = lock(waiting).calls.remove(&id);
                // Whether somebody still waits for it is theirs to know.
                let _ = call.map(|call| call.send(returned));
            }
            Ok(None) => break "it closed its output".to_owned(),
            Err(error) => break error.to_string(),
        }
    };
    end(waiting, &why);
}

/// Answers all that wait, now and from now on. The first reason stays.
fn end(waiting: &Mutex<Waiting>, why: &str) {
    let mut waiting = lock(waiting);
    let why = waiting.ended.get_or_insert_with(|| why.to_owned()).clone();
    for (_, call) in std::mem::take(&mut waiting.calls) {
        let _ = call.send(gone(&why));
    }
}

fn lock(waiting: &Mutex<Waiting>) -> MutexGuard<'_, Waiting> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

fn gone(why: &str) -> Returned {
    fail(format!("The tool server ended: {}.", why.trim_end_matches('.')))
}

fn fail(why: String) -> Returned {
    Outcome::Failed(why).into()
}

/// Looks no deeper than `depth`.
fn is_deeper(value: &Value, depth: usize) -> bool {
    match (value, depth) {
        (Value::Array(_) | Value::Object(_), 0) => true,
        (Value::Array(items), _) => items.iter().any(|item| is_deeper(item, depth - 1)),
        (Value::Object(fields), _) => fields.values().any(|field| is_deeper(field, depth - 1)),
        _ => false,
    }
}
