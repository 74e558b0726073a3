//! The embedded engine: it drives the loop, keeps the limits and stops when told.

mod circuit;
mod controller;
mod descriptors;
mod drive;
mod feed;
mod handle;
mod journal;
mod runtime;
mod stop;
mod toolbox;

pub use controller::{
    Asking, Clock, Controller, Crew, Extra, Log, Member, Trouble, Unwatched, Wanted, Watch, World,
    admit, base_of, read,
};
pub use descriptors::{Shortage, raise_descriptors};
pub use drive::{drive, record};
pub use feed::{Feed, News, Silent};
pub use handle::Handle;
pub use journal::{Halt, Journal, Unrecorded};
pub use runtime::{block_on, pause};
pub use stop::Stop;
pub use toolbox::{Capped, Filtered, Joined, Lazy, Redacted, Requests, Standing};
