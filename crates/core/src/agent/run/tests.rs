mod leaving;

use std::collections::VecDeque;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::message::Said;
use crate::provider::{Error, Kind, Reply};
use crate::report::{Conclusion, bounded};
use crate::usage::Usage;

fn spec(name: &'static str, effect: Effect) -> Spec {
    Spec {
        name: name.into(),
        description: "".into(),
        parameters: Arc::new(json!({"type": "object"})),
        effect,
    }
}

fn brief() -> Brief {
    let task = TaskId::new("A.1");
    let mut tools = own::specs(&task, Phase::Research, Switches::ALL);
    tools.extend([
        spec("Read", Effect::Reads),
        spec("Grep", Effect::Reads),
        spec("Bash", Effect::Runs),
        spec("Edit", Effect::Edits),
    ]);
    Brief {
        task,
        phase: Phase::Research,
        model: "anthropic/claude-sonnet-5".to_owned(),
        powers: Powers { schema: false, free: false, scripted: false },
        system: "You explore.".into(),
        prompt: "# Task\nFind it.".into(),
        text: 7..15,
        tools,
        grants: Grants::default(),
        inherited: Inherited::default(),
        whole_files: [].into(),
        fields: None,
        seed: 1,
    }
}

fn run_with(budget: Budget) -> AgentRun {
    AgentRun::new(brief(), budget)
}

fn run() -> AgentRun {
    run_with(Budget::default())
}

fn good() -> Value {
    json!({
        "task_id": "A.1", "phase": "research", "status": "complete", "decision": "PROCEED",
        "findings": {
            "existing_implementations": [], "conflicts": [], "patterns_found": [], "recommendations": [],
        },
        "context_summary": "It is in src/a.rs.",
    })
}

fn calls(list: &[(&str, Value)]) -> Reply {
    let calls = list.iter().enumerate().map(|(place, (name, arguments))| Call {
        id: format!("c{place}"),
        name: (*name).to_owned(),
        arguments: arguments.clone(),
    });
    let said = Said { calls: calls.collect(), ..Said::default() };
    Reply { said, usage: Usage { input: 100, output: 10, ..Usage::default() }, stop: Stop::End }
}

fn text(text: &str) -> Reply {
    let said = Said { text: text.to_owned(), ..Said::default() };
    Reply { said, ..Reply::default() }
}

fn report() -> Reply {
    calls(&[("report", good())])
}

fn output(text: &str) -> Returned {
    tool::Outcome::Output(text.to_owned()).into()
}

fn error(kind: Kind) -> Error {
    Error { kind, message: "It broke.".to_owned(), retry_after: None }
}

/// What the machine wants, in a word.
fn wants(run: &mut AgentRun) -> String {
    match run.step(Duration::ZERO) {
        Step::Ask(request) => format!("ask {}", request.messages.len()),
        Step::Call(list) => {
            let names: Vec<&str> = list.iter().map(|one| one.call.name.as_str()).collect();
            format!("call {}", names.join(" "))
        }
        Step::Wait(_) => "wait".to_owned(),
        Step::Done(ending) => ending.outcome.as_str().to_owned(),
    }
}

fn ending(run: &mut AgentRun) -> Ending {
    match run.step(Duration::ZERO) {
        Step::Done(ending) => ending.clone(),
        other => panic!("not ended: {other:?}"),
    }
}

fn last_result(run: &AgentRun) -> &Answered {
    match run.conversation.last() {
        Some(Message::Results(results)) => results.last().unwrap(),
        other => panic!("no result: {other:?}"),
    }
}

#[test]
fn a_subagent_asks_calls_and_reports() {
    let mut run = run();
    assert_eq!(wants(&mut run), "ask 1");
    run.replied(calls(&[("Grep", json!({"pattern": "x"}))]));
    assert_eq!(wants(&mut run), "call Grep");
    run.returned(vec![output("src/a.rs:1")]);
    assert_eq!(wants(&mut run), "ask 3");
    run.replied(report());
    let ending = ending(&mut run);
    assert_eq!(ending.outcome, Outcome::Done);
    assert_eq!(ending.report.unwrap().tokens_used, 220);
    assert_eq!((ending.spent.turns, ending.spent.calls), (2, 1));
    // Two times 100 tokens in at 2 dollars and 10 out at 10 dollars, in millionths of a dollar.
    assert_eq!(ending.spent.price, Some(600));
}

