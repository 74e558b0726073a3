//! The words, ports and decisions of `sequester`: no runtime, no files, no processes, no clock.

pub mod agent;
pub mod architecture;
pub mod budget;
pub mod cache;
pub mod change;
pub mod check;
pub mod companion;
pub mod context;
pub mod evidence;
pub mod future;
pub mod graph;
pub mod handoff;
pub mod jail;
pub mod limits;
pub mod message;
pub mod notes;
pub mod outliner;
pub mod plan;
pub mod price;
pub mod profile;
pub mod protected;
pub mod provider;
pub mod ranker;
pub mod record;
pub mod report;
pub mod repository;
pub mod run;
pub mod schema;
pub mod source;
pub mod store;
pub mod tool;
pub mod usage;

/// Beneath core, so that whoever only redacts needs no more.
pub use sequester_secrets as secret;
/// Beneath core too: paths, ids, digests, times, tokens, faults.
pub use sequester_text::{
    bm25, digest, excerpt, fault, foreign, id, moment, path, printable, recall, spelling, tokens,
};
