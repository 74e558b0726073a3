//! A run's branch brought into the person's checkout: the one place where a working tree is written.
//!
//! Files are put in place by this crate, not by a checkout of git's: no filter, hook or driver has a part in it, whatever
//! the attributes of the branch say. All is looked at first, and whatever fails later is undone.

mod begun;
mod swap;

use std::fmt::Write as _;

use sequester_core::id::CommitId;
use sequester_core::moment::Moment;
use sequester_core::repository::{Error, ErrorKind, Merge, Start};

use crate::base::Tree;
use crate::checkout::Checkout;
use crate::folder::Mode;
use crate::index::Index;
use crate::listing::read_path;
use crate::name::Name;
use crate::objects::Objects;
use crate::program::Program;
use crate::trees::Trees;
use crate::trees::commit::{self, Words};
use crate::trees::compare::{Difference, compare};
use crate::trees::edit::Leaf;
use crate::trees::{merge, refs, working};
use begun::Places;
use swap::{Place, Swap};

/// More than a run changes, and as much as is looked at.
const FILES: usize = 200_000;

/// How a branch is brought in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Apply {
    /// HEAD moves to it; only if nothing was committed since.
    FastForward,
    /// A commit that joins both.
    Merge,
    /// What it changes is put into the index and the working tree, uncommitted.
    Patch,
}

/// What is done about a working tree with changes that are not committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unclean {
    Refuse,
    /// They stay, as long as no file has both.
    Keep,
}

