//! package.json, with the versions of whichever lock file lies beside the root's.

use serde_json::Value;

use super::{Dependency, Locked, Manifest, Role};
use crate::architecture::manifest::{json, pairs};
use crate::architecture::scan::Scan;

pub(super) fn read(scan: &Scan<'_>) -> Vec<Manifest> {
    let lock_path = ["pnpm-lock.yaml", "package-lock.json", "yarn.lock"]
        .into_iter()
        .find(|path| scan.text(path).is_some());
    let text = lock_path.and_then(|path| scan.text(path)).unwrap_or_default();
    let lock = match lock_path {
        Some("pnpm-lock.yaml") => pnpm(text),
        Some("package-lock.json") => npm(text),
        Some("yarn.lock") => yarn(text),
        _ => Locked::default(),
    };
    let read = |(path, text): (&str, &str)| {
        let manifest = json(text)?;
        let mut dependencies = Vec::new();
        let mut used = false;
        for (key, role) in [
            ("dependencies", Role::Normal),
            ("peerDependencies", Role::Peer),
            ("optionalDependencies", Role::Optional),
            ("devDependencies", Role::Development),
        ] {
            for (name, demanded) in pairs(manifest.get(key)) {
                let demanded = demanded.as_str().unwrap_or("");
                if ["workspace:", "file:", "link:", "portal:"]
                    .iter()
                    .any(|own| demanded.starts_with(own))
                {
                    continue;
                }
                let version = match role {
                    Role::Peer => demanded.to_owned(),
                    _ => lock.version(name, demanded),
                };
                used |= version != demanded;
                dependencies.push(Dependency::new(
                    name,
                    version.trim_start_matches("catalog:"),
                    role,
                ));
            }
        }
        Some(Manifest::new(path, lock_path.filter(|_| used), dependencies))
    };
    scan.named(&["package.json"]).into_iter().filter_map(read).collect()
}

/// Only the packages at the top: nested ones are others' choices.
fn npm(text: &str) -> Locked {
    let mut versions = Locked::default();
    let Ok(lock) = serde_json::from_str::<Value>(text) else {
        return versions;
    };
    for (path, package) in pairs(lock.get("packages")) {
        if let (Some(name), Some(version)) =
            (path.strip_prefix("node_modules/"), package.get("version"))
            && !name.contains("node_modules/")
        {
            versions.add(name, version.as_str().unwrap_or(""));
        }
    }
    if versions.0.is_empty() {
        for (name, package) in pairs(lock.get("dependencies")) {
            versions.add(name, package.get("version").and_then(Value::as_str).unwrap_or(""));
        }
    }
    versions
}

/// Entries such as `"a@^1", "a@^2":` and, indented, `version "1.2.3"` or `version: 1.2.3`.
fn yarn(text: &str) -> Locked {
    let mut versions = Locked::default();
    let mut name = "";
    for line in text.lines() {
        if !line.starts_with([' ', '#']) {
            let first = line.trim_start_matches('"');
            name = first.get(1..).and_then(|rest| rest.find('@')).map_or("", |at| &first[..=at]);
        } else if let Some(version) =
            line.trim_start().strip_prefix("version").filter(|_| !name.is_empty())
        {
            versions.add(name, version.trim_matches([' ', ':', '"']));
            name = "";
        }
    }
    versions
}

/// The part before `packages:` says what each importer got; read by lines, since such files are long.
fn pnpm(text: &str) -> Locked {
    let mut versions = Locked::default();
    let mut name = "";
    let importers = text.lines().skip_while(|line| !line.starts_with("importers:")).skip(1);
    for line in importers.take_while(|line| line.is_empty() || line.starts_with(' ')) {
        let body = line.trim_start();
        if let Some(version) = body.strip_prefix("version: ") {
            let version = version.split('(').next().unwrap_or(version).trim_matches('\'');
            if !version.starts_with("link:") {
                versions.add(name, version);
            }
        } else if !body.starts_with("specifier: ") {
            name = body.trim_end_matches(':').trim_matches('\'');
        }
    }
    versions
}
