//! False alarms: what the rules find in the source of published crates.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use sequester_core::secret;

use super::cargo_metadata;

/// Chosen because they handle keys, tokens and URLs, or because everybody has them.
const CRATES: [(&str, &str); 20] = [
    ("age", "0.12.1"),
    ("aws-sigv4", "1.6.4"),
    ("base64", "0.23.1"),
    ("clap", "4.6.7"),
    ("hyper", "1.12.0"),
    ("jsonwebtoken", "11.1.0"),
    ("lettre", "0.11.23"),
    ("oauth2", "5.0.0"),
    ("openssl", "0.10.82"),
    ("redis", "1.8.1"),
    ("regex", "1.13.1"),
    ("reqwest", "0.13.5"),
    ("ring", "0.17.14"),
    ("rustls", "0.23.46"),
    ("serde", "1.0.229"),
    ("ssh-key", "0.6.7"),
    ("tokio", "1.54.1"),
    ("tokio-postgres", "0.7.18"),
    ("url", "2.5.8"),
    ("uuid", "1.29.0"),
];

/// A table of files, bytes and findings of each crate, and a list of where each finding stands.
pub(super) fn count(folder: &Path) -> Result<(String, String)> {
    let mut places = Vec::new();
    let mut table =
        String::from("| crate | text files | bytes | findings |\n|---|---:|---:|---:|\n");
    let mut total = [0; 3];
    for ((name, version), source) in CRATES.iter().zip(fetch(folder)?) {
        let mut files = Vec::new();
        list(&source, &mut files)?;
        let mut row = [0; 3];
        for file in &files {
            let Ok(text) = fs::read_to_string(file) else {
                continue;
            };
            let found = secret::redact(&text).found;
            row = [row[0] + 1, row[1] + text.len(), row[2] + found.len()];
            let path = file.strip_prefix(&source)?.display();
            places.extend(found.iter().map(|found| {
                let line = text[..found.start].matches('\n').count() + 1;
                format!("{}: {name} {path}:{line}", found.rule)
            }));
        }
        writeln!(table, "| {name} {version} | {} | {} | {} |", row[0], row[1], row[2])?;
        total = [total[0] + row[0], total[1] + row[1], total[2] + row[2]];
    }
    writeln!(table, "| together | {} | {} | {} |", total[0], total[1], total[2])?;
    places.sort();
    Ok((table, places.join("\n")))
}

/// The folders of the crates' sources, fetched by cargo as dependencies of a manifest that nobody builds.
fn fetch(folder: &Path) -> Result<Vec<PathBuf>> {
    let dependencies: Vec<String> = CRATES
        .iter()
        .map(|(name, version)| {
            format!("{name} = {{ version = \"={version}\", default-features = false }}")
        })
        .collect();
    let package = "[package]\nname = \"alarms\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n";
    fs::create_dir_all(folder.join("src"))?;
    fs::write(folder.join("src/lib.rs"), "")?;
    fs::write(folder.join("Cargo.toml"), format!("{package}{}\n", dependencies.join("\n")))?;
    let metadata = cargo_metadata(folder, &[])?;
    let packages = metadata["packages"].as_array().context("Cargo lists no packages.")?;
    CRATES
        .iter()
        .map(|(name, version)| {
            let package = packages
                .iter()
                .find(|package| package["name"] == *name && package["version"] == *version);
            let manifest = package.and_then(|package| package["manifest_path"].as_str());
            let manifest =
                manifest.with_context(|| format!("Cargo did not fetch `{name}` {version}."))?;
            Ok(Path::new(manifest).parent().context("A manifest lies in a folder.")?.to_owned())
        })
        .collect()
}

/// All files below `folder`, in order.
fn list(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let kind = entry.file_type()?;
        if kind.is_dir() {
            list(&entry.path(), files)?;
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
    Ok(())
}
