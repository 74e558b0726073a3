//! Plan files in a git history, each as the commit that added it has it.

use std::collections::HashSet;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

pub(crate) struct PlanBlob {
    pub(crate) path: String,
    pub(crate) commit: String,
    /// `None` where the repository lacks the blob.
    pub(crate) text: Option<Vec<u8>>,
}

/// A file that some commit of any branch added.
#[derive(Debug, PartialEq, Eq)]
struct Addition {
    commit: String,
    blob: String,
    path: String,
}

/// The plan files of all branches, by path; a text that was added several times is read once.
pub(crate) fn plans(git_directory: &Path) -> Result<Vec<PlanBlob>> {
    let log = [
        "log",
        "--all",
        "--reverse",
        "--diff-filter=A",
        "--no-renames",
        "--raw",
        "--no-abbrev",
        "--format=%H",
    ];
    let output = git(git_directory).args(log).stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "`git log` did not succeed");
    let mut additions = additions(&String::from_utf8_lossy(&output.stdout));
    additions.sort_by(|one, two| (&one.path, &one.commit).cmp(&(&two.path, &two.commit)));
    let texts = contents(git_directory, additions.iter().map(|one| one.blob.as_str()))?;
    let plan = |(Addition { commit, path, .. }, text)| PlanBlob { path, commit, text };
    Ok(additions.into_iter().zip(texts).map(plan).collect())
}

/// Git on a repository that is only read, and never asked to fetch what it lacks.
fn git(git_directory: &Path) -> Command {
    let mut git = Command::new("git");
    git.args(["-c", "core.quotePath=false", "-c", "protocol.allow=never", "--git-dir"]);
    git.arg(git_directory).env("GIT_NO_LAZY_FETCH", "1").stdin(Stdio::null());
    git
}

fn additions(log: &str) -> Vec<Addition> {
    let mut commit = "";
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for line in log.lines().filter(|line| !line.is_empty()) {
        let Some(entry) = line.strip_prefix(':') else {
            commit = line;
            continue;
        };
        let Some((facts, path)) = entry.split_once('\t') else { continue };
        let facts: Vec<&str> = facts.split(' ').collect();
        let [_, "100644" | "100755", _, blob, _] = facts[..] else { continue };
        if is_plan(path) && seen.insert(blob) {
            let (commit, blob, path) = (commit.to_owned(), blob.to_owned(), path.to_owned());
            found.push(Addition { commit, blob, path });
        }
    }
    found
}

/// Directories of texts about plans: templates, prompts, fixtures.
const ABOUT_PLANS: [&str; 21] = [
    "agents",
    "assets",
    "cmd",
    "commands",
    "examples",
    "fixtures",
    "node_modules",
    "presets",
    "prompts",
    "reference",
    "references",
    "resources",
    "skills",
    "src",
    "schemas",
    "template",
    "templates",
    "test",
    "tests",
    "workflows",
    ".vscode",
];

/// Whether a path is one at which people keep plans of tasks.
///
/// These are Markdown files in a directory `plans`, `tasks.md`, `tasks.json`, `...-PLAN.md` below `.planning`, and files whose
/// name ends in `plan`. Beside a `tasks.md` of spec-kit, `plan.md` is the design and not the plan of tasks.
fn is_plan(path: &str) -> bool {
    let mut parts: Vec<&str> = path.split('/').collect();
    let Some(name) = parts.pop() else { return false };
    if parts.iter().any(|part| ABOUT_PLANS.contains(&part.to_lowercase().as_str())) {
        return false;
    }
    let lower = name.to_lowercase();
    let Some((stem, ending)) = lower.rsplit_once('.') else { return false };
    match ending {
        "json" => stem == "tasks",
        "md" => {
            let design = stem == "plan" && parts.contains(&"specs");
            let last_word = stem.rsplit(['-', '_', '.', ' ']).next();
            let in_plans = parts.last() == Some(&"plans") && stem != "readme";
            let is_story = parts.last() == Some(&"stories") && stem != "readme";
            !design && (in_plans || is_story || stem == "tasks" || last_word == Some("plan"))
        }
        _ => false,
    }
}

/// What blobs hold, in their order.
fn contents<'a>(
    git_directory: &Path,
    blobs: impl Iterator<Item = &'a str>,
) -> Result<Vec<Option<Vec<u8>>>> {
    let mut wanted: Vec<u8> = Vec::new();
    for blob in blobs {
        writeln!(wanted, "{blob}")?;
    }
    let mut child = git(git_directory)
        .args(["cat-file", "--batch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut input = child.stdin.take().context("git takes no input")?;
    let writer = std::thread::spawn(move || input.write_all(&wanted));
    let output = child.wait_with_output()?;
    writer.join().map_err(|_| anyhow::anyhow!("the names of blobs could not be written"))??;
    split_batch(&output.stdout)
}

/// The answers of `git cat-file --batch`: a line with the size before each text, or one that ends in `missing`.
fn split_batch(mut output: &[u8]) -> Result<Vec<Option<Vec<u8>>>> {
    let mut texts = Vec::new();
    while let Some(at) = output.iter().position(|byte| *byte == b'\n') {
        let head = String::from_utf8_lossy(&output[..at]).into_owned();
        output = &output[at + 1..];
        let Some(size) =
            head.strip_suffix(" missing").map_or_else(|| head.rsplit(' ').next(), |_| None)
        else {
            texts.push(None);
            continue;
        };
        let size: usize = size.parse().with_context(|| format!("unknown answer `{head}`"))?;
        ensure!(output.len() > size, "git ended within a blob");
        texts.push(Some(output[..size].to_vec()));
        output = &output[size + 1..];
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_are_told_from_texts_about_plans() {
        for path in [
            "docs/superpowers/plans/2026-01-02-cache.md",
            "docs/plans/x.md",
            "openspec/changes/archive/a/tasks.md",
            ".kiro/specs/a/tasks.md",
            "specs/001-a/tasks.md",
            ".taskmaster/tasks/tasks.json",
            ".planning/phases/01-a/01-02-PLAN.md",
            "docs/MIGRATION_PLAN.md",
        ] {
            assert!(is_plan(path), "{path}");
        }
        for path in [
            "specs/001-a/plan.md",
            "templates/tasks.md",
            "commands/plan.md",
            ".vscode/tasks.json",
            "docs/plans/README.md",
            "docs/explanation.md",
            "src/plan.rs",
        ] {
            assert!(!is_plan(path), "{path}");
        }
    }

    #[test]
    fn a_text_counts_at_the_commit_that_added_it_first() {
        let log = "c1\n\n:000000 100644 0000 b1 A\tplans/a.md\n:000000 120000 0000 b2 A\tplans/l.md\n\
                   c2\n\n:000000 100644 0000 b1 A\tplans/b.md\n:000000 100644 0000 b3 A\tplans/ü c.md\n";
        let found: Vec<String> = additions(log)
            .into_iter()
            .map(|one| format!("{} {} {}", one.commit, one.blob, one.path))
            .collect();
        assert_eq!(found, ["c1 b1 plans/a.md", "c2 b3 plans/ü c.md"]);
    }

    #[test]
    fn a_missing_blob_is_no_failure() {
        let texts = split_batch(b"b1 blob 3\na\nb\nb2 missing\nb3 blob 0\n\n").unwrap();
        assert_eq!(texts, [Some(b"a\nb".to_vec()), None, Some(Vec::new())]);
        assert!(split_batch(b"b1 blob 9\nab\n").is_err());
    }
}
