//! One subagent over the wire with a real model behind it: too small to be clever, so nothing here depends on its wit.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

use sequester_core::agent::{AgentRun, Brief, Ending, Fault, Inherited, Outcome, own_specs};
use sequester_core::budget::{Budget, Limit};
use sequester_core::future::BoxFuture;
use sequester_core::id::TaskId;
use sequester_core::protected::Grants;
use sequester_core::provider::{self, Deltas, Kind, Powers, Provider, Reply, Request};
use sequester_core::record::Switches;
use sequester_core::report::Phase;
use sequester_engine::{Feed, Joined, News, Stop, block_on, drive};
use sequester_llm::{Models, Named, Pool, Remote, Sources, Timeouts, resolve};
use sequester_testkit::llama::Llama;
use serde_json::Value;

use crate::command::Bench;

/// One for all tests of this file: it answers one request at a time, and ends with this process.
static SERVER: LazyLock<Llama> = LazyLock::new(|| Llama::start().unwrap());

/// A machine that does much else needs minutes for what takes seconds.
const PATIENCE: Duration = Duration::from_mins(20);
const EASY: &str = "Is a typo in a readme simple or complex to mend?";

fn model() -> Remote {
    let base = format!("{}/v1", SERVER.url());
    let environment = |name: &str| (name == "OPENAI_BASE_URL").then(|| base.clone());
    let models = Models::default();
    let sources = Sources { models: &models, environment: &environment, command: &|_| None };
    let Named::Target(target) = resolve("openai/smollm2", &sources).unwrap() else { panic!() };
    Remote::new(&Pool::new(Timeouts { headers: PATIENCE, read: PATIENCE }).unwrap(), target)
}

/// The same model of a provider that holds it to nothing.
struct Unheld(Remote);

impl Provider for Unheld {
    fn model(&self) -> &str {
        self.0.model()
    }

    fn powers(&self) -> Powers {
        Powers { schema: false, ..self.0.powers() }
    }

    fn complete<'a>(
        &'a self,
        request: Request<'a>,
        deltas: &'a dyn Deltas,
    ) -> BoxFuture<'a, Result<Reply, provider::Error>> {
        self.0.complete(request, deltas)
    }
}

/// What was seen on the way: of each reply, how many pieces it came in.
#[derive(Default)]
struct Watch {
    pieces: Mutex<usize>,
    replies: Mutex<Vec<(usize, Reply)>>,
    failures: Mutex<Vec<provider::Error>>,
    stop: Stop,
    /// After how many pieces of a reply to stop.
    most: Option<usize>,
}

impl Feed for Watch {
    fn tell(&self, news: News<'_>) {
        let mut pieces = self.pieces.lock().unwrap();
        match news {
            News::Text(_) => {
                *pieces += 1;
                if self.most == Some(*pieces) {
                    self.stop.stop();
                }
            }
            News::Replied(reply) => {
                self.replies.lock().unwrap().push((std::mem::take(&mut pieces), reply.clone()));
            }
            News::Failed(error, _) => self.failures.lock().unwrap().push(error.clone()),
            _ => {}
        }
    }
}

fn attempt(provider: &dyn Provider, text: &str, budget: &Budget, watch: &Watch) -> Ending {
    let task = TaskId::new("A.1");
    let prompt = format!("# Task\n\n{text}\n");
    let brief = Brief {
        tools: own_specs(&task, Phase::Analyze, Switches::ALL),
        task,
        phase: Phase::Analyze,
        model: provider.model().to_owned(),
        powers: provider.powers(),
        system: "You look at small tasks. Answer in one sentence.".into(),
        text: 8..prompt.len(),
        prompt: prompt.into(),
        grants: Grants::default(),
        inherited: Inherited::default(),
        whole_files: [].into(),
        fields: None,
        seed: 7,
    };
    let run = AgentRun::new(brief, Budget { wall: PATIENCE, ..budget.clone() });
    block_on(drive(run, provider, &Joined(Vec::new()), watch, &watch.stop)).unwrap()
}

/// What holds of every attempt that the server answered: it streamed, counted and kept to the limit.
fn check(ending: &Ending, watch: &Watch, output: u32) {
    assert_eq!(*watch.failures.lock().unwrap(), [], "a request was not valid");
    let replies = watch.replies.lock().unwrap();
    let mut tokens = 0;
    for (pieces, reply) in replies.iter() {
        assert!(*pieces > 1, "it did not stream: {reply:?}");
        assert!(reply.usage.input > 0 && reply.usage.cache_read <= reply.usage.input, "{reply:?}");
        assert!((1..=u64::from(output)).contains(&reply.usage.output), "{reply:?}");
        assert_eq!(reply.said.calls, [], "the server is said to ignore tools");
        tokens += reply.usage.total();
    }
    assert_eq!(ending.spent.turns as usize, replies.len());
    assert_eq!((ending.spent.usage.total(), ending.spent.retries), (tokens, 0));
    assert!(ending.spent.elapsed > Duration::ZERO);
}

#[test]
fn a_small_model_that_calls_no_tools_is_held_to_a_report_by_a_schema() {
    let model = model();
    let texts =
        [EASY, "How hard is it to rename a function?", "Is one more button simple or complex?"];
    let budget = Budget { output: 800, ..Budget::default() };
    let reported = texts.iter().any(|text| {
        let watch = Watch::default();
        let ending = attempt(&model, text, &budget, &watch);
        check(&ending, &watch, 800);
        match &ending.outcome {
            Outcome::Done | Outcome::Stopped | Outcome::Waiting => {
                let report = ending.report.as_ref().unwrap();
                assert_eq!((report.task_id.as_str(), report.phase()), ("A.1", Phase::Analyze));
                assert_eq!(report.tokens_used, ending.spent.usage.total());
                true
            }
            Outcome::Failed { fault: Fault::NoReport { faults } } => {
                assert!(!faults.is_empty() && ending.spent.turns == 3);
                false
            }
            other => panic!("{other:?}"),
        }
    });
    assert!(reported, "no attempt ended with a valid report");
}

