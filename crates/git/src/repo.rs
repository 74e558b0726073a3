//! A repository, found from a folder in it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sequester_core::repository::{Error, ErrorKind, Snapshot};

use crate::base::Tree;
use crate::dirty::Dirty;
use crate::export::prepare;
use crate::history::Log;
use crate::name::Format;
use crate::objects::Objects;
use crate::program::{Program, broken};

/// A repository over a folder.
#[derive(Clone, Debug)]
pub struct Repo {
    pub(crate) program: Program,
    /// Shared by all trees of it, with the processes that read them.
    pub(crate) objects: Arc<Objects>,
}

impl Repo {
    /// The repository that `dir` lies in, if it lies in one; `search_path` is PATH, where `git` is looked for.
    ///
    /// The root is the folder that holds `.git`. What `core.worktree` says does not count: it could name any folder.
    pub fn discover(dir: &Path, search_path: &OsStr) -> Result<Option<Self>, Error> {
        let dir = dir.canonicalize().map_err(|error| {
            let kind = match error.kind() {
                std::io::ErrorKind::PermissionDenied => ErrorKind::Denied,
                _ => ErrorKind::NotFound,
            };
            Error::new(kind, format!("`{}` cannot be looked at: {error}.", dir.display()))
        })?;
        let Some(root) = find_root(&dir)? else {
            return Ok(None);
        };
        Self::of(Program::find(search_path, root)?).map(Some)
    }

    /// The root of the repository that a folder lies in, without asking git anything of it.
    pub fn root_above(dir: &Path) -> Option<PathBuf> {
        find_root(&dir.canonicalize().ok()?).ok().flatten()
    }

    /// A repository of our own at `git` over a folder that lies in none. It is made where there is none yet.
    pub fn own(root: &Path, git: &Path, search_path: &OsStr) -> Result<Self, Error> {
        if !git.join("HEAD").is_file() {
            prepare(git, false)
                .map_err(|error| broken(format!("`{}` cannot be made: {error}.", git.display())))?;
        }
        Self::of(Program::over(search_path, root.to_owned(), git.to_owned())?)
    }

    fn of(program: Program) -> Result<Self, Error> {
        let asked = ["rev-parse", "--show-object-format", "--git-path", "objects"];
        let answer = program.run(&asked)?;
        if !answer.success {
            return Err(broken(format!(
                "`git` cannot read the repository `{}`: {}. Try `git status` there.",
                program.root().display(),
                answer.complaint.trim_end_matches('.'),
            )));
        }
        let (format, folder) = answer.text.split_once('\n').unwrap_or_default();
        let format = Format::parse(format)
            .ok_or_else(|| broken(format!("the object format `{format}` is not known.")))?;
        let objects = Objects::of(&program, format, program.root().join(folder));
        Ok(Self { program, objects: Arc::new(objects) })
    }

    /// The version of the `git` that would be taken for a repository at `root`, as in `2.47.1`.
    pub fn git_version(root: &Path, search_path: &OsStr) -> Result<String, Error> {
        let told = Program::find(search_path, root.to_owned())?.ask(&["version"])?;
        Ok(told.trim_start_matches("git version ").to_owned())
    }

    /// The folder that it keeps, as an absolute path without links.
    pub fn root(&self) -> &Path {
        self.program.root()
    }

    /// Whether it is one of our own making, over a folder that lies in none.
    pub fn is_own(&self) -> bool {
        !self.program.is_at(&self.root().join(".git"))
    }

    /// What HEAD holds; nothing if there is no commit yet.
    pub fn base(&self) -> Result<Tree, Error> {
        Tree::of_commit(self, self.head()?)
    }

    /// What of the index and the working tree is not in `base`.
    pub fn dirty(&self, base: &dyn Snapshot) -> Result<Dirty, Error> {
        Dirty::against(&self.program, base)
    }

    /// The paths that the index holds: git never ignores them, whatever `.gitignore` says.
    pub fn tracked(&self) -> Result<BTreeSet<String>, Error> {
        let listed = self.program.run(&["ls-files", "-z"])?;
        if !listed.success {
            return Err(broken("the index cannot be read. Try `git status`.".to_owned()));
        }
        Ok(listed.text.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
    }

    /// What led to HEAD.
    pub fn history(&self) -> Result<Log, Error> {
        Log::of(&self.program, self.head()?)
    }

    /// The commit HEAD names; none before the first one.
    pub(crate) fn head(&self) -> Result<Option<String>, Error> {
        let head = self.program.run(&["rev-parse", "--verify", "--quiet", "HEAD"])?;
        if head.success {
            return Ok(Some(head.text));
        }
        // No commit yet and a damaged branch look alike to `rev-parse`; listing the branch complains about damage.
        let branch = self.program.run(&["symbolic-ref", "--quiet", "HEAD"])?;
        if branch.success {
            let listed = self.program.run(&["for-each-ref", &branch.text])?;
            if listed.success && listed.text.is_empty() && listed.complaint.is_empty() {
                return Ok(None);
            }
        }
        let root = self.root().display();
        Err(broken(format!("HEAD of `{root}` is damaged. Run `git fsck` there.")))
    }
}

/// The nearest folder upwards that holds a `.git` which git would take.
fn find_root(dir: &Path) -> Result<Option<PathBuf>, Error> {
    for folder in dir.ancestors() {
        let git = folder.join(".git");
        // A worktree and a submodule have a file there. A folder without HEAD is none of git's.
        if git.is_file() || git.join("HEAD").symlink_metadata().is_ok() {
            return Ok(Some(folder.to_owned()));
        }
        if looks_bare(folder) {
            return Err(broken(format!(
                "`{}` is the inside of a git repository, without files to work on. \
                 Name a folder that was cloned or checked out.",
                folder.display()
            )));
        }
    }
    Ok(None)
}

fn looks_bare(folder: &Path) -> bool {
    folder.join("HEAD").is_file() && folder.join("objects").is_dir() && folder.join("refs").is_dir()
}
