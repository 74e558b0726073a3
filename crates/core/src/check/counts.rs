//! What test runners print of their tests, read line by line. The output is the project's: it is long, coloured, cut in
//! the middle, and may hold the summaries of several runners.

mod line;

use std::borrow::Cow;

use super::Counts;
use line::{Said, Sources};

/// No summary is longer than that.
const LINE_BYTES: usize = 400;

/// The sum of all summaries; nothing if no runner says anything that is known.
pub fn counts(output: &str) -> Option<Counts> {
    let mut tally = Tally::default();
    for line in output.split('\n') {
        let shown = line.trim_end().rsplit('\r').next().unwrap_or(line);
        let shown = &shown[..shown.floor_char_boundary(LINE_BYTES)];
        tally.take(&without_colour(shown));
    }
    tally.total()
}

/// The text without the sequences that colour it or move the cursor.
pub(crate) fn without_colour(text: &str) -> Cow<'_, str> {
    if !text.contains('\u{1b}') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        if character != '\u{1b}' {
            plain.push(character);
        } else if rest.next_if_eq(&'[').is_some() {
            // Parameters, then one letter.
            while rest.next_if(|next| matches!(next, ' '..='?')).is_some() {}
            rest.next_if(|next| matches!(next, '@'..='~'));
        } else if rest.next_if_eq(&']').is_some() {
            while rest.next_if(|next| !matches!(next, '\u{7}' | '\u{1b}')).is_some() {}
            rest.next_if_eq(&'\u{7}');
        } else {
            rest.next_if(|next| matches!(next, '\\' | '(' | '='));
        }
    }
    Cow::Owned(plain)
}

/// What was read so far. Where a runner sums up by itself, the single tests it names are not counted again.
#[derive(Default)]
struct Tally {
    summed: Option<Counts>,
    /// Of runs whose summary stands on several lines: all, then those that did not pass.
    open: Option<Open>,
    /// Totals that are printed anew with each group.
    last: Option<Counts>,
    /// Of one class, or of one test, where no summary follows.
    parts: Option<Counts>,
    single: Option<Counts>,
    packages: Packages,
    gradle: Option<Sources>,
    /// Sentences that merely sound like a summary.
    loose: Option<Counts>,
    /// How many there were, where nobody says what became of them.
    began: Option<Counts>,
}

/// A summary that began with how many tests there were.
#[derive(Clone, Copy)]
struct Open {
    all: u64,
    /// Whatever was said of them since.
    rest: Option<Counts>,
}

impl Open {
    /// Unless the runner says it, those have passed of which it says nothing else.
    fn close(self) -> Counts {
        let rest = self.rest.unwrap_or_default();
        let others = self.all.saturating_sub(rest.failed).saturating_sub(rest.skipped);
        Counts { passed: if rest.passed > 0 { rest.passed } else { others }, ..rest }
    }
}

impl Tally {
    fn take(&mut self, line: &str) {
        match line::read(line) {
            Said::Nothing => {}
            Said::Summary(counts) => {
                self.close();
                add(&mut self.summed, counts);
            }
            Said::Begin(all) => {
                self.close();
                self.open = Some(Open { all, rest: None });
            }
            Said::More(counts) => {
                let sum = self.open.as_mut().map_or(&mut self.summed, |open| &mut open.rest);
                add(sum, counts);
            }
            Said::Below(counts) => match &mut self.open {
                Some(open) => add(&mut open.rest, counts),
                None if counts.passed > 0 => add(&mut self.loose, counts),
                None => {}
            },
            Said::End(counts) => {
                if let Some(open) = &mut self.open {
                    add(&mut open.rest, counts);
                }
                self.close();
            }
            Said::Again(counts) => self.last = Some(counts),
            Said::Part(counts) => add(&mut self.parts, counts),
            Said::Single(counts) => add(&mut self.single, counts),
            Said::GoTest(counts) => self.packages.test(counts),
            Said::GoPackage(package) => self.packages.end(package),
            Said::GradleTask(sources) => {
                if self.gradle != Some(Sources::Some) {
                    self.gradle = Some(sources);
                }
            }
            Said::Loose(counts) => add(&mut self.loose, counts),
        }
    }

    fn close(&mut self) {
        if let Some(open) = self.open.take() {
            let sum = if open.rest.is_some() { &mut self.summed } else { &mut self.began };
            add(sum, open.close());
        }
    }

    fn total(mut self) -> Option<Counts> {
        self.close();
        let mut whole = self.summed;
        for some in [self.last, self.packages.total()].into_iter().flatten() {
            add(&mut whole, some);
        }
        let empty = || (self.gradle == Some(Sources::None)).then(Counts::default);
        whole.or(self.parts).or(self.single).or(self.loose).or(self.began).or_else(empty)
    }
}

fn add(sum: &mut Option<Counts>, counts: Counts) {
    *sum = Some(sum.unwrap_or_default().plus(counts));
}

/// Go's: a package names its tests only with `-v` or where they fail, so one that is `ok` and names none counts as one test.
#[derive(Default)]
struct Packages {
    all: Option<Counts>,
    /// Of the package that has not ended yet.
    open: Option<Counts>,
}

/// How a package ended.
#[derive(Clone, Copy)]
enum Package {
    Passed,
    Failed,
    Empty,
}

impl Packages {
    fn test(&mut self, counts: Counts) {
        add(&mut self.open, counts);
    }

    fn end(&mut self, package: Package) {
        let named = self.open.take().unwrap_or_default();
        let counts = match package {
            Package::Empty => Counts::default(),
            Package::Passed if named == Counts::default() => Counts { passed: 1, ..named },
            Package::Failed if named.failed == 0 => Counts { failed: 1, ..named },
            Package::Passed | Package::Failed => named,
        };
        add(&mut self.all, counts);
    }

    fn total(mut self) -> Option<Counts> {
        if let Some(open) = self.open {
            add(&mut self.all, open);
        }
        self.all
    }
}

#[cfg(test)]
mod tests;
