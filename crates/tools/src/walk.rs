//! The files beneath a folder, as `.gitignore` says, in the order of their paths.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ignore::WalkBuilder;
use sequester_core::secret::is_secret_name;
use sequester_core::tool::Outcome;

use crate::lines::{count, note};
use crate::root::{FILE_BYTES, Fault, Place, failed, refuse};
use crate::workbench::Workbench;

/// Files and folders that one call looks at.
const ENTRIES: usize = 200_000;

/// How long a walk may still take, and what it did not show, so that it can be said.
pub(crate) struct Tally {
    /// Nothing, if the limit is beyond all time.
    until: Option<Instant>,
    left_out: BTreeMap<Reason, LeftOut>,
    stopped: Option<&'static str>,
}

/// Why a file is not shown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reason {
    Secret,
    Binary,
    TooLarge,
    Unreadable,
}

struct LeftOut {
    files: usize,
    /// The first of them, in words.
    first: String,
}

impl Tally {
    fn new(limit: Duration) -> Self {
        let until = Instant::now().checked_add(limit);
        Self { until, left_out: BTreeMap::new(), stopped: None }
    }

    /// Whether the walk has to end now; if so, that is said.
    pub(crate) fn is_time_up(&mut self) -> bool {
        let over = self.until.is_some_and(|until| Instant::now() >= until);
        if over {
            self.stopped = Some("the time was up");
        }
        over
    }

    pub(crate) fn leave_out(&mut self, reason: Reason, first: impl FnOnce() -> String) {
        let left = self.left_out.entry(reason);
        left.or_insert_with(|| LeftOut { files: 0, first: first() }).files += 1;
    }

    /// For a file that could not be read.
    pub(crate) fn unreadable(&mut self, path: &Path, fault: Fault) {
        match fault {
            Fault::TooLarge(_) => {
                self.leave_out(Reason::TooLarge, || format!("`{}`", path.display()));
            }
            fault => self.leave_out(Reason::Unreadable, || {
                fault.told(&path.to_string_lossy()).text().trim_end_matches('.').to_owned()
            }),
        }
    }

    /// One line for each thing that is missing from the output.
    pub(crate) fn told(&self) -> String {
        let mut told = String::new();
        for (reason, LeftOut { files, first }) in &self.left_out {
            let files = count(*files, "file");
            match reason {
                // Not even their names are shown.
                Reason::Secret => {
                    note(&mut told, format_args!("{files} left out: a secret by its name."));
                }
                Reason::Binary => note(
                    &mut told,
                    format_args!("{files} left out: no text but binary, first {first}."),
                ),
                Reason::TooLarge => note(
                    &mut told,
                    format_args!(
                        "{files} left out: larger than {FILE_BYTES} bytes, first {first}."
                    ),
                ),
                Reason::Unreadable => {
                    note(&mut told, format_args!("{files} left out: not readable; {first}."));
                }
            }
        }
        if let Some(why) = self.stopped {
            note(&mut told, format_args!("Stopped early: {why}. Narrow `path` or the pattern."));
        }
        told
    }
}

/// Shows `visit` each regular file at or beneath `place`, with its path in the workspace, until it says stop. Hidden files
/// are shown, `.git` is not, links are not followed. A folder that is ignored is walked if it is asked for by name.
pub(crate) fn walk(
    bench: &Workbench,
    place: &Place,
    mut visit: impl FnMut(&Path, &mut Tally) -> ControlFlow<()>,
) -> Result<Tally, Outcome> {
    let mut tally = Tally::new(bench.settings.search_time);
    let about = bench.root.folder().join(place).symlink_metadata();
    let about = about.map_err(|_| failed(format!("`{place}` does not exist.")))?;
    if !about.is_dir() {
        if let Some(rule) = is_secret_name(place.as_str()) {
            return Err(refuse(&format!("`{place}` is a secret file by its name ({rule}).")));
        }
        // Whether it stops makes no difference: there is nothing after it.
        let _ = visit(place.as_ref(), &mut tally);
        return Ok(tally);
    }
    let mut steps = Steps { bench, taken: 0 };
    let target = PathBuf::from(place.as_str());
    if !steps.take(Path::new(""), &target, &mut tally, &mut visit) {
        steps.take(&target, &target, &mut tally, &mut visit);
    }
    Ok(tally)
}

struct Steps<'b> {
    bench: &'b Workbench,
    taken: usize,
}

impl Steps<'_> {
    /// Walks from `start`, showing only what is beneath `target`; says whether the target was reached. The way down to
    /// the target is walked too, because the ignore files along it count.
    fn take(
        &mut self,
        start: &Path,
        target: &Path,
        tally: &mut Tally,
        visit: &mut impl FnMut(&Path, &mut Tally) -> ControlFlow<()>,
    ) -> bool {
        let root = self.bench.root.folder();
        let mut reached = target == start;
        for entry in builder(root, start, target).build() {
            self.taken += 1;
            if self.taken > ENTRIES {
                tally.stopped = Some("too many files");
                return true;
            }
            if tally.is_time_up() {
                return true;
            }
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    let why =
                        error.io_error().map_or_else(|| error.to_string(), ToString::to_string);
                    tally.leave_out(Reason::Unreadable, || why);
                    continue;
                }
            };
            let Ok(path) = entry.path().strip_prefix(root) else { continue };
            reached |= path == target;
            let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
            if !is_file || !path.starts_with(target) {
                continue;
            }
            if is_secret_name(&path.to_string_lossy()).is_some() {
                tally.leave_out(Reason::Secret, String::new);
                continue;
            }
            if visit(path, tally).is_break() {
                return true;
            }
        }
        reached
    }
}

fn builder(root: &Path, start: &Path, target: &Path) -> WalkBuilder {
    let mut builder = WalkBuilder::new(root.join(start));
    let (root, target) = (root.to_owned(), target.to_owned());
    builder
        .standard_filters(false)
        .git_ignore(true)
        .require_git(false)
        .follow_links(false)
        .sort_by_file_name(std::ffi::OsStr::cmp)
        .filter_entry(move |entry| {
            let on_the_way = entry
                .path()
                .strip_prefix(&root)
                .is_ok_and(|path| path.starts_with(&target) || target.starts_with(path));
            on_the_way && entry.file_name() != ".git"
        });
    builder
}
