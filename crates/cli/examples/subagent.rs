//! One isolated subagent from a Rust program: any model, tools that look, a typed ending.
//!
//!     cargo run --example subagent -- auto "find where sessions expire"

use std::env;
use std::error::Error;
use std::io::{Write, stdout};
use std::path::Path;

use sequester_core::agent::{self, AgentRun, Brief, Ending};
use sequester_core::budget::Budget;
use sequester_core::cache::Forgetful;
use sequester_core::limits::Limits;
use sequester_core::plan::Plan;
use sequester_core::record::Switches;
use sequester_core::repository::Filtered as Base;
use sequester_core::tool::Toolbox;
use sequester_engine::{Filtered, Silent, Stop, block_on, drive};
use sequester_llm::{Pool, Sources, Timeouts, connect};
use sequester_survey::{Folder, Survey};
use sequester_tools::{Client, Settings, Workbench};

/// A library reads no environment of its own: where keys and addresses come from is the program's to say.
pub type Environment<'a> = &'a (dyn Fn(&str) -> Option<String> + Sync);

pub async fn explore(
    folder: &Path,
    model: &str,
    task: &str,
    environment: Environment<'_>,
) -> Result<Ending, Box<dyn Error>> {
    let (role, limits) = (agent::find("Explore").ok_or("No such agent.")?, Limits::default());
    let listed = Folder::list(folder)?;
    let base = Base::visible(&listed, |_| false);
    let survey = Survey::of(&base, None, &Forgetful, &limits, &[].into());
    let context = survey.single(&Plan::single(task, Vec::new(), Vec::new()), role, &limits)?;
    let pool = Pool::new(Timeouts::default())?;
    let model = connect(model, &Sources::of(environment), &pool, &[]).await?.provider;
    let tools = Client::in_process(Workbench::new(folder, Settings::default())?)?;
    let tools = Filtered::new(tools, ["Read", "Grep", "Glob"].map(str::to_owned));
    let powers = (model.model(), model.powers());
    let brief = Brief::new(&context, role.phase, powers, tools.specs(), Switches::default());
    let run = AgentRun::new(brief, Budget::default());
    Ok(drive(run, model.as_ref(), &tools, &Silent, &Stop::default()).await)
}

pub fn main() -> Result<(), Box<dyn Error>> {
    let mut given = env::args().skip(1);
    let (model, task) = given.next().zip(given.next()).ok_or("Give a model and a task.")?;
    let environment = |name: &str| env::var(name).ok();
    let ending = block_on(explore(Path::new("."), &model, &task, &environment))??;
    writeln!(stdout(), "{}", serde_json::to_string_pretty(&ending)?)?;
    Ok(())
}
