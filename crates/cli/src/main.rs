//! `sequester`: parse arguments, wire, render.

pub(crate) mod args;
pub(crate) mod commands;
pub(crate) mod disk_cache;
pub(crate) mod failure;
pub(crate) mod output;
pub(crate) mod render;
pub(crate) mod wire;

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

use sequester_core::fault::Code;

use crate::args::{Args, Command};
use crate::failure::Failure;

fn main() -> ExitCode {
    sequester_sandbox::enter_if_jailed(wire::serve);
    let given: Vec<OsString> = env::args_os().collect();
    let args = match Args::read(&given) {
        Ok(args) => args,
        Err(error) => return refuse(&error, given.iter().any(|argument| argument == "--json")),
    };
    let result = match &args.command {
        Command::Init => commands::init::run(&args),
        Command::Plan(plan) => commands::plan::run(&args, plan),
        Command::Context(context) => commands::context::run(&args, context),
        Command::Files(files) => commands::files::run(&args, files),
        Command::Recall(recall) => commands::recall::run(&args, recall),
        Command::Agents(agents) => commands::agents::run(&args, agents),
        Command::Profiles(profiles) => commands::profiles::run(&args, profiles),
        Command::Workflows(workflows) => commands::workflows::run(&args, workflows),
        Command::Schema(schema) => commands::schema::run(&args, schema),
        Command::Draft(draft) => commands::draft::run(&args, draft),
        Command::Run(run) => commands::run::run(&args, run),
        Command::Resume(resume) => commands::resume::run(&args, resume),
        Command::Task(task) => commands::task::run(&args, task),
        Command::Status(status) => commands::status::run(&args, status),
        Command::Show(show) => commands::show::run(&args, show),
        Command::Log(log) => commands::log::run(&args, log),
        Command::Records(records) => commands::records::run(&args, records),
        Command::Diff(diff) => commands::diff::run(&args, diff),
        Command::Notes(notes) => commands::notes::run(&args, notes),
        Command::Inbox => commands::inbox::run(&args),
        Command::Answer(answer) => commands::answer::run(&args, answer),
        Command::Open(open) => commands::open::run(&args, open),
        Command::HandBack(back) => commands::hand_back::run(&args, back),
        Command::Cancel(cancel) => commands::cancel::run(&args, cancel),
        Command::Export(export) => commands::export::run(&args, export),
        Command::Apply(apply) => commands::apply::run(&args, apply),
        Command::Audit(audit) => commands::audit::run(&args, audit),
        Command::Verify(verify) => commands::verify::run(&args, verify),
        Command::Gc(gc) => commands::gc::run(&args, gc),
        Command::Sandbox(sandbox) => commands::sandbox::run(&args, sandbox),
        Command::Trust(trust) => commands::trust::run(&args, trust),
        Command::Doctor(doctor) => commands::doctor::run(&args, doctor),
    };
    match result {
        Ok(code) => code,
        Err(failure) => failure.report(args.json),
    }
}

/// Help and version go out as they are; bad arguments too, unless a program asked for JSON.
fn refuse(error: &clap::Error, json: bool) -> ExitCode {
    if !error.use_stderr() || !json {
        let code = ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        return output::check(error.print())
            .map_or_else(|failure| failure.report(false), |()| code);
    }
    let message = error.render().to_string();
    let told: Vec<&str> =
        message.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
    let message = told.join(" ");
    let message = message.trim_start_matches("error: ").trim_end_matches('.').to_owned() + ".";
    let hint = "`sequester --help` lists the commands and their options.";
    Failure::input(Code::BadArguments, "command line", message, hint).report(true)
}

/// What a command ends with.
pub(crate) type Outcome = Result<ExitCode, Failure>;
