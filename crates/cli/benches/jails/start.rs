//! A jailed `true` beside bubblewrap with the same namespaces, mounts and links, by a command line that is made from the blueprint.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use sequester_core::profile::Confinement;
use sequester_sandbox::{
    Access, Blueprint, Entry, Folder, Limits, Policy, Surroundings, Workspace, assume, compile,
};
use tempfile::TempDir;

use crate::cost::{milliseconds, race, ratio};

const ROUNDS: usize = 20;
const BATCH: u32 = 10;

pub(crate) fn run() {
    println!("| start of `true` in a jail | mounts | bubblewrap | sequester | wall | processor |");
    println!("|---|---|---|---|---|---|");
    for confinement in [Confinement::ReadOnly, Confinement::Writer] {
        // One for each: bubblewrap leaves the places of its mounts behind.
        let [folder, other] = [(), ()]
            .map(|()| tempfile::Builder::new().prefix("start-").tempdir_in("/var/tmp").unwrap());
        let blueprint = blueprint(confinement, other.path());
        let mut texts = Vec::new();
        let mut ours = Command::new(env!("CARGO_BIN_EXE_sequester"));
        ours.args(["sandbox", "--profile", confinement.as_str(), "--", "true"]);
        ours.current_dir(folder.path());
        let mut commands = [ours, bubblewrap(&blueprint, &mut texts)];
        let [ours, floor] = race(&mut commands, ROUNDS, BATCH)[..] else { return };
        println!(
            "| {} | {} | {}, {} | {}, {} | {} | {} |",
            confinement.as_str(),
            blueprint.root.len(),
            milliseconds(floor.wall),
            milliseconds(floor.processor),
            milliseconds(ours.wall),
            milliseconds(ours.processor),
            ratio(ours.wall, floor.wall),
            ratio(ours.processor, floor.processor),
        );
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

/// Bubblewrap maps no owners, has no layers here, limits nothing and filters no calls; a layer is a plain mount for it.
fn bubblewrap(blueprint: &Blueprint, texts: &mut Vec<TempDir>) -> Command {
    let mut command = Command::new("bwrap");
    command.args(["--unshare-all", "--die-with-parent", "--new-session", "--clearenv"]);
    command.args(["--uid", "1000", "--gid", "1000", "--hostname", "jail"]);
    for (name, value) in &blueprint.environment {
        command.args(["--setenv", name, value]);
    }
    for entry in &blueprint.root {
        let at = entry.at();
        match entry {
            Entry::Folder { .. } => command.arg("--dir").arg(at),
            Entry::Text { content, .. } | Entry::Cover { content, .. } => {
                let text = tempfile::tempdir().unwrap();
                let path = text.path().join("text");
                std::fs::write(&path, content).unwrap();
                texts.push(text);
                command.arg("--ro-bind").arg(path).arg(at)
            }
            Entry::Link { to, .. } => command.arg("--symlink").arg(to).arg(at),
            Entry::Bind { from, access: Access::Read, .. } => {
                command.arg("--ro-bind").arg(from).arg(at)
            }
            Entry::Bind { from, .. } => command.arg("--bind").arg(from).arg(at),
            Entry::Layered { lower, .. } => command.arg("--ro-bind").arg(&lower[0]).arg(at),
            Entry::Scratch { .. } => command.arg("--tmpfs").arg(at),
            Entry::Processes => command.arg("--proc").arg(at),
            Entry::Devices => command.arg("--dev").arg(at),
            Entry::Hidden { at } if at.is_dir() => command.arg("--tmpfs").arg(at),
            Entry::Hidden { at } => command.arg("--ro-bind").arg("/dev/null").arg(at),
            Entry::Shut { at, .. } if at.exists() => command.arg("--ro-bind").arg(at).arg(at),
            Entry::Shut { at, .. } => command.arg("--tmpfs").arg(at),
        };
    }
    command.arg("--chdir").arg(&blueprint.folder).arg("true");
    command
}
