//! What the runtime itself saw of the work: each file before and after, and a patch in git's form.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::time::{Duration, Instant};

use sequester_core::path::RepoPath;
use sequester_core::repository::Error;
use serde::Serialize;
use similar::{ChangeTag, TextDiff};

use crate::render::terminal::plural;

#[derive(Debug, Default, Serialize)]
pub(crate) struct Evidence {
    pub(crate) files_changed: Vec<Changed>,
    /// What `git apply` takes; what cannot be shown so is a sentence in between.
    pub(crate) patch: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct Changed {
    pub(crate) path: String,
    pub(crate) action: &'static str,
    /// Lines; nothing where they were not compared.
    pub(crate) added: Option<usize>,
    pub(crate) removed: Option<usize>,
    pub(crate) old_mode: Option<Mode>,
    pub(crate) new_mode: Option<Mode>,
}

/// Files beyond either are not compared line by line.
const DIFF_BYTES: usize = 1 << 20;
const DIFF_LINES: usize = 50_000;
/// Past this time what differs in a file is shown as one block: the work is done, and nobody waits for a nicer patch.
pub(super) const DIFF_TIME: Duration = Duration::from_secs(5);
pub(super) const PATCH_BYTES: usize = 1 << 20;
/// Problems of looking that are told.
const PROBLEMS: usize = 20;

/// As much of a file's mode as git keeps, in git's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) enum Mode {
    #[serde(rename = "100644")]
    Plain,
    #[serde(rename = "100755")]
    Executable,
    #[serde(rename = "120000")]
    Link,
}

impl Mode {
    pub(super) fn of_file(executable: bool) -> Self {
        if executable { Self::Executable } else { Self::Plain }
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Plain => "100644",
            Self::Executable => "100755",
            Self::Link => "120000",
        }
    }
}

/// A file before or after the work.
#[derive(PartialEq)]
pub(super) struct Side {
    pub(super) mode: Mode,
    pub(super) content: Content,
}

#[derive(PartialEq)]
pub(super) enum Content {
    Held(Vec<u8>),
    Large(blake3::Hash),
    /// With the reason.
    Unreadable(String),
}

impl Content {
    pub(super) fn of(read: Result<Vec<u8>, Error>) -> Self {
        read.map_or_else(|error| Self::Unreadable(error.message), Self::Held)
    }

    /// A link's content is where it leads, as git has it.
    pub(super) fn of_link(place: &Path) -> Self {
        match fs::read_link(place) {
            Ok(target) => Self::Held(target.into_os_string().into_vec()),
            Err(error) => Self::Unreadable(format!("{error}.")),
        }
    }

    /// Its text, if it can be shown; else why not.
    fn text(&self) -> Result<&str, String> {
        let bytes = match self {
            Self::Held(bytes) => bytes,
            Self::Large(_) => return Err("is too large to show.".to_owned()),
            Self::Unreadable(why) => return Err(format!("cannot be shown: {why}")),
        };
        let text = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
        let text = text.ok_or_else(|| "is binary.".to_owned())?;
        if bytes.len() > DIFF_BYTES || text.matches('\n').count() > DIFF_LINES {
            return Err("is too large to show.".to_owned());
        }
        Ok(text)
    }
}

pub(super) struct Comparison {
    evidence: Evidence,
    deadline: Instant,
    /// Files whose part of the patch had no room.
    left_out: usize,
}

/// A file's part of the patch, with the lines it adds and removes.
struct Part {
    text: String,
    added: usize,
    removed: usize,
}

impl Comparison {
    pub(super) fn new() -> Self {
        let deadline = Instant::now() + DIFF_TIME;
        Self { evidence: Evidence::default(), deadline, left_out: 0 }
    }

