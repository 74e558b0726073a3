//! The adapter of the port to jails, with real ones. The program is compiled in here: whoever starts a jail is what is started again in
//! it, and neither the program itself nor the ordinary harness can be both that and these tests.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "what is not there fails the test"
)]
#![allow(clippy::print_stdout, reason = "what was measured is for people")]
#![allow(
    dead_code,
    unused,
    unfulfilled_lint_expectations,
    reason = "most of the program is not used here"
)]

#[path = "../../src/main.rs"]
mod program;

mod attempt;
mod bench;
mod check;
mod outlines;

use libtest_mimic::{Arguments, Trial};
use program::{Outcome, args, commands, disk_cache, failure, output, render, wire};

fn main() {
    sequester_sandbox::enter_if_jailed(wire::serve);
    if std::env::args().nth(1).as_deref() == Some(check::LACKING) {
        return check::lack();
    }
    let trial = |name: &str, run: fn()| {
        Trial::test(name, move || {
            run();
            Ok(())
        })
    };
    let trials = vec![
        trial("a_look_sees_what_the_tools_wrote_and_the_harvest_says_the_same", attempt::looks),
        trial("an_attempt_that_was_cut_off_goes_on_where_it_was", attempt::goes_on),
        trial("a_look_is_quick_and_one_at_a_time_works_in_a_workspace", attempt::is_quick),
        trial("an_attempt_that_needs_nothing_makes_nothing", attempt::makes_nothing),
        trial("attempts_over_one_tree_share_its_files", attempt::shares),
        trial("the_plan_and_secrets_are_in_no_workspace", attempt::hides),
        trial("a_check_passes_fails_and_is_ended_by_its_limit", check::ends),
        trial("what_a_check_writes_is_thrown_away", check::leaves_nothing),
        trial("of_what_a_check_prints_head_and_tail_stay_without_secrets", check::prints),
        trial("a_check_that_is_given_up_ends", check::given_up),
        trial("a_machine_without_the_guarantee_is_told_before_anything_is_made", check::lacks),
        trial("outlines_of_what_agents_wrote_are_made_in_a_jail", outlines::are_confined),
        trial(
            "text_that_was_made_to_break_parsers_costs_no_more_than_its_outline",
            outlines::survive,
        ),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
