//! `sequester files`: which files a task's text is about.

use std::fmt::Write as _;
use std::process::ExitCode;

use sequester_core::ranker::Ranker;
use sequester_survey::Index;

use crate::Outcome;
use crate::args::{Args, FilesArgs};
use crate::disk_cache::DiskCache;
use crate::output;
use crate::render::terminal;
use crate::wire::Project;

pub(crate) fn run(args: &Args, files: &FilesArgs) -> Outcome {
    let text = super::read_text(&files.text)?;
    let project = Project::open(args)?;
    let visible = project.visible(None);
    let cache = DiskCache::of(&project.root);
    let index =
        Index::open(&visible, project.history.as_deref(), &cache, &project.settings.limits());
    let ranked = index.rank(&text, usize::from(files.top));
    if args.json {
        output::print_json(&ranked)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    for found in &ranked {
        let path = terminal::clean(found.path.as_str());
        let line = format!("{:8.3}  {path}  {}", found.score, found.why);
        let _ = writeln!(text, "{}", terminal::cut(&line, terminal::width()));
    }
    if ranked.is_empty() {
        let label = project.snapshot().label();
        let _ = writeln!(text, "No file of {label} shares a word with the text.");
        for note in project.notes() {
            let _ = writeln!(text, "note: {}", terminal::clean(&note));
        }
    }
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
