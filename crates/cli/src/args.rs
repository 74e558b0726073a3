//! The command line.

mod runs;
mod sandbox;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Arg, ArgAction, CommandFactory, FromArgMatches, Parser, Subcommand};
use sequester_core::budget;
use sequester_core::limits::Limit;
use sequester_core::plan::Format;
use sequester_core::protected::Grants;
use sequester_core::recall::Relevance;
use sequester_core::report::Phase;

pub(crate) use runs::{
    AnswerArgs, ApplyArgs, AuditArgs, CancelArgs, DiffArgs, ExportArgs, GcArgs, HandBackArgs,
    LogArgs, OpenArgs, RecordsArgs, ResumeArgs, ShowArgs, StatusArgs, VerifyArgs,
};
pub(crate) use sandbox::SandboxArgs;

/// Runs a plan with subagents that each see only what their task needs, and proves it.
#[derive(Debug, Parser)]
#[command(name = "sequester", version, max_term_width = 100)]
pub(crate) struct Args {
    /// Print one JSON value instead of text; `run` and `resume` print a line for each event.
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// The repository [default: the git root of the current folder].
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) repo: Option<PathBuf>,

    /// Read the working tree as it is, with its uncommitted changes, instead of HEAD.
    #[arg(long, global = true)]
    pub(crate) include_dirty: bool,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Commands that read the base of the repository.
const READ_BASE: [&str; 8] = ["agents", "context", "draft", "files", "init", "plan", "run", "task"];

impl Args {
    /// The command line, with each option in the help of the commands that it means something for.
    fn command_line() -> clap::Command {
        let mut command = Self::command();
        let names = command.get_subcommands().map(|one| one.get_name().to_owned());
        for name in names.collect::<Vec<_>>() {
            if !READ_BASE.contains(&name.as_str()) {
                let flag = Arg::new("include_dirty").long("include-dirty");
                let flag = flag.action(ArgAction::SetTrue).hide(true);
                command = command.mut_subcommand(name, |one| one.arg(flag));
            }
        }
        command
    }

    /// Texts may begin with a hyphen, as lists do. Hyphens are let through only where there is such a text: else a misspelt
    /// option would be taken for one.
    pub(crate) fn read(given: &[OsString]) -> Result<Self, clap::Error> {
        let mut command = Self::command_line();
        if given.iter().any(|argument| is_hyphened(&argument.to_string_lossy())) {
            let allow = |argument: Arg| argument.allow_hyphen_values(true);
            command = command
                .mut_subcommand("files", |files| files.mut_arg("text", allow))
                .mut_subcommand("recall", |recall| recall.mut_arg("text", allow))
                .mut_subcommand("task", |task| {
                    task.mut_arg("text", allow).mut_arg("constraint", allow)
                })
                .mut_subcommand("draft", |draft| {
                    draft.mut_arg("goal", allow).mut_arg("constraint", allow)
                })
                .mut_subcommand("answer", |answer| answer.mut_arg("text", allow));
        }
        let mut matches = command.try_get_matches_from_mut(given)?;
        Self::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
    }
}

