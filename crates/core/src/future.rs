//! Futures as ports hand them out.

use std::future::Future;
use std::pin::Pin;

/// A future that can be sent and named: what lets a port be used as `dyn`.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
