//! The architectural context, file ranking and outlines.

mod folder;
mod history;
mod index;
mod kind;
mod rank;
mod words;

pub use folder::Folder;
pub use index::Index;
