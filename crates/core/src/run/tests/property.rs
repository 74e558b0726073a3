use std::collections::BTreeSet;

use proptest::prelude::*;

use super::apart::Apart;
use super::stage::{Brought, Stage, started, task, void};
use super::walk::{beside, step};
use crate::agent::{self, Fault};
use crate::change::Refusals;
use crate::context::Share;
use crate::report::{Phase, Question, Status};
use crate::run::reach::waves;
use crate::run::*;

/// Any plan of up to nine tasks, by which earlier ones each needs.
fn plans() -> impl Strategy<Value = Vec<Vec<usize>>> {
    prop::collection::vec(prop::collection::vec(0_usize..9, 0..3), 1..9).prop_map(earlier)
}

fn earlier(all: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    let earlier =
        |(at, needs): (usize, Vec<usize>)| needs.into_iter().filter(|need| *need < at).collect();
    all.into_iter().enumerate().map(earlier).collect()
}

/// The same with more that meets: tasks that need several, conflicts between them that others hide, days that are mostly good.
fn knots() -> impl Strategy<Value = (Vec<Vec<usize>>, Vec<Apart>, Vec<u8>)> {
    let needs = prop_oneof![Just(Vec::new()), prop::collection::vec(0_usize..8, 2..4)];
    let plans = prop::collection::vec(needs, 4..9).prop_map(earlier);
    let days = prop::collection::vec(prop_oneof![6 => Just(7), 1 => any::<u8>()], 0..40);
    // Nobody asks for ever.
    let days = days.prop_map(|days| [vec![7], days].concat());
    (plans, parts(), days)
}

/// Some of eight tasks, two by two, that do not fit onto each other.
fn parts() -> impl Strategy<Value = Vec<Apart>> {
    let name = |at: usize| format!("t{at}");
    let by = prop::option::weighted(0.7, 0_usize..8);
    let part = (0_usize..8, 0_usize..8, by, prop::bool::weighted(0.2));
    let part = part.prop_map(move |(one, other, by, mostly)| {
        let (tasks, unless) = ([name(one), name(other)], by.map(name));
        Apart { tasks, unless, mostly }
    });
    prop::collection::vec(part, 0..12)
}

fn specs(plan: &[Vec<usize>]) -> Vec<TaskSpec> {
    let workflows = ["build", "solo", "beside", "chain", "pipeline", "adaptive", "parallel"];
    let spec = |(at, needs): (usize, &Vec<usize>)| {
        let needs: Vec<String> = needs.iter().map(|need| format!("t{need}")).collect();
        let needs: Vec<&str> = needs.iter().map(String::as_str).collect();
        let workflow = workflows[at % workflows.len()].to_owned();
        TaskSpec { workflow, ..task(&format!("t{at}"), &needs) }
    };
    plan.iter().enumerate().map(spec).collect()
}

fn research_and_judge_side_by_side() -> Workflow {
    let research = ["left", "right"].map(|id| beside(id, "researcher", &[]));
    let judges = ["one", "two", "three"].map(|id| beside(id, "reviewer", &["write"]));
    let steps = [&research[..], &[step("write", "writer")], &judges].concat();
    Workflow { name: "beside".to_owned(), steps, ..Workflow::default() }
}

/// What an attempt brings on a day like this.
fn luck(day: u8, order: &Order) -> Brought {
    let question = |default: Option<&str>| Question {
        question: "Which?".to_owned(),
        default: default.map(ToOwned::to_owned),
        ..Question::default()
    };
    match day % 16 {
        0 => Brought::stopped(Status::Blocked),
        1 => Brought::stopped(Status::Complete),
        2 => Brought::asking(vec![question(Some("Yes."))]),
        3 => Brought::asking(vec![question(None)]),
        4 => Brought::ended(agent::Outcome::TimedOut),
        5 => Brought::ended(agent::Outcome::Failed { fault: Fault::NoReport { faults: vec![] } }),
        6 if order.phase == Phase::Review => Brought::judged(false),
        _ => match order.phase {
            Phase::Review | Phase::Validate | Phase::Verify => Brought::judged(true),
            _ => Brought::done(),
        },
    }
}

fn stage(plan: &[Vec<usize>], days: Vec<u8>, jobs: usize) -> Stage {
    sharing(Share::default(), plan, days, jobs)
}

