//! Workspaces, tests, names of files and well-known folders.

use std::collections::BTreeMap;

use serde_json::Value;

use sequester_core::architecture::Stated;

use crate::architecture::languages;
use crate::architecture::line::{clean, counted, some};
use crate::architecture::manifest::{at, json, strings, toml, xml, yaml};
use crate::architecture::scan::{Scan, folder, has_extension, is_sample, name};

/// Files of one form before it counts as a pattern.
const FEWEST: usize = 5;
const MOST_FORMS: usize = 6;

pub(super) fn workspaces(scan: &Scan<'_>) -> Vec<Stated> {
    let mut found = Vec::new();
    let mut add = |path: &str, text: String| found.push(Stated::new(text, path));
    for (path, text) in scan.named(&["Cargo.toml"]) {
        let members =
            toml(text).map(|manifest| strings(at(&manifest, &["workspace", "members"])).join(", "));
        if let Some(members) = members.filter(|members| !members.is_empty()) {
            add(path, format!("Cargo workspace of {}", clean(&members, 200)));
        }
    }
    if let Some(manifest) = scan.text("package.json").and_then(json) {
        let members = manifest.get("workspaces");
        let members = strings(members.and_then(|members| members.get("packages")).or(members));
        if !members.is_empty() {
            add("package.json", format!("npm workspace of {}", some(&members, 12)));
        }
    }
    if let Some(workspace) = scan.text("pnpm-workspace.yaml").and_then(yaml) {
        let members = strings(workspace.get("packages"));
        if !members.is_empty() {
            add("pnpm-workspace.yaml", format!("pnpm workspace of {}", some(&members, 12)));
        }
    }
    for (path, text) in scan.named(&["go.mod"]) {
        let module = text.lines().find_map(|line| line.strip_prefix("module "));
        let version = text.lines().find_map(|line| line.strip_prefix("go ")).unwrap_or("");
        if let Some(module) = module {
            let version = if version.is_empty() {
                String::new()
            } else {
                format!(", Go {}", clean(version, 20))
            };
            add(path, format!("Go module `{}`{version}", clean(module, 100)));
        }
    }
    for (path, text) in scan.named(&["settings.gradle", "settings.gradle.kts"]) {
        let included = text.lines().filter(|line| line.trim().starts_with("include"));
        let quoted: Vec<&str> =
            included.flat_map(|line| line.split(['"', '\'']).skip(1).step_by(2)).collect();
        if !quoted.is_empty() {
            add(path, format!("Gradle build of {}", some(&quoted, 12)));
        }
    }
    if let Some(modules) =
        scan.text("pom.xml").map(maven_modules).filter(|modules| !modules.is_empty())
    {
        add("pom.xml", format!("Maven build of {}", some(&modules, 12)));
    }
    for (path, tool) in [("nx.json", "Nx"), ("turbo.json", "Turborepo"), ("lerna.json", "Lerna")] {
        if scan.text(path).and_then(json).is_some_and(|value| matches!(value, Value::Object(_))) {
            add(path, format!("monorepo run by {tool}"));
        }
    }
    found
}

fn maven_modules(text: &str) -> Vec<String> {
    let Some(document) = xml(text) else {
        return Vec::new();
    };
    let modules = document.descendants().filter(|node| node.tag_name().name() == "module");
    modules.filter_map(|node| node.text()).map(|module| clean(module, 60)).collect()
}

/// The form of a test file's name, if it is one.
fn test_form(path: &str) -> Option<&'static str> {
    let file = name(path);
    let (stem, extension) = file.rsplit_once('.')?;
    let script = matches!(extension, "ts" | "tsx" | "js" | "jsx" | "mjs" | "cjs" | "mts" | "cts");
    Some(match extension {
        "go" if stem.ends_with("_test") => "*_test.go",
        "py" if stem.starts_with("test_") => "test_*.py",
        "py" if stem.ends_with("_test") => "*_test.py",
        "py" if stem == "tests" => "tests.py",
        "rb" if stem.ends_with("_spec") => "*_spec.rb",
        "rb" if stem.ends_with("_test") => "*_test.rb",
        "exs" if stem.ends_with("_test") => "*_test.exs",
        "java" if stem.ends_with("Test") || stem.ends_with("Tests") => "*Test.java",
        "kt" if stem.ends_with("Test") => "*Test.kt",
        "php" if stem.ends_with("Test") => "*Test.php",
        "cs" if stem.ends_with("Tests") || stem.ends_with("Test") => "*Tests.cs",
        "rs" if path.contains("/tests/") || path.starts_with("tests/") => "tests/**/*.rs",
        "rs" if stem == "tests" => "tests.rs",
        "c" | "cc" | "cpp" if stem.ends_with("_test") || stem.ends_with("_unittest") => "*_test.cc",
        _ if script && has_extension(stem, &["test"]) => "*.test.*",
        _ if script && has_extension(stem, &["spec"]) => "*.spec.*",
        _ => return None,
    })
}

