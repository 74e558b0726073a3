//! A workspace over a repository of 50,000 files, from HEAD to a jail that answers, step by step; `git status` there beside it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

use sequester_core::profile::Confinement;
use sequester_git::Repo;
use sequester_sandbox::workspace::{State, ignored};
use sequester_sandbox::{
    Jail, Layers, Limits, Policy, Surroundings, Workspace, assume, compile, identity,
};

use crate::cost::{milliseconds, race, run as once};

const FOLDERS: usize = 1_000;
const FILES: usize = 50;
const HISTORY: usize = 2_000;
const ROUNDS: usize = 15;

pub(crate) fn run() {
    println!(
        "| a workspace of 50,000 files | written first | list HEAD | name it | compare times | layers | jail | in all | `git status` |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for history in [1, HISTORY] {
        let folder = tempfile::Builder::new().prefix("files-").tempdir_in("/var/tmp").unwrap();
        let (repo, state) = (folder.path().join("repo"), folder.path().join("state"));
        make(&repo, history);
        let first = Instant::now();
        attempt(&repo, &state, 0);
        let first = first.elapsed();
        let rounds: Vec<[Duration; 5]> =
            (1..=ROUNDS).map(|number| attempt(&repo, &state, number)).collect();
        let mut all: Vec<Duration> = rounds.iter().map(|steps| steps.iter().sum()).collect();
        all.sort();
        let step = |at: usize| {
            let mut times: Vec<Duration> = rounds.iter().map(|steps| steps[at]).collect();
            times.sort();
            milliseconds(times[ROUNDS / 2])
        };
        let mut status = Command::new("git");
        status.args(["status", "--porcelain"]).current_dir(&repo);
        let floor = race(&mut [&mut || once(&mut status)], ROUNDS, 1)[0];
        println!(
            "| {history} commits | {} | {} | {} | {} | {} | {} | {} | {} |",
            milliseconds(first),
            step(0),
            step(1),
            step(2),
            step(3),
            step(4),
            milliseconds(all[ROUNDS / 2]),
            milliseconds(floor.wall),
        );
    }
}

/// As `task` does it for each attempt.
fn attempt(repo: &Path, state: &Path, number: usize) -> [Duration; 5] {
    let mut steps = [Duration::ZERO; 5];
    let mut last = Instant::now();
    let mut step = |at: usize| {
        steps[at] = last.elapsed();
        last = Instant::now();
    };
    let search = std::env::var_os("PATH").unwrap();
    let tree = Repo::discover(repo, &search).unwrap().unwrap().base().unwrap();
    step(0);
    let export = tree.without(|_| false);
    let name = export.digest();
    let state = State::open(state).unwrap();
    let attempt = state.begin(&format!("attempt-{number}")).unwrap();
    let now = SystemTime::now();
    let held = state.base(&name).unwrap().unwrap_or_else(|| {
        let draft = attempt.make("base").unwrap();
        export.write(&draft, now).unwrap();
        state.keep(&draft, &name).unwrap()
    });
    step(1);
    assert_eq!(export.touched(held.folder(), now).unwrap(), []);
    step(2);
    let environment: BTreeMap<String, String> = std::env::vars().collect();
    let surroundings = Surroundings::look(&environment);
    let who = identity(&surroundings);
    let owner = Some(who.outside).filter(|outside| *outside != who.owner);
    let base = held.folder().join("tree");
    let found = ignored::find(repo, &base).unwrap();
    ignored::secrets(repo, &found.folders, &std::collections::BTreeSet::new()).unwrap();
    let layers = Layers {
        at: repo.canonicalize().unwrap(),
        lower: vec![base],
        store: attempt.layer("tree", owner).unwrap().store().to_owned(),
        git: Some(held.folder().join("git")),
        protected: Vec::new(),
        caches: Vec::new(),
        hidden: Vec::new(),
    };
    let policy = Policy {
        confinement: Confinement::Writer,
        hosts: Vec::new(),
        workspace: Workspace::Layers(layers),
        limits: Limits::default(),
        grants: sequester_core::protected::Grants::default(),
        store: attempt.folder().join("store"),
    };
    step(3);
    let blueprint = compile(&policy, &surroundings, &assume()).unwrap().blueprint;
    let jail = Jail::serve(&blueprint).unwrap();
    step(4);
    drop(jail);
    steps
}

fn make(repo: &Path, history: usize) {
    for folder in 0..FOLDERS {
        let path = repo.join(format!("src/part{}/module{folder}", folder % 20));
        fs::create_dir_all(&path).unwrap();
        for file in 0..FILES {
            let mut text = String::new();
            for line in 0..20 {
                let _ = writeln!(text, "pub fn f{line}() -> u32 {{ {} }}", folder * file + line);
            }
            fs::write(path.join(format!("file{file}.rs")), text).unwrap();
        }
    }
    let git = |arguments: &[&str]| {
        let who =
            ["-c", "user.name=Bench", "-c", "user.email=bench@example.org", "-c", "gc.auto=0"];
        once(Command::new("git").args(who).args(arguments).current_dir(repo));
    };
    git(&["init", "--quiet"]);
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "--message", "all"]);
    // As fast as history can be made: one stream instead of one process each.
    if history > 1 {
        let mut stream = String::from("feature done\n");
        for number in 1..history {
            let _ = write!(
                stream,
                "commit refs/heads/long\nmark :{number}\ncommitter Bench <bench@example.org> {number} +0000\ndata 1\nx{}\nM 100644 inline src/history\ndata <<END\n{number}\nEND\n",
                if number == 1 { "\nfrom HEAD^0" } else { "" }
            );
        }
        stream += "done\n";
        let path = repo.with_file_name("stream");
        fs::write(&path, stream).unwrap();
        let mut import = Command::new("git");
        import.args(["fast-import", "--quiet"]).current_dir(repo);
        let mut child = import.stdin(fs::File::open(path).unwrap()).spawn().unwrap();
        assert!(child.wait().unwrap().success());
        git(&["checkout", "--quiet", "long"]);
        git(&["gc", "--quiet"]);
    }
}
