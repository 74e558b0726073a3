//! The plan as it lies on disk, with the documents beside it.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sequester_core::companion::{self, Companion, Companions};
use sequester_core::context::Refusal;
use sequester_core::digest::Digest;
use sequester_core::fault::{Code, Fault, Place};
use sequester_core::graph::TaskGraph;
use sequester_core::id::TaskId;
use sequester_core::limits::Limits;
use sequester_core::path::RepoPath;
use sequester_core::plan::{self, Options, PhasePlan, Plan, Task, Whereabouts};
use sequester_core::repository::{ErrorKind, Snapshot};
use sequester_core::run::Source as Recorded;
use sequester_core::secret;
use sequester_core::source::{Origin, Source};

use crate::args::Reading;
use crate::failure::Failure;
use crate::render::terminal;
use crate::wire::trust::{Asking, Grants, Trust, Untrusted};
use crate::wire::{Agents, Project, asked};

/// A plan that was read once.
pub(crate) struct PlanFile {
    /// As the person named it, fit to be printed.
    pub(crate) name: String,
    given: PathBuf,
    /// Where it really lies; nothing for standard input and pipes.
    path: Option<PathBuf>,
    /// The files of a phase directory.
    parts: Vec<PathBuf>,
    pub(crate) source: Vec<u8>,
    pub(crate) plan: Plan,
    pub(crate) graph: TaskGraph,
    pub(crate) faults: Vec<Fault>,
    /// Doubts that do not keep the plan from running.
    pub(crate) warnings: Vec<Fault>,
}

impl PlanFile {
    pub(crate) fn read(reading: &Reading, limits: &Limits) -> Result<Self, Failure> {
        let name = terminal::clean(&reading.plan.display().to_string()).into_owned();
        let source = read_source(&reading.plan, limits.plan_bytes).map_err(|error| {
            let hint = "Name a plan that is a text file you may read, or `-` for standard input.";
            Failure::input(
                Code::Unreadable,
                &name,
                format!("The plan cannot be read: {error}."),
                hint,
            )
        })?;
        let options = Options {
            format: reading.format,
            parallel: reading.parallel,
            file_name: reading.plan.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            tag: reading.tag.clone(),
            limit: limits.plan_bytes,
        };
        let parsed = plan::parse(&source, &options);
        let (graph, mut faults) = TaskGraph::new(&parsed.plan);
        faults.extend(parsed.faults);
        let piped = reading.plan == Path::new("-");
        for fault in faults.iter_mut().filter(|fault| piped && fault.code == Code::EmptyPlan) {
            "Standard input is empty.".clone_into(&mut fault.message);
            "Give it the plan, as in `sequester plan - < plan.md`, or name a file."
                .clone_into(&mut fault.hint);
        }
        let path = lying_at(&reading.plan);
        let parts = path.as_deref().map(phase_files).unwrap_or_default();
        let given = reading.plan.clone();
        let (plan, warnings) = (parsed.plan, parsed.warnings);
        Ok(Self { name, given, path, parts, source, plan, graph, faults, warnings })
    }

    /// The plan of one task that was given in words. It lies nowhere.
    pub(crate) fn single(task: &Task) -> Self {
        let source = task.to_document().into_bytes();
        let format = Some(plan::Format::Native.as_str().to_owned());
        let text = Digest::of(&source);
        let hides = BTreeSet::new();
        let (path, parallel, tag) = (String::new(), false, None);
        let given = Recorded { path, hides, format, parallel, tag, text };
        Self::recorded(&given, Path::new(""), source, &Limits::default())
    }

    /// Files that a person named with their own words: a writer may change them, whatever they are for.
    pub(crate) fn granted(&self) -> BTreeSet<RepoPath> {
        let single = self.given.as_os_str().is_empty();
        let files = self.plan.tasks.iter().filter(|_| single).flat_map(|task| &task.files);
        files.map(|file| file.path.clone()).collect()
    }

    /// Where its tasks' texts stand.
    pub(crate) fn whereabouts(&self) -> Whereabouts {
        Whereabouts::of(&self.name, &self.source, &self.plan)
    }

