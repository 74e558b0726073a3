//! Fakes, builders, generators and canaries for the tests of every crate.

mod canary;
pub mod llama;
pub mod memory;
pub mod model;
mod plan;
pub mod provider;
mod repository;
mod run;
mod world;

pub use canary::Canary;
pub use plan::{PlanText, TaskText};
pub use repository::{LineOutliner, MemoryRepository, WordRanker};
pub use run::started;
pub use world::{SECRET, World, world};