#[test]
fn reads_run_side_by_side_and_what_may_change_things_runs_alone() {
    let mut run = run();
    let none = json!({});
    let names = ["Read", "Grep", "Bash", "Read", "Edit"];
    run.replied(calls(&names.map(|name| (name, none.clone()))));
    let mut order = Vec::new();
    while let Step::Call(list) = run.step(Duration::ZERO) {
        let results = list.iter().map(|one| output(&one.call.name)).collect();
        order.push(list.len());
        run.returned(results);
    }
    assert_eq!(order, [2, 1, 1, 1]);
    let Some(Message::Results(results)) = run.conversation.last() else { panic!("no results") };
    let texts: Vec<&str> = results.iter().map(|one| one.text.as_str()).collect();
    assert_eq!(texts, names);
}

#[test]
fn a_tool_that_is_not_listed_cannot_be_called() {
    let mut run = run();
    run.replied(calls(&[("Write", json!({})), ("Read", json!({}))]));
    assert_eq!(wants(&mut run), "call Read");
    run.returned(vec![output("text")]);
    let Some(Message::Results(results)) = run.conversation.last() else { panic!("no results") };
    assert!(
        results[0].failed
            && results[0].text.starts_with("There is no tool `Write`. You have report, ask,")
    );
}

#[test]
fn prose_instead_of_a_report_goes_back_twice_and_then_has_failed() {
    let mut run = run();
    for _ in 0..2 {
        run.replied(text("All done!"));
        assert!(wants(&mut run).starts_with("ask"));
    }
    run.replied(text("Really, all done!"));
    let ending = ending(&mut run);
    assert_eq!(
        ending.outcome,
        Outcome::Failed { fault: Fault::NoReport { faults: vec![answer::PROSE.to_owned()] } }
    );
    assert_eq!(ending.last_words, "Really, all done!");
}

#[test]
fn the_time_of_the_last_reply_counts() {
    let mut run = run();
    run.step(Duration::from_secs(1));
    run.tick(Duration::from_secs(9));
    run.replied(report());
    assert_eq!(ending(&mut run).spent.elapsed, Duration::from_secs(9));
}

#[test]
fn the_last_try_is_held_to_the_schema_where_the_provider_can() {
    let mut run = AgentRun::new(
        Brief { powers: Powers { schema: true, free: false, scripted: false }, ..brief() },
        Budget::default(),
    );
    run.replied(text("Done."));
    run.replied(text("Done."));
    let Step::Ask(request) = run.step(Duration::ZERO) else { panic!("not asking") };
    assert!(
        matches!(request.answer, Answer::Json(schema) if *schema == bounded("A.1", Phase::Research, Budget::default().output))
    );
    assert_eq!(request.tools, []);
    run.replied(text(&good().to_string()));
    assert_eq!(ending(&mut run).outcome, Outcome::Done);
}

#[test]
fn a_report_that_fails_goes_back_with_its_faults() {
    let mut run = run();
    let mut bad = good();
    bad["status"] = json!("partial");
    run.replied(calls(&[("report", bad)]));
    let told = last_result(&run);
    assert!(
        told.failed && told.text.contains("PROCEED goes with `status` complete only"),
        "{told:?}"
    );
    run.replied(report());
    assert_eq!(ending(&mut run).outcome, Outcome::Done);
}

#[test]
fn a_report_beside_other_calls_is_not_taken() {
    let mut run = run();
    run.replied(calls(&[("Bash", json!({})), ("report", good())]));
    run.returned(vec![output("exit code: 1")]);
    assert_eq!(last_result(&run).text, answer::ALONE);
    assert!(wants(&mut run).starts_with("ask"));
}

#[test]
fn a_question_ends_the_attempt_and_waits() {
    let mut run = run();
    run.replied(calls(&[(
        "ask",
        json!({"questions": [{"question": "Which port?", "options": []}]}),
    )]));
    let ending = ending(&mut run);
    assert_eq!(ending.outcome, Outcome::Waiting);
    let Conclusion::Clarify { questions, .. } = ending.report.unwrap().verdict else {
        panic!("no question")
    };
    assert_eq!(questions[0].question, "Which port?");
}

#[test]
fn what_needs_a_person_becomes_a_question() {
    let mut run = run();
    run.replied(calls(&[("Read", json!({}))]));
    let (question, files) = ("May it see `dist/a.js`?".to_owned(), vec!["dist/a.js".to_owned()]);
    run.returned(vec![tool::Outcome::NeedsApproval { question, files }.into()]);
    let ending = ending(&mut run);
    assert_eq!((ending.outcome, ending.wants), (Outcome::Waiting, vec!["dist/a.js".to_owned()]));
    let report = serde_json::to_value(ending.report).unwrap();
    assert_eq!(report["questions"][0]["options"][0]["label"], YES);
}

