//! A workbench over a folder of its own, and calls on it in one line.

use std::collections::BTreeMap;
use std::path::PathBuf;

use sequester_core::message::Call;
use sequester_core::tool::{Invocation, Outcome, Returned};
use sequester_tools::{Settings, Workbench};
use serde_json::Value;
use tempfile::TempDir;

pub(crate) struct Bench {
    pub(crate) folder: TempDir,
    pub(crate) workbench: Workbench,
}

pub(crate) fn bench() -> Bench {
    with(Settings::default())
}

pub(crate) fn with(settings: Settings) -> Bench {
    let folder = tempfile::tempdir().unwrap();
    let workbench = Workbench::new(folder.path(), settings).unwrap();
    Bench { folder, workbench }
}

pub(crate) fn invocation(tool: &str, arguments: Value) -> Invocation {
    let call = Call { id: "1".into(), name: tool.into(), arguments };
    Invocation { call, seen: BTreeMap::new() }
}

impl Bench {
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn put(&self, path: &str, contents: impl AsRef<[u8]>) -> &Self {
        let file = self.path(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, contents).unwrap();
        self
    }

    pub(crate) fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap()
    }

    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Returned {
        self.workbench.call(&invocation(tool, arguments))
    }

    /// With the files of `seen` as they are now.
    pub(crate) fn call_seen(&self, tool: &str, arguments: Value, seen: &[&str]) -> Returned {
        let digest = |path: &&str| {
            let bytes = std::fs::read(self.path(path)).unwrap();
            ((*path).to_owned(), blake3::hash(&bytes).to_hex().to_string())
        };
        let seen = seen.iter().map(digest).collect();
        self.workbench.call(&Invocation { seen, ..invocation(tool, arguments) })
    }

    pub(crate) fn output(&self, tool: &str, arguments: Value) -> String {
        output(self.call(tool, arguments))
    }

    pub(crate) fn failure(&self, tool: &str, arguments: Value) -> String {
        failure(self.call(tool, arguments))
    }

    pub(crate) fn refusal(&self, tool: &str, arguments: Value) -> String {
        refusal(self.call(tool, arguments))
    }
}

pub(crate) fn output(returned: Returned) -> String {
    match returned.outcome {
        Outcome::Output(text) => text,
        other => panic!("no output: {other:?}"),
    }
}

pub(crate) fn failure(returned: Returned) -> String {
    assert!(returned.seen.is_empty());
    match returned.outcome {
        Outcome::Failed(text) => text,
        other => panic!("no failure: {other:?}"),
    }
}

pub(crate) fn refusal(returned: Returned) -> String {
    assert!(returned.seen.is_empty());
    match returned.outcome {
        Outcome::Refused(text) => text,
        other => panic!("no refusal: {other:?}"),
    }
}

/// Text with the shape of a secret, put together so that it stands in no source file.
pub(crate) fn token() -> String {
    format!("gh{}_{}", "p", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
}

/// A private key of the shape that programs write, of no use anywhere.
pub(crate) fn key() -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut state = 7_u64;
    let mut digit = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from(DIGITS[(state >> 58) as usize])
    };
    let mut line = || (0..60).map(|_| digit()).collect::<String>();
    let body: Vec<String> = (0..8).map(|_| format!("MIIE{}\n", line())).collect();
    let body = body.concat();
    format!("-----BEGIN {0}-----\n{body}-----END {0}-----\n", "RSA PRIVATE KEY")
}
