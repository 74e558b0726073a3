//! A change for people, in the form that `git apply` takes.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::BufRead;
use std::process::Stdio;

use sequester_core::change::{Change, Entry};
use sequester_core::repository::{Error, ErrorKind};

use crate::name::Name;
use crate::objects::Objects;
use crate::program::{Process, Program, broken};

use super::binary;

/// As much as the patch of a change has that comes out of a jail.
const PATCH_BYTES: usize = 1 << 20;
/// Kept for the sentence that the rest had no room.
const CLOSING: usize = 100;
/// What git is asked for at most, most of which has no room.
const OUTPUT_BYTES: u64 = 256 << 20;
/// A larger file has no room in any case, and is not compared.
const FILE_BYTES: u64 = 16 << 20;
const LEFT_OUT: usize = 1_000;

/// Everything that configuration or attributes could change is said. Neither an external diff nor a text conversion
/// runs, and attributes are looked for where there are none: the patch is the same in every checkout.
const ARGUMENTS: [&str; 20] = [
    "-c",
    "core.quotePath=false",
    "-c",
    "diff.suppressBlankEmpty=false",
    "diff-tree",
    "-r",
    "-p",
    "--binary",
    "--full-index",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--diff-algorithm=myers",
    "--indent-heuristic",
    "--unified=3",
    "--inter-hunk-context=0",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--ignore-submodules=all",
];

/// Fills in the patch, and what it tells about the entries. `old` names what was there before.
pub(super) fn write(
    program: &Program,
    objects: &Objects,
    trees: [&Name; 2],
    old: &BTreeMap<&str, Name>,
    change: &mut Change,
) -> Result<(), Error> {
    if change.entries.is_empty() {
        return Ok(());
    }
    let large = too_large(objects, old)?;
    let trees = trees.map(Name::to_string);
    let mut arguments = ARGUMENTS.to_vec();
    arguments.extend(trees.iter().map(String::as_str));
    arguments.push("--");
    arguments.extend(large.iter().map(String::as_str));
    let mut command = program.command(&arguments);
    command.current_dir(objects.folder()).env("GIT_WORK_TREE", objects.folder());
    let child = command.stderr(Stdio::null()).spawn();
    let child = child.map_err(|error| broken(format!("`git` could not be started: {error}.")))?;
    let mut process = Process(child);
    let mut reader = Reader::new(change, |path| match old.get(path) {
        Some(name) => objects.blob(name, FILE_BYTES).ok(),
        None => Some(Vec::new()),
    });
    let mut output = process.output(OUTPUT_BYTES)?;
    let mut line = Vec::new();
    while output.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
        reader.take(&line);
        line.clear();
    }
    let is_cut = output.get_ref().limit() == 0;
    reader.part.is_cut |= is_cut;
    reader.finish();
    if is_cut || process.succeeded() { Ok(()) } else { Err(broken("`git diff-tree` failed.")) }
}

/// Pathspecs that keep files from being compared which are too large for it.
fn too_large(objects: &Objects, old: &BTreeMap<&str, Name>) -> Result<Vec<String>, Error> {
    let names: Vec<String> = old.values().map(Name::to_string).collect();
    let sizes = if names.is_empty() { Vec::new() } else { objects.sizes(&names)? };
    let large = old.keys().zip(sizes).filter(|(_, size)| *size > FILE_BYTES);
    let large: Vec<_> = large.map(|(path, _)| format!(":(exclude,top,literal){path}")).collect();
    if large.len() > LEFT_OUT {
        let message = format!("more than {LEFT_OUT} large files differ. Use `git diff`.");
        return Err(Error::new(ErrorKind::TooLarge, message));
    }
    Ok(large)
}

/// Takes git's output apart into the parts of files.
struct Reader<'c, F> {
    change: &'c mut Change,
    /// By the line that a part starts with.
    places: BTreeMap<Vec<u8>, usize>,
    part: Part,
    /// What a path held before.
    before: F,
}

