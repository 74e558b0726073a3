//! History, trees and bases, through the `git` program: objects and refs are read, a working tree never is.

mod base;
mod checkout;
mod dirty;
mod export;
mod history;
mod objects;
mod program;
mod repo;
mod share;

pub use base::Tree;
pub use dirty::Dirty;
pub use export::{Export, Touched};
pub use history::Log;
pub use repo::Repo;
