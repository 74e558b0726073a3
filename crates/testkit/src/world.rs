//! Generated worlds: a plan, a repository and records, all of them small and all of them valid.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use sequester_core::id::TaskId;
use sequester_core::record::{Kind, Record};

use crate::plan::{PlanText, TaskText};
use crate::repository::MemoryRepository;

/// Everything that the contexts of a run are made from.
#[derive(Clone, Debug)]
pub struct World {
    pub plan: PlanText,
    pub files: BTreeMap<String, String>,
    pub records: Vec<Record>,
}

impl World {
    pub fn repository(&self) -> MemoryRepository {
        MemoryRepository::new(self.files.iter())
    }
}

const WORDS: [&str; 24] = [
    "token",
    "reset",
    "mail",
    "queue",
    "user",
    "session",
    "expire",
    "store",
    "parse",
    "render",
    "route",
    "limit",
    "cache",
    "index",
    "login",
    "audit",
    "retry",
    "batch",
    "Schlüssel",
    "记录",
    "worker",
    "header",
    "digest",
    "graph",
];

fn sentence(most: usize) -> impl Strategy<Value = String> {
    vec(proptest::sample::select(&WORDS[..]), 3..most).prop_map(|words| words.join(" "))
}

/// A source file: small ones are shown whole, large ones are cut, and data has no outline.
fn file() -> impl Strategy<Value = String> {
    let function = |lines| (proptest::sample::select(&WORDS[..]), sentence(10), lines);
    let small = vec(function(1..4_usize), 1..3).prop_map(|functions| source(&functions));
    let large = vec(function(4..40_usize), 10..30).prop_map(|functions| source(&functions));
    let data = (sentence(10), 200..500_usize).prop_map(|(row, rows)| {
        (0..rows).fold(String::new(), |text, at| text + &format!("    // {row}, {at}\n"))
    });
    (prop_oneof![4 => small, 2 => large, 2 => data], any::<bool>())
        .prop_map(|(text, secret)| if secret { text + &secret_line() } else { text })
}

fn source(functions: &[(&str, String, usize)]) -> String {
    let mut text = String::new();
    for (at, (name, body, lines)) in functions.iter().enumerate() {
        let _ = writeln!(text, "fn {name}_{at}() {{");
        for line in 0..*lines {
            let _ = writeln!(text, "    // {body} {line}");
        }
        text.push_str("}\n\n");
    }
    text
}

/// What must never be seen of the secret that some generated files hold.
pub const SECRET: &str = "k7Qz2LmX9vB4nR8tY1wC5pD3hJ6gF0sAeUiO";

/// A line with a secret, assembled here so that no scanner takes this file for a leak.
fn secret_line() -> String {
    format!("const KEY: &str = \"{}{}{SECRET}\";\n", "gh", "p_")
}

fn task(at: usize, paths: &[String]) -> impl Strategy<Value = TaskText> + use<> {
    let needs = btree_set(0..at.max(1), 0..=at.min(2));
    let modify = proptest::sample::subsequence(paths.to_vec(), 0..=paths.len().min(2));
    (sentence(6), vec(sentence(14), 1..4), needs, modify, vec(sentence(6), 0..2), any::<bool>())
        .prop_map(move |(title, paragraphs, needs, modify, constraints, creates)| TaskText {
            id: format!("task-{at}"),
            title,
            text: paragraphs.join("\n\n"),
            needs: if at == 0 {
                Vec::new()
            } else {
                needs.into_iter().map(|need| format!("task-{need}")).collect()
            },
            modify,
            create: if creates { vec![format!("src/new_{at}.rs")] } else { Vec::new() },
            constraints,
            produces: Vec::new(),
        })
}

fn record(at: usize, tasks: usize) -> impl Strategy<Value = Record> {
    (0..tasks, sentence(5), sentence(20)).prop_map(move |(task, title, text)| Record {
        id: format!("record-{at}").into(),
        task: TaskId::new(format!("task-{task}")),
        kind: Kind::Summary,
        title,
        text,
        paths: Vec::new(),
        refs: Vec::new(),
        label: String::new(),
    })
}

/// Worlds of 2 to 6 tasks over 2 to 7 files.
pub fn world() -> impl Strategy<Value = World> {
    (2..7_usize, 2..8_usize).prop_flat_map(|(tasks, files)| {
        let paths: Vec<String> = (0..files).map(|at| format!("src/module_{at}.rs")).collect();
        let texts: Vec<_> = (0..tasks).map(|at| task(at, &paths)).collect();
        let contents: Vec<_> = paths.iter().map(|_| file()).collect();
        let records: Vec<_> = (0..tasks * 2).map(|at| record(at, tasks)).collect();
        let constraints = vec(sentence(6), 0..3);
        (texts, contents, records, sentence(5), constraints, sentence(20)).prop_map(
            move |(tasks, contents, records, title, constraints, prose)| World {
                plan: PlanText { title, constraints, prose, tasks },
                files: paths.iter().cloned().zip(contents).collect(),
                records,
            },
        )
    })
}
