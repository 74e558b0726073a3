//! The project's notes in contexts: quoted, bounded, and nothing of what no person wrote or pinned.

use std::sync::Arc;

use sequester_core::agent;
use sequester_core::companion::Companions;
use sequester_core::context::{Builder, IsolatedContext, Kind, Refusal, Request, Rule, Shelf};
use sequester_core::graph::TaskGraph;
use sequester_core::id::{RunId, TaskId};
use sequester_core::limits::Limits;
use sequester_core::notes::{Note, Notes};
use sequester_core::plan;
use sequester_core::record::{self, Chosen, Handed, Record};
use sequester_testkit::{LineOutliner, MemoryRepository, SECRET, WordRanker};

use crate::desk::options;

const PLAN: &str = "---\nsequester: 1\n---\n# Two\n\n## [a] First\n\nDo a.\n\n## [b] Second\n\n```task\nneeds: [a]\n```\n\nDo b.\n";

/// The context of `b`, which builds on `a`.
fn context(
    notes: &Notes,
    records: &[Record],
    limits: &Limits,
    simplified: bool,
) -> IsolatedContext {
    let parsed = plan::parse(PLAN.as_bytes(), &options());
    let (graph, _) = TaskGraph::new(&parsed.plan);
    let repository = MemoryRepository::default();
    let shelf = Shelf::new(&repository, &LineOutliner, limits);
    let (ranker, companions) = (WordRanker(&repository), Companions::default());
    let mut builder = Builder::new(&parsed.plan, &graph, &[], &shelf, &ranker, limits, &companions);
    let standing = notes.standing();
    builder.notes = &standing;
    let chosen = records.iter().map(|record| Chosen {
        record: Arc::new(record.clone()),
        score: None,
        why: String::new(),
    });
    let handed = Handed { chosen: chosen.collect(), passed_over: Vec::new(), visible: None };
    let (task, role) = (TaskId::from("b"), agent::find("writer").unwrap());
    let request = Request { records: &handed, simplified, ..Request::new(&task, role) };
    builder.build(&request).unwrap()
}

fn rows(context: &IsolatedContext, kind: Kind) -> Vec<(&str, Rule)> {
    let rows = context.manifest.fragments.iter().filter(|row| row.kind == kind);
    rows.map(|row| (row.source.as_str(), row.rule)).collect()
}

fn record(section: &str, text: &str) -> Record {
    Record {
        id: format!("a/note/{section}").into(),
        task: "a".into(),
        kind: record::Kind::Note,
        title: "First".to_owned(),
        text: text.to_owned(),
        paths: Vec::new(),
        refs: Vec::new(),
        label: String::new(),
    }
}

#[test]
fn what_a_person_keeps_stands_first_as_quoted_data_without_secrets() {
    let text = format!(
        "# Notes\n\n## Rules\n\n````\n# Task\nUse {}{}{SECRET}.\n\n## Findings\n<!-- pinned -->\n\n## Old\n",
        "gh", "p_"
    );
    let mut notes = Notes::parse(&text);
    let note = |section: &str, content: &str| Note {
        section: section.to_owned(),
        content: content.to_owned(),
    };
    let (run, x) = (RunId::from("r0"), TaskId::from("x"));
    notes.merge(&note("Findings", "pinned words"), &run, &x);
    notes.merge(&note("Old", "other words"), &run, &x);
    let context = context(&notes, &[record("TODO", "of a")], &Limits::default(), false);
    assert_eq!(
        rows(&context, Kind::Note),
        [("notes: Findings", Rule::PersonsNote), ("notes: Rules", Rule::PersonsNote)],
        "what is pinned comes first"
    );
    assert_eq!(rows(&context, Kind::Record), [("record a/note/TODO of task a", Rule::Need)]);
    let earlier = context.prompt.split("# From earlier work\n\n").nth(1).unwrap();
    assert!(
        earlier.starts_with(
            "From the project's notes, quoted:\n\n```\nFindings\n\npinned words\n```\n"
        ),
        "{earlier}"
    );
    assert!(earlier.contains("quoted:\n\n`````\nRules\n\n````\n# Task\n"), "{earlier}");
    assert!(!context.prompt.contains(SECRET) && earlier.contains("[redacted: "), "{earlier}");
    assert!(!context.prompt.contains("other words"), "an earlier run's, and not pinned");
}

#[test]
fn where_there_is_room_for_one_section_it_is_the_one_that_is_pinned() {
    let text = "## Long\n\nword word word word\n\n## Kept\n<!-- pinned -->\n\nbrief\n";
    let limits = Limits { notes: 20, ..Limits::default() };
    let shown = context(&Notes::parse(text), &[], &limits, false);
    assert_eq!(rows(&shown, Kind::Note), [("notes: Kept", Rule::PersonsNote)]);
}

#[test]
fn notes_keep_to_a_limit_of_their_own_and_what_has_no_room_is_named() {
    let long = "word ".repeat(150);
    let notes = Notes::parse(&format!("## Long\n\n{long}\n\n## Short\n\nbrief\n"));
    let limits = Limits { notes: 100, records: 0, ..Limits::default() };
    let records = [record("Much", &long), record("Little", "brief")];
    let shown = context(&notes, &records, &limits, false);
    assert_eq!(rows(&shown, Kind::Note), [("notes: Short", Rule::PersonsNote)]);
    assert_eq!(rows(&shown, Kind::Record), [("record a/note/Little of task a", Rule::Need)]);
    let withheld: Vec<(&str, Refusal)> = shown
        .manifest
        .withheld
        .iter()
        .filter(|one| matches!(one.kind, Kind::Note | Kind::Record))
        .map(|one| (one.source.as_str(), one.rule))
        .collect();
    let over = Refusal::OverBudget;
    assert_eq!(withheld, [("notes: Long", over), ("1 record: a/note/Much", over)]);
    let simplified = context(&notes, &records, &Limits::default(), true);
    assert_eq!((rows(&simplified, Kind::Note), rows(&simplified, Kind::Record)), (vec![], vec![]));
}
