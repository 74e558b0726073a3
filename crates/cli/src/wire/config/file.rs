//! One configuration file, key by key.

use std::collections::BTreeMap;
use std::ops::Range;

use sequester_core::agent::Registry;
use sequester_core::context::Share;
use sequester_core::fault::{Code, Fault, FileFault, Place};
use sequester_core::limits::{Limit, Limits};
use sequester_core::profile::{HOST_HINT, is_host};
use sequester_core::recall::Relevance;
use sequester_core::source::Origin;
use sequester_core::spelling;
use sequester_llm::Endpoint;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Config;
use crate::wire::misspelt;

const KEYS: [&str; 17] = [
    "agents",
    "checks",
    "function_lines",
    "hosts",
    "jobs",
    "keys",
    "limits",
    "model",
    "models",
    "protected",
    "records",
    "relevance",
    "review",
    "search",
    "share",
    "tdd",
    "workflow",
];
/// Read by later parts of the product; their values are kept as they are.
/// More tasks at once are of no use on one machine.
const MOST_JOBS: u16 = 256;
/// A function of fewer lines than this says nothing; more is no limit.
const FEWEST_LINES: u16 = 5;
const MOST_LINES: u16 = 1_000;
const LATER: [&str; 8] =
    ["function_lines", "jobs", "records", "relevance", "review", "share", "tdd", "workflow"];
const OWN_FILE: &str = "your own configuration is `config.toml` in `~/.config/sequester`, or where `XDG_CONFIG_HOME` says";
const CHECKS: [&str; 4] = ["types", "lint", "tests", "security"];
pub(super) const RECORDS: [&str; 4] = ["summaries", "notes", "artifacts", "backpack"];
const ALIASES: [&str; 3] = ["strong", "cheap", "default"];
/// A file with more faults than this is no configuration.
const FAULTS: usize = 50;

impl Config {
    /// What the file sets, and all that is wrong with it, in the order of places.
    pub(super) fn parse(text: &str, origin: &Origin, agents: &Registry) -> (Self, Vec<FileFault>) {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut reader = Reader { text, origin, agents, faults: Vec::new() };
        let mut config = Self::default();
        match DeTable::parse(text) {
            Ok(table) => {
                for (key, value) in table.get_ref() {
                    config.set(&mut reader, key.get_ref(), key.span(), value);
                }
            }
            Err(error) => {
                let message = format!("This is not TOML: {}.", error.message());
                reader.bad(&error.span().unwrap_or(0..0), message, "Write `key = value` lines.");
            }
        }
        reader.faults.sort_by_key(|one| one.fault.place);
        (config, reader.faults)
    }

    fn set(
        &mut self,
        reader: &mut Reader<'_>,
        key: &str,
        at: Range<usize>,
        value: &Spanned<DeValue<'_>>,
    ) {
        match key {
            "hosts" | "protected" | "search" if !reader.origin.is_trusted() => {
                reader.untrusted(&at, format!("A repository cannot set `{key}`."));
            }
            "keys" if reader.origin.in_repository().is_some() => {
                let message = "A repository cannot set `keys`, whoever accepts it.".to_owned();
                reader.push(Code::UntrustedSetting, &at, message, format!("Move it: {OWN_FILE}."));
            }
            "model" => self.model = reader.model(key, value),
            "models" => {
                for (alias, at, value) in reader.table(key, value) {
                    if ALIASES.contains(&alias) {
                        self.models.extend(
                            reader.model(alias, value).map(|model| (alias.to_owned(), model)),
                        );
                    } else {
                        reader.unknown(&at, alias, &ALIASES);
                    }
                }
            }
            "agents" => self.set_agents(reader, value),
            "limits" => self.set_limits(reader, value),
            "hosts" => self.hosts = reader.hosts(key, value),
            "protected" => self.set_grants(reader, value),
            "search" => {
                self.search =
                    reader.text(key, value).filter(|text| reader.check_search(text, value));
            }
            "keys" => {
                for (provider, _, value) in reader.table(key, value) {
                    self.keys.extend(
                        reader.text(provider, value).map(|command| (provider.to_owned(), command)),
                    );
                }
            }
            "checks" => {
                for (name, at, value) in reader.table(key, value) {
                    if CHECKS.contains(&name) {
                        // No command at all: it is switched off.
                        let is_off = matches!(value.get_ref(), DeValue::Boolean(false));
                        let commands = if is_off { Vec::new() } else { reader.texts(name, value) };
                        self.checks.insert(name.to_owned(), commands);
                    } else {
                        reader.unknown(&at, name, &CHECKS);
                    }
                }
            }
            _ if LATER.contains(&key) => {
                reader.check_later(key, value);
                self.later.insert(key.to_owned(), owned(value.get_ref()));
            }
            _ => reader.unknown(&at, key, &KEYS),
        }
    }

    fn set_agents(&mut self, reader: &mut Reader<'_>, value: &Spanned<DeValue<'_>>) {
        for (name, at, value) in reader.table("agents", value) {
            reader.check_agent(name, &at);
            for (key, at, value) in reader.table(name, value) {
                if key == "model" {
                    self.agents
                        .extend(reader.model(key, value).map(|model| (name.to_owned(), model)));
                } else {
                    reader.unknown(&at, key, &["model"]);
                }
            }
        }
    }

