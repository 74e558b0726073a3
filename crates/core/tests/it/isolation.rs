//! The promises about contexts, over generated worlds.

use std::cell::RefCell;
use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use sequester_core::context::{FormKind, IsolatedContext, Kind, Part, Row};
use sequester_core::tokens;
use sequester_testkit::{SECRET, TaskText, World, world};

use crate::desk::{ancestors, context, small};

const CASES: u32 = 120;

/// The same worlds on every run: a failure is found by everybody.
fn run<S: Strategy>(strategy: &S, test: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    if let Err(error) = TestRunner::new_with_rng(config, rng).run(strategy, test) {
        panic!("{error}");
    }
}

/// A world and one of its tasks.
fn world_and_task() -> impl Strategy<Value = (World, String)> {
    (world(), any::<prop::sample::Index>()).prop_map(|(world, index)| {
        let id = world.plan.tasks[index.index(world.plan.tasks.len())].id.clone();
        (world, id)
    })
}

fn slice<'a>(context: &'a IsolatedContext, row: &Row) -> &'a str {
    match row.part {
        Part::System => &context.system[row.start..row.end],
        Part::Prompt => &context.prompt[row.start..row.end],
    }
}

#[test]
fn what_a_task_may_not_see_changes_no_byte_of_its_context() {
    run(&(world_and_task(), "[a-z]{5,9}"), |((before, id), noise)| {
        let mut after = before.clone();
        let ancestors = ancestors(&before, &id);
        after.plan.prose = format!("{noise} {}", after.plan.prose);
        for task in after.plan.tasks.iter_mut().filter(|task| task.id != id) {
            task.text = format!("{noise} {noise}");
            task.title = noise.clone();
            task.constraints = vec![noise.clone()];
            task.produces = vec![noise.clone()];
        }
        after.plan.tasks.push(TaskText {
            id: format!("added-{noise}"),
            title: noise.clone(),
            text: noise.clone(),
            ..TaskText::default()
        });
        for record in &mut after.records {
            if !ancestors.contains(record.task.as_str()) {
                record.text = format!("{noise} {}", record.text);
                record.title = noise.clone();
            }
        }
        let (before, after) =
            (context(&before, &id, &small()).unwrap(), context(&after, &id, &small()).unwrap());
        prop_assert_eq!(&before.system, &after.system);
        prop_assert_eq!(&before.prompt, &after.prompt);
        prop_assert_eq!(before.digest, after.digest);
        Ok(())
    });
}

/// Replaces one character of the text.
fn mutate(text: &mut String, at: prop::sample::Index) {
    let places: Vec<(usize, char)> = text.char_indices().collect();
    let (start, old) = places[at.index(places.len())];
    text.replace_range(start..start + old.len_utf8(), if old == 'X' { "Y" } else { "X" });
}

/// Changes one character of what a fragment was made from.
fn change_source(world: &mut World, id: &str, row: &Row, at: prop::sample::Index) -> bool {
    let task = world.plan.tasks.iter_mut().find(|task| task.id == id).unwrap();
    match row.kind {
        Kind::Task => mutate(&mut task.text, at),
        Kind::Constraint => match task.constraints.first_mut() {
            Some(constraint) => mutate(constraint, at),
            None => return false,
        },
        Kind::Feature => mutate(&mut world.plan.title, at),
        Kind::Record => {
            let record = world.records.iter_mut().find(|record| row.source.contains(&*record.id));
            mutate(&mut record.unwrap().text, at);
        }
        Kind::File if row.form == FormKind::NotThereYet => return false,
        Kind::File => {
            let text = world.files.get_mut(&row.source).unwrap();
            match text.find(SECRET) {
                Some(start) => text.replace_range(start..=start, "X"),
                None => mutate(text, at),
            }
        }
        _ => return false,
    }
    true
}

/// The way in which a source is shown; nothing for what no plan and no repository wrote.
fn label(row: &Row) -> Option<&'static str> {
    Some(match (row.kind, row.form, row.redacted.is_empty()) {
        (Kind::Frame | Kind::Agent | Kind::Architecture, ..) => return None,
        (Kind::File, FormKind::Whole, true) => "whole file",
        (Kind::File, FormKind::Whole, false) => "redacted file",
        (Kind::File, FormKind::Path, _) => "path",
        (Kind::File, ..) => "cut file",
        (Kind::Record, ..) => "record",
        _ => "plan",
    })
}

