//! `sequester context`: the exact bytes that the subagent of one task would be shown, and why.

mod recorded;

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use sequester_core::agent::Role;
use sequester_core::context::{self, Builder, IsolatedContext, Request, Share, Shelf};
use sequester_core::fault::{Code, Fault};
use sequester_core::handoff::Handoff;
use sequester_core::id::TaskId;
use sequester_core::limits::Limits;
use sequester_core::notes::Notes;
use sequester_core::plan::Task;
use sequester_core::record::Pack;
use sequester_core::spelling;
use sequester_survey::{Index, Outlines, Survey};

use crate::Outcome;
use crate::args::{Args, ContextArgs};
use crate::disk_cache::DiskCache;
use crate::failure::Failure;
use crate::output;
use crate::render::context::{self as view, Difference};
use crate::render::terminal;
use crate::wire::notes::Book;
use crate::wire::{PlanFile, Project};

pub(crate) fn run(args: &Args, given: &ContextArgs) -> Outcome {
    let Some(task) = given.task.as_deref().filter(|_| given.run.is_none()) else {
        let run = given.run.as_deref().unwrap_or_default();
        let (context, title) = recorded::read(args, given, run)?;
        return show(args, given, &context, None, &title);
    };
    let project = Project::open(args)?;
    let limits = project.settings.limits();
    let file = PlanFile::read(&given.reading(), &limits)?;
    refuse_faulty(&file, &project)?;
    let companions = file.companions(&project);
    let visible = project.visible(Some((&file, &companions)));
    let cache = DiskCache::of(&project.root);
    let checks = project.found_checks(&visible).into_iter();
    let checks = checks.filter_map(|one| Some((one.kind, one.command?))).collect();
    let survey = Survey::of(&visible, project.history.as_deref(), &cache, &limits, &checks);
    let noted = Book::of(&project.root).opening(project.settings.records());
    let untold = noted.as_ref().err().cloned();
    let notes = Notes::parse(&noted.unwrap_or_default()).standing();
    // Nobody packed anything yet; where backpacks pass, the context says so.
    let (empty, settings) = (Pack::default(), &project.settings);
    let is_closed = settings.share() == Share::None;
    let backpack = (settings.records().backpack && !is_closed).then_some(&empty);
    let build = |id: &str| -> Result<IsolatedContext, Failure> {
        let task = find_task(&file, id)?;
        let role = choose_role(given, task, &project)?;
        let profile = project.agents.granted(role, task.settings.profile.as_deref())?;
        let sizes = Limits::default().with(&profile.lower(&settings.set_limits()));
        // As a run does it: a profile that lowers nothing shares what was surveyed.
        let lowered = (sizes != limits).then(|| {
            let index = Index::open(&visible, project.history.as_deref(), &cache, &sizes);
            (index, Shelf::new(&visible, &Outlines, &sizes))
        });
        let (index, shelf) =
            lowered.as_ref().map_or((&survey.index, &survey.shelf), |(i, s)| (i, s));
        let (plan, graph, architecture) = (&file.plan, &file.graph, &survey.architecture);
        let mut builder =
            Builder::new(plan, graph, architecture, shelf, index, &sizes, &companions);
        (builder.notes, builder.share) = (&notes, settings.share());
        let request = Request { backpack, ..Request::new(&task.id, role) };
        let context = builder.build(&request).map_err(|error| refuse(&file, &error))?;
        Ok(project.admit_agent(context, role))
    };
    let context = build(task)?;
    let other = given.diff.as_deref().map(build).transpose()?;
    let title = find_task(&file, task)?.title.clone();
    for note in project.notes().iter().chain(&untold) {
        output::tell(note);
    }
    show(args, given, &context, other.as_ref(), &title)
}

