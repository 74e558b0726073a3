//! The survey, the ranking and the folder it reads, through the crate's public face.
#![allow(clippy::unwrap_used, reason = "what a test builds for itself may fail the test")]

mod architecture;
mod checks;
mod folder;
mod index;
mod memory;
mod outline;
mod ranking;