#[test]
fn one_turn_is_held_back_for_the_report() {
    let mut run = run_with(Budget { turns: 2, ..Budget::default() });
    run.replied(calls(&[("Read", json!({}))]));
    run.returned(vec![output("text")]);
    let Step::Ask(request) = run.step(Duration::ZERO) else { panic!("not asking") };
    assert_eq!(request.answer, Answer::Call("report"));
    assert_eq!(request.messages.last(), Some(&Message::User(LAST_TURN.into())));
    // An error on the way does not announce it twice.
    run.failed(error(Kind::Overloaded));
    run.waited();
    let Step::Ask(request) = run.step(Duration::ZERO) else { panic!("not asking") };
    assert_eq!(request.messages.len(), 4);
    let mut other = run.clone();
    run.replied(report());
    assert_eq!(ending(&mut run).outcome, Outcome::Done);
    other.replied(calls(&[("Read", json!({}))]));
    assert_eq!(ending(&mut other).outcome, Outcome::BudgetExhausted { limit: Limit::Turns });
}

#[test]
fn a_model_that_calls_tools_for_ever_ends_at_its_limit_of_turns() {
    let mut run = run();
    for turn in 0..200 {
        match run.step(Duration::ZERO) {
            Step::Ask(_) => run.replied(calls(&[("Grep", json!({"pattern": turn}))])),
            Step::Call(_) => run.returned(vec![output("nothing")]),
            _ => break,
        }
    }
    let ending = ending(&mut run);
    assert_eq!(ending.outcome, Outcome::BudgetExhausted { limit: Limit::Turns });
    assert_eq!(ending.spent.turns, 80);
}

#[test]
fn the_same_call_with_the_same_result_is_stopped_as_a_loop() {
    let mut run = run();
    let mut asked = 0;
    while let Step::Ask(_) = run.step(Duration::ZERO) {
        run.replied(calls(&[("Bash", json!({"command": "make"}))]));
        run.returned(vec![output("exit code: 2")]);
        asked += 1;
    }
    assert_eq!(asked, 5);
    assert_eq!(ending(&mut run).outcome, Outcome::Looped { call: "Bash".to_owned(), times: 5 });
}

#[test]
fn an_edit_between_them_makes_the_same_call_new() {
    let mut run = run();
    for round in 0..12 {
        run.replied(calls(&[("Bash", json!({"command": "make"}))]));
        run.returned(vec![output("exit code: 2")]);
        run.replied(calls(&[("Edit", json!({"round": round}))]));
        run.returned(vec![edited(&round.to_string())]);
    }
    assert!(wants(&mut run).starts_with("ask"));
}

#[test]
fn what_a_task_spells_out_again_and_again_is_no_loop() {
    let powers = Powers { schema: false, free: true, scripted: true };
    let mut run = AgentRun::new(Brief { powers, ..brief() }, Budget::default());
    for _ in 0..12 {
        assert!(wants(&mut run).starts_with("ask"));
        run.replied(calls(&[("Bash", json!({"command": "make"}))]));
        run.returned(vec![output("exit code: 0")]);
    }
    assert!(wants(&mut run).starts_with("ask"));
}

fn edited(digest: &str) -> Returned {
    let seen = [("src/a.rs".to_owned(), digest.to_owned())].into();
    Returned { seen, ..output("done") }
}

#[test]
fn whatever_is_called_again_and_again_to_no_effect_is_a_loop() {
    for name in ["Edit", "update_notes", "Wirte"] {
        let mut run = run();
        let arguments = json!({"section": "Findings", "content": "x"});
        while !matches!(run.step(Duration::ZERO), Step::Done(_)) {
            match run.step(Duration::ZERO) {
                Step::Call(_) => run.returned(vec![edited("same")]),
                _ => run.replied(calls(&[(name, arguments.clone())])),
            }
        }
        let ending = ending(&mut run);
        assert_eq!(ending.outcome, Outcome::Looped { call: name.to_owned(), times: 5 }, "{name}");
        assert_eq!(ending.spent.turns, 5, "{name}");
    }
}

