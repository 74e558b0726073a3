//! Words that need nothing else: paths, ids, digests, times, tokens, excerpts and weights of words.

pub mod bm25;
pub mod digest;
pub mod excerpt;
pub mod foreign;
pub mod id;
pub mod moment;
pub mod path;
pub mod printable;
pub mod spelling;
pub mod tokens;
