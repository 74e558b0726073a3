//! A thousand contexts of one plan through the library, beside the cost of copying the same bytes.

#![allow(clippy::unwrap_used, reason = "a bench that cannot be set up has nothing to measure")]

use std::fmt::Write as _;

use divan::{Bencher, black_box};
use sequester_core::agent;
use sequester_core::architecture::Piece;
use sequester_core::cache::Forgetful;
use sequester_core::companion::Companions;
use sequester_core::context::{Builder, Request, Shelf};
use sequester_core::graph::TaskGraph;
use sequester_core::limits::Limits;
use sequester_core::plan::{self, Options, Plan};
use sequester_survey::{Index, Outlines};
use sequester_testkit::MemoryRepository;

const TASKS: usize = 1_000;
const FILES: usize = 1_000;

fn main() {
    divan::main();
}

/// Everything before the first context.
struct Run {
    plan: Plan,
    graph: TaskGraph,
    repository: MemoryRepository,
    index: Index,
    architecture: Vec<Piece>,
    limits: Limits,
}

impl Run {
    fn survey() -> Self {
        let limits = Limits::default();
        let repository = MemoryRepository::new((0..FILES).map(|at| (path(at), source(at))));
        let index = Index::open(&repository, None, &Forgetful, &limits);
        let survey = sequester_survey::architecture(&repository, &limits);
        let architecture = survey.render(limits.architecture);
        let plan = plan::parse(text().as_bytes(), &Options::default()).plan;
        let (graph, faults) = TaskGraph::new(&plan);
        assert_eq!((plan.tasks.len(), faults), (TASKS, Vec::new()));
        Self { plan, graph, repository, index, architecture, limits }
    }

    /// The bytes of all contexts.
    fn build(&self) -> Vec<String> {
        let shelf = Shelf::new(&self.repository, &Outlines, &self.limits);
        let companions = Companions::default();
        let builder = Builder::new(
            &self.plan,
            &self.graph,
            &self.architecture,
            &shelf,
            &self.index,
            &self.limits,
            &companions,
        );
        let role = agent::find("writer").unwrap();
        let tasks = self.plan.tasks.iter();
        tasks
            .map(|task| {
                let request = Request::new(&task.id, role);
                builder.build(&request).unwrap().prompt
            })
            .collect()
    }
}

const WORDS: [&str; 16] = [
    "route", "worker", "batch", "handler", "cookie", "header", "session", "retry", "limit",
    "queue", "render", "parse", "token", "digest", "wave", "profile",
];

fn word(at: usize) -> &'static str {
    WORDS[at.wrapping_mul(2_654_435_761) / 7 % WORDS.len()]
}

fn path(at: usize) -> String {
    format!("src/{}_{at}.rs", word(at))
}

fn source(at: usize) -> String {
    (0..20).fold(String::new(), |mut text, function| {
        let name = word(at + function * 13);
        let _ = write!(
            text,
            "/// Handles the {name} of part {at}.\npub fn {name}_{function}(batch: &[u32]) -> usize {{\n    \
             batch.iter().filter(|item| **item > {function}).count() + {at}\n}}\n\n"
        );
        text
    })
}

fn text() -> String {
    let mut text = String::from("---\nsequester: 1\n---\n# A thousand parts\n\n");
    for at in 0..TASKS {
        let (one, two) = (word(at), word(at + 5));
        let need = if at == 0 { String::new() } else { format!("part-{}", at - 1) };
        let _ = write!(
            text,
            "## [part-{at}] Hand the {one} to the {two}\n\n```task\nneeds: [{need}]\nfiles: {{modify: [{}]}}\n```\n\n\
             The {one} of part {at} is counted and handed to the {two}, which reports it.\n\n",
            path(at)
        );
    }
    text
}

#[divan::bench(sample_count = 5)]
fn contexts(bencher: Bencher) {
    let run = Run::survey();
    bencher.bench_local(|| black_box(run.build()).len());
}

#[divan::bench(sample_count = 5)]
fn floor_of_copying_the_same_bytes(bencher: Bencher) {
    let prompts = Run::survey().build();
    bencher.bench_local(|| black_box(prompts.clone()).len());
}
