//! The words, ports and decisions of `sequester`: no runtime, no files, no processes, no clock.

pub mod agent;
pub mod architecture;
pub mod bm25;
pub mod cache;
pub mod companion;
pub mod context;
pub mod fault;
pub mod graph;
pub mod id;
pub mod limits;
pub mod outliner;
pub mod path;
pub mod plan;
pub mod price;
pub mod ranker;
pub mod record;
pub mod repository;
pub mod secret;
pub mod tokens;
