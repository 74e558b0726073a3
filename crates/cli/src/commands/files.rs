//! `sequester files`: which files a task's text is about.

use std::io::{self, Write};
use std::process::ExitCode;

use sequester_core::ranker::Ranker;
use sequester_survey::Index;

use crate::Outcome;
use crate::args::{Args, FilesArgs};
use crate::disk_cache::DiskCache;
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
    let mut out = io::stdout().lock();
    if args.json {
        serde_json::to_writer(&mut out, &ranked).map_err(io::Error::from)?;
        writeln!(out)?;
        return Ok(ExitCode::SUCCESS);
    }
    for found in &ranked {
        let path = terminal::clean(found.path.as_str());
        let line = format!("{:8.3}  {path}  {}", found.score, found.why);
        writeln!(out, "{}", terminal::cut(&line, terminal::width()))?;
    }
    if ranked.is_empty() {
        writeln!(out, "No file of {} shares a word with the text.", project.snapshot.label())?;
        for note in project.notes() {
            writeln!(out, "note: {}", terminal::clean(&note))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
