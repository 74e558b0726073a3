//! Only some of the tools: the others are neither listed nor callable.

use std::collections::BTreeSet;

use sequester_core::future::BoxFuture;
use sequester_core::tool::{Invocation, Outcome, Returned, Spec, Toolbox};

pub struct Filtered<T> {
    inner: T,
    names: BTreeSet<String>,
}

impl<T: Toolbox> Filtered<T> {
    pub fn new(inner: T, names: impl IntoIterator<Item = String>) -> Self {
        Self { inner, names: names.into_iter().collect() }
    }
}

impl<T: Toolbox> Toolbox for Filtered<T> {
    fn specs(&self) -> Vec<Spec> {
        let mut specs = self.inner.specs();
        specs.retain(|spec| self.names.contains(spec.name.as_ref()));
        specs
    }

    fn call<'a>(&'a self, invocation: &'a Invocation) -> BoxFuture<'a, Returned> {
        let name = &invocation.call.name;
        if self.names.contains(name) {
            return self.inner.call(invocation);
        }
        let text = format!("There is no tool `{name}` in this profile.");
        Box::pin(async move { Outcome::Refused(text).into() })
    }
}
