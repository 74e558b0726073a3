//! A world on the desk: parsed, surveyed and ready to build contexts.

use std::collections::BTreeSet;
use std::sync::Arc;

use sequester_core::agent::{self, Role};
use sequester_core::architecture::Piece;
use sequester_core::companion::Companions;
use sequester_core::context::{Builder, Error, IsolatedContext, Request, Shelf};
use sequester_core::graph::TaskGraph;
use sequester_core::id::TaskId;
use sequester_core::limits::Limits;
use sequester_core::plan::{self, Options};
use sequester_core::record::{Chosen, Handed, Record};
use sequester_testkit::{LineOutliner, WordRanker, World};

/// Limits so small that ordinary files are cut.
pub(crate) fn small() -> Limits {
    Limits {
        context: 4_000,
        file: 900,
        ranked: 1_200,
        ranked_file: 500,
        ranked_files: 3,
        records: 300,
        ..Limits::default()
    }
}

pub(crate) fn options() -> Options {
    Options { file_name: "plan.md".to_owned(), limit: 32 << 20, ..Options::default() }
}

/// Whose records a task may see, by the graph.
pub(crate) fn ancestors(world: &World, id: &str) -> BTreeSet<String> {
    let parsed = plan::parse(world.plan.write().as_bytes(), &options());
    let (graph, _) = TaskGraph::new(&parsed.plan);
    graph.ancestors(&TaskId::from(id)).iter().map(ToString::to_string).collect()
}

/// All of them, the newest first: the rule has to refuse what a task may not see.
pub(crate) fn handed(records: &[Record]) -> Handed {
    let chosen = records.iter().rev().map(|record| Chosen {
        record: Arc::new(record.clone()),
        score: None,
        why: String::new(),
    });
    Handed { chosen: chosen.collect(), passed_over: Vec::new(), visible: None }
}

/// The context of one task of a world, for the writer.
pub(crate) fn context(world: &World, id: &str, limits: &Limits) -> Result<IsolatedContext, Error> {
    let id = TaskId::from(id);
    asked(world, limits, Request::new(&id, writer()))
}

pub(crate) fn writer() -> &'static Role {
    agent::find("writer").expect("the writer is built in")
}

/// The same as it is asked for, with all records of the world.
pub(crate) fn asked(
    world: &World,
    limits: &Limits,
    request: Request<'_>,
) -> Result<IsolatedContext, Error> {
    let records = handed(&world.records);
    built(world, limits, &Request { records: &records, ..request })
}

/// The same with the records of the request alone.
pub(crate) fn built(
    world: &World,
    limits: &Limits,
    request: &Request<'_>,
) -> Result<IsolatedContext, Error> {
    let parsed = plan::parse(world.plan.write().as_bytes(), &options());
    assert_eq!(parsed.faults, [], "the generator wrote a faulty plan");
    let (graph, faults) = TaskGraph::new(&parsed.plan);
    assert_eq!(faults, [], "the generator wrote a faulty plan");
    let repository = world.repository();
    let architecture = [Piece { text: "A made-up project.\n".into(), source: "src".into() }];
    let shelf = Shelf::new(&repository, &LineOutliner, limits);
    let ranker = WordRanker(&repository);
    let companions = Companions::default();
    let builder =
        Builder::new(&parsed.plan, &graph, &architecture, &shelf, &ranker, limits, &companions);
    builder.build(request)
}