    fn set_grants(&mut self, reader: &mut Reader<'_>, value: &Spanned<DeValue<'_>>) {
        for (key, at, value) in reader.table("protected", value) {
            if key != "grant" {
                reader.unknown(&at, key, &["grant"]);
                continue;
            }
            for (name, at) in reader.list(key, value) {
                if let Err(error) = self.grants.grant(&name) {
                    let message = format!("`{name}` cannot be granted: {error}");
                    reader.bad(&at, message, error.hint());
                }
            }
        }
    }

    fn set_limits(&mut self, reader: &mut Reader<'_>, value: &Spanned<DeValue<'_>>) {
        for (key, at, value) in reader.table("limits", value) {
            let Some(limit) = Limit::parse(key) else {
                reader.unknown(&at, key, &Limit::ALL.map(Limit::as_str));
                continue;
            };
            let text = match value.get_ref() {
                DeValue::String(text) => text.to_string(),
                DeValue::Integer(number) => number.as_str().to_owned(),
                _ => String::new(),
            };
            match limit.read(&text) {
                Ok(number) if reader.check_limit(limit, number, &at) => {
                    self.limits.insert(limit, number);
                }
                Ok(_) => {}
                Err(expected) => {
                    let message = format!("`limits.{key}` cannot be read.");
                    reader.bad(&value.span(), message, format!("Write {expected}."));
                }
            }
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    origin: &'a Origin,
    agents: &'a Registry,
    faults: Vec<FileFault>,
}

/// A key with its place, and its value.
type Entry<'t, 'i> = (&'t str, Range<usize>, &'t Spanned<DeValue<'i>>);

impl Reader<'_> {
    fn table<'t, 'i>(&mut self, key: &str, value: &'t Spanned<DeValue<'i>>) -> Vec<Entry<'t, 'i>> {
        let DeValue::Table(table) = value.get_ref() else {
            self.bad(
                &value.span(),
                format!("`{key}` must be a table."),
                format!("Write `[{key}]`, then its keys."),
            );
            return Vec::new();
        };
        table.iter().map(|(key, value)| (key.get_ref().as_ref(), key.span(), value)).collect()
    }

    fn text(&mut self, key: &str, value: &Spanned<DeValue<'_>>) -> Option<String> {
        match value.get_ref() {
            DeValue::String(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
            _ => {
                self.bad(
                    &value.span(),
                    format!("`{key}` must be a text."),
                    format!("Write `{key} = \"...\"`."),
                );
                None
            }
        }
    }

    /// A text, or a list of them.
    fn texts(&mut self, key: &str, value: &Spanned<DeValue<'_>>) -> Vec<String> {
        match value.get_ref() {
            DeValue::Array(values) => {
                values.iter().filter_map(|value| self.text(key, value)).collect()
            }
            _ => self.text(key, value).into_iter().collect(),
        }
    }

    /// Texts with their places, nothing but a list of them.
    fn list(&mut self, key: &str, value: &Spanned<DeValue<'_>>) -> Vec<(String, Range<usize>)> {
        let DeValue::Array(values) = value.get_ref() else {
            self.bad(
                &value.span(),
                format!("`{key}` must be a list of texts."),
                format!("Write `{key} = [\"...\"]`."),
            );
            return Vec::new();
        };
        let placed = values.iter().filter_map(|value| Some((self.text(key, value)?, value.span())));
        placed.collect()
    }

    fn hosts(&mut self, key: &str, value: &Spanned<DeValue<'_>>) -> Vec<String> {
        let mut hosts = Vec::new();
        for (host, at) in self.list(key, value) {
            if is_host(&host) {
                hosts.push(host);
            } else {
                self.bad(&at, format!("`{host}` is no host."), HOST_HINT);
            }
        }
        hosts
    }

    /// One model or several, each of which could be one by its form.
    fn model(&mut self, key: &str, value: &Spanned<DeValue<'_>>) -> Option<String> {
        let list = self.text(key, value)?;
        if let Some((message, hint)) = misspelt(&list) {
            self.push(Code::UnknownModel, &value.span(), message, hint);
            return None;
        }
        Some(list)
    }

    /// The user's own file holds for every repository, and an agent of another one is no mistake; a slip is.
    fn check_agent(&mut self, name: &str, at: &Range<usize>) {
        let names = self.agents.roles().iter().map(|role| role.name.as_str());
        let own = self.origin.in_repository().is_none();
        let elsewhere = own && spelling::nearest(name, names).is_none();
        if !self.agents.knows(name) && !elsewhere {
            let message = format!("There is no agent `{name}`.");
            self.push(Code::UnknownAgent, at, message, self.agents.hint(name));
        }
    }

    fn check_search(&mut self, text: &str, value: &Spanned<DeValue<'_>>) -> bool {
        let fits = text == "provider" || Endpoint::is_template(text);
        if !fits {
            let message = "`search` is no address of a search endpoint with `{query}` in it.";
            let hint = "Write \"https://host/search?q={query}&format=json\", or \"provider\" for the model's own search.";
            self.bad(&value.span(), message, hint);
        }
        fits
    }

    /// What passes from task to task is known word by word; the rest is read where it is used.
    fn check_later(&mut self, key: &str, value: &Spanned<DeValue<'_>>) {
        match key {
            "relevance" => self.check_word(key, value, &Relevance::ALL.map(Relevance::as_str)),
            "share" => self.check_word(key, value, &Share::ALL.map(Share::as_str)),
            "function_lines" => {
                let number = value.get_ref().as_integer().map(|one| one.as_str().parse::<u16>());
                if !matches!(number, Some(Ok(FEWEST_LINES..=MOST_LINES))) {
                    let message = format!(
                        "`function_lines` must be a number from {FEWEST_LINES} to {MOST_LINES}."
                    );
                    self.bad(&value.span(), message, "Write `function_lines = 40`.");
                }
            }
            "jobs" => {
                let number = value.get_ref().as_integer().map(|one| one.as_str().parse::<u16>());
                if !matches!(number, Some(Ok(1..=MOST_JOBS))) {
                    let message = format!("`jobs` must be a number from 1 to {MOST_JOBS}.");
                    self.bad(&value.span(), message, "Write `jobs = 4`.");
                }
            }
            "records" => {
                for (kind, at, value) in self.table(key, value) {
                    if !RECORDS.contains(&kind) {
                        self.unknown(&at, kind, &RECORDS);
                    } else if !matches!(value.get_ref(), DeValue::Boolean(_)) {
                        let message = format!("`records.{kind}` must be `true` or `false`.");
                        self.bad(&value.span(), message, format!("Write `{kind} = true`."));
                    }
                }
            }
            _ => {}
        }
    }

    fn check_word(&mut self, key: &str, value: &Spanned<DeValue<'_>>, known: &[&str]) {
        if self.text(key, value).is_some_and(|text| !known.contains(&text.as_str())) {
            let hint = format!("Write `{}`.", known.join("`, `"));
            self.bad(&value.span(), format!("`{key}` has no such value."), hint);
        }
    }

    /// Nobody sets the context above its ceiling, and the repository nothing above its default.
    fn check_limit(&mut self, limit: Limit, number: u64, at: &Range<usize>) -> bool {
        let name = limit.as_str();
        if limit == Limit::Context && number > Limits::CONTEXT_CEILING as u64 {
            let message = format!("`limits.{name}` is above {}.", Limits::CONTEXT_CEILING);
            self.bad(at, message, "Set a smaller number.");
            return false;
        }
        let above = limit.default().is_some_and(|default| number > default);
        if above && !self.origin.is_trusted() {
            self.untrusted(
                at,
                format!("A repository cannot set `limits.{name}` above its default."),
            );
            return false;
        }
        true
    }

    fn untrusted(&mut self, at: &Range<usize>, message: String) {
        let hint = format!(
            "Accept the file as it stands with `sequester trust`, take it out, or move it: {OWN_FILE}."
        );
        self.push(Code::UntrustedSetting, at, message, hint);
    }

    fn unknown(&mut self, at: &Range<usize>, key: &str, known: &[&str]) {
        let hint = spelling::perhaps(key, known.iter().copied())
            .unwrap_or_else(|| format!("The keys here are `{}`.", known.join("`, `")));
        self.bad(at, format!("`{key}` is not a key that is known here."), hint);
    }

    fn bad(&mut self, at: &Range<usize>, message: impl Into<String>, hint: impl Into<String>) {
        self.push(Code::BadConfiguration, at, message.into(), hint.into());
    }

    fn push(&mut self, code: Code, at: &Range<usize>, message: String, hint: String) {
        if self.faults.len() < FAULTS {
            let fault = Fault::new(code, place(self.text, at.start), message, hint);
            self.faults.push(FileFault { file: self.origin.to_string(), fault });
        }
    }
}

fn place(text: &str, offset: usize) -> Place {
    let before = &text[..text.floor_char_boundary(offset)];
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    Place { line: line as u32, column: before[start..].chars().count() as u32 + 1 }
}

/// A value without its places.
fn owned(value: &DeValue<'_>) -> toml::Value {
    match value {
        DeValue::String(text) => toml::Value::String(text.to_string()),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => toml::Value::Integer(number),
            Err(_) => toml::Value::String(number.as_str().to_owned()),
        },
        DeValue::Float(number) => match number.as_str().parse() {
            Ok(number) => toml::Value::Float(number),
            Err(_) => toml::Value::String(number.as_str().to_owned()),
        },
        DeValue::Boolean(value) => toml::Value::Boolean(*value),
        DeValue::Datetime(time) => toml::Value::Datetime(*time),
        DeValue::Array(values) => {
            values.iter().map(|value| owned(value.get_ref())).collect::<Vec<_>>().into()
        }
        DeValue::Table(table) => {
            let entries = table
                .iter()
                .map(|(key, value)| (key.get_ref().to_string(), owned(value.get_ref())));
            toml::Value::Table(entries.collect::<BTreeMap<_, _>>().into_iter().collect())
        }
    }
}
