//! `recall`: a subagent asks for what earlier tasks and earlier phases of its own left. It gets what its task may see.

use std::sync::{Arc, LazyLock};

use sequester_core::context::Share;
use sequester_core::digest::Digest;
use sequester_core::future::BoxFuture;
use sequester_core::id::TaskId;
use sequester_core::record::{Chosen, RECALL, phase_findings, rank_findings, recalled};
use sequester_core::store::RunStore;
use sequester_core::tool::{Effect, Invocation, Outcome, Returned, Spec, Toolbox};
use serde_json::{Value, json};

use super::log::Log;
use super::records::Records;
use super::world::{Member, Trouble};
use super::{Controller, blocking};

/// Of one attempt, while it works.
pub(super) struct Recall {
    records: Arc<Records>,
    log: Arc<Log>,
    store: Arc<dyn RunStore>,
    task: TaskId,
    /// Reports of earlier phases of the task.
    findings: Vec<Digest>,
    /// Whether records of other tasks pass.
    shares: bool,
    /// Tokens and bytes of one answer.
    budget: usize,
    bytes: usize,
}

/// Findings of earlier phases that an answer has at most.
const FINDINGS: usize = 10;
/// Characters of a question that are read.
const QUERY: usize = 2_000;

impl Controller {
    /// Nothing where no record passes from task to task and no earlier phase found anything.
    pub(super) fn recall(
        &self,
        task: &TaskId,
        member: &Member,
        findings: &[Digest],
    ) -> Option<Recall> {
        let shares = self.log.read(|run| run.started.settings.share != Share::None);
        (shares || !findings.is_empty()).then(|| Recall {
            records: Arc::clone(&self.records),
            log: Arc::clone(&self.log),
            store: Arc::clone(&self.world.store),
            task: task.clone(),
            findings: findings.to_vec(),
            shares,
            budget: member.records,
            bytes: member.output_bytes,
        })
    }
}

impl Recall {
    async fn answer(&self, arguments: &Value) -> Outcome {
        let query: String =
            arguments["query"].as_str().unwrap_or_default().chars().take(QUERY).collect();
        if query.trim().is_empty() {
            return Outcome::Failed("`query` must say what you want to know.".to_owned());
        }
        let (records, log) = (Arc::clone(&self.records), Arc::clone(&self.log));
        let (store, task) = (Arc::clone(&self.store), self.task.clone());
        let (reports, shares) = (self.findings.clone(), self.shares);
        let found = blocking(move || {
            let mut found = own_findings(store.as_ref(), &task, &reports, &query)?;
            if shares {
                found.extend(records.recall(&log, store.as_ref(), &task, &query)?);
            }
            Ok(found)
        })
        .await;
        match found.and_then(|found| found) {
            Ok(chosen) => Outcome::Output(recalled(&chosen, self.budget, self.bytes)),
            Err(trouble) => Outcome::Failed(format!("The records cannot be read. {trouble}")),
        }
    }
}

/// Findings of earlier phases of the task that the question is about.
fn own_findings(
    store: &dyn RunStore,
    task: &TaskId,
    reports: &[Digest],
    query: &str,
) -> Result<Vec<Chosen>, Trouble> {
    let mut findings = Vec::new();
    for (place, digest) in (1..).zip(reports) {
        if let Ok(report) = serde_json::from_slice(&store.blob(digest)?) {
            findings.extend(phase_findings(task, place, &report));
        }
    }
    Ok(rank_findings(findings, query, FINDINGS))
}

impl Toolbox for Recall {
    fn specs(&self) -> Vec<Spec> {
        static PARAMETERS: LazyLock<Arc<Value>> = LazyLock::new(|| {
            Arc::new(json!({
                "type": "object",
                "properties": {
                    "query": {
                        "type": "string",
                        "description": "What you want to know, in words that a record about it would have.",
                    },
                },
                "required": ["query"],
                "additionalProperties": false,
            }))
        });
        vec![Spec {
            name: RECALL.into(),
            description: "Looks for records of the work that yours builds on: summaries, interfaces, findings of earlier phases and what else was kept.".into(),
            parameters: Arc::clone(&PARAMETERS),
            effect: Effect::Reads,
        }]
    }

    fn call<'a>(&'a self, invocation: &'a Invocation) -> BoxFuture<'a, Returned> {
        Box::pin(async move { self.answer(&invocation.call.arguments).await.into() })
    }
}
