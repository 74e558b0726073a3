//! A way to end an attempt from outside.

use std::io;
use std::sync::Arc;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// Held by whoever may stop; clones stop together.
#[derive(Clone, Debug)]
pub struct Stop(Arc<watch::Sender<bool>>);

impl Default for Stop {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }
}

impl Stop {
    /// Stops when the person presses Ctrl-C or the system wants the process gone (SIGTERM), and tells the first time and when
    /// either comes once more. To be called inside the runtime.
    pub fn on_signal(
        first: impl FnOnce() + Send + 'static,
        again: impl FnOnce() + Send + 'static,
    ) -> io::Result<Self> {
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        let stop = Self::default();
        let theirs = stop.clone();
        tokio::spawn(async move {
            let mut told = async || {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
            };
            told().await;
            theirs.stop();
            first();
            told().await;
            again();
        });
        Ok(stop)
    }

    pub fn stop(&self) {
        self.0.send_replace(true);
    }

    pub fn is_stopped(&self) -> bool {
        *self.0.borrow()
    }

    pub(crate) async fn stopped(&self) {
        let mut told = self.0.subscribe();
        // The sender lives as long as `self`, so this ends only when somebody stops.
        let _ = told.wait_for(|stopped| *stopped).await;
    }
}
