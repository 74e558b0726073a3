//! The same replies with one task at once and with sixteen: the test that `./test` has, as often as the product promises.

use anyhow::Result;

use crate::shell;

pub(crate) fn run(options: &[String]) -> Result<()> {
    let times = shell::numbers(options, &[("times", 10)])?;
    let name = "same::contexts_requests_and_tree_are_the_same_however_often_they_are_made";
    shell::test(name, &[("SAME_TIMES", times[0])])
}
