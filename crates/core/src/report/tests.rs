use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::limits::HandoverSizes;
use crate::tokens;

fn task() -> TaskId {
    TaskId::new("A.1")
}

/// A report with nothing wrong about it.
fn good() -> Value {
    json!({
        "task_id": "A.1", "phase": "write", "status": "complete", "decision": "PROCEED",
        "reason": null, "resolution": null,
        "findings": {"files_changed": ["src/a.rs"], "tests_written": []},
        "context_summary": "Sessions expire after an hour.",
        "issues": [], "questions": [], "artifacts": [], "notes": [],
        "self_review": [{"item": "tests pass", "ok": true, "note": null}],
    })
}

fn with(key: &str, value: Value) -> Value {
    let mut report = good();
    report[key] = value;
    report
}

fn faults(value: Value) -> Vec<String> {
    read(value, &task(), Phase::Write).unwrap_err()
}

#[test]
fn a_good_report_survives_a_round_trip() {
    let report = read(good(), &task(), Phase::Write).unwrap();
    assert_eq!(report.verdict, Conclusion::Proceed);
    let again: Report = serde_json::from_value(serde_json::to_value(&report).unwrap()).unwrap();
    assert_eq!(again, report);
}

#[test]
fn a_contradiction_is_refused_with_the_legal_way_out() {
    assert_eq!(
        faults(with("status", json!("blocked"))),
        ["`decision` PROCEED goes with `status` complete only: finish, or decide STOP or CLARIFY."]
    );
    let mut report = with("decision", json!("CLARIFY"));
    report["questions"] = json!(["Which port?"]);
    assert_eq!(
        faults(report),
        [
            "`decision` CLARIFY goes with `status` partial or blocked: what is complete needs no answer."
        ]
    );
    assert_eq!(faults(with("decision", json!("STOP"))), ["`decision` STOP needs a `reason`."]);
}

#[test]
fn a_reason_of_any_length_is_told_within_bounds() {
    let mut stop = with("decision", json!("STOP"));
    (stop["reason"], stop["resolution"]) =
        (json!("why ".repeat(5_000)), json!("how ".repeat(5_000)));
    let report = read(stop, &task(), Phase::Write).unwrap();
    for told in [excerpt(&report), objection(&report)] {
        assert!(tokens::count(&told) <= 2 * SUMMARY_TOKENS + 100, "{}", tokens::count(&told));
        assert_eq!(told.matches(" …").count(), 2);
    }
}

#[test]
fn sizes_are_those_that_were_set_and_what_was_taken_is_read_back() {
    let long = with("context_summary", json!("word ".repeat(700)));
    assert!(faults(long.clone())[0].contains("at most 500 are taken"));
    let sizes = HandoverSizes { summary_tokens: 800, ..HandoverSizes::default() };
    let form = ReportForm { sizes, ..Phase::Write.into() };
    let report = read(long, &task(), form).unwrap();
    let kept = serde_json::to_value(&report).unwrap();
    assert_eq!(serde_json::from_value::<Report>(kept).unwrap(), report);
    let asked = asked("A.1", form)["properties"]["context_summary"]["description"].to_string();
    assert!(asked.contains("At most 800 tokens"), "{asked}");
    let small = HandoverSizes { report_bytes: 100, ..HandoverSizes::default() };
    let refused = read(good(), &task(), ReportForm { sizes: small, ..Phase::Write.into() });
    assert!(refused.unwrap_err()[0].contains("at most 100 are taken"));
}

#[test]
fn questions_belong_to_clarify_and_clarify_needs_one() {
    assert_eq!(
        faults(with("questions", json!(["Which port?"]))),
        ["`questions` go with the decision CLARIFY only."]
    );
    let mut report = with("decision", json!("CLARIFY"));
    report["status"] = json!("blocked");
    assert_eq!(
        faults(report.clone()),
        ["`decision` CLARIFY needs at least one question in `questions`."]
    );
    report["questions"] = json!(["Which port?"]);
    let report = read(report, &task(), Phase::Write).unwrap();
    let questions = vec![Question { question: "Which port?".to_owned(), ..Question::default() }];
    assert_eq!(report.verdict, Conclusion::Clarify { status: Unclear::Blocked, questions });
}

#[test]
fn a_summary_over_its_limit_is_refused_with_its_size() {
    let long = "word ".repeat(5_000);
    let faults = faults(with("context_summary", json!(long)));
    assert_eq!(faults, ["`context_summary` has 5001 tokens; at most 500 are taken. Shorten it."]);
}

#[test]
fn all_faults_of_the_shape_are_told_at_once_with_their_places() {
    let mut report = good();
    report["status"] = json!("finished");
    report["findings"]["files_changed"] = json!([1]);
    report["extra"] = json!(1);
    let faults = faults(report).join("\n");
    for part in ["`/status`", "`/findings/files_changed/0`", "extra"] {
        assert!(faults.contains(part), "{part} is not in {faults}");
    }
}

