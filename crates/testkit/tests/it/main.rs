//! The server that plays a model, asked over plain sockets.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "what is not there fails the test")]

mod asking;
mod crowd;
mod faults;
mod wires;
