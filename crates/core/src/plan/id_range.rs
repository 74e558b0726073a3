//! Items whose id is a range, such as `E.1.1-1.4`, or a list, such as `T012, T013`: one task for each id.

use std::collections::HashSet;

use super::markdown::Document;
use super::unit::Unit;
use super::{Format, mark, speckit};
use crate::fault::{Code, Fault};

/// The ranges and lists of a plan give at most this many ids together.
const IDS: usize = 1_000;

/// Each task of a range has a copy of the text: together they take at most this many bytes.
const BYTES: usize = 8 << 20;

/// One unit for each id of a range. An id that an earlier range has already given is given once. Past the bounds, a range stays
/// one unit, and a warning says so.
pub(super) fn expand(
    document: &Document<'_>,
    units: Vec<Unit>,
    format: Format,
    warnings: &mut Vec<Fault>,
) -> Vec<Unit> {
    let starts: Vec<usize> =
        units.iter().map(|unit| document.blocks[unit.block].range.start).collect();
    let ends = starts.iter().skip(1).copied().chain([document.source.len()]);
    let known: HashSet<String> = units.iter().map(|unit| unit.id.clone()).collect();
    let mut expanded = Vec::with_capacity(units.len());
    let mut given: HashSet<String> = HashSet::new();
    let (mut count, mut bytes) = (0, 0);
    for ((mut unit, start), end) in units.into_iter().zip(&starts).zip(ends) {
        let range =
            if count > IDS || bytes > BYTES { None } else { ids_of(document, &unit, &known) };
        let Some((mut ids, rest)) = range else {
            expanded.push(unit);
            continue;
        };
        count += ids.len();
        bytes = bytes.saturating_add(ids.len().saturating_mul(end.saturating_sub(*start)));
        if count > IDS || bytes > BYTES {
            warnings.push(too_many(document, &unit));
            expanded.push(unit);
            continue;
        }
        let (parallel, rest) = match format {
            Format::SpecKit => speckit::strip_marks(rest),
            _ => (unit.parallel, rest),
        };
        (unit.parallel, unit.title) = (parallel, mark::title(rest));
        ids.retain(|id| given.insert(id.clone()));
        let others: Vec<Unit> = ids.into_iter().map(|id| Unit { id, ..unit.clone() }).collect();
        expanded.push(unit);
        expanded.extend(others);
    }
    expanded
}

/// The further ids of a unit that is a range or a list, and what stands behind them.
///
/// A list that names an id which stands for a task elsewhere speaks of that task, as `- [ ] T001, T002 are done` does.
fn ids_of<'a>(
    document: &Document<'a>,
    unit: &Unit,
    known: &HashSet<String>,
) -> Option<(Vec<String>, &'a str)> {
    let text = document.text(&document.blocks[unit.block].words);
    let at = text.find(unit.id.as_str())?;
    let is_mark = |c: char| !c.is_alphanumeric();
    let leads = text[..at].chars().all(is_mark) || mark::numbered(text).is_some();
    if !leads {
        return None;
    }
    let rest = &text[at + unit.id.len()..];
    mark::list(&unit.id, rest)
        .filter(|(ids, _)| !ids.iter().any(|id| known.contains(id)))
        .or_else(|| mark::range(&unit.id, rest))
}

fn too_many(document: &Document<'_>, unit: &Unit) -> Fault {
    let message = format!(
        "The ranges and lists of ids in this plan stand for too many tasks. From `{}` on, each is one task.",
        unit.id
    );
    let place = document.lines.place(document.blocks[unit.block].range.start);
    let hint = "Write the tasks one by one, each with its own text.";
    Fault::new(Code::PlanTooLarge, place, message, hint)
}

#[cfg(test)]
mod tests {
    use crate::fault::Code;
    use crate::plan::{Options, Parsed, parse};

    fn read(source: &str) -> (usize, Vec<Code>) {
        let Parsed { plan, faults, warnings } = parse(source.as_bytes(), &Options::default());
        assert_eq!(faults, []);
        (plan.tasks.len(), warnings.iter().map(|one| one.code).collect())
    }

    #[test]
    fn many_ranges_stay_few_tasks() {
        let again = read(&"- [ ] T001-T500 do a\n".repeat(1_000));
        assert_eq!(again, (1_499, vec![Code::PlanTooLarge]));
        let item = |at: u32| format!("- [ ] T{at:03}001-T{at:03}400 do a\n");
        let apart: String = (0..40).map(item).collect();
        let (tasks, codes) = read(&apart);
        assert_eq!((tasks, codes.contains(&Code::PlanTooLarge)), (2 * 400 + 38, true));
    }

    #[test]
    fn a_range_with_a_very_long_text_is_one_task() {
        let long = format!("- [ ] T001-T400 {}\n", "word ".repeat(20_000));
        assert_eq!(read(&long), (1, vec![Code::PlanTooLarge]));
    }
}
