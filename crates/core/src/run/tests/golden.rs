//! Every event as it lies in logs that exist: what was written can be read for ever.

use crate::agent;
use crate::budget::{Budget, Spent};
use crate::change::Refusals;
use crate::check::{Check, Counts, Kind};
use crate::digest::Digest;
use crate::moment::Moment;
use crate::profile::Granted;
use crate::provider;
use crate::report::{Choice, Phase, Question, Status};
use crate::run::*;
use crate::usage::Usage;

use super::stage::{POWERS, started, task};

const V1: &str = include_str!("golden/v1.jsonl");

#[expect(clippy::too_many_lines, reason = "one of each")]
fn every() -> Vec<Event> {
    let digest = || Digest::of(b"bytes");
    let (elapsed_ms, turn) = (5, 1);
    let usage = Usage { input: 10, cache_read: 4, cache_write: 2, output: 3 };
    let mut first = started(vec![task("a", &[]), task("b", &["a"])], &["m"]);
    first.workflows.retain(|name, _| name == "adaptive");
    // As it was before workflows were described.
    first.workflows.values_mut().for_each(|one| one.description.clear());
    first.agents.retain(|name, _| name == "writer");
    let agents = first.agents.clone();
    let check = || Check { kind: Kind::Tests, command: "cargo test".to_owned() };
    let error = provider::Error {
        kind: provider::Kind::Overloaded,
        message: "It is overloaded.".to_owned(),
        retry_after: Some(std::time::Duration::from_secs(2)),
    };
    let context = Shown {
        digest: digest(),
        system: digest(),
        prompt: digest(),
        text: 3..7,
        manifest: digest(),
        tokens: 9,
    };
    vec![
        Event::RunStarted(Box::new(first)),
        Event::RunResumed { retry: vec!["a".into()], budget: None },
        Event::PlanChanged {
            plan: Source {
                path: "plan.md".to_owned(),
                hides: [crate::path::RepoPath::parse("docs/plan.md").unwrap()].into(),
                format: None,
                parallel: false,
                tag: None,
                text: digest(),
            },
            tasks: vec![task("a", &[])],
            workflows: std::collections::BTreeMap::new(),
            agents: agents.clone(),
        },
        Event::RunCancelled { by: "somebody".to_owned() },
        Event::LetterTaken { letter: 3 },
        Event::QuestionAsked(Box::new(Asked {
            question: "r1-1".into(),
            text: "Which?".to_owned(),
            details: None,
            options: vec![Choice { label: "This".to_owned(), description: None }],
            default: Some("This".to_owned()),
            deadline: Some(Moment(2)),
            about: About::Clarification,
        })),
        Event::QuestionAnswered {
            question: "r1-1".into(),
            answer: "This".to_owned(),
            by: "somebody".to_owned(),
        },
        Event::AttemptStarted(Box::new(AttemptStarted {
            step: "write".to_owned(),
            place: 0,
            agent: "writer".to_owned(),
            profile: "writer".to_owned(),
            model: "literal".to_owned(),
            powers: POWERS,
            rung: 0,
            purpose: Purpose::Fix,
            base: "tree".into(),
            from: Some("other".into()),
            findings: Vec::new(),
            handoff: None,
            context,
            tools: vec!["Read".to_owned()],
            specs: digest(),
            budget: Budget::default(),
            inherited: None,
            sources: Some(Sources {
                granted: Granted {
                    tools: vec!["Read".to_owned()],
                    hosts: vec!["docs.rs".to_owned()],
                },
                agent: digest(),
                companions: [("spec.md".to_owned(), digest())].into(),
            }),
            parent: Some(Delegation {
                attempt: 1,
                turn: 3,
                call: "call-2".to_owned(),
                description: "Find the letters".to_owned(),
            }),
        })),
        Event::TurnStarted { turn, messages: vec![digest()], elapsed_ms },
        Event::TurnEnded { turn, reply: digest(), usage, elapsed_ms },
        Event::TurnFailed { turn, error, elapsed_ms },
        Event::CallsStarted { turn, calls: vec!["Read".to_owned()] },
        Event::CallsEnded { turn, results: digest(), change: Some(digest()), elapsed_ms },
        Event::HostAsked {
            host: "example.org".to_owned(),
            port: 443,
            allowed: false,
            why: "It is not named.".to_owned(),
        },
        ended(Said::Proceed { passed: Some(true), complexity: None, against: Vec::new() }),
        ended(Said::Stop { status: Status::Blocked, reason: "No.".to_owned(), resolution: None }),
        ended(Said::Clarify { questions: vec![Question::default()], files: Vec::new() }),
        Event::CheckStarted { check: check(), on: "tree".into() },
        Event::CheckEnded(Box::new(CheckEnded {
            check: check(),
            on: "tree".into(),
            is_base: false,
            is_red: true,
            code: 101,
            limit: Some("It took too long.".to_owned()),
            passed: false,
            missing_program: None,
            counts: Some(Counts { passed: 1, failed: 2, skipped: 3 }),
            output: digest(),
            elapsed_ms,
        })),
        Event::TaskVerified {
            steps: vec!["check".to_owned()],
            evidence: digest(),
            tree: "tree".into(),
            failing: Some(digest()),
            gist: None,
        },
        Event::StepSkipped { step: "review".to_owned(), reason: NO_MODEL.to_owned() },
        Event::TaskCommitted { commit: "commit".into(), tree: "tree".into() },
        Event::MergeConflicted { paths: vec!["a.rs".to_owned()] },
        Event::TaskEnded(Box::new(TaskEnded {
            state: Ended::Failed,
            reason: Some("No.".to_owned()),
            resolution: Some("Do.".to_owned()),
            tree: Some("tree".into()),
            person: None,
            skipped_with: None,
        })),
        Event::RunEnded {
            outcome: Outcome::Done,
            tasks: Tally { done: 2, ..Tally::default() },
            usage,
            price: Some(7),
            todos: Vec::new(),
        },
        ended(Said::Clarify { questions: Vec::new(), files: vec!["a.js".to_owned()] }),
        Event::QuestionAsked(Box::new(Asked {
            question: "r1-2".into(),
            text: "May it?".to_owned(),
            details: None,
            options: Vec::new(),
            default: None,
            deadline: None,
            about: About::Files(vec!["a.js".to_owned()]),
        })),
        Event::FilesGranted {
            files: [
                ("a.js".to_owned(), Found::Blob(digest())),
                ("b.js".to_owned(), Found::Refused(crate::context::Refusal::TooLarge)),
            ]
            .into(),
        },
        Event::QuestionAsked(Box::new(Asked {
            question: "r1-3".into(),
            text: "Both create it.".to_owned(),
            details: None,
            options: Vec::new(),
            default: Some("Change it".to_owned()),
            deadline: None,
            about: About::Plan(Box::new(Contradiction {
                task: "a".into(),
                told: "It is there.".to_owned(),
                remedies: [
                    ("As it is".to_owned(), Remedy::AsItIs),
                    ("Change it".to_owned(), Remedy::Change("a.rs".to_owned())),
                    ("Leave it out".to_owned(), Remedy::LeaveOut),
                    ("Tell it".to_owned(), Remedy::Tell),
                    ("Wait for it".to_owned(), Remedy::Need("b".into())),
                    ("Without it".to_owned(), Remedy::Without("a.rs".to_owned())),
                ]
                .into(),
            })),
        })),
        Event::TaskVerified {
            steps: vec!["check".to_owned()],
            evidence: digest(),
            tree: "tree".into(),
            failing: Some(digest()),
            gist: Some("It fails.".to_owned()),
        },
        ended(Said::Proceed {
            passed: Some(false),
            complexity: None,
            against: vec!["It is odd.".to_owned()],
        }),
        Event::QuestionAsked(Box::new(Asked {
            question: "r1-4".into(),
            text: "What now?".to_owned(),
            details: Some("It fails.".to_owned()),
            options: Vec::new(),
            default: None,
            deadline: None,
            about: About::Failure,
        })),
        Event::NotesMerged {
            ended: 7,
            sections: vec!["TODO".to_owned()],
            told: vec!["It was shortened.".to_owned()],
        },
        Event::ClarificationAdded { text: "Use JWT.".to_owned(), by: "somebody".to_owned() },
    ]
}

