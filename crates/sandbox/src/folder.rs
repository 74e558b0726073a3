//! The person's own folder as a workspace: what in it must not be seen, and where its git folder is.

mod error;
mod git;
mod set_aside;
#[cfg(test)]
mod tests;
mod walk;

use std::borrow::Cow;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::Access;
use sequester_core::protected::{self, Grants};

use self::walk::{Closer, Found};
use crate::blueprint::{Isolation, Kind};
use crate::order::Trouble;

pub use error::Error;
pub use git::Git;
pub use set_aside::{NewRepositories, SetAside};

/// What was found in a folder, so that all that follows decides without looking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    /// Without links.
    pub path: PathBuf,
    pub git: Git,
    /// Files whose names say secret, sockets and pipes that lead out, and the product's own state.
    pub hidden: Vec<PathBuf>,
    /// Texts that stand in for files that hold credentials among other things.
    pub covers: Vec<(PathBuf, String)>,
    /// Protected names that are links: nothing can hold a link in place.
    pub links: Vec<PathBuf>,
    /// Folders that are there above protected names.
    pub parents: Vec<PathBuf>,
    /// What has a protected name, wherever it lies.
    pub covered: Vec<Covered>,
    /// What the person's git takes hooks, configuration or programs from, beside its own folder.
    pub run_paths: Vec<(PathBuf, Kind)>,
    /// Told by a closer look alone.
    pub closer: Option<CloserLook>,
    pub walked: Walked,
}

/// What matters only where the folder itself is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloserLook {
    /// Files with names elsewhere too: what is written to them here is written there.
    pub shared: Vec<PathBuf>,
    /// Folders that git takes for repositories without being called `.git`.
    pub repositories: Vec<PathBuf>,
}

/// Something with a protected name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Covered {
    pub path: PathBuf,
    /// The protected one.
    pub name: &'static str,
    /// What can be held in place; nothing for a link.
    pub holds: Option<Kind>,
    pub inode: u64,
}

/// How much of a folder was looked through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Walked {
    Whole,
    /// It has more entries than anybody waits for; secrets may be left in it.
    Part,
}

impl Folder {
    /// The first folder with protected names that this process cannot put something into.
    pub fn unwritable(&self) -> Option<&Path> {
        let closed = |folder: &&PathBuf| {
            rustix::fs::access(*folder, Access::WRITE_OK | Access::EXEC_OK).is_err()
        };
        let mut folders = std::iter::once(&self.path).chain(&self.parents);
        folders.find(closed).map(PathBuf::as_path)
    }

    pub fn look(path: &Path) -> Result<Self, Error> {
        let error = |source| Error::unreadable(path, source);
        let path = fs::canonicalize(path).map_err(error)?;
        if !path.is_dir() {
            return Err(Error::NoFolder(path));
        }
        if path.iter().any(|part| part == ".sequester") {
            return Err(Error::OwnState(path));
        }
        fs::read_dir(&path).map_err(|source| Error::unreadable(&path, source))?;
        let Found { mut hidden, covered, walked, repositories, .. } = walk::look(&path, walk::MOST);
        let (git, covers) = git::look(&path, &repositories);
        if let Git::Elsewhere(git) = &git {
            hidden.extend(walk::look_into_git(git));
            hidden.sort();
        }
        let protected = || protected::names().map(Path::new);
        let mut parents: Vec<PathBuf> = protected()
            .filter_map(Path::parent)
            .filter(|parent| !parent.as_os_str().is_empty())
            .map(|parent| path.join(parent))
            .collect();
        parents.sort();
        parents.dedup();
        let names = protected().map(|name| path.join(name));
        let links = names.chain(parents.iter().cloned()).filter(is_link).collect();
        parents.retain(|parent| fs::symlink_metadata(parent).is_ok_and(|at| at.is_dir()));
        let run_paths = match &git {
            Git::Within(folder) => vec![(folder.clone(), Kind::Folder)],
            Git::None | Git::Here | Git::Elsewhere(_) => Vec::new(),
        };
        let closer = None;
        Ok(Self { path, git, hidden, covers, links, parents, covered, run_paths, closer, walked })
    }

