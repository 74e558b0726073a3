//! Tools that run inside the jail: Read, Write, Edit, Grep, Glob, Bash, WebFetch, and the server that they run in.

mod bash;
mod client;
mod edit;
mod file;
mod glob;
mod grep;
mod lines;
mod read;
mod root;
mod server;
mod tool;
mod walk;
mod web_fetch;
mod wire;
mod workbench;
mod write;

pub use client::Client;
pub use server::{Error, serve, serve_as_told};
pub use tool::specs;
pub use workbench::{Settings, Workbench};
