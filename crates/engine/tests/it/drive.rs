use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sequester_core::agent::{AgentRun, Brief, Ending, Inherited, Outcome, own_specs};
use sequester_core::budget::Budget;
use sequester_core::future::BoxFuture;
use sequester_core::id::TaskId;
use sequester_core::message::Message;
use sequester_core::protected::Grants;
use sequester_core::provider::{Error, Kind, Powers, Reply};
use sequester_core::record::Switches;
use sequester_core::report::Phase;
use sequester_core::tool::{self, Effect, Invocation, Returned, Spec, Toolbox};
use sequester_engine::{Feed, News, Silent, Stop, drive};
use sequester_testkit::provider::{Scripted, calls, text};
use serde_json::json;
use tokio::sync::Barrier;

/// `Meet` waits until two calls are under way at once; `Hang` never returns.
struct Room {
    barrier: Barrier,
    called: Mutex<Vec<String>>,
}

impl Toolbox for Room {
    fn specs(&self) -> Vec<Spec> {
        let spec = |name: &'static str, effect| Spec {
            name: name.into(),
            description: "".into(),
            parameters: Arc::new(json!({"type": "object"})),
            effect,
        };
        vec![spec("Meet", Effect::Reads), spec("Hang", Effect::Runs)]
    }

    fn call<'a>(&'a self, invocation: &'a Invocation) -> BoxFuture<'a, Returned> {
        Box::pin(async move {
            self.called
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(invocation.call.name.clone());
            if invocation.call.name == "Hang" {
                return std::future::pending().await;
            }
            self.barrier.wait().await;
            tool::Outcome::Output("met".to_owned()).into()
        })
    }
}

fn toolbox() -> Room {
    Room { barrier: Barrier::new(2), called: Mutex::default() }
}

fn run(toolbox: &dyn Toolbox, budget: Budget) -> AgentRun {
    let task = TaskId::new("A.1");
    let mut tools = own_specs(&task, Phase::Analyze, Switches::ALL);
    tools.extend(toolbox.specs());
    let brief = Brief {
        task,
        phase: Phase::Analyze,
        model: "scripted".to_owned(),
        powers: Powers { schema: false, free: true, scripted: false },
        system: "You analyze.".into(),
        prompt: "# Task".into(),
        text: 0..6,
        tools,
        grants: Grants::default(),
        inherited: Inherited::default(),
        whole_files: [].into(),
        fields: None,
        seed: 3,
    };
    AgentRun::new(brief, budget)
}

fn report() -> Reply {
    calls(&[(
        "report",
        json!({
            "task_id": "A.1", "phase": "analyze", "status": "complete", "decision": "PROCEED",
            "findings": {"complexity": "simple"}, "context_summary": "It is simple.",
        }),
    )])
}

async fn drive_with(provider: &Scripted, budget: Budget) -> Ending {
    let toolbox = toolbox();
    drive(run(&toolbox, budget), provider, &toolbox, &Silent, &Stop::default()).await
}

#[tokio::test]
async fn calls_that_only_read_really_run_side_by_side() {
    let provider =
        Scripted::new([Ok(calls(&[("Meet", json!({})), ("Meet", json!({}))])), Ok(report())]);
    // Were they run one after the other, the first would wait for ever.
    let ending = drive_with(&provider, Budget::default()).await;
    assert_eq!(ending.outcome, Outcome::Done);
    let Message::Results(results) = &provider.asked()[1].messages[2] else { panic!("no results") };
    assert_eq!(results.iter().map(|one| one.text.as_str()).collect::<Vec<_>>(), ["met", "met"]);
}

#[tokio::test(start_paused = true)]
async fn a_hanging_model_ends_at_the_time_limit_and_keeps_what_was_said() {
    let provider = Scripted::new([Ok(text("Let me think."))]);
    let ending = drive_with(&provider, Budget::default()).await;
    assert_eq!(ending.outcome, Outcome::TimedOut);
    assert_eq!((ending.last_words.as_str(), ending.spent.turns), ("Let me think.", 1));
    assert_eq!(ending.spent.elapsed, Duration::from_mins(30));
}

#[tokio::test(start_paused = true)]
async fn a_hanging_tool_ends_at_the_time_limit_too() {
    let provider = Scripted::new([Ok(calls(&[("Hang", json!({}))]))]);
    let ending = drive_with(&provider, Budget::default()).await;
    assert_eq!(ending.outcome, Outcome::TimedOut);
}

#[tokio::test(start_paused = true)]
async fn the_providers_own_delay_is_waited_for_before_the_same_request_is_sent_again() {
    let error = |kind, after| Error {
        kind,
        message: "Later.".to_owned(),
        retry_after: Some(Duration::from_secs(after)),
    };
    let provider = Scripted::new([
        Err(error(Kind::RateLimited, 7)),
        Err(error(Kind::Overloaded, 11)),
        Ok(report()),
    ]);
    let start = tokio::time::Instant::now();
    let ending = drive_with(&provider, Budget::default()).await;
    assert_eq!((ending.outcome, ending.spent.retries), (Outcome::Done, 2));
    assert!(
        start.elapsed() >= Duration::from_secs(18) && start.elapsed() < Duration::from_secs(20)
    );
    let asked = provider.asked();
    assert!(asked[0] == asked[1] && asked[1] == asked[2]);
}

#[tokio::test]
async fn a_stop_ends_an_attempt_in_the_middle_of_a_step() {
    let provider = Scripted::new([Ok(calls(&[("Hang", json!({}))]))]);
    let (toolbox, stop) = (toolbox(), Stop::default());
    let attempt = drive(run(&toolbox, Budget::default()), &provider, &toolbox, &Silent, &stop);
    let stopper = async {
        while toolbox.called.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        stop.stop();
    };
    let (ending, ()) = tokio::join!(attempt, stopper);
    assert_eq!(ending.outcome, Outcome::Cancelled);
}

#[tokio::test]
async fn those_who_watch_see_each_step_once_and_text_while_it_comes() {
    #[derive(Default)]
    struct Watch(Mutex<Vec<String>>);
    impl Feed for Watch {
        fn tell(&self, news: News<'_>) {
            let word = match news {
                News::Asking => "asking".to_owned(),
                News::Text(piece) => format!("text {piece}"),
                News::Replied(_) => "replied".to_owned(),
                News::Failed(error, _) => error.kind.as_str().to_owned(),
                News::Calling(list) => format!("calling {}", list.len()),
                News::Returned(_) => "returned".to_owned(),
                News::Ended(ending) => ending.outcome.as_str().to_owned(),
            };
            self.0.lock().unwrap().push(word);
        }
    }
    let provider = Scripted::new([Ok(text("Hm.")), Ok(report())]);
    let (toolbox, watch) = (toolbox(), Watch::default());
    drive(run(&toolbox, Budget::default()), &provider, &toolbox, &watch, &Stop::default()).await;
    let seen = watch.0.into_inner().unwrap();
    assert_eq!(seen, ["asking", "text Hm.", "replied", "asking", "text ", "replied", "done"]);
}
