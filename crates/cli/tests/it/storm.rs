//! A thousand subagents in one process, over three wires, against a model that spoils three replies in ten.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::stream::{self, StreamExt};
use sequester_core::agent::{AgentRun, Brief, Ending, Fault as Why, Inherited, Outcome, own_specs};
use sequester_core::budget::{Budget, Limit};
use sequester_core::future::BoxFuture;
use sequester_core::id::TaskId;
use sequester_core::message::Call;
use sequester_core::protected::Grants;
use sequester_core::provider::{Kind, Provider};
use sequester_core::record::Switches;
use sequester_core::report::{Conclusion, Phase};
use sequester_core::tool::{self, Effect, Invocation, Returned, Spec, Toolbox};
use sequester_engine::{Silent, Stop, block_on, drive};
use sequester_llm::{Models, Named, Pool, Remote, Sources, Timeouts, resolve};
use sequester_testkit::model::{Fault, Faults, Request, Script, Server, Setup, Turn};
use serde_json::{Value, json};

const SEED: u64 = 20_261_116;
const SUBAGENTS: usize = 1_000;
/// More than any run of faults that is drawn: who has as many retries comes through.
const PATIENT: u32 = 30;
/// Many times what all of them together take.
const HANGING: Duration = Duration::from_mins(5);
const MODELS: [&str; 3] = ["anthropic/claude-sonnet-5", "openai/gpt-5", "openai-responses/gpt-5"];

/// What the model plays to a subagent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// Calls tools and reports.
    Works,
    /// The same, for a subagent that asks again once at most.
    Hurries,
    /// The same, with two reports before that cannot be taken.
    Mends,
    Stops,
    Asks,
    Declines,
    Contradicts,
    Talks,
    SaysNothing,
    Loops,
    NeverReports,
    /// The provider does not have it.
    IsUnknown,
}

impl Part {
    /// 61 has no divisor in common with the number of wires: every part is played over each.
    fn of(number: usize) -> Self {
        match number % 61 {
            1 | 21 | 41 => Self::Hurries,
            2 => Self::Mends,
            3 => Self::Stops,
            4 => Self::Asks,
            5 => Self::Declines,
            6 => Self::Contradicts,
            7 => Self::Talks,
            8 => Self::SaysNothing,
            9 => Self::Loops,
            10 => Self::NeverReports,
            11 => Self::IsUnknown,
            _ => Self::Works,
        }
    }

    fn is_work(self) -> bool {
        matches!(self, Self::Works | Self::Hurries | Self::Mends)
    }

    fn budget(self, number: usize) -> Budget {
        Budget {
            turns: if self == Self::NeverReports { 6 } else { 80 },
            // It must not decide, however busy the machine is: who hangs would reach it.
            wall: HANGING,
            retries: if self == Self::Hurries { hurry(number) } else { PATIENT },
            patience: Duration::from_millis(100),
            ..Budget::default()
        }
    }
}

/// How often a subagent that hurries asks again: never, or once.
fn hurry(number: usize) -> u32 {
    u32::from(number.is_multiple_of(2))
}

fn read(number: usize, name: &str) -> Value {
    json!({"file_path": format!("src/{number}/{name}.rs")})
}

/// What the working parts call, turn by turn.
fn work(number: usize) -> Vec<Vec<(&'static str, Value)>> {
    let bash = |word: &str| json!({"command": format!("{word} {number}")});
    let edit = json!({"file_path": format!("src/{number}/a.rs"), "old_string": "a".repeat(200), "new_string": "ü \"\\\n"});
    vec![
        vec![("Read", read(number, "a")), ("Read", read(number, "b")), ("Bash", bash("build"))],
        vec![("Edit", edit)],
        vec![("Bash", bash("test")), ("Read", read(number, "a"))],
    ]
}

fn report(number: usize) -> Value {
    json!({
        "task_id": task(number), "phase": "analyze", "status": "complete", "decision": "PROCEED",
        "findings": {"complexity": "simple"}, "context_summary": format!("Subagent {number} is done."),
    })
}

fn task(number: usize) -> String {
    format!("N.{number}")
}

/// The one thing that the model goes by: what it was asked.
fn play(request: &Request) -> Turn {
    let number: usize = request.prompt().strip_prefix("# Task N.").unwrap().parse().unwrap();
    let part = Part::of(number);
    let mut report = report(number);
    match part {
        Part::Works | Part::Hurries | Part::Mends => {
            let work = work(number);
            let Some(calls) = work.get(request.turn) else {
                if part == Part::Mends && request.turn < work.len() + 2 {
                    report["context_summary"] = "word ".repeat(600).into();
                }
                return Turn::report(report).saying("All is done.");
            };
            let turn = Turn::text(format!("Turn {} of {number}.", request.turn)).thinking("Hm.");
            calls
                .iter()
                .fold(turn, |turn, (name, arguments)| turn.and_call(name, arguments.clone()))
        }
        Part::Stops => {
            report["decision"] = "STOP".into();
            report["reason"] = "The task is done already.".into();
            Turn::report(report)
        }
        Part::Asks => {
            Turn::call("ask", json!({"questions": [{"question": "Which one?", "options": []}]}))
        }
        Part::Declines => Turn::refusal("I would rather not."),
        Part::Contradicts => {
            report["status"] = "partial".into();
            Turn::report(report)
        }
        Part::Talks => Turn::text("All is done, believe me."),
        Part::SaysNothing => Turn::silence(),
        Part::Loops => Turn::call("Read", read(number, "a")),
        Part::NeverReports | Part::IsUnknown => {
            Turn::call("Read", read(number, &request.turn.to_string()))
        }
    }
}

