//! The plan's file, and the boxes in it that are to be ticked.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use sequester_core::fault::Code;
use sequester_core::id::TaskId;
use sequester_core::plan::{self, Format, Options, Plan, Ticked};
use sequester_core::run::RunState;

use crate::failure::Failure;
use crate::wire::runs::Runs;

pub(super) struct Boxes {
    path: PathBuf,
    /// As the run read it.
    read: String,
    plan: Plan,
    done: BTreeSet<TaskId>,
}

impl Boxes {
    /// Fails where they could not be ticked.
    pub(super) fn find(runs: &Runs, state: &RunState) -> Result<Self, Failure> {
        let named = &state.started.plan.path;
        let refuse = |message: String| {
            Failure::work(
                Code::NotTicked,
                named,
                message,
                "Apply without `--tick`, and mark by hand what is done.",
            )
        };
        if runs.root.join(named).is_dir() {
            return Err(refuse("A GSD phase has no boxes to tick.".to_owned()));
        }
        let bytes = runs.blob(&state.run, &state.started.plan.text)?;
        let read = String::from_utf8(bytes)
            .map_err(|_| refuse("The plan as it was read is no text.".to_owned()))?;
        let path = locate(&runs.root, named)
            .ok_or_else(|| refuse("The plan's file is not there any more.".to_owned()))?;
        let file_name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let source = &state.started.plan;
        let format = source.format.as_deref().and_then(Format::parse);
        let tag = source.tag.clone();
        let options = Options { format, file_name, tag, ..Options::default() };
        let plan = plan::parse(read.as_bytes(), &options).plan;
        let done = state.tasks.iter().filter(|task| task.is_done());
        let done = done.map(|task| task.spec.id.clone()).collect();
        let boxes = Self { path, read, plan, done };
        boxes.ticked()?;
        Ok(boxes)
    }

    pub(super) fn tick(&self) -> Result<Ticked, Failure> {
        let ticked = self.ticked()?;
        if ticked.boxes > 0 {
            replace(&self.path, &ticked.text).map_err(|error| self.unusable(&error))?;
        }
        Ok(ticked)
    }

    fn ticked(&self) -> Result<Ticked, Failure> {
        let now = fs::read_to_string(&self.path).map_err(|error| self.unusable(&error))?;
        plan::tick(&self.plan, &self.read, &now, &self.done).map_err(|lines| {
            let lines: Vec<String> = lines.iter().take(8).map(ToString::to_string).collect();
            let message = format!(
                "The plan changed since the run read it, at line {}: its boxes are not ticked.",
                lines.join(", ")
            );
            let hint =
                "Put the lines back as they were, or apply without `--tick` and tick by hand.";
            Failure::work(Code::NotTicked, self.path.display(), message, hint)
        })
    }

    fn unusable(&self, error: &io::Error) -> Failure {
        let message = format!("The plan's file cannot be used: {error}.");
        let hint = "Apply without `--tick`, and tick by hand.";
        Failure::work(Code::NotTicked, self.path.display(), message, hint)
    }
}

/// Where the file lies now, by what its name points to.
fn locate(root: &Path, named: &str) -> Option<PathBuf> {
    let here = env::current_dir().unwrap_or_default();
    let places = [root.join(named), here.join(named)];
    let found = places.iter().find_map(|place| fs::canonicalize(place).ok());
    found.filter(|path| path.is_file())
}

/// Whether the plan's file is all that these paths of the repository name.
pub(super) fn is_only_plan(root: &Path, named: &str, paths: &[String]) -> bool {
    let plan = locate(root, named);
    let is_plan = |path: &String| fs::canonicalize(root.join(path)).ok() == plan;
    plan.is_some() && !paths.is_empty() && paths.iter().all(is_plan)
}

/// All of it or nothing, with the rights that the file has.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    fs::set_permissions(file.path(), fs::metadata(path)?.permissions())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}
