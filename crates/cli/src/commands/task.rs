//! `sequester task`: one isolated subagent, its report on standard output.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::Arc;

use sequester_core::agent::{self, Ending, Fault, Outcome as Ended, Role};
use sequester_core::context::IsolatedContext;
use sequester_core::fault::Code;
use sequester_core::limits::Limits;
use sequester_core::path::RepoPath;
use sequester_core::plan::Plan;
use sequester_core::provider::Kind;
use sequester_core::report::{Conclusion, Findings, Status};
use sequester_core::repository::Snapshot;
use sequester_core::source::Origin;
use sequester_engine::{Stop, block_on};
use sequester_survey::Survey;
use serde_json::{Value, json};

use crate::Outcome;
use crate::args::{Args, TaskArgs};
use crate::disk_cache::DiskCache;
use crate::failure::Failure;
use crate::output;
use crate::render::{progress::Progress, report as view, terminal};
use crate::wire::config::resolve_model;
use crate::wire::jail::Machine;
use crate::wire::{Connections, Evidence, Project, Subagent, refuse_profile};

pub(crate) fn run(args: &Args, given: &TaskArgs) -> Outcome {
    let text = super::read_text(&given.text)?;
    let project = Project::open(args)?;
    let role = project.agents.find(&given.agent)?;
    for (agent, _) in given.model.iter().filter_map(|flag| flag.split_once('=')) {
        project.agents.find(agent)?;
    }
    let profile = match &given.profile {
        Some(name) => role.granted_of(project.agents.profile(name)?),
        None => role.granted(&project.agents.profiles),
    };
    let profile =
        profile.map_err(|error| refuse_profile(&error))?.with_hosts(project.settings.hosts());
    let base = project.visible(None);
    let plan = plan_of(&text, given)?;
    let mut limits = project.settings.set_limits();
    for (limit, most) in profile.limits.clone().into_iter().chain(given.budget.iter().copied()) {
        limits.entry(limit).and_modify(|set| *set = (*set).min(most)).or_insert(most);
    }
    let context = build(&project, &base, &plan, role, &Limits::default().with(&limits))?;
    let context = project.admit_agent(context, role);
    let notes = project.notes().into_iter().chain(replacement(role));
    for note in notes {
        output::tell(&note);
    }
    let named: Vec<RepoPath> = plan.tasks[0].files.iter().map(|file| file.path.clone()).collect();
    let machine = Arc::new(Machine::look());
    machine.make_state()?;
    let subagent = Subagent {
        project: &project,
        machine,
        base: &base,
        role,
        profile,
        context: &context,
        named: &named,
        plan: BTreeSet::new(),
        grants: project.settings.grants().with_named(&named),
        limits,
    };
    let models = resolve_model(&given.model, None, role, &project.settings);
    let done = block_on(attempts(&subagent, &models, &plan.tasks[0].title));
    let done = done.map_err(|error| Failure::no_runtime(&error))?;
    show(args, &context, &done?)
}

/// The last attempt: the model that was asked, how it ended, what the runtime saw.
struct Done {
    model: String,
    ending: Ending,
    evidence: Evidence,
}

