//! The words, ports and decisions of `sequester`: no runtime, no files, no processes, no clock.

pub mod agent;
pub mod architecture;
pub mod bm25;
pub mod budget;
pub mod cache;
pub mod change;
pub mod check;
pub mod companion;
pub mod context;
pub mod digest;
pub mod evidence;
pub mod excerpt;
pub mod fault;
pub mod foreign;
pub mod future;
pub mod graph;
pub mod handoff;
pub mod id;
pub mod jail;
pub mod limits;
pub mod message;
pub mod moment;
pub mod notes;
pub mod outliner;
pub mod path;
pub mod plan;
pub mod price;
pub mod printable;
pub mod profile;
pub mod protected;
pub mod provider;
pub mod ranker;
pub mod recall;
pub mod record;
pub mod report;
pub mod repository;
pub mod run;
pub mod schema;
pub mod source;
pub mod spelling;
pub mod store;
pub mod tokens;
pub mod tool;
pub mod usage;

/// Beneath core, so that whoever only redacts needs no more.
pub use sequester_secrets as secret;
