//! One look over the entries, and one reading of the few files that tell about the whole.

use std::collections::BTreeMap;

pub(super) use sequester_core::foreign::{foreign, is_sample};
use sequester_core::limits::Limits;
use sequester_core::repository::{Entry, EntryKind, Snapshot};

/// Most bytes of one file; lock files are long by nature.
const MOST_BYTES: u64 = 256 << 10;
const MOST_LOCK_BYTES: u64 = 4 << 20;
/// Most files that are read.
const MOST_FILES: usize = 300;
const MOST_LOCKS: usize = 6;

pub(super) struct Scan<'a> {
    /// Files that people of the project write, sorted by path.
    pub(super) files: Vec<&'a str>,
    /// Everything, for counting.
    pub(super) entries: &'a [Entry],
    texts: BTreeMap<&'a str, String>,
}

impl<'a> Scan<'a> {
    pub(super) fn of(snapshot: &'a dyn Snapshot, limits: &Limits) -> Self {
        let entries = snapshot.entries();
        let mut files = Vec::new();
        let mut wanted = Vec::new();
        let mut locks = Vec::new();
        for (at, entry) in entries.iter().enumerate() {
            let path = entry.path.as_str();
            if entry.kind != EntryKind::File || foreign(path).is_some() {
                continue;
            }
            files.push(path);
            let depth = path.matches('/').count();
            match interest(path, depth) {
                Some(Interest::Lock) => locks.push((depth, at)),
                Some(Interest::Text(rank)) => wanted.push((rank, depth, at)),
                None => {}
            }
        }
        wanted.sort_unstable();
        locks.sort_unstable();
        let wanted: Vec<usize> = wanted.iter().take(MOST_FILES).map(|wanted| wanted.2).collect();
        let locks: Vec<usize> = locks.iter().take(MOST_LOCKS).map(|lock| lock.1).collect();
        let mut texts = BTreeMap::new();
        let most_bytes = MOST_BYTES.min(limits.file_bytes);
        for (mut wanted, most) in [(wanted, most_bytes), (locks, MOST_LOCK_BYTES)] {
            wanted.sort_unstable();
            snapshot.read_many(&wanted, most, &mut |at, bytes| {
                if let (Some(entry), Ok(bytes)) = (entries.get(at), bytes)
                    && !bytes.contains(&0)
                {
                    let text = String::from_utf8_lossy(bytes).replace('\r', "");
                    texts.insert(entry.path.as_str(), text);
                }
            });
        }
        Self { files, entries, texts }
    }

    /// The text of one of the files that were read.
    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.texts.get(path).map(String::as_str)
    }

    /// Files that were read and go by one of these names, nearest to the root first.
    pub(super) fn named(&self, names: &[&str]) -> Vec<(&'a str, &str)> {
        self.matching(|path| names.contains(&name(path)))
    }

    pub(super) fn matching(&self, test: impl Fn(&str) -> bool) -> Vec<(&'a str, &str)> {
        let mut found: Vec<(&'a str, &str)> = self
            .texts
            .iter()
            .filter(|(path, _)| test(path))
            .map(|(path, text)| (*path, text.as_str()))
            .collect();
        found.sort_by_key(|(path, _)| path.matches('/').count());
        found
    }

    /// Whether there is such a file.
    pub(super) fn has(&self, path: &str) -> bool {
        self.files.binary_search(&path).is_ok()
    }
}

enum Interest {
    Lock,
    /// Lower ranks are read first when there are too many.
    Text(u8),
}

fn interest(path: &str, depth: usize) -> Option<Interest> {
    let name = name(path);
    if is_decision(path) {
        return Some(Interest::Text(2));
    }
    if path.starts_with(".github/workflows/") || name == ".gitlab-ci.yml" {
        return has_extension(name, &["yml", "yaml"]).then_some(Interest::Text(1));
    }
    if is_sample(path) {
        return None;
    }
    if LOCKS.contains(&name) {
        return Some(Interest::Lock);
    }
    let manifest = MANIFESTS.contains(&name)
        || (name.starts_with("requirements") && has_extension(name, &["txt"]))
        || has_extension(name, &["csproj", "fsproj"]);
    if manifest {
        return Some(Interest::Text(if depth == 0 { 0 } else { 3 }));
    }
    if depth <= 1 && is_setting(name) {
        return Some(Interest::Text(0));
    }
    if prose(path).is_some() {
        return Some(Interest::Text(1));
    }
    if matches!(name, "main.go" | "Dockerfile") && depth <= 4 {
        return Some(Interest::Text(4));
    }
    None
}

