//! One jail with its workspace. Both are made when they are first needed.

use std::collections::BTreeSet;
use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use sequester_core::change::Change;
use sequester_core::fault::Code;
use sequester_core::future::BoxFuture;
use sequester_core::jail::{self, Error, ErrorKind, HostAsked, Ran};
use sequester_core::path::RepoPath;
use sequester_core::profile::Profile;
use sequester_core::protected::Grants;
use sequester_core::tool::{EXIT_CODE, Invocation, Outcome, Returned, Spec, Toolbox};
use sequester_engine::Lazy;
use sequester_sandbox::workspace::reopen;
use sequester_sandbox::{Cause, Ending, Handle, Host, Jail, Limits, Policy, Said};
use sequester_tools::{Client, Settings};

use super::aside::aside;
use super::bounds::Bounds;
use super::command::{self, Leash};
use super::jail::{Machine, named_hosts};
use super::outlines;
use super::workspace::{Ground, Workspace};
use crate::failure::Failure;
use crate::output;

/// What a jailed process is there for, told by the first byte on its line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Tools = b't' as isize,
    Outlines = b'o' as isize,
}

impl Purpose {
    pub(super) fn tell(self, mut stream: &UnixStream) -> io::Result<()> {
        stream.write_all(&[self as u8])
    }
}

/// In the jail: what the other end of the line wants.
pub(crate) fn serve(mut stream: UnixStream) {
    let mut purpose = [0];
    // Whoever waits for an answer sees the line close.
    let _ = stream.read_exact(&mut purpose);
    if purpose == [Purpose::Tools as u8] {
        let _ = sequester_tools::serve_as_told(stream);
    } else if purpose == [Purpose::Outlines as u8] {
        let _ = outlines::serve(stream);
    }
}

/// What an attempt is confined to, whatever it works over.
pub(crate) struct Confines {
    pub(crate) profile: Profile,
    /// What was done already.
    pub(crate) change: Option<Change>,
    /// Folders of these paths can be renamed.
    pub(crate) named: BTreeSet<RepoPath>,
    /// Protected names that it may change.
    pub(crate) grants: Grants,
    pub(crate) bounds: Bounds,
}

pub(crate) struct Jailed(Arc<Inside>);

struct Inside {
    machine: Arc<Machine>,
    ground: Box<dyn Fn() -> Result<Ground, Failure> + Send + Sync>,
    confines: Confines,
    hosts: Vec<Host>,
    settings: Settings,
    workspace: Mutex<Option<Arc<Workspace>>>,
    /// Whether somebody works in it.
    taken: AtomicBool,
    asked: Asked,
}

/// Hosts that were asked for, until somebody is told of them.
#[derive(Clone, Default)]
pub(super) struct Asked(Arc<Mutex<Vec<HostAsked>>>);

impl Asked {
    /// Who is refused hears of it now: that may be all that a person sees.
    fn hear(&self, said: Said) {
        let Said::Asked { host, port, allowed, why } = said else { return };
        if !allowed {
            output::tell(&format!("`{host}:{port}` was refused: {why}"));
        }
        let asked = HostAsked { host, port, allowed, why };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(asked);
    }

    fn take(&self) -> Vec<HostAsked> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Jailed {
    /// Nothing is made yet, but what the profile needs must be there to be had. `ground` is asked for with the first need.
    pub(crate) fn open(
        machine: Arc<Machine>,
        root: &Path,
        ground: impl Fn() -> Result<Ground, Failure> + Send + Sync + 'static,
        confines: Confines,
        settings: Settings,
    ) -> Result<Self, Failure> {
        let hosts = named_hosts(&confines.profile)?;
        let settings = Settings { hosts: confines.profile.hosts.clone(), ..settings };
        let (ground, workspace, taken) =
            (Box::new(ground), Mutex::default(), AtomicBool::new(false));
        let asked = Asked::default();
        let inside = Inside { machine, ground, confines, hosts, settings, workspace, taken, asked };
        if !inside.machine.has_seen(inside.confines.profile.confinement) {
            inside.machine.make_state()?;
            let trial =
                Workspace::empty(root, &inside.machine).map_err(|error| no_workspace(&error))?;
            inside.machine.check(&inside.policy(&trial, inside.confines.bounds.limits.wall))?;
        }
        Ok(Self(Arc::new(inside)))
    }
}

impl jail::Jail for Jailed {
    fn tools(&self) -> Box<dyn Toolbox> {
        let inside = Arc::clone(&self.0);
        Box::new(Lazy::new(sequester_tools::specs(), move || {
            let tools = inside.start().map_err(|failure| failure.message().to_owned())?;
            Ok(Box::new(tools) as Box<dyn Toolbox>)
        }))
    }

    fn look(&self) -> BoxFuture<'_, Result<Option<Change>, Error>> {
        let inside = Arc::clone(&self.0);
        aside(ErrorKind::Broken, move || inside.look())
    }

