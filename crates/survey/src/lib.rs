//! The architectural context, file ranking and outlines.

mod architecture;
mod folder;
mod history;
mod index;
mod kind;
mod manifest;
mod outline;
mod project_checks;
mod rank;
mod survey;
mod words;

pub use architecture::architecture;
pub use folder::Folder;
pub use index::Index;
pub use outline::Outlines;
pub use project_checks::{FoundCheck, detect_checks};
pub use survey::Survey;
