//! Composer, Bundler, .NET projects, Mix, Pub and Swift packages.

use serde_json::Value;

use super::{Dependency, Locked, Manifest, Role};
use crate::architecture::manifest::{json, pairs, scalar, xml, yaml};
use crate::architecture::scan::{Scan, has_extension};

pub(super) fn read(scan: &Scan<'_>) -> Vec<Manifest> {
    let mut all = Vec::new();
    let mut add = |path: &str, lock: Option<&str>, dependencies: Vec<Dependency>| {
        all.push(Manifest::new(path, lock, dependencies));
    };
    let composer_lock = scan.text("composer.lock").map(composer_lock);
    for (path, text) in scan.named(&["composer.json"]) {
        let lock = composer_lock.as_ref().map(|_| "composer.lock");
        let none = Locked::default();
        add(
            path,
            lock,
            composer(text, composer_lock.as_ref().unwrap_or(&none)).unwrap_or_default(),
        );
    }
    let gem_lock = scan.text("Gemfile.lock").map(gem_lock);
    for (path, text) in scan.named(&["Gemfile"]) {
        let lock = gem_lock.as_ref().map(|_| "Gemfile.lock");
        let none = Locked::default();
        add(path, lock, gems(text, gem_lock.as_ref().unwrap_or(&none)));
    }
    for (path, text) in scan.matching(|path| has_extension(path, &["csproj", "fsproj"])) {
        add(path, None, packages(text).unwrap_or_default());
    }
    for (path, text) in scan.named(&["mix.exs"]) {
        add(path, None, mix(text));
    }
    for (path, text) in scan.named(&["pubspec.yaml"]) {
        add(path, None, pub_packages(text).unwrap_or_default());
    }
    for (path, text) in scan.named(&["Package.swift"]) {
        add(path, None, swift(text));
    }
    all
}

fn composer(text: &str, lock: &Locked) -> Option<Vec<Dependency>> {
    let value = json(text)?;
    let table = |(key, role): (&str, Role)| {
        pairs(value.get(key))
            .into_iter()
            .map(|(name, version)| {
                Dependency::new(name, &lock.version(name, version.as_str().unwrap_or("")), role)
            })
            .collect::<Vec<_>>()
    };
    Some(
        [("require", Role::Normal), ("require-dev", Role::Development)]
            .into_iter()
            .flat_map(table)
            .collect(),
    )
}

fn composer_lock(text: &str) -> Locked {
    let mut versions = Locked::default();
    let lock: Value = serde_json::from_str(text).unwrap_or_default();
    for key in ["packages", "packages-dev"] {
        for package in lock.get(key).and_then(Value::as_array).into_iter().flatten() {
            let text = |key: &str| package.get(key).and_then(Value::as_str);
            if let (Some(name), Some(version)) = (text("name"), text("version")) {
                versions.add(name, version);
            }
        }
    }
    versions
}

/// `gem "name", "~> 1"`.
fn gems(text: &str, lock: &Locked) -> Vec<Dependency> {
    let mut group = Role::Normal;
    let mut all = Vec::new();
    for line in text.lines() {
        let body = line.trim();
        if let Some(groups) = body.strip_prefix("group ") {
            let development = groups.contains(":test") || groups.contains(":development");
            group = if development { Role::Development } else { Role::Normal };
        } else if line.starts_with("end") {
            group = Role::Normal;
        } else if let Some(rest) = body.strip_prefix("gem ").or_else(|| body.strip_prefix("gem(")) {
            let mut quoted = rest.split(['"', '\'']).skip(1).step_by(2);
            if let Some(name) = quoted.next() {
                let version = quoted
                    .next()
                    .filter(|word| word.contains(|c: char| c.is_ascii_digit()))
                    .unwrap_or("");
                all.push(Dependency::new(name, &lock.version(name, version), group));
            }
        }
    }
    all
}

/// Four spaces, a name, a version in brackets.
fn gem_lock(text: &str) -> Locked {
    let mut versions = Locked::default();
    for line in text.lines() {
        let body = line.strip_prefix("    ").filter(|body| !body.starts_with(' '));
        if let Some((name, version)) = body.and_then(|body| body.split_once(" (")) {
            versions.add(name, version.trim_end_matches(')'));
        }
    }
    versions
}

fn packages(text: &str) -> Option<Vec<Dependency>> {
    let document = xml(text)?;
    let references =
        document.descendants().filter(|node| node.tag_name().name() == "PackageReference");
    Some(
        references
            .filter_map(|node| {
                let name = node.attribute("Include").or_else(|| node.attribute("Update"))?;
                Some(Dependency::new(name, node.attribute("Version").unwrap_or(""), Role::Normal))
            })
            .collect(),
    )
}

/// `{:name, "~> 1.0", only: :test}`.
fn mix(text: &str) -> Vec<Dependency> {
    let read = |line: &str| {
        let (name, rest) = line.trim().strip_prefix("{:")?.split_once(',')?;
        let version =
            rest.trim().strip_prefix('"').and_then(|rest| rest.split('"').next()).unwrap_or("");
        let role = if rest.contains("only:") { Role::Development } else { Role::Normal };
        Some(Dependency::new(name, version, role))
    };
    let after = text.split("defp deps").nth(1).unwrap_or("");
    after.lines().filter_map(read).collect()
}

fn pub_packages(text: &str) -> Option<Vec<Dependency>> {
    let value = yaml(text)?;
    let table = |(key, role): (&str, Role)| {
        pairs(value.get(key))
            .into_iter()
            .map(|(name, version)| {
                Dependency::new(name, &scalar(version).unwrap_or_default(), role)
            })
            .collect::<Vec<_>>()
    };
    let tables = [("dependencies", Role::Normal), ("dev_dependencies", Role::Development)];
    Some(tables.into_iter().flat_map(table).collect())
}

/// `.package(url: "https://host/owner/name.git", from: "1.0.0")`.
fn swift(text: &str) -> Vec<Dependency> {
    let read = |call: &str| {
        let mut quoted = call.split('"').skip(1).step_by(2);
        let address = quoted.next()?;
        let name = address.trim_end_matches(".git").rsplit('/').next()?;
        let version = quoted
            .next()
            .filter(|word| word.starts_with(|c: char| c.is_ascii_digit()))
            .unwrap_or("");
        Some(Dependency::new(name, version, Role::Normal))
    };
    text.split(".package(url:").skip(1).filter_map(|call| read(call.split('\n').next()?)).collect()
}