fn sharing(share: Share, plan: &[Vec<usize>], days: Vec<u8>, jobs: usize) -> Stage {
    let mut started = started(specs(plan), &["m", "strong"]);
    let phase = |name: &str| agent::find(name).map(|role| role.phase);
    started
        .workflows
        .insert("beside".to_owned(), research_and_judge_side_by_side().completed(phase));
    started.settings.share = share;
    let mut stage = Stage::new(started);
    stage.jobs = jobs;
    let days = std::rc::Rc::new(days);
    let day = move |seed: &str, days: &[u8]| -> u8 {
        let sum: usize = seed.bytes().map(usize::from).sum();
        days[sum % days.len()]
    };
    stage.by_seed = true;
    let (known, seed) = (std::rc::Rc::clone(&days), std::rc::Rc::clone(&stage.seed));
    stage.attempt = Box::new(move |_, order| luck(day(&seed.borrow(), &known), order));
    let seed = std::rc::Rc::clone(&stage.seed);
    stage.verify = Box::new(move |_| day(&seed.borrow(), &days) % 4 != 0);
    stage
}

/// Plays to an end, answering whatever is asked.
fn play_out(stage: &mut Stage) -> Outcome {
    for _ in 0..50 {
        let outcome = stage.play();
        if outcome != Outcome::Waiting {
            return outcome;
        }
        let open: Vec<String> = stage.state.questions.keys().map(ToString::to_string).collect();
        for (at, question) in open.iter().enumerate() {
            stage.answer(question, if at % 2 == 0 { GIVE_UP } else { "Go on." });
        }
        stage.resume(&[]);
    }
    panic!("it asks for ever")
}

/// Where nobody takes anything back, what is on the branch stays there.
fn blames_nobody_on_the_branch(log: &[Recorded]) {
    let mut there = BTreeSet::new();
    for Entry { scope, event } in log.iter().map(|recorded| &recorded.entry) {
        match event {
            Event::TaskCommitted { .. } => assert!(there.insert(&scope.task), "{scope:?}: twice"),
            Event::MergeConflicted { .. } => assert!(!there.contains(&scope.task), "{scope:?}"),
            _ => {}
        }
    }
}

