//! What each phase finds, typed.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::own_phase;

/// One step of the work on a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    Research,
    Write,
    Execute,
    Validate,
    Analyze,
    Plan,
    Review,
    Verify,
    Draft,
    /// One that a workflow declares; it changes no files.
    Own(&'static str),
}

impl Phase {
    /// Those that are built in.
    pub const ALL: [Self; 9] = [
        Self::Research,
        Self::Write,
        Self::Execute,
        Self::Validate,
        Self::Analyze,
        Self::Plan,
        Self::Review,
        Self::Verify,
        Self::Draft,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Research => "research",
            Self::Write => "write",
            Self::Execute => "execute",
            Self::Validate => "validate",
            Self::Analyze => "analyze",
            Self::Plan => "plan",
            Self::Review => "review",
            Self::Verify => "verify",
            Self::Draft => "draft",
            Self::Own(name) => name,
        }
    }

    /// One that is built in.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.as_str() == name)
    }

    /// One that is built in, or that a workflow may declare.
    pub fn named(name: &str) -> Option<Self> {
        Self::parse(name).or_else(|| own_phase::intern(name).map(Self::Own))
    }

    /// Whether its subagent changes files, and so must look over its own work.
    pub fn changes_files(self) -> bool {
        matches!(self, Self::Write | Self::Execute)
    }

    /// Whether its subagent says of other work that it may stand. Of an own phase its workflow knows.
    pub fn judges(self) -> bool {
        matches!(self, Self::Validate | Self::Review | Self::Verify)
    }

    /// Whether a later step is told of this one's report. A plan's steps go to all; a summary of what was changed goes to
    /// those who validate or change more; what was found goes to all but those who judge.
    pub fn passes_to(self, later: Self, judges: bool) -> bool {
        match self {
            Self::Plan => true,
            Self::Write | Self::Execute => later == Self::Validate || later.changes_files(),
            Self::Research | Self::Analyze | Self::Draft | Self::Own(_) => !judges,
            Self::Validate | Self::Review | Self::Verify => false,
        }
    }
}

impl Serialize for Phase {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Phase {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::named(&name).ok_or_else(|| Error::custom(format!("there is no phase `{name}`")))
    }
}

impl JsonSchema for Phase {
    fn schema_name() -> Cow<'static, str> {
        "Phase".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let known = Self::ALL.map(Self::as_str);
        json_schema!({
            "description": "One step of the work on a task; a workflow may declare others than these.",
            "type": "string",
            "examples": known,
            "pattern": "^[a-z0-9-]{1,32}$",
        })
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Findings carry their phase: a report cannot have those of another.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Findings {
    Research(Research),
    Write(Change),
    #[schemars(skip)]
    Execute(Change),
    Validate(Validation),
    Analyze(Analysis),
    Plan(Steps),
    Review(Review),
    Verify(Verification),
    Draft(Draft),
    #[schemars(skip)]
    Own(OwnFindings),
}

/// What an own phase found, by the fields that its workflow declares.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct OwnFindings {
    #[serde(skip)]
    pub phase: &'static str,
    pub fields: Map<String, Value>,
}

impl Findings {
    pub fn phase(&self) -> Phase {
        match self {
            Self::Research(_) => Phase::Research,
            Self::Write(_) => Phase::Write,
            Self::Execute(_) => Phase::Execute,
            Self::Validate(_) => Phase::Validate,
            Self::Analyze(_) => Phase::Analyze,
            Self::Plan(_) => Phase::Plan,
            Self::Review(_) => Phase::Review,
            Self::Verify(_) => Phase::Verify,
            Self::Draft(_) => Phase::Draft,
            Self::Own(found) => Phase::Own(found.phase),
        }
    }

    /// Nothing found, for a phase that ended before it could.
    pub fn none(phase: Phase) -> Self {
        match phase {
            Phase::Research => Self::Research(Research::default()),
            Phase::Write => Self::Write(Change::default()),
            Phase::Execute => Self::Execute(Change::default()),
            Phase::Validate => Self::Validate(Validation::default()),
            Phase::Analyze => Self::Analyze(Analysis { complexity: Complexity::Complex }),
            Phase::Plan => Self::Plan(Steps::default()),
            Phase::Review => Self::Review(Review::default()),
            Phase::Verify => Self::Verify(Verification::default()),
            Phase::Draft => Self::Draft(Draft::default()),
            Phase::Own(phase) => Self::Own(OwnFindings { phase, fields: Map::new() }),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Research {
    /// What is there already, with file and line.
    pub existing_implementations: Vec<String>,
    /// What contradicts the task or itself.
    pub conflicts: Vec<String>,
    /// How the project does such things.
    pub patterns_found: Vec<String>,
    pub recommendations: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Paths that you created, changed or deleted.
    pub files_changed: Vec<String>,
    /// Paths or names of tests that you wrote.
    pub tests_written: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Validation {
    pub checks: Checks,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Checks {
    pub types: Check,
    pub lint: Check,
    pub tests: Tests,
    pub security: Scan,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Check {
    pub passed: bool,
    pub errors: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tests {
    pub passed: bool,
    /// In percent, where a tool printed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<serde_json::Number>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scan {
    pub passed: bool,
    pub issues: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Analysis {
    pub complexity: Complexity,
}

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Complexity {
    Simple,
    Complex,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Steps {
    /// One sentence or more each, in order.
    pub steps: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Review {
    /// Does it do what the task says, all of it and nothing else?
    pub spec: Judgement,
    /// Is it well made?
    pub quality: Judgement,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Judgement {
    pub verdict: Verdict,
    pub findings: Vec<Remark>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Pass,
    // What nobody looked at has not passed. No doc comment: it would make a union of the schema, which is never strict.
    #[default]
    Fail,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Remark {
    pub severity: Severity,
    pub file: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Critical,
    Important,
    Minor,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Verification {
    pub requirements: Vec<Requirement>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    pub text: String,
    pub met: bool,
    /// Where it is seen: file and line, or a command and what it printed.
    pub proof: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Draft {
    /// The whole plan as Markdown, in the native format.
    pub plan: String,
}
