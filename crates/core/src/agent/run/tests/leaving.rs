use super::*;
use crate::agent::{Item, Priority};
use crate::record::Packed;
use crate::report::Label;

fn packed(id: &str, text: &str, priority: Priority) -> Packed {
    let item = Item { item: text.to_owned(), category: crate::agent::Category::Facts, priority };
    Packed { id: id.into(), task: TaskId::new("0"), item }
}

fn run_of(inherited: Inherited) -> AgentRun {
    AgentRun::new(Brief { inherited, ..brief() }, Budget::default())
}

/// What a call is answered with.
fn told(run: &mut AgentRun, name: &str, arguments: Value) -> (bool, String) {
    run.replied(calls(&[(name, arguments)]));
    let Answered { failed, text, .. } = last_result(run);
    (*failed, text.clone())
}

fn artifact(label: &str, content: &str, refs: &[&str]) -> Value {
    json!({"type": label, "content": content, "relevance": null, "refs": refs})
}

fn found(implementations: &[&str]) -> Value {
    let mut report = good();
    report["findings"]["existing_implementations"] = json!(implementations);
    report
}

#[test]
fn what_was_kept_outlives_an_attempt_that_fails() {
    let mut run = run();
    run.replied(calls(&[
        ("update_notes", json!({"section": "Findings", "content": "Sessions live in Redis."})),
        ("add_to_backpack", json!({"item": "Redis 7"})),
        ("record_artifact", json!({"type": "DECISION", "content": "Keep it.", "refs": []})),
    ]));
    assert_eq!(wants(&mut run), "ask 3");
    run.cancel();
    let kept = ending(&mut run).kept;
    assert_eq!((kept.notes.len(), kept.artifacts.len(), kept.backpack.len()), (1, 1, 1));
}

#[test]
fn an_artifact_gets_its_id_at_once_and_others_refer_to_it() {
    let mut run = run_of(Inherited {
        artifacts: ["finding-2".to_owned()].into(),
        records: ["B/todo-1".to_owned()].into(),
        ..Inherited::default()
    });
    let (failed, text) = told(&mut run, "record_artifact", artifact("FINDING", "It is slow.", &[]));
    assert!(!failed && text.starts_with("Kept as `finding-3`"), "{text}");
    let refs = ["finding-3", "A.1/finding-2", "B/todo-1", "./src//a.rs"];
    let (failed, text) = told(&mut run, "record_artifact", artifact("DECISION", "Cache.", &refs));
    assert!(!failed && text.starts_with("Kept as `decision-1`"), "{text}");
    let (_, text) = told(&mut run, "record_artifact", artifact("FINDING", "It is slow.", &[]));
    assert_eq!(text, "It is kept already, as `finding-3`.");
    run.replied(report());
    let kept = ending(&mut run).kept.artifacts;
    let refs = ["A.1/finding-3", "A.1/finding-2", "B/todo-1", "src/a.rs"];
    assert_eq!((kept.len(), kept[1].artifact.refs.as_slice()), (2, &refs.map(str::to_owned)[..]));
}

#[test]
fn an_unknown_type_and_a_ref_to_nothing_are_refused_with_what_there_is() {
    let mut run =
        run_of(Inherited { records: ["B/summary".to_owned()].into(), ..Inherited::default() });
    let (failed, text) = told(&mut run, "record_artifact", artifact("IDEA", "Rewrite it.", &[]));
    assert!(failed && text.contains("`FINDING`") && text.contains("`TODO`"), "{text}");
    told(&mut run, "record_artifact", artifact("TODO", "Write tests.", &[]));
    for name in [
        "todo-2",
        "B/finding-1",
        "FINDING-9",
        "../secret",
        "/etc/passwd",
        "the other one",
        "https://a.b/c",
        "",
    ] {
        let (failed, text) = told(&mut run, "record_artifact", artifact("FINDING", name, &[name]));
        let named = text.contains("the artifacts: todo-1; the records: B/summary; and files");
        assert!(failed && (named || name.is_empty()), "{name}: {text}");
    }
    run.replied(report());
    assert_eq!(ending(&mut run).kept.artifacts.len(), 1);
}

#[test]
fn a_reports_artifacts_are_kept_with_ids_and_their_refs_are_judged() {
    let mut run = run_of(Inherited::default());
    told(&mut run, "record_artifact", artifact("FINDING", "It is slow.", &[]));
    let mut bad = good();
    bad["artifacts"] = json!([artifact("TODO", "Cache it.", &["finding-7"])]);
    run.replied(calls(&[("report", bad)]));
    let text = last_result(&run).text.clone();
    assert!(text.contains("`/artifacts/0`: The ref `finding-7` names nothing."), "{text}");
    let mut mended = good();
    // One of them was recorded before.
    mended["artifacts"] = json!([
        artifact("FINDING", "It is slow.", &[]),
        artifact("TODO", "Cache it.", &["finding-1"]),
    ]);
    run.replied(calls(&[("report", mended)]));
    let ending = ending(&mut run);
    let ids: Vec<&str> = ending.kept.artifacts.iter().map(|left| left.id.as_str()).collect();
    assert_eq!((ending.outcome, ids), (Outcome::Done, vec!["finding-1", "todo-1"]));
}

