//! Targets of makefiles and recipes of justfiles.

use sequester_core::architecture::Stated;

use crate::architecture::line::clean;
use crate::architecture::scan::{Scan, folder};

const MOST: usize = 24;
/// Those come first.
const USUAL: [&str; 16] = [
    "all", "build", "test", "tests", "check", "lint", "fmt", "format", "install", "run", "dev",
    "ci", "docs", "bench", "generate", "coverage",
];

pub(super) fn state(scan: &Scan<'_>, found: &mut Vec<Stated>) {
    for (path, text) in scan.named(&["Makefile", "makefile", "GNUmakefile"]) {
        add("make", path, targets(text), found);
    }
    for (path, text) in scan.named(&["justfile", "Justfile", ".justfile"]) {
        add("just", path, recipes(text), found);
    }
}

fn add(tool: &str, path: &str, mut names: Vec<(&str, &str)>, found: &mut Vec<Stated>) {
    let mut seen = std::collections::BTreeSet::new();
    let inside = !folder(path).is_empty();
    names.retain(|(name, _)| (!inside || USUAL.contains(name)) && seen.insert(*name));
    let usual = |name: &str| USUAL.iter().position(|usual| name == *usual).unwrap_or(USUAL.len());
    names.sort_by_key(|(name, about)| (usual(name), about.is_empty()));
    let place = match (folder(path), tool) {
        ("", _) => String::new(),
        (folder, "make") => format!(" -C {}", clean(folder, 80)),
        (folder, _) => format!(" -d {} -f {}", clean(folder, 80), clean(path, 100)),
    };
    let (told, bare): (Vec<_>, Vec<_>) =
        names.into_iter().take(MOST).partition(|(_, about)| !about.is_empty());
    for (name, about) in told {
        found.push(Stated::new(
            format!("`{tool}{place} {}`: {}", clean(name, 60), clean(about, 100)),
            path,
        ));
    }
    for some in bare.chunks(8) {
        let names: Vec<String> =
            some.iter().map(|(name, _)| format!("`{tool}{place} {}`", clean(name, 60))).collect();
        found.push(Stated::new(names.join(", "), path));
    }
}

fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(plain)
        && name.contains(|c: char| c.is_ascii_lowercase())
}

/// Plain targets, with the `##` comment behind them.
fn targets(text: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with([' ', '\t', '#', '.'])) {
        let Some((head, rest)) = line.split_once(':').filter(|parts| !is_variable(*parts)) else {
            continue;
        };
        let about = rest.split_once("##").map_or("", |(_, about)| about.trim());
        let names = head.split_whitespace().filter(|name| is_name(name));
        found.extend(names.map(|name| (name, about)));
    }
    found
}

/// `A = b:c`, `A := b` and `A ::= b`, parted at the first colon.
fn is_variable((head, rest): (&str, &str)) -> bool {
    head.contains('=') || rest.trim_start_matches(':').starts_with('=')
}

/// Recipes, with the comment above them.
fn recipes(text: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut above = "";
    for line in text.lines() {
        if let Some(comment) = line.strip_prefix('#') {
            above = comment.trim();
            continue;
        }
        let head = line.trim_start_matches('@');
        let starts = !line.starts_with([' ', '\t', '[']) && !line.contains(":=");
        if let Some((head, _)) = head.split_once(':').filter(|_| starts) {
            let name = head.split_whitespace().next().unwrap_or("");
            if is_name(name) && !matches!(name, "set" | "alias" | "export" | "import" | "mod") {
                found.push((name, above));
            }
        }
        if !line.starts_with('[') {
            above = "";
        }
    }
    found
}
