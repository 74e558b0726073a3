//! What waits for the disk or the kernel is done on a thread of its own: whoever else works goes on.

use std::thread;

use futures_channel::oneshot;
use sequester_core::fault::Code;
use sequester_core::future::BoxFuture;
use sequester_core::jail::{Error, ErrorKind};

use crate::failure::Failure;

/// What is given up goes on to its end, and nobody hears of it. `no_jail` is what it means if there is no jail.
pub(crate) fn aside<T: Send + 'static>(
    no_jail: ErrorKind,
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> BoxFuture<'static, Result<T, Error>> {
    let (answer, answered) = oneshot::channel();
    let begun = thread::Builder::new().name("jail".into()).spawn(move || drop(answer.send(work())));
    Box::pin(async move {
        begun.map_err(|error| lost(&error.to_string()))?;
        let answer = answered.await.map_err(|_| lost("it ended by itself"))?;
        answer.map_err(|failure| tell(&failure, no_jail))
    })
}

fn lost(why: &str) -> Error {
    Error {
        kind: ErrorKind::Broken,
        message: format!("There is no thread for the jail: {why}."),
        hint: "Let fewer attempts run at once.".to_owned(),
    }
}

fn tell(failure: &Failure, no_jail: ErrorKind) -> Error {
    let kind = match failure.code() {
        Code::NoJail => no_jail,
        Code::NoWorkspace | Code::BadWorkspace => ErrorKind::Workspace,
        _ => ErrorKind::Broken,
    };
    let (message, hint) = (failure.message().to_owned(), failure.hint().to_owned());
    Error { kind, message, hint }
}
