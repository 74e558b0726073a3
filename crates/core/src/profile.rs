//! Profiles: what an agent may do, as data. A profile made from another can only narrow it.

mod file;
mod grant;
mod guarantee;
mod profiles;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::fault::Code;
use crate::limits::Limit;
use crate::source::Origin;
use crate::spelling;

pub use file::{HOST_HINT, is_host};
pub use grant::{Grant, TASK, TOOLS};
pub use guarantee::{Confinement, Guarantee};
pub use profiles::Profiles;

/// Tools and the jail's policy. Every agent also has the product's own tools; those are no part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Profile {
    pub name: String,
    pub description: String,
    pub origin: Origin,
    /// The profile it was made from; nothing for a built-in one.
    pub extends: Option<String>,
    /// Whose jail it has.
    #[serde(rename = "jail")]
    pub confinement: Confinement,
    pub tools: Vec<Grant>,
    pub hosts: Vec<String>,
    /// Whether it, or one that it was made from, says which hosts: then there are no others.
    #[serde(skip)]
    pub names_hosts: bool,
    pub limits: BTreeMap<Limit, u64>,
    pub use_cases: Vec<String>,
}

/// What a profile granted to an attempt, as it is recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Granted {
    /// Names and patterns.
    pub tools: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
}

impl Granted {
    pub fn grants(&self, tool: &str) -> bool {
        let grant = |name: &String| Grant { name: name.clone(), optional: false };
        self.tools.iter().map(grant).any(|grant| grant.covers(tool))
    }

    /// Without a port, an entry stands for those of the web.
    pub fn reaches(&self, host: &str, port: u16) -> bool {
        let bare = |name: &str| name.trim_start_matches('[').trim_end_matches(']').to_lowercase();
        let is_meant = |known: &String| {
            let named = known.rsplit_once(':').and_then(|(name, port)| {
                let is_whole = name.starts_with('[') || !name.contains(':');
                Some((name, port.parse::<u16>().ok()?)).filter(|_| is_whole)
            });
            let (name, fits) = match named {
                Some((name, own)) => (name, own == port),
                None => (known.as_str(), matches!(port, 80 | 443)),
            };
            fits && reaches(&[bare(name)], &bare(host))
        };
        self.hosts.iter().any(is_meant)
    }
}

/// A profile's tools on this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Resolved {
    /// What a model is shown, in the profile's order.
    pub listed: Vec<String>,
    /// Optional grants that nothing was found for.
    pub absent: Vec<String>,
}

impl Profile {
    /// Which of the tools that can be had are listed. A tool that is granted and cannot be had is an error.
    pub fn resolve(&self, available: &[&str]) -> Result<Resolved, Error> {
        let mut resolved = Resolved::default();
        for grant in &self.tools {
            let found = grant.among(available);
            if found.is_empty() && !grant.optional {
                let (tool, profile) = (grant.name.clone(), self.name.clone());
                return Err(Error::MissingTool { tool, profile });
            }
            if found.is_empty() {
                resolved.absent.push(grant.name.clone());
            }
            for name in found {
                if !resolved.listed.iter().any(|listed| listed == name) {
                    resolved.listed.push(name.to_owned());
                }
            }
        }
        Ok(resolved)
    }

    /// Whether a tool of that name may be listed.
    pub fn grants(&self, tool: &str) -> bool {
        self.tools.iter().any(|grant| grant.covers(tool))
    }

    /// Whether its jail leads anywhere.
    pub fn is_networked(&self) -> bool {
        self.confinement.is_networked() && !self.hosts.is_empty()
    }

    /// What it grants, for the record.
    pub fn granted(&self) -> Granted {
        let tools = self.tools.iter().map(|tool| tool.name.clone()).collect();
        let hosts = if self.confinement.is_networked() { self.hosts.clone() } else { Vec::new() };
        Granted { tools, hosts }
    }

    /// With the hosts that the user's configuration names, where the profile has a network and names none itself.
    #[must_use]
    pub fn with_hosts(mut self, hosts: &[String]) -> Self {
        if self.confinement.is_networked() && !self.names_hosts {
            self.hosts = hosts.to_vec();
        }
        self
    }

