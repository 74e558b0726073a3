//! Where one attempt works: layers of its own over a base that all attempts share.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use sequester_core::change::{Change, Mode};
use sequester_core::path::RepoPath;
use sequester_core::protected::{self, Grants, ProtectedName};
use sequester_core::repository::{self, Entry, EntryKind, Filtered, Snapshot, Stamp};
use sequester_git::{Export, RunPath, Touched, Tree};
use sequester_sandbox::harvest::{self, Look, Rules};
use sequester_sandbox::workspace::{Attempt, Base as Held, State, ignored, linked};
use sequester_sandbox::{Ids, Layer, Layers, identity};

use super::jail::Machine;

/// What workspaces are made over.
#[derive(Clone)]
pub(crate) struct Ground {
    /// Where the repository lies, and each workspace stands inside.
    pub(crate) root: PathBuf,
    pub(crate) tree: Arc<Tree>,
    /// Whether there is a repository to be seen inside: only where the person has one.
    pub(crate) has_git: bool,
    /// Files of the plan. They are not there, wherever they lie.
    pub(crate) plan: Arc<BTreeSet<RepoPath>>,
    /// The plan under any other name: blobs of every version of it.
    pub(crate) plan_blobs: Arc<BTreeSet<String>>,
    /// What the person's git takes hooks, configuration or programs from.
    pub(crate) run_paths: Vec<RunPath>,
}

impl Ground {
    /// Whether an entry is the plan, or a copy of it that the task does not name.
    fn hides(&self, entry: &Entry, named: &BTreeSet<RepoPath>) -> bool {
        let is_copy =
            || matches!(&entry.stamp, Stamp::Content(name) if self.plan_blobs.contains(name));
        let is_long = || {
            self.tree
                .read(&entry.path, SHORT_BYTES)
                .map_or(true, |text| text.len() as u64 >= SHORT_BYTES)
        };
        self.plan.contains(&entry.path) || is_copy() && !named.contains(&entry.path) && is_long()
    }

    /// The rules of an attempt over it, for a change that is made elsewhere.
    pub(crate) fn rules(
        &self,
        machine: &Machine,
        named: &BTreeSet<RepoPath>,
        grants: &Grants,
    ) -> io::Result<Rules> {
        let visible = &Filtered::visible(self.tree.as_ref(), |entry| self.hides(entry, named));
        let attempt = State::open(&machine.workspaces())?.begin(&name())?;
        // The rules ask the files for nothing but links.
        let is_other = |entry: &Entry| {
            let shown = repository::find(visible, entry.path.as_str());
            shown.is_none_or(|entry| entry.kind != EntryKind::Symlink)
        };
        let tree = attempt.make("base")?.join("tree");
        let links = self.tree.without(is_other);
        links.write_files(&tree, SystemTime::now()).map_err(io::Error::other)?;
        let rules = rules(&withheld(self, visible), visible, &tree, grants, &self.run_paths)?;
        Ok(Rules { exclude: LITTER.to_owned(), ..rules })
    }
}

/// A shorter file is anything: a plan of a line is found in many.
const SHORT_BYTES: u64 = 200;

/// Gone when this is dropped.
pub(crate) struct Workspace {
    pub(crate) layers: Layers,
    pub(crate) rules: Rules,
    /// What a person should know about it.
    pub(crate) notes: Vec<String>,
    look: Mutex<Look>,
    _attempt: Attempt,
    /// No sweep takes it away while somebody works over it.
    _base: Option<Held>,
}

/// Bases that are kept for the next start though nobody works over them.
const KEPT: usize = 4;

/// Takes away what attempts left that were killed and still ending when others looked.
pub(crate) fn sweep() {
    let swept = State::open(&Machine::look().workspaces()).and_then(|state| state.sweep(KEPT));
    // The next start looks again.
    drop(swept);
}