fn ended(said: Said) -> Event {
    Event::AttemptEnded(Box::new(AttemptEnded {
        outcome: agent::Outcome::Looped { call: "Bash".to_owned(), times: 5 },
        said: Some(said),
        report: Some(Digest::of(b"bytes")),
        claimed: vec!["a.rs".to_owned()],
        change: Some(Digest::of(b"bytes")),
        tree: Some("tree".into()),
        trouble: Some("It is gone.".to_owned()),
        refused: Refusals::default(),
        kept: Digest::of(b"bytes"),
        spent: Spent::default(),
    }))
}

#[test]
fn events_of_the_first_version_are_written_and_read_as_ever() {
    let scope = Scope { task: Some("a".into()), phase: Some(Phase::Write), attempt: Some(2) };
    let events = every().into_iter().enumerate().map(|(at, event)| Recorded {
        seq: at as u64 + 1,
        at: Moment(1_794_819_912_345),
        run: "r1".into(),
        entry: Entry { scope: scope.clone(), event },
    });
    let events: Vec<Recorded> = events.collect();
    let lines: Vec<String> =
        events.iter().map(|event| serde_json::to_string(event).unwrap()).collect();
    assert_eq!(lines.join("\n") + "\n", V1);
    let read: Vec<Recorded> = V1.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(read, events);
}
