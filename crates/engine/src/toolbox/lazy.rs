//! Tools that are made with the first call, on a thread of their own: whoever else works does not wait for it.

use std::sync::Arc;

use sequester_core::future::BoxFuture;
use sequester_core::tool::{Invocation, Outcome, Returned, Spec, Toolbox};
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;

type Made = Result<Box<dyn Toolbox>, String>;

pub struct Lazy {
    specs: Vec<Spec>,
    make: Arc<dyn Fn() -> Made + Send + Sync>,
    made: OnceCell<Made>,
}

impl Lazy {
    /// `make` is called at most once; what it fails with is the answer to every call.
    pub fn new(specs: Vec<Spec>, make: impl Fn() -> Made + Send + Sync + 'static) -> Self {
        Self { specs, make: Arc::new(make), made: OnceCell::new() }
    }

    async fn made(&self) -> &Made {
        let make = Arc::clone(&self.make);
        let start = || async {
            let made = spawn_blocking(move || make()).await;
            made.unwrap_or_else(|error| Err(format!("The thread for it ended: {error}.")))
        };
        self.made.get_or_init(start).await
    }
}

impl Toolbox for Lazy {
    fn specs(&self) -> Vec<Spec> {
        self.specs.clone()
    }

    fn call<'a>(&'a self, invocation: &'a Invocation) -> BoxFuture<'a, Returned> {
        Box::pin(async move {
            match self.made().await {
                Ok(tools) => tools.call(invocation).await,
                Err(why) => {
                    Outcome::Failed(format!("The tools could not be started. {why}")).into()
                }
            }
        })
    }
}