    fn run<'a>(&'a self, command: &'a str, limit: Duration) -> BoxFuture<'a, Result<Ran, Error>> {
        let (inside, command) = (Arc::clone(&self.0), command.to_owned());
        let (given_up, leash, done) = GivenUp::new();
        let ran = aside(ErrorKind::Broken, move || {
            let ran = inside.run(&command, limit, &leash);
            drop((inside, done));
            ran
        });
        Box::pin(async move {
            let ran = ran.await;
            drop(given_up);
            ran
        })
    }

    fn asked(&self) -> Vec<HostAsked> {
        self.0.asked.take()
    }

    fn harvest(self: Box<Self>) -> BoxFuture<'static, Result<Change, Error>> {
        let inside = self.0;
        aside(ErrorKind::Broken, move || inside.harvest())
    }
}

/// Ends a command that is given up, and comes back when it is gone.
struct GivenUp {
    leash: Leash,
    done: Receiver<()>,
}

impl GivenUp {
    /// With what the command has: the sender is dropped at its end.
    fn new() -> (Self, Leash, Sender<()>) {
        let (leash, (sender, done)) = (Leash::default(), mpsc::channel());
        (Self { leash: leash.clone(), done }, leash, sender)
    }
}

impl Drop for GivenUp {
    fn drop(&mut self) {
        self.leash.let_go();
        let _ = self.done.recv();
    }
}

/// Who works in a workspace does so alone: the kernel does not promise anything to two.
struct Alone(Arc<Inside>);

impl Alone {
    fn enter(inside: &Arc<Inside>) -> Result<Self, Failure> {
        if inside.taken.swap(true, Ordering::AcqRel) {
            let message = "Somebody still works in the workspace.";
            let hint = "Drop the tools first, and run one command after another.";
            return Err(Failure::work(Code::NoWorkspace, "", message, hint));
        }
        Ok(Self(Arc::clone(inside)))
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        self.0.taken.store(false, Ordering::Release);
    }
}

impl Inside {
    /// Makes it with the first call; who calls meanwhile waits.
    fn workspace(&self) -> Result<Arc<Workspace>, Failure> {
        let mut held = self.workspace.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = &*held {
            return Ok(Arc::clone(made));
        }
        let Confines { named, grants, change, .. } = &self.confines;
        let ground = (self.ground)()?;
        let made = Workspace::make(&ground, &self.machine, named, grants, change.as_ref());
        let made = Arc::new(made.map_err(|error| no_workspace(&error))?);
        for note in &made.notes {
            output::tell(note);
        }
        *held = Some(Arc::clone(&made));
        Ok(made)
    }

