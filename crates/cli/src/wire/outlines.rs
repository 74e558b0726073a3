//! Outlines of what agents wrote. Parsers are large and were not made for text that wants to break them: they read it in a jail, and a
//! text that breaks one costs no more than its own outline.

use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sequester_core::outliner::{Outliner, Symbol};
use sequester_core::path::RepoPath;
use sequester_core::profile::Confinement;
use sequester_core::protected::Grants;
use sequester_sandbox::{Jail, Limits, Policy, Workspace};
use sequester_survey::Outlines;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::jail::{Machine, broken};
use super::jailed::{Asked, Purpose, Running};
use crate::failure::Failure;

/// Of a text and its path, and of all its symbols.
const REQUEST_BYTES: u32 = 16 << 20;
const ANSWER_BYTES: u32 = 32 << 20;
/// A parser stops by itself after so many steps; this is for one that does not.
const PATIENCE: Duration = Duration::from_mins(1);
const MEMORY: u64 = 1 << 30;

#[derive(Serialize, Deserialize)]
struct Request {
    path: RepoPath,
    text: String,
}

/// In the jail, until nobody asks any more.
pub(super) fn serve(mut stream: UnixStream) -> io::Result<()> {
    loop {
        let Request { path, text } = receive(&mut stream, REQUEST_BYTES)?;
        send(&mut stream, &Outlines.outline(&path, &text))?;
    }
}

/// The parsers' jail, started when one is first needed.
pub(crate) struct Confined {
    start: Box<dyn Fn() -> Result<Server, Failure> + Send + Sync>,
    server: Mutex<Option<Server>>,
}

impl Confined {
    pub(crate) fn on(machine: Arc<Machine>) -> Self {
        Self { start: Box::new(move || Server::start(&machine)), server: Mutex::default() }
    }

    pub(crate) fn reader(&self) -> Reader<'_> {
        Reader { confined: self, failed: Mutex::default() }
    }

    /// Nothing where the text breaks a parser that has just been started: that it always will.
    fn outline(&self, path: &RepoPath, text: &str) -> Result<Option<Vec<Symbol>>, Failure> {
        let mut held = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let (mut server, is_fresh) = match held.take() {
                Some(server) => (server, false),
                None => ((self.start)()?, true),
            };
            match server.ask(path, text) {
                Ok(symbols) => {
                    *held = Some(server);
                    return Ok(Some(symbols));
                }
                Err(_) if is_fresh => return Ok(None),
                // Its time may have been over.
                Err(_) => {}
            }
        }
    }
}

/// For one context, which cannot be had if there is no jail.
pub(crate) struct Reader<'a> {
    confined: &'a Confined,
    failed: Mutex<Option<Failure>>,
}

impl Reader<'_> {
    /// Whether all that was asked for could be had.
    pub(crate) fn end(self) -> Result<(), Failure> {
        let failed = self.failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        failed.map_or(Ok(()), Err)
    }
}

impl Outliner for Reader<'_> {
    fn outline(&self, path: &RepoPath, text: &str) -> Vec<Symbol> {
        if !Outlines::parses(path, text) {
            return Outlines::plain(path, text);
        }
        match self.confined.outline(path, text) {
            Ok(symbols) => symbols.unwrap_or_else(|| Outlines::plain(path, text)),
            Err(failure) => {
                *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
                Vec::new()
            }
        }
    }
}

struct Server {
    stream: UnixStream,
    _running: Option<Running>,
}

impl Server {
    fn start(machine: &Machine) -> Result<Self, Failure> {
        let policy = Policy {
            confinement: Confinement::ReadOnly,
            hosts: Vec::new(),
            workspace: Workspace::None,
            limits: Limits { memory: MEMORY, ..Limits::default() },
            grants: Grants::default(),
            store: machine.store(),
        };
        let (jail, stream) = machine.start(&policy, |compiled| Jail::serve(&compiled.blueprint))?;
        let failed = |error: io::Error| broken(&error.into());
        let running = Running::follow(jail, Asked::default()).map_err(failed)?;
        Purpose::Outlines.tell(&stream).map_err(failed)?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
        stream.set_write_timeout(Some(PATIENCE)).map_err(failed)?;
        Ok(Self { stream, _running: Some(running) })
    }

    fn ask(&mut self, path: &RepoPath, text: &str) -> io::Result<Vec<Symbol>> {
        send(&mut self.stream, &Request { path: path.clone(), text: text.to_owned() })?;
        let symbols: Vec<Symbol> = receive(&mut self.stream, ANSWER_BYTES)?;
        // Whoever broke a parser may speak in its place.
        let fits =
            |one: &Symbol| text.get(one.bytes.clone()).is_some() && one.lines.0 <= one.lines.1;
        let in_order = symbols.is_sorted_by_key(|one| one.lines.0);
        if in_order && symbols.iter().all(fits) {
            return Ok(symbols);
        }
        Err(io::Error::other("the outline is not of this text"))
    }
}

fn send(stream: &mut UnixStream, value: &impl Serialize) -> io::Result<()> {
    let body = serde_json::to_vec(value)?;
    let length = u32::try_from(body.len()).map_err(io::Error::other)?;
    stream.write_all(&length.to_be_bytes())?;
    stream.write_all(&body)
}

fn receive<T: DeserializeOwned>(stream: &mut UnixStream, most: u32) -> io::Result<T> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length);
    if length > most {
        return Err(io::Error::other("it is too long"));
    }
    let mut body = Vec::new();
    stream.take(length.into()).read_to_end(&mut body)?;
    Ok(serde_json::from_slice(&body)?)
}

#[cfg(test)]
mod tests;