    pub(super) fn add(&mut self, path: &RepoPath, old: Option<&Side>, new: Option<&Side>) {
        let action = match (old, new) {
            (None, _) => "create",
            (_, None) => "delete",
            _ => "modify",
        };
        let (text, added, removed) = match self.part(path, old, new) {
            Ok(part) => (part.text, Some(part.added), Some(part.removed)),
            Err(why) => (format!("File {path} {why}\n"), None, None),
        };
        if self.evidence.patch.len() + text.len() <= PATCH_BYTES {
            self.evidence.patch += &text;
        } else {
            self.left_out += 1;
        }
        let mode = |side: Option<&Side>| side.map(|side| side.mode);
        let (old_mode, new_mode) = (mode(old), mode(new));
        let path = path.to_string();
        let changed = Changed { path, action, added, removed, old_mode, new_mode };
        self.evidence.files_changed.push(changed);
    }

    fn part(
        &self,
        path: &RepoPath,
        old: Option<&Side>,
        new: Option<&Side>,
    ) -> Result<Part, String> {
        // To git a link in a file's place is another thing of that name.
        if let (Some(one), Some(other)) = (old, new)
            && (one.mode == Mode::Link) != (other.mode == Mode::Link)
        {
            let (gone, made) = (self.part(path, old, None)?, self.part(path, None, new)?);
            let text = gone.text + &made.text;
            return Ok(Part { text, added: made.added, removed: gone.removed });
        }
        let before = old.map_or(Ok(""), |side| side.content.text())?;
        let after = new.map_or(Ok(""), |side| side.content.text())?;
        let mut config = TextDiff::configure();
        let diff = config.deadline(self.deadline).diff_lines(before, after);
        let count = |tag| diff.iter_all_changes().filter(|one| one.tag() == tag).count();
        let name = |side: &str, shown: bool| {
            let named = if shown { quoted(side, path) } else { "/dev/null".to_owned() };
            // As git does, so that a name's blank is not taken for its end.
            if named.contains(' ') { named + "\t" } else { named }
        };
        let (from, to) = (name("a", old.is_some()), name("b", new.is_some()));
        Ok(Part {
            text: heading(path, old, new) + &diff.unified_diff().header(&from, &to).to_string(),
            added: count(ChangeTag::Insert),
            removed: count(ChangeTag::Delete),
        })
    }

    /// With what could not be looked at, and what had no room.
    pub(super) fn finish(self, problems: &[String], root: &Path) -> Evidence {
        let mut evidence = self.evidence;
        let root = root.display().to_string();
        for problem in problems.iter().take(PROBLEMS) {
            let _ = writeln!(evidence.patch, "{}", problem.replace(&root, "."));
        }
        if problems.len() > PROBLEMS {
            let more = plural(problems.len() - PROBLEMS, "more problem");
            let _ = writeln!(evidence.patch, "There are {more}.");
        }
        if self.left_out > 0 {
            let files = plural(self.left_out, "file");
            let _ = writeln!(evidence.patch, "The patch is cut: {files} had no room in it.");
        }
        evidence
    }
}

/// What git says of a file before its lines: an empty file and a mode have nothing else.
fn heading(path: &RepoPath, old: Option<&Side>, new: Option<&Side>) -> String {
    let mut text = format!("diff --git {} {}\n", quoted("a", path), quoted("b", path));
    let _ = match (old.map(|old| old.mode.as_str()), new.map(|new| new.mode.as_str())) {
        (None, Some(mode)) => writeln!(text, "new file mode {mode}"),
        (Some(mode), None) => writeln!(text, "deleted file mode {mode}"),
        (Some(old), Some(new)) if old != new => writeln!(text, "old mode {old}\nnew mode {new}"),
        _ => Ok(()),
    };
    text
}

/// A path as git writes it; there are no control characters in one.
fn quoted(side: &str, path: &RepoPath) -> String {
    let path = path.as_str();
    if path.contains(['"', '\\']) {
        return format!("\"{side}/{}\"", path.replace('\\', "\\\\").replace('"', "\\\""));
    }
    format!("{side}/{path}")
}
