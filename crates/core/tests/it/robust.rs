//! Whatever the bytes: no panic, texts are slices, leaves never overlap.

use proptest::prelude::*;
use sequester_core::fault::Code;
use sequester_core::graph::TaskGraph;
use sequester_core::plan::{self, Format, Options, Parsed};

use crate::fixture::{ALL, options};

/// What must hold for every input.
fn holds(source: &[u8], options: &Options) -> Parsed {
    let parsed = plan::parse(source, options);
    let body = source.strip_prefix(b"\xef\xbb\xbf").unwrap_or(source);
    // Task Master and Cursor write texts as strings, and a checkpoint of GSD is put as a question.
    if !matches!(parsed.plan.format, Format::TaskMaster | Format::Cursor) {
        let asks = |task: &&plan::Task| task.settings.model.as_deref() == Some("literal");
        for task in parsed.plan.tasks.iter().filter(|task| !asks(task)) {
            assert_eq!(&body[task.span.clone()], task.text.as_bytes());
        }
    }
    let mut spans: Vec<_> = parsed.plan.tasks.iter().map(|task| task.span.clone()).collect();
    spans.sort_by_key(|span| (span.start, span.end));
    // The ids of a range share one text.
    spans.dedup();
    assert!(spans.windows(2).all(|pair| pair[0].end <= pair[1].start), "{spans:?}");
    let places: Vec<_> = parsed.faults.iter().map(|fault| fault.place).collect();
    assert!(places.is_sorted());
    assert!(!parsed.plan.tasks.is_empty() || !parsed.faults.is_empty());
    let (graph, _) = TaskGraph::new(&parsed.plan);
    let open = parsed.plan.tasks.iter().filter(|task| !task.done).count();
    assert_eq!(graph.waves().iter().map(Vec::len).sum::<usize>(), open);
    assert_eq!(plan::parse(source, options), parsed);
    parsed
}

/// Pieces that make plans, in any order.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("### Task 1: a\n".to_owned()),
        Just("## Task 2 - b\n".to_owned()),
        Just("**Files:**\n- Create: `a.rs`\n".to_owned()),
        Just("- [ ] 1. a\n".to_owned()),
        Just("  - [x] 1.1 b\n".to_owned()),
        Just("- [ ]* 2.1 c\n\t- [ ] d\n".to_owned()),
        Just("## 1. A\n".to_owned()),
        Just("- [ ] T001 [P] a src/x.rs\n".to_owned()),
        Just("#### A.1.1 x\nDepends on: B.1.1\n".to_owned()),
        Just("- **B.1.1** y\n".to_owned()),
        Just("```\n".to_owned()),
        Just("```task\nneeds: [a]\n```\n".to_owned()),
        Just("## [a] b\n".to_owned()),
        Just("---\nsequester: 1\n---\n".to_owned()),
        Just("> - [ ] 3. q\n".to_owned()),
        Just("<!--\n".to_owned()),
        Just("-->\r\n".to_owned()),
        Just("\u{feff}\u{a0}漢字：\n".to_owned()),
        Just("text\n---\n".to_owned()),
        Just("Depends on: Task 2, 3.1-3.9\n".to_owned()),
        Just("<task type=\"auto\">\n<name>a</name>\n".to_owned()),
        Just("</task>\n".to_owned()),
        Just("---\ntodos:\n  - id: a\n    content: b\n---\n".to_owned()),
        Just("  - c\n---\n".to_owned()),
        Just("## Acceptance Criteria\n\n1. a\n2. b\n".to_owned()),
        Just("**Acceptance Criteria:**\n- [ ] a\n".to_owned()),
        Just("### Tasks / Subtasks\n\n- [ ] Task 1: a (AC: 1)\n".to_owned()),
        Just("**Tasks & Acceptance**\n".to_owned()),
        Just("## Dev Notes\n".to_owned()),
        Just("## Task Dependency Graph\n\n```json\n{\"waves\": [{\"tasks\": [\"1\", \"1.1\"]}]}\n```\n".to_owned()),
        Just("## Dependencies\n\n- T001 before T002\n- Phase 2 depends on Phase 1\n".to_owned()),
        "[ -~]{0,12}\n",
        "\\PC{0,8}",
    ]
}

