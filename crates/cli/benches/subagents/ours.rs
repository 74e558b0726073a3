//! A subagent as the product drives it, with its tools in memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sequester_core::agent::{AgentRun, Outcome as Ended};
use sequester_core::budget::Budget;
use sequester_core::future::BoxFuture;
use sequester_core::limits::OUTPUT_BYTES;
use sequester_core::secret::SecretSet;
use sequester_core::tool::{Invocation, Outcome, Returned, Spec, Toolbox};
use sequester_engine::{Capped, Filtered, Joined, Redacted, Silent, Stop, drive};
use sequester_llm::{Models, Named, Pool, Remote, Sources, Timeouts, resolve};

use super::case::{Case, KEY, OUTPUT, result};

/// What all subagents share.
pub(crate) struct Ours {
    case: Case,
    system: Arc<str>,
    remote: Remote,
    stop: Stop,
}

impl Ours {
    pub(crate) fn new(case: Case, address: &str) -> Self {
        let (service, variable) = case.service();
        let base = match case.wire {
            sequester_testkit::model::Wire::Anthropic => format!("http://{address}"),
            _ => format!("http://{address}/v1"),
        };
        let sources = Sources {
            models: &Models::default(),
            environment: &|name| (name == variable).then(|| base.clone()),
            command: &|_| Some(Ok(KEY.to_owned())),
        };
        let Ok(Named::Target(target)) = resolve(&format!("{service}/{}", case.model()), &sources)
        else {
            unreachable!("the name is of a model over the network")
        };
        let pool = Pool::new(Timeouts::default()).unwrap();
        Self {
            case,
            system: case.system(),
            remote: Remote::new(&pool, target),
            stop: Stop::default(),
        }
    }

    /// Whether it ended with a valid report.
    pub(crate) async fn talk(&self, number: usize) -> bool {
        let toolbox = toolbox();
        let budget = Budget { output: OUTPUT, ..Budget::default() };
        let run = AgentRun::new(self.case.brief(&self.system, number), budget);
        let ending = drive(run, &self.remote, &toolbox, &Silent, &self.stop).await;
        matches!(ending.outcome, Ended::Done) && ending.report.is_some()
    }
}

/// Wrapped as `sequester task` wraps it.
fn toolbox() -> impl Toolbox {
    let names = sequester_tools::specs().into_iter().map(|spec| spec.name.into_owned());
    let granted = Filtered::new(Joined(vec![Box::new(InMemory::default())]), names);
    let inner = Redacted::new(Joined(vec![Box::new(granted)]), SecretSet::default());
    Capped { inner, bytes: OUTPUT_BYTES }
}

#[derive(Default)]
struct InMemory(AtomicUsize);

impl Toolbox for InMemory {
    fn specs(&self) -> Vec<Spec> {
        sequester_tools::specs()
    }

    fn call<'a>(&'a self, _: &'a Invocation) -> BoxFuture<'a, Returned> {
        let call = self.0.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move { Outcome::Output(result(call)).into() })
    }
}