    /// A plan as a run has it, wherever the file is by now.
    pub(crate) fn recorded(plan: &Recorded, root: &Path, source: Vec<u8>, limits: &Limits) -> Self {
        let given = match plan.path.as_str() {
            path @ ("" | "-") => PathBuf::from(path),
            path => root.join(path),
        };
        let options = Options {
            format: plan.format.as_deref().and_then(plan::Format::parse),
            parallel: plan.parallel,
            tag: plan.tag.clone(),
            file_name: given.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            limit: limits.plan_bytes,
        };
        let parsed = plan::parse(&source, &options);
        let (graph, mut faults) = TaskGraph::new(&parsed.plan);
        faults.extend(parsed.faults);
        let path = lying_at(&given);
        let parts = path.as_deref().map(phase_files).unwrap_or_default();
        let name = terminal::clean(&plan.path).into_owned();
        let (plan, warnings) = (parsed.plan, parsed.warnings);
        Self { name, given, path, parts, source, plan, graph, faults, warnings }
    }

    /// Whether the file holds something else by now.
    pub(crate) fn is_edited(&self) -> bool {
        let Some(path) = &self.path else { return false };
        if path.is_dir() {
            let now = read_source(path, self.source.len() as u64);
            return now.is_ok_and(|bytes| bytes != self.source);
        }
        let length = fs::metadata(path).map(|about| about.len());
        // Of what has another length no byte is read.
        let is_longer = length.is_ok_and(|length| length != self.source.len() as u64);
        is_longer || fs::read(path).is_ok_and(|bytes| bytes != self.source)
    }

    /// Whether the file differs only in the boxes of these tasks, as `apply --tick` leaves it.
    pub(crate) fn is_only_ticked(&self, done: &BTreeSet<TaskId>) -> bool {
        let Ok(source) = str::from_utf8(&self.source) else { return false };
        let now = self.path.as_ref().and_then(|path| fs::read_to_string(path).ok());
        let ticked = plan::tick(&self.plan, source, source, done);
        now.is_some_and(|now| ticked.is_ok_and(|ticked| ticked.text == now))
    }

    /// As a run keeps it, so that it is found again from every folder.
    pub(crate) fn to_recorded(&self, project: &Project, companions: &Companions) -> Recorded {
        let path = called(&project.root, &self.given, self.path.as_deref());
        let hides = project.plan_paths((self, companions));
        let text = Digest::of(&self.source);
        Recorded { path, hides, format: None, parallel: false, tag: None, text }
    }

    /// How far the plan is trusted; one that lies nowhere cannot have been accepted.
    pub(crate) fn origin(&self, trust: &Trust) -> Origin {
        let Some(path) = &self.path else { return Origin::Repository(self.name.clone()) };
        let path = path.display().to_string();
        trust.origin(&Untrusted { root: Path::new("/"), path: &path }, &self.source)
    }

    /// What the plan asks for that it may not.
    pub(crate) fn asked(&self, agents: &Agents) -> Option<Asking> {
        let path = self.path.as_ref()?.display().to_string();
        let tasks = self.plan.tasks.iter();
        let faults = |origin: &Origin| -> Vec<Fault> {
            tasks.clone().flat_map(|task| asked::faults(task, agents, origin)).collect()
        };
        let origin = Origin::Repository(path.clone());
        let (mut doubted, mut accepted) = (faults(&origin), faults(&Origin::Accepted(path)));
        // What another file needs trust for is not this one's to ask.
        let others: BTreeSet<Place> =
            accepted.extract_if(.., |fault| fault.code.is_trust()).map(|one| one.place).collect();
        doubted.retain(|fault| !others.contains(&fault.place));
        accepted.extend(self.faults.iter().cloned());
        let text = String::from_utf8(self.source.clone()).ok()?;
        Asking::of(Source { origin, text }, doubted, accepted, Grants::new())
    }

    /// Where the plan lies inside the repository, by its name and by what its name points to.
    pub(crate) fn paths_in(&self, root: &Path) -> Vec<RepoPath> {
        let parts = self.parts.iter().filter_map(|part| inside(root, part));
        lying_in(root, &self.given, self.path.as_deref()).into_iter().chain(parts).collect()
    }

    /// What a run calls the plan that a person names, without reading it.
    pub(crate) fn called(root: &Path, given: &Path) -> String {
        let path = lying_at(given);
        called(root, given, path.as_deref())
    }

