//! Outputs no longer than a limit, their beginning and end kept.

use sequester_core::excerpt::cap;
use sequester_core::future::BoxFuture;
use sequester_core::tool::{Invocation, Returned, Spec, Toolbox};

pub struct Capped<T> {
    pub inner: T,
    pub bytes: usize,
}

impl<T: Toolbox> Toolbox for Capped<T> {
    fn specs(&self) -> Vec<Spec> {
        self.inner.specs()
    }

    fn call<'a>(&'a self, invocation: &'a Invocation) -> BoxFuture<'a, Returned> {
        Box::pin(async move {
            let mut returned = self.inner.call(invocation).await;
            returned.outcome = returned.outcome.map(|text| cap(text, self.bytes));
            returned
        })
    }
}