    /// Also with what git says that it runs, by paths from here.
    #[must_use]
    pub fn with_run_paths<'p>(mut self, paths: impl IntoIterator<Item = &'p str>) -> Self {
        let kind_of = |path: &Path| match fs::symlink_metadata(path) {
            Ok(about) if about.is_file() => Kind::File,
            // Hooks that are not there yet lie in a folder; so may anything else.
            _ => Kind::Folder,
        };
        // In a folder that is not there nothing can be held: it is held itself.
        let held = |path: PathBuf| {
            let above = path.ancestors().take_while(|above| *above != self.path);
            let absent = above.take_while(|above| fs::symlink_metadata(above).is_err()).last();
            absent.map(Path::to_owned).unwrap_or(path)
        };
        let paths: Vec<PathBuf> =
            paths.into_iter().map(|path| held(self.path.join(path))).collect();
        for path in paths {
            let above = path.ancestors().take_while(|above| *above != self.path);
            let links: Vec<_> = above.map(Path::to_owned).filter(is_link).collect();
            if links.is_empty() {
                self.run_paths.push((path.clone(), kind_of(&path)));
            }
            self.links.extend(links);
        }
        self.links.sort();
        self.links.dedup();
        self.run_paths.sort();
        self.run_paths.dedup_by(|later, earlier| later.0.starts_with(&earlier.0));
        self
    }

    /// Also for what matters only where the folder itself is shown. Over a layer, no socket of the machine's is reached and no file of it
    /// written.
    #[must_use]
    pub fn look_closer(mut self) -> Self {
        if self.closer.is_some() {
            return self;
        }
        let git = match &self.git {
            Git::Elsewhere(git) => Some(git.as_path()),
            Git::Here | Git::Within(_) | Git::None => None,
        };
        let Closer { ways, shared, repositories, walked } = walk::look_closer(&self.path, git);
        self.hidden.extend(ways);
        self.hidden.sort();
        self.hidden.dedup();
        // A command that changes one decides what the person's git runs there.
        let within = repositories.iter().filter(|folder| {
            folder.strip_prefix(&self.path).is_ok_and(|within| {
                !within.as_os_str().is_empty() && !walk::lies_in_skipped(within)
            })
        });
        self.run_paths.extend(within.map(|folder| (folder.clone(), Kind::Folder)));
        self.run_paths.sort();
        self.run_paths.dedup_by(|later, earlier| later.0.starts_with(&earlier.0));
        self.closer = Some(CloserLook { shared, repositories });
        self.walked = self.walked.max(walked);
        self
    }

    /// Folders above what is hidden, which whoever may write could move away with it.
    pub(crate) fn above_hidden(&self) -> impl Iterator<Item = &Path> {
        let hidden = self.hidden.iter().filter(|path| {
            path.strip_prefix(&self.path).is_ok_and(|within| !walk::lies_in_skipped(within))
        });
        hidden.flat_map(|path| path.ancestors().skip(1).take_while(|above| *above != self.path))
    }

    /// What has got a protected name since it was looked at, unless that is granted: in a folder of the workspace's nobody can keep one
    /// from being made.
    pub fn appeared(&self, grants: &Grants) -> Vec<PathBuf> {
        let is_granted = |one: &Covered| grants.lift(one.name, &self.within(&one.path));
        let now = walk::look(&self.path, walk::MOST).covered.into_iter();
        let new = now.filter(|one| self.covered.binary_search(one).is_err() && !is_granted(one));
        new.map(|one| one.path).collect()
    }

    /// A path as seen from here.
    pub(crate) fn within<'p>(&self, path: &'p Path) -> Cow<'p, str> {
        path.strip_prefix(&self.path).unwrap_or(path).to_string_lossy()
    }
}

fn is_link(path: &PathBuf) -> bool {
    fs::symlink_metadata(path).is_ok_and(|about| about.is_symlink())
}

/// Looks through a folder once more from inside, where all is mounted: what must not be seen there is the jail's own by now.
pub(crate) fn check(path: &Path, isolation: Isolation) -> Result<(), Trouble> {
    let Found { mut hidden, moved, repositories, .. } = walk::look(path, walk::MOST);
    let (git, covers) = git::look(path, &repositories);
    if let Git::Elsewhere(git) = &git {
        hidden.extend(walk::look_into_git(git));
    }
    // Without a root of its own there is nothing to hide behind.
    let own = match isolation {
        Isolation::Namespaces(_) => fs::metadata("/").ok().map(|root| root.dev()),
        Isolation::Fallback => None,
    };
    // What holds nothing has nothing to show: names that must not be made are held by something empty.
    let is_shown = |at: &&PathBuf| match fs::symlink_metadata(at) {
        Ok(about) if about.is_file() && about.len() == 0 => false,
        Ok(about) if about.is_dir() && fs::read_dir(at).is_ok_and(|all| all.count() == 0) => false,
        Ok(about) => own != Some(about.dev()),
        Err(_) => true,
    };
    let shown = hidden.iter().find(is_shown).or_else(|| covers.first().map(|(at, _)| at));
    match moved.as_ref().or(shown) {
        Some(at) => Err(Trouble::moved(at)),
        None => Ok(()),
    }
}