/// Pieces of a task's own text: whatever is no task, and no heading of a task's rank in plans that go by rank.
fn words() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just("Words.\n"),
        Just("---\n"),
        Just("Words\n---\n"),
        Just("**Goal:** Mine.\n"),
        Just("#### Goal\n\nMine.\n"),
        Just("#### Architecture\n"),
        Just("- [x] step\n"),
        Just("- plain\n  more\n"),
        Just("```\n# code\n- [ ] 9. x\n```\n"),
        Just("**Files:**\n- Create: `a.rs`\n"),
        Just("Replace this:\n"),
        Just("| a |\n|---|\n| b |\n"),
        Just("It ends (AC: 1, 2).\n"),
        Just("**Acceptance Criteria:**\n\n1. Mine.\n"),
        Just("Dev Notes\n"),
    ]
}

/// What a task is given of a plan: what holds for all, its text, its parents, its own constraints.
type Given = (String, Vec<plan::Constraint>, String, Vec<plan::Parent>, Vec<String>);

fn given(source: &str, id: &str) -> Given {
    let plan = plan::parse(source.as_bytes(), &Options::default()).plan;
    let task = plan.tasks.iter().find(|task| task.id.as_str() == id).unwrap();
    let (text, parents, own) = (task.text.clone(), task.parents.clone(), task.constraints.clone());
    (plan.feature(), plan.constraints.clone(), text, parents, own)
}

