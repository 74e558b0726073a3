use super::super::{Options, parse};
use super::*;

const PLAN: &str = "---\nname: Short links\noverview: Links that end.\ntodos:\n  - id: store\n    content: Keep the end of a link in `src/store.rs`\n    status: completed\n  - id: check it\n    content: \"Refuse a link that has ended: 410\"\n    status: pending\n  - id: docs\n    content: Say it in README.md\n    status: pending\n    dependencies: [store]\n  - id: old\n    content: Drop it\n    status: cancelled\n---\n\n# Short links\n\nEnds are kept as seconds.\n";

#[test]
fn todos_are_tasks_in_order_and_the_document_holds_for_all() {
    let parsed = parse(PLAN.as_bytes(), &Options::default());
    assert_eq!((&parsed.faults, &parsed.warnings), (&vec![], &vec![]));
    let plan = parsed.plan;
    assert_eq!((plan.format, plan.title.as_str()), (Format::Cursor, "Short links"));
    assert_eq!(plan.goal.as_deref(), Some("Links that end."));
    assert_eq!(plan.constraints[0].text, "# Short links\n\nEnds are kept as seconds.");
    let rows = plan.tasks.iter().map(|task| {
        let needs: Vec<&str> = task.needs.iter().map(|need| need.id.as_str()).collect();
        (task.id.as_str(), task.text.as_str(), needs.join(" "), task.done, task.place.line)
    });
    assert_eq!(
        rows.collect::<Vec<_>>(),
        [
            ("store", "Keep the end of a link in `src/store.rs`", String::new(), true, 5),
            ("check-it", "Refuse a link that has ended: 410", String::new(), false, 8),
            ("docs", "Say it in README.md", "store".to_owned(), false, 11),
        ]
    );
    assert_eq!(plan.aside[0].text, "Drop it");
}

#[test]
fn front_matter_that_is_no_yaml_is_a_fault_with_its_line() {
    let parsed = parse(b"---\ntodos:\n  - id: [a\n---\nx\n", &Options::default());
    assert_eq!(parsed.plan.format, Format::Cursor);
    assert_eq!(parsed.faults[0].code, Code::BadSyntax);
}

#[test]
fn an_entry_without_content_is_empty() {
    let parsed =
        parse(b"---\ntodos:\n  - id: a\n    status: pending\n---\nx\n", &Options::default());
    assert_eq!(parsed.faults[0].code, Code::EmptyTask, "{:?}", parsed.faults);
}

#[test]
fn a_need_on_a_cancelled_entry_is_met_and_ids_may_have_blanks() {
    let source = "---\ntodos:\n  - id: setup db\n    content: Set it up\n  - id: old\n    content: Drop it\n    status: cancelled\n  - id: b\n    content: Use it\n    dependencies: [old, \"setup db\"]\n  - id: c\n    content: More\n    dependencies: setup db\n---\n";
    for source in [source.to_owned(), source.replace('\n', "\r\n")] {
        let parsed = parse(source.as_bytes(), &Options::default());
        let (_, faults) = crate::graph::TaskGraph::new(&parsed.plan);
        assert_eq!((parsed.faults, faults), (vec![], vec![]));
        let needs = parsed.plan.tasks.iter().map(|task| {
            let ids = task.needs.iter().map(|need| need.id.as_str());
            format!("{}: {}", task.id, ids.collect::<Vec<_>>().join(" "))
        });
        assert_eq!(needs.collect::<Vec<_>>(), ["setup-db: ", "b: setup-db", "c: setup-db"]);
    }
}

#[test]
fn todos_that_are_no_list_leave_the_plan_to_other_formats() {
    let tasks = "### Task 1: a\n\nDo a.\n\n### Task 2: b\n\nDo b.\n";
    for todos in ["see below", "", "[]", "# none", "\nname: x"] {
        let source = format!("---\ntodos: {todos}\n---\n{tasks}");
        let parsed = parse(source.as_bytes(), &Options::default());
        assert_eq!((parsed.plan.format, parsed.plan.tasks.len()), (Format::Superpowers, 2));
    }
    for todos in ["[a, b]", "\n- a\n- b", "# two\n\n  # of them\n  - a\n  - b"] {
        let source = format!("---\ntodos: {todos}\n---\n{tasks}");
        let parsed = parse(source.as_bytes(), &Options::default());
        assert_eq!((parsed.plan.format, parsed.plan.tasks.len()), (Format::Cursor, 2), "{todos}");
    }
}

#[test]
fn an_entry_that_is_neither_a_mapping_nor_text_is_a_warning() {
    let source =
        b"---\ntodos:\n  - Write a\n  - [a, b]\n  -\n  - id: c\n    content: Write c\n---\n";
    let parsed = parse(source, &Options::default());
    let texts: Vec<&str> = parsed.plan.tasks.iter().map(|task| task.text.as_str()).collect();
    assert_eq!((texts, &parsed.faults), (vec!["Write a", "Write c"], &vec![]));
    let warnings = parsed.warnings.iter().map(|one| (one.code, one.place.line));
    let expected = [(Code::UntakenTask, 4), (Code::UntakenTask, 5)];
    assert_eq!(warnings.collect::<Vec<_>>(), expected);
}

#[test]
fn entries_are_in_order_only_where_none_names_its_needs() {
    let needs = |source: &str| {
        let parsed = parse(source.as_bytes(), &Options::default());
        let (_, faults) = crate::graph::TaskGraph::new(&parsed.plan);
        assert_eq!((parsed.faults, faults), (vec![], vec![]));
        let rows = parsed.plan.tasks.iter().map(|task| {
            let ids = task.needs.iter().map(|need| need.id.as_str());
            format!("{}: {}", task.id, ids.collect::<Vec<_>>().join(" "))
        });
        rows.collect::<Vec<_>>()
    };
    let entries = "---\ntodos:\n  - id: api\n    content: a\n  - id: schema\n    content: b\n  - id: docs\n    content: c\n---\n";
    assert_eq!(needs(entries), ["api: ", "schema: api", "docs: schema"]);
    let named = entries.replace("content: a", "content: a\n    dependencies: [schema]");
    assert_eq!(needs(&named), ["api: schema", "schema: ", "docs: "]);
}

#[test]
fn texts_with_colons_need_no_quotes() {
    let source = "---\nname: Limits\noverview: Raise them. Source: the team's page\ntodos:\n  - id: a\n    content: Phase 0: raise it\n    status: pending\n---\n";
    let parsed = parse(source.as_bytes(), &Options::default());
    assert_eq!(parsed.faults, []);
    let [task] = &parsed.plan.tasks[..] else { panic!("{:?}", parsed.plan.tasks) };
    assert_eq!((task.text.as_str(), task.place.line), ("Phase 0: raise it", 5));
    assert_eq!(parsed.plan.goal.as_deref(), Some("Raise them. Source: the team's page"));
    let codes: Vec<Code> = parsed.warnings.iter().map(|one| one.code).collect();
    assert_eq!(codes, [Code::BadSyntax]);
}
