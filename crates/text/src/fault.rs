//! What is wrong with an input, where, and what to do about it.

use std::fmt;

use serde::Serialize;

/// A place in a text, counted from 1; columns count characters, as editors do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Place {
    pub line: u32,
    pub column: u32,
}

/// One thing that is wrong with a plan. Parsing collects all of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    pub code: Code,
    pub message: String,
    #[serde(flatten)]
    pub place: Place,
    pub hint: String,
}

impl Fault {
    /// For a file of the repository that stands for something built in which only the person may replace.
    pub fn replaces(what: &str) -> Self {
        let message = format!("This replaces {what}. It is not used; the built-in one is.");
        let hint = "Accept it as it stands with `sequester trust`.";
        Self::new(Code::UntrustedSetting, Place { line: 1, column: 1 }, message, hint)
    }

    pub fn new(
        code: Code,
        place: Place,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self { code, message: message.into(), place, hint: hint.into() }
    }
}

/// A fault of a file that is named beside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileFault {
    pub file: String,
    #[serde(flatten)]
    pub fault: Fault,
}

/// The closed set of codes; each has a page in `docs/reference/errors/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// An answer could not be written.
    Unwritable,
    /// A file or folder that was named could not be read.
    Unreadable,
    /// The repository cannot be used.
    NoRepository,
    /// The plan has no task of that id.
    UnknownTask,
    /// No agent has that name.
    UnknownAgent,
    /// The command line cannot be understood.
    BadArguments,
    /// The plan holds no text at all.
    EmptyPlan,
    /// The plan is not UTF-8 text.
    NotText,
    /// The plan is larger than the limit.
    PlanTooLarge,
    /// No task was found.
    NoTasks,
    /// Two tasks have one id.
    DoubledId,
    /// A need names no task of the plan.
    UnknownNeed,
    /// Tasks need each other in a circle.
    Cycle,
    /// A task has a heading and nothing else.
    EmptyTask,
    /// Front matter, a task block or `tasks.json` does not have the expected shape.
    BadSyntax,
    /// A key that the format does not know.
    UnknownKey,
    /// A path that is absolute, leaves the repository or is no path.
    BadPath,
    /// A file to modify, delete or read that is nowhere.
    MissingFile,
    /// A file that only a task which is not needed creates.
    MissingNeed,
    /// Two side-by-side tasks write one file.
    WriteConflict,
    /// The format is a guess that a person confirms.
    GuessedShape,
    /// The task's own text and constraints do not fit in a context.
    ContextTooLarge,
    /// The numbers of tasks jump.
    NumberGap,
    /// An open checkbox that no task takes.
    UntakenBox,
    /// A code block that is not closed, or that holds a task.
    OpenFence,
    /// A section that looks like work and became no task.
    UntakenTask,
    /// The plan's own order of its tasks is not used.
    UnusedOrder,
    /// A folder that cannot be a workspace.
    BadWorkspace,
    /// A jail that cannot be had.
    NoJail,
    /// No model can be had by that name.
    UnknownModel,
    /// There is no key for the model's provider.
    NoKey,
    /// The provider gave no reply.
    ProviderFailed,
    /// The private copy of the repository could not be made.
    NoWorkspace,
    /// The subagent ended without a valid report.
    NoReport,
    /// The subagent reached its time limit.
    TimedOut,
    /// The subagent repeated one call without end.
    Looped,
    /// The subagent reached its budget.
    BudgetExhausted,
    /// The subagent was cancelled.
    Cancelled,
    /// The model declined to do the work.
    ModelDeclined,
    /// An agent's file cannot be used.
    BadAgent,
    /// No profile has that name.
    UnknownProfile,
    /// A profile's file cannot be used.
    BadProfile,
    /// Somebody who may only narrow grants more than is granted.
    WidenedProfile,
    /// A profile grants a tool that cannot be had.
    MissingTool,
    /// A configuration file does not have the expected shape.
    BadConfiguration,
    /// The repository sets what only the user may set.
    UntrustedSetting,
    /// A workflow's file cannot be used.
    BadWorkflow,
    /// No workflow has that name.
    UnknownWorkflow,
    /// No run has that id.
    UnknownRun,
    /// No open question has that id, or it does not take that answer.
    UnknownQuestion,
    /// The project's store cannot be used.
    StoreFailed,
    /// The store does not hold what was written to it.
    StoreDamaged,
    /// The store was written by a later version of this program.
    StoreNewer,
    /// Another process holds the store for too long.
    StoreLocked,
    /// The disk of the store is full.
    StoreFull,
    /// The store holds runs that this user did not record.
    ForeignStore,
    /// Another process carries the run out.
    RunHeld,
    /// What a run made cannot be brought into the checkout.
    NotApplied,
    /// The plan is not what the run was started with, where boxes would be ticked.
    NotTicked,
}

