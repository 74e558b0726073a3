//! One isolated subagent from a Rust program: its context, a model, its typed ending.
//!
//!     cargo run --example subagent -- "find where sessions expire"

use std::error::Error;
use std::io::{Write, stdout};
use std::path::Path;

use sequester_core::agent::{self, AgentRun, Brief};
use sequester_core::budget::Budget;
use sequester_core::cache::Forgetful;
use sequester_core::context::{self, Shelf};
use sequester_core::limits::Limits;
use sequester_core::plan::Plan;
use sequester_core::provider::Provider;
use sequester_core::tool::Toolbox;
use sequester_engine::{Joined, Silent, Stop, block_on, drive};
use sequester_llm::Literal;
use sequester_survey::{Folder, Index, Outlines, architecture};

fn main() -> Result<(), Box<dyn Error>> {
    let text = std::env::args().nth(1).ok_or("Say what the task is.")?;
    let (limits, role) = (Limits::default(), agent::find("writer").ok_or("no such agent")?);
    let base = Folder::list(Path::new("."))?;
    let survey = architecture(&base, &limits).render(limits.architecture);
    let index = Index::open(&base, None, &Forgetful, &limits);
    let shelf = Shelf::new(&base, &Outlines, &limits);
    let plan = Plan::single(&text, Vec::new(), Vec::new());
    let context = context::single(&plan, role, &survey, &shelf, &index, &limits)?;
    // No tools at all beside the product's own: the subagent works with what its context holds.
    let (model, tools) = (Literal, Joined(Vec::new()));
    let brief = Brief::new(&context, role.phase, (model.model(), model.powers()), tools.specs());
    let run = AgentRun::new(brief, Budget::default());
    let ending = block_on(drive(run, &model, &tools, &Silent, &Stop::default()))?;
    writeln!(stdout(), "{}", serde_json::to_string_pretty(&ending)?)?;
    Ok(())
}