    /// Nothing if nobody has needed one.
    fn made(&self) -> Option<Arc<Workspace>> {
        self.workspace.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn policy(&self, workspace: &Workspace, wall: Duration) -> Policy {
        Policy {
            confinement: self.confines.profile.confinement,
            hosts: self.hosts.clone(),
            workspace: sequester_sandbox::Workspace::Layers(workspace.layers.clone()),
            limits: Limits { wall, ..self.confines.bounds.limits.clone() },
            grants: self.confines.grants.clone(),
            store: self.machine.store(),
        }
    }

    fn start(self: &Arc<Self>) -> Result<Tools, Failure> {
        let alone = Alone::enter(self)?;
        let workspace = self.workspace()?;
        let policy = self.policy(&workspace, self.confines.bounds.limits.wall);
        let (jail, stream, root, settings) = self.machine.start(&policy, |compiled| {
            let blueprint = &compiled.blueprint;
            let (jail, stream) = Jail::serve(blueprint)?;
            let environment = blueprint.environment.clone();
            let proxy = environment.get("http_proxy").cloned();
            let settings = Settings { environment, proxy, ..self.settings.clone() };
            Ok((jail, stream, blueprint.folder.clone(), settings))
        })?;
        let broken = |error: io::Error| super::jail::broken(&error.into());
        let running = Running::follow(jail, self.asked.clone()).map_err(broken)?;
        Purpose::Tools.tell(&stream).map_err(broken)?;
        let client = Client::start(stream, &root, settings).map_err(broken)?;
        Ok(Tools { client, running, inside: Arc::clone(self), _alone: alone })
    }

    /// Before anything was made there is nothing to see, and what nobody keeps is no change.
    fn look(&self) -> Result<Option<Change>, Failure> {
        let Some(workspace) = self.made() else { return Ok(None) };
        if !self.policy(&workspace, self.confines.bounds.limits.wall).is_keeping() {
            return Ok(None);
        }
        workspace.look().map_err(|error| gone(&workspace, &error))
    }

    fn run(
        self: &Arc<Self>,
        command: &str,
        limit: Duration,
        leash: &Leash,
    ) -> Result<Ran, Failure> {
        let _alone = Alone::enter(self)?;
        let workspace = self.workspace()?;
        let hear = |said| self.asked.hear(said);
        command::run(&self.machine, &self.policy(&workspace, limit), command, (leash, &hear))
    }

    /// What became of the workspace, once the tools are gone.
    fn harvest(self: &Arc<Self>) -> Result<Change, Failure> {
        let _alone = Alone::enter(self)?;
        let workspace = match (self.made(), &self.confines.change) {
            (Some(made), _) => made,
            (None, None) => return Ok(Change::default()),
            (None, Some(_)) => self.workspace()?,
        };
        if let Err(error) = reopen(&workspace.layers.store)
            && error.kind() == io::ErrorKind::NotFound
        {
            // Any other reason the harvest tells itself; here it would find an empty layer.
            return Err(gone(&workspace, &error));
        }
        let policy = self.policy(&workspace, self.confines.bounds.limits.wall);
        self.machine.harvest(&policy, &workspace.rules)
    }
}

fn gone(workspace: &Workspace, error: &io::Error) -> Failure {
    let place = workspace.layers.store.display();
    if error.kind() == io::ErrorKind::NotFound {
        let message = "What was written is gone: somebody took the attempt's folder away.";
        let hint = "Run the task again, and leave the folder for state alone meanwhile.";
        return Failure::work(Code::NoWorkspace, place, message, hint);
    }
    let message = format!("The workspace cannot be looked at: {error}.");
    Failure::work(Code::NoWorkspace, place, message, DISK_HINT)
}

const DISK_HINT: &str = "Check the disk, and the folder for state that `XDG_STATE_HOME` names.";

fn no_workspace(error: &io::Error) -> Failure {
    let message = format!("The workspace could not be made: {error}.");
    Failure::work(Code::NoWorkspace, "", message, DISK_HINT)
}

/// The only tool whose last line is the exit code of a program.
const BASH: &str = "Bash";

struct Tools {
    // In this order: the server is told to end before its jail is, and then somebody else may work there.
    client: Client,
    running: Running,
    inside: Arc<Inside>,
    _alone: Alone,
}

impl Tools {
    /// What was returned, with what the jail has to do with it.
    fn explain(&self, tool: &str, mut returned: Returned) -> Returned {
        let bounds = &self.inside.confines.bounds;
        match &mut returned.outcome {
            Outcome::Output(text) if tool == BASH => {
                let code = text.rsplit_once(EXIT_CODE);
                let code = code.and_then(|(_, code)| code.parse::<i32>().ok());
                let at = text.len() - text.lines().next_back().map_or(0, str::len);
                if let Some((_, why)) = code.and_then(|code| bounds.at_signal(code - 128)) {
                    text.insert_str(at, &format!("[{why}]\n"));
                }
            }
            Outcome::Failed(text) if self.client.is_ended() => {
                if let Some(Ending::Killed(cause)) = self.running.ended() {
                    *text = format!("{} {text}", bounds.ended(cause));
                }
            }
            _ => {}
        }
        returned
    }
}

impl Toolbox for Tools {
    fn specs(&self) -> Vec<Spec> {
        self.client.specs()
    }

    fn call<'a>(&'a self, invocation: &'a Invocation) -> BoxFuture<'a, Returned> {
        let returned = self.client.call(invocation.clone());
        Box::pin(async move { self.explain(&invocation.call.name, returned.await) })
    }
}

/// A jail whose supervisor is heard until it ends.
pub(super) struct Running {
    handle: Handle,
    thread: Option<JoinHandle<()>>,
    /// How it ended, once it did.
    ending: Arc<(Mutex<Option<Ending>>, Condvar)>,
    /// Nobody waits twice for a jail that does not end.
    awaited: AtomicBool,
}

/// From where the tools are gone to where it is told why: the supervisor only has to take the jail away.
const TOLD_WITHIN: Duration = Duration::from_millis(500);

impl Running {
    pub(super) fn follow(jail: Jail, asked: Asked) -> io::Result<Self> {
        let handle = jail.handle()?;
        let ending = Arc::<(Mutex<Option<Ending>>, Condvar)>::default();
        let told = Arc::clone(&ending);
        let heard = move || {
            // Nobody heard why where the supervisor itself is gone.
            let ended = jail.wait(|said| asked.hear(said)).unwrap_or(Ending::Killed(Cause::Asked));
            *told.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(ended);
            told.1.notify_all();
        };
        let thread = thread::Builder::new().name("jail".into()).spawn(heard)?;
        Ok(Self { handle, thread: Some(thread), ending, awaited: AtomicBool::new(false) })
    }

    /// How it ended; nothing where it goes on.
    fn ended(&self) -> Option<Ending> {
        let (ending, told) = &*self.ending;
        let held = ending.lock().unwrap_or_else(PoisonError::into_inner);
        if self.awaited.swap(true, Ordering::Relaxed) {
            return *held;
        }
        let waited = told.wait_timeout_while(held, TOLD_WITHIN, |ending| ending.is_none());
        waited.map_or(None, |(ending, _)| *ending)
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