impl Workspace {
    /// Over what may be seen of the base, with the `change` on it. Folders of the files that are `named` can be renamed in it.
    pub(crate) fn make(
        ground: &Ground,
        machine: &Machine,
        named: &BTreeSet<RepoPath>,
        grants: &Grants,
        change: Option<&Change>,
    ) -> io::Result<Self> {
        let visible = &Filtered::visible(ground.tree.as_ref(), |entry| ground.hides(entry, named));
        let state = State::open(&machine.workspaces())?;
        let mut notes = state.sweep(KEPT)?.problems;
        let attempt = state.begin(&name())?;
        let written = Written::take(ground, visible, &state, &attempt)?;
        let (root, tree) = (&ground.root, written.tree.as_path());
        let owner = owner(machine);
        let layer = attempt.layer("tree", owner)?;
        let times: Vec<_> =
            written.touched.into_iter().map(|one| (one.path, one.modified)).collect();
        for folder in layer.copy_up(tree, &folders(named))? {
            notes.push(format!("`{folder}` is too large to be renamed inside; it can be copied."));
        }
        // Afterwards: what is touched makes folders that could not be copied any more.
        layer.touch(tree, &times)?;
        let found = ignored::find(root, tree)?;
        let mut caches = Vec::new();
        for (number, folder) in found.folders.iter().enumerate() {
            layer.make_place(tree, folder)?;
            caches.push(cache(&attempt, root, folder, number, owner)?);
        }
        for file in &found.unread {
            notes.push(format!(
                "`{file}` does not count: there are too many rules of what to ignore."
            ));
        }
        for folder in &found.left_out {
            notes
                .push(format!("`{folder}` is not shown inside: there are too many build folders."));
        }
        let withheld = withheld(ground, visible);
        let hidden = ignored::secrets(root, &found.folders, &withheld)?;
        if hidden.is_none() {
            caches.clear();
            notes.push(UNSEARCHED.to_owned());
        }
        let hidden =
            hidden.unwrap_or_default().iter().map(|path| root.join(path.as_str())).collect();
        let layers = Layers {
            at: root.clone(),
            lower: vec![written.tree.clone()],
            store: layer.store().to_owned(),
            git: written.git,
            protected: protected_in(visible, &ground.run_paths),
            caches,
            hidden,
        };
        let rules = Rules {
            exclude: format!("{LITTER}{}", found.exclude),
            ..rules(&withheld, visible, tree, grants, &ground.run_paths)?
        };
        if let Some(change) = change {
            layer.restore(tree, change)?;
        }
        let mut look = Look::new(layer.store(), tree, &rules);
        look.prepare(SystemTime::now())?;
        let look = Mutex::new(look);
        Ok(Self { layers, rules, notes, look, _attempt: attempt, _base: Some(written.held) })
    }

    /// Over nothing: to see whether there can be one at all.
    pub(crate) fn empty(root: &Path, machine: &Machine) -> io::Result<Self> {
        let state = State::open(&machine.workspaces())?;
        let attempt = state.begin(&name())?;
        let tree = attempt.make("base")?;
        let layer = attempt.layer("tree", owner(machine))?;
        let rules = Rules::default();
        let look = Mutex::new(Look::new(layer.store(), &tree, &rules));
        let layers = Layers {
            at: root.to_owned(),
            lower: vec![tree],
            store: layer.store().to_owned(),
            git: None,
            protected: Vec::new(),
            caches: Vec::new(),
            hidden: Vec::new(),
        };
        Ok(Self { layers, rules, notes: Vec::new(), look, _attempt: attempt, _base: None })
    }

    /// The change so far, while somebody may work in it; nothing if it is what this said last.
    pub(crate) fn look(&self) -> io::Result<Option<Change>> {
        self.look.lock().unwrap_or_else(PoisonError::into_inner).take(SystemTime::now())
    }
}

/// Who the jailed program is for the machine, where that is somebody else.
fn owner(machine: &Machine) -> Option<Ids> {
    let who = identity(&machine.surroundings);
    Some(who.outside).filter(|outside| *outside != who.owner)
}

/// A base with more files whose times are not right is written anew: else every attempt would have copies of them all.
const TOUCHED: usize = 2_000;

/// What programs leave beside the work of any task, where the repository says nothing of it; its own rules come after these.
const LITTER: &str =
    "__pycache__/\n*.pyc\n.pytest_cache/\n.mypy_cache/\n.ruff_cache/\nnode_modules/\n.DS_Store\n";

const UNSEARCHED: &str = "The build folders are not shown inside: they hold too many files to look for secrets among them.";

/// The base as files.
struct Written {
    tree: PathBuf,
    git: Option<PathBuf>,
    touched: Vec<Touched>,
    held: Held,
}

impl Written {
    /// A tree is written once and found again.
    fn take(
        ground: &Ground,
        visible: &dyn Snapshot,
        state: &State,
        attempt: &Attempt,
    ) -> io::Result<Self> {
        let hidden = |entry: &Entry| repository::find(visible, entry.path.as_str()).is_none();
        let now = SystemTime::now();
        let export = ground.tree.without(hidden);
        let name = export.digest();
        // Another checkout's files have other times, and each that differs is touched in each attempt.
        let root = blake3::hash(ground.root.as_os_str().as_encoded_bytes()).to_hex();
        let name = format!("{name}-{}", &root[..16]);
        let written = Self::shared(&export, &name, state, attempt, now)?;
        let git = written.git.filter(|_| ground.has_git);
        Ok(Self { git, ..written })
    }

    fn shared(
        export: &Export<'_>,
        name: &str,
        state: &State,
        attempt: &Attempt,
        now: SystemTime,
    ) -> io::Result<Self> {
        if let Some(held) = state.base(name)? {
            match export.touched(held.folder(), now) {
                Ok(touched) if touched.len() <= TOUCHED => {
                    return Ok(Self { touched, ..Self::over(held) });
                }
                _ => state.set_aside(&held, &self::name())?,
            }
        }
        let draft = attempt.make("base")?;
        export.write(&draft, now).map_err(io::Error::other)?;
        state.keep(&draft, name).map(Self::over)
    }

