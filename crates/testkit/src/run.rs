//! The start of a run, as it is recorded.

use std::collections::{BTreeMap, BTreeSet};

use sequester_core::agent::{self, Role};
use sequester_core::context::Share;
use sequester_core::digest::Digest;
use sequester_core::graph::TaskGraph;
use sequester_core::id::TreeId;
use sequester_core::limits::HandoverSizes;
use sequester_core::plan::{Plan, Task};
use sequester_core::recall::Relevance;
use sequester_core::record::Switches;
use sequester_core::run::{
    Agent, Base, Cap, Review, Settings, Source, Started, TaskSpec, VERSION, Workflows,
};

/// All tasks of a plan by one workflow, but for those that name one; each agent with the same models.
pub fn started(
    (plan, text): (&Plan, Digest),
    tree: TreeId,
    workflow: &str,
    roles: &[Role],
    models: &[String],
) -> Started {
    let graph = TaskGraph::new(plan).0;
    let phase = |name: &str| agent::find(name).map(|role| role.phase);
    let agents = roles.iter().map(|role| {
        let (phase, profile) = (role.phase, role.profile.clone());
        let (description, models) = (role.description.clone(), models.to_vec());
        (role.name.clone(), Agent { phase, profile, description, models })
    });
    let spec = |task: &Task| {
        let named = task.settings.workflow.clone();
        let workflow = named.unwrap_or_else(|| workflow.to_owned());
        TaskSpec { workflow, ..TaskSpec::of(task, &graph) }
    };
    let workflows = Workflows::read(&[]);
    Started {
        version: VERSION,
        notes: None,
        plan: Source {
            path: "plan.md".to_owned(),
            hides: BTreeSet::new(),
            format: None,
            parallel: false,
            tag: None,
            text,
        },
        base: Base { commit: None, tree, uncommitted: None },
        branch: "sequester/r1".to_owned(),
        tasks: plan.tasks.iter().map(spec).collect(),
        agents: agents.collect(),
        workflows: workflows.iter().map(|one| (one.name.clone(), one.completed(phase))).collect(),
        settings: Settings {
            share: Share::default(),
            relevance: Relevance::default(),
            records: Switches::default(),
            review: Review::default(),
            unattended: false,
            budget: Cap::default(),
            checks: BTreeMap::new(),
            grants: sequester_core::protected::Grants::default(),
            checks_off: BTreeSet::new(),
            fixes: 2,
            handover: HandoverSizes::default(),
            profile: None,
        },
    }
}
