//! All states that a run makes: trees, merges, commits, its branch.

mod binary;
mod change;
pub(crate) mod commit;
pub(crate) mod compare;
pub(crate) mod edit;
pub(crate) mod merge;
mod patch;
pub(crate) mod refs;
pub(crate) mod working;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use sequester_core::change::Change;
use sequester_core::id::{CommitId, RunId, TreeId};
use sequester_core::moment::Moment;
use sequester_core::path::RepoPath;
use sequester_core::repository::{Draft, Error, ErrorKind, Merge, Repository, Snapshot, Start};

pub use change::CHANGED_BYTES;
pub use commit::Home;

use crate::base::Tree;
use crate::folder::{Mode, Node};
use crate::name::Name;
use crate::objects;
use crate::repo::Repo;
use commit::Words;
use edit::Writer;

/// A repository as a run uses it. Objects and refs are written; the working tree and the index never are.
#[derive(Debug)]
pub struct Trees {
    pub(crate) repo: Repo,
    home: Home,
    /// Files of the working tree that are nobody's work.
    pub(crate) passed_over: BTreeSet<RepoPath>,
    person: OnceLock<String>,
    /// What holds the trees of each run, as it was last seen. One at a time moves it.
    holding: Mutex<BTreeMap<String, Name>>,
}

impl Trees {
    /// `home` is where the person's own configuration is read, for the name that commits carry.
    pub fn of(repo: &Repo, home: Home) -> Self {
        let (person, holding) = (OnceLock::new(), Mutex::default());
        Self { repo: repo.clone(), home, passed_over: BTreeSet::new(), person, holding }
    }

    /// The same, as if these files did not lie in the working tree.
    #[must_use]
    pub fn passing_over(self, files: BTreeSet<RepoPath>) -> Self {
        Self { passed_over: files, ..self }
    }

    /// Whether nothing but runs is kept in it: the folder lies in no repository of the person's.
    pub fn is_own(&self) -> bool {
        self.repo.is_own()
    }

    /// Takes away what writers of objects left that were killed.
    pub fn sweep(&self) {
        objects::sweep(self.repo.objects.folder());
    }

    /// Any tree, as something that workspaces can be made from.
    pub fn tree(&self, tree: &TreeId) -> Result<Tree, Error> {
        Tree::of_tree(&self.repo, &self.name(tree.as_str())?)
    }

    /// Whom commits are by that name nobody: as the person configured it.
    pub fn person(&self) -> Result<String, Error> {
        if let Some(person) = self.person.get() {
            return Ok(person.clone());
        }
        let person = commit::configured(&self.repo.program, &self.home)?;
        Ok(self.person.get_or_init(|| person).clone())
    }

    /// Lets go of all that a run held.
    pub fn release(&self, run: &RunId) -> Result<(), Error> {
        let folder = held(run.as_str())?;
        let mut holding = self.holding.lock().unwrap_or_else(PoisonError::into_inner);
        holding.remove(run.as_str());
        for name in refs::list(&self.repo.program, &folder)? {
            let format = self.repo.objects.format();
            let at = refs::find(&self.repo.program, format, &name)?;
            refs::set(&self.repo.program, format, &name, [at.as_ref(), None])?;
        }
        Ok(())
    }

    /// The runs that something is held for.
    pub fn holders(&self) -> Result<BTreeSet<RunId>, Error> {
        let refs = refs::list(&self.repo.program, HOLDS)?;
        let run = |name: &String| Some(name.strip_prefix(HOLDS)?.split_once('/')?.0.to_owned());
        Ok(refs.iter().filter_map(run).map(RunId::new).collect())
    }

