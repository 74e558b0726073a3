//! Bash: one command in the workspace, with a time limit, ended with all that it started.

mod commit;
mod leftover;
mod process;

use std::time::Duration;

use sequester_core::tool::{EXIT_CODE, Effect, Outcome, Returned};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::lines::note;
use crate::root::{failed, refuse};
use crate::tool::{Seen, Tool};
use crate::workbench::Workbench;
pub(crate) use process::Commands;
use process::{End, Order};

/// Room for what is said after the output.
const WORDS: usize = 1_024;
/// What `timeout` gives, and what the jail gives for wall time.
const TIMED_OUT: i32 = 124;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    command: String,
    /// For people who follow the run; it changes nothing.
    #[serde(rename = "description")]
    _description: Option<String>,
    timeout: Option<u64>,
}

pub(crate) struct Bash;

impl Tool for Bash {
    type Args = Args;
    const NAME: &'static str = "Bash";
    const DESCRIPTION: &'static str = "Runs a command with `bash -c` in the workspace's root. Standard output and error come together; the \
        last line is the exit code. Each call is a new shell: no folder and no variable stays, and processes left in the \
        background are ended. Do not commit: the runtime commits your change when you report.";
    const EFFECT: Effect = Effect::Runs;

    fn parameters() -> Value {
        json!({
            "type": "object",
            "properties": {
                "command": {"type": "string", "description": "The command."},
                "description": {"type": "string", "description": "What it does, in five to ten words."},
                "timeout": {"type": "integer", "minimum": 1, "description": "Milliseconds after which it is ended; the runtime's own limit, two minutes unless set, is never exceeded."},
            },
            "required": ["command"],
            "additionalProperties": false,
        })
    }

    fn run(bench: &Workbench, args: Args, _: &Seen) -> Result<Returned, Outcome> {
        if commit::is_taken_over(&args.command) {
            return Err(refuse("The runtime commits your change when you report."));
        }
        if args.command.contains('\0') {
            return Err(failed("The command holds a zero byte.".to_owned()));
        }
        let asked = args.timeout.map_or(Duration::MAX, |limit| Duration::from_millis(limit.max(1)));
        let order = Order {
            command: &args.command,
            folder: bench.root.folder(),
            environment: &bench.settings.environment,
            limit: asked.min(bench.settings.bash_time),
            output: bench.settings.output_bytes.saturating_sub(WORDS),
        };
        let ended = bench.commands.run(&order);
        let ended =
            ended.map_err(|error| failed(format!("The command could not be started: {error}.")))?;
        let mut text = ended.output;
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        if let Some(told) = tell_leftovers(&ended.leftovers) {
            note(&mut text, format_args!("{told}"));
        }
        Ok(Returned::from(match ended.end {
            End::Exited(code) => Outcome::Output(format!("{text}{EXIT_CODE}{code}")),
            End::TimedOut => {
                let limit = order.limit.as_millis();
                note(
                    &mut text,
                    format_args!(
                        "Ended after {limit} ms, with all that it started: the time limit."
                    ),
                );
                Outcome::Failed(format!("{text}{EXIT_CODE}{TIMED_OUT}"))
            }
        }))
    }
}

fn tell_leftovers(names: &[String]) -> Option<String> {
    const NAMED: usize = 5;
    let first = names.first()?;
    let others = names.iter().skip(1).take(NAMED - 1);
    let named = others.fold(format!("`{first}`"), |named, name| format!("{named}, `{name}`"));
    let more = if names.len() > NAMED { ", ..." } else { "" };
    let processes = match names.len() {
        1 => "1 process".to_owned(),
        several => format!("{several} processes"),
    };
    Some(format!("{processes} left in the background ended: {named}{more}."))
}
