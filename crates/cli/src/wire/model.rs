//! From a model's name to a model that can be asked.

use std::env;
use std::process::{Command, Stdio};

use sequester_core::fault::Code;
use sequester_core::provider::{Error, Kind};
use sequester_core::spelling;
use sequester_llm::{Connected, Passed, Pool, Sources, Timeouts};

use crate::failure::Failure;
use crate::wire::config::Settings;

/// Connections and configuration, for as many models as are asked.
pub(crate) struct Connections {
    pool: Pool,
    settings: Settings,
}

impl Connections {
    pub(crate) fn new(settings: &Settings) -> Result<Self, Failure> {
        let pool = Pool::new(Timeouts::default()).map_err(|error| refuse("", &error))?;
        Ok(Self { pool, settings: settings.clone() })
    }

    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Finds the model; only `auto` and its aliases look for servers nearby, and for none that was `rejected`.
    pub(crate) async fn connect(
        &self,
        name: &str,
        rejected: &[Passed],
    ) -> Result<Connected, Failure> {
        self.open(name, rejected).await.map_err(|error| refuse(name, &error))
    }

    /// The same, with the error as the provider's port has it.
    pub(crate) async fn open(&self, name: &str, rejected: &[Passed]) -> Result<Connected, Error> {
        let environment = |name: &str| env::var(name).ok();
        let command =
            |provider: &str| self.settings.keys().get(provider).map(|line| print_key(line));
        // What is configured for the aliases is in the names already.
        let sources = Sources { command: &command, ..Sources::of(&environment) };
        sequester_llm::connect(name, &sources, &self.pool, rejected).await
    }
}

/// Runs the person's own key command. What it says on standard error is theirs to see.
fn print_key(line: &str) -> Result<String, String> {
    let output = Command::new("sh")
        .args(["-c", line])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("{error}."))?;
    if !output.status.success() {
        return Err(format!("it ended with {}.", output.status));
    }
    String::from_utf8(output.stdout).map_err(|_| "it printed no text.".to_owned())
}

/// The first name of a list that can be no model's, and what to do about it.
pub(crate) fn misspelt(list: &str) -> Option<(String, String)> {
    let wrong = list.split(',').map(str::trim).find(|name| !sequester_llm::is_name(name))?;
    let message = format!("`{wrong}` is no model's name: it must be `provider/model`.");
    Some((message, hint(wrong)))
}

const WITHOUT_NAME: &str = "`auto` takes the first that can be had, `literal` needs no key and carries out what a task spells out.";

fn hint(name: &str) -> String {
    let meant = spelling::perhaps(name, sequester_llm::WORDS);
    meant.unwrap_or_else(|| format!("{} {WITHOUT_NAME}", Kind::UnknownModel.hint()))
}

/// A model that cannot be had is a matter of configuration.
fn refuse(name: &str, error: &Error) -> Failure {
    let code = match error.kind {
        Kind::NoKey => Code::NoKey,
        Kind::UnknownModel => Code::UnknownModel,
        _ => Code::ProviderFailed,
    };
    let hint = match error.kind {
        Kind::UnknownModel => hint(name),
        kind => kind.hint().to_owned(),
    };
    Failure::input(code, name, error.message.clone(), hint)
}
