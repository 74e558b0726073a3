use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::agent::{Category, Priority};

/// One task of a plan: what it needs, what it packs, and which of what it is handed it takes out.
#[derive(Clone, Debug)]
struct Doing {
    needs: Vec<usize>,
    packs: Vec<(usize, u8)>,
    removes: Vec<usize>,
}

fn id(at: usize) -> TaskId {
    TaskId::new(format!("t{at}"))
}

fn place(task: &TaskId) -> usize {
    task.as_str()[1..].parse().unwrap()
}

fn item(words: usize, priority: u8) -> Item {
    let priority = [Priority::Low, Priority::Normal, Priority::High][usize::from(priority)];
    Item { item: "word ".repeat(words), category: Category::Facts, priority }
}

fn plan() -> impl Strategy<Value = Vec<Doing>> {
    let packs = prop::collection::vec((1..200_usize, 0..3_u8), 0..4);
    let doing =
        (prop::collection::vec(0..8_usize, 0..4), packs, prop::collection::vec(0..8_usize, 0..3));
    prop::collection::vec(doing, 1..8).prop_map(|all| {
        let doing = |(at, (needs, packs, removes)): (usize, (Vec<usize>, _, _))| {
            let needs: BTreeSet<usize> = needs.into_iter().filter(|need| *need < at).collect();
            Doing { needs: needs.into_iter().collect(), packs, removes }
        };
        all.into_iter().enumerate().map(doing).collect()
    })
}

/// What each task is handed and hands on; `turn` changes the order in which needs are asked.
fn pass(plan: &[Doing], turn: usize) -> Vec<(Pack, Pack)> {
    let mut passed: Vec<(Pack, Pack)> = Vec::new();
    for (at, doing) in plan.iter().enumerate() {
        let mut needs = doing.needs.clone();
        if !needs.is_empty() {
            let turn = turn % needs.len();
            needs.rotate_left(turn);
        }
        let given = Pack::merged(needs.iter().map(|need| &passed[*need].1), place, BACKPACK_TOKENS);
        let removes = doing.removes.iter().filter_map(|at| given.items.get(*at));
        let kept = Kept {
            backpack: doing.packs.iter().map(|(words, priority)| item(*words, *priority)).collect(),
            removed: removes.map(|one| one.id.to_string()).collect(),
            ..Kept::default()
        };
        let handed_on = given.after(&id(at), [&kept], BACKPACK_TOKENS);
        passed.push((given, handed_on));
    }
    passed
}

fn descends(plan: &[Doing], at: usize, from: usize) -> bool {
    plan[at].needs.iter().any(|need| *need == from || descends(plan, *need, from))
}

fn ids(items: &[Packed]) -> BTreeSet<&str> {
    items.iter().map(|one| &*one.id).collect()
}

proptest! {
    #[test]
    fn a_backpack_holds_its_limit_and_what_is_left_out_is_named(plan in plan()) {
        let passed = pass(&plan, 0);
        for (at, (given, handed_on)) in passed.iter().enumerate() {
            for pack in [given, handed_on] {
                let taken: usize = pack.items.iter().map(|one| one.item.tokens()).sum();
                prop_assert!(taken <= BACKPACK_TOKENS);
            }
            let mut named = ids(&given.items);
            named.extend(ids(&given.left_out));
            let before = plan[at].needs.iter().map(|need| &passed[*need].1);
            let before = before.flat_map(|pack| pack.items.iter().chain(&pack.left_out));
            let expected: BTreeSet<&str> =
                before.map(|one| &*one.id).filter(|id| !given.removed.contains(*id)).collect();
            prop_assert_eq!(named, expected);
            // Nothing stays that is worth less than what was left out for it.
            let handed = plan[at].needs.iter().flat_map(|need| &passed[*need].1.items);
            let handed = handed.map(|one| &*one.id).collect::<BTreeSet<&str>>();
            for out in given.left_out.iter().filter(|one| handed.contains(&*one.id)) {
                let less = given.items.iter().find(|one| one.item.priority < out.item.priority);
                prop_assert!(less.is_none());
            }
        }
    }

    #[test]
    fn a_backpack_does_not_depend_on_who_is_asked_first(plan in plan(), turn in 0..7_usize) {
        prop_assert_eq!(pass(&plan, 0), pass(&plan, turn));
    }

    #[test]
    fn a_removal_holds_for_descendants_and_for_nobody_else(plan in plan(), who in 0..8_usize) {
        let who = who % plan.len();
        let mut without = plan.clone();
        without[who].removes.clear();
        let (passed, kept) = (pass(&plan, 0), pass(&without, 0));
        let removed = passed[who].1.removed.difference(&passed[who].0.removed);
        let removed: BTreeSet<&str> = removed.map(|id| &**id).collect();
        for at in 0..plan.len() {
            if at == who || descends(&plan, at, who) {
                let after = if at == who { &passed[at].1 } else { &passed[at].0 };
                prop_assert!(ids(&after.items).is_disjoint(&removed), "t{at}");
            } else {
                prop_assert_eq!(&passed[at], &kept[at], "t{}", at);
            }
        }
    }
}

#[test]
fn the_lowest_priority_then_the_oldest_is_left_out() {
    let pack = |task: usize, items: &[(usize, u8)]| {
        let backpack = items.iter().map(|(words, priority)| item(*words, *priority)).collect();
        Pack::default().after(&id(task), [&Kept { backpack, ..Kept::default() }], BACKPACK_TOKENS)
    };
    let one = pack(1, &[(150, 1), (100, 0)]);
    let two = pack(2, &[(150, 1), (150, 2)]);
    let three = pack(3, &[(100, 0)]);
    // Given in any order, they stand in the plan's.
    let merged = Pack::merged([&three, &two, &one], place, BACKPACK_TOKENS);
    let names = |items: &[Packed]| items.iter().map(|one| one.id.to_string()).collect::<Vec<_>>();
    assert_eq!(names(&merged.items), ["t1/pack-1", "t2/pack-1", "t2/pack-2"]);
    assert_eq!(names(&merged.left_out), ["t1/pack-2", "t3/pack-1"]);
}

#[test]
fn what_one_task_packed_in_several_attempts_is_numbered_through() {
    let kept = |words: usize, removed: &[&str]| Kept {
        backpack: vec![item(words, 1)],
        removed: removed.iter().map(|id| (*id).to_owned()).collect(),
        ..Kept::default()
    };
    let given = Pack::default().after(&id(0), [&kept(1, &[])], BACKPACK_TOKENS);
    let pack = given.after(&id(1), [&kept(2, &["t0/pack-1"]), &kept(3, &[])], BACKPACK_TOKENS);
    let records = pack.records(&id(1), "Second", &["a.rs".to_owned()]);
    let told: BTreeMap<&str, &str> =
        records.iter().map(|one| (&*one.id, one.label.as_str())).collect();
    assert_eq!(told, BTreeMap::from([("t1/pack-1", "facts"), ("t1/pack-2", "facts")]));
    assert_eq!(ids(&pack.items), BTreeSet::from(["t1/pack-1", "t1/pack-2"]));
}
