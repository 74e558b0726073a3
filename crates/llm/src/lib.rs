//! Models: providers over the network through one client library, and `literal`, which needs none.

mod literal;

pub use literal::Literal;
