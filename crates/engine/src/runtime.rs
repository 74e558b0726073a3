//! The runtime that everything is driven on.

use std::future::Future;
use std::io;
use std::time::Duration;

/// Runs a future to its end on a runtime of its own, on this thread alone.
///
/// On several threads a connection could hand out pieces as fast as its reader takes them: genai's reader then never comes
/// back, and neither a limit of time nor Ctrl-C ends it.
pub fn block_on<F: Future>(future: F) -> io::Result<F::Output> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let output = runtime.block_on(future);
    // A blocking call that hangs does not keep the program alive.
    runtime.shutdown_background();
    Ok(output)
}

/// Gives others their turn for a while.
pub async fn pause(time: Duration) {
    tokio::time::sleep(time).await;
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// What the bounds on a reply rest on.
    #[test]
    fn all_that_is_spawned_shares_the_callers_thread() {
        let ids = block_on(async {
            let spawned = (0..8).map(|_| tokio::spawn(async { thread::current().id() }));
            futures_util::future::join_all(spawned.collect::<Vec<_>>()).await
        });
        let here = thread::current().id();
        assert!(ids.unwrap().into_iter().all(|id| id.unwrap() == here));
    }
}
