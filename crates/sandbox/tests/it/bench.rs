//! A workspace of its own, the jail around it, and what serves there.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;

use sequester_core::profile::Confinement;
use sequester_core::protected::Grants;
use sequester_sandbox::workspace::{Attempt, Layer, State};
use sequester_sandbox::{
    Blueprint, Jail, Layers, Limits, Policy, Surroundings, Workspace, assume, compile,
    compile_harvest, identity,
};
use tempfile::TempDir;

/// In the jail: each line is a command for the shell, and its output, on one line, the answer.
pub(crate) fn serve(stream: UnixStream) {
    let mut answers = stream.try_clone().unwrap();
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        let output = Command::new("/bin/sh").args(["-c", &line]).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text).trim().replace('\n', "|");
        if writeln!(answers, "{text}").is_err() {
            return;
        }
    }
}

/// A line to a process, and what it answers.
pub(crate) struct Talk(BufReader<UnixStream>);

impl Talk {
    pub(crate) fn new(stream: UnixStream) -> Self {
        Self(BufReader::new(stream))
    }

    pub(crate) fn ask(&mut self, line: &str) -> String {
        writeln!(self.0.get_mut(), "{line}").unwrap();
        self.hear()
    }

    /// The next line; empty at the end.
    pub(crate) fn hear(&mut self) -> String {
        let mut answer = String::new();
        self.0.read_line(&mut answer).unwrap();
        answer.trim_end().to_owned()
    }
}

pub(crate) struct Bench {
    _folder: TempDir,
    _attempt: Attempt,
    layer: Layer,
    surroundings: Surroundings,
    pub(crate) policy: Policy,
}

impl Bench {
    /// A writer over a base of two files.
    pub(crate) fn new() -> Self {
        Self::over(|base| {
            fs::write(base.join("a.txt"), "a\n").unwrap();
            fs::write(base.join("b.txt"), "b\n").unwrap();
        })
    }

    /// A writer over what `fill` puts into the base.
    pub(crate) fn over(fill: impl FnOnce(&Path)) -> Self {
        let folder = tempfile::Builder::new().prefix("jail-").tempdir_in("/var/tmp").unwrap();
        let base = folder.path().join("base");
        fs::create_dir_all(base.join(".git")).unwrap();
        fill(&base);
        let path = "/usr/local/bin:/usr/bin:/bin".to_owned();
        let environment: BTreeMap<_, _> = [("PATH".to_owned(), path)].into();
        let surroundings = Surroundings::look(&environment);
        let who = identity(&surroundings);
        let owner = Some(who.outside).filter(|outside| *outside != who.owner);
        let state = State::open(&folder.path().join("state")).unwrap();
        let attempt = state.begin("one").unwrap();
        let layer = attempt.layer("tree", owner).unwrap();
        let layers = Layers {
            at: folder.path().join("work"),
            lower: vec![base],
            store: layer.store().to_owned(),
            git: None,
            protected: Vec::new(),
            caches: Vec::new(),
            hidden: Vec::new(),
        };
        let policy = Policy {
            confinement: Confinement::Writer,
            hosts: Vec::new(),
            workspace: Workspace::Layers(layers),
            limits: Limits::default(),
            grants: Grants::default(),
            store: folder.path().join("store"),
        };
        Self { _folder: folder, _attempt: attempt, layer, surroundings, policy }
    }

    fn layers(&self) -> &Layers {
        match &self.policy.workspace {
            Workspace::Layers(layers) => layers,
            _ => panic!("no layers"),
        }
    }

    pub(crate) fn layer(&self) -> &Layer {
        &self.layer
    }

    pub(crate) fn base(&self) -> &Path {
        &self.layers().lower[0]
    }

    /// Where the workspace stands inside.
    pub(crate) fn at(&self) -> PathBuf {
        self.layers().at.clone()
    }

    pub(crate) fn start(&self) -> (Jail, Talk) {
        let compiled = compile(&self.policy, &self.surroundings, &assume()).unwrap();
        let (jail, stream) = Jail::serve(&compiled.blueprint).unwrap();
        let mut talk = Talk::new(stream);
        talk.ask(&format!("test -d {}", self.at().display()));
        (jail, talk)
    }

    pub(crate) fn harvest(&self) -> Blueprint {
        compile_harvest(&self.policy, &self.surroundings, &assume()).unwrap()
    }
}
