//! Fakes, builders, generators and canaries for the tests of every crate.

mod canary;
pub mod model;
mod plan;
mod repository;
mod world;

pub use canary::Canary;
pub use plan::{PlanText, TaskText};
pub use repository::{LineOutliner, MemoryRepository, WordRanker};
pub use world::{SECRET, World, world};