    /// The documents beside the plan that belong to it: those of the base where the plan lies in the repository, else
    /// those on disk.
    pub(crate) fn companions(&self, project: &Project) -> Companions {
        let (mut list, mut refused) = (Vec::new(), Vec::new());
        let folder = self.path.as_deref().and_then(Path::parent);
        for name in folder.map(listing).unwrap_or_default() {
            if !companion::belongs(self.plan.format, &name) {
                continue;
            }
            let path = folder.map(|folder| folder.join(&name)).unwrap_or_default();
            let repo_path = inside(&project.root, &path);
            let read = match &repo_path {
                _ if secret::is_secret_name(&name).is_some() => Err(Refusal::SecretName),
                Some(path) => read_base(project.snapshot(), path),
                None => read_source(&path, companion::BYTES).map_err(|_| Refusal::Unreadable),
            };
            match read.and_then(text) {
                Ok(text) => list.push(Companion::parse(&name, repo_path, &text)),
                Err(refusal) => refused.push((refusal, name)),
            }
        }
        Companions::new(list, refused)
    }
}

fn called(root: &Path, given: &Path, path: Option<&Path>) -> String {
    match (lying_in(root, given, path).pop(), path) {
        (Some(path), _) => path.to_string(),
        (None, Some(path)) => path.display().to_string(),
        (None, None) => given.display().to_string(),
    }
}

fn lying_in(root: &Path, given: &Path, path: Option<&Path>) -> Vec<RepoPath> {
    let named = std::path::absolute(given).ok();
    let names = [named, path.map(Path::to_owned)].into_iter().flatten();
    names.filter_map(|path| inside(root, &path)).collect()
}

fn read_base(snapshot: &dyn Snapshot, path: &RepoPath) -> Result<Vec<u8>, Refusal> {
    snapshot.read(path, companion::BYTES).map_err(|error| match error.kind {
        ErrorKind::NotFound => Refusal::NotThere,
        ErrorKind::TooLarge => Refusal::TooLarge,
        _ => Refusal::Unreadable,
    })
}

fn text(bytes: Vec<u8>) -> Result<String, Refusal> {
    if bytes.len() as u64 > companion::BYTES {
        return Err(Refusal::TooLarge);
    }
    String::from_utf8(bytes).map_err(|_| Refusal::Binary)
}

fn inside(root: &Path, path: &Path) -> Option<RepoPath> {
    RepoPath::parse(path.strip_prefix(root).ok()?.to_str()?).ok()
}

/// Where a plan lies: a file, or a phase directory.
fn lying_at(given: &Path) -> Option<PathBuf> {
    let path = fs::canonicalize(given).ok()?;
    (path.is_file() || path.is_dir() && !phase_files(&path).is_empty()).then_some(path)
}

/// The plans of a phase directory of GSD, in the order of their names. Links are not followed.
fn phase_files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    let is_plan = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name == "PLAN.md" || name.ends_with("-PLAN.md")
    };
    let mut found: Vec<PathBuf> = files.map(|entry| entry.path()).filter(is_plan).collect();
    found.sort();
    found
}

/// All plans of a phase directory as one text. A plan is done when its summary lies beside it.
fn read_phase(directory: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let files = phase_files(directory);
    if files.is_empty() {
        return Err(io::Error::other("it is a directory, and has no `*-PLAN.md`"));
    }
    let mut left = limit;
    let mut plans = Vec::new();
    for path in files {
        let mut text = String::new();
        File::open(&path)?.take(left + 1).read_to_string(&mut text)?;
        left = left.saturating_sub(text.len() as u64);
        let file_name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let summary = file_name.strip_suffix("PLAN.md").map(|stem| format!("{stem}SUMMARY.md"));
        let done = summary.is_some_and(|name| directory.join(name).is_file());
        plans.push(PhasePlan { file_name, text, done });
    }
    Ok(plan::join_phase(plans).into_bytes())
}

/// At most one byte more than `limit`, so that whoever parses can say that it is too large.
fn read_source(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        io::stdin().lock().take(limit + 1).read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    if fs::metadata(path)?.is_dir() {
        return read_phase(path, limit);
    }
    File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Regular files at most two folders down, sorted; links are not followed, since whoever wrote the plan's folder
/// must not choose what is read outside it.
fn listing(folder: &Path) -> Vec<String> {
    const MOST: usize = 500;
    let mut found = Vec::new();
    let mut open = vec![(folder.to_path_buf(), String::new(), 0)];
    while let Some((path, prefix, depth)) = open.pop() {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            let (Ok(kind), Ok(name)) = (entry.file_type(), entry.file_name().into_string()) else {
                continue;
            };
            if kind.is_file() {
                found.push(format!("{prefix}{name}"));
            } else if kind.is_dir() && depth < 2 {
                open.push((entry.path(), format!("{prefix}{name}/"), depth + 1));
            }
        }
    }
    found.sort();
    found.truncate(MOST);
    found
}
