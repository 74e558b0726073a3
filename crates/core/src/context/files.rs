//! The files of a context: those that the plan names for the task, then those ranked for its text.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::admit::Refusal;
use super::build::{Builder, Content, Given, Request};
use super::file::{self, Focus, FormKind};
use super::fragment::{Grant, Kind, Provenance};
use super::manifest::{Row, Withheld};
use super::render::{Page, Ready, hash};
use super::shelf::Shelf;
use crate::path::RepoPath;
use crate::plan::{Action, FileRef, Task};
use crate::secret::SecretSet;
use crate::tokens;

/// A ranked file that scores less than this share of the third best is noise: the best may stand out because the text
/// names it. `docs/file-ranking.md` has the figures.
const WORTH: f64 = 0.6;

/// Declared paths that are not there and for which the file that is meant is looked for.
const RELATIVE: usize = 64;

/// Contents, not paths, within `budget`.
pub(super) fn write(
    page: &mut Page<'_>,
    from: &Builder<'_>,
    task: &Task,
    request: &Request<'_>,
    budget: usize,
) {
    page.frame("# Files\n\n");
    let before = page.rows.len();
    let spent = page.tokens;
    list(page, task);
    let mut left = budget.saturating_sub(page.tokens - spent);
    let focus = Focus::new(&task.words());
    let mut seen: BTreeSet<RepoPath> = BTreeSet::new();
    let mut relative = RELATIVE;
    for file in &task.files {
        if seen.insert(file.path.clone()) {
            left = named(page, from, task, &focus, file, left);
        }
        let is_absent = || matches!(from.shelf.take(&file.path), Err(Refusal::NotThere));
        if relative == 0 || file.action == Action::Create || !is_absent() {
            continue;
        }
        relative -= 1;
        let meant = from.shelf.locate(task, file).filter(|path| seen.insert(path.clone()));
        if let Some(path) = meant {
            left = named(page, from, task, &focus, &FileRef { path, ..file.clone() }, left);
        }
    }
    mentioned(page, from, task, &focus, &mut seen, &mut left);
    given(page, from, &focus, request.given, &mut seen, &mut left);
    if request.simplified {
        page.withheld.push(Withheld {
            kind: Kind::File,
            source: "ranked files".to_owned(),
            rule: Refusal::Simplified,
        });
    } else {
        ranked(page, from, task, &focus, &mut seen, left);
    }
    let is_whole = |row: &Row| row.kind == Kind::File && row.form == FormKind::Whole;
    if page.rows.len() == before {
        page.frame("No files given; ask if you need one.\n\n");
    } else if page.rows[before..].iter().any(is_whole) {
        page.frame(READ);
    }
}

/// What the task is to do with which file.
fn list(page: &mut Page<'_>, task: &Task) {
    if task.files.is_empty() {
        return;
    }
    let lines =
        task.files.iter().map(|file| format!("- {} `{}`\n", file.action.as_str(), file.path));
    page.frame("Named for this task:\n\n");
    page.quote(&Provenance::TaskConstraint(task.id.clone()), &lines.collect::<String>());
    page.frame("\n");
}

/// A file that the plan names is always spoken of, even where it cannot be shown.
fn named(
    page: &mut Page<'_>,
    from: &Builder<'_>,
    task: &Task,
    focus: &Focus,
    file: &FileRef,
    left: usize,
) -> usize {
    let path = &file.path;
    let provenance = Provenance::File { path: path.clone(), grant: Grant::Named(task.id.clone()) };
    let arises = matches!(file.action, Action::Create | Action::Test | Action::Change);
    let (form, said) = match from.shelf.take(path) {
        Ok(held) => {
            let symbols = || from.shelf.symbols(&held);
            let room = left.min(from.limits.file);
            return page.put(
                &provenance,
                &file::shape(&held, symbols, focus, file.lines, room),
                left,
            );
        }
        Err(Refusal::NotThere) if arises => return left,
        Err(Refusal::NotThere) => (FormKind::NotThereYet, "Not there yet.".to_owned()),
        Err(refusal) => {
            page.withhold(&provenance, refusal);
            (FormKind::Path, format!("Not shown: {refusal}."))
        }
    };
    let ready = said_of(path, &said, form, from.shelf.stamp_hash(path));
    page.put(&provenance, &ready, left)
}

/// The files that the task's prose means. One that is not there is not spoken of, and neither is a plan.
fn mentioned(
    page: &mut Page<'_>,
    from: &Builder<'_>,
    task: &Task,
    focus: &Focus,
    seen: &mut BTreeSet<RepoPath>,
    left: &mut usize,
) {
    let companions = from.companions.list.iter().filter_map(|one| one.repo_path.as_ref());
    let companions: BTreeSet<&RepoPath> = companions.collect();
    for hint in &task.hints {
        for path in from.shelf.resolve(hint) {
            if companions.contains(&path) || !seen.insert(path.clone()) {
                continue;
            }
            let grant = Grant::Named(task.id.clone());
            let provenance = Provenance::File { path: path.clone(), grant };
            match from.shelf.take(&path) {
                Ok(held) if held.is_plan() => page.withhold(&provenance, Refusal::Plan),
                Ok(held) => {
                    let symbols = || from.shelf.symbols(&held);
                    let room = (*left).min(from.limits.file);
                    let ready = file::shape(&held, symbols, focus, hint.0.lines, room);
                    *left = page.put(&provenance, &ready, *left);
                }
                Err(refusal) => page.withhold(&provenance, refusal),
            }
        }
    }
}

