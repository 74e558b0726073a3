//! `sequester profiles`: what agents may do.

use crate::Outcome;
use crate::args::{Args, NameArgs};
use crate::commands::agents;
use crate::render::profiles::{self as view, Shown};
use crate::render::terminal;
use crate::wire::Project;

pub(crate) fn run(args: &Args, given: &NameArgs) -> Outcome {
    let project = Project::open(args)?;
    let profiles = &project.agents.profiles;
    let Some(name) = &given.name else {
        let shown: Vec<Shown<'_>> = profiles.iter().map(Shown::of).collect();
        let wrong = project.agents.profile_faults();
        return agents::list(args, &project.agents, &wrong, &shown, || {
            view::list(profiles, terminal::width())
        });
    };
    let profile = project.agents.profile(name)?.clone().with_hosts(project.settings.hosts());
    agents::show(args, &Shown::of(&profile), || view::one(&profile, terminal::width()))
}