#[test]
fn a_question_stands_alone_and_is_bounded() {
    let mut run = run();
    let ask = |question: String| ("ask", json!({"questions": [question]}));
    run.replied(calls(&[("Read", json!({})), ask("Which port?".to_owned())]));
    run.returned(vec![output("text")]);
    assert_eq!(last_result(&run).text, answer::ALONE);
    run.replied(calls(&[ask("x".repeat(9_000))]));
    assert!(last_result(&run).text.contains("at most 8192"), "{run:?}");
    run.replied(calls(&[ask("Which port?".to_owned())]));
    assert_eq!(ending(&mut run).outcome, Outcome::Waiting);
}

#[test]
fn a_provider_that_counts_nothing_does_not_escape_the_budget() {
    let mut run = run_with(Budget { tokens: Some(2_000), ..Budget::default() });
    for turn in 0..80 {
        match run.step(Duration::ZERO) {
            Step::Call(_) => run.returned(vec![output(&"x".repeat(1_000))]),
            Step::Ask(_) => {
                let reply = calls(&[("Grep", json!({"pattern": turn}))]);
                run.replied(Reply { usage: Usage::default(), ..reply });
            }
            _ => break,
        }
    }
    let ending = ending(&mut run);
    assert_eq!(ending.outcome, Outcome::BudgetExhausted { limit: Limit::Tokens });
    assert!(ending.spent.usage.total() < 3_000, "{:?}", ending.spent);
}

#[test]
fn what_ended_stays_ended() {
    let mut run = run();
    run.cancel();
    run.failed(error(Kind::Cut));
    run.replied(report());
    run.returned(vec![output("text")]);
    assert_eq!(ending(&mut run).outcome, Outcome::Cancelled);
}

#[test]
fn time_goes_on_where_a_stored_run_is_taken_up() {
    let mut run = run();
    run.tick(Duration::from_mins(29));
    let mut run: AgentRun = serde_json::from_value(serde_json::to_value(&run).unwrap()).unwrap();
    assert_eq!((run.elapsed(), run.left()), (Duration::from_mins(29), Duration::from_mins(1)));
    assert!(matches!(run.step(Duration::from_mins(30)), Step::Done(_)));
}

#[test]
fn arguments_of_any_depth_can_be_stored() {
    let mut run = run();
    let deep = (0..120).fold(json!(1), |inner, _| json!([inner]));
    run.replied(calls(&[("Grep", deep)]));
    let stored = serde_json::to_string(&run).unwrap();
    assert_eq!(serde_json::from_str::<AgentRun>(&stored).unwrap(), run);
}

#[test]
fn what_was_read_goes_with_an_edit_and_with_nothing_else() {
    let mut run = run();
    run.replied(calls(&[("Read", json!({}))]));
    let seen: BTreeMap<String, String> = [("src/a.rs".to_owned(), "d1".to_owned())].into();
    run.returned(vec![Returned { seen: seen.clone(), ..output("1") }]);
    let mut run: AgentRun = serde_json::from_value(serde_json::to_value(&run).unwrap()).unwrap();
    run.replied(calls(&[("Bash", json!({})), ("Edit", json!({}))]));
    let mut told = Vec::new();
    while let Step::Call(list) = run.step(Duration::ZERO) {
        told.push(list[0].seen.clone());
        run.returned(vec![output("done")]);
    }
    assert_eq!(told, [BTreeMap::new(), seen]);
}

#[test]
fn passing_errors_are_waited_out_and_others_end_the_attempt() {
    let mut run = run();
    run.failed(error(Kind::RateLimited));
    assert_eq!(wants(&mut run), "wait");
    run.waited();
    assert_eq!(wants(&mut run), "ask 1");
    run.failed(error(Kind::Authentication));
    let fault = Fault::Provider { error: error(Kind::Authentication) };
    assert_eq!(ending(&mut run).outcome, Outcome::Failed { fault });
}

#[test]
fn a_provider_that_never_recovers_is_given_up() {
    let mut run = run();
    let mut tries = 0;
    while let Step::Ask(_) = run.step(Duration::ZERO) {
        run.failed(error(Kind::Cut));
        run.waited();
        tries += 1;
    }
    assert_eq!((tries, ending(&mut run).spent.retries), (9, 8));
}

#[test]
fn time_runs_out_between_steps_too() {
    let mut run = run();
    assert!(matches!(run.step(Duration::from_mins(29)), Step::Ask(_)));
    assert!(matches!(
        run.step(Duration::from_mins(30)),
        Step::Done(Ending { outcome: Outcome::TimedOut, .. })
    ));
}