pub(super) fn tests(scan: &Scan<'_>) -> Vec<Stated> {
    let mut forms: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for path in &scan.files {
        if let Some(form) = test_form(path) {
            forms.entry(form).or_default().push(path);
        }
    }
    let mut forms: Vec<(&str, Vec<&str>)> = forms.into_iter().collect();
    forms.sort_by_key(|(form, paths)| (std::cmp::Reverse(paths.len()), *form));
    forms
        .into_iter()
        .map(|(form, paths)| {
            let apart = |path: &&&str| {
                folder(path)
                    .split('/')
                    .any(|part| matches!(part, "test" | "tests" | "__tests__" | "spec"))
            };
            let apart = paths.iter().filter(apart).count();
            let place = match apart {
                0 => "beside the sources",
                count if count == paths.len() => "in test folders",
                count if count * 2 > paths.len() => "mostly in test folders",
                _ => "mostly beside the sources",
            };
            let text = format!("tests are `{form}`, {place}: {}", counted(paths.len(), "file"));
            Stated::new(text, busiest(&paths))
        })
        .collect()
}

/// The folder (two levels at most) that holds most of the paths.
fn busiest(paths: &[&str]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for path in paths {
        let folder = folder(path);
        let end = folder.match_indices('/').nth(1).map_or(folder.len(), |(at, _)| at);
        *counts.entry(&folder[..end]).or_default() += 1;
    }
    let best =
        counts.into_iter().max_by_key(|(folder, count)| (*count, std::cmp::Reverse(*folder)));
    match best {
        Some(("", _)) | None => "the root".to_owned(),
        Some((folder, _)) => format!("{}/", clean(folder, 80)),
    }
}

/// Files that share the end of their names, and folders of many files of one kind.
pub(super) fn names(scan: &Scan<'_>) -> Vec<Stated> {
    let mut forms: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let sources = scan.files.iter().filter(|path| {
        !is_sample(path)
            && test_form(path).is_none()
            && !numbered(path)
            && languages::of(path).is_some()
    });
    for path in sources {
        if let Some(form) = form(name(path)) {
            forms.entry(form).or_default().push(path);
        }
    }
    let mut forms: Vec<(String, Vec<&str>)> =
        forms.into_iter().filter(|(_, paths)| paths.len() >= FEWEST).collect();
    forms.sort_by(|one, next| next.1.len().cmp(&one.1.len()).then_with(|| one.0.cmp(&next.0)));
    forms
        .into_iter()
        .take(MOST_FORMS)
        .map(|(form, paths)| {
            Stated::new(
                format!("names like `{}`: {}", clean(&form, 60), counted(paths.len(), "file")),
                busiest(&paths),
            )
        })
        .collect()
}

/// `user.service.ts` is `*.service.ts`, `user_handler.go` is `*_handler.go`, `UserController.php` is `*Controller.php`.
fn form(file: &str) -> Option<String> {
    let (stem, extension) = file.rsplit_once('.')?;
    let last_capital = stem.rfind(|c: char| c.is_ascii_uppercase()).filter(|at| *at > 0);
    let cut = stem.rfind(['.', '_', '-']).or(last_capital).filter(|at| *at > 0)?;
    let end = &stem[cut..];
    let word = end.trim_start_matches(['.', '_', '-']);
    let worthy = word.len() >= 3
        && word.chars().all(|c| c.is_ascii_alphabetic())
        && word != "test"
        && word != "d";
    worthy.then(|| format!("*{end}.{extension}"))
}

/// Migrations are numbered or dated.
fn numbered(path: &str) -> bool {
    name(path).trim_start_matches(['V', 'v']).starts_with(|c: char| c.is_ascii_digit())
}

/// Folders and files that mean the same everywhere.
pub(super) fn places(scan: &Scan<'_>) -> Vec<Stated> {
    let mut migrations: BTreeMap<&str, usize> = BTreeMap::new();
    let mut schemas: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut workflows = 0;
    for path in &scan.files {
        workflows += usize::from(path.starts_with(".github/workflows/"));
        let place = folder(path);
        if !is_sample(path) && matches!(name(place), "migrations" | "migrate") && numbered(path) {
            *migrations.entry(place).or_default() += 1;
        }
        let kind = match name(path) {
            file if has_extension(file, &["proto"]) => "Protocol Buffers",
            file if has_extension(file, &["graphql", "graphqls"]) => "GraphQL schema",
            file if file.starts_with("openapi.") || file.starts_with("swagger.") => {
                "OpenAPI description"
            }
            _ => continue,
        };
        if !is_sample(path) {
            schemas.entry(kind).or_default().push(path);
        }
    }
    let mut found = Vec::new();
    if workflows > 0 {
        found.push(Stated::new(
            format!("CI by GitHub Actions: {}", counted(workflows, "workflow")),
            ".github/workflows/",
        ));
    }
    let mut migrations: Vec<(&str, usize)> =
        migrations.into_iter().filter(|(_, count)| *count >= 2).collect();
    migrations.sort_by_key(|(place, count)| (std::cmp::Reverse(*count), *place));
    for (place, count) in migrations.into_iter().take(3) {
        found.push(Stated::new(
            format!("database migrations: {}", counted(count, "file")),
            format!("{place}/"),
        ));
    }
    for (kind, paths) in schemas {
        found.push(Stated::new(
            format!("{kind}: {}", counted(paths.len(), "file")),
            busiest(&paths),
        ));
    }
    for path in
        ["Dockerfile", "docker-compose.yml", "docker-compose.yaml", "compose.yaml", "compose.yml"]
    {
        if scan.has(path) {
            found.push(Stated::new("containers by Docker", path));
        }
    }
    found
}