/// A report that advises and found nothing.
fn advice() -> Reply {
    let mut report = good();
    report["findings"]["recommendations"] = json!(["Look again."]);
    calls(&[("report", report)])
}

/// Ids and contents.
fn kept(run: &mut AgentRun) -> Vec<(String, String)> {
    let kept = ending(run).kept.artifacts.into_iter();
    kept.map(|left| (left.id, left.artifact.content)).collect()
}

fn told_as(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(id, content)| ((*id).to_owned(), (*content).to_owned())).collect()
}

#[test]
fn what_an_agent_owes_is_read_out_of_its_findings_or_asked_for_again() {
    let owes = Inherited { owes: vec![Label::Finding], ..Inherited::default() };
    let mut run = run_of(owes.clone());
    run.replied(advice());
    let text = last_result(&run).text.clone();
    assert!(text.contains("You owe a FINDING and left none"), "{text}");
    run.replied(calls(&[("report", found(&["src/a.rs:2 `send`", " "]))]));
    assert_eq!(kept(&mut run), told_as(&[("finding-1", "src/a.rs:2 `send`")]));

    let mut run = run_of(owes);
    for _ in 0..3 {
        run.replied(advice());
    }
    let outcome = ending(&mut run).outcome;
    assert!(matches!(outcome, Outcome::Failed { fault: Fault::NoReport { .. } }), "{outcome:?}");
}

#[test]
fn who_owes_a_finding_may_find_nothing_and_that_is_kept() {
    let mut run = run_of(Inherited { owes: vec![Label::Finding], ..Inherited::default() });
    let mut report = good();
    report["context_summary"] = json!("No mail is sent anywhere in src.");
    run.replied(calls(&[("report", report)]));
    let wanted = [("finding-1", "Nothing found: No mail is sent anywhere in src.")];
    assert_eq!(kept(&mut run), told_as(&wanted));

    // Of no other type an empty list is an answer.
    let mut run = run_of(Inherited { owes: vec![Label::Decision], ..Inherited::default() });
    run.replied(self::report());
    let text = last_result(&run).text.clone();
    assert!(text.contains("You owe a DECISION") && !text.contains("nothing to find"), "{text}");
}

#[test]
fn any_report_leaves_what_its_findings_hold_and_nothing_that_is_kept_already() {
    let mut run = run_of(Inherited::default());
    told(&mut run, "record_artifact", artifact("DECISION", "One  clock.", &[]));
    let mut report = found(&["src/a.rs:2 `send`"]);
    report["findings"]["recommendations"] = json!(["one clock", "Two hands"]);
    report["findings"]["conflicts"] = json!(["It is late"]);
    report["issues"] = json!(["It is late", "The bell is cracked"]);
    report["artifacts"] = json!([artifact("TODO", "Oil it.", &[])]);
    run.replied(calls(&[("report", report)]));
    let wanted = [
        ("decision-1", "One  clock."),
        ("todo-1", "Oil it."),
        ("finding-1", "src/a.rs:2 `send`"),
        ("finding-2", "It is late"),
        ("decision-2", "Two hands"),
        ("error-1", "The bell is cracked"),
    ];
    assert_eq!(kept(&mut run), told_as(&wanted));
}

#[test]
fn who_stops_owes_nothing() {
    let mut run = run_of(Inherited { owes: vec![Label::Finding], ..Inherited::default() });
    let mut stop = good();
    stop["decision"] = "STOP".into();
    stop["reason"] = "There is no such module.".into();
    run.replied(calls(&[("report", stop)]));
    assert_eq!(ending(&mut run).outcome, Outcome::Stopped);
}

#[test]
fn tools_of_a_kind_that_is_switched_off_are_neither_listed_nor_called() {
    let mut brief = brief();
    brief.inherited.owes = vec![Label::Finding];
    brief.tools.retain(|spec| spec.name != "record_artifact" && !spec.name.ends_with("_backpack"));
    let names: Vec<&str> = brief.tools.iter().map(|spec| spec.name.as_ref()).collect();
    assert_eq!(names, ["report", "ask", "update_notes", "Read", "Grep", "Bash", "Edit"]);
    let mut run = AgentRun::new(brief, Budget::default());
    let off = ["record_artifact", "add_to_backpack", "clear_backpack", "compact_backpack"];
    for name in off {
        let (failed, text) = told(&mut run, name, json!({"item": "x"}));
        assert!(failed && text.starts_with(&format!("There is no tool `{name}`.")), "{text}");
    }
    // Nobody owes what cannot be left.
    run.replied(report());
    let ending = ending(&mut run);
    assert_eq!((ending.outcome, ending.kept), (Outcome::Done, Kept::default()));
}

