//! Arguments of `sequester sandbox`.

use std::path::PathBuf;

use sequester_core::profile::HOST_HINT;

pub(super) const AFTER_HELP: &str = "Under `writer` and `full-access` what it writes in the folder stays there, at once; under `validate` it is thrown away in the end. Output and exit code are the command's own. With `--json`, what `sequester` itself refuses is one JSON value on standard output; a command that runs is not touched by it. The command has no terminal: an interactive shell reads its lines without a prompt.";

#[derive(Debug, clap::Args)]
pub(crate) struct SandboxArgs {
    /// The profile that says what the command may do.
    #[arg(long, value_name = "P")]
    pub(crate) profile: String,

    /// The folder that the command works in [default: the repository of the current folder, in that folder; else that folder].
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,

    /// A host that may be reached, with perhaps a port: `crates.io`, `*.crates.io`, `localhost:8080`; may be given again.
    #[arg(long, value_name = "HOST[:PORT]", value_parser = parse_host)]
    pub(crate) net: Vec<sequester_sandbox::Host>,

    /// A limit: memory, pids, cpu, wall, output or disk, as in `memory=512M` or `wall=10s`; may be given again.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) limit: Vec<String>,

    /// The command and its arguments, after `--`.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

fn parse_host(text: &str) -> Result<sequester_sandbox::Host, String> {
    text.parse::<sequester_sandbox::Host>().map_err(|error| format!("{error} {HOST_HINT}"))
}
