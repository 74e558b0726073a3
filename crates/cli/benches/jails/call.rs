//! A tool call in a jail that runs, beside the same call without one.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use sequester_core::message::Call;
use sequester_core::profile::Confinement;
use sequester_core::tool::{Invocation, Outcome, Returned};
use sequester_sandbox::Jail;
use sequester_tools::{Client, Settings, Workbench};
use serde_json::{Value, json};

use crate::start::blueprint;

const CALLS: usize = 400;

pub(crate) fn run() {
    println!("| a call in a jail that runs | bare | jailed | over it |");
    println!("|---|---|---|---|");
    let folder = tempfile::Builder::new().prefix("call-").tempdir_in("/var/tmp").unwrap();
    let root = folder.path();
    fs::write(root.join("small.txt"), "a line of text\n".repeat(20)).unwrap();
    let blueprint = blueprint(Confinement::Writer, root);
    let (_jail, stream) = Jail::serve(&blueprint).unwrap();
    let environment = blueprint.environment.clone();
    let settings = Settings { environment, ..Settings::default() };
    let client = Client::start(stream, root, settings.clone()).unwrap();
    let bench = Workbench::new(root, settings).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let calls = [
        ("Read", json!({"file_path": path(root, "small.txt")})),
        ("Grep", json!({"pattern": "line", "path": path(root, ".")})),
        ("Glob", json!({"pattern": "*.txt"})),
        ("Bash", json!({"command": "true"})),
    ];
    for (name, arguments) in calls {
        let invocation = invocation(name, arguments);
        let (mut bare, mut jailed) = (Vec::new(), Vec::new());
        for _ in 0..CALLS {
            bare.push(time(|| bench.call(&invocation)));
            jailed.push(time(|| runtime.block_on(client.call(invocation.clone()))));
        }
        let (bare, jailed) = (middle(bare), middle(jailed));
        let over = jailed.as_secs_f64() - bare.as_secs_f64();
        println!("| {name} | {} | {} | {:.3} ms |", show(bare), show(jailed), over * 1e3);
    }
}

fn path(root: &Path, name: &str) -> String {
    root.join(name).display().to_string()
}

fn invocation(name: &str, arguments: Value) -> Invocation {
    let call = Call { id: "1".to_owned(), name: name.to_owned(), arguments };
    Invocation { call, seen: BTreeMap::new() }
}

fn time(call: impl FnOnce() -> Returned) -> Duration {
    let begun = Instant::now();
    let returned = call();
    let time = begun.elapsed();
    assert!(matches!(returned.outcome, Outcome::Output(_)), "{returned:?}");
    time
}

fn middle(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn show(time: Duration) -> String {
    format!("{:.3} ms", time.as_secs_f64() * 1e3)
}
