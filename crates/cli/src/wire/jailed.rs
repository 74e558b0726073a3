//! The tools of one attempt, in a jail of their own that is made with the first call.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};

use sequester_core::future::BoxFuture;
use sequester_core::tool::{Invocation, Outcome, Returned, Spec, Toolbox};
use sequester_sandbox::{Jail, Policy, Said, Stopper};
use sequester_tools::{Client, Settings};

use super::jail::Machine;
use crate::failure::Failure;
use crate::output;

pub(crate) struct Jailed {
    machine: Machine,
    policy: Policy,
    /// Where the tools work.
    root: PathBuf,
    settings: Settings,
    client: OnceLock<Result<Client, String>>,
    running: Mutex<Option<(Stopper, JoinHandle<()>)>>,
}

/// In the jail: the tools, as the other end of the line says.
pub(crate) fn serve(stream: UnixStream) {
    // Whoever waits for an answer sees the line close.
    let _ = sequester_tools::serve_as_told(stream);
}

impl Jailed {
    /// Nothing is started yet, but what the policy needs must be there to be had.
    pub(crate) fn new(
        machine: Machine,
        policy: Policy,
        root: PathBuf,
        settings: Settings,
    ) -> Result<Self, Failure> {
        machine.check(&policy)?;
        let running = Mutex::new(None);
        Ok(Self { machine, policy, root, settings, client: OnceLock::new(), running })
    }

    fn start(&self) -> Result<Client, String> {
        let (jail, stream, settings) = self
            .machine
            .start(&self.policy, |blueprint| {
                let (jail, stream) = Jail::serve(blueprint)?;
                let environment = blueprint.environment.clone();
                let proxy = environment.get("http_proxy").cloned();
                Ok((jail, stream, Settings { environment, proxy, ..self.settings.clone() }))
            })
            .map_err(|failure| failure.message().to_owned())?;
        self.follow(jail)
            .and_then(|()| Client::start(stream, &self.root, settings))
            .map_err(|error| error.to_string())
    }

    /// Hears what the supervisor says until the jail ends.
    fn follow(&self, jail: Jail) -> io::Result<()> {
        let stopper = jail.stopper()?;
        let heard = move || drop(jail.wait(|said| tell(&said)));
        let thread = thread::Builder::new().name("jail".into()).spawn(heard)?;
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = Some((stopper, thread));
        Ok(())
    }
}

fn tell(said: &Said) {
    if let Said::Asked { host, port, allowed: false, why } = said {
        output::tell(&format!("`{host}:{port}` was refused: {why}"));
    }
}

impl Toolbox for Jailed {
    fn specs(&self) -> Vec<Spec> {
        sequester_tools::specs()
    }

    fn call<'a>(&'a self, invocation: &'a Invocation) -> BoxFuture<'a, Returned> {
        match self.client.get_or_init(|| self.start()) {
            Ok(client) => client.call(invocation.clone()),
            Err(error) => {
                let text = format!("The tools could not be started. {error}");
                Box::pin(async move { Outcome::Failed(text).into() })
            }
        }
    }
}

impl Drop for Jailed {
    /// Comes back when the jail, with all that ran in it, is gone.
    fn drop(&mut self) {
        drop(self.client.take());
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((stopper, thread)) = running {
            stopper.stop();
            let _ = thread.join();
        }
    }
}
