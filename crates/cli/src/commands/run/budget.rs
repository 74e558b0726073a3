//! The budget of a run that nobody gave one, and what happens in a terminal once a budget is spent.

use std::sync::Arc;

use sequester_core::limits::Limit;
use sequester_core::run::{Cap, Entry, Event, RunState, Scope, Started};
use sequester_core::store::Batch;
use sequester_engine::{Log, Trouble};

use super::view;
use crate::args::RunArgs;
use crate::failure::Failure;
use crate::wire::run::estimate;
use crate::wire::{PlanFile, Project, refuse_trouble};

/// What a run may cost, as a multiple of what it is estimated to cost.
const TIMES: f64 = 3.0;
const MILLIONTHS: f64 = 1e6;

/// Three times the estimate at the dearest model, in millionths of a dollar. Nothing where somebody set a limit, where nothing
/// costs, or where a price is not known.
pub(super) fn default_budget<'m>(
    (project, file): (&Project, &PlanFile),
    given: &RunArgs,
    started: &Started,
    paid: impl IntoIterator<Item = &'m String>,
) -> Option<u64> {
    let limits = project.settings.set_limits();
    let is_set = [Limit::Tokens, Limit::Price].iter().any(|limit| limits.contains_key(limit));
    if is_set || !given.budget.is_empty() {
        return None;
    }
    let costs: Option<Vec<f64>> =
        paid.into_iter().map(|model| estimate(file, started, model)).collect();
    let dollars = costs?.into_iter().fold(0.0, f64::max) * TIMES;
    // Whole cents, as it is told.
    #[expect(clippy::cast_sign_loss, reason = "prices and counts are not negative")]
    let cents = (dollars * 100.0).ceil() as u64;
    (cents > 0).then_some(cents * 10_000)
}

pub(super) fn told(price: u64) -> String {
    format!(
        "The budget of this run is ${:.2}, three times its estimate. `--budget` sets another.",
        dollars(price)
    )
}

fn dollars(price: u64) -> f64 {
    price as f64 / MILLIONTHS
}

/// Asks in a terminal for as much again; whether the run goes on.
pub(super) async fn raise(log: &Arc<Log>, cap: Cap) -> Result<bool, Failure> {
    let amount = match cap {
        Cap { price: Some(price), .. } => format!("${:.2}", dollars(price)),
        Cap { tokens: Some(tokens), .. } => format!("{tokens} tokens"),
        Cap { .. } => return Ok(false),
    };
    if !view::agree(&format!("The budget of the run is spent. Go on with another {amount}?"))? {
        return Ok(false);
    }
    let retry = log.read(RunState::poor);
    let event = Event::RunResumed { retry, budget: Some(cap) };
    let entries = vec![Entry { scope: Scope::default(), event }];
    let kept = log.append(Batch { entries, blobs: Vec::new() }).await;
    kept.map_err(|error| refuse_trouble(&Trouble::Store(error)))?;
    Ok(true)
}
