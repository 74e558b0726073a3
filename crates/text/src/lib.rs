//! What needs nothing else of ours: paths, ids, digests, times, tokens, excerpts, faults, and records ranked by their words.

pub mod bm25;
pub mod digest;
pub mod excerpt;
pub mod fault;
pub mod foreign;
pub mod id;
pub mod moment;
pub mod path;
pub mod printable;
pub mod recall;
pub mod spelling;
pub mod tokens;
