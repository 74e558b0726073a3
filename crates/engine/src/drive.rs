//! THE loop: it does what the machine decides, and nothing else.

use std::future::Future;
use std::time::Duration;

use futures_util::future::join_all;
use sequester_core::agent::{AgentRun, Ending, Step};
use sequester_core::provider::Provider;
use sequester_core::tool::Toolbox;
use tokio::time::{Instant, sleep, sleep_until};

use crate::feed::{Aloud, Feed, News};
use crate::journal::{Halt, Journal, Unrecorded};
use crate::stop::Stop;

/// Drives one attempt to its ending. Dropping the future abandons it; `stop` ends it and keeps what was done.
pub async fn drive(
    mut run: AgentRun,
    provider: &dyn Provider,
    toolbox: &dyn Toolbox,
    feed: &dyn Feed,
    stop: &Stop,
) -> Ending {
    let ended = record(&mut run, provider, toolbox, feed, &mut Unrecorded, stop).await;
    match ended {
        Ok(ending) => ending,
        // Nobody who writes nothing down stops it.
        Err(_) => cancelled(run),
    }
}

fn cancelled(mut run: AgentRun) -> Ending {
    loop {
        run.cancel();
        if let Step::Done(ending) = run.step(Duration::ZERO) {
            return ending.clone();
        }
    }
}

/// The same, with every step written down before the next begins. Where the journal halts it, `run` is as far as was written.
pub async fn record(
    run: &mut AgentRun,
    provider: &dyn Provider,
    toolbox: &dyn Toolbox,
    feed: &dyn Feed,
    journal: &mut dyn Journal,
    stop: &Stop,
) -> Result<Ending, Halt> {
    let (start, before) = (Instant::now(), run.elapsed());
    let end = start.checked_add(run.left()).unwrap_or(start + FOR_EVER);
    let elapsed = || before + start.elapsed();
    let deltas = Aloud(feed);
    loop {
        let now = elapsed();
        let done = match run.step(now) {
            Step::Ask(request) => {
                let asked = async {
                    journal.asking(request.messages, now).await?;
                    feed.tell(News::Asking);
                    Ok::<_, Halt>(provider.complete(request, &deltas).await)
                };
                let reply = bounded(asked, end, stop).await;
                let now = elapsed();
                run.tick(now);
                match reply {
                    Ok(reply) => {
                        let mut reply = reply?;
                        if let Ok(reply) = &mut reply {
                            // Who is asked may not count; what is kept does.
                            reply.usage = run.counted(reply);
                        }
                        journal.replied(reply.as_ref(), now);
                        match reply {
                            Ok(reply) => {
                                feed.tell(News::Replied(&reply));
                                run.replied(reply);
                            }
                            Err(error) => {
                                run.failed(error.clone());
                                feed.tell(News::Failed(&error, run.waits()));
                            }
                        }
                        Ok(())
                    }
                    Err(cut) => Err(cut),
                }
            }
            Step::Call(invocations) => {
                journal.calling(&invocations).await?;
                feed.tell(News::Calling(&invocations));
                let calls = join_all(invocations.iter().map(|one| toolbox.call(one)));
                let results = bounded(calls, end, stop).await;
                let now = elapsed();
                run.tick(now);
                match results {
                    Ok(results) => {
                        feed.tell(News::Returned(&results));
                        journal.returned(&results, now).await?;
                        run.returned(results);
                        Ok(())
                    }
                    Err(cut) => Err(cut),
                }
            }
            Step::Wait(delay) => tokio::select! {
                biased;
                halt = journal.rest() => return Err(halt),
                waited = bounded(sleep(delay), end, stop) => waited.map(|()| run.waited()),
            },
            Step::Done(ending) => {
                feed.tell(News::Ended(ending));
                return Ok(ending.clone());
            }
        };
        match done {
            Ok(()) => {}
            Err(Cut::Stopped) => run.cancel(),
            Err(Cut::TimedOut) => run.time_out(),
        }
    }
}

const FOR_EVER: Duration = Duration::from_hours(24 * 365);

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