/// A file of which something is said in the place of its contents.
fn said_of(path: &RepoPath, said: &str, form: FormKind, source_hash: String) -> Ready<'static> {
    let text = format!("### `{path}`\n\n{said}\n\n");
    Ready {
        tokens: tokens::count(&text),
        text: text.into(),
        form,
        source_hash,
        redacted: Vec::new(),
        why: String::new(),
        secrets: SecretSet::default(),
    }
}

/// Those of the base first; what is not in the workspace is said to be elsewhere.
fn given(
    page: &mut Page<'_>,
    from: &Builder<'_>,
    focus: &Focus,
    files: &[Given],
    seen: &mut BTreeSet<RepoPath>,
    left: &mut usize,
) {
    let (base, outside): (Vec<&Given>, Vec<&Given>) =
        files.iter().partition(|file| file.content == Content::Base);
    for file in base {
        if seen.insert(file.path.clone()) {
            give(page, from, focus, file, left);
        }
    }
    if !outside.is_empty() {
        page.frame(OUTSIDE);
    }
    for file in outside {
        seen.insert(file.path.clone());
        give(page, from, focus, file, left);
    }
}

/// Said where a file stands whole.
pub const READ: &str = "You have read the files that stand here whole: edit them without reading them again. Read all others first.\n\n";

pub const OUTSIDE: &str =
    "What follows is not in your workspace; a person lets you see it as it was then:\n\n";

fn give(page: &mut Page<'_>, from: &Builder<'_>, focus: &Focus, file: &Given, left: &mut usize) {
    let path = &file.path;
    let grant = Grant::Given(file.task.clone());
    let provenance = Provenance::File { path: path.clone(), grant };
    let held = match &file.content {
        Content::Base => from.shelf.take(path),
        Content::Outside(Ok(bytes)) => Shelf::lay(path, bytes.clone()).map(Arc::new),
        Content::Outside(Err(refusal)) => Err(*refusal),
    };
    *left = match held {
        Ok(held) => {
            let symbols = || from.shelf.symbols(&held);
            let room = (*left).min(from.limits.file);
            page.put(&provenance, &file::shape(&held, symbols, focus, None, room), *left)
        }
        Err(refusal) => {
            page.withhold(&provenance, refusal);
            let said = format!("Not shown: {refusal}.");
            let hash = hash(refusal.as_str().as_bytes());
            page.put(&provenance, &said_of(path, &said, FormKind::Path, hash), *left)
        }
    };
}

fn ranked(
    page: &mut Page<'_>,
    from: &Builder<'_>,
    task: &Task,
    focus: &Focus,
    seen: &mut BTreeSet<RepoPath>,
    budget: usize,
) {
    let limits = from.limits;
    let mut left = budget.min(limits.ranked);
    seen.extend(from.companions.list.iter().filter_map(|companion| companion.repo_path.clone()));
    let mut found = Vec::new();
    for ranked in from.ranker.rank(&task.words(), 2 * limits.ranked_files + seen.len()) {
        let provenance = Provenance::File { path: ranked.path.clone(), grant: Grant::Ranked };
        let taken = from.shelf.take(&ranked.path);
        // A plan is about everything; what it scores says nothing of the others.
        if taken.as_ref().is_ok_and(|held| held.is_plan()) {
            page.withhold(&provenance, Refusal::Plan);
        } else {
            found.push((ranked, provenance, taken));
        }
    }
    let third = found.get(2).or(found.last()).map_or(0.0, |(ranked, ..)| ranked.score);
    let worth = found.into_iter().take_while(|(ranked, ..)| ranked.score >= third * WORTH);
    let mut shown = 0;
    for (ranked, provenance, taken) in worth.filter(|(ranked, ..)| !seen.contains(&ranked.path)) {
        match taken {
            Ok(_) if shown == limits.ranked_files => break,
            Ok(held) => {
                if shown == 0 {
                    page.frame("What follows was found for this text, to be read:\n\n");
                }
                let symbols = || from.shelf.symbols(&held);
                let room = left.min(limits.ranked_file);
                let mut ready = file::shape(&held, symbols, focus, None, room);
                ready.why = format!("{:.3}: {}", ranked.score, ranked.why);
                left = page.put(&provenance, &ready, left);
                shown += 1;
            }
            Err(refusal) => page.withhold(&provenance, refusal),
        }
    }
}
