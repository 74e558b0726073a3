//! A model's name: from `provider/model` to where it is and with which key.

#[cfg(test)]
mod tests;

use sequester_core::provider::{Error, Kind};

use crate::key::Key;
use crate::service::{self, Service, services};

/// Which of a provider's models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    Strong,
    Default,
    Cheap,
}

/// The models a person configured for the three aliases, each a name without alias.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Models {
    pub strong: Option<String>,
    pub default: Option<String>,
    pub cheap: Option<String>,
}

/// What a name is resolved with.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    pub models: &'a Models,
    /// A variable of the environment.
    pub environment: &'a (dyn Fn(&str) -> Option<String> + Sync),
    /// What the person's key command for a provider printed, or why it failed; `None` where none is configured.
    pub command: &'a (dyn Fn(&str) -> Option<Result<String, String>> + Sync),
}

impl<'a> Sources<'a> {
    /// The environment alone: nothing is configured.
    pub fn of(environment: &'a (dyn Fn(&str) -> Option<String> + Sync)) -> Self {
        static NONE: Models = Models { strong: None, default: None, cheap: None };
        Self { models: &NONE, environment, command: &|_| None }
    }
}

/// What a name stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum Named {
    Literal,
    /// Whatever can be had: see `choose`.
    Auto(Tier),
    Target(Target),
}

/// A model that can be asked over the network.
#[derive(Clone, Debug)]
pub struct Target {
    pub service: &'static Service,
    /// As the provider names it.
    pub model: String,
    /// The address of its API, ending in a slash.
    pub(crate) address: String,
    pub(crate) key: Option<Key>,
}

impl PartialEq for Target {
    fn eq(&self, other: &Self) -> bool {
        self.service.name == other.service.name
            && self.model == other.model
            && self.address == other.address
            && self.key == other.key
    }
}

impl Target {
    /// `provider/model`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.service.name, self.model)
    }

    /// Nobody is paid for it: a server that asks for no key.
    pub fn is_free(&self) -> bool {
        self.key.is_none()
    }
}

/// Names that stand alone.
pub const WORDS: [&str; 5] = ["literal", "auto", "strong", "default", "cheap"];

/// Whether a text has the form of a model's name: one of [`WORDS`], or `provider/model`.
pub fn is_name(text: &str) -> bool {
    let pair = text.split_once('/').is_some_and(|(one, two)| !one.is_empty() && !two.is_empty());
    WORDS.contains(&text) || pair || text.starts_with("acp:")
}

/// Finds what a name stands for. Nothing is asked over the network.
pub fn resolve(name: &str, sources: &Sources<'_>) -> Result<Named, Error> {
    let models = sources.models;
    let (tier, configured) = match name {
        "strong" => (Tier::Strong, &models.strong),
        "default" => (Tier::Default, &models.default),
        "cheap" => (Tier::Cheap, &models.cheap),
        _ => return plain(name, sources),
    };
    match configured.as_deref() {
        None | Some("auto") => Ok(Named::Auto(tier)),
        Some("strong" | "default" | "cheap") => Err(unknown(format!(
            "The alias `{name}` is configured as another alias; it must name a model."
        ))),
        Some(model) => plain(model, sources),
    }
}

fn plain(name: &str, sources: &Sources<'_>) -> Result<Named, Error> {
    match name {
        "literal" => return Ok(Named::Literal),
        "auto" => return Ok(Named::Auto(Tier::Default)),
        _ => {}
    }
    if name.starts_with("acp:") {
        return Err(unknown(format!("Agent programs such as `{name}` cannot be used yet.")));
    }
    let (provider, model) =
        name.split_once('/').filter(|(_, model)| !model.is_empty()).ok_or_else(|| {
            unknown(format!("`{name}` is no model's name: it must be `provider/model`."))
        })?;
    let service = service::find(provider).ok_or_else(|| {
        let known: Vec<&str> = services().iter().map(|service| service.name).collect();
        unknown(format!("There is no provider `{provider}`. Known are {}.", known.join(", ")))
    })?;
    Ok(Named::Target(target(service, model, sources)?))
}

