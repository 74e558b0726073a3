//! What the readers of plans make of the plans in real histories.

mod history;
mod task_like;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use sequester_core::fault::Fault;
use sequester_core::graph::TaskGraph;
use sequester_core::plan::{self, Format, Options};

use history::PlanBlob;

/// What was found in one plan file.
#[derive(Debug, PartialEq, Eq)]
struct PlanReading {
    /// `None` where no reader knows the text.
    format: Option<Format>,
    tasks: usize,
    /// Lines that look like a task, counted without the readers.
    task_like: usize,
    warnings: String,
    faults: String,
}

/// The sums over one repository, or over all of them.
#[derive(Debug, Default, PartialEq, Eq)]
struct Totals {
    files: usize,
    missing: usize,
    unknown: usize,
    refused: usize,
    different: usize,
    warned: usize,
}

/// Reads every plan file in the histories of the git repositories below a directory, each as the commit that added it has it.
pub(crate) fn run(words: &[String]) -> Result<()> {
    let [directory] = words else { anyhow::bail!("Usage: cargo xtask plans DIR") };
    let repositories = repositories(Path::new(directory))?;
    ensure!(!repositories.is_empty(), "no git repository was found in `{directory}`");
    let mut table = BTreeMap::new();
    for (name, path) in repositories {
        let mut totals = Totals::default();
        for plan in history::plans(&path).with_context(|| format!("in `{name}`"))? {
            let reading = plan.text.as_deref().map(|text| read(&plan.path, text));
            println!("{}", row(&name, &plan, reading.as_ref()));
            totals.add(reading.as_ref());
        }
        table.insert(name, totals);
    }
    println!();
    for (name, totals) in &table {
        println!("{name}: {}", totals.sentence());
    }
    Ok(())
}

/// The git directories of a directory's repositories with their names: itself, its entries, and a `repo` in each of them.
fn repositories(directory: &Path) -> Result<Vec<(String, PathBuf)>> {
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let directory = directory.canonicalize().context("the directory could not be read")?;
    let mut candidates = vec![(name(&directory), directory.clone())];
    for entry in std::fs::read_dir(&directory)? {
        let path = entry?.path();
        candidates.push((name(&path), path.join("repo")));
        candidates.push((name(&path), path));
    }
    let mut found: Vec<_> = candidates
        .into_iter()
        .filter_map(|(name, path)| Some((name, git_directory(&path)?)))
        .collect();
    found.sort();
    Ok(found)
}

fn git_directory(path: &Path) -> Option<PathBuf> {
    let bare = |path: &Path| path.join("HEAD").is_file() && path.join("objects").is_dir();
    let inner = path.join(".git");
    if bare(path) { Some(path.to_owned()) } else { bare(&inner).then_some(inner) }
}

fn read(path: &str, text: &[u8]) -> PlanReading {
    let file_name = path.rsplit('/').next().unwrap_or(path).to_owned();
    let parsed = plan::parse(text, &Options { file_name, ..Options::default() });
    let (_, cycles) = TaskGraph::new(&parsed.plan);
    let faults: Vec<Fault> = parsed.faults.into_iter().chain(cycles).collect();
    let unknown = parsed.plan.tasks.is_empty()
        && faults.iter().all(|fault| fault.code == sequester_core::fault::Code::NoTasks);
    let format = (!unknown).then_some(parsed.plan.format);
    PlanReading {
        format,
        tasks: parsed.plan.tasks.len(),
        task_like: task_like::count(format, &String::from_utf8_lossy(text)),
        warnings: codes(&parsed.warnings),
        faults: codes(&faults),
    }
}

/// Each code with the lines where it was found: `SQ0116@12,40`.
fn codes(faults: &[Fault]) -> String {
    let mut lines: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for fault in faults {
        lines.entry(fault.code.as_str()).or_default().push(fault.place.line.to_string());
    }
    let each = lines.into_iter().map(|(code, lines)| format!("{code}@{}", lines.join(",")));
    let all: Vec<String> = each.collect();
    if all.is_empty() { "-".to_owned() } else { all.join(" ") }
}

fn row(repository: &str, plan: &PlanBlob, reading: Option<&PlanReading>) -> String {
    let commit = plan.commit.get(..10).unwrap_or(&plan.commit);
    let start = format!("{repository}\t{}@{commit}", plan.path);
    let Some(reading) = reading else { return format!("{start}\tmissing") };
    let format = reading.format.map_or("unknown", Format::as_str);
    let PlanReading { tasks, task_like, warnings, faults, .. } = reading;
    format!("{start}\t{format}\t{tasks} of {task_like}\twarnings {warnings}\tfaults {faults}")
}

impl Totals {
    fn add(&mut self, reading: Option<&PlanReading>) {
        self.files += 1;
        let Some(reading) = reading else {
            self.missing += 1;
            return;
        };
        if reading.format.is_none() {
            self.unknown += 1;
            return;
        }
        self.refused += usize::from(reading.faults != "-");
        self.different += usize::from(reading.tasks != reading.task_like);
        self.warned += usize::from(reading.warnings != "-");
    }

    fn sentence(&self) -> String {
        let Self { files, missing, unknown, refused, different, warned } = self;
        format!(
            "{files} plan files, {missing} missing, {unknown} of no known format, {refused} refused, \
             {different} with another count than task-like lines, {warned} with warnings."
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_read_with_its_count_faults_and_warnings() {
        let text = b"### Task 1: One\n\nDo it.\n\n### Task 1: Two\n\nDo it.\n";
        let reading = read("docs/plans/a.md", text);
        assert_eq!((reading.tasks, reading.task_like), (2, 2));
        assert_eq!(reading.format, Some(Format::Superpowers));
        assert_eq!(reading.faults, "SQ0105@5");
        assert_eq!(read("a-plan.md", b"Only words.\n").format, None);
    }

    #[test]
    fn totals_count_each_kind_of_file_once() {
        let mut totals = Totals::default();
        totals.add(None);
        totals.add(Some(&read("a.md", b"Only words.\n")));
        totals.add(Some(&read("a.md", b"### Task 1: One\n\nDo it.\n")));
        totals.add(Some(&read("a.md", b"### Task 1: One\n")));
        let expected =
            Totals { files: 4, missing: 1, unknown: 1, refused: 1, different: 0, warned: 0 };
        assert_eq!(totals, expected);
    }

    #[test]
    fn repositories_are_found_bare_and_with_a_work_tree() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["a/repo/objects", "b/.git/objects", "c/objects"] {
            std::fs::create_dir_all(folder.path().join(path)).unwrap();
        }
        for path in ["a/repo/HEAD", "b/.git/HEAD"] {
            std::fs::write(folder.path().join(path), "").unwrap();
        }
        let names: Vec<String> =
            repositories(folder.path()).unwrap().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a", "b"]);
    }
}