/// Plans of formats in which a task is an item, an entry or an element, with the text of the first of two tasks.
fn plans_of_entries(text: &str) -> [(Format, String); 7] {
    let nested = text.replace('\n', "\n  ");
    let content = serde_json::to_string(&format!("a\n{text}")).unwrap();
    let boxes = format!("- [ ] a\n\n  {nested}\n\n- [ ] b\n");
    let criteria = "Acceptance Criteria:**\n- 410 is answered\n";
    [
        (
            Format::Bmad,
            format!("# S\n\n## Tasks & Acceptance\n\n**{criteria}\n**Execution:**\n\n{boxes}"),
        ),
        (
            Format::Bmad,
            format!(
                "# S\n\n**{criteria}\n## Dev Notes\n\nNotes.\n\n### Tasks / Subtasks\n\n{boxes}"
            ),
        ),
        (
            Format::Bmad,
            format!(
                "# S\n\n## Tasks / Subtasks\n\n### Task 1: a\n\n{text}\n\n### Task 2: b\n\ny\n\n## Acceptance Criteria\n\n1. x\n2. y\n"
            ),
        ),
        (
            Format::Cursor,
            format!(
                "---\nname: T\ntodos:\n  - id: 1\n    content: {content}\n  - id: 2\n    content: y\n---\n\nThe plan.\n"
            ),
        ),
        (
            Format::Gsd,
            format!(
                "<objective>\nIt.\n</objective>\n<task type=\"auto\">\n<name>a</name>\n<action>\n{text}\n</action>\n</task>\n<task type=\"auto\">\n<name>b</name>\n</task>\n"
            ),
        ),
        (Format::List, format!("# T\n\n## Tasks\n\n{boxes}\n## Acceptance criteria\n\n- [ ] c\n")),
        (Format::List, format!("# T\n\n### Step 1: a\n\n{text}\n\n### Step 2: b\n\ny\n")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_read_without_panic(source in prop::collection::vec(any::<u8>(), 0..200)) {
        plan::parse(&source, &Options::default());
    }

    #[test]
    fn any_mixture_of_pieces_keeps_texts_apart(pieces in prop::collection::vec(piece(), 0..24), format in 0..=Format::ALL.len(), parallel: bool) {
        let format = Format::ALL.get(format).copied();
        let options = Options { format, parallel, ..Options::default() };
        holds(pieces.concat().as_bytes(), &options);
    }

    #[test]
    fn what_one_task_says_changes_nothing_that_another_is_given(one in prop::collection::vec(words(), 0..8), two in prop::collection::vec(words(), 0..8), top in prop_oneof![Just(""), Just("# Top\n"), Just("## Part\n\nwords\n")]) {
        let (one, two) = (one.join("\n"), two.join("\n"));
        let superpowers = |text: &str| format!("# T\n\n## Phase 1\n\nIntro.\n\n### Task 1: a\n\n{text}\n\n### Task 2: b\n\ny\n\n## Phase 2\n\n### Task 3: c\n\nz\n");
        let source = superpowers(&one);
        let (start, end) = (source.find("### Task 1").unwrap(), source.find("### Task 2").unwrap());
        let without = format!("{}{}", &source[..start], &source[end..]);
        for id in ["2", "3"] {
            prop_assert_eq!(given(&source, id), given(&superpowers(&two), id));
            prop_assert_eq!(given(&source, id), given(&without, id));
        }
        let track = |text: &str| format!("# T\n\n## A.1 One\n\nIntro.\n\n### A.1.1 a\n\n{text}\n\n### A.1.2 b\n\ny\n\n## B.1 Two\n\n- [ ] B.1.1 c\n");
        for id in ["A.1.2", "B.1.1"] {
            prop_assert_eq!(given(&track(&one), id), given(&track(&two), id));
        }
        let native = |text: &str| format!("---\nsequester: 1\n---\n# T\n\n### [a] A\n\n{text}\n\n### [b] B\n\ny\n");
        let more = format!("{two}\n{top}");
        prop_assert_eq!(given(&native(&one), "b"), given(&native(&more), "b"));
    }

    #[test]
    fn what_one_entry_says_changes_nothing_that_another_is_given(one in prop::collection::vec(words(), 0..8), two in prop::collection::vec(words(), 0..8)) {
        // A box beneath one heading makes all boxes the tasks of a story.
        let unboxed = |pieces: &[&str]| pieces.join("\n").replace("- [x]", "-");
        let (one, two) = (unboxed(&one), unboxed(&two));
        for ((format, one), (_, two)) in plans_of_entries(&one).into_iter().zip(plans_of_entries(&two)) {
            prop_assert_eq!(plan::parse(one.as_bytes(), &Options::default()).plan.format, format);
            prop_assert_eq!(given(&one, "2"), given(&two, "2"));
        }
    }

    #[test]
    fn fixtures_that_were_cut_and_glued_keep_texts_apart(which in 0..ALL.len(), cut in 0..2000_usize, length in 0..200_usize, glue in piece()) {
        let (name, source) = ALL[which];
        let start = cut.min(source.len());
        let end = (start + length).min(source.len());
        let mut mutated = source[..start].to_vec();
        mutated.extend(glue.bytes());
        mutated.extend(&source[end..]);
        let parsed = plan::parse(&mutated, &options(name));
        if std::str::from_utf8(&mutated).is_ok() {
            prop_assert_eq!(&parsed, &holds(&mutated, &options(name)));
        }
    }
}

#[test]
fn every_fixture_holds() {
    for (name, source) in ALL {
        holds(source, &options(name));
    }
}

#[test]
fn nesting_and_long_lines_do_not_blow_up() {
    let nested: Vec<String> =
        (0..400).map(|depth| format!("{}- [ ] {depth}. x\n", "  ".repeat(depth))).collect();
    let nested = nested.concat();
    let quotes = ">".repeat(50_000);
    let spans = format!("### Task 1: a\n**Files:**\n- Create: {}\n", "`a/b.rs`, ".repeat(20_000));
    let brackets = format!("### Task 1: {}\nx\n", "[".repeat(50_000));
    let json = format!("{}1", "[{\"id\":1,\"subtasks\":".repeat(2_000));
    for source in [nested, quotes, spans, brackets, json] {
        holds(source.as_bytes(), &Options::default());
    }
}

#[test]
fn very_many_needs_of_a_parent_of_very_many_tasks_are_a_fault() {
    let needed = (1..=2_000).map(|id| format!("{{\"id\": {id}, \"title\": \"x\"}}"));
    let ids = (1..=2_000).map(|id| id.to_string());
    let subtasks = (1..=2_000).map(|id| format!("{{\"id\": {id}, \"title\": \"y\"}}"));
    let source = format!(
        "[{}, {{\"id\": 3000, \"dependencies\": [{}], \"subtasks\": [{}]}}]",
        needed.collect::<Vec<_>>().join(","),
        ids.collect::<Vec<_>>().join(","),
        subtasks.collect::<Vec<_>>().join(",")
    );
    let parsed = plan::parse(source.as_bytes(), &Options::default());
    let codes: Vec<_> = parsed.faults.iter().map(|fault| fault.code).collect();
    assert_eq!(codes, [Code::PlanTooLarge]);
    let needs: usize = parsed.plan.tasks.iter().map(|task| task.needs.len()).sum();
    assert!(needs <= 1 << 20, "{needs}");
}

/// Lines with their numbers from 1 on.
fn numbered_lines(last: usize, line: impl Fn(usize) -> String) -> String {
    (1..=last).map(line).collect()
}

/// Stories with many tasks and many criteria, and lists with many sections of criteria.
fn stories() -> [String; 5] {
    let criteria = numbered_lines(20_000, |at| format!("{at}. It holds.\n"));
    let story = |criteria: &str, boxes: &str| {
        format!("# S\n\n## Acceptance Criteria\n\n{criteria}\n## Tasks / Subtasks\n\n{boxes}")
    };
    let large = format!("1. {}\n", "word ".repeat(60_000));
    [
        story(&criteria, &"- [ ] Do it\n".repeat(20_000)),
        story(&criteria, &numbered_lines(20_000, |at| format!("- [ ] Do it (AC: {at}, 1)\n"))),
        story(&large, &"- [ ] Do it (AC: 1)\n".repeat(20_000)),
        story("1. It holds.\n", &format!("- [ ] a {}\n", "AC ".repeat(300_000))),
        "## Acceptance\n\n- [ ] c\n\n## Tasks\n\n- [ ] a\n\n".repeat(20_000),
    ]
}

/// Plans with waves or an order of their own.
fn waves_and_orders() -> [String; 6] {
    let graph = |tasks: &str, ids: &[String]| {
        let ids = ids.join("\", \"");
        format!(
            "{tasks}\n## Task Dependency Graph\n\n```json\n{{\"waves\": [{{\"tasks\": [\"{ids}\"]}}]}}\n```\n"
        )
    };
    let odd: Vec<String> = (0..12_000).map(|at| (at * 2 + 1).to_string()).collect();
    let mixed = numbered_lines(24_000, |at| {
        format!("- [ ]{} {at}. a\n", if at % 2 == 0 { "*" } else { "" })
    });
    let beneath = numbered_lines(10_000, |at| format!("  - [ ] 1.{at} a\n"));
    let users = numbered_lines(10_000, |at| format!("- [ ] {}. b (depends on 1)\n", at + 1));
    let ids: Vec<String> = (2..=10_001).map(|at| at.to_string()).collect();
    let phase = |at: usize, tasks: usize| {
        let tasks = (0..tasks).map(|task| format!("- [ ] T{:06} [P] a\n", at * 100 + task));
        format!("## Phase {at}: p\n\n{}\n", tasks.collect::<String>())
    };
    let order = |tasks: usize, lines: &str| {
        format!("{}## Dependencies\n\n{lines}", numbered_lines(200, |at| phase(at, tasks)))
    };
    let all = "1-200 ".repeat(20_000);
    let last = numbered_lines(100, |at| {
        format!("- Phase {at}: No dependencies\n- Phase {}: Depends on Phases 1-100\n", at + 100)
    });
    [
        graph(&mixed, &odd),
        graph(&format!("- [ ] 1. a\n{beneath}{users}"), &ids),
        order(1, &format!("- Phase {all} depends on Phase {all}\n")),
        order(1, &"- Phase 1-200 depends on Phase 1-200\n".repeat(20_000)),
        order(1, &format!("- {} before T020000\n", "T000100-T020000, ".repeat(30_000))),
        order(60, &last),
    ]
}

/// Texts of a megabyte and more that a reader may go over again and again.
#[test]
fn large_texts_of_one_shape_are_read_without_going_over_them_again() {
    let many = |piece: &str| piece.repeat((1 << 20) / piece.len());
    let numbered = |piece: fn(usize) -> String| (1..30_000).map(piece).collect::<String>();
    let texts = [
        many("<task type=\"auto\">\n"),
        format!("<task>\n{}", many("<task type=\"auto\">\n<name\n")),
        format!("<task>\n{}</task>\n", many("<namex\n")),
        format!("<task>\n{}<name>", many("<name ")),
        many("<task \"\n"),
        many("<task \"\" <task "),
        many("x <task"),
        many("<task></task>"),
        many("</task>` "),
        many("```\n<task>\n"),
        (1..1_400).rev().map(|length| "`".repeat(length) + "\n<task>\n").collect(),
        many("<objective>\n"),
        format!("<task>\n{}</task>\n", many("<objective\n<context>\n")),
        format!(
            "<!-- plan file: a -->\n{}",
            many("<!-- plan file: 01-01-PLAN.md -->\n<task>\n</task>\n")
        ),
        numbered(|at| format!("Text.\n\n{at}. a\n\n")),
        numbered(|at| format!("- [ ] T{at:06} a\n```\n### Task {at}: b\n```\n")),
        numbered(|at| format!("### Task {}: a\n\n```\n### Task {}: b\n```\n", at * 3, at * 3 + 1)),
        numbered(|at| format!("- [ ] T{:06} a\n", at * 11)),
        numbered(|at| format!("**Constraints:** c{at}\n")) + "\n### Task 1: a\nDo it.\n",
        many("- [ ] T001-T500 do a\n"),
        numbered(|at| format!("- [ ] T{at:06}-T{:06} do a\n", at + 400)),
        many("- [ ] ~~a~~ ~~b\n"),
        many("~~"),
        format!("---\nsequester: 1\n---\n## [{}] A\n\nDo it.\n", many("a.")),
        format!("[{{\"id\": \"{}\", \"title\": \"x\"}}]", many("1.")),
        format!("# P\n\n## {}\n\n{}", many("word "), many("- [ ] T001 a\n")),
    ];
    let texts = texts.into_iter().chain(stories()).chain(waves_and_orders());
    for text in texts {
        let plan = plan::parse(text.as_bytes(), &Options::default()).plan;
        let few = 64 * plan.tasks.len() + 1_000;
        let needs = plan.tasks.iter().map(|task| task.needs.len());
        let members = plan.groups.values().map(Vec::len);
        let copies = plan.tasks.iter().flat_map(|task| &task.constraints).map(String::len);
        assert!(needs.sum::<usize>() <= few && members.sum::<usize>() <= few);
        assert!(copies.sum::<usize>() <= 8 << 20);
    }
    for format in [Format::Gsd, Format::List, Format::Native] {
        let options = Options { format: Some(format), ..Options::default() };
        plan::parse(many("<task type=\"auto\">\n## [a] b\n- [ ] c\n").as_bytes(), &options);
    }
}
