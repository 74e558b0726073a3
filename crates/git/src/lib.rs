//! History, trees and bases, through the `git` program: objects and refs are read, a working tree never is.

mod base;
mod checkout;
mod dirty;
mod history;
mod objects;
mod program;
mod repo;

pub use base::Tree;
pub use dirty::Dirty;
pub use history::Log;
pub use repo::Repo;
