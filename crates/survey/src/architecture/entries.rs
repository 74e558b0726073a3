//! Entry points: where the programs of the project start.

use serde_json::Value;

use sequester_core::architecture::Stated;

use super::line::clean;
use super::manifest::{at, json, pairs, toml};
use super::scan::{Scan, folder, has_extension, is_sample, name};

const MOST: usize = 60;
/// Exports of one package.
const MOST_EXPORTS: usize = 8;

pub(super) fn state(scan: &Scan<'_>) -> Vec<Stated> {
    let mut found = Vec::new();
    rust(scan, &mut found);
    node(scan, &mut found);
    python(scan, &mut found);
    for (path, text) in scan.named(&["main.go"]) {
        if text.lines().any(|line| line.starts_with("package main")) {
            found.push(Stated::new(program(path), path));
        }
    }
    for (path, text) in scan.named(&["Dockerfile"]) {
        let starts = |line: &&str| line.starts_with("ENTRYPOINT") || line.starts_with("CMD");
        found.extend(
            text.lines()
                .filter(starts)
                .map(|line| Stated::new(format!("`{}`", clean(line, 120)), path)),
        );
    }
    for path in &scan.files {
        if matches!(name(path), "Program.cs" | "manage.py") && !is_sample(path) {
            found.push(Stated::new(format!("`{}` by its tool's convention", name(path)), *path));
        }
    }
    found.truncate(MOST);
    found
}

/// A program goes by its folder's name.
fn program(path: &str) -> String {
    match folder(path) {
        "" => "Go program at the root".to_owned(),
        folder => format!("Go program `{}`", clean(name(folder), 60)),
    }
}

/// The folder of a manifest with the slash that joins it to what lies in it.
fn base(manifest: &str) -> String {
    match folder(manifest) {
        "" => String::new(),
        folder => format!("{folder}/"),
    }
}

fn rust(scan: &Scan<'_>, found: &mut Vec<Stated>) {
    for (path, text) in scan.named(&["Cargo.toml"]) {
        let Some(manifest) = toml(text) else { continue };
        let base = base(path);
        let package = at(&manifest, &["package", "name"]).and_then(Value::as_str);
        for bin in manifest.get("bin").and_then(Value::as_array).into_iter().flatten() {
            if let Some(bin) = bin.get("name").and_then(Value::as_str) {
                found.push(Stated::new(format!("binary `{}`", clean(bin, 60)), path));
            }
        }
        let main = format!("{base}src/main.rs");
        if let Some(package) = package.filter(|_| manifest.get("bin").is_none() && scan.has(&main))
        {
            found.push(Stated::new(format!("binary `{}`", clean(package, 60)), main));
        }
        let library = format!("{base}src/lib.rs");
        if let Some(package) = package.filter(|_| scan.has(&library)) {
            found.push(Stated::new(format!("library `{}`", clean(package, 60)), library));
        }
        let bins = format!("{base}src/bin/");
        let start = scan.files.partition_point(|file| *file < bins.as_str());
        for file in scan.files[start..].iter().take_while(|file| file.starts_with(&bins)) {
            if has_extension(file, &["rs"]) && !file[bins.len()..].contains('/') {
                let bin = name(file).trim_end_matches(".rs");
                found.push(Stated::new(format!("binary `{}`", clean(bin, 60)), *file));
            }
        }
    }
}

fn node(scan: &Scan<'_>, found: &mut Vec<Stated>) {
    for (path, text) in scan.named(&["package.json"]) {
        let Some(manifest) = json(text) else { continue };
        let mut add = |key: &str, target: &str| {
            found.push(Stated::new(format!("{key}: `{}`", clean(target, 100)), path));
        };
        match manifest.get("bin") {
            Some(Value::String(target)) => add("bin", target),
            bins => {
                for (command, target) in pairs(bins) {
                    add(
                        &format!("command `{}`", clean(command, 60)),
                        target.as_str().unwrap_or(""),
                    );
                }
            }
        }
        let module = ["main", "module"].map(|key| (key, manifest.get(key).and_then(Value::as_str)));
        for (key, target) in module {
            if let Some(target) = target {
                add(key, target);
            }
        }
        let exports: Vec<&str> =
            pairs(manifest.get("exports")).into_iter().map(|(key, _)| key).collect();
        let paths: Vec<&str> = exports.into_iter().filter(|key| key.starts_with('.')).collect();
        if !paths.is_empty() {
            let shown = super::line::some(&paths, MOST_EXPORTS);
            found.push(Stated::new(format!("exports {}", clean(&shown, 200)), path));
        }
    }
}

fn python(scan: &Scan<'_>, found: &mut Vec<Stated>) {
    for (path, text) in scan.named(&["pyproject.toml"]) {
        let Some(manifest) = toml(text) else { continue };
        for keys in [
            ["project", "scripts", ""],
            ["project", "gui-scripts", ""],
            ["tool", "poetry", "scripts"],
        ] {
            let keys: Vec<&str> = keys.into_iter().filter(|key| !key.is_empty()).collect();
            for (command, target) in pairs(at(&manifest, &keys)) {
                let target = clean(target.as_str().unwrap_or(""), 100);
                found.push(Stated::new(
                    format!("command `{}`: `{target}`", clean(command, 60)),
                    path,
                ));
            }
        }
    }
    for path in &scan.files {
        if name(path) == "__main__.py" && !is_sample(path) {
            let module = folder(path).trim_start_matches("src/").replace('/', ".");
            found.push(Stated::new(format!("`python -m {}`", clean(&module, 80)), *path));
        }
    }
}
