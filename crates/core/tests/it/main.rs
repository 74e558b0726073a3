//! Plans and contexts, as a program that uses the crate sees them.

mod canaries;
mod desk;
mod isolation;
mod seeds;
