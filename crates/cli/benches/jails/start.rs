//! A jailed `true` beside bubblewrap with the same namespaces, mounts, files and links, by a command line that is made from the blueprint.
//!
//! In the clock of both: everything from the start of the program to its end, in a folder that is empty before. Bubblewrap makes the places
//! of its mounts there and leaves them; they are taken away outside of its clock, while we take ours away in our own. Where we mount an
//! overlay, bubblewrap, which has none, is given one that is made for it with the same calls, and unmade, in its clock; processor
//! time for that is this process's own and not counted. In a second column it is spared that and gets a plain mount. In our clock alone:
//! looking at the machine, control groups, owners that are mapped, Landlock, the filter of calls, and pipes for what is printed.
//!
//! `JAILS_BEFORE=PROGRAM` races an older build of this program too, in folders in memory as well: ext4 passes over every inode that was
//! deleted in the last five seconds when it makes a file, and hundreds of starts leave thousands of them.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs::{self, File};
use std::io::{Seek as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use sequester_core::profile::Confinement;
use sequester_sandbox::{
    Access, Blueprint, Entry, Folder, Kind, Limits, Policy, Surroundings, Workspace, assume,
    compile,
};
use tempfile::TempDir;

use crate::cost::{Cost, milliseconds, race, ratio, run as once};

const ROUNDS: usize = 20;
const BATCH: u32 = 10;

/// Names an older build of the program.
const BEFORE: &str = "JAILS_BEFORE";

/// Says that this is already a mount namespace of its own.
const APART: &str = "JAILS_APART";

/// In a mount namespace of its own, so that no layer is left on the machine.
pub(crate) fn run() {
    if std::env::var_os(APART).is_none() {
        let own = std::env::current_exe().unwrap();
        let mut apart = Command::new("unshare");
        let status = apart.arg("--mount").arg(own).arg("start").env(APART, "1").status().unwrap();
        assert!(status.success(), "this needs root");
        return;
    }
    println!(
        "| start of `true` in a jail | entries | sequester | bubblewrap | wall | processor | without layers | wall | processor |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let profiles = [Confinement::ReadOnly, Confinement::Writer];
    profiles.into_iter().for_each(compare);
    let Some(before) = std::env::var_os(BEFORE) else { return };
    println!("\n| start of `true` in a jail | folder | before | now | wall | processor |");
    println!("|---|---|---|---|---|---|");
    let memory = temporary();
    mount("tmpfs", memory.path(), "tmpfs", MountFlags::empty(), None).unwrap();
    for (name, place) in [("in memory", memory.path()), ("in `/var/tmp`", Path::new("/var/tmp"))] {
        for confinement in profiles {
            compare_with_before(confinement, Path::new(&before), (name, place));
        }
    }
    unmount(memory.path(), UnmountFlags::empty()).unwrap();
}

fn jailed_true(program: &Path, confinement: Confinement, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(["sandbox", "--profile", confinement.as_str(), "--", "true"]);
    command.current_dir(folder);
    command
}

/// Each in a folder of its own that is empty before.
fn compare_with_before(confinement: Confinement, before: &Path, (name, place): (&str, &Path)) {
    let folders = [temporary_in(place), temporary_in(place)];
    let programs = [before, Path::new(env!("CARGO_BIN_EXE_sequester"))];
    let [mut old, mut new] =
        [0, 1].map(|at| jailed_true(programs[at], confinement, folders[at].path()));
    let costs = race(&mut [&mut || once(&mut old), &mut || once(&mut new)], ROUNDS, BATCH);
    let [old, new] = costs[..] else { return };
    println!(
        "| {} | {name} | {} | {} | {} | {} |",
        confinement.as_str(),
        told(old),
        told(new),
        ratio(new.wall, old.wall),
        ratio(new.processor, old.processor),
    );
}

fn told(cost: Cost) -> String {
    format!("{}, {}", milliseconds(cost.wall), milliseconds(cost.processor))
}

fn compare(confinement: Confinement) {
    let folder = temporary();
    let program = Path::new(env!("CARGO_BIN_EXE_sequester"));
    let mut ours = jailed_true(program, confinement, folder.path());
    let [mut other, mut spared] = [Layers::Made, Layers::Plain].map(Rival::new(confinement));
    let costs = race(
        &mut [&mut || once(&mut ours), &mut || other.run(), &mut || spared.run()],
        ROUNDS,
        BATCH,
    );
    let [ours, other_cost, spared_cost] = costs[..] else { return };
    let beside = |floor: Cost| {
        let (wall, processor) =
            (ratio(ours.wall, floor.wall), ratio(ours.processor, floor.processor));
        format!("{} | {wall} | {processor}", told(floor))
    };
    println!(
        "| {} | {} | {} | {} | {} |",
        confinement.as_str(),
        other.entries,
        told(ours),
        beside(other_cost),
        beside(spared_cost),
    );
}

fn temporary() -> TempDir {
    temporary_in(Path::new("/var/tmp"))
}

fn temporary_in(place: &Path) -> TempDir {
    tempfile::Builder::new().prefix("start-").tempdir_in(place).unwrap()
}

/// What bubblewrap gets where we mount an overlay.
#[derive(Clone, Copy, PartialEq)]
enum Layers {
    Made,
    Plain,
}

/// Bubblewrap in a folder of its own.
struct Rival {
    folder: TempDir,
    command: Command,
    /// It reads them to their end each time.
    texts: Vec<File>,
    overlays: Vec<Overlay>,
    entries: usize,
    /// Where layers are made, and what is mounted where nothing may be seen.
    _beside: TempDir,
}

impl Rival {
    fn new(confinement: Confinement) -> impl Fn(Layers) -> Self {
        move |layers| {
            let (folder, beside) = (temporary(), temporary());
            let blueprint = blueprint(confinement, folder.path());
            let mut builder = Builder {
                command: Command::new("bwrap"),
                texts: Vec::new(),
                overlays: Vec::new(),
                layers,
                beside: beside.path().to_owned(),
                tops: BTreeMap::new(),
            };
            builder.fill(&blueprint);
            let Builder { command, texts, overlays, .. } = builder;
            let entries = blueprint.root.len();
            Self { folder, command, texts, overlays, entries, _beside: beside }
        }
    }

    fn run(&mut self) -> Duration {
        let begun = Instant::now();
        self.overlays.iter().for_each(Overlay::make);
        once(&mut self.command);
        self.overlays.iter().for_each(Overlay::unmake);
        let wall = begun.elapsed();
        for text in &mut self.texts {
            text.rewind().unwrap();
        }
        for entry in fs::read_dir(self.folder.path()).unwrap().flatten() {
            let path = entry.path();
            let removed =
                if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
            removed.unwrap();
        }
        wall
    }
}

/// Mounted over the folder that holds its own two.
struct Overlay {
    at: PathBuf,
    /// What is made for it, in turn.
    folders: Vec<PathBuf>,
    options: CString,
}

impl Overlay {
    fn new(lower: &Path, at: PathBuf) -> Self {
        let (lower, store) = (lower.display(), at.display());
        let options = format!(
            "lowerdir={lower},upperdir={store}/upper,workdir={store}/work,userxattr,volatile"
        );
        let folders = vec![at.clone(), at.join("upper"), at.join("work")];
        Self { at, folders, options: CString::new(options).unwrap() }
    }

    fn mirror(lower: &Path, floor: &Path, at: PathBuf) -> Self {
        let options = format!("lowerdir={}:{}", lower.display(), floor.display());
        Self { folders: vec![at.clone()], at, options: CString::new(options).unwrap() }
    }

    fn make(&self) {
        self.folders.iter().for_each(|folder| fs::create_dir(folder).unwrap());
        mount("overlay", &self.at, "overlay", MountFlags::empty(), self.options.as_c_str())
            .unwrap();
    }

    fn unmake(&self) {
        unmount(&self.at, UnmountFlags::empty()).unwrap();
        fs::remove_dir_all(&self.at).unwrap();
    }
}

pub(crate) fn blueprint(confinement: Confinement, folder: &Path) -> Blueprint {
    let environment: BTreeMap<String, String> = std::env::vars().collect();
    let policy = Policy {
        confinement,
        hosts: Vec::new(),
        workspace: Workspace::Folder(Folder::look(folder).unwrap()),
        limits: Limits::default(),
        grants: sequester_core::protected::Grants::default(),
        store: folder.join("never-made"),
    };
    compile(&policy, &Surroundings::look(&environment), &assume()).unwrap().blueprint
}

struct Builder {
    command: Command,
    texts: Vec<File>,
    overlays: Vec<Overlay>,
    layers: Layers,
    beside: PathBuf,
    tops: BTreeMap<PathBuf, PathBuf>,
}

impl Builder {
    fn fill(&mut self, blueprint: &Blueprint) {
        fs::create_dir(self.beside.join("folder")).unwrap();
        File::create(self.beside.join("file")).unwrap();
        self.command.args(["--unshare-all", "--die-with-parent", "--new-session", "--clearenv"]);
        self.command.args(["--uid", "1000", "--gid", "1000", "--hostname", "jail"]);
        for (name, value) in &blueprint.environment {
            self.command.args(["--setenv", name, value]);
        }
        blueprint.root.iter().for_each(|entry| self.add(entry));
        self.command.arg("--chdir").arg(&blueprint.folder).arg("true");
    }

    fn add(&mut self, entry: &Entry) {
        let at = entry.at();
        match entry {
            Entry::Folder { .. } => self.command.arg("--dir").arg(at),
            Entry::Text { content, .. } => {
                let text = self.text(content);
                self.command.arg("--file").arg(text).arg(at)
            }
            Entry::Cover { content, .. } => {
                let text = self.text(content);
                self.command.arg("--ro-bind-data").arg(text).arg(at)
            }
            Entry::Link { to, .. } => self.command.arg("--symlink").arg(to).arg(at),
            Entry::Bind { from, access: Access::Read, .. } => self.bind("--ro-bind", from, at),
            Entry::Bind { from, .. } => self.bind("--bind", from, at),
            Entry::Layered { lower, .. } if self.layers == Layers::Made => {
                let store = self.beside.join(format!("layer-{}", self.overlays.len()));
                self.overlays.push(Overlay::new(&lower[0], store.clone()));
                self.bind("--bind", &store, at)
            }
            Entry::Layered { lower, .. } => self.bind("--ro-bind", &lower[0], at),
            Entry::Mirror { from, .. } if self.layers == Layers::Made => {
                let store = self.beside.join(format!("layer-{}", self.overlays.len()));
                let floor = self.beside.join("folder");
                self.overlays.push(Overlay::mirror(from, &floor, store.clone()));
                self.bind("--ro-bind", &store, at)
            }
            Entry::Shown { from, top, .. } if self.layers == Layers::Made => {
                let store = self.shared(top);
                let from = from.strip_prefix(top).map_or(store.clone(), |rest| store.join(rest));
                self.bind("--ro-bind", &from, at)
            }
            Entry::Mirror { from, .. } | Entry::Shown { from, .. } => {
                self.bind("--ro-bind", from, at)
            }
            Entry::Scratch { .. } => self.command.arg("--tmpfs").arg(at),
            Entry::Processes => self.command.arg("--proc").arg(at),
            Entry::Devices => self.command.arg("--dev").arg(at),
            Entry::Hidden { at } if at.is_dir() => self.hide(at, Kind::Folder),
            Entry::Hidden { at } => self.hide(at, Kind::File),
            Entry::Shut { at, .. } if at.exists() => self.bind("--ro-bind", at, at),
            Entry::Shut { at, kind } => self.hide(at, *kind),
        };
    }

    /// The layer that all places on a file system share.
    fn shared(&mut self, top: &Path) -> PathBuf {
        if let Some(store) = self.tops.get(top) {
            return store.clone();
        }
        let store = self.beside.join(format!("layer-{}", self.overlays.len()));
        self.overlays.push(Overlay::mirror(top, &self.beside.join("folder"), store.clone()));
        self.tops.insert(top.to_owned(), store.clone());
        store
    }

    fn bind(&mut self, how: &str, from: &Path, at: &Path) -> &mut Command {
        self.command.arg(how).arg(from).arg(at)
    }

    fn hide(&mut self, at: &Path, kind: Kind) -> &mut Command {
        let empty = self.beside.join(if kind == Kind::Folder { "folder" } else { "file" });
        self.bind("--ro-bind", &empty, at)
    }

    /// The number of a descriptor that it inherits.
    fn text(&mut self, content: &str) -> String {
        let mut text = tempfile::tempfile().unwrap();
        text.write_all(content.as_bytes()).unwrap();
        text.rewind().unwrap();
        fcntl_setfd(&text, FdFlags::empty()).unwrap();
        let number = text.as_raw_fd().to_string();
        self.texts.push(text);
        number
    }
}