const LOCKS: [&str; 8] = [
    "Cargo.lock",
    "package-lock.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "composer.lock",
    "Gemfile.lock",
    "poetry.lock",
    "uv.lock",
];

const MANIFESTS: [&str; 22] = [
    "Cargo.toml",
    "package.json",
    "pnpm-workspace.yaml",
    "pyproject.toml",
    "setup.cfg",
    "Pipfile",
    "go.mod",
    "go.work",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "settings.gradle.kts",
    "libs.versions.toml",
    "composer.json",
    "Gemfile",
    "mix.exs",
    "pubspec.yaml",
    "Package.swift",
    "lerna.json",
    "nx.json",
    "turbo.json",
];

/// Files that say how to build, test or write the code.
fn is_setting(name: &str) -> bool {
    const NAMES: [&str; 36] = [
        ".editorconfig",
        "rustfmt.toml",
        ".rustfmt.toml",
        "clippy.toml",
        ".clippy.toml",
        "config.toml",
        ".prettierrc",
        ".prettierrc.json",
        ".prettierrc.yaml",
        ".prettierrc.yml",
        "biome.json",
        "biome.jsonc",
        ".eslintrc",
        ".eslintrc.json",
        ".eslintrc.yml",
        ".eslintrc.yaml",
        "tsconfig.json",
        "tsconfig.base.json",
        "ruff.toml",
        ".ruff.toml",
        ".flake8",
        "mypy.ini",
        "pytest.ini",
        "tox.ini",
        "noxfile.py",
        ".golangci.yml",
        ".golangci.yaml",
        ".rubocop.yml",
        "phpcs.xml",
        "phpcs.xml.dist",
        "phpstan.neon",
        ".clang-format",
        ".pre-commit-config.yaml",
        "Makefile",
        "makefile",
        "GNUmakefile",
    ];
    NAMES.contains(&name) || matches!(name, "justfile" | "Justfile" | ".justfile")
}

/// Texts that hold rules, the most binding first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Prose {
    Agents,
    Style,
    Contributing,
}

/// Whether the path is that of a text with rules.
pub(super) fn prose(path: &str) -> Option<Prose> {
    let depth = path.matches('/').count();
    let name = name(path);
    if matches!(name, "AGENTS.md" | "CLAUDE.md" | ".cursorrules")
        || path.starts_with(".cursor/rules/")
    {
        return (depth <= 3).then_some(Prose::Agents);
    }
    let upper = name.to_ascii_uppercase().replace('-', "_");
    let (stem, extension) = upper.split_once('.').unwrap_or((&upper, "MD"));
    if depth > 2 || !matches!(extension, "MD" | "RST" | "TXT" | "ADOC") {
        return None;
    }
    match stem {
        "STYLE" | "STYLEGUIDE" | "STYLE_GUIDE" | "CODE_STYLE" | "CODING_STYLE" | "CODESTYLE"
        | "CONVENTIONS" | "CODING_CONVENTIONS" => Some(Prose::Style),
        "CONTRIBUTING" | "CONTRIBUTE" | "HACKING" | "DEVELOPMENT" => {
            (depth <= 1).then_some(Prose::Contributing)
        }
        _ => None,
    }
}

pub(super) fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

pub(super) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

pub(super) fn has_extension(name: &str, extensions: &[&str]) -> bool {
    name.rsplit_once('.').is_some_and(|(_, end)| extensions.contains(&end))
}

/// Whether the path is that of an architecture decision record.
pub(super) fn is_decision(path: &str) -> bool {
    let folder = folder(path).to_ascii_lowercase();
    let place = folder.rsplit('/').next().unwrap_or("");
    let known = matches!(
        place,
        "adr" | "adrs" | "decisions" | "decision-records" | "architecture-decisions"
    );
    known && has_extension(name(path), &["md", "markdown", "mdx", "adoc", "rst", "txt"])
}
