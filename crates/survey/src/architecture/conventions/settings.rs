//! What formatters, linters and compilers are told.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use sequester_core::architecture::Stated;

use crate::architecture::line::{clean, some};
use crate::architecture::manifest::{at, json, pairs, scalar, strings, toml, xml, yaml};
use crate::architecture::scan::{Scan, name};

/// Lines of one file.
const MOST: usize = 10;
const MOST_LINE: usize = 200;

pub(super) fn state(scan: &Scan<'_>) -> Vec<Stated> {
    let mut files = scan.matching(|path| path.matches('/').count() <= 1);
    files.sort_unstable();
    files.sort_by_key(|(path, _)| path.matches('/').count());
    // A monorepo's packages often repeat each other's settings.
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (path, text) in files {
        let lines = told(path, text).into_iter().take(MOST);
        let lines = lines.map(|line| clean(&line, MOST_LINE));
        let fresh =
            lines.filter(|line| !line.is_empty() && seen.insert((name(path), line.clone())));
        found.extend(fresh.map(|line| Stated::new(line, path)));
    }
    found
}

fn told(path: &str, text: &str) -> Vec<String> {
    match name(path) {
        ".editorconfig" => editorconfig(text),
        "rustfmt.toml" | ".rustfmt.toml" | "clippy.toml" | ".clippy.toml" | "ruff.toml"
        | ".ruff.toml" => flat(toml(text).as_ref()),
        ".prettierrc" | ".prettierrc.yaml" | ".prettierrc.yml" | ".clang-format" => {
            flat(yaml(text).as_ref())
        }
        ".prettierrc.json" => flat(json(text).as_ref()),
        "biome.json" | "biome.jsonc" => json(text).map(|value| biome(&value)).unwrap_or_default(),
        ".eslintrc" | ".eslintrc.yml" | ".eslintrc.yaml" => {
            json(text).or_else(|| yaml(text)).map(|value| eslint(&value)).unwrap_or_default()
        }
        ".eslintrc.json" => json(text).map(|value| eslint(&value)).unwrap_or_default(),
        "tsconfig.json" | "tsconfig.base.json" => {
            json(text).map(|value| tsconfig(&value)).unwrap_or_default()
        }
        "package.json" => json(text).map(|value| package(&value)).unwrap_or_default(),
        "pyproject.toml" => toml(text).map(|value| pyproject(&value)).unwrap_or_default(),
        "Cargo.toml" => toml(text).map(|value| lints(&value)).unwrap_or_default(),
        ".flake8" | "setup.cfg" | "tox.ini" => {
            ini(text, &["flake8", "isort", "pycodestyle", "mypy"])
        }
        "mypy.ini" => ini(text, &["mypy"]),
        ".golangci.yml" | ".golangci.yaml" => {
            yaml(text).map(|value| golangci(&value)).unwrap_or_default()
        }
        ".rubocop.yml" => yaml(text).map(|value| rubocop(&value)).unwrap_or_default(),
        ".pre-commit-config.yaml" => yaml(text).map(|value| hooks(&value)).unwrap_or_default(),
        "phpcs.xml" | "phpcs.xml.dist" => phpcs(text),
        _ => Vec::new(),
    }
}

/// All plain settings of the top level on one line.
fn flat(value: Option<&Value>) -> Vec<String> {
    let words: Vec<String> = pairs(value)
        .into_iter()
        .filter_map(|(key, value)| Some(format!("{key} = {}", scalar(value)?)))
        .collect();
    if words.is_empty() { Vec::new() } else { vec![some(&words, 12)] }
}

/// One line per section.
fn editorconfig(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', ';']))
    {
        if line.starts_with('[') {
            lines.push(line.to_owned());
        } else if let Some(section) = lines.last_mut() {
            section.push_str(if section.ends_with(']') { " " } else { ", " });
            section.push_str(line);
        }
    }
    lines.retain(|line| line.contains('='));
    lines
}

fn ini(text: &str, sections: &[&str]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut section = "";
    for line in text.lines() {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end().trim_end_matches(']');
        } else if sections.contains(&section)
            && line.contains('=')
            && !line.starts_with([' ', '\t', '#', ';'])
            && !line.trim_end().ends_with('=')
        {
            lines.push(format!("{section}: {}", line.trim()));
        }
    }
    lines
}

fn eslint(value: &Value) -> Vec<String> {
    let extends = value.get("extends");
    let names = extends.and_then(Value::as_str).map_or_else(|| strings(extends), |one| vec![one]);
    let rules: Vec<String> = pairs(value.get("rules"))
        .into_iter()
        .filter_map(|(rule, level)| {
            let level = level.as_array().and_then(|list| list.first()).unwrap_or(level);
            let level = scalar(level)?;
            matches!(level.as_str(), "error" | "2").then(|| rule.to_owned())
        })
        .collect();
    let mut lines = Vec::new();
    if !names.is_empty() {
        lines.push(format!("ESLint extends {}", some(&names, 8)));
    }
    if !rules.is_empty() {
        lines.push(format!("ESLint errors: {}", some(&rules, 10)));
    }
    lines
}

