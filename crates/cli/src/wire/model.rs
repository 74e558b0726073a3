//! From a model's name to a model that can be asked.

use std::env;
use std::process::{Command, Stdio};

use sequester_core::agent::{Ending, Fault, Outcome};
use sequester_core::fault::Code;
use sequester_core::provider::{Error, Kind, Provider};
use sequester_llm::{
    Literal, Models, Named, Passed, Pool, Remote, Sources, Timeouts, choose, resolve,
};

use crate::failure::Failure;
use crate::wire::config::Settings;

/// Connections and configuration, for as many models as are asked.
pub(crate) struct Connections<'a> {
    pool: Pool,
    settings: &'a Settings,
}

/// A model that can be asked.
pub(crate) struct Connected {
    pub(crate) provider: Box<dyn Provider>,
    pub(crate) searches: bool,
    pub(crate) chosen: Option<Chosen>,
}

/// Where nobody named the model: why it was taken, and what was passed over that a person might have expected.
pub(crate) struct Chosen {
    pub(crate) why: String,
    pub(crate) instead_of: Vec<Passed>,
    /// The service it belongs to; `literal` has none.
    service: Option<&'static str>,
}

impl Connected {
    /// Whether the provider would have nothing of us, and another is to be looked for: nobody asked for this one.
    pub(crate) fn rejected(&self, ending: &Ending) -> Option<Passed> {
        let provider = self.chosen.as_ref()?.service?;
        match &ending.outcome {
            Outcome::Failed { fault: Fault::Provider { error } }
                if ending.spent.turns == 0
                    && matches!(error.kind, Kind::Authentication | Kind::Forbidden) =>
            {
                Some(Passed { provider, why: error.message.clone(), expected: true })
            }
            _ => None,
        }
    }
}

impl<'a> Connections<'a> {
    pub(crate) fn new(settings: &'a Settings) -> Result<Self, Failure> {
        let pool = Pool::new(Timeouts::default()).map_err(|error| refuse("", &error))?;
        Ok(Self { pool, settings })
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
        // What is configured for the aliases is in the names already.
        let models = Models::default();
        let environment = |name: &str| env::var(name).ok();
        let command =
            |provider: &str| self.settings.keys().get(provider).map(|line| print_key(line));
        let sources = Sources { models: &models, environment: &environment, command: &command };
        let (named, chosen) = match resolve(name, &sources).map_err(|error| refuse(name, &error))? {
            Named::Auto(tier) => {
                let choice = choose(tier, &sources, &self.pool, rejected).await;
                let service = match &choice.model {
                    Named::Target(target) => Some(target.service.name),
                    _ => None,
                };
                let news = choice.passed.into_iter().skip(rejected.len());
                let instead_of = news.filter(|one| one.expected).collect();
                (choice.model, Some(Chosen { why: choice.why, instead_of, service }))
            }
            named => (named, None),
        };
        let Named::Target(target) = named else {
            return Ok(Connected { provider: Box::new(Literal), searches: false, chosen });
        };
        let remote = Remote::new(&self.pool, target);
        Ok(Connected { searches: remote.can_search(), provider: Box::new(remote), chosen })
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

/// A model that cannot be had is a matter of configuration.
fn refuse(name: &str, error: &Error) -> Failure {
    let code = match error.kind {
        Kind::NoKey => Code::NoKey,
        Kind::UnknownModel => Code::UnknownModel,
        _ => Code::ProviderFailed,
    };
    Failure::input(code, name, error.message.clone(), error.kind.hint())
}
