//! False alarms: what the rules find in published packages.

use std::fmt::Write as _;
use std::fs;
use std::ops::AddAssign;
use std::path::{Path, PathBuf};

use anyhow::Result;
use sequester_core::secret;

use super::packages::Package;

/// Sizes and findings of one package, or of many.
#[derive(Clone, Copy, Default)]
struct Count {
    files: usize,
    lines: usize,
    found: usize,
    config_files: usize,
    config_found: usize,
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.files += other.files;
        self.lines += other.lines;
        self.found += other.found;
        self.config_files += other.config_files;
        self.config_found += other.config_found;
    }
}

impl Count {
    fn row(&self, name: &str) -> String {
        let Self { files, lines, found, config_files, config_found } = self;
        format!("| {name} | {files} | {lines} | {found} | {config_files} | {config_found} |\n")
    }
}

/// A table of each package's files, lines and findings with a sum for each registry, and a list of where each finding stands.
pub(super) fn count(packages: &[Package]) -> Result<(String, String)> {
    let mut places = Vec::new();
    let mut table = String::from(
        "| package | text files | lines | findings | configuration files | findings in those |\n\
         |---|---:|---:|---:|---:|---:|\n",
    );
    let mut sums: Vec<(&str, usize, Count)> = Vec::new();
    for Package { registry, name, version, folder } in packages {
        let count = count_folder(folder, &format!("{registry} {name}"), &mut places)?;
        table += &count.row(&format!("{registry}: {name} {version}"));
        match sums.iter_mut().find(|(known, ..)| known == registry) {
            Some((_, size, sum)) => {
                *size += 1;
                *sum += count;
            }
            None => sums.push((registry, 1, count)),
        }
    }
    for (registry, size, sum) in sums {
        let rate = sum.found as f64 * 100_000.0 / sum.lines.max(1) as f64;
        let name = format!("**{registry}: all {size}, {rate:.1} findings per 100,000 lines**");
        write!(table, "{}", sum.row(&name))?;
    }
    places.sort();
    Ok((table, places.join("\n")))
}

fn count_folder(folder: &Path, name: &str, places: &mut Vec<String>) -> Result<Count> {
    let mut files = Vec::new();
    list(folder, &mut files)?;
    let mut count = Count::default();
    for file in &files {
        let Ok(text) = fs::read_to_string(file) else {
            continue;
        };
        let found = secret::redact(&text).found;
        let lines = text.lines().count();
        count += Count { files: 1, lines, found: found.len(), ..Count::default() };
        if is_config(file) {
            count += Count { config_files: 1, config_found: found.len(), ..Count::default() };
        }
        let path = file.strip_prefix(folder)?.display();
        places.extend(found.iter().map(|found| {
            let line = text[..found.start].matches('\n').count() + 1;
            format!("{}: {name} {path}:{line}", found.rule)
        }));
    }
    Ok(count)
}

/// YAML, XML, properties and Dockerfiles, also where they are templates.
fn is_config(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let name = name.trim_end_matches(".ejs").trim_end_matches(".tmpl");
    let ends = [".yml", ".yaml", ".xml", ".properties"];
    name.starts_with("dockerfile") || ends.iter().any(|end| name.ends_with(end))
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
