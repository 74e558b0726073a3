//! What a project's runs leave behind, in one SQLite file: events as a chain, the bytes that they name, and letters to whoever runs.

mod append;
mod blobs;
mod chain;
mod error;
mod export;
mod gc;
mod hold;
mod lease;
mod letters;
mod log;
mod schema;
mod store;
mod writer;

pub use gc::{Collected, Rule, Which};
pub use store::{Options, Store};
pub use writer::Stats;
