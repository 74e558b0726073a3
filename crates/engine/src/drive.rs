//! THE loop: it does what the machine decides, and nothing else.

use std::future::Future;

use futures_util::future::join_all;
use sequester_core::agent::{AgentRun, Ending, Step};
use sequester_core::provider::Provider;
use sequester_core::tool::Toolbox;
use tokio::time::{Instant, sleep, sleep_until};

use crate::feed::{Aloud, Feed, News};
use crate::stop::Stop;

/// Drives one attempt to its ending. Dropping the future abandons it; `stop` ends it and keeps what was done.
pub async fn drive(
    mut run: AgentRun,
    provider: &dyn Provider,
    toolbox: &dyn Toolbox,
    feed: &dyn Feed,
    stop: &Stop,
) -> Ending {
    let start = Instant::now();
    let end = start + run.wall();
    let deltas = Aloud(feed);
    loop {
        let done = match run.step(start.elapsed()) {
            Step::Ask(request) => {
                feed.tell(News::Asking);
                let reply = provider.complete(request, &deltas);
                bounded(reply, end, stop).await.map(|reply| match reply {
                    Ok(reply) => {
                        feed.tell(News::Replied(&reply));
                        run.replied(reply);
                    }
                    Err(error) => {
                        feed.tell(News::Failed(&error));
                        run.failed(error);
                    }
                })
            }
            Step::Call(invocations) => {
                feed.tell(News::Calling(&invocations));
                let calls = join_all(invocations.iter().map(|one| toolbox.call(one)));
                bounded(calls, end, stop).await.map(|results| {
                    feed.tell(News::Returned(&results));
                    run.returned(results);
                })
            }
            Step::Wait(delay) => bounded(sleep(delay), end, stop).await.map(|()| run.waited()),
            Step::Done(ending) => {
                feed.tell(News::Ended(ending));
                return ending.clone();
            }
        };
        match done {
            Ok(()) => {}
            Err(Cut::Stopped) => run.cancel(),
            Err(Cut::TimedOut) => run.time_out(),
        }
    }
}

/// Why an effect was not waited for.
enum Cut {
    Stopped,
    TimedOut,
}

async fn bounded<F: Future>(effect: F, end: Instant, stop: &Stop) -> Result<F::Output, Cut> {
    tokio::select! {
        biased;
        () = stop.stopped() => Err(Cut::Stopped),
        output = effect => Ok(output),
        () = sleep_until(end) => Err(Cut::TimedOut),
    }
}
