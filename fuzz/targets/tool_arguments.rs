//! Arguments that a model writes for a tool, of the jail's tools and of the product's own: nothing outside of the
//! workspace is read or changed, and answers are bounded. Commands are read and not started.
#![no_main]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use sequester_core::agent::{AgentRun, Brief, own_specs};
use sequester_core::budget::Budget;
use sequester_core::id::TaskId;
use sequester_core::message::{Call, Message, Said};
use sequester_core::provider::{Powers, Reply};
use sequester_core::record::Switches;
use sequester_core::report::Phase;
use sequester_core::tool::{Invocation, Outcome};
use sequester_fuzz::variant_and_text;
use sequester_tools::{Settings, Workbench, specs};
use serde_json::Value;

const OUTSIDE: &str = "canary-outside-of-the-workspace";
/// A secret in a file of the workspace.
const TOKEN: &str = "ghp_8dK3mQz7VxT1nRb5YwLc9HjPf2GsA6eU4oXi";
/// Calls after which the workspace is made anew: writes add files to it.
const CALLS: u32 = 2_000;

thread_local! {
    static STAGE: RefCell<(u32, Option<Stage>)> = const { RefCell::new((0, None)) };
}

static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let own = own_specs(&TaskId::new("a"), Phase::Write, Switches::default());
    specs().into_iter().chain(own).map(|spec| spec.name.into_owned()).collect()
});

struct Stage {
    folder: PathBuf,
    bench: Workbench,
}

impl Stage {
    fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("sequester-fuzz-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        let root = folder.join("root");
        fs::create_dir_all(root.join("src")).expect("a folder");
        fs::write(folder.join("outside.txt"), OUTSIDE).expect("a file");
        let texts = [
            ("a.txt", "one\ntwo\nthree\ntwo\n"),
            ("src/lib.rs", "pub fn a() {}\r\n"),
            (".gitignore", "target\n"),
            ("key.txt", &format!("token = {TOKEN}\n")),
        ];
        for (path, text) in texts {
            fs::write(root.join(path), text).expect("a file");
        }
        std::os::unix::fs::symlink("../outside.txt", root.join("link.txt")).expect("a link");
        std::os::unix::fs::symlink("..", root.join("up")).expect("a link");
        let settings = Settings { search_time: Duration::from_secs(2), ..Settings::default() };
        let bench = Workbench::new(&root, settings).expect("a workbench");
        // No command starts from here on.
        bench.stop();
        Self { folder, bench }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((which, text)) = variant_and_text(bytes) else { return };
    let arguments = serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
    // What a call brings along itself proves nothing.
    let given = arguments.to_string();
    if given.contains("canary-") || given.contains("ghp_") {
        return;
    }
    let name = NAMES[which % NAMES.len()].clone();
    let call = Call { id: "1".to_owned(), name, arguments };
    call_own(call.clone());
    STAGE.with_borrow_mut(|(calls, stage)| {
        *calls += 1;
        if *calls % CALLS == 0 {
            *stage = None;
        }
        call_jailed(call, stage.get_or_insert_with(Stage::new));
    });
});

fn call_jailed(call: Call, stage: &Stage) {
    // As if the file had been read, so that edits are carried out.
    let read = |path: &str| {
        let arguments = serde_json::json!({ "file_path": path });
        let call = Call { id: "0".to_owned(), name: "Read".to_owned(), arguments };
        stage.bench.call(&Invocation { call, seen: BTreeMap::new() }).seen
    };
    let path = call.arguments.get("file_path").and_then(Value::as_str).map(str::to_owned);
    let seen = match (call.name.as_str(), path) {
        ("Edit" | "Write", Some(path)) => read(&path),
        _ => BTreeMap::new(),
    };
    let is_command = call.name == "Bash";
    let returned = stage.bench.call(&Invocation { call, seen });
    let text = returned.outcome.text();
    assert!(text.len() <= Settings::default().output_bytes + 1_024, "{} bytes", text.len());
    assert!(!text.contains(OUTSIDE) && !text.contains(TOKEN), "{text}");
    assert!(!is_command || !matches!(returned.outcome, Outcome::Output(_)));
    let outside = fs::read_to_string(stage.folder.join("outside.txt"));
    assert_eq!(outside.ok().as_deref(), Some(OUTSIDE));
}

/// One reply with this call, three times over, to a fresh attempt.
fn call_own(call: Call) {
    static TOOLS: LazyLock<Vec<sequester_core::tool::Spec>> = LazyLock::new(|| {
        let own = own_specs(&TaskId::new("a"), Phase::Write, Switches::default());
        own.into_iter().chain(specs()).collect()
    });
    let brief = Brief {
        task: TaskId::new("a"),
        phase: Phase::Write,
        model: "m".to_owned(),
        powers: Powers { schema: true, free: true, scripted: false },
        system: Arc::from("s"),
        prompt: Arc::from("p"),
        text: 0..1,
        tools: TOOLS.clone(),
        grants: Default::default(),
        inherited: Default::default(),
        whole_files: BTreeMap::new(),
        fields: None,
        seed: 7,
    };
    let mut run = AgentRun::new(brief, Budget::default());
    for _ in 0..3 {
        let said = Said { calls: vec![call.clone()], ..Said::default() };
        let _ = run.step(Duration::ZERO);
        run.replied(Reply { said, ..Reply::default() });
        run.interrupted();
    }
    for message in run.conversation() {
        if let Message::Results(results) = message {
            assert!(results.iter().all(|one| one.text.len() < 128 << 10));
        }
    }
}
