//! A change for people, in the form that git writes and reads. What cannot be shown so is a sentence in between.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use sequester_core::change::Mode;
use similar::{ChangeTag, TextDiff};

use super::binary;
use super::change::PATCH_BYTES;

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
    counted: Counted,
}

/// Lines that came and went, where they were compared.
pub(super) type Counted = Option<(usize, usize)>;

/// What became of a file in the patch.
pub(super) struct Added {
    pub(super) counted: Counted,
    /// Whether `git apply` finds it there.
    pub(super) is_whole: bool,
}

impl Patch {
    pub(super) fn new() -> Self {
        Self { text: String::new(), deadline: Instant::now() + DIFF_TIME, left_out: 0 }
    }

    /// Adds what happened to one file.
    pub(super) fn add(&mut self, path: &str, old: Side<'_>, new: Side<'_>) -> Added {
        let (text, counted, shown) = match self.part(path, old, new) {
            Some(Part { text, counted }) => (text, counted, true),
            None => (format!("File {path} is too large to show.\n"), None, false),
        };
        let has_room = self.text.len() + text.len() + CLOSING <= PATCH_BYTES;
        if has_room {
            self.text += &text;
        } else {
            self.left_out += 1;
        }
        Added { counted, is_whole: shown && has_room }
    }

    /// Nothing for what is too large.
    fn part(&self, path: &str, old: Side<'_>, new: Side<'_>) -> Option<Part> {
        // To git a link in a file's place is another thing of that name.
        if let (Some((one, _)), Some((other, _))) = (old, new)
            && (one == Mode::Link) != (other == Mode::Link)
        {
            let (gone, made) = (self.part(path, old, None)?, self.part(path, None, new)?);
            let both = gone.counted.zip(made.counted);
            let counted = both.map(|((_, removed), (added, _))| (added, removed));
            return Some(Part { text: gone.text + &made.text, counted });
        }
        let heading = heading(path, old.map(|side| side.0), new.map(|side| side.0));
        match (text(old), text(new)) {
            (Some(before), Some(after)) => {
                Some(self.lines(path, heading, [old, new], [before, after]))
            }
            _ => self.bytes(heading, old, new),
        }
    }

    fn lines(&self, path: &str, heading: String, sides: [Side<'_>; 2], texts: [&str; 2]) -> Part {
        // Lines as git has them: another library's would end at a lone carriage return too.
        let [before, after] = texts.map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
        let mut config = TextDiff::configure();
        let diff = config.deadline(self.deadline).diff_slices(&before, &after);
        let count = |tag| diff.iter_all_changes().filter(|one| one.tag() == tag).count();
        let name = |side: &str, there: bool| {
            let named = if there { quoted(side, path) } else { "/dev/null".to_owned() };
            // As git does, so that a name's blank is not taken for its end.
            if named.contains(' ') { named + "\t" } else { named }
        };
        let (from, to) = (name("a", sides[0].is_some()), name("b", sides[1].is_some()));
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
        Part { text, counted: Some((count(ChangeTag::Insert), count(ChangeTag::Delete))) }
    }

    /// Where lines would not do.
    fn bytes(&self, heading: String, old: Side<'_>, new: Side<'_>) -> Option<Part> {
        let held = |side: Side<'_>| side.is_none_or(|(_, bytes)| bytes.is_some());
        if !held(old) || !held(new) || Instant::now() > self.deadline {
            return None;
        }
        let [before, after] = [old, new].map(|side| side.and_then(|(_, bytes)| bytes));
        // With the same bytes only the mode is another, which the heading says.
        let bytes =
            if before == after { String::new() } else { binary::part(before, after).ok()? };
        Some(Part { text: heading + &bytes, counted: None })
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

/// What can be shown line by line.
fn text(side: Side<'_>) -> Option<&str> {
    let Some((_, bytes)) = side else { return Some("") };
    let bytes = bytes.filter(|bytes| bytes.len() <= DIFF_BYTES)?;
    let text = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))?;
    (text.matches('\n').count() <= DIFF_LINES).then_some(text)
}
