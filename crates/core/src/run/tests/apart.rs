//! Which changes do not fit each other, by what they are and by nothing else.

use crate::id::TreeId;
use crate::run::TaskRun;

/// Two tasks whose changes do not fit onto each other.
#[derive(Clone, Debug)]
pub(super) struct Apart {
    pub(super) tasks: [String; 2],
    /// Where the change of this one is there too, they fit.
    pub(super) unless: Option<String>,
    /// Some of what they may leave does fit.
    pub(super) mostly: bool,
}

/// What is laid on each other, from the start of the run.
#[derive(Clone, Debug, Default)]
pub(super) struct Laid(Vec<String>);

impl Laid {
    /// Whether the change of a task could be laid on it.
    pub(super) fn add(&mut self, task: &TaskRun, all: &[Apart]) -> bool {
        let Some(result) = task.result().map(TreeId::to_string) else { return true };
        let base = task.base.as_ref().map_or("", TreeId::as_str);
        let mut others = self.0.iter().filter(|one| !base.split('+').any(|known| known == *one));
        let fits = !others.any(|other| all.iter().any(|apart| self.part(apart, other, &result)));
        if fits {
            self.0.push(result);
        }
        fits
    }

    fn part(&self, apart: &Apart, other: &str, result: &str) -> bool {
        let [one, two] = &apart.tasks;
        let pair = [of(other), of(result)];
        let is_pair = pair == [one, two] || pair == [two, one];
        let is_hidden =
            || apart.unless.as_ref().is_some_and(|by| self.0.iter().any(|it| of(it) == by));
        let sum: usize = other.bytes().chain(result.bytes()).map(usize::from).sum();
        is_pair && !is_hidden() && (!apart.mostly || !sum.is_multiple_of(3))
    }
}

/// The task that left something.
fn of(result: &str) -> &str {
    result.split_once('@').map_or(result, |(task, _)| task)
}
