//! Arguments of the commands around runs.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use sequester_core::limits::Limit;
use sequester_core::record::Kind;

use super::{parse_budget, parse_model};

#[derive(Debug, clap::Args)]
pub(crate) struct StatusArgs {
    /// The run's id or its beginning; a task's id alone means the newest run that has it [default: a list of all runs, the newest first].
    pub(crate) run: Option<String>,

    /// Only this task.
    pub(crate) task: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    /// The run's id or its beginning; a task's id alone means the newest run that has it [default: the newest with a branch].
    pub(crate) run: Option<String>,

    /// The task's id.
    pub(crate) task: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct LogArgs {
    /// The run's id or its beginning; a task's id alone means the newest run that has it [default: the newest].
    pub(crate) run: Option<String>,

    /// Only what is about this task.
    pub(crate) task: Option<String>,

    /// Show every call with its arguments and the first lines of its result. With `--json`, one object a turn, whole.
    #[arg(long)]
    pub(crate) calls: bool,

    /// Show what the model said too. Implies `--calls`.
    #[arg(long)]
    pub(crate) turns: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RecordsArgs {
    /// The run's id or its beginning [default: the newest].
    pub(crate) run: Option<String>,

    /// Only what this task left, in full.
    #[arg(long, value_name = "TASK")]
    pub(crate) task: Option<String>,

    /// Only records of this kind: summary, note, artifact, backpack or interface.
    #[arg(long, value_name = "KIND", value_parser = parse_kind)]
    pub(crate) kind: Option<Kind>,
}

fn parse_kind(text: &str) -> Result<Kind, String> {
    let known = Kind::ALL.map(Kind::as_str);
    Kind::parse(text).ok_or_else(|| format!("known kinds are {}", known.join(", ")))
}

#[derive(Debug, clap::Args)]
pub(crate) struct DiffArgs {
    /// The run's id or its beginning; a task's id alone means the newest run that has it [default: the newest with a branch].
    pub(crate) run: Option<String>,

    /// Only what this task changed, be it done or not.
    pub(crate) task: Option<String>,

    /// The files alone, without the patch.
    #[arg(long)]
    pub(crate) stat: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct AnswerArgs {
    /// The question's id, as `inbox` lists it.
    pub(crate) question: String,

    /// The answer in your words, or the number or label of an option.
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) text: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct OpenArgs {
    /// The run's id or its beginning.
    pub(crate) run: String,

    /// The task's id.
    pub(crate) task: String,

    /// A directory that is not there yet [default: one in `.sequester/open`, which is printed].
    pub(crate) directory: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct HandBackArgs {
    /// The run's id or its beginning [default: the run of the worktree that you are in].
    #[arg(requires = "task")]
    pub(crate) run: Option<String>,

    /// The task's id [default: the task of the worktree that you are in].
    pub(crate) task: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CancelArgs {
    /// The run's id or its beginning.
    pub(crate) run: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    /// The run's id or its beginning [default: the newest].
    pub(crate) run: Option<String>,

    /// Also the bytes that the events name: requests, replies, reports, changes.
    #[arg(long)]
    pub(crate) blobs: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ApplyArgs {
    /// The run's id or its beginning [default: the newest with a branch].
    pub(crate) run: Option<String>,

    #[command(flatten)]
    pub(crate) how: How,

    /// Keep changes that are not committed, as long as no file has both.
    #[arg(long)]
    pub(crate) allow_dirty: bool,

    /// Tick the boxes of done tasks in the plan's file.
    #[arg(long)]
    pub(crate) tick: bool,
}

/// How a branch comes in, where HEAD is not just to move.
#[derive(Debug, clap::Args)]
pub(crate) struct How {
    /// Join the run's branch with commits made since, where HEAD cannot just move.
    #[arg(long, conflicts_with = "patch")]
    pub(crate) merge: bool,

    /// Put the changes into the index and the working tree, uncommitted.
    #[arg(long)]
    pub(crate) patch: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct AuditArgs {
    /// The run's id or its beginning [default: the newest with a branch].
    pub(crate) run: Option<String>,

    /// Also write all that proves the run to one file, for `sequester verify` on any machine.
    #[arg(long, value_name = "FILE")]
    pub(crate) bundle: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct VerifyArgs {
    /// What `sequester audit RUN --bundle FILE` wrote.
    pub(crate) file: PathBuf,

    /// Whose signature it must have: a public key, or a file that holds one.
    #[arg(long, value_name = "PUB")]
    pub(crate) signer: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct GcArgs {
    /// Only these runs, whatever their age and state.
    pub(crate) run: Vec<String>,

    /// Runs that ended and were not touched for so many days.
    #[arg(long, value_name = "DAYS", default_value_t = 30, conflicts_with = "run")]
    pub(crate) older_than: u32,

    /// Only say which runs would go.
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Do not ask before runs are removed. Without a terminal nothing is asked.
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ResumeArgs {
    /// The run's id, or how it begins [default: the newest that has not ended; with `--plan`, the newest of that plan].
    pub(crate) run: Option<String>,

    /// Tasks that failed, to be tried again. `failed` means all that failed, `all` also those that were skipped by a person or wait for
    /// an answer after a failure; a task of that very id comes first.
    #[arg(long, value_name = "TASK", value_delimiter = ',')]
    pub(crate) retry: Vec<String>,

    /// The model that open tasks go on with, or several to be tried in order; `AGENT=M` for one agent.
    #[arg(long, value_name = "M", value_parser = parse_model)]
    pub(crate) model: Vec<String>,

    /// The profile that open tasks are written in from now on.
    #[arg(long, value_name = "PROFILE")]
    pub(crate) profile: Option<String>,

    /// Your words to the tasks that are tried again; each sees them as a clarification, in this attempt and later ones.
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) say: Option<String>,

    /// Tasks that are done, to be done again; what they changed gives way to what they change now.
    #[arg(long, value_name = "TASK", value_delimiter = ',')]
    pub(crate) redo: Vec<String>,

    /// The plan as it was edited: open tasks take the new text.
    #[arg(long, value_name = "PLAN")]
    pub(crate) plan: Option<PathBuf>,

    /// The most that it may use from now on, in the place of what it had; what ended for lack of it is tried again.
    #[arg(long, value_name = "BUDGET", value_parser = parse_budget)]
    pub(crate) budget: Vec<(Limit, u64)>,

    /// How many tasks are worked on at once [default: the cores, at most 8].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,

    /// Stay until defaults are due, as a run in the background does.
    #[arg(long, hide = true)]
    pub(crate) linger: bool,
}