    /// Whether all of a start is there that the commit below it does not hold: whoever cleans up may have taken a part of it before
    /// it was held.
    pub fn is_whole(&self, start: &Start, below: Option<&CommitId>) -> Result<bool, Error> {
        let top = start.commit.as_ref().map_or(start.tree.as_str(), CommitId::as_str);
        let mut words = vec!["rev-list", "--objects", "--quiet", top];
        if let Some(below) = below {
            words.extend(["--not", below.as_str()]);
        }
        Ok(self.repo.program.run(&words)?.success)
    }

    /// Whether HEAD is a commit or comes after it.
    pub fn is_in_head(&self, commit: &CommitId) -> Result<bool, Error> {
        let Some(head) = self.repo.head()? else { return Ok(false) };
        let (commit, head) = (self.name(commit.as_str())?, self.name(&head)?);
        refs::is_forward(&self.repo.program, &self.repo.objects, &commit, &head)
    }

    fn name(&self, id: &str) -> Result<Name, Error> {
        self.repo.objects.format().read(id)
    }

    /// A commit as git keeps it, without git's own header. What is no text in it is replaced, so that its name does not fit any more.
    pub fn commit_object(&self, commit: &CommitId) -> Result<String, Error> {
        let bytes = self.repo.objects.commit(&self.name(commit.as_str())?)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The tree of a commit; without one, the tree that holds nothing.
    pub(crate) fn tree_of(&self, commit: Option<Name>) -> Result<Name, Error> {
        if let Some(commit) = commit {
            return commit::tree_of(&self.repo.objects, &commit);
        }
        let mut writer = Writer::new(&self.repo.objects);
        let tree = writer.add_tree(Vec::new())?;
        writer.finish().map(|()| tree)
    }

    fn commit_by(&self, draft: &Draft, author: &str) -> Result<CommitId, Error> {
        let parent = draft.parent.as_ref().map(|parent| self.name(parent.as_str())).transpose()?;
        let words = Words {
            tree: self.name(draft.tree.as_str())?,
            parents: parent.into_iter().collect(),
            author,
            at: draft.at,
            message: &draft.message,
        };
        commit::write(&self.repo.objects, &words)
    }
}

/// How often what is held is looked up again: a process that was killed may leave one behind that still moves it.
const TRIES: u32 = 3;

/// The folder of refs of all runs.
const HOLDS: &str = "refs/sequester/";

/// The folder of refs of a run.
fn held(run: &str) -> Result<String, Error> {
    refs::check(run)?;
    Ok(format!("{HOLDS}{run}"))
}

impl Repository for Trees {
    fn start(&self, dirty: bool) -> Result<Start, Error> {
        let commit = self.repo.head()?;
        let name = commit.as_ref().map(|commit| self.name(commit)).transpose()?;
        let tree = self.tree_of(name)?;
        let commit = commit.map(CommitId::new);
        if dirty {
            let tree =
                working::write(&self.repo, &tree, &self.passed_over)?.to_string().as_str().into();
            return Ok(Start { commit, tree, uncommitted: true, left_out: false });
        }
        let base = Tree::of_tree(&self.repo, &tree)?;
        let left_out = !self.repo.dirty(&base)?.is_clean()
            || !working::untracked(&self.repo, &self.passed_over)?.is_empty();
        let tree = tree.to_string().as_str().into();
        Ok(Start { commit, tree, uncommitted: false, left_out })
    }

    fn snapshot(&self, tree: &TreeId) -> Result<Arc<dyn Snapshot>, Error> {
        Ok(Arc::new(self.tree(tree)?))
    }

    fn with_change(&self, base: &TreeId, change: &Change) -> Result<TreeId, Error> {
        let tree = change::put(&self.repo.objects, &self.name(base.as_str())?, change)?;
        Ok(tree.to_string().as_str().into())
    }

    fn between(&self, from: &TreeId, to: &TreeId) -> Result<Change, Error> {
        let (from, to) = (self.name(from.as_str())?, self.name(to.as_str())?);
        change::between(&self.repo.program, &self.repo.objects, &from, &to)
    }

