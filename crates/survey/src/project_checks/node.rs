//! Packages of JavaScript, by their scripts.

use serde_json::Value;

use super::Sign;
use super::project::{Folder, is_plain, line_of, place};
use crate::manifest::{json, pairs};
use sequester_core::check::Kind;
use sequester_core::foreign::is_sample;

/// The package manager that a project names or locks with.
pub(crate) fn package_manager(manifest: &Value, has: impl Fn(&str) -> bool) -> &'static str {
    let named = manifest.get("packageManager").and_then(Value::as_str).unwrap_or("");
    let known = ["pnpm", "yarn", "bun", "npm"];
    let named = known.into_iter().find(|manager| named.starts_with(manager));
    let locks = [
        ("pnpm-lock.yaml", "pnpm"),
        ("yarn.lock", "yarn"),
        ("bun.lock", "bun"),
        ("bun.lockb", "bun"),
    ];
    let locked = || locks.into_iter().find(|(lock, _)| has(lock)).map(|(_, manager)| manager);
    named.or_else(locked).unwrap_or("npm")
}

/// By the names that people give to such scripts, the likeliest first.
const SCRIPTS: [(Kind, &[&str]); 4] = [
    (Kind::Types, &["typecheck", "type-check", "check-types", "check:types", "types:check", "tsc"]),
    (Kind::Lint, &["lint", "lint:check", "eslint"]),
    (Kind::Tests, &["test:run", "test:ci", "test", "tests", "test:unit"]),
    (Kind::Security, &["security", "audit"]),
];

pub(super) fn signs(folder: &Folder<'_>) -> Vec<Sign> {
    let mut signs = Vec::new();
    for (file, runner) in [("package.json", None), ("composer.json", Some("composer"))] {
        let Some((text, manifest)) = folder.text(file).and_then(|text| Some((text, json(text)?)))
        else {
            continue;
        };
        let manager = package_manager(&manifest, |lock| folder.has_above(lock));
        let runner = runner.unwrap_or(manager);
        let scripts = pairs(manifest.get("scripts"));
        for (kind, names) in SCRIPTS {
            let script = names.iter().find_map(|name| {
                let (name, body) = scripts.iter().find(|(script, _)| script == name)?;
                body.as_str().filter(|body| !is_placeholder(body) && !watches(body))?;
                is_plain(name).then_some(*name)
            });
            if let Some(name) = script {
                let line = line_of(text, &format!("\"{name}\""));
                let from = format!("{} (scripts.{name})", place(&folder.whole(file), line));
                signs.push(Sign::new(file, kind, format!("{runner} run {name}"), from));
            }
        }
        if file == "package.json" && !signs.iter().any(|sign| sign.kind == Kind::Types) {
            signs.extend(compiler(folder, &manifest, manager));
        }
    }
    signs.extend(runner_of_node(folder));
    signs
}

/// Node runs such files by itself where nothing names another runner.
fn runner_of_node(folder: &Folder<'_>) -> Option<Sign> {
    const TESTS: [&str; 3] = [".test.mjs", ".test.cjs", ".test.js"];
    const RUNNERS: [&str; 4] = ["package.json", "deno.json", "deno.jsonc", "bunfig.toml"];
    let names_runner = |path: &str| RUNNERS.contains(&path.rsplit('/').next().unwrap_or(path));
    let is_test = |path: &str| TESTS.iter().any(|end| path.ends_with(end)) && !is_sample(path);
    if !folder.is_root() || folder.project.find(names_runner).is_some() {
        return None;
    }
    let first = folder.project.find(is_test)?;
    Some(Sign::new("node", Kind::Tests, "node --test", first))
}

/// What `npm init` writes.
fn is_placeholder(body: &str) -> bool {
    body.contains("no test specified")
}

/// It would never end.
fn watches(body: &str) -> bool {
    body.split_whitespace().any(|word| matches!(word, "--watch" | "--watchAll" | "-w" | "watch"))
}

/// The compiler of TypeScript, where the package has both it and its settings.
fn compiler(folder: &Folder<'_>, manifest: &Value, manager: &str) -> Option<Sign> {
    let needs = ["dependencies", "devDependencies"];
    let has = needs
        .iter()
        .any(|key| manifest.get(key).is_some_and(|all| all.get("typescript").is_some()));
    let run = match manager {
        "pnpm" => "pnpm exec tsc",
        "yarn" => "yarn run tsc",
        "bun" => "bun run tsc",
        _ => "npx --no-install tsc",
    };
    let from = folder.whole("tsconfig.json");
    (has && folder.has("tsconfig.json"))
        .then(|| Sign::new("package.json", Kind::Types, format!("{run} --noEmit"), from))
}
