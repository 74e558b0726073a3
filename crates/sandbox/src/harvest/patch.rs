//! A change for people, in the form that git writes and reads. What cannot be shown so is a sentence in between.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use similar::{ChangeTag, TextDiff};

use super::change::{Mode, PATCH_BYTES};

/// A larger file is not compared line by line.
const DIFF_BYTES: usize = 1 << 20;
const DIFF_LINES: usize = 50_000;
/// Past this time what differs in a file is shown as one block: the work is done, and nobody waits for a nicer patch.
const DIFF_TIME: Duration = Duration::from_secs(5);
const NO_END: &str = "\n\\ No newline at end of file\n";
/// Kept for the sentence that the rest had no room.
const CLOSING: usize = 100;

/// One side of a file: what it is, and its bytes, unless it is too large to be held.
pub(super) type Side<'a> = Option<(Mode, Option<&'a [u8]>)>;

pub(super) struct Patch {
    text: String,
    deadline: Instant,
    /// Files that had no room.
    left_out: usize,
}

/// A file's part, with the lines that came and went.
struct Part {
    text: String,
    added: usize,
    removed: usize,
}

/// Lines that came and went.
pub(super) type Counted = Option<(usize, usize)>;

impl Patch {
    pub(super) fn new() -> Self {
        Self { text: String::new(), deadline: Instant::now() + DIFF_TIME, left_out: 0 }
    }

    /// Adds what happened to one file.
    pub(super) fn add(&mut self, path: &str, old: Side<'_>, new: Side<'_>) -> Counted {
        let (text, counted) = match self.part(path, old, new) {
            Ok(part) => (part.text, Some((part.added, part.removed))),
            Err(why) => (format!("File {path} {why}.\n"), None),
        };
        if self.text.len() + text.len() + CLOSING <= PATCH_BYTES {
            self.text += &text;
        } else {
            self.left_out += 1;
        }
        counted
    }

    fn part(&self, path: &str, old: Side<'_>, new: Side<'_>) -> Result<Part, &'static str> {
        // To git a link in a file's place is another thing of that name.
        if let (Some((one, _)), Some((other, _))) = (old, new)
            && (one == Mode::Link) != (other == Mode::Link)
        {
            let (gone, made) = (self.part(path, old, None)?, self.part(path, None, new)?);
            let text = gone.text + &made.text;
            return Ok(Part { text, added: made.added, removed: gone.removed });
        }
        let (before, after) = (text(old)?, text(new)?);
        let mut config = TextDiff::configure();
        // Lines as git has them: another library's would end at a lone carriage return too.
        let [before, after] =
            [before, after].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
        let diff = config.deadline(self.deadline).diff_slices(&before, &after);
        let count = |tag| diff.iter_all_changes().filter(|one| one.tag() == tag).count();
        let name = |side: &str, there: bool| {
            let named = if there { quoted(side, path) } else { "/dev/null".to_owned() };
            // As git does, so that a name's blank is not taken for its end.
            if named.contains(' ') { named + "\t" } else { named }
        };
        let (from, to) = (name("a", old.is_some()), name("b", new.is_some()));
        let heading = heading(path, old.map(|side| side.0), new.map(|side| side.0));
        let mut text = heading;
        for (nth, hunk) in diff.unified_diff().iter_hunks().enumerate() {
            if nth == 0 {
                let _ = writeln!(text, "--- {from}\n+++ {to}");
            }
            let _ = writeln!(text, "{}", hunk.header());
            for line in hunk.iter_changes() {
                let end = if line.value().ends_with('\n') { "" } else { NO_END };
                let _ = write!(text, "{}{}{end}", line.tag(), line.value());
            }
        }
        Ok(Part { text, added: count(ChangeTag::Insert), removed: count(ChangeTag::Delete) })
    }

    pub(super) fn finish(mut self) -> String {
        if self.left_out > 0 {
            let files = if self.left_out == 1 { "file" } else { "files" };
            let _ = writeln!(
                self.text,
                "The patch is cut: {} {files} had no room in it.",
                self.left_out
            );
        }
        self.text
    }
}

/// What git says of a file before its lines: an empty file and a mode have nothing else.
fn heading(path: &str, old: Option<Mode>, new: Option<Mode>) -> String {
    let mut text = format!("diff --git {} {}\n", quoted("a", path), quoted("b", path));
    let _ = match (old.map(Mode::as_str), new.map(Mode::as_str)) {
        (None, Some(mode)) => writeln!(text, "new file mode {mode}"),
        (Some(mode), None) => writeln!(text, "deleted file mode {mode}"),
        (Some(old), Some(new)) if old != new => writeln!(text, "old mode {old}\nnew mode {new}"),
        _ => Ok(()),
    };
    text
}

/// A path as git writes it; there are no control characters in one.
fn quoted(side: &str, path: &str) -> String {
    if path.contains(['"', '\\']) {
        return format!("\"{side}/{}\"", path.replace('\\', "\\\\").replace('"', "\\\""));
    }
    format!("{side}/{path}")
}

/// What can be shown line by line; else why not.
fn text(side: Side<'_>) -> Result<&str, &'static str> {
    let Some((_, bytes)) = side else { return Ok("") };
    let bytes = bytes.filter(|bytes| bytes.len() <= DIFF_BYTES).ok_or("is too large to show")?;
    let text = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    let text = text.ok_or("is binary")?;
    let lines = text.matches('\n').count();
    if lines > DIFF_LINES { Err("is too large to show") } else { Ok(text) }
}
