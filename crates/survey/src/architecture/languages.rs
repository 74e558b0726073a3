//! Languages, by files.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use sequester_core::architecture::Stated;

use super::line::counted;
use super::scan::{Scan, name};

const MOST: usize = 12;

/// The language of a file, by its name.
pub(super) fn of(path: &str) -> Option<&'static str> {
    let name = name(path);
    if name == "Dockerfile" {
        return Some("Dockerfile");
    }
    let (stem, extension) = name.rsplit_once('.')?;
    if stem.is_empty() {
        return None;
    }
    Some(match extension {
        "rs" => "Rust",
        "py" | "pyi" => "Python",
        "ts" | "tsx" | "mts" | "cts" => "TypeScript",
        "js" | "jsx" | "mjs" | "cjs" => "JavaScript",
        "go" => "Go",
        "java" => "Java",
        "kt" | "kts" => "Kotlin",
        "c" => "C",
        "h" => "C or C++ headers",
        "cc" | "cpp" | "cxx" | "hpp" | "hh" | "hxx" => "C++",
        "cs" => "C#",
        "fs" => "F#",
        "rb" => "Ruby",
        "php" => "PHP",
        "swift" => "Swift",
        "m" | "mm" => "Objective-C",
        "scala" => "Scala",
        "ex" | "exs" => "Elixir",
        "erl" => "Erlang",
        "hs" => "Haskell",
        "ml" | "mli" => "OCaml",
        "clj" | "cljs" => "Clojure",
        "dart" => "Dart",
        "lua" => "Lua",
        "zig" => "Zig",
        "pl" | "pm" => "Perl",
        "r" | "R" => "R",
        "jl" => "Julia",
        "sh" | "bash" | "zsh" => "Shell",
        "ps1" => "PowerShell",
        "sql" => "SQL",
        "vue" => "Vue",
        "svelte" => "Svelte",
        "css" | "scss" | "sass" | "less" => "Stylesheets",
        "html" | "htm" => "HTML",
        "proto" => "Protocol Buffers",
        "graphql" | "gql" => "GraphQL",
        "tf" => "Terraform",
        "nix" => "Nix",
        _ => return None,
    })
}

pub(super) fn state(scan: &Scan<'_>) -> Vec<Stated> {
    let mut found: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for path in &scan.files {
        if let Some(language) = of(path) {
            let places = found.entry(language).or_default();
            *places.entry(top(path)).or_default() += 1;
        }
    }
    let mut found: Vec<(usize, &str, String)> = found
        .into_iter()
        .map(|(language, places)| (places.values().sum(), language, busiest(places)))
        .collect();
    found.sort_by_key(|(count, language, _)| (Reverse(*count), *language));
    found
        .into_iter()
        .take(MOST)
        .map(|(count, language, places)| {
            Stated::new(format!("{language}: {}", counted(count, "file")), places)
        })
        .collect()
}

fn busiest(places: BTreeMap<&str, usize>) -> String {
    let mut places: Vec<(&str, usize)> = places.into_iter().collect();
    places.sort_by_key(|(place, count)| (Reverse(*count), *place));
    let names: Vec<&str> = places.iter().take(3).map(|(place, _)| *place).collect();
    names.join(", ")
}

/// The topmost folder, or the root.
fn top(path: &str) -> &str {
    path.split_once('/').map_or("the root", |(top, _)| top)
}
