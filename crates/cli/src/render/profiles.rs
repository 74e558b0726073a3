//! Profiles as people see them.

use std::fmt::Write as _;

use sequester_core::limits::{Limit, Unit};
use sequester_core::profile::{Confinement, Guarantee, Profile, Profiles};
use sequester_core::source::Origin;
use serde::Serialize;

use super::terminal::{number, size};
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
            origin(&profile.origin),
            tools(profile),
            profile.description.clone(),
        ]
    };
    let rows: Vec<_> = profiles.iter().map(row).collect();
    table::render(["name", "extends", "from", "tools", "description"], &rows, width)
}

/// Where a file's agent or profile comes from; most are built in, and of those nothing needs to be said.
pub(super) fn origin(origin: &Origin) -> String {
    if *origin == Origin::BuiltIn { String::new() } else { origin.to_string() }
}

pub(crate) fn one(profile: &Profile, width: usize) -> String {
    let mut fields = vec![
        ("extends", profile.extends.clone().unwrap_or_default()),
        ("from", profile.origin.to_string()),
        ("use cases", profile.use_cases.join("; ")),
    ];
    fields.extend(grants(profile));
    let title = format!("{}: {}\n", profile.name, profile.description);
    let told = title + &table::fields(&fields, width) + &jail(profile);
    terminal::fold(&terminal::clean(&told), width)
}

/// Tools, hosts and limits in words; a limit that the profile does not set has its default.
pub(super) fn grants(profile: &Profile) -> [(&'static str, String); 3] {
    let limit = |limit: Limit| {
        let value = profile.limits.get(&limit).copied().or(limit.default())?;
        Some(told(limit, value))
    };
    let limits: Vec<String> = Limit::ALL.into_iter().filter_map(limit).collect();
    let or_none = |text: String| if text.is_empty() { "none".to_owned() } else { text };
    [
        ("tools", or_none(tools(profile))),
        ("hosts", or_none(profile.hosts.join(", "))),
        ("limits", limits.join(", ")),
    ]
}

/// What the jail keeps to, in words.
pub(super) fn jail(profile: &Profile) -> String {
    let mut out = format!("  jail of {}:\n", profile.confinement.as_str());
    for guarantee in profile.guarantees() {
        let _ = writeln!(out, "    {}", guarantee.sentence());
    }
    if matches!(profile.confinement, Confinement::Writer | Confinement::FullAccess) {
        let _ = writeln!(
            out,
            "    By `sequester sandbox` it works in your own folder, and what it writes there stays."
        );
    }
    out
}

fn tools(profile: &Profile) -> String {
    let tools: Vec<String> = profile.tools.iter().map(ToString::to_string).collect();
    tools.join(", ")
}

pub(crate) fn told(limit: Limit, value: u64) -> String {
    let count = number(usize::try_from(value).unwrap_or(usize::MAX));
    let name = limit.as_str();
    match limit.unit() {
        Unit::Times => format!("{name} {count}"),
        Unit::Tokens => format!("{name} {count} tokens"),
        Unit::Seconds => format!("{name} {count} s"),
        Unit::Bytes => format!("{name} {}", size(value)),
        Unit::Price => format!("{name} ${}.{:06}", value / 1_000_000, value % 1_000_000),
    }
}
