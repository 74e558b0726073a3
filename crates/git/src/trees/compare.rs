//! What differs between two trees, found without looking below what is equal.

use std::sync::Arc;

use sequester_core::repository::{Error, ErrorKind};

use crate::folder::{self, Mode, Node};
use crate::name::Name;
use crate::objects::Objects;

use super::edit::Leaf;

/// Trees that name each other can stand for any number of folders, in any depth.
const FOLDERS: usize = 1_000_000;
const DEPTH: usize = 1_000;

/// A path that is not the same on both sides.
#[derive(Debug)]
pub(crate) struct Difference {
    pub(crate) path: Vec<u8>,
    pub(crate) old: Option<Leaf>,
    pub(crate) new: Option<Leaf>,
}

/// Up to `most` differences, sorted by path; more are an error.
pub(crate) fn compare(
    objects: &Objects,
    from: &Name,
    to: &Name,
    most: usize,
) -> Result<Vec<Difference>, Error> {
    let mut walk = Walk { objects, found: Vec::new(), most, bound: Bound::default() };
    walk.folders(Some(*from), Some(*to), b"")?;
    walk.found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(walk.found)
}

/// How far walking went.
#[derive(Default)]
pub(super) struct Bound {
    folders: usize,
    depth: usize,
}

impl Bound {
    pub(super) fn enter(&mut self) -> Result<(), Error> {
        self.folders += 1;
        self.depth += 1;
        if self.folders > FOLDERS || self.depth > DEPTH {
            return Err(Error::new(
                ErrorKind::TooLarge,
                "the trees have more folders, or deeper ones, than any source tree.",
            ));
        }
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }
}

struct Walk<'a> {
    objects: &'a Objects,
    found: Vec<Difference>,
    most: usize,
    bound: Bound,
}

impl Walk<'_> {
    fn folders(
        &mut self,
        from: Option<Name>,
        to: Option<Name>,
        prefix: &[u8],
    ) -> Result<(), Error> {
        if from == to {
            return Ok(());
        }
        self.bound.enter()?;
        let raw = [read(self.objects, from)?, read(self.objects, to)?];
        for (name, [old, new]) in align(self.objects, [&raw[0], &raw[1]])? {
            if old == new {
                continue;
            }
            let path = [prefix, name].concat();
            let (was, is) = (leaf(old), leaf(new));
            if was != is {
                if self.found.len() == self.most {
                    let message = format!("more than {} files differ.", self.most);
                    return Err(Error::new(ErrorKind::TooLarge, message));
                }
                self.found.push(Difference { path: path.clone(), old: was, new: is });
            }
            self.folders(below(old), below(new), &[path.as_slice(), b"/"].concat())?;
        }
        self.bound.leave();
        Ok(())
    }
}

pub(super) fn read(objects: &Objects, tree: Option<Name>) -> Result<Arc<[u8]>, Error> {
    tree.map_or_else(|| Ok(Arc::default()), |tree| objects.tree(&tree))
}

pub(super) fn leaf(node: Option<Node<'_>>) -> Option<Leaf> {
    node.filter(|node| node.mode != Mode::Folder).map(|node| (node.mode, node.id))
}

pub(super) fn below(node: Option<Node<'_>>) -> Option<Name> {
    node.filter(|node| node.mode == Mode::Folder).map(|node| node.id)
}

/// A name, and what stands there in each folder.
pub(super) type Row<'r, const SIDES: usize> = (&'r [u8], [Option<Node<'r>>; SIDES]);

/// All names of some folders in order.
pub(super) fn align<'r, const SIDES: usize>(
    objects: &Objects,
    raw: [&'r [u8]; SIDES],
) -> Result<Vec<Row<'r, SIDES>>, Error> {
    let mut rows: Vec<(&[u8], usize, Node<'_>)> = Vec::new();
    for (side, raw) in raw.into_iter().enumerate() {
        let nodes = folder::read_sorted(raw, objects.format())?;
        rows.extend(nodes.into_iter().map(|node| (node.name, side, node)));
    }
    rows.sort_by_key(|(name, side, _)| (*name, *side));
    let mut aligned: Vec<Row<'r, SIDES>> = Vec::with_capacity(rows.len());
    for (name, side, node) in rows {
        if aligned.last().is_none_or(|(last, _)| *last != name) {
            aligned.push((name, [None; SIDES]));
        }
        if let Some((_, nodes)) = aligned.last_mut() {
            nodes[side] = Some(node);
        }
    }
    Ok(aligned)
}