impl Code {
    pub const ALL: [Self; 59] = [
        Self::Unwritable,
        Self::Unreadable,
        Self::NoRepository,
        Self::UnknownTask,
        Self::UnknownAgent,
        Self::BadArguments,
        Self::EmptyPlan,
        Self::NotText,
        Self::PlanTooLarge,
        Self::NoTasks,
        Self::DoubledId,
        Self::UnknownNeed,
        Self::Cycle,
        Self::EmptyTask,
        Self::BadSyntax,
        Self::UnknownKey,
        Self::BadPath,
        Self::MissingFile,
        Self::MissingNeed,
        Self::WriteConflict,
        Self::GuessedShape,
        Self::ContextTooLarge,
        Self::NumberGap,
        Self::UntakenBox,
        Self::OpenFence,
        Self::UntakenTask,
        Self::UnusedOrder,
        Self::BadWorkspace,
        Self::NoJail,
        Self::UnknownModel,
        Self::NoKey,
        Self::ProviderFailed,
        Self::NoWorkspace,
        Self::NoReport,
        Self::TimedOut,
        Self::Looped,
        Self::BudgetExhausted,
        Self::Cancelled,
        Self::ModelDeclined,
        Self::BadAgent,
        Self::UnknownProfile,
        Self::BadProfile,
        Self::WidenedProfile,
        Self::MissingTool,
        Self::BadConfiguration,
        Self::UntrustedSetting,
        Self::BadWorkflow,
        Self::UnknownWorkflow,
        Self::UnknownRun,
        Self::UnknownQuestion,
        Self::StoreFailed,
        Self::StoreDamaged,
        Self::StoreNewer,
        Self::StoreLocked,
        Self::StoreFull,
        Self::RunHeld,
        Self::NotApplied,
        Self::NotTicked,
        Self::ForeignStore,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unwritable => "SQ0001",
            Self::Unreadable => "SQ0002",
            Self::NoRepository => "SQ0003",
            Self::UnknownTask => "SQ0004",
            Self::UnknownAgent => "SQ0005",
            Self::BadArguments => "SQ0006",
            Self::EmptyPlan => "SQ0101",
            Self::NotText => "SQ0102",
            Self::PlanTooLarge => "SQ0103",
            Self::NoTasks => "SQ0104",
            Self::DoubledId => "SQ0105",
            Self::UnknownNeed => "SQ0106",
            Self::Cycle => "SQ0107",
            Self::EmptyTask => "SQ0108",
            Self::BadSyntax => "SQ0109",
            Self::UnknownKey => "SQ0110",
            Self::BadPath => "SQ0111",
            Self::MissingFile => "SQ0112",
            Self::MissingNeed => "SQ0113",
            Self::WriteConflict => "SQ0114",
            Self::ContextTooLarge => "SQ0115",
            Self::GuessedShape => "SQ0130",
            Self::NumberGap => "SQ0116",
            Self::UntakenBox => "SQ0117",
            Self::OpenFence => "SQ0118",
            Self::UntakenTask => "SQ0119",
            Self::UnusedOrder => "SQ0120",
            Self::BadWorkspace => "SQ0209",
            Self::NoJail => "SQ0210",
            Self::UnknownModel => "SQ0211",
            Self::NoKey => "SQ0212",
            Self::ProviderFailed => "SQ0213",
            Self::NoWorkspace => "SQ0214",
            Self::NoReport => "SQ0215",
            Self::TimedOut => "SQ0216",
            Self::Looped => "SQ0217",
            Self::BudgetExhausted => "SQ0218",
            Self::Cancelled => "SQ0219",
            Self::ModelDeclined => "SQ0220",
            Self::BadAgent => "SQ0250",
            Self::UnknownProfile => "SQ0251",
            Self::BadProfile => "SQ0252",
            Self::WidenedProfile => "SQ0253",
            Self::MissingTool => "SQ0254",
            Self::BadConfiguration => "SQ0255",
            Self::UntrustedSetting => "SQ0256",
            Self::BadWorkflow => "SQ0257",
            Self::UnknownWorkflow => "SQ0258",
            Self::UnknownRun => "SQ0301",
            Self::UnknownQuestion => "SQ0302",
            Self::StoreFailed => "SQ0303",
            Self::StoreDamaged => "SQ0304",
            Self::StoreNewer => "SQ0305",
            Self::StoreLocked => "SQ0306",
            Self::StoreFull => "SQ0307",
            Self::RunHeld => "SQ0308",
            Self::NotApplied => "SQ0309",
            Self::NotTicked => "SQ0310",
            Self::ForeignStore => "SQ0311",
        }
    }

    /// What a command ends with that meets it.
    pub fn exit(self) -> u8 {
        if self.is_trust() { 5 } else { 2 }
    }

    /// Whether trust is missing, rather than the input wrong.
    pub fn is_trust(self) -> bool {
        matches!(self, Self::WidenedProfile | Self::UntrustedSetting | Self::ForeignStore)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
