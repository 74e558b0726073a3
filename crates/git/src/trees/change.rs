//! Changes and trees: one made from the other.

use std::collections::BTreeMap;

use sequester_core::change::{self, Action, Change, Entry, Refused};
use sequester_core::repository::{Error, ErrorKind};

use crate::folder::Mode;
use crate::listing::read_path;
use crate::name::{Kind, Name};
use crate::objects::{BATCH, Objects};
use crate::program::Program;

use super::compare::{Difference, compare};
use super::edit::{Edits, Leaf, Writer};
use super::patch;

/// As much as a change may have that comes out of a jail.
const ENTRIES: usize = 20_000;
/// The largest file that a change may bring.
pub const CHANGED_BYTES: u64 = 16 << 20;
const ALL_BYTES: u64 = 64 << 20;

/// The base with the change on it.
pub(super) fn put(objects: &Objects, base: &Name, change: &Change) -> Result<Name, Error> {
    let mut writer = Writer::new(objects);
    let mut edits = Edits::new();
    for entry in &change.entries {
        let refused = |why: &str| {
            let path = entry.path.escape_debug();
            Error::new(ErrorKind::Denied, format!("`{path}` is no part of a change: {why}."))
        };
        read_path(entry.path.as_bytes()).map_err(|why| refused(&why))?;
        // The bytes travel apart from the description; without them a file would silently become an empty one.
        if entry.content.len() as u64 != entry.size {
            return Err(refused("its content is not there"));
        }
        let leaf = match entry.mode {
            Some(mode) => Some((mode_of(mode), writer.add(Kind::Blob, &entry.content)?)),
            None => None,
        };
        if edits.insert(&entry.path, leaf).is_some() {
            return Err(refused("it is named twice"));
        }
    }
    let tree = writer.edit(base, &edits)?;
    writer.finish()?;
    Ok(tree)
}

/// What leads from one tree to another.
pub(super) fn between(
    program: &Program,
    objects: &Objects,
    from: &Name,
    to: &Name,
) -> Result<Change, Error> {
    let mut change = Change::default();
    let mut known = Vec::new();
    for Difference { path, old, new } in compare(objects, from, to, ENTRIES)? {
        let is_submodule = |leaf: Option<Leaf>| leaf.is_some_and(|leaf| leaf.0 == Mode::Submodule);
        let why = match read_path(&path) {
            Ok(_) if is_submodule(old) || is_submodule(new) => {
                "it is another repository's commit".to_owned()
            }
            Ok(path) => {
                known.push((path, old, new));
                continue;
            }
            Err(why) => why,
        };
        let path = String::from_utf8_lossy(&path).into_owned();
        change.refused.push(Refused { path, why });
    }
    let contents = contents(objects, &known)?;
    for ((path, old, new), content) in known.iter().zip(contents) {
        change.entries.push(Entry {
            path: path.to_string(),
            action: action(*old, *new),
            was: old.and_then(|old| kept(old.0)),
            mode: new.and_then(|new| kept(new.0)),
            added: None,
            removed: None,
            in_patch: false,
            size: content.len() as u64,
            content,
        });
    }
    let old: BTreeMap<&str, Name> = (known.iter())
        .filter_map(|(path, old, _)| Some((path.as_str(), old.as_ref()?.1)))
        .collect();
    patch::write(program, objects, [from, to], &old, &mut change)?;
    Ok(change)
}

/// The new content of each path; empty for one that is gone.
fn contents(
    objects: &Objects,
    known: &[(sequester_core::path::RepoPath, Option<Leaf>, Option<Leaf>)],
) -> Result<Vec<Vec<u8>>, Error> {
    let mut contents = vec![Vec::new(); known.len()];
    let there: Vec<(usize, String)> = (known.iter().enumerate())
        .filter_map(|(at, (_, _, new))| Some((at, new.as_ref()?.1.to_string())))
        .collect();
    let (mut all, mut outcome) = (0, Ok(()));
    for some in there.chunks(BATCH) {
        let names: Vec<&str> = some.iter().map(|(_, name)| name.as_str()).collect();
        objects.read(&names, CHANGED_BYTES, &mut |nth, read| match read {
            Ok(content) => {
                all += content.len() as u64;
                if all <= ALL_BYTES {
                    contents[some[nth].0] = content;
                }
            }
            Err(error) => {
                let path = &known[some[nth].0].0;
                let message = format!("`{path}` cannot be read: {}", error.message);
                outcome = Err(Error::new(error.kind, message));
            }
        });
        std::mem::replace(&mut outcome, Ok(()))?;
        if all > ALL_BYTES {
            let message = "the files that differ have more than 64 MiB. Use `git diff`.";
            return Err(Error::new(ErrorKind::TooLarge, message));
        }
    }
    Ok(contents)
}

fn action(old: Option<Leaf>, new: Option<Leaf>) -> Action {
    match (old, new) {
        (None, _) => Action::Create,
        (_, None) => Action::Delete,
        (Some(old), Some(new)) => {
            let is_file = |leaf: Leaf| leaf.0 != Mode::Link;
            let is_same = old.1 == new.1 && is_file(old) && is_file(new);
            if is_same { Action::Mode } else { Action::Modify }
        }
    }
}

fn mode_of(mode: change::Mode) -> Mode {
    match mode {
        change::Mode::File => Mode::File,
        change::Mode::Executable => Mode::Executable,
        change::Mode::Link => Mode::Link,
    }
}

fn kept(mode: Mode) -> Option<change::Mode> {
    match mode {
        Mode::File => Some(change::Mode::File),
        Mode::Executable => Some(change::Mode::Executable),
        Mode::Link => Some(change::Mode::Link),
        Mode::Folder | Mode::Submodule => None,
    }
}