#[test]
fn a_refusal_is_said_as_such() {
    let mut run = run();
    run.replied(Reply { stop: Stop::Refused("policy".to_owned()), ..text("") });
    assert_eq!(ending(&mut run).outcome, Outcome::Refused { reason: "policy".to_owned() });
}

/// A model and its tools, doing anything.
#[derive(Clone, Debug)]
enum Happens {
    Reply(Vec<u8>),
    Error(u8),
    Result(u8),
}

fn happens() -> impl Strategy<Value = Happens> {
    prop_oneof![
        3 => prop::collection::vec(any::<u8>(), 0..5).prop_map(Happens::Reply),
        1 => any::<u8>().prop_map(Happens::Error),
        3 => any::<u8>().prop_map(Happens::Result),
    ]
}

fn reply(seeds: &[u8]) -> Reply {
    let names = [
        "Read",
        "Grep",
        "Bash",
        "Edit",
        "Write",
        "report",
        "ask",
        "update_notes",
        "clear_backpack",
    ];
    let list: Vec<(&str, Value)> = seeds
        .iter()
        .map(|seed| {
            let name = names[usize::from(*seed) % names.len()];
            let arguments = match seed % 4 {
                0 if name == "report" => good(),
                0 => json!({"section": "a", "content": "b"}),
                1 => json!("not an object"),
                2 => json!({"questions": ["x"]}),
                _ => json!({}),
            };
            (name, arguments)
        })
        .collect();
    if list.is_empty() { text("") } else { calls(&list) }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Whatever a model does: it ends, done only with a valid report, and the same from any stored state.
    #[test]
    fn every_attempt_ends_typed_and_can_be_taken_up_anywhere(
        events in prop::collection::vec(happens(), 1..60),
        stored in any::<u64>(),
    ) {
        let mut run = run_with(Budget { turns: 12, ..Budget::default() });
        let mut resumed = run.clone();
        let mut events: VecDeque<Happens> = events.into();
        for step in 0..600_u64 {
            let event = events.pop_front();
            for machine in [&mut run, &mut resumed] {
                match (machine.step(Duration::from_secs(step)), &event) {
                    (Step::Done(_), _) => {}
                    (Step::Wait(_), _) => machine.waited(),
                    (Step::Call(list), event) => {
                        let seed = if let Some(Happens::Result(seed)) = event { *seed } else { 0 };
                        let results = list.iter().map(|_| output(&format!("{seed}"))).collect();
                        machine.returned(results);
                    }
                    (Step::Ask(_), Some(Happens::Error(seed))) => {
                        let kind = if seed % 8 == 0 { Kind::BadRequest } else { Kind::Cut };
                        machine.failed(error(kind));
                    }
                    (Step::Ask(_), Some(Happens::Reply(seeds))) => machine.replied(reply(seeds)),
                    (Step::Ask(_), _) => machine.replied(text("")),
                }
            }
            if step % 7 == stored % 7 {
                resumed = serde_json::from_str(&serde_json::to_string(&resumed).unwrap()).unwrap();
            }
            prop_assert_eq!(&run, &resumed);
            if matches!(run.state, State::Ended(_)) {
                break;
            }
        }
        let ending = ending(&mut run);
        let finished = matches!(ending.outcome, Outcome::Done | Outcome::Stopped | Outcome::Waiting);
        prop_assert_eq!(finished, ending.report.is_some());
        prop_assert!(ending.spent.turns <= 12);
    }
}

#[test]
fn what_is_delegated_is_called_again_after_a_crash_and_paid_by_who_delegates() {
    let mut brief = brief();
    brief.tools.push(spec("Task", Effect::Delegates));
    let mut run = AgentRun::new(brief, Budget { tokens: Some(1_000), ..Budget::default() });
    run.replied(calls(&[("Task", json!({})), ("Task", json!({})), ("Read", json!({}))]));
    run.interrupted();
    let Step::Call(again) = run.step(Duration::ZERO) else { panic!("they are made again") };
    assert_eq!(again.len(), 2);
    let usage = Usage { input: 800, ..Usage::default() };
    let used = Some(crate::run::Cost { usage, ..Default::default() });
    run.returned(vec![Returned { used, ..output("a") }, output("b")]);
    run.interrupted();
    let Step::Ask(request) = run.step(Duration::ZERO) else { panic!("reading was cut off") };
    assert_eq!(request.answer, Answer::Call(own::REPORT), "nothing is left but the report");
}