#[test]
fn a_change_of_an_admitted_source_shows_in_the_bytes_or_in_its_hash() {
    let seen: RefCell<BTreeMap<&str, u32>> = RefCell::default();
    let any_index = any::<prop::sample::Index>;
    run(
        &(world_and_task(), any_index(), any_index(), any_index()),
        |((world, id), way, index, at)| {
            let before = context(&world, &id, &small()).unwrap();
            // First the way of showing, then one of the sources shown so: rare ways get their share.
            let mut ways: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
            for row in &before.manifest.fragments {
                if let Some(label) = label(row) {
                    ways.entry(label).or_default().push(row);
                }
            }
            let (label, rows) = ways.iter().nth(way.index(ways.len())).unwrap();
            let row = rows[index.index(rows.len())];
            let mut changed = world.clone();
            if !change_source(&mut changed, &id, row, at) {
                return Ok(());
            }
            let after = context(&changed, &id, &small()).unwrap();
            let same = |other: &&Row| other.kind == row.kind && other.source == row.source;
            *seen.borrow_mut().entry(*label).or_default() += 1;
            if row.kind == Kind::File && (row.form != FormKind::Whole || !row.redacted.is_empty()) {
                let hashes: Vec<_> = after
                    .manifest
                    .fragments
                    .iter()
                    .filter(same)
                    .map(|row| &row.source_hash)
                    .collect();
                prop_assert!(!hashes.contains(&&row.source_hash), "{row:?}");
            } else {
                prop_assert_ne!(&before.prompt, &after.prompt, "{:?}", row);
                prop_assert_ne!(before.digest, after.digest);
            }
            Ok(())
        },
    );
    let seen = seen.into_inner();
    let total: u32 = seen.values().sum();
    for label in ["whole file", "redacted file", "cut file", "path", "record", "plan"] {
        let count = seen.get(label).copied().unwrap_or_default();
        println!("{label}: {count} of {total}");
        assert!(count * 20 >= total, "{label} occurred in {count} of {total} cases: {seen:?}");
    }
}

#[test]
fn every_byte_belongs_to_exactly_one_fragment() {
    run(&world_and_task(), |(world, id)| {
        let context = context(&world, &id, &small()).unwrap();
        for (part, length) in
            [(Part::System, context.system.len()), (Part::Prompt, context.prompt.len())]
        {
            let rows: Vec<&Row> =
                context.manifest.fragments.iter().filter(|row| row.part == part).collect();
            prop_assert_eq!(rows.first().map(|row| row.start), Some(0));
            prop_assert_eq!(rows.last().map(|row| row.end), Some(length));
            prop_assert!(rows.windows(2).all(|pair| pair[0].end == pair[1].start));
        }
        Ok(())
    });
}

#[test]
fn a_context_never_goes_over_its_budget_and_its_counts_are_real() {
    run(&world_and_task(), |(world, id)| {
        let limits = small();
        let context = context(&world, &id, &limits).unwrap();
        let counted: usize = context
            .manifest
            .fragments
            .iter()
            .map(|row| {
                assert_eq!(row.tokens, tokens::count(slice(&context, row)), "{row:?}");
                row.tokens
            })
            .sum();
        let whole = tokens::count(&context.system) + tokens::count(&context.prompt);
        prop_assert_eq!(counted, context.tokens);
        prop_assert!(
            whole <= context.tokens,
            "{} in one piece, {} in fragments",
            whole,
            context.tokens
        );
        prop_assert!(context.tokens <= limits.context);
        Ok(())
    });
}

#[test]
fn the_shared_prefix_is_the_same_for_every_task_of_one_agent() {
    run(&world(), |world| {
        let contexts: Vec<_> = world
            .plan
            .tasks
            .iter()
            .map(|task| context(&world, &task.id, &small()).unwrap())
            .collect();
        prop_assert!(contexts.windows(2).all(|pair| pair[0].system == pair[1].system));
        Ok(())
    });
}

#[test]
fn no_secret_enters_a_context() {
    run(&world_and_task(), |(world, id)| {
        let context = context(&world, &id, &small()).unwrap();
        prop_assert!(!context.to_prompt().contains(SECRET));
        Ok(())
    });
}