    fn merge(&self, base: &TreeId, ours: &TreeId, theirs: &TreeId) -> Result<Merge, Error> {
        let base = self.name(base.as_str())?;
        let (ours, theirs) = (self.name(ours.as_str())?, self.name(theirs.as_str())?);
        merge::merge(&self.repo.program, &self.repo.objects, &base, [&ours, &theirs])
    }

    fn commit(&self, draft: &Draft) -> Result<CommitId, Error> {
        match &draft.author {
            Some(author) => self.commit_by(draft, author),
            None => self.commit_by(draft, &self.person()?),
        }
    }

    fn move_branch(
        &self,
        branch: &str,
        from: Option<&CommitId>,
        to: &CommitId,
    ) -> Result<(), Error> {
        refs::check(branch)?;
        let name = format!("refs/heads/{branch}");
        let (program, objects) = (&self.repo.program, &self.repo.objects);
        if let Some(place) = refs::checked_out(program, objects, &name)? {
            let message = format!(
                "the branch `{branch}` is checked out (`{}`), and what lies there would not follow. \
                 Check out another one first.",
                place.display()
            );
            return Err(Error::new(ErrorKind::Denied, message));
        }
        let from = from.map(|from| self.name(from.as_str())).transpose()?;
        let to = self.name(to.as_str())?;
        if let Some(from) = &from
            && !refs::is_forward(program, objects, from, &to)?
        {
            let message = format!(
                "the branch `{branch}` stands at `{from}`, which this run did not make and would lose. \
                 Give it another name with `git branch -m {branch} NAME`."
            );
            return Err(Error::new(ErrorKind::Denied, message));
        }
        refs::set(program, objects.format(), &name, [from.as_ref(), Some(&to)])
    }

    fn branch(&self, branch: &str) -> Result<Option<CommitId>, Error> {
        refs::check(branch)?;
        let format = self.repo.objects.format();
        let found = refs::find(&self.repo.program, format, &format!("refs/heads/{branch}"))?;
        Ok(found.map(|name| name.to_string().as_str().into()))
    }

    /// A chain of commits, each over the trees of one call: holding more costs the same, however much is held.
    fn hold(&self, run: &RunId, trees: &[TreeId], commits: &[CommitId]) -> Result<(), Error> {
        if trees.is_empty() && commits.is_empty() {
            return Ok(());
        }
        let name = format!("{}/held", held(run.as_str())?);
        let objects = &self.repo.objects;
        let mut message = String::from("Held for a run of sequester\n\n");
        let mut nodes = Vec::new();
        for tree in trees {
            let id = self.name(tree.as_str())?;
            objects.tree(&id)?;
            nodes.push(Node::new(Mode::Folder, tree.as_str().as_bytes(), id));
            let _ = writeln!(message, "{tree}");
        }
        let commits = commits.iter().map(|commit| self.name(commit.as_str()));
        let commits: Vec<Name> = commits.collect::<Result<_, _>>()?;
        nodes.sort_by_key(|node| node.name);
        nodes.dedup();
        let mut writer = Writer::new(objects);
        let tree = writer.add_tree(nodes)?;
        writer.finish()?;
        let (program, format) = (&self.repo.program, objects.format());
        let mut holding = self.holding.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = holding.remove(run.as_str());
        for left in (0..TRIES).rev() {
            let before = match known.take() {
                Some(before) => Some(before),
                None => refs::find(program, format, &name)?,
            };
            let words = Words {
                tree,
                parents: before.into_iter().chain(commits.iter().copied()).collect(),
                author: commit::NOBODY,
                at: Moment(0),
                message: &message,
            };
            let commit = self.name(commit::write(objects, &words)?.as_str())?;
            match refs::set(program, format, &name, [before.as_ref(), Some(&commit)]) {
                Ok(()) => {
                    holding.insert(run.as_str().to_owned(), commit);
                    break;
                }
                Err(error) if error.kind == ErrorKind::Denied && left > 0 => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