/// What is to be applied.
#[derive(Clone, Debug)]
pub struct Application<'a> {
    pub commit: &'a CommitId,
    /// What a run began with that was not all committed: a working tree that is still just so has nothing that the branch lacks.
    pub began: Option<&'a Start>,
    pub apply: Apply,
    pub unclean: Unclean,
    /// Of the commit that joins both, like `at`.
    pub message: &'a str,
    pub at: Moment,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Applied {
    /// HEAD is there now.
    Moved(CommitId),
    /// So many files differ from HEAD now.
    Changed(usize),
    /// All of it was there already.
    Nothing,
    /// Everything is as it was.
    Refused(Refusal),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Changes that are not committed, or files that git does not know, and that would be lost. Not all need be named.
    Unclean(Vec<String>),
    /// Both sides changed these.
    Conflict(Vec<String>),
    /// There were commits since, so HEAD cannot just move.
    Diverged,
    /// The two have no commit in common.
    Unrelated,
    /// Git is in the middle of this.
    Busy(&'static str),
    /// What cannot be put in place: submodules, and paths that lie outside or inside `.git`.
    Foreign(Vec<String>),
}

impl Trees {
    /// Brings a commit into the checkout that this repository was found by, or leaves all as it was.
    pub fn apply(&self, application: &Application<'_>) -> Result<Applied, Error> {
        let program = &self.repo.program;
        let objects = self.repo.objects.as_ref();
        if let Some(what) = busy(program)? {
            return Ok(Applied::Refused(Refusal::Busy(what)));
        }
        let theirs = objects.format().read(application.commit.as_str())?;
        let ours = self.repo.head()?.map(|head| objects.format().read(&head)).transpose()?;
        let base = match ours {
            None => None,
            Some(ours) => match common(program, objects, &ours, &theirs)? {
                Some(base) if base == theirs => return Ok(Applied::Nothing),
                Some(base) => Some(base),
                None => return Ok(Applied::Refused(Refusal::Unrelated)),
            },
        };
        let tree = match self.target(application, base, ours, &theirs)? {
            Ok(tree) => tree,
            Err(refusal) => return Ok(Applied::Refused(refusal)),
        };
        let Places { files, noted } = match self.found(application, ours, &tree)? {
            Ok(places) => places,
            Err(refusal) => return Ok(Applied::Refused(refusal)),
        };
        let swap = Swap::prepare(objects, self.repo.root(), &files)?;
        let swapped = swap.carry_out()?;
        if let Err(error) = note(program, objects, &noted) {
            swapped.undo();
            return Err(error);
        }
        let moved = match application.apply {
            Apply::Patch => Ok(Applied::Changed(files.len())),
            Apply::FastForward => self.move_head(ours, &theirs),
            Apply::Merge => self.join(application, &tree, ours, theirs),
        };
        if moved.is_ok() {
            swapped.keep();
        } else {
            swapped.undo();
            let back: Vec<Place> = noted.iter().map(Place::reversed).collect();
            note(program, objects, &back)?;
        }
        moved
    }

    /// The tree that the checkout is to become.
    fn target(
        &self,
        application: &Application<'_>,
        base: Option<Name>,
        ours: Option<Name>,
        theirs: &Name,
    ) -> Result<Result<Name, Refusal>, Error> {
        let (program, objects) = (&self.repo.program, self.repo.objects.as_ref());
        let tree = commit::tree_of(objects, theirs)?;
        if application.apply == Apply::FastForward {
            return Ok(if base == ours { Ok(tree) } else { Err(Refusal::Diverged) });
        }
        let (base, ours) = (self.tree_of(base)?, self.tree_of(ours)?);
        match merge::merge(program, objects, &base, [&ours, &tree])? {
            Merge::Clean(tree) => objects.format().read(tree.as_str()).map(Ok),
            Merge::Conflict(paths) => Ok(Err(Refusal::Conflict(paths))),
        }
    }

    /// What has to be put where, if nothing is lost by it.
    fn found(
        &self,
        application: &Application<'_>,
        ours: Option<Name>,
        to: &Name,
    ) -> Result<Result<Places, Refusal>, Error> {
        let head = self.tree_of(ours)?;
        let Some(begun) = self.as_begun(application.began, ours)? else {
            let places = self.places(&head, to, application.unclean)?;
            return Ok(places.map(Places::both));
        };
        let (files, whole) = (self.differing(&begun, to)?, self.differing(&head, to)?);
        match (files, whole) {
            (Ok(files), Ok(whole)) => self.over_begun(application.apply, files, whole),
            (Err(refusal), _) | (_, Err(refusal)) => Ok(Err(refusal)),
        }
    }

    /// All files that differ between two trees.
    fn differing(&self, from: &Name, to: &Name) -> Result<Result<Vec<Place>, Refusal>, Error> {
        let (mut places, mut foreign) = (Vec::new(), Vec::new());
        for Difference { path, old, new } in compare(&self.repo.objects, from, to, FILES)? {
            let is_file = |leaf: Option<Leaf>| leaf.is_none_or(|leaf| leaf.0 != Mode::Submodule);
            match read_path(&path) {
                Ok(path) if is_file(old) && is_file(new) => places.push(Place { path, old, new }),
                _ => foreign.push(String::from_utf8_lossy(&path).into_owned()),
            }
        }
        Ok(if foreign.is_empty() { Ok(places) } else { Err(Refusal::Foreign(foreign)) })
    }

    /// The same, where no file of them has a change of the person's.
    fn places(
        &self,
        from: &Name,
        to: &Name,
        unclean: Unclean,
    ) -> Result<Result<Vec<Place>, Refusal>, Error> {
        let places = match self.differing(from, to)? {
            Ok(places) => places,
            Err(refusal) => return Ok(Err(refusal)),
        };
        if unclean == Unclean::Refuse {
            let dirty = self.repo.dirty(&Tree::of_tree(&self.repo, from)?)?;
            if !dirty.is_clean() {
                let names = dirty.names.iter().map(ToString::to_string).collect();
                return Ok(Err(Refusal::Unclean(names)));
            }
        }
        let index = Index::read(&self.repo.program)?;
        let checkout = Checkout::at(self.repo.root());
        let tells_modes = working::tells_modes(&self.repo)?;
        let has_mode = |place: &Place| match place.old {
            Some((mode @ (Mode::File | Mode::Executable), _)) if tells_modes => {
                checkout.is_executable(place.path.as_str()) == (mode == Mode::Executable)
            }
            _ => true,
        };
        let is_clean = |place: &&Place| self.is_clean(place, &index, &checkout) && has_mode(place);
        let unclean = places.iter().filter(|place| !is_clean(place));
        let unclean: Vec<String> = unclean.map(|place| place.path.to_string()).collect();
        Ok(if unclean.is_empty() { Ok(places) } else { Err(Refusal::Unclean(unclean)) })
    }

    /// Whether a path holds in the index and in the working tree what HEAD holds.
    fn is_clean(&self, place: &Place, index: &Index, checkout: &Checkout) -> bool {
        let seen = self.repo.root().join(place.path.as_str()).symlink_metadata();
        match (place.old, index.entries.get(&place.path)) {
            // A folder may go with what is in it.
            (None, None) => seen.map_or(true, |seen| seen.is_dir()),
            (Some((mode, id)), Some(indexed)) => {
                let name = id.to_string();
                indexed.name == name
                    && indexed.mode == Some(mode)
                    && !indexed.absent_on_purpose
                    && (index.vouches(indexed, seen.ok())
                        || checkout.is_same(place.path.as_str(), &name))
            }
            _ => false,
        }
    }

    fn join(
        &self,
        application: &Application<'_>,
        tree: &Name,
        ours: Option<Name>,
        theirs: Name,
    ) -> Result<Applied, Error> {
        let words = Words {
            tree: *tree,
            parents: ours.into_iter().chain([theirs]).collect(),
            author: &self.person()?,
            at: application.at,
            message: application.message,
        };
        let commit = commit::write(&self.repo.objects, &words)?;
        self.move_head(ours, &self.repo.objects.format().read(commit.as_str())?)
    }

    fn move_head(&self, from: Option<Name>, to: &Name) -> Result<Applied, Error> {
        let branch = self.repo.program.run(&["symbolic-ref", "--quiet", "HEAD"])?;
        let name = if branch.success { branch.text.as_str() } else { "HEAD" };
        let format = self.repo.objects.format();
        refs::set(&self.repo.program, format, name, [from.as_ref(), Some(to)])?;
        Ok(Applied::Moved(to.to_string().as_str().into()))
    }
}

/// Puts what was swapped into the index, where git finds it changed since nothing is noted of the files yet.
fn note(program: &Program, objects: &Objects, places: &[Place]) -> Result<(), Error> {
    let (mut gone, mut there) = (String::new(), String::new());
    let nothing = "0".repeat(objects.format().length() * 2);
    for Place { path, new, .. } in places {
        let _ = match new {
            None => write!(gone, "0 {nothing}\t{path}\0"),
            Some((mode, id)) => write!(there, "{} {id}\t{path}\0", mode.as_str()),
        };
    }
    // What goes makes room for a folder of its name.
    let lines = gone + &there;
    program
        .without_filters()?
        .feed(&["update-index", "-z", "--index-info"], lines.as_bytes())
        .map(drop)
}

/// The commit that both come from.
fn common(
    program: &Program,
    objects: &Objects,
    ours: &Name,
    theirs: &Name,
) -> Result<Option<Name>, Error> {
    objects.commit(theirs)?;
    let told = program.run(&["merge-base", &ours.to_string(), &theirs.to_string()])?;
    if !told.success && !told.complaint.is_empty() {
        let message = format!("the history cannot be read: {}", told.complaint);
        return Err(Error::new(ErrorKind::Broken, message));
    }
    told.success.then(|| objects.format().read(&told.text)).transpose()
}

/// What git was left in the middle of.
fn busy(program: &Program) -> Result<Option<&'static str>, Error> {
    let folder = program.root().join(program.ask(&["rev-parse", "--git-dir"])?);
    let signs = [
        ("MERGE_HEAD", "a merge"),
        ("rebase-merge", "a rebase"),
        ("rebase-apply", "a rebase or `git am`"),
        ("CHERRY_PICK_HEAD", "a cherry-pick"),
        ("REVERT_HEAD", "a revert"),
    ];
    let found = signs.iter().find(|(sign, _)| folder.join(sign).symlink_metadata().is_ok());
    Ok(found.map(|(_, what)| *what))
}
