//! Plans from text to graph, on fixtures of every format.

#![allow(clippy::unwrap_used, reason = "what is not there fails the test")]

mod faults;
mod fixture;
mod formats;
mod order;
mod robust;
mod untidy;