proptest! {
    #[test]
    fn every_run_ends_and_its_log_is_its_state(
        plan in plans(), days in prop::collection::vec(any::<u8>(), 7..40), jobs in 1_usize..5,
    ) {
        let mut stage = stage(&plan, days, jobs);
        play_out(&mut stage);
        let again = RunState::replay(&stage.log).unwrap();
        prop_assert_eq!(&again, &stage.state);
        let stored = serde_json::to_string(&stage.state).unwrap();
        let read: RunState = serde_json::from_str(&stored).unwrap();
        prop_assert_eq!(&read, &stage.state);
        for task in &stage.state.tasks {
            prop_assert!(task.ended.is_some());
        }
    }

    #[test]
    fn a_task_is_done_only_after_the_runtime_found_nothing_against_its_last_change(
        plan in plans(), days in prop::collection::vec(any::<u8>(), 7..40),
    ) {
        let mut stage = stage(&plan, days, 3);
        play_out(&mut stage);
        for task in stage.state.tasks.iter().filter(|task| task.is_done()) {
            let last = task.facts.iter().rev().find_map(|fact| match fact {
                Fact::Verified { tree, failing, .. } => Some((tree, failing)),
                _ => None,
            });
            let (tree, failing) = last.expect("the runtime looked");
            prop_assert_eq!(failing, &None);
            if let Some(result) = task.result() {
                prop_assert_eq!(tree, result);
            }
        }
    }

    #[test]
    fn nothing_starts_before_its_needs_are_done_and_nothing_is_committed_twice(
        plan in plans(), days in prop::collection::vec(any::<u8>(), 7..40), jobs in 1_usize..5,
    ) {
        let mut stage = stage(&plan, days, jobs);
        play_out(&mut stage);
        for (at, recorded) in stage.log.iter().enumerate() {
            let Event::AttemptStarted(_) = recorded.entry.event else { continue };
            let before = RunState::replay(&stage.log[..at]).unwrap();
            let task = recorded.entry.scope.task.as_ref().unwrap();
            for need in &before.task(task).unwrap().spec.needs {
                prop_assert!(before.task(need).unwrap().is_done());
            }
        }
        let mut committed = stage.committed();
        let count = committed.len();
        committed.sort();
        committed.dedup();
        prop_assert_eq!(committed.len(), count);
    }

    #[test]
    fn where_all_earlier_waves_are_shared_a_task_waits_until_they_are_settled_and_every_run_ends(
        plan in plans(), days in prop::collection::vec(any::<u8>(), 7..40), jobs in 1_usize..5,
        turns in prop::collection::vec(0_usize..8, 1..30), clashes in prop::collection::vec(any::<bool>(), 9),
        apart in parts(),
    ) {
        let mut stage = sharing(Share::AllEarlier, &plan, days, jobs);
        let mut turns = turns.into_iter().cycle();
        stage.turn = Box::new(move |_| turns.next().unwrap_or(0));
        let mut clashes = clashes;
        stage.conflict = Box::new(move |id| {
            let number: usize = id.as_str()[1..].parse().unwrap();
            std::mem::take(&mut clashes[number])
        });
        stage.apart = apart;
        play_out(&mut stage);
        prop_assert_eq!(&RunState::replay(&stage.log).unwrap(), &stage.state);
        for task in &stage.state.tasks {
            prop_assert!(task.ended.is_some(), "{} waits for ever", task.spec.id);
            prop_assert!(task.result().is_none() || task.committed.is_some(), "{}", task.spec.id);
        }
        for (at, recorded) in stage.log.iter().enumerate() {
            let Event::AttemptStarted(_) = recorded.entry.event else { continue };
            let before = RunState::replay(&stage.log[..at]).unwrap();
            let own = before.position(recorded.entry.scope.task.as_ref().unwrap()).unwrap();
            let waves = waves(&before.tasks);
            for (task, wave) in before.tasks.iter().zip(&waves).filter(|(_, wave)| **wave < waves[own]) {
                let is_settled = task.ended.is_some() && (task.result().is_none() || task.committed.is_some());
                prop_assert!(is_settled, "{} of wave {wave} before {own}", task.spec.id);
            }
        }
    }

    #[test]
    fn what_counts_is_the_same_in_whatever_order_things_end(
        (plan, apart, days) in knots(), jobs in 2_usize..9,
        turns in prop::collection::vec(0_usize..8, 1..30), clashes in prop::collection::vec(prop::bool::weighted(0.1), 9),
        (unattended, stops, singly) in any::<(bool, bool, bool)>(), order in Just([0, 1, 2, 3, 4, 5, 6, 7, 8]).prop_shuffle(),
        share in prop::sample::select(Share::ALL.to_vec()),
    ) {
        let play = |jobs: usize, turns: Vec<usize>| {
            let mut stage = sharing(share, &plan, days.clone(), jobs);
            stage.state.started.settings.unattended = unattended;
            stage.stops = stops;
            let mut turns = turns.into_iter().cycle();
            stage.turn = Box::new(move |_| turns.next().unwrap_or(0));
            let mut clashes = clashes.clone();
            stage.conflict = Box::new(move |id| {
                let number: usize = id.as_str()[1..].parse().unwrap();
                std::mem::take(&mut clashes[number])
            });
            stage.apart.clone_from(&apart);
            for _ in 0..if singly { 100 } else { 20 } {
                if stage.play() != Outcome::Waiting {
                    break;
                }
                // By who asks: in which order they came to that is of no account.
                let mut open: Vec<(String, String)> = stage.state.questions.iter().map(|(id, open)| {
                    (open.task.as_ref().unwrap().to_string(), id.to_string())
                }).collect();
                open.sort_by_key(|(task, _)| task[1..].bytes().map(|one| order[usize::from(one - b'0')]).next());
                open.truncate(if singly { 1 } else { open.len() });
                for (task, question) in open {
                    let gives_up = task.ends_with(['1', '4', '6']);
                    stage.answer(&question, if gives_up { GIVE_UP } else { "Go on." });
                }
                stage.resume(&[]);
            }
            blames_nobody_on_the_branch(&stage.log);
            let fate = |task: &TaskRun| {
                let void = void(task);
                let tried = task.tried().filter(|one| one.number > void);
                let mut tried: Vec<_> = tried.map(|one| (one.number, one.step.clone(), one.model.clone())).collect();
                tried.sort();
                let tried: Vec<_> = tried.into_iter().map(|(_, step, model)| (step, model)).collect();
                let admitted: Vec<_> = (void + 1..=task.attempts).map(|number| {
                    stage.admitted.get(&(task.spec.id.to_string(), number)).cloned()
                }).collect();
                let ended = task.ended.as_ref().map(|ended| (ended.state, ended.tree.clone()));
                (task.spec.id.to_string(), ended, tried, admitted)
            };
            let fates: Vec<_> = stage.state.tasks.iter().map(fate).collect();
            (stage.committed(), fates)
        };
        let (alone, together) = (play(1, vec![0]), play(jobs, turns));
        prop_assert_eq!(alone, together);
    }

    #[test]
    fn the_order_in_which_things_end_changes_no_tasks_fate(
        plan in plans(), days in prop::collection::vec(any::<u8>(), 7..40), turns in prop::collection::vec(0_usize..8, 1..30),
    ) {
        let mut one = stage(&plan, days.clone(), 1);
        let mut many = stage(&plan, days, 8);
        let mut turns = turns.into_iter().cycle();
        many.turn = Box::new(move |_| turns.next().unwrap_or(0));
        // Nobody answers: who is asked first is a person's time, and no fate of a task.
        one.play();
        many.play();
        let fate = |stage: &Stage| -> Vec<(Option<Ended>, Vec<String>)> {
            let tasks = stage.state.tasks.iter().map(|task| task.spec.id.to_string());
            tasks.map(|id| (stage.ended(&id), stage.tried(&id))).collect()
        };
        prop_assert_eq!(fate(&one), fate(&many));
        let mut ids = (one.committed(), many.committed());
        ids.0.sort();
        ids.1.sort();
        prop_assert_eq!(ids.0, ids.1);
    }

    #[test]
    fn nothing_counts_that_was_built_on_something_else_than_the_last_result_of_a_need(
        plan in plans(), days in prop::collection::vec(any::<u8>(), 7..40), jobs in 1_usize..5,
        turns in prop::collection::vec(0_usize..8, 1..30), clashes in prop::collection::vec(any::<bool>(), 9), stops in any::<bool>(),
    ) {
        let mut stage = stage(&plan, days, jobs);
        let mut turns = turns.into_iter().cycle();
        stage.turn = Box::new(move |_| turns.next().unwrap_or(0));
        stage.stops = stops;
        let mut clashes = clashes;
        stage.conflict = Box::new(move |id| {
            let number: usize = id.as_str()[1..].parse().unwrap();
            std::mem::take(&mut clashes[number])
        });
        play_out(&mut stage);
        prop_assert_eq!(&RunState::replay(&stage.log).unwrap(), &stage.state);
        for task in stage.state.tasks.iter().filter(|task| task.is_done()) {
            if let Some(base) = &task.base {
                prop_assert_eq!(base, &stage.base(&task.spec.id), "{}", task.spec.id);
            }
        }
        let committed = stage.committed();
        let tasks = stage.state.tasks.iter().filter(|task| task.result().is_some());
        prop_assert_eq!(committed.len(), tasks.count());
        for (at, id) in committed.iter().enumerate() {
            for need in &stage.state.task(&id.as_str().into()).unwrap().spec.needs {
                let before = committed[..at].iter().any(|one| one == need.as_str());
                prop_assert!(before || stage.state.task(need).unwrap().result().is_none());
            }
        }
    }

    #[test]
    fn nothing_begins_or_comes_onto_the_branch_on_what_is_done_no_more(
        plan in plans(), days in prop::collection::vec(any::<u8>(), 7..40), jobs in 1_usize..5,
        turns in prop::collection::vec(0_usize..8, 1..30), clashes in prop::collection::vec(any::<bool>(), 9),
        last in 0_usize..9, again in prop::collection::vec(0_usize..9, 1..5), share in prop::sample::select(Share::ALL.to_vec()),
    ) {
        let mut stage = sharing(share, &plan, days, jobs);
        let mut turns = turns.into_iter().cycle();
        stage.turn = Box::new(move |_| turns.next().unwrap_or(0));
        let mut clashes = clashes;
        stage.conflict = Box::new(move |id| {
            let number: usize = id.as_str()[1..].parse().unwrap();
            std::mem::take(&mut clashes[number])
        });
        stage.stop_after(&format!("t{last}"));
        stage.play();
        stage.stopping = false;
        for task in again {
            stage.resume(&[&format!("t{}", task % plan.len())]);
            play_out(&mut stage);
        }
        let mut state = RunState::begin(&stage.log[0]).unwrap();
        for recorded in &stage.log[1..] {
            let builds = matches!(recorded.entry.event, Event::AttemptStarted(_) | Event::TaskCommitted { .. });
            let mut below: Vec<_> = recorded.entry.scope.task.iter().filter(|_| builds).cloned().collect();
            while let Some(task) = below.pop() {
                for need in &state.task(&task).unwrap().spec.needs {
                    prop_assert!(state.task(need).unwrap().is_done(), "{:?} on {need}", recorded.entry.scope);
                    below.push(need.clone());
                }
            }
            state.fold(recorded).unwrap();
        }
        prop_assert_eq!(&state, &stage.state);
    }

    #[test]
    fn what_a_task_may_spend_is_the_same_however_many_are_worked_on_at_once(
        plan in plans(), days in prop::collection::vec(any::<u8>(), 7..40), jobs in 2_usize..17,
        turns in prop::collection::vec(0_usize..8, 1..30), budget in 1_000_u64..60_000,
    ) {
        let play = |jobs: usize, turns: Vec<usize>| {
            let mut stage = stage(&plan, days.clone(), jobs);
            let settings = &mut stage.state.started.settings;
            (settings.unattended, settings.budget.tokens) = (true, Some(budget));
            let mut turns = turns.into_iter().cycle();
            stage.turn = Box::new(move |_| turns.next().unwrap_or(0));
            let outcome = stage.play();
            // Whom a task that is blocked names is who failed first.
            let end = |task: &TaskRun| task.ended.as_ref().map(|ended| ended.state);
            let ends: Vec<_> = stage.state.tasks.iter().map(end).collect();
            (outcome, ends, stage.caps(), stage.state.cost)
        };
        let (alone, together) = (play(1, vec![0]), play(jobs, turns));
        prop_assert!(alone.3.usage.total() <= budget, "{:?} of {}", alone.3, budget);
        prop_assert_eq!(alone, together);
    }

    #[test]
    fn a_run_can_be_taken_up_from_every_event(
        plan in plans(), days in prop::collection::vec(any::<u8>(), 7..20), cut in any::<prop::sample::Index>(),
    ) {
        let mut whole = stage(&plan, days.clone(), 2);
        whole.play();
        let end = cut.index(whole.log.len()) + 1;
        let mut log = whole.log[..end].to_vec();
        if log.iter().any(|one| matches!(one.entry.event, Event::RunEnded { .. })) {
            return Ok(());
        }
        // What was under way is lost with the process; here it is begun anew.
        let mut state = RunState::replay(&log).unwrap();
        let lost: Vec<_> = state.tasks.iter().flat_map(|task| task.running.values().map(|one| (task.spec.id.clone(), one.phase, one.number))).collect();
        let mut again = stage(&plan, days, 2);
        for (task, phase, number) in lost {
            let event = Event::AttemptEnded(Box::new(AttemptEnded {
                outcome: agent::Outcome::Failed { fault: Fault::Runtime { message: "lost".to_owned() } },
                said: None, report: None, claimed: Vec::new(), change: None, tree: None, trouble: None,
                refused: Refusals::default(),
                kept: crate::digest::Digest::of(b"kept"), spent: crate::budget::Spent::default(),
            }));
            let scope = Scope { task: Some(task), phase: Some(phase), attempt: Some(number) };
            let recorded = Recorded { seq: state.seq + 1, at: state.at, run: state.run.clone(), entry: Entry { scope, event } };
            state.fold(&recorded).unwrap();
            log.push(recorded);
        }
        again.log = log;
        again.state = state;
        play_out(&mut again);
        prop_assert_eq!(&RunState::replay(&again.log).unwrap(), &again.state);
    }
}