fn biome(value: &Value) -> Vec<String> {
    let mut lines = flat(value.get("formatter"));
    lines.extend(flat(at(value, &["javascript", "formatter"])));
    lines
}

fn tsconfig(value: &Value) -> Vec<String> {
    const KEYS: [&str; 14] = [
        "strict",
        "noImplicitAny",
        "strictNullChecks",
        "noUnusedLocals",
        "noUnusedParameters",
        "noUncheckedIndexedAccess",
        "exactOptionalPropertyTypes",
        "noImplicitOverride",
        "noImplicitReturns",
        "isolatedModules",
        "verbatimModuleSyntax",
        "target",
        "module",
        "moduleResolution",
    ];
    let options = value.get("compilerOptions");
    let said =
        KEYS.iter().filter_map(|key| Some(format!("{key} = {}", scalar(options?.get(key)?)?)));
    let said: Vec<String> = said.collect();
    if said.is_empty() { Vec::new() } else { vec![said.join(", ")] }
}

fn package(value: &Value) -> Vec<String> {
    let mut lines: Vec<String> =
        flat(value.get("prettier")).into_iter().map(|line| format!("Prettier: {line}")).collect();
    lines.extend(value.get("eslintConfig").map(eslint).unwrap_or_default());
    if let Some(kind) = value.get("type").and_then(Value::as_str) {
        lines.push(format!("package type is `{kind}`"));
    }
    let engines = flat(value.get("engines"));
    lines.extend(engines.into_iter().map(|line| format!("engines: {line}")));
    lines
}

fn pyproject(value: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(version) = at(value, &["project", "requires-python"]).and_then(Value::as_str) {
        lines.push(format!("requires Python {version}"));
    }
    for tool in ["black", "ruff", "isort", "mypy", "pyright", "pylint", "flake8"] {
        let table = at(value, &["tool", tool]);
        lines.extend(flat(table).into_iter().map(|line| format!("{tool}: {line}")));
        let lint = table.and_then(|table| table.get("lint")).or(table);
        let select = strings(lint.and_then(|lint| lint.get("select")));
        if !select.is_empty() {
            lines.push(format!("{tool} selects {}", some(&select, 20)));
        }
    }
    lines
}

fn lints(value: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    for keys in [["workspace", "package"], ["package", ""]] {
        let table = if keys[1].is_empty() { value.get(keys[0]) } else { at(value, &keys) };
        let said = |key: &str| {
            table
                .and_then(|table| table.get(key))
                .and_then(scalar)
                .map(|value| format!("{key} {value}"))
        };
        let words: Vec<String> = ["edition", "rust-version"].into_iter().filter_map(said).collect();
        if !words.is_empty() {
            lines.push(format!("Rust {}", words.join(", ")));
        }
    }
    let tables = [at(value, &["workspace", "lints"]), value.get("lints")];
    for (tool, rules) in tables.into_iter().flat_map(pairs) {
        let mut by_level: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for (rule, level) in pairs(Some(rules)) {
            if let Some(level) = scalar(level).or_else(|| level.get("level").and_then(scalar)) {
                by_level.entry(level).or_default().push(rule);
            }
        }
        lines.extend(
            by_level
                .iter()
                .filter(|(level, _)| *level != "allow")
                .map(|(level, rules)| format!("{tool} lints, {level}: {}", some(rules, 14))),
        );
    }
    lines
}

fn golangci(value: &Value) -> Vec<String> {
    let enabled = strings(at(value, &["linters", "enable"]));
    if enabled.is_empty() { Vec::new() } else { vec![format!("linters: {}", some(&enabled, 20))] }
}

fn rubocop(value: &Value) -> Vec<String> {
    let rule = |(name, rule): (&str, &Value)| {
        let words = flat(Some(rule)).pop()?;
        (name.contains('/') || name == "AllCops").then(|| format!("{name}: {words}"))
    };
    pairs(Some(value)).into_iter().filter_map(rule).collect()
}

fn hooks(value: &Value) -> Vec<String> {
    let repositories = value.get("repos").and_then(Value::as_array).into_iter().flatten();
    let hooks = repositories.flat_map(|repository| {
        repository.get("hooks").and_then(Value::as_array).into_iter().flatten()
    });
    let ids: Vec<&str> = hooks.filter_map(|hook| hook.get("id").and_then(Value::as_str)).collect();
    if ids.is_empty() { Vec::new() } else { vec![format!("pre-commit hooks: {}", some(&ids, 16))] }
}

fn phpcs(text: &str) -> Vec<String> {
    let Some(document) = xml(text) else {
        return Vec::new();
    };
    let rules = document.descendants().filter(|node| node.tag_name().name() == "rule");
    let names: Vec<&str> = rules.filter_map(|node| node.attribute("ref")).collect();
    if names.is_empty() {
        Vec::new()
    } else {
        vec![format!("PHP_CodeSniffer rules: {}", some(&names, 10))]
    }
}
