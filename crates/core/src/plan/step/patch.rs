//! Unified diffs, as fences hold them.

use crate::path::RepoPath;

use super::gap::{Gap, short};
use super::{Action, Hunk, target};

/// One file's part of a diff while it is read.
#[derive(Default)]
struct Part {
    from: Option<String>,
    to: Option<String>,
    hunks: Vec<Hunk>,
    /// Old and new lines of the open hunk.
    old: String,
    new: String,
}

/// The actions of a diff; `named` is the file that the text names for it, for a diff that names none.
pub(super) fn read(diff: &str, named: Option<&RepoPath>) -> Result<Vec<Action>, Gap> {
    let mut found = Vec::new();
    let mut part = Part::default();
    let mut lines = diff.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("--- ") && lines.peek().is_some_and(|next| next.starts_with("+++ ")) {
            part.finish(named, &mut found)?;
            part.from = Some(side(&line[4..]));
            part.to = lines.next().map(|line| side(&line[4..]));
        } else if ["rename ", "copy ", "Binary ", "old mode", "GIT binary"]
            .iter()
            .any(|mark| line.starts_with(mark))
        {
            return Err(Gap::place(format!("its diff holds more than changed lines (`{line}`)")));
        } else if ["@@", "diff ", "index ", "new file", "deleted file", "new mode", "similarity "]
            .iter()
            .any(|mark| line.starts_with(mark))
        {
            part.close()?;
        } else {
            part.take(line)?;
        }
    }
    part.finish(named, &mut found)?;
    if found.is_empty() {
        return Err(Gap::place("its diff changes nothing"));
    }
    Ok(found)
}

impl Part {
    fn take(&mut self, line: &str) -> Result<(), Gap> {
        let (mark, rest) = line.split_at(line.chars().next().map_or(0, char::len_utf8));
        let (old, new) = match mark {
            "" | " " => (true, true),
            "-" => (true, false),
            "+" => (false, true),
            "\\" => return Ok(()),
            _ => {
                return Err(Gap::place(format!(
                    "a line of its diff begins with neither `+`, `-` nor a space: `{}`",
                    short(line)
                )));
            }
        };
        for (side, wanted) in [(&mut self.old, old), (&mut self.new, new)] {
            if wanted {
                side.push_str(rest);
                side.push('\n');
            }
        }
        Ok(())
    }

    /// Ends the open hunk.
    fn close(&mut self) -> Result<(), Gap> {
        let (old, new) = (std::mem::take(&mut self.old), std::mem::take(&mut self.new));
        if old != new {
            self.hunks.push(Hunk { old, new });
        } else if !old.trim().is_empty() {
            return Err(Gap::place("a part of its diff changes nothing"));
        }
        Ok(())
    }

    fn finish(&mut self, named: Option<&RepoPath>, found: &mut Vec<Action>) -> Result<(), Gap> {
        self.close()?;
        let Self { from, to, hunks, .. } = std::mem::take(self);
        if hunks.is_empty() && from.is_none() {
            return Ok(());
        }
        let nowhere = |side: &Option<String>| side.as_deref() == Some("/dev/null");
        let path = match to.as_deref().filter(|path| *path != "/dev/null").or(from.as_deref()) {
            Some(path) => target::inside(path)?,
            None => named.cloned().ok_or_else(|| Gap::path("its diff names no file"))?,
        };
        if nowhere(&from) {
            let content = hunks.into_iter().map(|hunk| hunk.new).collect();
            found.push(Action::Write { path, content, fresh: true });
        } else if nowhere(&to) {
            found.push(Action::Delete { path, folder: false });
        } else if from.is_some() && from != to {
            return Err(Gap::place("its diff renames a file"));
        } else if hunks.iter().any(|hunk| hunk.old.trim().is_empty()) {
            return Err(Gap::place("a part of its diff has no line that says where it belongs"));
        } else {
            found.push(Action::Patch { path, hunks });
        }
        Ok(())
    }
}

/// A file name of a header, without `a/`, `b/` and what follows a tab.
fn side(text: &str) -> String {
    let name = text.split('\t').next().unwrap_or(text).trim();
    name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).unwrap_or(name).to_owned()
}
