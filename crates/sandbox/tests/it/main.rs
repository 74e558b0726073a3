//! Real jails, as a program has them that uses the library.
#![allow(clippy::unwrap_used, clippy::panic, reason = "what is not there fails the test")]

mod bench;
mod harvest;
mod look;
mod spawn;

use libtest_mimic::{Arguments, Trial};

fn main() {
    sequester_sandbox::enter_if_jailed(bench::serve);
    let trial = |name: &str, run: fn()| {
        Trial::test(name, move || {
            run();
            Ok(())
        })
    };
    let trials = vec![
        trial("a_program_beside_the_server_is_in_the_same_jail", spawn::same_jail),
        trial("a_program_that_is_not_there_closes_its_stream", spawn::not_there),
        trial("a_program_in_the_jail_cannot_keep_others_from_starting", spawn::undisturbed),
        trial("programs_beside_the_server_end_with_the_jail", spawn::ends),
        trial("a_workspace_is_harvested_after_its_jail", harvest::after),
        trial("a_harvest_that_cannot_be_made_says_why", harvest::impossible),
        trial("looking_while_somebody_works_agrees_with_the_harvest", look::agrees),
        trial("a_look_tells_what_is_new_once_and_leaves_out_what_it_cannot_hold", look::tells),
        trial("a_layer_that_changes_under_a_look_leads_it_nowhere", look::races),
        trial("a_look_costs_what_was_changed_and_not_what_there_is", look::quick),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
