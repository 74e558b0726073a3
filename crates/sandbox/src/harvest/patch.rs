//! A change for people: unified, with the headers that git writes and reads.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use similar::{ChangeTag, TextDiff};

use super::change::{Mode, PATCH_BYTES};

/// A larger file is not compared line by line.
const DIFF_BYTES: usize = 1 << 20;
const DIFF_LINES: usize = 50_000;
/// Past this time what differs in a file is shown as one block: the work is done, and nobody waits for a nicer patch.
const DIFF_TIME: Duration = Duration::from_secs(5);
/// Kept for the sentence that the rest had no room.
const CLOSING: usize = 100;

/// One side of a file: what it is, and its bytes.
pub(super) type Side<'a> = Option<(Mode, &'a [u8])>;

pub(super) struct Patch {
    text: String,
    deadline: Instant,
    /// Files that had no room.
    left_out: usize,
}

/// Lines that came and went.
pub(super) type Counted = Option<(usize, usize)>;

impl Patch {
    pub(super) fn new() -> Self {
        Self { text: String::new(), deadline: Instant::now() + DIFF_TIME, left_out: 0 }
    }

    /// Adds what happened to one file.
    pub(super) fn add(&mut self, path: &str, old: Side<'_>, new: Side<'_>) -> Counted {
        let mut part = header(path, old.map(|side| side.0), new.map(|side| side.0));
        let (before, after) = (bytes(old), bytes(new));
        let counted = match (text(before), text(after)) {
            (Some(before), Some(after)) => {
                let mut config = TextDiff::configure();
                let diff = config.deadline(self.deadline).diff_lines(before, after);
                let count = |tag| diff.iter_all_changes().filter(|one| one.tag() == tag).count();
                let name = |side: char, there: bool| {
                    if there { format!("{side}/{path}") } else { "/dev/null".to_owned() }
                };
                let (from, to) = (name('a', old.is_some()), name('b', new.is_some()));
                let _ = write!(part, "{}", diff.unified_diff().header(&from, &to));
                Some((count(ChangeTag::Insert), count(ChangeTag::Delete)))
            }
            _ if before == after => None,
            _ => {
                let _ = writeln!(part, "Binary files a/{path} and b/{path} differ");
                None
            }
        };
        if self.text.len() + part.len() + CLOSING <= PATCH_BYTES {
            self.text += &part;
        } else {
            self.left_out += 1;
        }
        counted
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

fn header(path: &str, old: Option<Mode>, new: Option<Mode>) -> String {
    let number = |mode: Mode| match mode {
        Mode::File => "100644",
        Mode::Executable => "100755",
        Mode::Link => "120000",
    };
    let modes = match (old, new) {
        (None, Some(new)) => format!("new file mode {}\n", number(new)),
        (Some(old), None) => format!("deleted file mode {}\n", number(old)),
        (Some(old), Some(new)) if old != new => {
            format!("old mode {}\nnew mode {}\n", number(old), number(new))
        }
        _ => String::new(),
    };
    format!("diff --git a/{path} b/{path}\n{modes}")
}

fn bytes(side: Side<'_>) -> &[u8] {
    side.map_or(&[], |(_, bytes)| bytes)
}

/// What can be shown line by line.
fn text(bytes: &[u8]) -> Option<&str> {
    if bytes.len() > DIFF_BYTES || bytes.contains(&0) {
        return None;
    }
    std::str::from_utf8(bytes).ok().filter(|text| text.matches('\n').count() <= DIFF_LINES)
}
