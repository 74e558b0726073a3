//! How to build and test: what manifests state, what makefiles name, what the CI runs.

mod ci;
mod recipes;

use serde_json::Value;

use crate::project_checks::{package_manager, pytest_settings, toolchains};
use sequester_core::architecture::Stated;

use super::line::clean;
use super::manifest::{json, pairs, toml};
use super::scan::{Scan, folder};

/// Scripts of one package; those of members only if they are among the usual ones.
const MOST_SCRIPTS: usize = 24;
const MOST: usize = 120;

pub(super) fn state(scan: &Scan<'_>) -> Vec<Stated> {
    let mut found = Vec::new();
    certain(scan, &mut found);
    cargo_aliases(scan, &mut found);
    scripts(scan, &mut found);
    recipes::state(scan, &mut found);
    python(scan, &mut found);
    ci::state(scan, &mut found);
    found.truncate(MOST);
    found
}

/// What a manifest at the root makes certain.
fn certain(scan: &Scan<'_>, found: &mut Vec<Stated>) {
    let top = scan.files.iter().copied().filter(|path| !path.contains('/'));
    for tool in toolchains(&top.collect::<Vec<_>>()) {
        let commands = tool.build.iter().chain(&tool.tests);
        let commands: Vec<String> = commands.map(|command| format!("`{command}`")).collect();
        found.push(Stated::new(commands.join(", "), tool.manifest));
    }
}

fn cargo_aliases(scan: &Scan<'_>, found: &mut Vec<Stated>) {
    let path = ".cargo/config.toml";
    let config = scan.text(path).and_then(toml);
    for (name, value) in pairs(config.as_ref().and_then(|config| config.get("alias"))) {
        let words: Vec<&str> = match value {
            Value::String(text) => vec![text],
            value => super::manifest::strings(Some(value)),
        };
        let text =
            format!("`cargo {}` runs `cargo {}`", clean(name, 40), clean(&words.join(" "), 120));
        found.push(Stated::new(text, path));
    }
}

fn scripts(scan: &Scan<'_>, found: &mut Vec<Stated>) {
    const USUAL: [&str; 9] =
        ["build", "test", "lint", "typecheck", "type-check", "check", "dev", "start", "format"];
    let root = scan.text("package.json").and_then(json).unwrap_or_default();
    let manager = package_manager(&root, |lock| scan.has(lock));
    for (path, text) in scan.named(&["package.json", "composer.json"]) {
        let Some(manifest) = json(text) else { continue };
        let runner = if path.ends_with("composer.json") { "composer" } else { manager };
        let usual = |name: &str| {
            USUAL.iter().any(|usual| name == *usual || name.starts_with(&format!("{usual}:")))
        };
        let inside = !folder(path).is_empty();
        let mut scripts = pairs(manifest.get("scripts"));
        scripts.retain(
            |(name, _)| {
                if inside { USUAL.contains(name) } else { !is_housekeeping(name) }
            },
        );
        scripts.sort_by_key(|(name, _)| !usual(name));
        for (name, value) in scripts.into_iter().take(MOST_SCRIPTS) {
            if let Some(body) = value.as_str() {
                let text =
                    format!("`{runner} run {}` runs `{}`", clean(name, 60), clean(body, 140));
                found.push(Stated::new(text, path));
            }
        }
    }
}

/// Scripts that package managers and releases run by themselves.
fn is_housekeeping(script: &str) -> bool {
    ["install", "publish", "prepare", "prepack", "release", "changelog", "version"]
        .iter()
        .any(|word| script.contains(word))
}

fn python(scan: &Scan<'_>, found: &mut Vec<Stated>) {
    if let Some(text) = scan.text("tox.ini") {
        let names =
            text.lines().filter_map(|line| line.strip_prefix("[testenv:")?.strip_suffix(']'));
        let commands: Vec<String> =
            names.map(|name| format!("`tox -e {}`", clean(name, 60))).collect();
        found.extend(commands.chunks(8).map(|some| Stated::new(some.join(", "), "tox.ini")));
    }
    if let Some(text) = scan.text("noxfile.py") {
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            let next = lines.peek().and_then(|next| next.strip_prefix("def ")?.split('(').next());
            if let Some(name) = next.filter(|_| line.starts_with("@nox.session")) {
                found.push(Stated::new(format!("`nox -s {}`", clean(name, 60)), "noxfile.py"));
            }
        }
    }
    match pytest_settings(|path| scan.has(path), |path| scan.text(path)) {
        Some("pyproject.toml") => {
            let text = "`pytest`, configured under `tool.pytest`";
            found.push(Stated::new(text, "pyproject.toml"));
        }
        Some(path) => found.push(Stated::new("`pytest`", path)),
        None => {}
    }
}