/// Each model in turn, until one does not give up.
async fn attempts(
    subagent: &Subagent<'_>,
    models: &[String],
    title: &str,
) -> Result<Done, Failure> {
    let connections = Connections::new(&subagent.project.settings)?;
    let stop =
        Stop::on_signal(|| std::process::exit(130)).map_err(|error| Failure::no_runtime(&error))?;
    let mut models = models.iter().map(String::as_str).peekable();
    let mut name = models.next().unwrap_or("auto");
    let mut rejected = Vec::new();
    loop {
        let connected = match connections.connect(name, &rejected).await {
            Ok(connected) => connected,
            Err(failure) => {
                // A model that cannot be had has given up before it began.
                let Some(next) = models.next() else { return Err(failure) };
                output::tell(failure.message());
                name = next;
                continue;
            }
        };
        let model = connected.provider.model().to_owned();
        subagent.can_be_priced(connected.provider.as_ref())?;
        if let Some(chosen) = &connected.chosen {
            for passed in &chosen.instead_of {
                output::tell(&format!("`{}` is passed over: {}", passed.provider, passed.why));
            }
            output::tell(&format!("the model is `{model}`: {}", chosen.why));
        }
        let equipment = subagent.equip(&connections, &connected)?;
        let feed = Progress::start(&subagent.role.name, title);
        let (ending, evidence) = subagent.attempt(equipment, &connected, &feed, &stop).await?;
        if let Some(passed) = connected.rejected(&ending) {
            output::tell(&format!("{} The next model is looked for.", passed.why));
            rejected.push(passed);
            continue;
        }
        let Some(next) = models.next_if(|_| gave_up(&ending)) else {
            return Ok(Done { model, ending, evidence });
        };
        output::tell(&format!("`{model}` gave up: {}", reason(&ending)));
        name = next;
    }
}

/// Whether another model may do better from a fresh start.
fn gave_up(ending: &Ending) -> bool {
    let blocked = ending.report.as_ref().is_some_and(|report| {
        matches!(report.verdict, Conclusion::Stop { status: Status::Blocked, .. })
    });
    blocked || matches!(ending.outcome, Ended::Failed { .. } | Ended::Refused { .. })
}

fn reason(ending: &Ending) -> String {
    match ending.report.as_ref().map(|report| &report.verdict) {
        Some(Conclusion::Stop { reason, .. }) => reason.clone(),
        _ => ending.outcome.sentence(),
    }
}

/// Whoever names a built-in agent should know when a file of the repository stands in for it.
fn replacement(role: &Role) -> Option<String> {
    let replaced = role.origin != Origin::BuiltIn && agent::find(&role.name).is_some();
    replaced
        .then(|| format!("`{}` is the agent of {}, not the built-in one.", role.name, role.origin))
}

fn plan_of(text: &str, given: &TaskArgs) -> Result<Plan, Failure> {
    let files = given.file.iter().map(|path| {
        RepoPath::parse(path).map_err(|_| {
            let hint = "Give paths from the root of the repository.";
            Failure::input(Code::BadPath, path, "This is no path inside the repository.", hint)
        })
    });
    Ok(Plan::single(text, files.collect::<Result<_, _>>()?, given.constraint.clone()))
}

fn build(
    project: &Project,
    base: &dyn Snapshot,
    plan: &Plan,
    role: &Role,
    limits: &Limits,
) -> Result<IsolatedContext, Failure> {
    let task = &plan.tasks[0];
    let missing =
        task.files.iter().find(|file| !base.entries().iter().any(|one| one.path == file.path));
    if let Some(file) = missing {
        let hint =
            "Name a file of the base; one that is not committed counts with `--include-dirty`.";
        return Err(Failure::input(
            Code::MissingFile,
            &file.path,
            "The file is not in the repository.",
            hint,
        ));
    }
    let cache = DiskCache::of(&project.root);
    let survey = Survey::of(base, project.history.as_deref(), &cache, limits);
    survey.single(plan, role, limits).map_err(|error| {
        Failure::input(
            Code::ContextTooLarge,
            "",
            error.to_string(),
            "Shorten the text or name fewer files.",
        )
    })
}

fn show(args: &Args, context: &IsolatedContext, done: &Done) -> Outcome {
    let Done { model, ending, evidence } = done;
    let failure = failure(ending).or_else(|| evidence.trouble.as_deref().map(lost));
    let is_lost = evidence.trouble.is_some() || is_lost(ending, evidence);
    let code = match exit_code(&ending.outcome) {
        0 if is_lost => ExitCode::FAILURE,
        code => ExitCode::from(code),
    };
    if !args.json {
        output::print(&view::render(ending, evidence, model, terminal::width()))?;
        return failure.map_or(Ok(code), Err);
    }
    let mut value = match &ending.report {
        Some(report) => json!(report),
        None => json!({ "task_id": context.task, "last_words": ending.last_words }),
    };
    add_evidence(&mut value, context, done);
    if let (Some(failure), Value::Object(map)) = (&failure, &mut value) {
        map.insert("error".to_owned(), failure.to_json());
    }
    output::print_json(&value)?;
    Ok(code)
}

