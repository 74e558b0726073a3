//! New trees made from old ones, without a checkout.

use std::collections::BTreeMap;
use std::sync::Arc;

use sequester_core::repository::{Error, ErrorKind};

use crate::folder::{self, Mode, Node};
use crate::name::{Kind, Name};
use crate::objects::{Batch, Objects, unwritable};

/// A file, a link or a submodule.
pub(crate) type Leaf = (Mode, Name);

/// What becomes of paths; nothing for one that goes.
pub(crate) type Edits<'e> = BTreeMap<&'e str, Option<Leaf>>;

/// Writes what belongs together.
pub(crate) struct Writer<'a> {
    pub(crate) objects: &'a Objects,
    batch: Batch<'a>,
    made: Vec<(Name, Arc<[u8]>)>,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(objects: &'a Objects) -> Self {
        Self { objects, batch: objects.batch(), made: Vec::new() }
    }

    pub(crate) fn add(&mut self, kind: Kind, bytes: &[u8]) -> Result<Name, Error> {
        self.batch.add(kind, bytes).map_err(|error| unwritable(&error))
    }

    pub(crate) fn add_tree(&mut self, nodes: Vec<Node<'_>>) -> Result<Name, Error> {
        let raw: Arc<[u8]> = folder::write(nodes).into();
        let name = self.add(Kind::Tree, &raw)?;
        self.made.push((name, raw));
        Ok(name)
    }

    /// When this returns, all of it is on disk.
    pub(crate) fn finish(self) -> Result<(), Error> {
        self.batch.finish().map_err(|error| unwritable(&error))?;
        // Only now: what is in memory is taken to be in the repository.
        self.made.iter().for_each(|(name, raw)| self.objects.keep(*name, raw));
        Ok(())
    }

    /// The tree with the edits on it.
    pub(crate) fn edit(&mut self, tree: &Name, edits: &Edits<'_>) -> Result<Name, Error> {
        let edits = edits.iter().map(|(path, edit)| (path.as_bytes(), *edit)).collect();
        match self.edit_folder(Some(*tree), edits, "")? {
            Some(name) => Ok(name),
            None => self.add_tree(Vec::new()),
        }
    }

    /// Nothing if nothing is left in it.
    fn edit_folder(
        &mut self,
        tree: Option<Name>,
        edits: Vec<(&[u8], Option<Leaf>)>,
        path: &str,
    ) -> Result<Option<Name>, Error> {
        let raw = tree.map_or_else(|| Ok(Arc::default()), |tree| self.objects.tree(&tree))?;
        let mut nodes = folder::read_sorted(&raw, self.objects.format())?;
        for (name, group) in group(edits) {
            let at = nodes.binary_search_by_key(&name, |node| node.name);
            let old = at.ok().map(|at| nodes[at]);
            let path = format!("{path}{}", String::from_utf8_lossy(name));
            let new = self.edit_node(old, name, group, &path)?;
            match (at, new) {
                (Ok(at), Some(new)) if nodes[at] != new => nodes[at] = new,
                (Ok(at), None) => drop(nodes.remove(at)),
                (Err(at), Some(new)) => nodes.insert(at, new),
                _ => {}
            }
        }
        if nodes.is_empty() {
            return Ok(None);
        }
        let name = self.add_tree(nodes)?;
        Ok(Some(name))
    }

    fn edit_node<'n>(
        &mut self,
        old: Option<Node<'n>>,
        name: &'n [u8],
        group: Group<'_>,
        path: &str,
    ) -> Result<Option<Node<'n>>, Error> {
        let refused = |why: &str| Err(Error::new(ErrorKind::Denied, format!("`{path}` {why}.")));
        let mut file = old.filter(|old| old.mode != Mode::Folder);
        let mut below = old.filter(|old| old.mode == Mode::Folder);
        if file.is_some_and(|file| file.mode == Mode::Submodule) {
            return refused("is another repository's commit, which no change may touch");
        }
        if group.is_named {
            let same = |(mode, id)| file.filter(|old| old.mode == mode && old.id == id);
            file = group.leaf.map(|leaf| same(leaf).unwrap_or(Node::new(leaf.0, name, leaf.1)));
        }
        if !group.below.is_empty() {
            let tree = below.map(|node| node.id);
            let tree = self.edit_folder(tree, group.below, &format!("{path}/"))?;
            below = tree.map(|tree| Node::new(Mode::Folder, name, tree));
        }
        match (file, below) {
            (Some(_), Some(_)) => refused("would be a file and a folder"),
            (file, below) => Ok(file.or(below)),
        }
    }
}

/// What happens at one name of a folder.
#[derive(Default)]
struct Group<'e> {
    /// Whether a file of that name is set, or taken away.
    is_named: bool,
    leaf: Option<Leaf>,
    below: Vec<(&'e [u8], Option<Leaf>)>,
}

/// By the first part of the paths.
fn group(edits: Vec<(&[u8], Option<Leaf>)>) -> BTreeMap<&[u8], Group<'_>> {
    let mut groups: BTreeMap<&[u8], Group<'_>> = BTreeMap::new();
    for (path, edit) in edits {
        if let Some(slash) = path.iter().position(|byte| *byte == b'/') {
            let group = groups.entry(&path[..slash]).or_default();
            group.below.push((&path[slash + 1..], edit));
        } else {
            let group = groups.entry(path).or_default();
            (group.is_named, group.leaf) = (true, edit);
        }
    }
    groups
}
