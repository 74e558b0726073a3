//! A way to end an attempt from outside.

use std::sync::Arc;

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
    /// Stops when the person presses Ctrl-C, and tells when they press it once more. To be called inside the runtime.
    pub fn on_interrupt(again: impl FnOnce() + Send + 'static) -> Self {
        let stop = Self::default();
        let theirs = stop.clone();
        tokio::spawn(async move {
            if tokio::signal::ctrl_c().await.is_ok() {
                theirs.stop();
            }
            if tokio::signal::ctrl_c().await.is_ok() {
                again();
            }
        });
        stop
    }

    pub fn stop(&self) {
        self.0.send_replace(true);
    }

    pub(crate) async fn stopped(&self) {
        let mut told = self.0.subscribe();
        // The sender lives as long as `self`, so this ends only when somebody stops.
        let _ = told.wait_for(|stopped| *stopped).await;
    }
}