    /// For somebody who has no other tools than these; each must be granted. What was optional stays so.
    pub fn only(&self, whose: &str, tools: &[Grant]) -> Result<Self, Error> {
        let mut narrowed = Self { name: whose.to_owned(), ..self.clone() };
        narrowed.tools = tools
            .iter()
            .map(|tool| {
                let optional = self.may_lack(tool);
                Grant { name: tool.name.clone(), optional }
            })
            .collect();
        narrow(&narrowed, self).map(|narrowed| Self { name: self.name.clone(), ..narrowed })
    }

    /// As a subagent of another's may use it: whatever it asks for, nothing that the other lacks.
    #[must_use]
    pub fn under(&self, other: &Self) -> Self {
        let mut under = self.clone();
        under.confinement = self.confinement.under(other.confinement);
        let named = |tool: &Grant| self.tools.iter().any(|own| own.name == tool.name);
        let theirs = other.tools.iter().filter(|tool| !named(tool));
        let both = |tool: &&Grant| self.grants(&tool.name) && other.grants(&tool.name);
        let both = self.tools.iter().chain(theirs).filter(both);
        under.tools =
            both.map(|tool| Grant { optional: other.may_lack(tool), ..tool.clone() }).collect();
        let theirs = other.hosts.iter().filter(|host| !self.hosts.contains(host));
        let both = |host: &&String| reaches(&self.hosts, host) && reaches(&other.hosts, host);
        under.hosts = self.hosts.iter().chain(theirs).filter(both).cloned().collect();
        for limit in Limit::ALL {
            if let Some(most) = other.limit(limit)
                && self.limit(limit).is_none_or(|own| own > most)
            {
                under.limits.insert(limit, most);
            }
        }
        under
    }

    /// Whether a grant is optional here, or by itself.
    fn may_lack(&self, tool: &Grant) -> bool {
        let from = self.tools.iter().find(|grant| grant.covers(&tool.name));
        tool.optional || from.is_some_and(|grant| grant.optional)
    }

    /// For somebody who has no use for a tool.
    #[must_use]
    pub fn without(mut self, tool: &str) -> Self {
        self.tools.retain(|grant| grant.name != tool);
        self
    }

    /// What configuration sets, lowered by what the profile sets.
    #[must_use]
    pub fn lower(&self, set: &BTreeMap<Limit, u64>) -> BTreeMap<Limit, u64> {
        let mut limits = set.clone();
        for (limit, most) in &self.limits {
            limits.entry(*limit).and_modify(|set| *set = (*set).min(*most)).or_insert(*most);
        }
        limits
    }

    fn limit(&self, limit: Limit) -> Option<u64> {
        self.limits.get(&limit).copied().or(limit.default())
    }
}

/// The child as it may be used under the parent: it grants nothing that the parent lacks.
pub fn narrow(child: &Profile, parent: &Profile) -> Result<Profile, Error> {
    if let Some(error) = excesses(child, parent).into_iter().next() {
        return Err(error);
    }
    let mut narrowed = child.clone();
    for limit in Limit::ALL {
        match (child.limits.get(&limit), parent.limit(limit)) {
            (None, Some(most)) if limit.default().is_none_or(|default| most < default) => {
                narrowed.limits.insert(limit, most);
            }
            _ => {}
        }
    }
    Ok(narrowed)
}

/// All that the child grants and the parent lacks.
fn excesses(child: &Profile, parent: &Profile) -> Vec<Error> {
    let jail = Some(child.confinement).filter(|jail| !jail.is_within(parent.confinement));
    let tools = child.tools.iter().filter(|tool| !parent.grants(&tool.name));
    let hosts = child.hosts.iter().filter(|host| !reaches(&parent.hosts, host));
    let limits = child
        .limits
        .iter()
        .filter(|(limit, value)| parent.limit(**limit).is_some_and(|most| **value > most));
    let all = jail.map(Excess::Jail).into_iter();
    all.chain(tools.map(|tool| Excess::Tool(tool.name.clone())))
        .chain(hosts.map(|host| Excess::Host(host.clone())))
        .chain(limits.map(|(limit, _)| Excess::Limit(*limit)))
        .map(|excess| {
            let (profile, parent) = (child.name.clone(), parent.name.clone());
            Error::Wider { profile, parent, excess }
        })
        .collect()
}

