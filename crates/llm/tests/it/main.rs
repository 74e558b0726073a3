//! Providers against a server on loopback that plays a model, over each wire.
#![allow(clippy::unwrap_used, clippy::panic, reason = "what a test builds for itself may fail it")]

mod bounds;
mod faults;
mod flood;
mod gemini;
mod hostile;
mod nearby;
mod raw;
mod replies;
mod requests;
mod stage;
