//! `sequester sandbox`: any command under a profile, in the jail that a subagent would have.

use std::io;
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::process::ExitCode;

use sequester_core::fault::Code;
use sequester_sandbox::{Cause, Ending, Jail, Limits, Policy, Said, Streams, Workspace};

use crate::Outcome;
use crate::args::{Args, SandboxArgs};
use crate::failure::Failure;
use crate::output;
use crate::wire::jail::{Machine, folder, named_hosts};
use crate::wire::trust::Trust;
use crate::wire::{Agents, Settings, config};

pub(crate) fn run(args: &Args, given: &SandboxArgs) -> Outcome {
    let workspace = given.workspace.clone().or_else(|| args.repo.clone());
    let workspace = folder(&workspace.unwrap_or_else(|| PathBuf::from(".")))?;
    let (configuration, trust) = (config::folder(), Trust::look());
    let configuration = configuration.as_deref();
    let agents = Agents::read(&workspace.path, configuration, &trust);
    let settings = Settings::load(&workspace.path, configuration, &agents.registry, &trust)?;
    let profile = agents.profile(&given.profile)?.clone().with_hosts(settings.hosts());
    let machine = Machine::look();
    let policy = Policy {
        confinement: profile.confinement,
        // What is named on the command line is the person's own word, whatever the profile.
        hosts: named_hosts(&profile)?.into_iter().chain(given.net.iter().cloned()).collect(),
        workspace: Workspace::Folder(workspace),
        limits: limits(&given.limit)?,
        grants: settings.grants(),
        store: machine.store(),
    };
    let (input, out, errors) = (io::stdin(), io::stdout(), io::stderr());
    let streams = Streams { stdin: input.as_fd(), stdout: out.as_fd(), stderr: errors.as_fd() };
    let jail =
        machine.start(&policy, |blueprint| Jail::run(blueprint, given.command.clone(), streams))?;
    let ending = jail.wait(|said| tell(&said)).map_err(|error| {
        let hint = "Start it again; what it left behind is taken away then.";
        Failure::work(Code::NoJail, "", error.to_string(), hint)
    })?;
    Ok(end(ending, &given.command[0]))
}

fn limits(flags: &[String]) -> Result<Limits, Failure> {
    let mut limits = Limits::default();
    for flag in flags {
        limits.set(flag).map_err(|error| {
            let hint = error.hint();
            Failure::input(Code::BadArguments, format!("--limit {flag}"), error.to_string(), hint)
        })?;
    }
    Ok(limits)
}

fn tell(said: &Said) {
    if let Said::Asked { host, port, allowed: false, why } = said {
        output::tell(&format!("`{host}:{port}` was refused: {why}"));
    }
}

const SHOWN: &str = "The system's programs, tool chains on the PATH and the workspace are there; install it, or name its path.";

/// Why, and what to do about it.
fn killed(cause: Cause) -> String {
    let limit = match cause {
        Cause::Wall => "wall=10m",
        Cause::Output => "output=256M",
        Cause::Memory => "memory=8G",
        Cause::Disk => "disk=16G",
        Cause::Cpu => "cpu=10m",
        Cause::Pids => "pids=4096",
        Cause::Exposed | Cause::Asked => return cause.sentence().to_owned(),
    };
    format!("{} A limit is set as with `--limit {limit}`.", cause.sentence())
}

/// As a shell tells it; why the jail was ended goes to standard error.
fn end(ending: Ending, command: &str) -> ExitCode {
    let (code, told) = match ending {
        Ending::Exited(code) => (code, None),
        Ending::Signalled(signal) => (128 + signal, None),
        Ending::NotFound => (127, Some(format!("there is no `{command}` in the jail. {SHOWN}"))),
        Ending::NotRunnable => {
            (126, Some(format!("`{command}` is there and cannot be run in the jail.")))
        }
        Ending::Killed(Cause::Wall) => (124, Some(killed(Cause::Wall))),
        Ending::Killed(cause) => (137, Some(killed(cause))),
    };
    if let Some(told) = told {
        output::tell(&told);
    }
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}
