//! Boxes of a plan, ticked for tasks that are done. Nothing else of the text changes.

use std::collections::{BTreeMap, BTreeSet};

use super::{Plan, Task};
use crate::id::TaskId;

/// A plan's text with boxes ticked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticked {
    pub text: String,
    /// How many were ticked now.
    pub boxes: usize,
    /// Done tasks that have no box: their format says it another way.
    pub without: Vec<TaskId>,
}

/// A text with all of its boxes open, to compare it with another whatever is ticked.
pub fn with_open_boxes(text: &str) -> String {
    text.replace("[x]", "[ ]").replace("[X]", "[ ]")
}

/// Ticks the boxes of `done` tasks and of their steps in the text as it is `now`, at the places where they were when it was
/// `read`. The error names the lines that are not what they were.
pub fn tick(
    plan: &Plan,
    read: &str,
    now: &str,
    done: &BTreeSet<TaskId>,
) -> Result<Ticked, Vec<u32>> {
    let lines: Vec<&str> = read.split('\n').collect();
    let line = |number: u32| lines.get(number.checked_sub(1)? as usize).copied();
    let mut wanted: BTreeMap<u32, String> = BTreeMap::new();
    let mut without = Vec::new();
    // The ids of a range share one box.
    let open = plan.tasks.iter().filter(|task| !done.contains(&task.id));
    let open: BTreeSet<u32> = open.map(|task| task.place.line).collect();
    let is_done = |task: &&Task| done.contains(&task.id) && !open.contains(&task.place.line);
    for task in plan.tasks.iter().filter(is_done) {
        let places = task.steps.iter().map(|step| step.place).chain([task.place]);
        let mut has_box = false;
        for place in places {
            let Some((text, at)) = line(place.line).and_then(|text| Some((text, find_box(text)?)))
            else {
                continue;
            };
            has_box = true;
            let ticked = format!("{}[x]{}", &text[..at], &text[at + 3..]);
            wanted.insert(place.line, ticked);
        }
        if !has_box {
            without.push(task.id.clone());
        }
    }
    let mut out: Vec<&str> = now.split('\n').collect();
    let (mut boxes, mut changed) = (0, Vec::new());
    for (number, ticked) in &wanted {
        let slot = out.get_mut(*number as usize - 1);
        match slot {
            Some(slot) if *slot == ticked => {}
            Some(slot) if Some(*slot) == line(*number) => {
                *slot = ticked;
                boxes += 1;
            }
            _ => changed.push(*number),
        }
    }
    if changed.is_empty() {
        Ok(Ticked { text: out.join("\n"), boxes, without })
    } else {
        Err(changed)
    }
}

/// Where the box of an item or a heading stands in its line: before any word. A ticked one is one, too.
fn find_box(line: &str) -> Option<usize> {
    let at = line.find('[')?;
    let is_mark = |c: char| c.is_whitespace() || c.is_ascii_digit() || ">-*+#.)".contains(c);
    let is_box = ["[ ]", "[x]", "[X]"].iter().any(|one| line[at..].starts_with(one));
    (is_box && line[..at].chars().all(is_mark)).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::super::{Options, parse};
    use super::*;

    const PLAN: &str = "# Plan\n\n### Task 1: One\n\n- [ ] **Step 1: a** [ ]\r\n- [x] b\n\n```md\n- [ ] no step\n```\n\n### Task 2: Two\n\n- [ ] c\n\n### Task 3: Three\n\nProse [ ] only.\n";

    fn ticked(now: &str, done: &[&str]) -> Result<Ticked, Vec<u32>> {
        let plan = parse(PLAN.as_bytes(), &Options::default()).plan;
        tick(&plan, PLAN, now, &done.iter().map(|id| TaskId::from(*id)).collect())
    }

    #[test]
    fn only_boxes_of_done_tasks_are_ticked_and_every_other_byte_stays() {
        let one = ticked(PLAN, &["1"]).unwrap();
        assert_eq!(one.text, PLAN.replacen("- [ ] **Step", "- [x] **Step", 1));
        assert_eq!((one.boxes, one.without.len()), (1, 0));
        let again = ticked(&one.text, &["1", "3"]).unwrap();
        assert_eq!((again.boxes, again.text), (0, one.text));
        assert_eq!(again.without, [TaskId::from("3")]);
    }

    #[test]
    fn a_line_that_is_another_one_now_is_not_touched() {
        let edited = PLAN.replace("- [ ] c", "- [ ] d");
        assert_eq!(ticked(&edited, &["1", "2"]), Err(vec![14]));
        assert!(ticked(&edited, &["1"]).is_ok());
        assert_eq!(ticked(&format!("\n{PLAN}"), &["2"]), Err(vec![14]));
        assert_eq!(ticked("", &["2"]), Err(vec![14]));
    }
}
