//! The tool server as a plain child process. It goes as soon as there is a jail; until then only tests may use it.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use sequester_core::fault::Code;
use sequester_core::future::BoxFuture;
use sequester_core::tool::{Invocation, Outcome, Returned, Spec, Toolbox};
use sequester_tools::{Client, Settings, Workbench};

use crate::failure::Failure;
use crate::output;

const SWITCH: &str = "SEQUESTER_TEST_UNJAILED";
const SERVE: &str = "--serve-tools-unjailed";
/// Longer than the server itself waits for commands that it has ended.
const PATIENCE: Duration = Duration::from_secs(10);

/// Starts its server with the first call.
pub(crate) struct Unjailed {
    root: PathBuf,
    settings: Settings,
    client: OnceLock<Result<Client, String>>,
    child: Mutex<Option<Child>>,
}

/// In the child process: serves, and never comes back to `main`.
pub(crate) fn enter_if_server() -> Option<ExitCode> {
    let mut arguments = env::args_os().skip(1);
    if arguments.next()? != SERVE || env::var_os(SWITCH).is_none() {
        return None;
    }
    let root = PathBuf::from(arguments.next()?);
    let settings: Settings = serde_json::from_str(arguments.next()?.to_str()?).ok()?;
    let serve = || -> Result<(), Box<dyn std::error::Error>> {
        let workbench = Workbench::new(&root, settings)?;
        let stream = io::stdin().as_fd().try_clone_to_owned()?;
        sequester_tools::serve(stream.into(), workbench)?;
        Ok(())
    };
    Some(serve().map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS))
}

/// Without a jail nothing runs, unless a test says so; and then it is said every time.
pub(crate) fn allow() -> Result<(), Failure> {
    if env::var_os(SWITCH).is_some_and(|value| value == "1") {
        output::tell("this subagent runs WITHOUT A JAIL, because a test asked for it.");
        return Ok(());
    }
    Err(Failure::guarantee(
        Code::NoJail,
        "",
        "A subagent needs a jail, and this version cannot make one yet.",
        "Until then write it as a task of a plan: `sequester context PLAN TASK --task-call` prints its isolated context for a \
         coding agent that you drive yourself.",
    ))
}

impl Unjailed {
    pub(crate) fn new(root: PathBuf, home: &Path, mut settings: Settings) -> Self {
        settings.environment = environment(home);
        Self { root, settings, client: OnceLock::new(), child: Mutex::new(None) }
    }

    fn start(&self) -> io::Result<Client> {
        let (ours, theirs) = UnixStream::pair()?;
        let child = Command::new(env::current_exe()?)
            .args([OsString::from(SERVE), self.root.clone().into()])
            .arg(serde_json::to_string(&self.settings)?)
            .env_clear()
            .env(SWITCH, "1")
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Ctrl-C is told to every process of the terminal's group, and the server has commands to end first.
            .process_group(0)
            .spawn()?;
        *self.child.lock().unwrap_or_else(PoisonError::into_inner) = Some(child);
        Client::connect(ours, self.settings.patience())
    }
}

/// What a command finds: the person's tool chains, and a home of its own.
fn environment(home: &Path) -> BTreeMap<String, String> {
    let theirs = |name: &str| env::var(name).ok();
    let beneath = |folder: &str| theirs("HOME").map(|home| format!("{home}/{folder}"));
    let named = [
        ("PATH", theirs("PATH")),
        ("HOME", Some(home.display().to_string())),
        ("LANG", Some("C.UTF-8".to_owned())),
        ("TERM", Some("dumb".to_owned())),
        ("CARGO_HOME", theirs("CARGO_HOME").or_else(|| beneath(".cargo"))),
        ("RUSTUP_HOME", theirs("RUSTUP_HOME").or_else(|| beneath(".rustup"))),
    ];
    named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

impl Toolbox for Unjailed {
    fn specs(&self) -> Vec<Spec> {
        sequester_tools::specs()
    }

    fn call<'a>(&'a self, invocation: &'a Invocation) -> BoxFuture<'a, Returned> {
        let client = self.client.get_or_init(|| self.start().map_err(|error| error.to_string()));
        match client {
            Ok(client) => client.call(invocation.clone()),
            Err(error) => {
                let text = format!("The tools could not be started: {error}.");
                Box::pin(async move { Outcome::Failed(text).into() })
            }
        }
    }
}

impl Drop for Unjailed {
    /// The server ends with its input, and ends its commands first: killed at once, it would leave them running.
    fn drop(&mut self) {
        drop(self.client.take());
        let child = self.child.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut child) = child else { return };
        let start = Instant::now();
        while matches!(child.try_wait(), Ok(None)) && start.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(2));
        }
        let _ = child.kill();
        let _ = child.wait();
    }
}
