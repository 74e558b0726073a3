//! The tool server: takes calls from a socket and answers each as soon as it is done.

use std::fmt;
use std::io::{self, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use sequester_core::tool::{Outcome, Returned};

use crate::wire::{ANSWER_BYTES, Answer, REQUEST_BYTES, Request, Start, encode, receive, send};
use crate::workbench::Workbench;

/// Calls that are carried out side by side, and calls that wait. Who sends more waits until one is done.
const WORKERS: usize = 8;
const WAITING: usize = 64;

/// Why a server ended before its input did.
#[derive(Debug)]
pub struct Error(io::Error);

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "The tool server ended: {}", self.0)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

/// Serves until the other side closes. Then every command is ended; calls that are under way are not answered.
///
/// It owns its process: whatever a command leaves behind is adopted and ended with its call, so that nothing else in this
/// process may start one.
pub fn serve(stream: UnixStream, workbench: Workbench) -> Result<(), Error> {
    workbench.own_process().map_err(Error)?;
    answer(stream, workbench)
}

/// Serves as its first message says: where, and with which limits.
pub fn serve_as_told(mut stream: UnixStream) -> Result<(), Error> {
    let Some(Start { root, settings }) = receive(&mut stream, REQUEST_BYTES).map_err(Error)? else {
        return Ok(());
    };
    serve(stream, Workbench::new(&root, settings).map_err(Error)?)
}

/// Serves in a process that is not its own: a command that leaves its group and its parent is not found again.
pub(crate) fn answer(mut stream: UnixStream, workbench: Workbench) -> Result<(), Error> {
    let workbench = Arc::new(workbench);
    let output = Arc::new(Mutex::new(stream.try_clone().map_err(Error)?));
    let (queue, requests) = sync_channel(WAITING);
    let requests = Arc::new(Mutex::new(requests));
    for _ in 0..WORKERS {
        let (bench, output, requests) = (workbench.clone(), output.clone(), requests.clone());
        // Not joined: one that waits for a slow host must not hold up the end.
        let worker = move || while work(&bench, &output, &requests).is_some() {};
        thread::Builder::new().name("tool".into()).spawn(worker).map_err(Error)?;
    }
    let ended = loop {
        match receive::<Request>(&mut stream, REQUEST_BYTES) {
            Ok(Some(request)) => {
                // Fails only if every worker is gone, and then nobody reads the answers.
                if queue.send(request).is_err() {
                    break Ok(());
                }
            }
            Ok(None) => break Ok(()),
            Err(error) => break Err(Error(error)),
        }
    };
    workbench.stop();
    // The workers hold the stream too. Fails only if it is closed.
    let _ = stream.shutdown(Shutdown::Both);
    ended
}

/// Carries out one request; nothing when no more come or nobody takes the answer.
fn work(
    bench: &Workbench,
    output: &Mutex<impl Write>,
    requests: &Mutex<Receiver<Request>>,
) -> Option<()> {
    let request = requests.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()?;
    let Request { id, invocation } = request;
    // A bug in one tool or its libraries costs one call, not the attempt.
    let returned = catch_unwind(AssertUnwindSafe(|| bench.call(&invocation)))
        .unwrap_or_else(|_| broken("The tool broke while it worked. Try another way."));
    let frame = match encode(&Answer { id, returned }, ANSWER_BYTES).ok()? {
        Ok(frame) => frame,
        Err(length) => {
            let told =
                format!("The answer has {length} bytes on the wire and may have {ANSWER_BYTES}.");
            let answer = Answer { id, returned: broken(&told) };
            encode(&answer, ANSWER_BYTES).ok()?.ok()?
        }
    };
    send(&mut *output.lock().unwrap_or_else(PoisonError::into_inner), &frame).ok()
}

fn broken(why: &str) -> Returned {
    Outcome::Failed(why.to_owned()).into()
}
