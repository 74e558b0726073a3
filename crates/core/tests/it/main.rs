//! Plans and contexts, as a program that uses the crate sees them.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "what is not there fails the test"
)]

mod audit;
mod backpack;
mod canaries;
mod desk;
mod faults;
mod fixture;
mod forged;
mod formats;
mod isolation;
mod noted;
mod order;
mod passing;
mod real_shapes;
mod recall;
mod recording;
mod robust;
mod seeds;
mod shared_secrets;
mod sources;
mod untidy;
