//! Plans and contexts, as a program that uses the crate sees them.

mod canaries;
mod desk;
mod faults;
mod fixture;
mod formats;
mod isolation;
mod order;
mod robust;
mod seeds;
mod untidy;
