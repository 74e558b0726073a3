//! Several toolboxes as one; the first that lists a name has it.

use sequester_core::future::BoxFuture;
use sequester_core::tool::{Invocation, Outcome, Returned, Spec, Toolbox};

pub struct Joined<'b>(pub Vec<Box<dyn Toolbox + 'b>>);

impl Toolbox for Joined<'_> {
    fn specs(&self) -> Vec<Spec> {
        let mut specs: Vec<Spec> = Vec::new();
        for spec in self.0.iter().flat_map(|toolbox| toolbox.specs()) {
            if specs.iter().all(|listed| listed.name != spec.name) {
                specs.push(spec);
            }
        }
        specs
    }

    fn call<'a>(&'a self, invocation: &'a Invocation) -> BoxFuture<'a, Returned> {
        let name = &invocation.call.name;
        let owner = self
            .0
            .iter()
            .find(|toolbox| toolbox.specs().iter().any(|spec| spec.name == name.as_str()));
        owner.map_or_else(
            || {
                let text = format!("There is no tool `{name}`.");
                let refused: BoxFuture<'a, Returned> =
                    Box::pin(async move { Outcome::Refused(text).into() });
                refused
            },
            |toolbox| toolbox.call(invocation),
        )
    }
}
