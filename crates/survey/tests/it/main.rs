//! File ranking and the folder it reads, through the crate's public face.

mod folder;
mod index;
mod memory;
mod ranking;