/// What was read of the entry at `place`; a file that becomes a link has two in a row.
#[derive(Default)]
struct Part {
    place: Option<usize>,
    text: Vec<u8>,
    added: usize,
    removed: usize,
    in_lines: bool,
    is_binary: bool,
    is_cut: bool,
}

impl<'c, F: Fn(&str) -> Option<Vec<u8>>> Reader<'c, F> {
    fn new(change: &'c mut Change, before: F) -> Self {
        let head = |entry: &Entry| {
            let [a, b] = ["a", "b"].map(|side| quoted(side, &entry.path));
            format!("diff --git {a} {b}\n").into_bytes()
        };
        let places = change.entries.iter().map(head).enumerate();
        let places = places.map(|(at, head)| (head, at)).collect();
        Self { change, places, part: Part::default(), before }
    }

    fn take(&mut self, line: &[u8]) {
        if let Some(place) = line.starts_with(b"diff --git ").then(|| self.places.get(line)) {
            let place = place.copied();
            if place != self.part.place {
                self.close();
                self.part.place = place;
            }
            self.part.in_lines = false;
        }
        let part = &mut self.part;
        match line.first() {
            Some(b'@') => part.in_lines = true,
            Some(b'+') if part.in_lines => part.added += 1,
            Some(b'-') if part.in_lines => part.removed += 1,
            Some(b'G') if line == b"GIT binary patch\n" && !part.in_lines => part.is_binary = true,
            _ => {}
        }
        if part.text.len() + line.len() > PATCH_BYTES {
            part.is_cut = true;
        } else {
            part.text.extend(line);
        }
    }

    fn close(&mut self) {
        let part = std::mem::take(&mut self.part);
        let Some(entry) = part.place.and_then(|at| self.change.entries.get_mut(at)) else {
            return;
        };
        if !part.is_binary {
            (entry.added, entry.removed) = (Some(part.added), Some(part.removed));
        }
        let is_cut = part.is_cut;
        let text = match String::from_utf8(part.text) {
            Ok(text) => Some(text),
            // To git it was text, but a patch in another encoding would be no text here.
            Err(raw) => (self.before)(&entry.path)
                .and_then(|before| as_bytes(raw.as_bytes(), &before, &entry.content)),
        };
        let room = PATCH_BYTES - CLOSING - self.change.patch.len();
        if let Some(text) = text.filter(|text| !is_cut && text.len() <= room) {
            self.change.patch += &text;
            entry.in_patch = true;
        }
    }

    fn finish(mut self) {
        self.close();
        let missing = self.change.entries.iter().filter(|entry| !entry.in_patch).count();
        if missing > 0 {
            let files = if missing == 1 { "file is" } else { "files are" };
            let _ = writeln!(self.change.patch, "The patch is cut: {missing} {files} not in it.");
        }
    }
}

/// The part of one file with its bytes in place of lines. Where a link takes a file's place, one goes and one comes.
fn as_bytes(part: &[u8], before: &[u8], after: &[u8]) -> Option<String> {
    let mut pieces: Vec<Vec<u8>> = Vec::new();
    for line in part.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(b"diff --git ") {
            pieces.push(Vec::new());
        }
        pieces.last_mut()?.extend(line);
    }
    let sides: &[[&[u8]; 2]] = match pieces.len() {
        1 => &[[before, after]],
        _ => &[[before, b""], [b"", after]],
    };
    let mut text = String::new();
    for (piece, [before, after]) in pieces.iter().zip(sides) {
        if let Ok(piece) = std::str::from_utf8(piece) {
            text += piece;
            continue;
        }
        let lines = piece.split_inclusive(|byte| *byte == b'\n');
        let head = lines.take_while(|line| !line.starts_with(b"--- "));
        text += std::str::from_utf8(&head.flatten().copied().collect::<Vec<_>>()).ok()?;
        text += &binary::part(before, after).ok()?;
    }
    Some(text)
}

/// A path as git writes it; there are no control characters in one.
fn quoted(side: &str, path: &str) -> String {
    if path.contains(['"', '\\']) {
        return format!("\"{side}/{}\"", path.replace('\\', "\\\\").replace('"', "\\\""));
    }
    format!("{side}/{path}")
}
