//! `request_files`: for what is not in the workspace.

use std::fmt::Write as _;
use std::sync::{Arc, LazyLock};

use sequester_core::future::BoxFuture;
use sequester_core::path::RepoPath;
use sequester_core::secret;
use sequester_core::tool::{Effect, Invocation, Outcome, Returned, Spec, Toolbox};
use serde_json::{Value, json};

/// Where a file stands that a subagent asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    InWorkspace,
    /// There, but ignored: a person may grant it.
    Ignored,
    /// There and not ignored, but no part of the base.
    Uncommitted,
    Absent,
}

/// Answers requests for files by where each stands.
pub struct Requests {
    standing: Box<dyn Fn(&RepoPath) -> Standing + Send + Sync>,
}

impl Requests {
    pub fn new(standing: impl Fn(&RepoPath) -> Standing + Send + Sync + 'static) -> Self {
        Self { standing: Box::new(standing) }
    }

    fn answer(&self, arguments: &Value) -> Outcome {
        let paths = arguments["paths"].as_array().map_or(&[][..], Vec::as_slice);
        let paths: Vec<&str> = paths.iter().filter_map(Value::as_str).collect();
        if paths.is_empty() || paths.len() > MOST {
            return Outcome::Failed(format!("`paths` must be a list of 1 to {MOST} paths."));
        }
        let mut told = String::new();
        let mut wanted = Vec::new();
        for path in paths {
            let said = match RepoPath::parse(path) {
                Err(_) => "is outside of the repository and cannot be had.",
                Ok(_) if secret::is_secret_name(path).is_some() => {
                    "may hold secrets and cannot be had."
                }
                Ok(path) if is_closed(&path) => {
                    "belongs to git or to this program and cannot be had."
                }
                Ok(path) => match (self.standing)(&path) {
                    Standing::InWorkspace => "is in your workspace: use Read.",
                    Standing::Absent => "does not exist.",
                    Standing::Uncommitted => {
                        "is not committed; a person can add it or use `--include-dirty`."
                    }
                    Standing::Ignored => {
                        wanted.push(path);
                        continue;
                    }
                },
            };
            let _ = writeln!(told, "`{path}` {said}");
        }
        if wanted.is_empty() {
            return Outcome::Failed(told);
        }
        let list: Vec<String> = wanted.iter().map(|path| format!("`{path}`")).collect();
        let mut question = format!("May the subagent see {}, which git ignores?", list.join(", "));
        let reason = reason(arguments);
        if !reason.is_empty() {
            let _ = write!(question, " It says: {reason}");
        }
        if !told.is_empty() {
            let _ = write!(question, "\nIt cannot have the others it asked for:\n{told}");
        }
        let files = wanted.iter().map(ToString::to_string).collect();
        Outcome::NeedsApproval { question, files }
    }
}

/// What nobody can grant, in whatever folder git's own lies and however it is spelt.
pub(crate) fn is_closed(path: &RepoPath) -> bool {
    let is = |part: &str, name: &str| part.eq_ignore_ascii_case(name);
    let mut parts = path.as_str().split('/').enumerate();
    parts.any(|(at, part)| is(part, ".git") || at == 0 && is(part, ".sequester"))
}

/// The subagent's reason on one line.
fn reason(arguments: &Value) -> String {
    let text = arguments["reason"].as_str().unwrap_or_default();
    let mut words =
        text.split_whitespace().flat_map(|word| [" ", word]).skip(1).flat_map(str::chars);
    let mut reason: String = words.by_ref().take(REASON).collect();
    if words.next().is_some() {
        reason += "...";
    }
    reason
}

/// Characters of a reason that a person is shown.
const REASON: usize = 300;
const MOST: usize = 20;

impl Toolbox for Requests {
    fn specs(&self) -> Vec<Spec> {
        static PARAMETERS: LazyLock<Arc<Value>> = LazyLock::new(|| {
            Arc::new(json!({
                "type": "object",
                "properties": {
                    "paths": {
                        "type": "array",
                        "items": { "type": "string" },
                        "description": "Paths from the root of the repository.",
                    },
                    "reason": { "type": "string", "description": "What you need them for." },
                },
                "required": ["paths", "reason"],
                "additionalProperties": false,
            }))
        });
        vec![Spec {
            name: "request_files".into(),
            description: "Asks for files that are not in your workspace, such as ignored ones. A person decides.".into(),
            parameters: Arc::clone(&PARAMETERS),
            effect: Effect::Reads,
        }]
    }

    fn call<'a>(&'a self, invocation: &'a Invocation) -> BoxFuture<'a, Returned> {
        Box::pin(async move { self.answer(&invocation.call.arguments).into() })
    }
}