#[test]
fn findings_of_another_phase_are_refused() {
    let mut report = good();
    report["phase"] = json!("research");
    let faults = read(report, &task(), Phase::Research).unwrap_err().join("\n");
    assert!(faults.contains("`/findings`"), "{faults}");
}

#[test]
fn a_report_of_another_task_is_refused() {
    assert_eq!(faults(with("task_id", json!("A.2"))), ["`task_id` must be `A.1`."]);
}

#[test]
fn work_that_changes_files_needs_a_look_at_itself() {
    let fault = "`self_review` is empty: say item by item what you checked of your change.";
    assert_eq!(faults(with("self_review", json!([]))), [fault]);
}

#[test]
fn prose_around_the_json_is_refused() {
    let text = format!("Here is my report:\n```json\n{}\n```", good());
    let faults = read_text(&text, &task(), Phase::Write).unwrap_err();
    assert!(faults[0].contains("without prose or fences around it"), "{faults:?}");
    assert!(read_text(&good().to_string(), &task(), Phase::Write).is_ok());
}

#[test]
fn a_huge_report_is_refused_without_being_read() {
    let faults = faults(with("issues", json!(["x".repeat(70_000)])));
    assert!(faults[0].contains("at most 65536"), "{faults:?}");
}

#[test]
fn what_is_asked_for_is_strict_and_names_task_and_phase() {
    for phase in Phase::ALL {
        let schema = asked("A.1", phase);
        assert_eq!(schema["properties"]["task_id"]["const"], "A.1");
        assert_eq!(schema["properties"]["phase"]["const"], phase.as_str());
        assert_eq!(schema["properties"].get("tokens_used"), None);
        strict(&schema);
    }
}

/// Every object below allows its own fields only and requires them all.
fn strict(schema: &Value) {
    if let Some(properties) = schema["properties"].as_object() {
        assert_eq!(schema["additionalProperties"], false, "{schema}");
        assert_eq!(schema["required"].as_array().unwrap().len(), properties.len(), "{schema}");
        properties.values().for_each(strict);
    }
    if !schema["items"].is_null() {
        strict(&schema["items"]);
    }
    for one in schema["anyOf"].as_array().into_iter().flatten() {
        strict(one);
    }
}

/// The largest or smallest value that a bounded schema lets through, with the `pick`th of several choices.
fn fill(schema: &Value, largest: bool, pick: usize) -> Value {
    if let Some(fixed) = schema.get("const") {
        return fixed.clone();
    }
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        return choices[pick % choices.len()].clone();
    }
    let bound = |most: &str, least: &str| {
        let bound = if largest {
            schema[most].as_u64().unwrap()
        } else {
            schema[least].as_u64().unwrap_or(0)
        };
        usize::try_from(bound).unwrap()
    };
    let kinds = schema["type"].as_array();
    let kind =
        kinds.map_or(&schema["type"], |kinds| &kinds[if largest { 0 } else { kinds.len() - 1 }]);
    match kind.as_str().unwrap() {
        "object" => {
            let properties = schema["properties"].as_object().unwrap();
            properties.iter().map(|(name, one)| (name.clone(), fill(one, largest, pick))).collect()
        }
        "array" => {
            vec![fill(&schema["items"], largest, pick); bound("maxItems", "minItems")].into()
        }
        // A path, a name and a word: shorter tokens than prose has.
        "string" => "src/io.rs: `Fd` is odd. "
            .chars()
            .cycle()
            .take(bound("maxLength", "minLength"))
            .collect::<String>()
            .into(),
        "integer" => 4_294_967_295_u32.into(),
        "boolean" => largest.into(),
        _ => Value::Null,
    }
}

#[test]
fn whatever_keeps_to_a_bounded_schema_is_a_report_and_ends_within_its_tokens() {
    // No schema says what a plan is.
    for phase in Phase::ALL.into_iter().filter(|phase| *phase != Phase::Draft) {
        for tokens in [600, 1_000, 4_000, 16_384] {
            let schema = bounded("A.1", phase, tokens);
            let branches = schema["properties"]["report"]["anyOf"].as_array().unwrap();
            for (branch, case) in
                branches.iter().flat_map(|one| (0..6).map(move |case| (one, case)))
            {
                let (largest, pick) = (case < 3, case % 3);
                let text = format!("{:#}", json!({ "report": fill(branch, largest, pick) }));
                let size = tokens::count(&text);
                assert!(size <= tokens as usize, "{phase} {tokens}: {size} in {text}");
                read_text(&text, &task(), phase)
                    .unwrap_or_else(|faults| panic!("{faults:?}: {text}"));
            }
        }
    }
}

#[test]
fn what_is_published_accepts_what_is_printed() {
    let validator = jsonschema::validator_for(&published()).unwrap();
    let report = read(good(), &task(), Phase::Write).unwrap();
    assert!(validator.is_valid(&serde_json::to_value(report).unwrap()));
    assert!(!validator.is_valid(&with("status", json!("partial"))));
    // As the check has it.
    assert!(!validator.is_valid(&with("self_review", json!([]))));
    let mut without = good();
    without.as_object_mut().unwrap().remove("self_review");
    assert!(!validator.is_valid(&without));
}