#[test]
fn without_a_schema_the_same_model_ends_without_a_valid_report() {
    let watch = Watch::default();
    let budget = Budget { output: 100, ..Budget::default() };
    let ending = attempt(&Unheld(model()), EASY, &budget, &watch);
    check(&ending, &watch, 100);
    assert!(
        matches!(ending.outcome, Outcome::Failed { fault: Fault::NoReport { .. } }),
        "{:?}",
        ending.outcome
    );
    assert_eq!((ending.spent.turns, ending.report), (3, None));
    assert!(!ending.last_words.is_empty());
}

#[test]
fn a_reply_ends_at_its_limit_and_an_attempt_at_its_turns() {
    let model = model();
    for (turns, expected) in [(80, "failed"), (2, "budget_exhausted")] {
        let watch = Watch::default();
        let budget = Budget { output: 16, turns, ..Budget::default() };
        let ending = attempt(&model, "Tell a long story of a sailor.", &budget, &watch);
        check(&ending, &watch, 16);
        assert_eq!(ending.outcome.as_str(), expected);
        assert_eq!(ending.spent.turns, turns.min(3));
        if let Outcome::BudgetExhausted { limit } = ending.outcome {
            assert_eq!(limit, Limit::Turns);
        }
        let replies = watch.replies.into_inner().unwrap();
        let (_, first) = &replies[0];
        assert_eq!((first.usage.output, &first.stop), (16, &provider::Stop::Length));
    }
}

#[test]
fn a_prompt_beyond_the_window_is_said_to_be_that() {
    let watch = Watch::default();
    let ending = attempt(&model(), &"sailor ".repeat(6_000), &Budget::default(), &watch);
    let Outcome::Failed { fault: Fault::Provider { error } } = &ending.outcome else {
        panic!("{:?}", ending.outcome)
    };
    assert_eq!(error.kind, Kind::ContextTooLong, "{error}");
    assert_eq!((ending.spent.turns, ending.spent.retries), (0, 0));
}

#[test]
fn a_stop_in_the_middle_of_a_reply_ends_the_attempt_there() {
    let watch = Watch { most: Some(3), ..Watch::default() };
    let budget = Budget { output: 1_000, ..Budget::default() };
    let ending = attempt(&model(), "Tell a long story of a sailor.", &budget, &watch);
    assert_eq!(ending.outcome, Outcome::Cancelled);
    assert!(watch.replies.into_inner().unwrap().is_empty());
    assert!(watch.pieces.into_inner().unwrap() < 100);
}

fn tiny() -> Bench {
    Bench::with(&[
        ("src/session.rs", "pub fn lifetime() -> u32 {\n    3_600\n}\n"),
        // The model's window is 4,096 tokens: context, two replies and the report.
        ("sequester.toml", "[limits]\nreply = 600\n"),
    ])
}

/// A proxy that nothing listens on, and no exception from it.
fn proxied<'a>(base: &'a str, proxy: &'a str) -> [(&'a str, &'a str); 7] {
    [
        ("OPENAI_BASE_URL", base),
        ("OPENAI_API_KEY", ""),
        ("HTTP_PROXY", proxy),
        ("http_proxy", proxy),
        ("ALL_PROXY", proxy),
        ("NO_PROXY", ""),
        ("no_proxy", ""),
    ]
}

const TASK: [&str; 7] = [
    "task",
    "Find how long a session lives.",
    "--agent",
    "Explore",
    "--model",
    "openai/smollm2",
    "--json",
];

#[test]
fn the_program_runs_a_real_subagent_and_no_proxy_stands_before_loopback() {
    let bench = tiny();
    let base = format!("{}/v1", SERVER.url());
    let answer = bench.run_in(&bench.repo(), &TASK, &proxied(&base, "http://127.0.0.1:1"));
    let told = answer.json();
    let (outcome, code) = (told["outcome"].as_str().unwrap(), answer.code.unwrap());
    let expected = match outcome {
        "done" => 0,
        "waiting" => 3,
        "stopped" => 1,
        // The model may still fail its report; the wire may not.
        "failed" if told["error"]["code"] == "SQ0215" => 1,
        _ => panic!("{answer:?}"),
    };
    assert_eq!(code, expected, "{answer:?}");
    let usage = &told["usage"];
    assert!(usage["input"].as_u64() > Some(0) && usage["output"].as_u64() > Some(0), "{usage}");
    // Without a valid report there is one fresh attempt.
    assert!(usage["turns"].as_u64() <= Some(2 * 3) && usage["retries"] == 0, "{usage}");
    assert_eq!(told["model"], "openai/smollm2");
    assert_eq!(told["phase"], if outcome == "failed" { Value::Null } else { "research".into() });
}

#[test]
fn what_is_far_is_asked_through_the_proxy() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let proxy = format!("http://{}", listener.local_addr().unwrap());
    let played = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut line = String::new();
        BufReader::new(&stream).read_line(&mut line).unwrap();
        let body = "{\"error\":{\"message\":\"Wrong key.\"}}";
        let length = body.len();
        write!(stream, "HTTP/1.1 401 No\r\ncontent-length: {length}\r\n\r\n{body}").unwrap();
        line
    });
    let bench = tiny();
    let environment = proxied("http://model.invalid/v1", &proxy);
    let answer = bench.run_in(&bench.repo(), &TASK, &environment);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    let line = played.join().unwrap();
    assert!(line.starts_with("POST http://model.invalid/v1/chat/completions "), "{line}");
}
