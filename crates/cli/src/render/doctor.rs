//! What this machine gives, as people see it.

use std::fmt::Write as _;

use sequester_core::profile::{Confinement, Guarantee};
use sequester_sandbox::Keeper;

use super::profiles::told;
use super::{table, terminal};
use crate::wire::checkup::{Check, Checkup, Ended, Model};

pub(crate) fn render(checkup: &Checkup, width: usize) -> String {
    let parts = [
        part("machine", &table::fields(&machine(checkup), width)),
        part("jail", &table::fields(&profiles(checkup), width)),
        part("guarantees", &table::fields(&guarantees(checkup), width)),
        part("limits", &table::fields(&limits(checkup), width)),
        part("models", &models(checkup, width)),
        part("checks", &checks(&checkup.checks)),
        part("good to know", &facts(checkup)),
        problems(checkup),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    terminal::fold(&terminal::clean(&parts.join("\n")), width)
}

fn part(title: &str, body: &str) -> String {
    if body.is_empty() { String::new() } else { format!("{title}\n{body}") }
}

fn facts(checkup: &Checkup) -> String {
    checkup.facts.iter().flat_map(|fact| ["  ", fact, "\n"]).collect()
}

fn machine(checkup: &Checkup) -> Vec<(&'static str, String)> {
    let about = &checkup.machine;
    let user = if about.root {
        "root; jails run as a user that the machine does not know"
    } else {
        "an ordinary user; jails run as the same"
    };
    let has = |wanted: bool| -> String {
        let names = about.capabilities.iter().filter(|(_, has)| **has == wanted);
        names.map(|(name, _)| name.replace('_', " ")).collect::<Vec<_>>().join(", ")
    };
    vec![
        ("kernel", format!("{} {}", about.kernel, about.system)),
        ("has", has(true)),
        ("lacks", has(false)),
        ("cgroups", checkup.limits.cgroups.clone()),
        ("user", user.to_owned()),
        ("git", about.git.clone().unwrap_or_else(|| "not found".to_owned())),
        ("engine", checkup.engine.to_owned()),
        ("signs as", about.signing_key.clone().unwrap_or_else(|| "nobody yet".to_owned())),
    ]
}

fn profiles(checkup: &Checkup) -> Vec<(&'static str, String)> {
    let row = |profile: Confinement| {
        let needed = checkup.guarantees.get(profile.as_str())?;
        let lacking: Vec<&str> =
            needed.iter().filter(|(_, kept)| !**kept).map(|(one, _)| one.as_str()).collect();
        let told = if lacking.is_empty() {
            format!("tried: all {} guarantees are kept", needed.len())
        } else if checkup.jails.get(profile.as_str()) == Some(&true) {
            format!("starts, but was not seen to keep {}", lacking.join(", "))
        } else {
            format!("REFUSED: without {}", lacking.join(", "))
        };
        Some((profile.as_str(), told))
    };
    Confinement::ALL.into_iter().filter_map(row).collect()
}

fn guarantees(checkup: &Checkup) -> Vec<(&'static str, String)> {
    let row = |guarantee: Guarantee| {
        let among = |wanted: bool| -> Vec<&str> {
            let all = Confinement::ALL.into_iter().map(Confinement::as_str);
            all.filter(|profile| {
                let needed = checkup.guarantees.get(profile);
                needed.and_then(|needed| needed.get(&guarantee)) == Some(&wanted)
            })
            .collect()
        };
        let (kept, lacking) = (among(true), among(false));
        let kept = match kept.len() {
            0 => "none".to_owned(),
            all if all == Confinement::ALL.len() => "all".to_owned(),
            _ => kept.join(", "),
        };
        let lacking = if lacking.is_empty() {
            String::new()
        } else {
            format!("; NOT KEPT for {}", lacking.join(", "))
        };
        (guarantee.as_str(), kept + &lacking)
    };
    Guarantee::ALL.into_iter().map(row).collect()
}

fn limits(checkup: &Checkup) -> Vec<(&'static str, String)> {
    let limits = &checkup.limits;
    let subagent: Vec<String> = limits
        .subagent
        .iter()
        .map(|(limit, value)| match value {
            Some(value) => told(*limit, *value),
            None => format!("{} none", limit.as_str()),
        })
        .collect();
    let jail: Vec<String> =
        limits.jail.iter().map(|(name, value)| jail_limit(name, *value)).collect();
    let by = |wanted: Keeper| -> String {
        let names = limits.kept_by.iter().filter(|(_, keeper)| **keeper == wanted);
        names.map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    };
    vec![
        ("subagent", subagent.join(", ")),
        ("jobs", limits.jobs.to_string()),
        ("jail", jail.join(", ")),
        ("by cgroups", by(Keeper::Kernel)),
        ("by rlimits", by(Keeper::Rlimit)),
        ("watched", by(Keeper::Watched)),
    ]
}

fn jail_limit(name: &str, value: u64) -> String {
    match name {
        "pids" => {
            format!("{name} {}", terminal::number(usize::try_from(value).unwrap_or(usize::MAX)))
        }
        "wall" => format!("{name} {} min", value / 60),
        _ if value >= 1 << 30 => format!("{name} {} GiB", value >> 30),
        _ => format!("{name} {} MiB", value >> 20),
    }
}

fn models(checkup: &Checkup, width: usize) -> String {
    let row = |model: &Model| {
        let auto = if model.auto { "`auto` takes it. " } else { "" };
        format!("{auto}{}", model.why)
    };
    let models = &checkup.models;
    let fields: Vec<(&str, String)> =
        models.iter().map(|model| (model.name.as_str(), row(model))).collect();
    table::fields(&fields, width)
}

fn checks(checks: &[Check]) -> String {
    let mut out = String::new();
    for Check { name, command, from, ended } in checks {
        let (word, output) = match ended {
            Ended::Passed => ("passes in `validate`".to_owned(), ""),
            Ended::Failed { why, output } => {
                (format!("FAILS in `validate`: {why}"), output.as_str())
            }
            Ended::NotTried { why } => (format!("was not tried: {why}"), ""),
        };
        let _ = writeln!(out, "  {name}: `{command}` ({from}) {word}");
        for line in output.lines() {
            let _ = writeln!(out, "    | {line}");
        }
    }
    out
}

fn problems(checkup: &Checkup) -> String {
    if checkup.problems.is_empty() {
        return "no problems\n".to_owned();
    }
    let mut told = String::new();
    for problem in &checkup.problems {
        let _ = write!(told, "  - {}\n    {}\n", problem.message, problem.hint);
    }
    part(&terminal::plural(checkup.problems.len(), "problem"), &told)
}
