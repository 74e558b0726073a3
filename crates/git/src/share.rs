//! Many small pieces of work, shared out over the processors.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use sequester_core::repository::Error;

/// So many pieces are taken at once.
const PIECES: usize = 64;
const MOST_THREADS: usize = 8;

/// Does the work for each of `0..count` and gives the results in that order, or one of the errors.
pub(crate) fn share<T: Send + Default + Clone>(
    count: usize,
    work: impl Fn(usize) -> Result<T, Error> + Sync,
) -> Result<Vec<T>, Error> {
    share_in_batches(count, |batch, results| {
        for at in batch {
            results.push((at, work(at)?));
        }
        Ok(())
    })
}

/// The same for work that is better done for neighbours together.
pub(crate) fn share_in_batches<T: Send + Default + Clone>(
    count: usize,
    work: impl Fn(std::ops::Range<usize>, &mut Vec<(usize, T)>) -> Result<(), Error> + Sync,
) -> Result<Vec<T>, Error> {
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(None));
    let worker = || {
        let mut results = Vec::new();
        loop {
            let start = next.fetch_add(PIECES, Ordering::Relaxed);
            if start >= count {
                return results;
            }
            if let Err(error) = work(start..count.min(start + PIECES), &mut results) {
                *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                next.store(count, Ordering::Relaxed);
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    let mut all = vec![T::default(); count];
    thread::scope(|scope| {
        let threads = threads.min(count.div_ceil(PIECES));
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(worker)).collect();
        let own = worker();
        let others = others.into_iter().filter_map(|other| other.join().ok());
        for (at, result) in others.flatten().chain(own) {
            all[at] = result;
        }
    });
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(all),
    }
}
