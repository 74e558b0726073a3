//! The store as others use it.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "what tests share may fail them, and their other process speaks by what it prints"
)]

mod append;
mod birth;
mod child;
mod damage;
mod export;
mod fixture;
mod gc;
mod lease;
mod processes;
mod signing;
mod trouble;
