//! What is paid stays paid, what one task cannot have is its own trouble, and words from outside are heard.

use std::sync::Arc;
use std::time::Duration;

use sequester_core::change::Change;
use sequester_core::future::BoxFuture;
use sequester_core::jail::{Cell, Error, Jail, Jails, Ran};
use sequester_core::message::Message;
use sequester_core::provider::Reply;
use sequester_core::run::{Event, Outcome};
use sequester_core::store::{Letter, RunStore as _};
use sequester_core::tool::{Spec, Toolbox};
use sequester_engine::{Stop, Trouble};
use sequester_testkit::memory::MemoryJails;
use sequester_testkit::provider::calls;
use serde_json::json;
use tokio::time::{Instant, sleep, timeout};

use super::run::{report, write_then_report};
use super::stage::{SLOW, Stage, run};

/// Tasks that need nothing of each other.
fn tasks(names: &[String]) -> String {
    let one = |name: &String| {
        format!(
            "## [{name}] Write {name}\n\n```task\nfiles: {{create: [{name}.txt]}}\n```\n\nWrite {name}.\n\n"
        )
    };
    format!("---\nsequester: 1\n---\n# Letters\n\n{}", names.iter().map(one).collect::<String>())
}

fn names<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.map(str::to_owned).to_vec()
}

fn said(text: &str, mut reply: Reply) -> Reply {
    text.clone_into(&mut reply.said.text);
    reply
}

/// How often any request was answered beyond the first time.
fn paid_again(stage: &Stage) -> u32 {
    stage.delivered.lock().unwrap().values().map(|times| times - 1).sum()
}

fn ended(stage: &Stage, task: &str) -> (String, Option<String>) {
    let ended = stage.state().task(&task.into()).unwrap().ended.clone().unwrap();
    (format!("{:?}", ended.state), ended.reason)
}

/// Jails whose workspaces take for ever to be looked at in the end.
struct Endless(MemoryJails);

struct Cellar(Box<dyn Jail>);

impl Jails for Endless {
    fn specs(&self) -> Vec<Spec> {
        self.0.specs()
    }

    fn open<'a>(&'a self, cell: &'a Cell) -> BoxFuture<'a, Result<Box<dyn Jail>, Error>> {
        Box::pin(async { Ok(Box::new(Cellar(self.0.open(cell).await?)) as Box<dyn Jail>) })
    }
}

impl Jail for Cellar {
    fn tools(&self) -> Box<dyn Toolbox> {
        self.0.tools()
    }

    fn look(&self) -> BoxFuture<'_, Result<Option<Change>, Error>> {
        self.0.look()
    }

    fn run<'a>(&'a self, command: &'a str, limit: Duration) -> BoxFuture<'a, Result<Ran, Error>> {
        self.0.run(command, limit)
    }

    fn harvest(self: Box<Self>) -> BoxFuture<'static, Result<Change, Error>> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_ends_an_attempt_is_durable_while_its_workspace_is_looked_at() {
    let mut stage = Stage::new(&tasks(&names(["a", "b"])), &[], write_then_report);
    stage.jails = Arc::new(Endless(MemoryJails(stage.trees.clone())));
    timeout(Duration::from_mins(1), stage.conduct()).await.unwrap_err();
    stage.store.revive();
    stage.jails = Arc::new(MemoryJails(stage.trees.clone()));
    assert_eq!(stage.conduct().await, Ok(Outcome::Done));
    assert_eq!(stage.files().len(), 2);
    assert_eq!(paid_again(&stage), 0);
}

