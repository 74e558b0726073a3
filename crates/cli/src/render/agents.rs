//! Agents as people see them.

use sequester_core::agent::Role;
use sequester_core::profile::{Profile, Profiles, TASK};

use super::profiles::{self, origin};
use super::{table, terminal};

pub(crate) fn list(roles: &[Role], profiles: &Profiles, width: usize) -> String {
    let row = |role: &Role| {
        let granted = role.granted(profiles);
        let delegates = granted.is_ok_and(|granted| granted.grants(TASK));
        [
            role.name.clone(),
            role.profile.clone(),
            if delegates { "yes" } else { "" }.to_owned(),
            role.model.clone().unwrap_or_else(|| "default".to_owned()),
            role.phase.to_string(),
            origin(&role.origin),
            role.description.clone(),
        ]
    };
    let rows: Vec<_> = roles.iter().map(row).collect();
    let heads = ["name", "profile", "delegates", "model", "phase", "from", "description"];
    table::render(heads, &rows, width)
}

/// One agent: what it may do, and what it is told to be.
pub(crate) fn one(role: &Role, granted: &Profile, models: &[String], width: usize) -> String {
    let model = role.model.as_deref().unwrap_or("default");
    let mut fields = vec![
        ("profile", role.profile.clone()),
        ("phase", role.phase.to_string()),
        ("model", format!("{model} ({})", models.join(", "))),
        ("owes", role.artifacts.iter().map(|one| one.as_str()).collect::<Vec<_>>().join(", ")),
        ("from", role.origin.to_string()),
        ("replaces", role.replaces.as_ref().map(ToString::to_string).unwrap_or_default()),
        ("ignored", role.ignored.join(", ")),
    ];
    fields.extend(profiles::grants(granted));
    let title = format!("{}: {}\n", role.name, role.description);
    let told =
        table::fields(&fields, width) + &profiles::jail(granted) + "\n" + role.prompt.trim_end();
    terminal::fold(&terminal::clean(&(title + &told)), width)
}
