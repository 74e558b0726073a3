//! Questions that are put to the person at the terminal, while others may answer them too.

use std::collections::BTreeSet;
use std::io::{self, BufRead as _, Write as _};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;
use std::time::Duration;

use sequester_core::id::QuestionId;
use sequester_core::run::{Entry, Event, Open, Scope};
use sequester_core::store::Batch;
use sequester_engine::{Controller, Log, Stop, Trouble, pause};

use crate::commands::answer::choose;
use crate::failure::Failure;
use crate::render::onlooker as view;
use crate::wire::{refuse_trouble, runs};

/// What came of asking.
pub(super) enum Asked {
    /// Somebody answered something, here or elsewhere.
    GoOn,
    Nothing,
    Stopped,
}

/// What is typed, line by line; it ends where the person ends it.
pub(super) struct Lines(Receiver<String>);

impl Lines {
    /// On a thread of its own, which nobody waits for: a person may never type anything.
    pub(super) fn of_terminal() -> Self {
        let (line, lines) = channel();
        thread::spawn(move || {
            for typed in io::stdin().lock().lines().map_while(Result::ok) {
                if line.send(typed).is_err() {
                    return;
                }
            }
        });
        Self(lines)
    }
}

/// How often it is looked whether something was typed, or answered elsewhere.
const LOOK: Duration = Duration::from_millis(100);

pub(super) async fn ask(
    controller: &Controller,
    log: &Arc<Log>,
    stop: &Stop,
    lines: &Lines,
) -> Result<Asked, Failure> {
    let (mut later, mut asked) = (BTreeSet::new(), Asked::Nothing);
    loop {
        // Not what a task asked that has ended since.
        let next = log.read(|run| {
            let mut open = run.inbox().filter(|(id, _)| !later.contains(*id));
            open.next().map(|(id, open)| (id.clone(), open.clone()))
        });
        let Some((id, open)) = next else { return Ok(asked) };
        prompt(&view::question(&open));
        let is_open = || log.read(|run| !run.is_cancelled && run.questions.contains_key(&id));
        loop {
            if stop.is_stopped() {
                prompt("\n");
                return Ok(Asked::Stopped);
            }
            controller.listen().await.map_err(|error| refuse_trouble(&error))?;
            if !is_open() || is_due(&open) {
                prompt("\n");
                asked = Asked::GoOn;
                break;
            }
            match lines.0.try_recv() {
                Ok(line) if line.trim().is_empty() && open.asked.default.is_none() => {
                    later.insert(id.clone());
                    break;
                }
                Ok(line) => match meant(&id, &open, &line) {
                    Ok(answer) => {
                        record(log, &id, &open, answer).await?;
                        asked = Asked::GoOn;
                        break;
                    }
                    Err(failure) => {
                        prompt(&format!("{} {}\nanswer: ", failure.message(), failure.hint()));
                    }
                },
                // Whoever ends the input answers nothing.
                Err(TryRecvError::Disconnected) => {
                    later.insert(id.clone());
                    break;
                }
                Err(TryRecvError::Empty) => pause(LOOK).await,
            }
        }
    }
}

/// Nobody is there to be asked: until the first default is due, or somebody answers elsewhere. Nothing where neither can be.
pub(super) async fn wait(
    controller: &Controller,
    log: &Arc<Log>,
    stop: &Stop,
) -> Result<Asked, Failure> {
    let before = log.read(|run| run.questions.len());
    loop {
        if stop.is_stopped() {
            return Ok(Asked::Stopped);
        }
        controller.listen().await.map_err(|error| refuse_trouble(&error))?;
        let (due, open, any) = log.read(|run| {
            let mut dated = run.questions.values().filter(|one| one.asked.deadline.is_some());
            let due = run.is_cancelled || run.questions.values().any(is_due);
            (due, run.questions.len(), dated.next().is_some())
        });
        if due || open < before {
            return Ok(Asked::GoOn);
        }
        if !any {
            return Ok(Asked::Nothing);
        }
        pause(LOOK).await;
    }
}

/// Whether the time for an answer is over.
fn is_due(open: &Open) -> bool {
    open.asked.deadline.is_some_and(|deadline| deadline <= runs::now())
}

/// What is typed stands right behind it.
fn prompt(text: &str) {
    let mut terminal = io::stderr().lock();
    // Nobody can be told that nobody can be told.
    let _ = terminal.write_all(text.as_bytes()).and_then(|()| terminal.flush());
}

fn meant(id: &QuestionId, open: &Open, line: &str) -> Result<String, Failure> {
    match (&open.asked.default, line.trim()) {
        (Some(default), "") => Ok(default.clone()),
        (_, text) => choose(id, open, text),
    }
}

async fn record(
    log: &Arc<Log>,
    id: &QuestionId,
    open: &Open,
    answer: String,
) -> Result<(), Failure> {
    let scope = Scope { task: open.task.clone(), phase: open.phase, attempt: None };
    let by = "the terminal".to_owned();
    let event = Event::QuestionAnswered { question: id.clone(), answer, by };
    let batch = Batch { entries: vec![Entry { scope, event }], blobs: Vec::new() };
    log.append(batch).await.map_err(|error| refuse_trouble(&Trouble::Store(error)))
}
