//! What a project's runs leave behind, in one SQLite file: events as a chain, the bytes that they name, and letters to whoever runs.

mod append;
mod blobs;
mod bundle;
mod bundle_references;
mod chain;
mod error;
mod export;
mod gc;
mod heads;
mod hold;
mod lease;
mod letters;
mod log;
mod schema;
mod signing;
mod store;
mod writer;

pub use bundle::{BUNDLE_START, Bundle, BundleDraft, BundledCommit};
pub use gc::{Collected, Rule, Which};
pub use heads::HeadState;
pub use signing::{Acceptance, PublicKey, Signer};
pub use store::{Options, Store};
pub use writer::Stats;
