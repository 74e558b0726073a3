//! A world that lives in memory: a store, trees and jails. Nothing in it waits for a disk or a process.

mod jails;
mod notes;
mod store;
mod trees;

pub use jails::MemoryJails;
pub use notes::MemoryNotes;
pub use store::MemoryStore;
pub use trees::MemoryTrees;
