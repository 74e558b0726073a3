//! Where tools work: one root, its settings, and the order in which calls may run.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::Duration;

use sequester_core::limits::OUTPUT_BYTES;
use sequester_core::secret::{Redacted, SecretSet, redact};
use sequester_core::tool::{Effect, Invocation, Outcome, Returned};
use serde::{Deserialize, Serialize};

use crate::bash::Commands;
use crate::root::Root;
use crate::tool;
use sequester_core::excerpt::cap;

/// Limits and grants of one workbench.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Longer output is cut; head and tail stay.
    pub output_bytes: usize,
    /// The longest that one Bash call may take.
    pub bash_time: Duration,
    /// The longest that one Grep or Glob may take.
    pub search_time: Duration,
    /// The longest that one WebFetch may take, redirects included.
    pub fetch_time: Duration,
    /// Hosts that WebFetch may ask: `example.org`, `*.example.org`, `example.org:8080`. None, if empty.
    pub hosts: Vec<String>,
    /// Through which WebFetch goes, as in `http://127.0.0.1:3128`.
    pub proxy: Option<String>,
    /// All that a command finds in its environment.
    pub environment: BTreeMap<String, String>,
}

impl Default for Settings {
    fn default() -> Self {
        let environment = [
            ("HOME", "/tmp"),
            ("LANG", "C.UTF-8"),
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("TERM", "dumb"),
        ];
        Self {
            output_bytes: OUTPUT_BYTES,
            bash_time: Duration::from_mins(2),
            search_time: Duration::from_secs(20),
            fetch_time: Duration::from_secs(30),
            hosts: Vec::new(),
            proxy: None,
            environment: environment.map(|(name, value)| (name.into(), value.into())).into(),
        }
    }
}

impl Settings {
    /// How long a server may be silent while it owes an answer: its slowest call, and what it takes to end one on a
    /// machine that has much to do.
    pub fn patience(&self) -> Duration {
        let slowest = self.bash_time.max(self.search_time).max(self.fetch_time);
        slowest.saturating_add(Duration::from_mins(1))
    }
}

/// The tools over one folder.
pub struct Workbench {
    pub(crate) root: Root,
    pub(crate) settings: Settings,
    pub(crate) commands: Commands,
    /// Shared by calls that only look, held alone by those that change.
    turn: RwLock<()>,
    /// Secrets found since a call last returned.
    secrets: Mutex<SecretSet>,
}

impl Workbench {
    /// Fails if `root` is no folder that can be opened.
    pub fn new(root: &Path, settings: Settings) -> io::Result<Self> {
        let root = Root::open(root)?;
        let (commands, turn, secrets) = (Commands::default(), RwLock::new(()), Mutex::default());
        Ok(Self { root, settings, commands, turn, secrets })
    }

    /// Carries out one call and waits for it. What comes back is redacted and within the output's limit.
    pub fn call(&self, invocation: &Invocation) -> Returned {
        let mut returned = self.run(invocation).unwrap_or_else(Returned::from);
        let clean =
            |text: String| cap(self.redact(&text).text.into_owned(), self.settings.output_bytes);
        returned.outcome = returned.outcome.map(clean);
        returned.secrets = std::mem::take(&mut *self.found());
        returned
    }

    /// Redacts a text that a call shows, and keeps what was found for the one who called.
    pub(crate) fn redact<'t>(&self, text: &'t str) -> Redacted<'t> {
        let redacted = redact(text);
        if !redacted.found.is_empty() {
            self.found().learn(text, &redacted.found);
        }
        redacted
    }

    fn found(&self) -> std::sync::MutexGuard<'_, SecretSet> {
        self.secrets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, invocation: &Invocation) -> Result<Returned, Outcome> {
        let Some(entry) = tool::find(&invocation.call.name) else {
            let name = cap(invocation.call.name.clone(), 200);
            return Err(Outcome::Refused(format!("There is no tool `{name}` here.")));
        };
        // The lock guards no value, so a call that broke leaves nothing half done in it.
        if entry.effect == Effect::Reads {
            let _turn = self.turn.read().unwrap_or_else(PoisonError::into_inner);
            (entry.run)(self, invocation)
        } else {
            let _turn = self.turn.write().unwrap_or_else(PoisonError::into_inner);
            (entry.run)(self, invocation)
        }
    }

    /// Of a process that does nothing else: whatever a command leaves behind is ended with its call.
    pub(crate) fn own_process(&self) -> io::Result<()> {
        self.commands.own_process()
    }

    /// Ends every command that runs and lets none start.
    pub fn stop(&self) {
        self.commands.stop();
    }
}