/// Where the service is and with which key, for one of its models.
pub(crate) fn target(
    service: &'static Service,
    model: &str,
    sources: &Sources<'_>,
) -> Result<Target, Error> {
    target_with(key(service, sources)?, service, model, sources)
}

pub(crate) fn target_with(
    key: Option<Key>,
    service: &'static Service,
    model: &str,
    sources: &Sources<'_>,
) -> Result<Target, Error> {
    let base = base(service, sources);
    let address = match &base {
        Some(base) => address(service, base)?,
        None => service.address.to_owned(),
    };
    // Whoever names another address may have no key there.
    if key.is_none() && base.is_none() && !service.keys.is_empty() {
        let variables = service.keys.join("` nor `");
        return Err(no_key(format!(
            "There is no key for `{}`: `{variables}` is not set.",
            service.name
        )));
    }
    Ok(Target { service, model: model.to_owned(), address, key })
}

/// The other address that the environment names.
pub(crate) fn base(service: &Service, sources: &Sources<'_>) -> Option<String> {
    let value = (sources.environment)(service.base?)?;
    Some(value.trim().to_owned()).filter(|value| !value.is_empty())
}

/// The key from the service's command, else from its variables.
pub(crate) fn key(service: &Service, sources: &Sources<'_>) -> Result<Option<Key>, Error> {
    match (sources.command)(service.name) {
        Some(Ok(printed)) => {
            let key = Key::new(&printed).ok_or_else(|| {
                no_key(format!("The key command of `{}` printed no key.", service.name))
            })?;
            return Ok(Some(key));
        }
        Some(Err(why)) => {
            return Err(no_key(format!("The key command of `{}` failed: {why}", service.name)));
        }
        None => {}
    }
    for variable in service.keys {
        let value = (sources.environment)(variable).unwrap_or_default();
        if value.trim().is_empty() {
            continue;
        }
        let key = Key::new(&value).ok_or_else(|| {
            no_key(format!("What is in `{variable}` is no key: it has blanks or odd characters."))
        })?;
        return Ok(Some(key));
    }
    Ok(None)
}

fn address(service: &Service, base: &str) -> Result<String, Error> {
    let mut url = if service.name == "ollama" { ollama(base) } else { base.to_owned() };
    if !url.ends_with('/') {
        url.push('/');
    }
    if !url.ends_with(service.version) {
        url.push_str(service.version);
    }
    let usable = reqwest::Url::parse(&url).is_ok_and(|parsed| {
        matches!(parsed.scheme(), "http" | "https") && parsed.has_host() && parsed.query().is_none()
    });
    if !usable {
        let variable = service.base.unwrap_or_default();
        let message = format!("What is in `{variable}` is no address of a server.");
        return Err(Error { kind: Kind::Network, message, retry_after: None });
    }
    Ok(url)
}

/// `OLLAMA_HOST` is also what Ollama's own server listens on: a host, a port, all interfaces.
fn ollama(host: &str) -> String {
    let (scheme, rest) = host.split_once("://").unwrap_or(("http", host));
    let (place, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (name, port) = match place.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (name, port),
        _ => (place, ""),
    };
    let name = if matches!(name, "" | "0.0.0.0" | "[::]") { "127.0.0.1" } else { name };
    let port = match (port, host.contains("://")) {
        ("", false) => ":11434".to_owned(),
        ("", true) => String::new(),
        (port, _) => format!(":{port}"),
    };
    format!("{scheme}://{name}{port}/{path}")
}

fn unknown(message: String) -> Error {
    Error { kind: Kind::UnknownModel, message, retry_after: None }
}

fn no_key(message: String) -> Error {
    Error { kind: Kind::NoKey, message, retry_after: None }
}
