//! The other end of a tool server: calls as futures, without a runtime. The server runs what a model wrote, so that
//! whatever comes from it is taken for hostile until it is checked.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use futures_channel::oneshot;
use sequester_core::future::BoxFuture;
use sequester_core::message::Call;
use sequester_core::tool::{Invocation, Outcome, Returned, Spec, Toolbox};

use crate::root::PATH_BYTES;
use crate::server::answer;
use crate::wire::{
    ANSWER_BYTES, Answer, REQUEST_BYTES, Request, Start, encode, malformed, receive, send,
};
use crate::workbench::{Settings, Workbench};

/// The shortest time that a socket can wait.
const INSTANT: Duration = Duration::from_millis(1);
/// Of a digest, in hexadecimal digits.
const DIGEST: usize = 64;

/// Speaks to one server. Dropping it closes the connection, which ends the server.
pub struct Client {
    frames: Sender<Vec<u8>>,
    waiting: Arc<Mutex<Waiting>>,
    stream: UnixStream,
}

/// The calls that are not answered yet.
struct Waiting {
    last: u64,
    calls: BTreeMap<u64, oneshot::Sender<Returned>>,
    /// Since when the server owes an answer; an answer begins it anew.
    since: Instant,
    /// Why there is no server any more.
    ended: Option<String>,
}

impl Client {
    /// Over a connected pair of sockets whose other end a server serves. A server that owes an answer and gives none for
    /// as long as `patience` has ended. Starts one thread that writes and one that reads; both end with the server.
    pub fn connect(stream: UnixStream, patience: Duration) -> io::Result<Self> {
        let waiting =
            Waiting { last: 0, calls: BTreeMap::new(), since: Instant::now(), ended: None };
        let waiting = Arc::new(Mutex::new(waiting));
        let (frames, queue) = channel();
        let thread = |name: &str| thread::Builder::new().name(name.into());
        let answers = Answers { stream: stream.try_clone()?, waiting: waiting.clone(), patience };
        thread("tool-answers").spawn(move || answers.follow())?;
        let output = stream.try_clone()?;
        thread("tool-calls").spawn(move || write_calls(output, &queue))?;
        Ok(Self { frames, waiting, stream })
    }

    /// To a server that waits to be told where it works, and with which limits.
    pub fn start(mut stream: UnixStream, root: &Path, settings: Settings) -> io::Result<Self> {
        let patience = settings.patience();
        let start = Start { root: root.to_owned(), settings };
        let too_long = |_| io::Error::other("the settings of the tools are too long");
        send(&mut stream, &encode(&start, REQUEST_BYTES)?.map_err(too_long)?)?;
        Self::connect(stream, patience)
    }

