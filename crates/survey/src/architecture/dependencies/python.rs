//! pyproject.toml (PEP 621, PEP 735, Poetry), requirements files, setup.cfg and Pipfile.

use serde_json::Value;

use super::{Dependency, Locked, Manifest, Role};
use crate::architecture::manifest::{at, pairs, scalar, strings, toml};
use crate::architecture::scan::{Scan, has_extension, name};

pub(super) fn read(scan: &Scan<'_>) -> Vec<Manifest> {
    let mut manifests = Vec::new();
    let lock_path = ["uv.lock", "poetry.lock"].into_iter().find(|lock| scan.text(lock).is_some());
    let locked = lock_path.and_then(|path| scan.text(path)).map(lock).unwrap_or_default();
    for (path, text) in scan.matching(|path| is_manifest(name(path))) {
        let file = name(path);
        let (dependencies, lock) = match file {
            "pyproject.toml" => {
                (toml(text).map(|value| pyproject(&value, &locked)).unwrap_or_default(), lock_path)
            }
            "Pipfile" => (toml(text).map(|value| pipfile(&value)).unwrap_or_default(), None),
            "setup.cfg" => (setup(text), None),
            _ => (requirements(text, file), None),
        };
        manifests.push(Manifest::new(path, lock, dependencies));
    }
    manifests
}

fn is_manifest(file: &str) -> bool {
    matches!(file, "pyproject.toml" | "Pipfile" | "setup.cfg")
        || (file.starts_with("requirements") && has_extension(file, &["txt"]))
}

fn pyproject(value: &Value, lock: &Locked) -> Vec<Dependency> {
    let mut all = Vec::new();
    let mut demand = |line: &str, role| {
        if let Some((name, version)) = split(line) {
            all.push(Dependency::new(name, &lock.version(&normal(name), version), role));
        }
    };
    for line in strings(at(value, &["project", "dependencies"])) {
        demand(line, Role::Normal);
    }
    let groups = [
        (at(value, &["project", "optional-dependencies"]), Role::Optional),
        (value.get("dependency-groups"), Role::Development),
    ];
    for (groups, role) in groups {
        for (_, group) in pairs(groups) {
            for line in strings(Some(group)) {
                demand(line, role);
            }
        }
    }
    let poetry = at(value, &["tool", "poetry"]);
    let groups = pairs(poetry.and_then(|poetry| poetry.get("group")));
    let tables = [(poetry.and_then(|poetry| poetry.get("dependencies")), Role::Normal)]
        .into_iter()
        .chain([(poetry.and_then(|poetry| poetry.get("dev-dependencies")), Role::Development)])
        .chain(groups.into_iter().map(|(_, group)| (group.get("dependencies"), Role::Development)));
    for (table, role) in tables {
        for (name, value) in pairs(table) {
            let version =
                scalar(value).or_else(|| value.get("version").and_then(scalar)).unwrap_or_default();
            all.push(Dependency::new(name, &lock.version(&normal(name), &version), role));
        }
    }
    all
}

fn pipfile(value: &Value) -> Vec<Dependency> {
    let tables = [("packages", Role::Normal), ("dev-packages", Role::Development)];
    let table = |(key, role): (&str, Role)| {
        pairs(value.get(key))
            .into_iter()
            .map(|(name, value)| {
                let version = scalar(value)
                    .or_else(|| value.get("version").and_then(scalar))
                    .unwrap_or_default();
                Dependency::new(name, version.trim_matches('*'), role)
            })
            .collect::<Vec<_>>()
    };
    tables.into_iter().flat_map(table).collect()
}

/// The indented lines below `install_requires =`.
fn setup(text: &str) -> Vec<Dependency> {
    let below = text.lines().skip_while(|line| !line.starts_with("install_requires")).skip(1);
    below
        .take_while(|line| line.starts_with([' ', '\t']))
        .filter_map(|line| split(line.trim()))
        .map(|(name, version)| Dependency::new(name, version, Role::Normal))
        .collect()
}

fn requirements(text: &str, file: &str) -> Vec<Dependency> {
    let development = ["dev", "test", "lint", "doc"].iter().any(|word| file.contains(word));
    let role = if development { Role::Development } else { Role::Normal };
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with(['#', '-']));
    lines.filter_map(split).map(|(name, version)| Dependency::new(name, version, role)).collect()
}

/// `name[extra] >= 1; marker # comment` into name and version. A bare address may name its package behind `#egg=`.
fn split(line: &str) -> Option<(&str, &str)> {
    let line = line.split(" #").next()?.split(';').next()?.trim();
    let is_address = line.split('@').next()?.contains("://");
    let line = if is_address { line.split_once("#egg=")?.1 } else { line };
    let end =
        line.find(|c: char| !(c.is_alphanumeric() || "-_.".contains(c))).unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    let rest = rest.split_once(']').map_or(rest, |(_, rest)| rest).trim();
    let version = if is_address || rest.starts_with('@') {
        ""
    } else {
        rest.trim_start_matches("==").trim_matches(['(', ')'])
    };
    name.starts_with(char::is_alphanumeric).then_some((name, version))
}

fn normal(name: &str) -> String {
    name.to_ascii_lowercase().replace(['_', '.'], "-")
}

fn lock(text: &str) -> Locked {
    let mut versions = Locked::default();
    for package in text.split("[[package]]").skip(1) {
        let value = |key: &str| {
            package.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "))
        };
        if let (Some(name), Some(version)) = (value("name"), value("version")) {
            versions.add(&normal(name.trim_matches('"')), version.trim_matches('"'));
        }
    }
    versions
}