/// Whether all that a subagent was to change is something that no change may hold: it is not done then, whatever it says.
fn is_lost(ending: &Ending, evidence: &Evidence) -> bool {
    let writes = ending
        .report
        .as_ref()
        .is_some_and(|report| matches!(report.findings, Findings::Write(_) | Findings::Execute(_)));
    let refused = !evidence.refused.is_empty() && evidence.files_changed.is_empty();
    ending.outcome == Ended::Done && writes && refused
}

/// The runtime's own part of the answer; where it saw which files changed, its word replaces the subagent's.
fn add_evidence(value: &mut Value, context: &IsolatedContext, done: &Done) {
    let changed: Vec<&str> =
        done.evidence.files_changed.iter().map(|one| one.path.as_str()).collect();
    if let Some(claimed) = value.pointer_mut("/findings/files_changed")
        && done.evidence.trouble.is_none()
    {
        *claimed = json!(changed);
    }
    let spent = &done.ending.spent;
    let extra = json!({
        "run": null,
        "outcome": done.ending.outcome.as_str(),
        "usage": spent,
        "evidence": done.evidence,
        "kept": done.ending.kept,
        "model": done.model,
        "agent": context.agent,
        "digest": context.digest,
    });
    if let (Value::Object(map), Value::Object(extra)) = (value, extra) {
        map.extend(extra);
    }
}

fn exit_code(outcome: &Ended) -> u8 {
    match outcome {
        Ended::Done => 0,
        Ended::Waiting => 3,
        Ended::BudgetExhausted { .. } => 4,
        Ended::Cancelled => 130,
        Ended::Failed { fault: Fault::Provider { error } } if is_input(error.kind) => 2,
        _ => 1,
    }
}

/// Whether a person has to change what was given before it can succeed. A model that babbles is not theirs to mend.
fn is_input(kind: Kind) -> bool {
    !kind.is_passing() && kind != Kind::TooLarge
}

/// The change of an attempt that ended well.
fn lost(why: &str) -> Failure {
    let hint = "The report stands, but nothing of the change was kept; run the task again.";
    Failure::work(Code::NoWorkspace, "", why, hint)
}

/// An ending without a report, as a failure with its code and what to do.
fn failure(ending: &Ending) -> Option<Failure> {
    let (code, hint) = match &ending.outcome {
        Ended::Done | Ended::Stopped | Ended::Waiting => return None,
        Ended::Failed { fault: Fault::NoReport { .. } } => {
            (Code::NoReport, "Take a stronger model with `--model`.")
        }
        Ended::Failed { fault: Fault::Provider { error } } => {
            (Code::ProviderFailed, error.kind.hint())
        }
        Ended::Failed { fault: Fault::Runtime { .. } } => {
            (Code::NoWorkspace, "Check the disk and `sequester doctor`, then run it again.")
        }
        Ended::TimedOut => {
            (Code::TimedOut, "Split the task, or raise `limits.wall` in your own configuration.")
        }
        Ended::Looped { .. } => {
            (Code::Looped, "Say in the task what to do instead, or take a stronger model.")
        }
        Ended::BudgetExhausted { .. } => {
            (Code::BudgetExhausted, "Split the task, or raise the budget.")
        }
        Ended::Cancelled => {
            (Code::Cancelled, "Start it again when you like; the repository is as it was.")
        }
        Ended::Refused { .. } => {
            (Code::ModelDeclined, "Say the task in other words, or take another model.")
        }
    };
    Some(Failure::ending(exit_code(&ending.outcome), code, ending.outcome.sentence(), hint))
}