fn show(
    args: &Args,
    given: &ContextArgs,
    context: &IsolatedContext,
    other: Option<&IsolatedContext>,
    title: &str,
) -> Outcome {
    let difference = other.map(|other| Difference::of(context, other));
    match &difference {
        Some(difference) if args.json => output::print_json(difference),
        Some(difference) => output::print(&difference.render(terminal::width())),
        None if given.handoff && args.json => output::print_json(&handoff(context)?),
        None if given.handoff => output::print_indented_json(&handoff(context)?),
        None if given.task_call && io::stdout().is_terminal() => {
            output::print_indented_json(&context.to_task_call(title))
        }
        None if given.task_call => output::print_json(&context.to_task_call(title)),
        None if args.json && given.manifest => output::print_json(&manifest(context)),
        None if args.json => output::print_json(context),
        None if given.manifest => output::print(&view::manifest(context, terminal::width())),
        None if terminal::takes_colours() => output::print(&view::coloured(context)),
        None if io::stdout().is_terminal() => output::print(&terminal::clean(&context.to_prompt())),
        None => output::print(&context.to_prompt()),
    }?;
    Ok(ExitCode::SUCCESS)
}

/// What the prompt is rendered from.
fn handoff(context: &IsolatedContext) -> Result<&Handoff, Failure> {
    context.handoff.as_ref().ok_or_else(|| {
        let message = "This attempt has no handoff: an older version of sequester recorded it.";
        let hint = "Leave `--handoff` out to see the context itself.";
        Failure::input(Code::BadArguments, context.task.as_str(), message, hint)
    })
}

/// The JSON of a context without its text.
fn manifest(context: &IsolatedContext) -> serde_json::Value {
    let IsolatedContext { task, agent, digest, tokens, manifest, .. } = context;
    serde_json::json!({
        "task": task, "agent": agent, "digest": digest, "tokens": tokens,
        "fragments": manifest.fragments, "withheld": manifest.withheld,
    })
}

/// A context of a faulty plan would prove nothing.
pub(super) fn refuse_faulty(file: &PlanFile, project: &Project) -> Result<(), Failure> {
    let all = project.faults_of(file);
    let worst = all.iter().find(|fault| fault.code.is_trust()).or(all.first());
    let Some(first) = worst else {
        return Ok(());
    };
    let faults = terminal::plural(all.len(), "fault");
    let hint = format!(
        "{} Nothing is done with a plan with faults: `sequester plan {}` shows {faults}.",
        first.hint, file.name
    );
    let first = Fault { hint, ..first.clone() };
    Err(Failure::of_fault(&first, place(file, &first)))
}

fn place(file: &PlanFile, fault: &Fault) -> String {
    format!("{}:{}:{}", file.name, fault.place.line, fault.place.column)
}

fn find_task<'a>(file: &'a PlanFile, id: &str) -> Result<&'a Task, Failure> {
    file.plan.task(&TaskId::from(id)).ok_or_else(|| {
        let ids = || file.plan.tasks.iter().map(|task| task.id.as_str());
        let under = format!("{id}.");
        let below: Vec<&str> = ids().filter(|known| known.starts_with(&under)).take(20).collect();
        let (message, known) = if below.is_empty() {
            (format!("The plan has no task `{id}`."), ids().take(20).collect())
        } else {
            (format!("`{id}` is a group of tasks, not a task."), below.clone())
        };
        let meant = spelling::perhaps(id, ids()).filter(|_| below.is_empty());
        let hint = meant
            .unwrap_or_else(|| format!("Name one of its tasks, such as {}.", known.join(", ")));
        Failure::input(Code::UnknownTask, &file.name, message, hint)
    })
}

fn choose_role<'a>(
    given: &ContextArgs,
    task: &Task,
    project: &'a Project,
) -> Result<&'a Role, Failure> {
    let name = given.agent.as_deref().or(task.settings.agent.as_deref()).unwrap_or("writer");
    project.agents.find(name)
}

fn refuse(file: &PlanFile, error: &context::Error) -> Failure {
    match error {
        context::Error::TooLarge(fault) => Failure::input(
            fault.code,
            place(file, fault),
            fault.message.clone(),
            fault.hint.clone(),
        ),
        context::Error::UnknownTask(_) => Failure::input(
            Code::UnknownTask,
            &file.name,
            error.to_string(),
            "Name a task of the plan.",
        ),
    }
}