/// Whether an argument is words, though it begins with a hyphen; `--option=words` is none.
fn is_hyphened(argument: &str) -> bool {
    let first = argument.split_whitespace().next().unwrap_or_default();
    first.starts_with('-') && first != argument && !first.contains('=')
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Look for checks, models and guarantees, and write a commented `sequester.toml`; everything works without one.
    Init,
    /// Show a plan's tasks, waves, write sets and faults, with tokens and a price estimate.
    Plan(PlanArgs),
    /// Show exactly what the subagent of one task would see, and why.
    Context(ContextArgs),
    /// Rank the repository's files for a task's text.
    Files(FilesArgs),
    /// Rank records, which earlier tasks left, for a task's text.
    Recall(RecallArgs),
    /// List the agents, or show one: its profile, tools, jail and prompt.
    Agents(NameArgs),
    /// List the profiles, or show one: its tools, hosts, limits and jail.
    Profiles(NameArgs),
    /// List the workflows, or show one: its steps, who takes them, what runs side by side.
    Workflows(NameArgs),
    /// Print the JSON Schemas of what goes to a subagent and comes back, all or one.
    Schema(NameArgs),
    /// Give one task to one isolated subagent and print its report.
    Task(TaskArgs),
    /// Let a subagent that changes nothing write a plan for a goal, for you to edit and run.
    Draft(DraftArgs),
    /// Run a plan: every task in a subagent of its own, checked by evidence, onto a branch to apply.
    Run(RunArgs),
    /// Take a run up again where it stopped.
    Resume(ResumeArgs),
    /// List the runs, or show how one stands: its tasks, questions and cost.
    Status(StatusArgs),
    /// Show a run with what isolation saved, or one of its tasks attempt by attempt.
    Show(ShowArgs),
    /// Tell what happened in a run, event by event.
    Log(LogArgs),
    /// List what the tasks of a run left for those that build on them.
    Records(RecordsArgs),
    /// Show what a run or one of its tasks changed, also what a waiting task has so far.
    Diff(DiffArgs),
    /// Show the project's notes: what people and subagents wrote down for later work, and who did.
    Notes(NotesArgs),
    /// List the questions that wait for an answer, of all runs.
    Inbox,
    /// Answer a question of the inbox.
    Answer(AnswerArgs),
    /// Make a worktree of a task's change, to edit it yourself.
    Open(OpenArgs),
    /// Hand the edited worktree of a task back: its checks are run on it like on any attempt.
    HandBack(HandBackArgs),
    /// End a run for good; what is done stays on its branch.
    Cancel(CancelArgs),
    /// Print a run as JSON lines, as it was recorded.
    Export(ExportArgs),
    /// Bring what a run made into your checkout.
    Apply(ApplyArgs),
    /// Prove from its records that a run kept its promises, or name each breach.
    Audit(AuditArgs),
    /// Check a bundle that `audit --bundle` wrote, on any machine and without the repository.
    Verify(VerifyArgs),
    /// Remove what old runs left behind, and give its space back.
    Gc(GcArgs),
    /// Run a command in your own folder under a profile, in the jail that a subagent of that profile would have.
    #[command(after_help = sandbox::AFTER_HELP)]
    Sandbox(SandboxArgs),
    /// Try what this machine gives: guarantees per profile, limits, models, checks.
    Doctor(DoctorArgs),
    /// Show what the repository asks for beyond what it may, and accept it as it stands.
    Trust(TrustArgs),
}

/// How a plan is read.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Reading {
    /// The plan's file, or a phase directory of GSD; `-` reads it from standard input.
    pub(crate) plan: PathBuf,

    /// The plan's format: superpowers, track, spec-kit, openspec, kiro, task-master, gsd, cursor, bmad, list, single or native [default: detected by
    /// content].
    #[arg(long, value_parser = parse_format, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,

    /// Let tasks whose declared files are disjoint run side by side, where the format says one after another.
    #[arg(long)]
    pub(crate) parallel: bool,

    /// Task Master: the tag whose tasks are read [default: `master`, else the first].
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Debug, Default, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is one switch of the command line")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) reading: Reading,

    /// The model, or several to be tried in order: `provider/model`, `auto`, `literal`, `strong`, `cheap`; `AGENT=M` for one agent.
    #[arg(long, value_name = "M", value_parser = parse_model)]
    pub(crate) model: Vec<String>,

    /// How many tasks are worked on at once [default: the cores, at most 8].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,

    /// The workflow of every task: solo, chain, pipeline, build, parallel, adaptive, or one of your own.
    #[arg(long, value_name = "W")]
    pub(crate) workflow: Option<String>,

    /// How far records travel: along the needs, to none, or from all earlier waves.
    #[arg(long, value_name = "SHARE", value_parser = ["needs", "none", "all-earlier"])]
    pub(crate) share: Option<String>,

    /// By what records are chosen of those that may be seen: words, seed (the last ten by counted words) or off.
    #[arg(long, value_name = "BY", value_parser = parse_relevance)]
    pub(crate) relevance: Option<Relevance>,

    /// The most that the whole run may use: tokens such as `200k`, dollars such as `5usd`.
    #[arg(long, value_name = "BUDGET", value_parser = parse_budget)]
    pub(crate) budget: Vec<(Limit, u64)>,

    /// A protected name, or a path in one, that writers of this run may change, such as `.claude/skills`; may be given again.
    #[arg(long, value_name = "PATH", value_parser = parse_grant)]
    pub(crate) grant: Vec<String>,

    /// Only these tasks; what they need must be done.
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub(crate) only: Vec<String>,

    /// These tasks again, though they are done.
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub(crate) redo: Vec<String>,

    /// Optional tasks too.
    #[arg(long)]
    pub(crate) optional: bool,

    /// Do not run the project's checks; what the task itself names is run all the same.
    #[arg(long)]
    pub(crate) no_checks: bool,

    /// Nobody is there: questions take their defaults, and without one the task has failed.
    #[arg(long)]
    pub(crate) unattended: bool,

    /// Start without asking, whatever it may cost.
    #[arg(long)]
    pub(crate) yes: bool,

    /// Go on in the background; what it asks waits in the inbox.
    #[arg(long)]
    pub(crate) detach: bool,
}

