//! Outputs without secrets: before a model, an event or a log sees them.

use std::borrow::Cow;

use sequester_core::future::BoxFuture;
use sequester_core::secret;
use sequester_core::tool::{Invocation, Returned, Spec, Toolbox};

pub struct Redacted<T>(pub T);

impl<T: Toolbox> Toolbox for Redacted<T> {
    fn specs(&self) -> Vec<Spec> {
        self.0.specs()
    }

    fn call<'a>(&'a self, invocation: &'a Invocation) -> BoxFuture<'a, Returned> {
        Box::pin(async move {
            let mut returned = self.0.call(invocation).await;
            returned.outcome = returned.outcome.map(|text| {
                let cleaned = match secret::redact(&text).text {
                    Cow::Borrowed(_) => None,
                    Cow::Owned(cleaned) => Some(cleaned),
                };
                cleaned.unwrap_or(text)
            });
            returned
        })
    }
}
