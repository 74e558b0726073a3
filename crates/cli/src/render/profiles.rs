//! Profiles as people see them.

use std::fmt::Write as _;

use sequester_core::limits::{Limit, Unit};
use sequester_core::profile::{Guarantee, Profile, Profiles};
use serde::Serialize;

use super::terminal::number;
use super::{table, terminal};

/// The JSON shape of a profile: its file's fields, and what the jail must keep to.
#[derive(Serialize)]
pub(crate) struct Shown<'a> {
    #[serde(flatten)]
    profile: &'a Profile,
    guarantees: Vec<Guarantee>,
}

impl<'a> Shown<'a> {
    pub(crate) fn of(profile: &'a Profile) -> Self {
        Self { profile, guarantees: profile.guarantees() }
    }
}

pub(crate) fn list(profiles: &Profiles, width: usize) -> String {
    let row = |profile: &Profile| {
        [
            profile.name.clone(),
            profile.extends.clone().unwrap_or_default(),
            profile.origin.to_string(),
            tools(profile),
            profile.description.clone(),
        ]
    };
    let rows: Vec<_> = profiles.iter().map(row).collect();
    table::render(["name", "extends", "from", "tools", "description"], &rows, width)
}

pub(crate) fn one(profile: &Profile) -> String {
    let fields = [
        ("extends", profile.extends.clone().unwrap_or_default()),
        ("from", profile.origin.to_string()),
        ("use cases", profile.use_cases.join("; ")),
    ];
    let (name, description) =
        (terminal::clean(&profile.name), terminal::clean(&profile.description));
    format!("{name}: {description}\n{}{}", table::fields(&fields), grants(profile))
}

/// Tools, hosts, limits and the jail in words.
pub(super) fn grants(profile: &Profile) -> String {
    let limits: Vec<String> =
        profile.limits.iter().map(|(limit, value)| told(*limit, *value)).collect();
    let or_none = |text: String| if text.is_empty() { "none".to_owned() } else { text };
    let mut out = table::fields(&[
        ("tools", or_none(tools(profile))),
        ("hosts", or_none(profile.hosts.join(", "))),
        ("limits", limits.join(", ")),
    ]);
    let _ = writeln!(out, "  jail of {}:", profile.confinement.as_str());
    for guarantee in profile.guarantees() {
        let _ = writeln!(out, "    {}", guarantee.sentence());
    }
    out
}

fn tools(profile: &Profile) -> String {
    let tools: Vec<String> = profile.tools.iter().map(ToString::to_string).collect();
    tools.join(", ")
}

fn told(limit: Limit, value: u64) -> String {
    let count = number(usize::try_from(value).unwrap_or(usize::MAX));
    let name = limit.as_str();
    match limit.unit() {
        Unit::Times => format!("{name} {count}"),
        Unit::Tokens => format!("{name} {count} tokens"),
        Unit::Seconds => format!("{name} {count} s"),
        Unit::Bytes => format!("{name} {count} bytes"),
        Unit::Price => format!("{name} ${}.{:06}", value / 1_000_000, value % 1_000_000),
    }
}
