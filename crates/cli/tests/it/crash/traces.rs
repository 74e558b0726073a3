//! What a run may leave behind, looked for on the whole machine.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::command::Bench;
use crate::waves::git;

pub(super) struct Traces<'a> {
    pub(super) bench: &'a Bench,
    /// Those of jails that were there when a controller was killed.
    pub(super) supervisors: &'a BTreeSet<u32>,
}

/// Jails of the dead end by themselves; so long they may take.
const GRACE: Duration = Duration::from_secs(20);

impl Traces<'_> {
    /// Whatever is there that was not there before, but for the store and the branch.
    pub(super) fn found(&self, before: &[(PathBuf, Vec<u8>)]) -> Vec<String> {
        let start = Instant::now();
        let mut found = self.look();
        while !found.is_empty() && start.elapsed() < GRACE {
            thread::sleep(Duration::from_millis(50));
            found = self.look();
        }
        if own_files(self.bench) != before {
            found.push("the user's tree is another one".to_owned());
        }
        let status = git(self.bench, &["status", "--porcelain"]);
        if !status.is_empty() {
            found.push(format!("git sees {status}"));
        }
        found
    }

    fn look(&self) -> Vec<String> {
        let mut found = self.processes();
        let state = self.bench.path("home/.local/state/sequester");
        for folder in
            [state.join("workspaces/attempts"), state.join("jails"), self.bench.path("tmp")]
        {
            found.extend(entries(&folder).map(|path| path.display().to_string()));
        }
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let own = self.bench.path("").display().to_string();
        found.extend(mounts.lines().filter(|line| line.contains(&own)).map(str::to_owned));
        found.extend(self.groups());
        let is_draft = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            path.extension().is_some_and(|end| end == "lock") || name.starts_with("tmp_")
        };
        let drafts = below(&self.bench.repo().join(".git")).into_iter().filter(is_draft);
        found.extend(drafts.map(|path| path.display().to_string()));
        found
    }

    /// Any that knows the folder: by its variables, by where it stands or by what is mounted for it.
    fn processes(&self) -> Vec<String> {
        let own = self.bench.path("").display().to_string();
        let knows = |process: &PathBuf| {
            let told = ["environ", "mountinfo", "cmdline"];
            let read = |name: &&str| fs::read(process.join(name)).unwrap_or_default();
            let place = fs::read_link(process.join("cwd")).unwrap_or_default();
            place.starts_with(&own)
                || told.iter().any(|name| String::from_utf8_lossy(&read(name)).contains(&own))
        };
        let known = processes().filter(knows);
        known.map(|process| format!("{} {}", process.display(), command(&process))).collect()
    }

    fn groups(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut open = vec![PathBuf::from("/sys/fs/cgroup")];
        while let Some(group) = open.pop() {
            for folder in entries(&group).filter(|path| path.is_dir()) {
                let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let number = name.strip_prefix("sequester-").and_then(|rest| rest.parse().ok());
                if number.is_some_and(|number: u32| self.supervisors.contains(&number)) {
                    found.push(folder.display().to_string());
                }
                open.push(folder);
            }
        }
        found
    }
}

/// The person's own files: all but git's and ours.
pub(super) fn own_files(bench: &Bench) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = bench.listing();
    let other = [".git", ".sequester"].map(|name| bench.repo().join(name));
    files.retain(|(path, _)| !other.iter().any(|folder| path.starts_with(folder)));
    files
}

/// Processes that a controller started, near and far, which hold jails.
pub(super) fn supervisors_of(controller: u32) -> BTreeSet<u32> {
    let mut children: BTreeMap<u32, Vec<(u32, PathBuf)>> = BTreeMap::new();
    for process in processes() {
        let stat = fs::read_to_string(process.join("stat")).unwrap_or_default();
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1));
        let number = process.file_name().and_then(|name| name.to_str()?.parse().ok());
        if let Some((parent, number)) = parent.and_then(|one| one.parse().ok()).zip(number) {
            children.entry(parent).or_default().push((number, process));
        }
    }
    let (mut found, mut open) = (BTreeSet::new(), vec![controller]);
    while let Some(one) = open.pop() {
        for (number, process) in children.remove(&one).unwrap_or_default() {
            open.push(number);
            if command(&process).starts_with("sequester-jail") {
                found.insert(number);
            }
        }
    }
    found
}

fn processes() -> impl Iterator<Item = PathBuf> {
    let is_number = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().parse::<u32>().is_ok())
    };
    entries(Path::new("/proc")).filter(is_number)
}

fn command(process: &Path) -> String {
    let line = fs::read(process.join("cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&line).replace('\0', " ")
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(entry.path());
            } else {
                found.push(entry.path());
            }
        }
    }
    found
}