    fn over(held: Held) -> Self {
        let (tree, git) = (held.folder().join("tree"), Some(held.folder().join("git")));
        Self { tree, git, touched: Vec::new(), held }
    }
}

/// A name that no other attempt has, of this process or another, in this container or another.
fn name() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{}-{}-{count}", since.as_nanos(), std::process::id())
}

fn cache(
    attempt: &Attempt,
    root: &Path,
    folder: &RepoPath,
    number: usize,
    owner: Option<Ids>,
) -> io::Result<Layer> {
    let (at, name) = (root.join(folder.as_str()), format!("cache-{number}"));
    let store = attempt.layer(&name, owner)?.store().to_owned();
    Ok(Layer { lower: at.clone(), at, store })
}

/// The folders that named files lie in.
fn folders(named: &BTreeSet<RepoPath>) -> Vec<RepoPath> {
    let above =
        |path: &RepoPath| path.as_str().rsplit_once('/').map(|(folder, _)| folder.to_owned());
    let above = named.iter().filter_map(above).filter_map(|folder| RepoPath::parse(&folder).ok());
    named.iter().cloned().chain(above).collect()
}

/// Whether a path is one of the entries or a folder above one.
fn shows(visible: &dyn Snapshot, path: &str) -> bool {
    let entries = visible.entries();
    let inside = format!("{path}/");
    let at = entries.partition_point(|entry| entry.path.as_str() < inside.as_str());
    let below = entries.get(at).is_some_and(|entry| entry.path.as_str().starts_with(&inside));
    below || repository::find(visible, path).is_some()
}

fn protected_in(visible: &dyn Snapshot, run_paths: &[RunPath]) -> Vec<PathBuf> {
    let run = run_paths.iter().map(|run| run.path.clone());
    let names = protected::names().map(str::to_owned).chain(run);
    names.filter(|name| shows(visible, name)).map(PathBuf::from).collect()
}

/// What of the base is not shown, and the plan.
fn withheld(ground: &Ground, visible: &dyn Snapshot) -> BTreeSet<RepoPath> {
    let all = ground.tree.entries().iter().map(|entry| &entry.path);
    let hidden = all.filter(|path| repository::find(visible, path.as_str()).is_none());
    hidden.chain(ground.plan.iter()).cloned().collect()
}

/// For what was written to `tree`: its links are looked at.
fn rules(
    withheld: &BTreeSet<RepoPath>,
    visible: &dyn Snapshot,
    tree: &Path,
    grants: &Grants,
    run_paths: &[RunPath],
) -> io::Result<Rules> {
    let mut protected = linked_protection(visible, tree, grants)?;
    let run = run_paths.iter().filter(|run| !grants.reach(&run.path));
    protected.extend(run.map(|run| (run.path.clone(), run.reason.clone())));
    Ok(Rules {
        protected,
        withheld: withheld.iter().map(ToString::to_string).collect(),
        repositories: repositories(visible),
        grants: grants.clone(),
        ..Rules::default()
    })
}

/// Folders that git may take for repositories. The one around all has a git folder of its own, which comes first.
fn repositories(visible: &dyn Snapshot) -> Vec<String> {
    let is_head = |entry: &&Entry| {
        let path = entry.path.as_str();
        // Most are told by their name, as a link is.
        harvest::is_head(path, Mode::Link, b"")
            && (entry.kind == EntryKind::Symlink
                || visible
                    .read(&entry.path, HEAD_BYTES)
                    .map_or(true, |content| harvest::is_head(path, Mode::File, &content)))
    };
    let heads = visible.entries().iter().filter(is_head);
    heads.filter_map(|entry| Some(entry.path.as_str().rsplit_once('/')?.0.to_owned())).collect()
}

/// A larger one is taken for one of git's, which reads no more than its beginning.
const HEAD_BYTES: u64 = 64 << 10;

/// What protected names stand for where the base has links in their places: what lies there counts as they do.
fn linked_protection(
    visible: &dyn Snapshot,
    tree: &Path,
    grants: &Grants,
) -> io::Result<BTreeMap<String, String>> {
    let shut = protected::NAMES.iter().filter(|known| !grants.open(known.name));
    let (paths, names): (Vec<&ProtectedName>, Vec<&ProtectedName>) =
        shut.partition(|known| known.is_at_path);
    let is_named = |path: &str| {
        let last = path.rsplit('/').next().unwrap_or_default();
        protected::covering(last).is_some_and(|name| names.iter().any(|known| known.name == name))
    };
    let links = visible.entries().iter().filter(|entry| entry.kind == EntryKind::Symlink);
    let links = links.map(|entry| entry.path.as_str()).filter(|path| is_named(path));
    let mut found = BTreeMap::new();
    for link in paths.into_iter().map(|known| known.name).chain(links) {
        let reason = format!("the link at `{link}` leads to it");
        found.extend(linked::follow(tree, link)?.into_iter().map(|path| (path, reason.clone())));
    }
    Ok(found)
}
