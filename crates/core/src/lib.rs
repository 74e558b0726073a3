//! The words, ports and decisions of `sequester`: no runtime, no files, no processes, no clock.

pub mod agent;
pub mod architecture;
pub mod bm25;
pub mod cache;
pub mod companion;
pub mod context;
pub mod fault;
pub mod future;
pub mod graph;
pub mod id;
pub mod limits;
pub mod message;
pub mod outliner;
pub mod path;
pub mod plan;
pub mod price;
pub mod provider;
pub mod ranker;
pub mod record;
pub mod report;
pub mod repository;
pub mod secret;
pub mod tokens;
pub mod tool;
pub mod usage;
