//! A command in a jail, as checks are run: what it printed and how it ended.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::fd::AsFd as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use sequester_core::jail::Ran;
use sequester_core::secret::redact;
use sequester_sandbox::{Ending, Error, Handle, Jail, Policy, Said, Streams};

use super::jail::{Machine, broken};
use crate::failure::Failure;

/// Of what it printed: checks tell at their end what they found.
const HEAD_BYTES: u64 = 64 << 10;
const TAIL_BYTES: u64 = 192 << 10;

/// Ends a command that nobody waits for any more.
#[derive(Clone, Default)]
pub(crate) struct Leash(Arc<Mutex<Held>>);

#[derive(Default)]
enum Held {
    #[default]
    Nothing,
    Running(Handle),
    /// Nothing starts any more.
    LetGo,
}

impl Leash {
    pub(crate) fn let_go(&self) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Held::Running(handle) = std::mem::replace(&mut *held, Held::LetGo) {
            handle.stop();
        }
    }

    fn take(&self, jail: &Jail) -> io::Result<()> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let handle = jail.handle()?;
        match &*held {
            Held::LetGo => handle.stop(),
            _ => *held = Held::Running(handle),
        }
        Ok(())
    }
}

/// Comes back when all that the command started is gone.
pub(crate) fn run(
    machine: &Machine,
    policy: &Policy,
    command: &str,
    (leash, hear): (&Leash, &dyn Fn(Said)),
) -> Result<Ran, Failure> {
    let told = |error: io::Error| broken(&Error::from(error));
    let printed = tempfile::tempfile().map_err(told)?;
    let null = File::open("/dev/null").map_err(told)?;
    let streams = Streams { stdin: null.as_fd(), stdout: printed.as_fd(), stderr: printed.as_fd() };
    let shell = machine.surroundings.shell.display().to_string();
    let words = vec![shell, "-c".to_owned(), command.to_owned()];
    let began = Instant::now();
    let jail =
        machine.start(policy, |compiled| Jail::run(&compiled.blueprint, words.clone(), streams))?;
    leash.take(&jail).map_err(told)?;
    let ending = jail.wait(hear).map_err(|error| broken(&error))?;
    let elapsed = began.elapsed();
    let (code, limit) = match ending {
        Ending::Exited(code) => (code, None),
        Ending::Signalled(signal) => (128 + signal, None),
        Ending::NotFound => (127, None),
        Ending::NotRunnable | Ending::NotEntered => (126, None),
        // As if it was killed, and that is how it was.
        Ending::Killed(cause) => (137, Some(cause.sentence().to_owned())),
    };
    let output = show(printed).map_err(told)?;
    Ok(Ran { code, output, elapsed, limit })
}

/// Head and tail, cut where lines end: half a secret is not known for one.
fn show(mut printed: File) -> io::Result<String> {
    let all = printed.seek(SeekFrom::End(0))?;
    printed.rewind()?;
    if all <= HEAD_BYTES + TAIL_BYTES {
        let mut bytes = Vec::new();
        printed.read_to_end(&mut bytes)?;
        return Ok(redact(&String::from_utf8_lossy(&bytes)).text.into_owned());
    }
    let (mut head, mut tail) = (Vec::new(), Vec::new());
    (&printed).take(HEAD_BYTES).read_to_end(&mut head)?;
    head.truncate(head.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1));
    printed.seek(SeekFrom::Start(all - TAIL_BYTES))?;
    printed.take(TAIL_BYTES).read_to_end(&mut tail)?;
    let whole = tail.iter().position(|byte| *byte == b'\n').map_or(tail.len(), |at| at + 1);
    let tail = &tail[whole..];
    let left_out = all - head.len() as u64 - tail.len() as u64;
    let text = format!(
        "{}[{left_out} bytes are left out here]\n{}",
        String::from_utf8_lossy(&head),
        String::from_utf8_lossy(tail)
    );
    Ok(redact(&text).text.into_owned())
}