#[tokio::test(start_paused = true)]
async fn what_one_task_cannot_have_ends_that_task_and_no_other() {
    let mut stage = Stage::new(&tasks(&names(["a", "b"])), &[], write_then_report);
    let (message, hint) = ("There is too much to show.".to_owned(), "Split it.".to_owned());
    stage.trouble = Some(("a", Trouble::Crew { message: message.clone(), hint }));
    assert_eq!(stage.conduct().await, Ok(Outcome::Failed));
    assert_eq!(ended(&stage, "a"), ("Failed".to_owned(), Some(message)));
    assert_eq!(ended(&stage, "b"), ("Done".to_owned(), None));
    assert_eq!(paid_again(&stage), 0);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_cannot_go_on_waits_for_replies_that_are_paid() {
    let slowly = |task: &str, messages: &[Message]| said("slow", write_then_report(task, messages));
    let mut stage = Stage::new(&tasks(&names(["a", "b"])), &[], slowly);
    let trouble = Trouble::Repository { message: "The branch is taken.".to_owned(), hint: "" };
    stage.trouble = Some(("a", trouble.clone()));
    assert_eq!(stage.conduct().await, Err(trouble));
    (stage.trouble, stage.park) = (None, Stop::default());
    assert_eq!(stage.conduct().await, Ok(Outcome::Done));
    let asked: u32 = stage.asked.lock().unwrap().values().copied().sum();
    assert_eq!((asked, paid_again(&stage)), (4, 0));
}

#[tokio::test(start_paused = true)]
async fn a_busy_run_hears_that_it_is_cancelled() {
    let all: Vec<String> = (0..300).map(|at| format!("t{at}")).collect();
    let play = |task: &str, messages: &[Message]| said("brief", write_then_report(task, messages));
    let stage = Stage { jobs: 2, ..Stage::new(&tasks(&all), &[], play) };
    let cancel = async {
        sleep(Duration::from_secs(1)).await;
        stage.store.post(&run(), &Letter::Cancel { by: "somebody".to_owned() }).unwrap();
    };
    let (outcome, ()) = tokio::join!(stage.conduct(), cancel);
    assert_eq!(outcome, Ok(Outcome::Cancelled));
    let done = stage.state().tasks.iter().filter(|task| task.is_done()).count();
    assert!((1..200).contains(&done), "{done} were done all the same");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_taken_up_again_does_not_heed_an_older_word_to_cancel_it() {
    let play = |task: &str, messages: &[Message]| match messages.len() {
        1 if task == "a" => calls(&[("ask", json!({"questions": [{"question": "Which?"}]}))]),
        _ => write_then_report(task, messages),
    };
    let stage = Stage::new(&tasks(&names(["a", "b"])), &[], play);
    assert_eq!(stage.conduct().await, Ok(Outcome::Waiting));
    let by = "somebody".to_owned();
    stage.store.post(&run(), &Letter::Cancel { by: by.clone() }).unwrap();
    let question = "r1-1".into();
    stage.store.post(&run(), &Letter::Answer { question, answer: "This.".into(), by }).unwrap();
    // An answer that nobody took counts whenever it is found.
    let ended = stage.conduct().await;
    let log = stage.log();
    let count =
        |wanted: fn(&Event) -> bool| log.iter().filter(|one| wanted(&one.entry.event)).count();
    assert_eq!(count(|event| matches!(event, Event::RunCancelled { .. })), 0, "{ended:?}");
    assert_eq!(count(|event| matches!(event, Event::QuestionAnswered { .. })), 1);
    assert_eq!(count(|event| matches!(event, Event::LetterTaken { .. })), 2);
    stage.conduct().await.unwrap();
    assert_eq!(stage.state().heard, 2);
    let taken =
        stage.log().into_iter().filter(|one| matches!(one.entry.event, Event::LetterTaken { .. }));
    assert_eq!(taken.count(), 2, "each is taken once");
}

/// When the run rests after it was told so.
async fn parked(stage: &Stage, after: Duration) -> (Result<Outcome, Trouble>, Duration) {
    let park = stage.park.clone();
    let stop = async {
        sleep(after).await;
        park.stop();
        Instant::now()
    };
    let conducted = async { (stage.conduct().await, Instant::now()) };
    let ((outcome, end), told) = tokio::join!(conducted, stop);
    (outcome, end.saturating_duration_since(told))
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_only_waits_rests_at_once() {
    let later = |_: &str, _: &[Message]| said("later", report("a"));
    let stage = Stage::new(&tasks(&names(["a"])), &[], later);
    let (outcome, took) = parked(&stage, Duration::from_secs(2)).await;
    assert_eq!(outcome, Ok(Outcome::Stopped));
    assert!(took < SLOW / 20, "it held the run for {took:?}");
    let failed =
        stage.log().into_iter().any(|one| matches!(one.entry.event, Event::TurnFailed { .. }));
    assert!(failed, "what happened is kept");
}

#[tokio::test(start_paused = true)]
async fn who_stands_in_line_for_a_provider_that_is_away_rests_at_once() {
    let all: Vec<String> = (0..12).map(|at| format!("t{at}")).collect();
    let busy = |_: &str, _: &[Message]| said("busy", report("a"));
    for seconds in [1, 3, 9, 20] {
        let models = vec!["far/m".to_owned()];
        let stage = Stage { jobs: 12, models, ..Stage::new(&tasks(&all), &[], busy) };
        let (outcome, took) = parked(&stage, Duration::from_millis(seconds * 1000 + 500)).await;
        assert_eq!(outcome, Ok(Outcome::Stopped));
        assert!(
            took < Duration::from_millis(300),
            "after {seconds} s it held the run for {took:?}"
        );
    }
}
