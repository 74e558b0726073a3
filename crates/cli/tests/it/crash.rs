//! A controller that is killed at any instant: the run that is taken up ends as if nothing had happened, nothing is paid twice, nothing
//! is left.

mod campaign;
mod traces;

use campaign::{Campaign, Tally};

#[test]
fn a_run_that_is_killed_at_random_instants_ends_as_if_it_had_not_been() {
    let seed = u64::from(std::process::id());
    let tally = Campaign { seed, tasks: 12, kills: 12, lives: 7 }.carry_out();
    assert_eq!(tally.faults, Vec::<String>::new(), "with the seed {seed}");
}

#[test]
#[ignore = "`cargo xtask crash`: minutes"]
fn the_full_number_of_kills() {
    let number = |name: &str| std::env::var(name).unwrap().parse::<usize>().unwrap();
    let (seed, tasks) = (number("CRASH_SEED") as u64, number("CRASH_TASKS"));
    let campaign = Campaign { seed, tasks, kills: number("CRASH_KILLS"), lives: 9 };
    let Tally { faults, .. } = campaign.carry_out();
    assert_eq!(faults, Vec::<String>::new(), "with the seed {seed}");
}
