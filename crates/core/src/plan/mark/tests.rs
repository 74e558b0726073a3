use super::*;

#[test]
fn headings_of_tasks_come_in_many_shapes() {
    for (text, id, expected) in [
        ("Task 3: Add it", "3", "Add it"),
        ("Task 3 - Add it", "3", "Add it"),
        ("Task 3. Add it", "3", "Add it"),
        ("**Task 3:** Add it", "3", "Add it"),
        ("**Task 3: Add it**", "3", "Add it"),
        ("Task 2.1 — Add `a`", "2.1", "Add `a`"),
        ("Aufgabe 3: Los", "3", "Los"),
        ("Tâche 3 : Faire", "3", "Faire"),
        ("任务3：写", "3", "写"),
        ("任务 3 写", "3", "写"),
        ("[x] Task 3: Add it", "3", "Add it"),
        ("Task #3: Add it", "3", "Add it"),
    ] {
        let found = numbered(text).unwrap();
        assert_eq!((found.id, found.title.as_str()), (id, expected), "{text}");
        assert!(found.separated, "{text}");
    }
    assert!(numbered("[x] Task 3: Add it").unwrap().ticked);
    assert!(!numbered("Task 3 overview").unwrap().separated);
    for no in ["Tasks: 3", "Task list", "Phase 3: x", "Taskforce 3"] {
        assert!(numbered(no).is_none(), "{no}");
    }
}

#[test]
fn a_range_names_each_of_its_ids() {
    for (id, rest, expected) in [
        ("E.1.1", "-1.4 Export", "E.1.2 E.1.3 E.1.4| Export"),
        ("E.1.1", "–E.1.3** Export", "E.1.2 E.1.3|** Export"),
        ("E.1.1", " – E.1.2: Export", "E.1.2|: Export"),
        ("T001", "-T003 [P] x", "T002 T003| [P] x"),
        ("1.1", "-1.3 x", "1.2 1.3| x"),
    ] {
        let (ids, behind) = range(id, rest).unwrap();
        assert_eq!(format!("{}|{behind}", ids.join(" ")), expected, "{id}{rest}");
    }
    let none = [
        ("2", "-3 days"),
        ("1.1", " - 1.4"),
        ("E.1.4", "-1.1"),
        ("A.1.1", " - 2 x"),
        ("1.1", "-x"),
    ];
    for (id, rest) in none {
        assert_eq!(range(id, rest), None, "{id}{rest}");
    }
}

#[test]
fn a_box_has_a_number_only_where_it_is_closed_or_dotted() {
    for (text, id) in [
        ("1. Do it", "1"),
        ("2) Do it", "2"),
        ("**3.** Do it", "3"),
        ("**4**. Do it", "4"),
        ("1.1 Do it", "1.1"),
        ("1.2: Do it", "1.2"),
        ("**1.3** Do it", "1.3"),
        ("1.2.3. Do it", "1.2.3"),
        ("1.1-1.3 Do it", "1.1"),
        ("Task 7 Do it", "7"),
        ("5.", "5"),
    ] {
        assert_eq!(box_number(text).map(|(id, _)| id), Some(id), "{text}");
    }
    for text in [
        "404 handling: return it",
        "3 action cards",
        "(2026-03-08T00:00Z) Done",
        "2026-02-01 Done",
        "2026.02.01 Done",
        "01-project-setup.md",
        "Do it",
    ] {
        assert_eq!(box_number(text), None, "{text}");
    }
}

#[test]
fn a_title_keeps_its_backticks_in_pairs() {
    assert_eq!(title("`make deploy`."), "`make deploy`.");
    assert_eq!(title("`a` and `b`"), "`a` and `b`");
    let (_, rest) = leading_id("`T-001` Do `x`", words::is_spec_kit).unwrap();
    assert_eq!(title(rest), "Do `x`");
}

#[test]
fn an_id_may_be_bold_and_the_title_never_holds_it() {
    for (text, expected) in [
        ("**A.1.2** Do it", "Do it"),
        ("**A.1.2: Do it**", "Do it"),
        ("A.1.2 - Do it", "Do it"),
        ("`A.1.2` Do **it**", "Do **it**"),
        ("Task A.1.2: Do it", "Do it"),
    ] {
        let (id, rest) = leading_id(text, words::is_track).unwrap();
        assert_eq!((id, title(rest).as_str()), ("A.1.2", expected), "{text}");
    }
    assert_eq!(leading_id("A.1.2x", words::is_track), None);
}
