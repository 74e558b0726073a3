//! The crate against real repositories, made by the `git` program in temporary folders.

#![allow(clippy::unwrap_used)] // the lint spares test functions, but not what they share

mod apply;
mod base;
mod changes;
mod export;
mod history;
mod hook_programs;
mod hostile;
mod merges;
mod run_paths;
mod sandbox;
mod trees;
mod worktree;
