//! A run whose controller is killed at random instants: the test that `./test` has, in its full number.

use anyhow::Result;

use crate::shell;

pub(crate) fn run(options: &[String]) -> Result<()> {
    let own = shell::numbers(options, &[("kills", 200), ("tasks", 50), ("seed", drawn())])?;
    let variables = [("CRASH_KILLS", own[0]), ("CRASH_TASKS", own[1]), ("CRASH_SEED", own[2])];
    shell::test("crash::the_full_number_of_kills", &variables)
}

/// Another one each time; it is printed.
fn drawn() -> u64 {
    u64::from(std::process::id())
}
