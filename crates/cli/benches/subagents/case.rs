//! What both loops are given: the same context, tools, results and replies.

use std::fmt::Write as _;
use std::sync::Arc;

use sequester_core::agent::Brief;
use sequester_core::context::{IsolatedContext, Manifest};
use sequester_core::provider::Powers;
use sequester_core::record::Switches;
use sequester_core::report::Phase;
use sequester_core::secret::SecretSet;
use sequester_testkit::model::{Script, Turn, Wire};
use serde_json::json;

/// Turns of one conversation, the report included.
pub(crate) const TURNS: usize = 10;
pub(crate) const KEY: &str = "made-up-key-of-the-bench";
pub(crate) const TOOL: &str = "Read";
/// The most tokens of a reply.
pub(crate) const OUTPUT: u32 = 16_384;

/// How much text a subagent has, in tokens of four bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) wire: Wire,
    /// What all subagents share.
    pub(crate) shared: usize,
    /// What each has of its own.
    pub(crate) own: usize,
}

impl Case {
    /// As arguments of a child.
    pub(crate) fn arguments(self) -> [String; 3] {
        let wire = Wire::ALL.iter().position(|wire| *wire == self.wire).unwrap();
        [wire.to_string(), self.shared.to_string(), self.own.to_string()]
    }

    pub(crate) fn parse(arguments: &[String]) -> Self {
        let number = |at: usize| arguments[at].parse::<usize>().unwrap();
        Self { wire: Wire::ALL[number(0)], shared: number(1), own: number(2) }
    }

    /// The provider's name and the variable with its address.
    pub(crate) fn service(self) -> (&'static str, &'static str) {
        match self.wire {
            Wire::Anthropic => ("anthropic", "ANTHROPIC_BASE_URL"),
            Wire::Chat => ("openai", "OPENAI_BASE_URL"),
            Wire::Responses => ("openai-responses", "OPENAI_BASE_URL"),
        }
    }

    pub(crate) fn model(self) -> &'static str {
        match self.wire {
            Wire::Anthropic => "claude-haiku-4-5",
            Wire::Chat | Wire::Responses => "gpt-4.1",
        }
    }

    pub(crate) fn system(self) -> Arc<str> {
        text("the project", self.shared).into()
    }

    /// The first line names the task, for the report.
    pub(crate) fn prompt(self, number: usize) -> String {
        format!("{}\n{}", task(number), text("this task", self.own))
    }

    pub(crate) fn brief(self, system: &Arc<str>, number: usize) -> Brief {
        let context = IsolatedContext {
            task: task(number).as_str().into(),
            agent: "Explore".to_owned(),
            digest: format!("{number:064x}"),
            tokens: self.shared + self.own,
            system: Arc::clone(system),
            prompt: self.prompt(number),
            manifest: Manifest::default(),
            handoff: None,
            secrets: SecretSet::default(),
        };
        let (service, _) = self.service();
        let model = format!("{service}/{}", self.model());
        let powers = Powers { schema: true, free: false, scripted: false };
        Brief::new(
            &context,
            Phase::Research,
            (&model, powers),
            sequester_tools::specs(),
            Switches::default(),
        )
    }
}

fn task(number: usize) -> String {
    format!("part-{number}")
}

/// Prose with lines, four bytes a token.
fn text(subject: &str, tokens: usize) -> String {
    let mut text = String::with_capacity(tokens * 4 + 100);
    let mut line = 0_usize;
    while text.len() < tokens * 4 {
        line += 1;
        let _ = writeln!(
            text,
            "{line}: what is said of {subject}, \"quoted\" or `plain`, in line {line}."
        );
    }
    text
}

/// What a call brings: two thousand bytes, never the same twice in one conversation.
pub(crate) fn result(call: usize) -> String {
    format!("call {call}\n{}", text("a file", 500))
}

/// Calls with a sentence before each, then the report of the task that the prompt names.
pub(crate) fn script(calls: usize) -> Script {
    Script::new(move |request| {
        if request.turn < calls {
            let path = format!("src/part_{}.rs", request.turn);
            return Turn::call(TOOL, json!({ "path": path }))
                .saying("Now the next file is read, to see what is in it.");
        }
        Turn::report(json!({
            "task_id": request.prompt().lines().next().unwrap_or_default(),
            "phase": "research",
            "status": "complete",
            "decision": "PROCEED",
            "findings": {
                "existing_implementations": ["src/part_1.rs:3"],
                "conflicts": [],
                "patterns_found": [],
                "recommendations": ["Read it once more."],
            },
            "context_summary": "All parts were read, and nothing contradicts the task.",
        }))
    })
}
