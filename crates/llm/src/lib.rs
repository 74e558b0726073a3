//! Models: providers over the network through one client library, and `literal`, which needs none.

mod choose;
mod connect;
mod error;
mod key;
mod literal;
mod name;
mod pool;
mod remote;
mod search;
mod service;

pub use choose::{Choice, Passed, choose};
pub use connect::{Chosen, Connected, connect};
pub use key::Key;
pub use literal::Literal;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub use literal::fuzzing;
pub use name::{Models, Named, Sources, Target, Tier, WORDS, is_name, resolve};
pub use pool::{Pool, Timeouts};
pub use remote::Remote;
pub use search::Endpoint;
pub use service::{DATE as MODELS_DATE, Service, services};