impl RunArgs {
    /// Each was looked at when it was read.
    pub(crate) fn grants(&self) -> Grants {
        let mut grants = Grants::default();
        self.grant.iter().for_each(|name| drop(grants.grant(name)));
        grants
    }
}

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is one switch of the command line")]
pub(crate) struct ContextArgs {
    /// The plan's file; `-` reads it from standard input.
    #[arg(required_unless_present = "run")]
    pub(crate) plan: Option<PathBuf>,

    /// The task's id.
    #[arg(required_unless_present = "run")]
    pub(crate) task: Option<String>,

    /// What was really shown in this run, without a plan: `sequester context --run RUN TASK`.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["agent", "format", "parallel", "diff"])]
    pub(crate) run: Option<String>,

    /// The plan's format: superpowers, track, spec-kit, openspec, kiro, task-master, gsd, cursor, bmad, list, single or native [default: detected by
    /// content].
    #[arg(long, value_parser = parse_format, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,

    /// Let tasks whose declared files are disjoint run side by side, where the format says one after another.
    #[arg(long)]
    pub(crate) parallel: bool,

    /// Task Master: the tag whose tasks are read [default: `master`, else the first].
    #[arg(long, value_name = "TAG", conflicts_with = "run")]
    pub(crate) tag: Option<String>,

    /// The last attempt of this phase, such as `write` or `review`.
    #[arg(long, value_name = "P", requires = "run", value_parser = parse_phase)]
    pub(crate) phase: Option<Phase>,

    /// The attempt of this number [default: the last].
    #[arg(long, value_name = "N", requires = "run")]
    pub(crate) attempt: Option<u32>,

    /// The agent that is to have the context [default: the task's own, else writer].
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,

    /// Show what was admitted and what was withheld, by which rule, instead of the text.
    #[arg(long, conflicts_with_all = ["diff", "task_call"])]
    pub(crate) manifest: bool,

    /// Print the handoff: the typed request that the prompt is rendered from, as JSON.
    #[arg(long, conflicts_with_all = ["diff", "task_call", "manifest"])]
    pub(crate) handoff: bool,

    /// Show what the context shares with that of another task.
    #[arg(long, value_name = "TASK", conflicts_with = "task_call")]
    pub(crate) diff: Option<String>,

    /// Print the context as the arguments of a Task call.
    #[arg(long)]
    pub(crate) task_call: bool,
}