/// Whether a host is among `hosts`, where `*.example.com` stands for all below it.
fn reaches(hosts: &[String], host: &str) -> bool {
    hosts.iter().any(|known| {
        known == host || known.strip_prefix('*').is_some_and(|end| host.ends_with(end))
    })
}

/// What a profile grants beyond what it may.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Excess {
    Tool(String),
    Host(String),
    Limit(Limit),
    Jail(Confinement),
}

impl Excess {
    /// Nobody grants it to a profile that cannot spawn.
    fn is_delegation(&self) -> bool {
        matches!(self, Self::Tool(tool) if tool == TASK)
    }
}

impl fmt::Display for Excess {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool(tool) => write!(formatter, "the tool `{tool}`"),
            Self::Host(host) => write!(formatter, "the host `{host}`"),
            Self::Limit(limit) => write!(formatter, "a higher limit `{}`", limit.as_str()),
            Self::Jail(jail) => write!(formatter, "the jail of `{}`", jail.as_str()),
        }
    }
}

/// Why a profile cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    Wider {
        profile: String,
        parent: String,
        excess: Excess,
    },
    /// Whoever is trusted would inherit from a file that nobody accepted.
    Unaccepted {
        profile: String,
        parent: String,
        file: String,
    },
    /// The repository asks for what can spawn.
    FullAccess {
        profile: String,
    },
    MissingTool {
        tool: String,
        profile: String,
    },
    Unknown {
        name: String,
        known: String,
    },
}

impl Error {
    pub fn code(&self) -> Code {
        match self {
            Self::Wider { .. } | Self::Unaccepted { .. } | Self::FullAccess { .. } => {
                Code::WidenedProfile
            }
            Self::MissingTool { .. } => Code::MissingTool,
            Self::Unknown { .. } => Code::UnknownProfile,
        }
    }

    /// What a person can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Wider { excess, .. } if excess.is_delegation() => {
                "Take it out, or extend `full-access`, as a repository's file may that you accept with `sequester trust`."
                    .to_owned()
            }
            Self::Wider { .. } | Self::FullAccess { .. } => format!("Take it out: {ONLY_THE_USER}"),
            Self::Unaccepted { file, .. } => {
                format!(
                    "Accept `{file}` as well with `sequester trust`, or extend another profile."
                )
            }
            Self::MissingTool { tool, .. } => format!(
                "Configure what `{tool}` needs, write `{tool}?` if the agent can do without, or take another profile."
            ),
            Self::Unknown { name, known } => spelling::perhaps(name, known.split(", "))
                .unwrap_or_else(|| format!("Known profiles are {known}.")),
        }
    }
}

const ONLY_THE_USER: &str = "only your own configuration, a flag, or a file that you accept with `sequester trust` can grant more.";

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wider { profile, parent, excess } => {
                write!(
                    formatter,
                    "`{profile}` asks for {excess}, which `{parent}` does not grant"
                )?;
                let whoever = "; only profiles that are made from `full-access` can.";
                formatter.write_str(if excess.is_delegation() { whoever } else { "." })
            }
            Self::Unaccepted { profile, parent, .. } => write!(
                formatter,
                "`{profile}` is trusted, and extends `{parent}` of the repository, which nobody accepted."
            ),
            Self::FullAccess { profile } if profile == Confinement::FullAccess.as_str() => {
                formatter.write_str("A repository cannot ask for `full-access`.")
            }
            Self::FullAccess { profile } => write!(
                formatter,
                "`{profile}` is made from `full-access`, which a repository cannot ask for."
            ),
            Self::MissingTool { tool, profile } => write!(
                formatter,
                "The profile `{profile}` grants the tool `{tool}`, which cannot be had here."
            ),
            Self::Unknown { name, .. } => write!(formatter, "There is no profile `{name}`."),
        }
    }
}

impl std::error::Error for Error {}