#[test]
fn a_full_backpack_refuses_and_says_what_is_in_it() {
    let text = "fact ".repeat(300);
    let mut run = run_of(Inherited {
        backpack: vec![packed("0/pack-1", &text, Priority::High)],
        ..Inherited::default()
    });
    let (failed, text) = told(&mut run, "add_to_backpack", json!({"item": "more ".repeat(300)}));
    assert!(
        failed && text.contains("call `compact_backpack`. In it:\n- `0/pack-1` (facts, high) fact"),
        "{text}"
    );
    let (failed, text) =
        told(&mut run, "add_to_backpack", json!({"item": "x", "category": "moods"}));
    assert!(failed && text.contains("`facts`, `decisions`, `todos`"), "{text}");
}

#[test]
fn what_was_handed_over_can_be_taken_out_by_its_id_or_its_words() {
    let all = [
        packed("0/pack-1", "Redis 7", Priority::Normal),
        packed("0/pack-2", "Port\n6379", Priority::Low),
    ];
    let mut run = run_of(Inherited { backpack: all.to_vec(), ..Inherited::default() });
    let (_, text) = told(&mut run, "add_to_backpack", json!({"item": "Redis  7"}));
    assert_eq!(text, "It is in the backpack already.");
    let (failed, _) = told(&mut run, "remove_from_backpack", json!({"item": "0/pack-1"}));
    assert!(!failed);
    let (failed, _) = told(&mut run, "remove_from_backpack", json!({"item": "Port 6379"}));
    assert!(!failed);
    let (failed, text) = told(&mut run, "remove_from_backpack", json!({"item": "Redis 7"}));
    assert_eq!((failed, text.as_str()), (true, "There is no such item. In the backpack:\nnothing"));
    told(&mut run, "add_to_backpack", json!({"item": "Redis 8"}));
    run.replied(report());
    let kept = ending(&mut run).kept;
    assert_eq!(kept.removed, ["0/pack-1", "0/pack-2"]);
    assert_eq!(kept.backpack.iter().map(|one| one.item.as_str()).collect::<Vec<_>>(), ["Redis 8"]);
}

#[test]
fn compaction_takes_out_what_is_said_twice_then_the_least_important_and_says_so() {
    let low = "low ".repeat(150);
    let normal = "normal ".repeat(150);
    let mut run = run_of(Inherited {
        backpack: vec![
            packed("0/pack-1", "Redis 7", Priority::Low),
            packed("0/pack-2", normal.trim(), Priority::Normal),
            packed("0/pack-3", low.trim(), Priority::Low),
            packed("0/pack-4", "high ".repeat(150).trim(), Priority::High),
        ],
        ..Inherited::default()
    });
    // What holds another's words may say the opposite.
    for item in ["redis 7.", "Never use redis 7 in tests."] {
        told(&mut run, "add_to_backpack", json!({"item": item, "priority": "high"}));
    }
    let (_, text) = told(&mut run, "compact_backpack", json!({"room": 100}));
    assert!(text.contains("Said twice, taken out:\n- `0/pack-1` (facts, low) Redis 7"), "{text}");
    assert!(text.contains("Least important, taken out:\n- `0/pack-3` (facts, low) low"), "{text}");
    assert!(!text.contains("normal normal") && !text.contains("high high"), "{text}");
    assert!(!text.contains("Never use"), "{text}");
    let (_, text) = told(&mut run, "compact_backpack", json!({"room": 100}));
    assert!(text.ends_with("Nothing had to go."), "{text}");
    let (_, text) = told(&mut run, "compact_backpack", json!({"room": 4_000_000_000_u32}));
    assert!(text.contains("`0/pack-2`") && text.contains("of high priority"), "{text}");
    run.replied(report());
    assert_eq!(ending(&mut run).kept.removed, ["0/pack-1", "0/pack-3", "0/pack-2"]);
}

#[test]
fn a_stored_run_has_what_it_was_handed() {
    let run = run_of(Inherited {
        backpack: vec![packed("0/pack-1", "Redis 7", Priority::High)],
        records: ["B/summary".to_owned()].into(),
        artifacts: ["todo-1".to_owned()].into(),
        words: [crate::digest::Digest::of(b"x")].into(),
        step: Some("look".to_owned()),
        owes: vec![Label::Todo],
    });
    let text = serde_json::to_string(&run).unwrap();
    assert!(text.contains(
        r#"{"id":"0/pack-1","task":"0","item":"Redis 7","category":"facts","priority":"high"}"#
    ));
    assert_eq!(serde_json::from_str::<AgentRun>(&text).unwrap(), run);
    let kept = r#"{"notes":[],"artifacts":[{"id":"todo-1","type":"TODO","content":"x","refs":[]}],"backpack":[],"removed":[]}"#;
    let read: Kept = serde_json::from_str(kept).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), kept);
}
