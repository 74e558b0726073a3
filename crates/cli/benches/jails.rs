//! What a jail costs, each beside a floor that is measured in the same run, in turns.
//!
//! `cargo bench -p sequester --bench jails -- [start] [call] [workspace] [many] [builds]`

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a bench that cannot be set up has nothing to measure"
)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the table is for people")]

#[path = "jails/builds.rs"]
mod builds;
#[path = "jails/call.rs"]
mod call;
#[path = "jails/cost.rs"]
mod cost;
#[path = "jails/many.rs"]
mod many;
#[path = "jails/start.rs"]
mod start;
#[path = "jails/workspace.rs"]
mod workspace;

fn main() {
    sequester_sandbox::enter_if_jailed(|stream| drop(sequester_tools::serve_as_told(stream)));
    let arguments: Vec<String> = std::env::args().skip(1).filter(|one| one != "--bench").collect();
    let benches: [(&str, fn()); 5] = [
        ("start", start::run),
        ("call", call::run),
        ("workspace", workspace::run),
        ("many", many::run),
        ("builds", builds::run),
    ];
    for (name, run) in benches {
        if arguments.is_empty() || arguments.iter().any(|one| one == name) {
            run();
        }
    }
}
