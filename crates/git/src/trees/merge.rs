//! Three-way merges of trees. Files are matched by their paths alone: what one side renamed and the other changed is a
//! conflict, never a guess. Lines are merged by `git merge-file`, which follows neither attributes nor drivers.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;

use sequester_core::repository::{Error, ErrorKind, Merge};

use crate::folder::{Mode, Node};
use crate::name::{Kind, Name};
use crate::objects::{self, Objects, unwritable};
use crate::program::{Program, broken};

use super::compare::{Bound, align, below, leaf, read};
use super::edit::{Leaf, Writer};

/// A larger file that both sides changed is not merged.
const FILE_BYTES: u64 = 16 << 20;
/// Where git looks for a zero byte to tell that a file is no text.
const LOOKED_AT: usize = 8_000;

pub(crate) fn merge(
    program: &Program,
    objects: &Objects,
    base: &Name,
    sides: [&Name; 2],
) -> Result<Merge, Error> {
    if let Some(tree) = choose(base, sides[0], sides[1]) {
        return Ok(Merge::Clean(tree.to_string().as_str().into()));
    }
    let mut merger = Merger {
        program,
        writer: Writer::new(objects),
        conflicts: BTreeSet::new(),
        bound: Bound::default(),
    };
    let tree = merger.folders([*base, *sides[0], *sides[1]].map(Some), b"")?;
    if !merger.conflicts.is_empty() {
        return Ok(Merge::Conflict(merger.conflicts.into_iter().collect()));
    }
    let tree = match tree {
        Some(tree) => tree,
        None => merger.writer.add_tree(Vec::new())?,
    };
    merger.writer.finish()?;
    Ok(Merge::Clean(tree.to_string().as_str().into()))
}

/// What three ways come to, where not both sides went one of their own.
fn choose<T: PartialEq + Copy>(base: T, ours: T, theirs: T) -> Option<T> {
    if ours == theirs || theirs == base {
        return Some(ours);
    }
    (ours == base).then_some(theirs)
}

struct Merger<'a> {
    program: &'a Program,
    writer: Writer<'a>,
    conflicts: BTreeSet<String>,
    bound: Bound,
}

impl Merger<'_> {
    /// Nothing if nothing is left in it.
    fn folders(&mut self, trees: [Option<Name>; 3], prefix: &[u8]) -> Result<Option<Name>, Error> {
        let [base, ours, theirs] = trees;
        if let Some(tree) = choose(base, ours, theirs) {
            return Ok(tree);
        }
        self.bound.enter()?;
        let objects = self.writer.objects;
        let raw = [read(objects, base)?, read(objects, ours)?, read(objects, theirs)?];
        let mut nodes = Vec::new();
        for (name, [base, ours, theirs]) in align(objects, [&raw[0], &raw[1], &raw[2]])? {
            let node = match choose(base, ours, theirs) {
                Some(node) => node,
                None => self.node([base, ours, theirs], name, prefix)?,
            };
            nodes.extend(node);
        }
        self.bound.leave();
        if nodes.is_empty() { Ok(None) } else { self.writer.add_tree(nodes).map(Some) }
    }

    fn node<'n>(
        &mut self,
        sides: [Option<Node<'n>>; 3],
        name: &'n [u8],
        prefix: &[u8],
    ) -> Result<Option<Node<'n>>, Error> {
        let path = [prefix, name].concat();
        let file = self.leaves(sides.map(leaf), &path)?;
        let tree = self.folders(sides.map(below), &[path.as_slice(), b"/"].concat())?;
        if file.is_some() && tree.is_some() {
            self.conflict(&path);
        }
        let file = file.map(|(mode, id)| Node::new(mode, name, id));
        Ok(file.or(tree.map(|tree| Node::new(Mode::Folder, name, tree))))
    }

    fn leaves(&mut self, sides: [Option<Leaf>; 3], path: &[u8]) -> Result<Option<Leaf>, Error> {
        let [base, ours, theirs] = sides;
        if let Some(leaf) = choose(base, ours, theirs) {
            return Ok(leaf);
        }
        let is_file = |leaf: Leaf| matches!(leaf.0, Mode::File | Mode::Executable);
        let files = ours.zip(theirs).filter(|(one, other)| is_file(*one) && is_file(*other));
        let merged = match files.filter(|_| base.is_none_or(is_file)) {
            Some((ours, theirs)) => {
                let mode = choose(base.map(|base| base.0), Some(ours.0), Some(theirs.0));
                let ids = [base.map(|base| base.1), Some(ours.1), Some(theirs.1)];
                let id = match choose(ids[0], ids[1], ids[2]) {
                    Some(id) => id,
                    None => self.lines(ids)?,
                };
                mode.flatten().zip(id)
            }
            None => None,
        };
        if merged.is_none() {
            self.conflict(path);
        }
        Ok(merged)
    }

    /// Nothing for texts that cannot be merged. What both added is merged as if it had been empty before.
    fn lines(&mut self, ids: [Option<Name>; 3]) -> Result<Option<Name>, Error> {
        let mut texts = Vec::new();
        for id in ids {
            let text = match id.map(|id| self.writer.objects.blob(&id, FILE_BYTES)) {
                None => Vec::new(),
                Some(Ok(text)) if !text[..text.len().min(LOOKED_AT)].contains(&0) => text,
                Some(Ok(_)) => return Ok(None),
                Some(Err(error)) if error.kind == ErrorKind::TooLarge => return Ok(None),
                Some(Err(error)) => return Err(error),
            };
            texts.push(text);
        }
        let [base, ours, theirs] = &texts[..] else { return Ok(None) };
        let merged = match choose(base, ours, theirs) {
            Some(text) => Some(text.clone()),
            None => merge_lines(self.program, self.writer.objects, [ours, base, theirs])?,
        };
        merged.map(|text| self.writer.add(Kind::Blob, &text)).transpose()
    }

    fn conflict(&mut self, path: &[u8]) {
        self.conflicts.insert(String::from_utf8_lossy(path).into_owned());
    }
}

/// Nothing if there are conflicts.
fn merge_lines(
    program: &Program,
    objects: &Objects,
    texts: [&[u8]; 3],
) -> Result<Option<Vec<u8>>, Error> {
    let mut drafts = Drafts(Vec::new());
    for text in texts {
        let (path, file) = objects::draft(objects.folder()).map_err(|error| unwritable(&error))?;
        let mut writing = &file;
        let written = writing.write_all(text);
        drafts.0.push((path, file));
        written.map_err(|error| unwritable(&error))?;
    }
    let mut command =
        program.command(&["-c", "merge.conflictStyle=merge", "merge-file", "-p", "-q"]);
    let output = command.args(drafts.0.iter().map(|(path, _)| path)).output();
    let output = output.map_err(|error| broken(format!("`git` could not be started: {error}.")))?;
    match output.status.code() {
        Some(0) => Ok(Some(output.stdout)),
        // The number of conflicts, as far as it goes.
        Some(1..=127) => Ok(None),
        _ => {
            let complaint = String::from_utf8_lossy(&output.stderr);
            Err(broken(format!("`git merge-file` failed: {}", complaint.trim_end())))
        }
    }
}

/// Files for a moment, open so that nobody sweeps them away.
struct Drafts(Vec<(PathBuf, File)>);

impl Drop for Drafts {
    fn drop(&mut self) {
        for (path, _) in &self.0 {
            let _ = fs::remove_file(path);
        }
    }
}
