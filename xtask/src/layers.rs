//! Which crate may use which: arrows only point down, and what is heavy has one owner.

use anyhow::{Context, Result};
use serde_json::Value;

use crate::shell;

/// Our crates, and which of ours each may use. A new crate is added here.
const LAYERS: &[(&str, &[&str])] = &[
    ("secrets", &[]),
    ("text", &[]),
    ("core", &["secrets", "text"]),
    ("audit", &["core"]),
    ("survey", &["core"]),
    ("git", &["core"]),
    ("store", &["core"]),
    ("llm", &["core"]),
    ("sandbox", &["core"]),
    ("tools", &["core"]),
    ("engine", &["core"]),
    ("testkit", &["core"]),
    ("xtask", &["core"]),
    ("cli", &["audit", "core", "engine", "git", "llm", "sandbox", "store", "survey", "tools"]),
];

/// What must not be in core's tree: a runtime, and what brings one.
const RUNTIMES: &[&str] = &["tokio", "mio", "reqwest", "hyper", "rustls"];

/// Heavy dependencies and who alone may name them; a star stands for any ending.
const OWNERS: &[(&str, &[&str])] = &[
    ("pulldown-cmark", &["core"]),
    ("bpe-openai", &["text"]),
    ("jsonschema", &["core"]),
    ("schemars", &["core"]),
    ("tree-sitter*", &["survey"]),
    ("genai", &["llm"]),
    ("reqwest", &["llm"]),
    ("rustls", &["llm"]),
    ("agent-client-protocol", &["acp"]),
    ("libc", &["sandbox"]),
    // Beside the jail itself: reading a folder without following a link or waiting on a pipe; tools also end a
    // command with its whole group, the engine raises the limit on descriptors, and the command line exchanges the file of notes.
    ("rustix", &["cli", "engine", "git", "sandbox", "store", "survey", "tools"]),
    ("landlock", &["sandbox"]),
    ("grep-*", &["tools"]),
    ("ureq", &["tools"]),
    ("htmd", &["tools"]),
    ("rusqlite", &["store"]),
    // Beside the engine: the server of the tests that plays a model.
    ("tokio", &["engine", "testkit"]),
    ("temporalio-sdk", &["temporal"]),
    ("rmcp", &["mcp"]),
    ("axum", &["web"]),
    ("clap", &["cli"]),
    ("indicatif", &["cli"]),
    ("anyhow", &["cli", "xtask"]),
];

pub(crate) fn run() -> Result<()> {
    let printed = shell::capture(
        shell::cargo(),
        &["metadata", "--format-version=1", "--no-deps", "--locked"],
    )?;
    let edges = read_edges(&serde_json::from_str(&printed)?)?;
    let mut faults: Vec<String> = edges.iter().filter_map(fault).collect();
    // Of core alone: beside other crates, cargo would show the features that those ask for.
    let tree = [
        "tree",
        "--package=sequester-core",
        "--edges=normal",
        "--target=all",
        "--prefix=none",
        "--locked",
    ];
    faults.extend(runtimes_in(&shell::capture(shell::cargo(), &tree)?));
    shell::none_of("Against the layers (the table is in `xtask/src/layers.rs`)", &faults)?;
    println!("layers: {} edges, all of them point down.", edges.len());
    Ok(())
}

/// One crate of ours names a dependency.
#[derive(Debug, PartialEq)]
struct Edge {
    from: String,
    to: String,
    ours: bool,
    dev: bool,
}

fn read_edges(metadata: &Value) -> Result<Vec<Edge>> {
    let list = |value: &Value, key: &str| {
        value[key].as_array().cloned().with_context(|| format!("no `{key}`"))
    };
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let mut edges = Vec::new();
    for package in list(metadata, "packages")? {
        for dependency in list(&package, "dependencies")? {
            edges.push(Edge {
                from: short(&text(&package, "name")),
                to: short(&text(&dependency, "name")),
                ours: dependency["path"].is_string(),
                dev: dependency["kind"] == "dev",
            });
        }
    }
    Ok(edges)
}

/// The folder's name of a package of ours; any other name as it is.
fn short(package: &str) -> String {
    match package {
        "sequester" => "cli".to_owned(),
        other => other.strip_prefix("sequester-").unwrap_or(other).to_owned(),
    }
}

fn fault(edge: &Edge) -> Option<String> {
    let Edge { from, to, ours, dev } = edge;
    let Some((_, below)) = LAYERS.iter().find(|(name, _)| name == from) else {
        return Some(format!("`{from}` has no place in the table"));
    };
    if *ours {
        let allowed = below.contains(&to.as_str()) || (*dev && (to == "testkit" || to == "audit"));
        return (!allowed).then(|| format!("`{from}` uses `{to}`"));
    }
    let owners = OWNERS.iter().find(|(name, _)| match name.strip_suffix('*') {
        Some(start) => to.starts_with(start) || to == start.trim_end_matches('-'),
        None => name == to,
    });
    let (_, owners) = owners.filter(|_| !dev)?;
    (!owners.contains(&from.as_str()))
        .then(|| format!("`{from}` uses `{to}`, which belongs to `{}`", owners.join("`, `")))
}

fn runtimes_in(tree: &str) -> Vec<String> {
    let names = tree.lines().filter_map(|line| line.split(' ').next());
    let found = names.filter(|name| RUNTIMES.contains(name));
    found.map(|name| format!("`core` has `{name}` in its tree")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(from: &str, to: &str, ours: bool, dev: bool) -> Option<String> {
        fault(&Edge { from: from.into(), to: to.into(), ours, dev })
    }

    #[test]
    fn arrows_point_down_and_testkit_and_audit_judge_tests() {
        for (from, to, dev) in [
            ("cli", "survey", false),
            ("git", "core", false),
            ("core", "testkit", true),
            ("engine", "audit", true),
        ] {
            assert_eq!(judge(from, to, true, dev), None);
        }
        for (from, to, dev) in
            [("core", "git", false), ("git", "survey", true), ("cli", "testkit", false)]
        {
            assert_eq!(judge(from, to, true, dev), Some(format!("`{from}` uses `{to}`")));
        }
        assert!(judge("unheard-of", "core", true, false).is_some());
    }

    #[test]
    fn what_is_heavy_has_one_owner() {
        assert_eq!(judge("survey", "tree-sitter-go", false, false), None);
        assert_eq!(judge("core", "serde", false, false), None);
        for (from, to) in [("cli", "tree-sitter"), ("core", "anyhow"), ("survey", "grep-searcher")]
        {
            assert!(judge(from, to, false, false).is_some(), "{from} {to}");
        }
    }

    #[test]
    fn a_runtime_in_core_is_named() {
        let tree = "sequester-core v0.1.0 (/x)\nserde v1.0.0\ntokio v1.2.3 (*)\ntokio-ish v1.0.0\n";
        assert_eq!(runtimes_in(tree), ["`core` has `tokio` in its tree"]);
    }

    #[test]
    fn edges_are_read_from_metadata() {
        let metadata = serde_json::json!({"packages": [{"name": "sequester", "dependencies": [
            {"name": "sequester-core", "path": "/x", "kind": null}, {"name": "clap", "kind": "dev"}]}]});
        let edge = |to: &str, ours, dev| Edge { from: "cli".into(), to: to.into(), ours, dev };
        assert_eq!(
            read_edges(&metadata).unwrap(),
            [edge("core", true, false), edge("clap", false, true)]
        );
    }
}
