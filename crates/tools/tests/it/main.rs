//! The tools against real files, real shells, real pipes and a web server on loopback.
#![allow(clippy::panic, clippy::unwrap_used, reason = "what is not there fails the test")]

mod bash;
mod bench;
mod client;
mod edit;
mod glob;
mod grep;
mod leftover;
mod read;
mod server;
mod serving;
mod web_fetch;
mod write;