    /// To a server on a thread of this process: for tools that only look. What changes files or runs commands belongs in a
    /// jail.
    pub fn in_process(workbench: Workbench) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        let patience = workbench.settings.patience();
        // Whoever waits for an answer hears that the server ended.
        let server = move || drop(answer(theirs, workbench));
        thread::Builder::new().name("tools".into()).spawn(server)?;
        Self::connect(ours, patience)
    }

    /// Sends a call at once; the future is its answer. A future that is dropped drops the answer, not the work.
    pub fn call(&self, invocation: Invocation) -> BoxFuture<'static, Returned> {
        let answer = self.send(invocation);
        Box::pin(async move {
            match answer {
                // The sender is dropped unused only with all that could have answered.
                Ok(answer) => answer
                    .await
                    .unwrap_or_else(|_| fail(gone("nobody is left to answer", UNANSWERED))),
                Err(why) => fail(why),
            }
        })
    }

    /// Whether there is no server any more.
    pub fn is_ended(&self) -> bool {
        lock(&self.waiting).ended.is_some()
    }

    /// Where its answer comes; else why it was not sent.
    fn send(&self, invocation: Invocation) -> Result<oneshot::Receiver<Returned>, String> {
        if invocation.call.is_too_deep() {
            return Err(Call::TOO_DEEP.to_owned());
        }
        let mut waiting = lock(&self.waiting);
        if let Some(why) = &waiting.ended {
            return Err(gone(why, UNSENT));
        }
        waiting.last += 1;
        let id = waiting.last;
        let frame = match encode(&Request { id, invocation }, REQUEST_BYTES) {
            Ok(Ok(frame)) => frame,
            Ok(Err(bytes)) => {
                return Err(format!("The call has {bytes} bytes and may have {REQUEST_BYTES}."));
            }
            Err(error) => return Err(format!("The call could not be sent: {error}.")),
        };
        if waiting.calls.is_empty() {
            waiting.since = Instant::now();
        }
        let (sender, receiver) = oneshot::channel();
        waiting.calls.insert(id, sender);
        // Fails only if the writer has ended, and then the server ends too.
        let _ = self.frames.send(frame);
        Ok(receiver)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Both threads hold the stream too. Fails only if it is closed.
        let _ = self.stream.shutdown(Shutdown::Both);
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

/// Until no more come, or the server takes none: it may have answered others before, so that its end is left to be read.
fn write_calls(mut output: UnixStream, frames: &Receiver<Vec<u8>>) {
    while let Ok(frame) = frames.recv() {
        if send(&mut output, &frame).is_err() {
            // Fails only if it is closed.
            let _ = output.shutdown(Shutdown::Write);
            return;
        }
    }
}

/// What comes from the server.
struct Answers {
    stream: UnixStream,
    waiting: Arc<Mutex<Waiting>>,
    patience: Duration,
}

impl Answers {
    fn follow(mut self) {
        let why = loop {
            match receive::<Answer>(&mut self, ANSWER_BYTES) {
                Ok(Some(answer)) => {
                    if let Err(error) = self.deliver(answer) {
                        break error.to_string();
                    }
                }
                Ok(None) => break "it closed the connection".to_owned(),
                Err(error) => break error.to_string(),
            }
        };
        end(&self.waiting, why);
        // The writer may be held up by a server that does not read. Fails only if it is closed.
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    fn deliver(&self, Answer { id, returned }: Answer) -> io::Result<()> {
        check(&returned)?;
        let mut waiting = lock(&self.waiting);
        let call = waiting.calls.remove(&id);
        let call = call.ok_or_else(|| malformed(&format!("no call {id} waits for an answer")))?;
        waiting.since = Instant::now();
        // Whether somebody still waits for it is theirs to know.
        let _ = call.send(returned);
        Ok(())
    }

    /// How long the server may still be silent.
    fn left(&self) -> Duration {
        let waiting = lock(&self.waiting);
        if waiting.calls.is_empty() {
            return self.patience;
        }
        self.patience.saturating_sub(waiting.since.elapsed())
    }
}

/// Waits no longer than the server may be silent.
impl Read for Answers {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            self.stream.set_read_timeout(Some(self.left().max(INSTANT)))?;
            match self.stream.read(buffer) {
                // What is there already is taken, even if this process slept and is late itself.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if self.left().is_zero() {
                        let seconds = self.patience.as_secs_f32();
                        return Err(io::Error::other(format!("it gave no answer for {seconds} s")));
                    }
                }
                read => return read,
            }
        }
    }
}

/// Whether a tool could have given it: a server that was taken over must not speak to people or fill the memory.
fn check(returned: &Returned) -> io::Result<()> {
    if matches!(returned.outcome, Outcome::NeedsApproval { .. }) {
        return Err(malformed("no tool of a server asks for approval"));
    }
    let is_known = |(path, digest): (&String, &String)| {
        path.len() <= PATH_BYTES
            && digest.len() == DIGEST
            && digest.bytes().all(|digit| digit.is_ascii_hexdigit())
    };
    if returned.seen.len() > 1 || !returned.seen.iter().all(is_known) {
        return Err(malformed("what was seen is not one file with its digest"));
    }
    Ok(())
}

/// Answers all that wait, now and from now on.
fn end(waiting: &Mutex<Waiting>, why: String) {
    let mut waiting = lock(waiting);
    for (_, call) in std::mem::take(&mut waiting.calls) {
        let _ = call.send(fail(gone(&why, UNANSWERED)));
    }
    waiting.ended = Some(why);
}

fn lock(waiting: &Mutex<Waiting>) -> MutexGuard<'_, Waiting> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What became of a call when the server ended.
const UNANSWERED: &str = "This call was not answered, and whatever it did by then is done.";
const UNSENT: &str = "This call was not carried out.";

fn gone(why: &str, call: &str) -> String {
    let why = why.trim_end_matches('.');
    format!(
        "The tool server ended: {why}. {call} No tool works any more in this attempt: report what is known."
    )
}

fn fail(why: String) -> Returned {
    Outcome::Failed(why).into()
}