impl ContextArgs {
    pub(crate) fn reading(&self) -> Reading {
        let Self { plan, format, parallel, tag, .. } = self;
        let plan = plan.clone().unwrap_or_default();
        Reading { plan, format: *format, parallel: *parallel, tag: tag.clone() }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct FilesArgs {
    /// The task's text, which may begin with a list's `- `; `-` alone reads it from standard input.
    pub(crate) text: String,

    /// How many files to show.
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) top: u16,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RecallArgs {
    /// The task's text, which may begin with a list's `- `; `-` alone reads it from standard input.
    pub(crate) text: String,

    /// The records, one JSON object a line: `id`, `title`, `summary`, `paths` and `age`, which is 1 for the task just before.
    #[arg(long, value_name = "FILE")]
    pub(crate) records: Option<PathBuf>,

    /// Instead of a list, what the tasks of this run left, by its id or its beginning [default: the newest].
    #[arg(long, value_name = "RUN", conflicts_with = "records")]
    pub(crate) run: Option<String>,

    /// Show the first of all records in their order, not only what a task would be given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) top: Option<u16>,

    /// By what records are chosen: the words they share with the text, the seed's rule, or not at all [default: as configured, else words].
    #[arg(long, value_name = "BY", value_parser = parse_relevance)]
    pub(crate) relevance: Option<Relevance>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TaskArgs {
    /// The task's text, which may begin with a list's `- `; `-` alone reads it from standard input.
    pub(crate) text: String,

    /// The agent that gets it.
    #[arg(long, value_name = "AGENT", default_value = "general-purpose")]
    pub(crate) agent: String,

    /// Another profile than the agent's own.
    #[arg(long, value_name = "P")]
    pub(crate) profile: Option<String>,

    #[command(flatten)]
    pub(crate) asking: Asking,

    /// A protected name, or a path in one, that writers of this run may change, such as `.claude/skills`; may be given again.
    #[arg(long, value_name = "PATH", value_parser = parse_grant)]
    pub(crate) grant: Vec<String>,
}

impl TaskArgs {
    /// The run of one task that it is.
    pub(crate) fn to_run(&self) -> RunArgs {
        let reading = Reading { format: Some(Format::Native), ..Reading::default() };
        let Asking { model, budget, .. } = self.asking.clone();
        let workflow = Some("solo".to_owned());
        let grant = self.grant.clone();
        RunArgs { reading, model, workflow, budget, grant, ..RunArgs::default() }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct DraftArgs {
    /// What is to be reached, in your words; `-` alone reads it from standard input.
    pub(crate) goal: String,

    /// Where the plan goes [default: standard output].
    #[arg(short, long, value_name = "PLAN")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) asking: Asking,
}

/// What one subagent is given, and what it may use.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Asking {
    /// The model, or several to be tried in order: `provider/model`, `auto`, `literal`, `strong`, `cheap`; `AGENT=M` for one agent.
    #[arg(long, value_name = "M", value_parser = parse_model)]
    pub(crate) model: Vec<String>,

    /// A file that the subagent is shown, from the root of the repository; a writer may change it even if it is a build
    /// service's.
    #[arg(long, value_name = "PATH")]
    pub(crate) file: Vec<String>,

    /// A constraint that the work must keep.
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) constraint: Vec<String>,

    /// The most it may use: tokens such as `200k`, dollars such as `5usd`.
    #[arg(long, value_name = "BUDGET", value_parser = parse_budget)]
    pub(crate) budget: Vec<(Limit, u64)>,
}

/// One that names nothing would mean `auto`, and nobody said that.
fn parse_model(text: &str) -> Result<String, String> {
    let (agent, models) = text.split_once('=').map_or((None, text), |(one, two)| (Some(one), two));
    let named = models.split(',').all(|model| !model.trim().is_empty());
    if named && agent.is_none_or(|agent| !agent.trim().is_empty()) {
        return Ok(text.to_owned());
    }
    Err("expected a model such as `provider/model`, or `AGENT=M`".to_owned())
}

fn parse_grant(text: &str) -> Result<String, String> {
    match Grants::default().grant(text) {
        Ok(()) => Ok(text.to_owned()),
        Err(error) => Err(format!("{error} {}", error.hint())),
    }
}

fn parse_budget(text: &str) -> Result<(Limit, u64), String> {
    budget::parse(text)
        .map_err(|_| "expected tokens such as `200k`, or dollars such as `5usd`".into())
}

#[derive(Debug, clap::Args)]
pub(crate) struct NotesArgs {
    /// Make `.sequester/NOTES.md` with the usual sections, where there is none.
    #[arg(long)]
    pub(crate) init: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct NameArgs {
    /// Show this one in full.
    pub(crate) name: Option<String>,
}

fn parse_relevance(text: &str) -> Result<Relevance, String> {
    Relevance::parse(text).ok_or_else(|| {
        let known: Vec<&str> = Relevance::ALL.iter().map(|one| one.as_str()).collect();
        format!("expected one of {}", known.join(", "))
    })
}

fn parse_phase(text: &str) -> Result<Phase, String> {
    Phase::named(text).ok_or_else(|| {
        let known: Vec<&str> = Phase::ALL.iter().map(|phase| phase.as_str()).collect();
        format!("known phases are {}", known.join(", "))
    })
}

fn parse_format(text: &str) -> Result<Format, String> {
    Format::parse(text).ok_or_else(|| {
        let known: Vec<&str> = Format::ALL.iter().map(|format| format.as_str()).collect();
        format!("known formats are {}", known.join(", "))
    })
}

#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// Do not run the project's checks, which are otherwise tried in the jail of `validate`.
    #[arg(long)]
    pub(crate) no_checks: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TrustArgs {
    /// Only these: files of the repository, or plans [default: all files of the repository that ask for something].
    pub(crate) file: Vec<PathBuf>,

    /// Accept without asking.
    #[arg(long)]
    pub(crate) yes: bool,

    /// Take trust back.
    #[arg(long, conflicts_with = "yes")]
    pub(crate) forget: bool,
}