/// The tools of one subagent, which keep what they were told to do.
#[derive(Default)]
struct Desk(Mutex<Vec<Call>>);

impl Toolbox for Desk {
    fn specs(&self) -> Vec<Spec> {
        let spec = |name: &'static str, effect| Spec {
            name: name.into(),
            description: "A tool.".into(),
            parameters: Arc::new(json!({"type": "object", "properties": {}})),
            effect,
        };
        vec![spec("Read", Effect::Reads), spec("Bash", Effect::Runs), spec("Edit", Effect::Edits)]
    }

    fn call<'a>(&'a self, invocation: &'a Invocation) -> BoxFuture<'a, Returned> {
        self.0.lock().unwrap().push(invocation.call.clone());
        Box::pin(async { tool::Outcome::Output("As it was.".to_owned()).into() })
    }
}

struct Ended {
    number: usize,
    part: Part,
    ending: Ending,
    called: Vec<Call>,
}

impl Ended {
    fn called(&self) -> Vec<(&str, &Value)> {
        self.called.iter().map(|call| (call.name.as_str(), &call.arguments)).collect()
    }
}

/// One subagent from its start to its end.
async fn subagent(number: usize, provider: &Remote) -> Ended {
    let (part, desk) = (Part::of(number), Desk::default());
    let task = TaskId::new(task(number));
    let mut tools = own_specs(&task, Phase::Analyze, Switches::ALL);
    tools.extend(desk.specs());
    let brief = Brief {
        prompt: format!("# Task {task}").into(),
        task,
        phase: Phase::Analyze,
        model: provider.model().to_owned(),
        powers: provider.powers(),
        system: "You analyze.".into(),
        text: 0..0,
        tools,
        grants: Grants::default(),
        inherited: Inherited::default(),
        whole_files: BTreeMap::new(),
        fields: None,
        seed: number as u64,
    };
    let run = AgentRun::new(brief, part.budget(number));
    let ending = drive(run, provider, &desk, &Silent, &Stop::default()).await;
    Ended { number, part, ending, called: desk.0.into_inner().unwrap() }
}

fn remote(pool: &Pool, name: &str, base: &str) -> Remote {
    let environment = |variable: &str| match variable {
        "ANTHROPIC_BASE_URL" | "OPENAI_BASE_URL" => Some(base.to_owned()),
        _ => Some("key-of-the-storm".to_owned()),
    };
    let models = Models::default();
    let sources = Sources { models: &models, environment: &environment, command: &|_| None };
    let Named::Target(target) = resolve(name, &sources).unwrap() else { panic!("{name}") };
    Remote::new(pool, target)
}

/// All of them, so many at once that a debug build on a busy machine can still hear each in time: silence is for the
/// server alone to make.
fn storm(server: &Server) -> Vec<Ended> {
    const AT_ONCE: usize = 200;
    let silence = Duration::from_secs(5);
    let timeouts = Timeouts { headers: silence, read: silence };
    let pool = Pool::new(timeouts).unwrap();
    let base = server.base_url();
    let known = MODELS.map(|name| remote(&pool, name, &base));
    let unknown = MODELS.map(|name| remote(&pool, &format!("{name}-unheard-of"), &base));
    let provider = |number: usize| match Part::of(number) {
        Part::IsUnknown => &unknown[number % MODELS.len()],
        _ => &known[number % MODELS.len()],
    };
    let all = stream::iter((0..SUBAGENTS).map(|number| subagent(number, provider(number))));
    block_on(all.buffer_unordered(AT_ONCE).collect()).unwrap()
}

/// What a part must come to, whatever the weather. Nothing where the weather decides.
fn expected(part: Part) -> Option<Outcome> {
    let no_report =
        |fault: &str| Outcome::Failed { fault: Why::NoReport { faults: vec![fault.to_owned()] } };
    Some(match part {
        Part::Works | Part::Mends => Outcome::Done,
        Part::Stops => Outcome::Stopped,
        Part::Asks => Outcome::Waiting,
        Part::Declines => Outcome::Refused { reason: "I would rather not.".to_owned() },
        Part::Contradicts => no_report(
            "`decision` PROCEED goes with `status` complete only: finish, or decide STOP or CLARIFY.",
        ),
        Part::Talks => no_report(
            "The reply must be the report as JSON and nothing else, without prose or fences around it: \
             expected value at line 1 column 1.",
        ),
        Part::SaysNothing => {
            no_report("You said nothing. Call `report`, or another tool if work is left.")
        }
        Part::Loops => Outcome::Looped { call: "Read".to_owned(), times: 5 },
        Part::NeverReports => Outcome::BudgetExhausted { limit: Limit::Turns },
        Part::Hurries | Part::IsUnknown => return None,
    })
}

