//! The runtime that everything is driven on.

use std::future::Future;
use std::io;

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
