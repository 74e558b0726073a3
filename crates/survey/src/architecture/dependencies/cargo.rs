//! Cargo.toml, with the versions of Cargo.lock.

use serde_json::Value;

use super::{Dependency, Locked, Manifest, Role};
use crate::architecture::manifest::{at, pairs, toml};
use crate::architecture::scan::Scan;

pub(super) fn read(scan: &Scan<'_>) -> Vec<Manifest> {
    let lock_path = scan.named(&["Cargo.lock"]).first().map(|(path, _)| *path);
    let lock = lock_path.and_then(|path| scan.text(path)).map(lock).unwrap_or_default();
    let tables = [
        (vec!["workspace", "dependencies"], Role::Normal),
        (vec!["dependencies"], Role::Normal),
        (vec!["build-dependencies"], Role::Build),
        (vec!["dev-dependencies"], Role::Development),
    ];
    let read = |(path, text): (&str, &str)| {
        let manifest = toml(text)?;
        let mut dependencies = Vec::new();
        for (keys, role) in &tables {
            collect(at(&manifest, keys), *role, &lock, &mut dependencies);
        }
        for (_, target) in pairs(manifest.get("target")) {
            collect(target.get("dependencies"), Role::Normal, &lock, &mut dependencies);
        }
        Some(Manifest::new(path, lock_path, dependencies))
    };
    scan.named(&["Cargo.toml"]).into_iter().filter_map(read).collect()
}

/// A dependency by path is the project's own and not named here.
fn collect(table: Option<&Value>, role: Role, lock: &Locked, into: &mut Vec<Dependency>) {
    for (name, value) in pairs(table) {
        if value.get("path").is_some() {
            continue;
        }
        let shared = value.get("workspace").and_then(Value::as_bool) == Some(true);
        let demanded =
            value.as_str().or_else(|| value.get("version").and_then(Value::as_str)).unwrap_or("");
        let package = value.get("package").and_then(Value::as_str).unwrap_or(name);
        let version = lock.version(package, demanded);
        // A member that takes a crate from the workspace says nothing new about its version, but uses it.
        if !shared || lock.has(package) {
            into.push(Dependency::new(package, &version, role));
        }
    }
}

/// Only packages from elsewhere have a source line.
fn lock(text: &str) -> Locked {
    let mut versions = Locked::default();
    for package in text.split("[[package]]").skip(1) {
        let value = |key: &str| {
            let line = package.lines().find_map(|line| line.strip_prefix(key))?;
            Some(line.trim_start_matches([' ', '=']).trim_matches('"'))
        };
        if let (Some(name), Some(version), Some(_)) =
            (value("name"), value("version"), value("source"))
        {
            versions.add(name, version);
        }
    }
    versions
}