#[test]
fn a_thousand_subagents_in_a_storm_of_faults_all_end_in_a_typed_outcome() {
    let faults = Faults::seeded(SEED, 0.3, kinds()).keyed(|request| request.prompt().to_owned());
    let setup = Setup::new(Script::new(play)).faults(faults).without_recording();
    let server = setup.models(&["claude-sonnet-5", "gpt-5"]).start_blocking().unwrap();
    let start = Instant::now();
    let ended = storm(&server);
    let (elapsed, injected) = (start.elapsed(), server.injected());
    let weather =
        format!("seed {SEED}, {} requests in {elapsed:.1?}, {injected:?}", server.asked());
    println!("{weather}");

    assert!(elapsed < HANGING, "{weather}");
    assert_eq!(server.rejected(), Vec::<String>::new(), "{weather}");
    for kind in kinds() {
        assert!(injected.get(kind.name()).is_some_and(|count| *count >= 50), "{kind:?}: {weather}");
    }
    assert_eq!(ended.len(), SUBAGENTS);
    let mut counts: BTreeMap<(Part, &str), usize> = BTreeMap::new();
    for one in &ended {
        *counts.entry((one.part, one.ending.outcome.as_str())).or_default() += 1;
        look_at(one, &weather);
    }
    println!("{counts:?}");
    for (retries, outcome) in [(0, "done"), (0, "failed"), (1, "done"), (1, "failed")] {
        let such =
            ended.iter().filter(|one| one.part == Part::Hurries && hurry(one.number) == retries);
        let count = such.filter(|one| one.ending.outcome.as_str() == outcome).count();
        assert!(count >= 3, "{count} with {retries} retries are {outcome}: {counts:?}, {weather}");
    }
}

fn kinds() -> Vec<Fault> {
    let limited = Fault::TooManyRequests { retry_after: Duration::from_millis(20) };
    let replace =
        |kind| if matches!(kind, Fault::TooManyRequests { .. }) { limited.clone() } else { kind };
    Fault::passing().into_iter().map(replace).collect()
}

fn look_at(one: &Ended, weather: &str) {
    let Ended { number, part, ending, .. } = one;
    let about = format!("{number} {part:?} {ending:?}: {weather}");
    if let Some(expected) = expected(*part) {
        assert_eq!(ending.outcome, expected, "{about}");
    }
    let report = ending.report.as_ref();
    let verdict = report.map(|report| &report.verdict);
    match &ending.outcome {
        Outcome::Done => {
            assert_eq!(verdict, Some(&Conclusion::Proceed), "{about}");
            let summary = format!("Subagent {number} is done.");
            assert_eq!(
                report.map(|report| report.context_summary.as_str()),
                Some(&*summary),
                "{about}"
            );
            assert!(part.is_work(), "{about}");
        }
        Outcome::Stopped => assert!(matches!(verdict, Some(Conclusion::Stop { .. })), "{about}"),
        Outcome::Waiting => assert!(matches!(verdict, Some(Conclusion::Clarify { .. })), "{about}"),
        Outcome::Failed { fault: Why::Provider { error } } => {
            let unknown = error.kind == Kind::UnknownModel;
            assert_eq!(unknown, *part == Part::IsUnknown, "{about}");
            assert!(unknown || error.kind.is_passing(), "{about}");
            assert_eq!(report, None, "{about}");
            assert!(unknown || ending.spent.retries >= hurry(*number), "{about}");
        }
        _ => assert_eq!(report, None, "{about}"),
    }
    calls_of(one, &about);
}

/// Neither lost nor doubled nor another's: each call that was said, once and in its order.
fn calls_of(one: &Ended, about: &str) {
    let all: Vec<(&str, Value)> = work(one.number).into_iter().flatten().collect();
    let all: Vec<(&str, &Value)> = all.iter().map(|(name, arguments)| (*name, arguments)).collect();
    match (one.part, &one.ending.outcome) {
        (_, Outcome::Done) => assert_eq!(one.called(), all, "{about}"),
        // Whatever came before the fault came whole, turn by turn.
        (Part::Hurries, _) => {
            assert!(all.starts_with(&one.called()), "{about}");
            assert!([0, 3, 4, 6].contains(&one.called.len()), "{about}");
        }
        (Part::Loops, _) => {
            assert_eq!(one.called(), vec![("Read", &read(one.number, "a")); 5], "{about}");
        }
        (Part::NeverReports, _) => {
            let each: Vec<Value> =
                (0..5).map(|turn: usize| read(one.number, &turn.to_string())).collect();
            assert_eq!(
                one.called(),
                each.iter().map(|each| ("Read", each)).collect::<Vec<_>>(),
                "{about}"
            );
        }
        _ => assert_eq!(one.called(), Vec::new(), "{about}"),
    }
}
