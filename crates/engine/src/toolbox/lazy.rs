//! Tools that are made with the first call, on a thread of their own: whoever else works does not wait for it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sequester_core::future::BoxFuture;
use sequester_core::tool::{Invocation, Outcome, Returned, Spec, Toolbox};
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;

type Made = Result<Box<dyn Toolbox>, String>;

pub struct Lazy {
    specs: Vec<Spec>,
    making: Arc<Making>,
    made: OnceCell<Arc<Made>>,
}

/// Outlives a call that is given up while the tools are made.
struct Making {
    make: Box<dyn Fn() -> Made + Send + Sync>,
    stage: Mutex<Stage>,
}

enum Stage {
    Unmade,
    Made(Arc<Made>),
    /// Nobody wants them any more.
    Closed,
}

impl Making {
    /// Whoever asks while they are made waits.
    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn make(&self) {
        let mut stage = self.stage();
        if matches!(*stage, Stage::Unmade) {
            *stage = Stage::Made(Arc::new((self.make)()));
        }
    }
}

impl Lazy {
    /// `make` is called at most once; what it fails with is the answer to every call.
    pub fn new(specs: Vec<Spec>, make: impl Fn() -> Made + Send + Sync + 'static) -> Self {
        let making = Making { make: Box::new(make), stage: Mutex::new(Stage::Unmade) };
        Self { specs, making: Arc::new(making), made: OnceCell::new() }
    }

    async fn made(&self) -> &Made {
        let start = || async {
            let making = Arc::clone(&self.making);
            let ended = spawn_blocking(move || making.make()).await;
            match (&*self.making.stage(), ended) {
                (Stage::Made(made), _) => Arc::clone(made),
                (_, Err(error)) => Arc::new(Err(format!("The thread for it ended: {error}."))),
                _ => Arc::new(Err("They were given up.".to_owned())),
            }
        };
        self.made.get_or_init(start).await
    }
}

impl Drop for Lazy {
    /// Comes back when nothing is being made any more, and nothing will be: also where the call that began it was given up.
    fn drop(&mut self) {
        *self.making.stage() = Stage::Closed;
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
