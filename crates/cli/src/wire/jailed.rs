//! The tools of one attempt, in a jail of their own that is made with the first call.

use std::io;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use sequester_core::change::Change;
use sequester_core::fault::Code;
use sequester_core::future::BoxFuture;
use sequester_core::tool::{Invocation, Returned, Spec, Toolbox};
use sequester_engine::Lazy;
use sequester_sandbox::harvest::Rules;
use sequester_sandbox::workspace::reopen;
use sequester_sandbox::{Handle, Jail, Policy, Said, Workspace};
use sequester_tools::{Client, Settings};

use super::jail::Machine;
use crate::failure::Failure;
use crate::output;

/// In the jail: the tools, as the other end of the line says.
pub(crate) fn serve(stream: UnixStream) {
    // Whoever waits for an answer sees the line close.
    let _ = sequester_tools::serve_as_told(stream);
}

/// What the jail of an attempt is made from.
pub(crate) struct Jailed {
    machine: Arc<Machine>,
    policy: Policy,
    settings: Settings,
    began: AtomicBool,
}

impl Jailed {
    /// Nothing is started yet, but what the policy needs must be there to be had.
    pub(crate) fn new(
        machine: Arc<Machine>,
        policy: Policy,
        settings: Settings,
    ) -> Result<Arc<Self>, Failure> {
        machine.check(&policy)?;
        Ok(Arc::new(Self { machine, policy, settings, began: AtomicBool::new(false) }))
    }

    pub(crate) fn tools(self: &Arc<Self>) -> Lazy {
        let this = Arc::clone(self);
        Lazy::new(sequester_tools::specs(), move || {
            this.began.store(true, Ordering::Relaxed);
            let tools = this.start()?;
            Ok(Box::new(tools) as Box<dyn Toolbox>)
        })
    }

    fn start(&self) -> Result<Tools, String> {
        let (jail, stream, root, settings) = self
            .machine
            .start(&self.policy, |blueprint| {
                let (jail, stream) = Jail::serve(blueprint)?;
                let environment = blueprint.environment.clone();
                let proxy = environment.get("http_proxy").cloned();
                let settings = Settings { environment, proxy, ..self.settings.clone() };
                Ok((jail, stream, blueprint.folder.clone(), settings))
            })
            .map_err(|failure| failure.message().to_owned())?;
        let running = Running::follow(jail).map_err(|error| error.to_string())?;
        let client = Client::start(stream, &root, settings).map_err(|error| error.to_string())?;
        Ok(Tools { client, _running: running })
    }

    /// What became of the workspace, once the tools are gone.
    pub(crate) fn harvest(&self, rules: &Rules) -> Result<Change, Failure> {
        if !self.began.load(Ordering::Relaxed) {
            return Ok(Change::default());
        }
        if let Workspace::Layers(layers) = &self.policy.workspace
            && let Err(error) = reopen(&layers.store)
            && error.kind() == io::ErrorKind::NotFound
        {
            // Any other reason the harvest tells itself; here it would find an empty layer.
            let message = "What was written is gone: somebody took the attempt's folder away.";
            let hint = "Run the task again, and leave the folder for state alone meanwhile.";
            return Err(Failure::work(Code::NoWorkspace, layers.store.display(), message, hint));
        }
        self.machine.harvest(&self.policy, rules)
    }
}

struct Tools {
    // In this order: the server is told to end before its jail is.
    client: Client,
    _running: Running,
}

impl Toolbox for Tools {
    fn specs(&self) -> Vec<Spec> {
        self.client.specs()
    }

    fn call<'a>(&'a self, invocation: &'a Invocation) -> BoxFuture<'a, Returned> {
        self.client.call(invocation.clone())
    }
}

/// A jail whose supervisor is heard until it ends.
struct Running {
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    fn follow(jail: Jail) -> io::Result<Self> {
        let handle = jail.handle()?;
        let heard = move || drop(jail.wait(|said| tell(&said)));
        let thread = thread::Builder::new().name("jail".into()).spawn(heard)?;
        Ok(Self { handle, thread: Some(thread) })
    }
}

impl Drop for Running {
    /// Comes back when the jail, with all that ran in it, is gone.
    fn drop(&mut self) {
        self.handle.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn tell(said: &Said) {
    if let Said::Asked { host, port, allowed: false, why } = said {
        output::tell(&format!("`{host}:{port}` was refused: {why}"));
    }
}