proptest! {
    /// Whatever comes: a typed report whose pair is legal, or reasons. Never a panic, never neither.
    #[test]
    fn only_the_six_legal_pairs_are_read(
        status in prop::sample::select(vec!["complete", "partial", "blocked"]),
        decision in prop::sample::select(vec!["PROCEED", "STOP", "CLARIFY"]),
        reason in prop::option::of("[a-z ]{0,8}"),
        questions in prop::collection::vec("[a-z]{0,4}", 0..2),
    ) {
        let mut report = good();
        report["status"] = json!(status);
        report["decision"] = json!(decision);
        report["reason"] = json!(reason);
        report["questions"] = json!(questions);
        match read(report, &task(), Phase::Write) {
            Ok(report) => {
                let legal = matches!(
                    (status, decision),
                    ("complete", "PROCEED") | (_, "STOP") | ("partial" | "blocked", "CLARIFY")
                );
                prop_assert!(legal);
                prop_assert_eq!(serde_json::to_value(report.verdict.status()).unwrap(), status);
                prop_assert_eq!(serde_json::to_value(report.verdict.decision()).unwrap(), decision);
            }
            Err(faults) => prop_assert!(!faults.is_empty()),
        }
    }
}

#[test]
fn a_draft_that_could_not_be_run_goes_back_with_what_a_person_would_be_told() {
    let report = |plan: &str| {
        let mut report = with("findings", json!({ "plan": plan }));
        report["phase"] = json!("draft");
        read(report, &task(), Phase::Draft)
    };
    let head = "---\nsequester: 1\n---\n# Two\n\n## [a] One\n\nWrite it.\n\n## [b] Two\n\n";
    assert!(report(&format!("{head}```task\nneeds: [a]\n```\n\nUse it.\n")).is_ok());
    let faults = report(&format!("{head}```task\nneeds: [z]\n```\n\nUse it.\n")).unwrap_err();
    assert!(
        faults[0].starts_with("`/findings/plan`, line ") && faults[0].contains("`z`"),
        "{faults:?}"
    );
    for wrong in ["", "Just do it.", "---\nsequester: 1\n---\n# Nothing\n"] {
        assert!(report(wrong).is_err(), "{wrong:?}");
    }
    let mut asks = with("findings", json!({ "plan": "" }));
    asks["phase"] = json!("draft");
    asks["status"] = json!("blocked");
    asks["decision"] = json!("CLARIFY");
    asks["questions"] = json!(["Which of the two?"]);
    assert!(read(asks, &task(), Phase::Draft).is_ok(), "who asks has no plan yet");
}

#[test]
fn findings_of_an_own_phase_fit_the_fields_that_are_declared() {
    let fields = FindingFields(
        [("threats".to_owned(), FieldType::Texts), ("passed".to_owned(), FieldType::Boolean)]
            .into(),
    );
    let phase = Phase::named("threats").unwrap();
    let form = ReportForm { fields: Some(&fields), ..phase.into() };
    let report = |findings: Value| {
        json!({
            "task_id": "A.1", "phase": "threats", "status": "complete", "decision": "PROCEED",
            "findings": findings, "context_summary": "Two threats.",
        })
    };
    let task = TaskId::new("A.1");
    let good = report(json!({"threats": ["Replay", "Theft"], "passed": false}));
    let taken = read(good.clone(), &task, form).unwrap();
    assert_eq!(taken.phase(), phase);
    assert_eq!(
        serde_json::from_value::<Report>(json!(taken)).unwrap(),
        taken,
        "it is stored and read"
    );
    let names: Vec<String> = taken.findings.lists().into_iter().map(|list| list.name).collect();
    assert_eq!(names, ["threats", "passed"]);
    for bad in [
        json!({"threats": "Replay", "passed": true}),
        json!({"threats": []}),
        json!({"threats": [], "passed": true, "more": 1}),
    ] {
        assert!(read(report(bad.clone()), &task, form).is_err(), "{bad}");
    }
    let asked = asked("A.1", form);
    assert_eq!(asked["properties"]["findings"]["properties"]["threats"]["type"], "array");
    assert!(jsonschema::validator_for(&bounded("A.1", form, 4_000)).is_ok());
}

#[test]
fn coverage_is_a_number_and_what_tools_print_is_one_too() {
    for (said, wanted) in
        [(json!(81), json!(81)), (json!("81.5 %"), json!(81.5)), (json!(null), Value::Null)]
    {
        let report = json!({
            "task_id": "A.1", "phase": "validate", "status": "complete", "decision": "PROCEED",
            "findings": {"checks": {
                "types": {"passed": true, "errors": []}, "lint": {"passed": true, "errors": []},
                "tests": {"passed": true, "coverage": said}, "security": {"passed": true, "issues": []},
            }},
            "context_summary": "All pass.",
        });
        let report = read(report, &TaskId::new("A.1"), Phase::Validate).unwrap();
        let stored = json!(report);
        assert_eq!(
            stored.pointer("/findings/checks/tests/coverage").cloned().unwrap_or_default(),
            wanted
        );
    }
}
