//! The controller: it does what a run's state decides, and records what came of it. No model is in it.

mod accept;
mod attempt;
pub(crate) mod bases;
mod bench;
mod busy;
mod commit;
mod delegate;
mod ending;
mod equip;
mod hold;
mod inherit;
mod known_secrets;
mod log;
mod notes;
mod recall;
mod recorder;
mod records;
pub(crate) mod reveal;
mod under_way;
mod verify;
mod watch;
mod work;
mod world;

pub use accept::admit;
pub use bases::base_of;
pub use log::{Log, read};
pub use watch::{Unwatched, Watch};
pub use world::{Asking, Clock, Crew, Extra, Member, Trouble, Wanted, World};

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use sequester_core::agent::Fault;
use sequester_core::future::BoxFuture;
use sequester_core::id::{TaskId, TreeId};
use sequester_core::provider::{self, Provider};
use sequester_core::run::{
    Decision, Effect, Entry, Event, Now, Outcome, RunState, Running, Scope, TaskRun, decide,
};
use sequester_core::store::{Batch, Letter};
use tokio::sync::{Mutex, Notify, RwLock};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep_until};

use crate::circuit::Circuits;
use crate::journal::Halt;
use crate::stop::Stop;
use bases::Bases;
use busy::{AttemptNumbers, BusyTasks};
use hold::Held;
use notes::Unmerged;
use records::Records;
use under_way::{done, open, void};
use verify::Known;

/// One run, conducted in this process.
pub struct Controller {
    world: World,
    log: Arc<Log>,
    watch: Arc<dyn Watch>,
    bases: Arc<Bases>,
    held: Held,
    records: Arc<Records>,
    unmerged: Unmerged,
    /// Checks that were run before, by what they were run on.
    known: Known,
    circuits: Circuits,
    /// Held for writing by who finds that a change does not fit: several may find the same. Held for reading by who begins an
    /// attempt: nothing begins on what is withdrawn at that moment.
    ground: RwLock<()>,
    /// Something was withdrawn.
    withdrawn: Notify,
    /// Held by who begins an attempt for another subagent: they are counted in the order in which they begin.
    births: Mutex<()>,
    /// The highest number of an attempt that is given to each task.
    numbers: AttemptNumbers,
    /// Held by who moves the branch: a commit may be recorded while the one before it is on its way there.
    branch: Mutex<()>,
    /// The run rests: what is under way is taken to its next durable step.
    park: Stop,
    /// The run is cancelled: what is under way ends.
    cancel: Stop,
}

/// How often words of other processes are looked for.
const LETTERS: Duration = Duration::from_millis(200);

impl Controller {
    pub fn new(world: World, log: Arc<Log>, watch: Arc<dyn Watch>, park: Stop) -> Self {
        let held = log.read(Held::of);
        Self {
            world,
            log,
            watch,
            bases: Arc::default(),
            held,
            records: Arc::default(),
            unmerged: Unmerged::default(),
            known: Known::default(),
            circuits: Circuits::default(),
            ground: RwLock::default(),
            withdrawn: Notify::new(),
            births: Mutex::default(),
            numbers: AttemptNumbers::default(),
            branch: Mutex::default(),
            park,
            cancel: Stop::default(),
        }
    }

    /// The same, cancelled for good where somebody stops it by this.
    #[must_use]
    pub fn cancelled_by(self, cancel: Stop) -> Self {
        Self { cancel, ..self }
    }

    /// Until nothing goes on any more. Where it cannot go on, what is under way comes to its next durable step first: it is
    /// paid for.
    pub async fn conduct(&self, jobs: usize) -> Result<Outcome, Trouble> {
        let mut under_way = FuturesUnordered::new();
        let act = |deed: Deed| {
            if let Deed::Effect(effect) = &deed {
                self.numbers.reserve(effect);
            }
            self.act(deed)
        };
        let ended = self.pursue(jobs, &mut under_way, act).await;
        if ended.is_err() {
            self.park.stop();
            while under_way.next().await.is_some() {}
        }
        ended
    }

    async fn pursue<F>(
        &self,
        jobs: usize,
        under_way: &mut FuturesUnordered<F>,
        act: impl Fn(Deed) -> F,
    ) -> Result<Outcome, Trouble>
    where
        F: Future<Output = Came>,
    {
        self.take_up_run().await?;
        let mut busy = BusyTasks::default();
        for (task, running) in self.log.read(open) {
            busy.add(&task);
            under_way.push(act(Deed::TakeUp(task, Box::new(running))));
        }
        self.unmerged.add(self.log.read(RunState::unnoted));
        let mut listen = Instant::now();
        loop {
            // Beside the work: whoever waits for the file takes nobody's place.
            if self.unmerged.begin() {
                under_way.push(act(Deed::Notes));
            }
            if Instant::now() >= listen {
                self.listen().await?;
                listen = Instant::now() + LETTERS;
            }
            self.give_up().await?;
            self.end_lost(&mut busy).await?;
            let stopping = self.park.is_stopped();
            let at = self.log.clock().now();
            let decision = self.log.read(|run| {
                let stuck = self.bases.stuck(run);
                decide(run, Now { at, jobs, busy: &busy.counts, stuck: &stuck, stopping })
            });
            let Decision { mut entries, effects, wake } = decision;
            // A last word is heard before the run ends.
            let ends = entries.iter().any(|one| matches!(one.event, Event::RunEnded { .. }));
            if ends && self.listen().await? {
                continue;
            }
            if ends && self.unmerged.tidy(|| self.log.read(RunState::overnoted)) {
                continue;
            }
            if ends && self.unmerged.is_under_way() {
                tokio::select! {
                    Some(came) = under_way.next() => take(&mut busy, came)?,
                    () = sleep_until(listen) => {}
                }
                continue;
            }
            for entry in &mut entries {
                self.list_todos(&mut entry.event).await?;
            }
            let is_told = !entries.is_empty();
            let done: Vec<TaskId> = entries.iter().filter_map(done).collect();
            let kept = self.log.append(Batch { entries, blobs: Vec::new() });
            let mut kept = std::pin::pin!(kept);
            // What is under way goes on while the disk is waited for.
            loop {
                tokio::select! {
                    biased;
                    kept = &mut kept => break kept?,
                    Some(came) = under_way.next() => take(&mut busy, came)?,
                }
            }
            if let Some(outcome) = self.log.read(|run| run.ended) {
                return Ok(outcome);
            }
            self.unmerged.add(done);
            for effect in effects {
                busy.add(effect.task());
                under_way.push(act(Deed::Effect(Box::new(effect))));
            }
            if is_told || under_way.is_empty() {
                continue;
            }
            let deadline = wake.map(|wake| Instant::now() + wake.since(at));
            tokio::select! {
                Some(came) = under_way.next() => {
                    take(&mut busy, came)?;
                    // Those that came to their end with it: one decision for all.
                    while let Some(Some(came)) = under_way.next().now_or_never() {
                        take(&mut busy, came)?;
                    }
                }
                () = sleep_until(deadline.map_or(listen, |one| one.min(listen))) => {}
            }
        }
    }

    /// The branch is where the log says, and nothing is under way that counts no more.
    async fn take_up_run(&self) -> Result<(), Trouble> {
        self.hold_start().await?;
        self.move_branch().await?;
        for task in self.log.read(void) {
            self.cut(&task, |_, _| true).await?;
        }
        Ok(())
    }

    async fn connect(&self, model: &str) -> Result<Arc<dyn Provider>, provider::Error> {
        self.world.crew.connect(model).await
    }

    async fn act(&self, deed: Deed) -> Came {
        let task = match &deed {
            Deed::Effect(effect) => effect.task().clone(),
            Deed::TakeUp(task, _) => task.clone(),
            // A file that is being written cannot be held back: what comes of it is recorded whatever a task is built on.
            Deed::Notes => return (None, self.merge_notes().await),
        };
        let number = match &deed {
            Deed::Effect(effect) => effect.attempt(),
            Deed::TakeUp(_, running) => Some(running.number),
            Deed::Notes => None,
        };
        let work: BoxFuture<'_, Result<(), Trouble>> = match deed {
            Deed::Notes => return (None, Ok(())),
            Deed::TakeUp(_, running) => Box::pin(self.take_up(&task, *running)),
            Deed::Effect(effect) => match *effect {
                Effect::Commit { .. } => {
                    let done = self.commit(&task).await;
                    let done = self.bear(&task, number, done).await;
                    return (Some(task), done);
                }
                Effect::Attempt { number, order, cap, .. } => {
                    Box::pin(self.attempt(&task, number, order, cap))
                }
                Effect::Verify { steps, kinds, tree, .. } => {
                    Box::pin(self.verify(&task, steps, kinds, tree))
                }
                Effect::Accept { .. } => Box::pin(self.accept(&task)),
            },
        };
        let done = self.while_it_stands(&task, number, work).await;
        let done = self.bear(&task, number, done).await;
        (Some(task), done)
    }

    /// Works for a task until what it is built on, near or far, is withdrawn: from then on nothing of it counts, and it costs no more.
    async fn while_it_stands(
        &self,
        task: &TaskId,
        number: Option<u32>,
        work: BoxFuture<'_, Result<(), Trouble>>,
    ) -> Result<(), Trouble> {
        let before = self.log.read(|run| run.task(task).map(TaskRun::withdrawals));
        let stands = || {
            self.log.read(|run| {
                let known = run.task(task).filter(|known| run.is_founded(known));
                known.map(TaskRun::withdrawals) == before
            })
        };
        let falls = async {
            loop {
                let told = self.withdrawn.notified();
                if !stands() {
                    return;
                }
                told.await;
            }
        };
        let done = tokio::select! {
            biased;
            done = work => Some(done),
            () = falls => None,
        };
        match done {
            Some(done) => done,
            // Others of the task that run beside it come to their own end.
            None => {
                self.cut(task, |known, one| {
                    number
                        .is_some_and(|own| one == own || known.above(one).any(|above| above == own))
                })
                .await
            }
        }
    }

    /// What only one task cannot have ends the attempt that it had begun, else that task: the others go on.
    async fn bear(
        &self,
        task: &TaskId,
        number: Option<u32>,
        done: Result<(), Trouble>,
    ) -> Result<(), Trouble> {
        let Err(Trouble::Crew { message, hint }) = done else { return done };
        let begun = self.log.read(|run| {
            let own = run.task(task)?.running.get(&number?)?;
            let (phase, attempt) = (Some(own.phase), Some(own.number));
            Some(Scope { task: Some(task.clone()), phase, attempt })
        });
        if let Some(scope) = begun {
            let ended = ending::failed(Fault::Runtime { message });
            return self.end(scope, ended, Batch::default()).await;
        }
        Err(Trouble::Crew { message, hint })
    }

    /// Ends tasks that cannot go on and have nothing under way any more. A task with an attempt that only rests is taken up later.
    async fn end_lost(&self, busy: &mut BusyTasks) -> Result<(), Trouble> {
        for (task, ended) in busy.take_lost() {
            let stands = self.log.read(|run| {
                let is_open = |known: &&TaskRun| known.ended.is_none() && known.running.is_empty();
                let known = run.task(&task).filter(is_open);
                !run.is_cancelled && known.is_some_and(|known| run.is_founded(known))
            });
            if stands {
                self.tell(&task, Event::TaskEnded(Box::new(ended))).await?;
            }
        }
        Ok(())
    }

    /// Notes that somebody here cancelled it, before what ended by that decides anything.
    async fn give_up(&self) -> Result<(), Trouble> {
        if !self.cancel.is_stopped() || self.log.read(|run| run.is_cancelled) {
            return Ok(());
        }
        let event = Event::RunCancelled { by: "a signal".to_owned() };
        let entries = vec![Entry { scope: Scope::default(), event }];
        Ok(self.log.append(Batch { entries, blobs: Vec::new() }).await?)
    }

    /// Takes what other processes want of this run, each word once. Whether there was any.
    pub async fn listen(&self) -> Result<bool, Trouble> {
        let letters = self.log.lease().letters(self.log.read(|run| run.heard))?;
        let is_told = !letters.is_empty();
        for (number, letter) in letters {
            let taken = Event::LetterTaken { letter: number };
            let taken = Entry { scope: Scope::default(), event: taken };
            let entries = self.heed(number, letter).into_iter().chain([taken]).collect();
            self.log.append(Batch { entries, blobs: Vec::new() }).await?;
        }
        Ok(is_told)
    }

    /// What a letter leads to.
    fn heed(&self, number: u64, letter: Letter) -> Option<Entry> {
        match letter {
            Letter::Answer { question, answer, by } => {
                let open = self.log.read(|run| run.questions.get(&question).cloned())?;
                let scope = Scope { task: open.task, phase: open.phase, attempt: None };
                Some(Entry { scope, event: Event::QuestionAnswered { question, answer, by } })
            }
            Letter::HandBack { task, base, tree, left_out, by, seen } => {
                self.log.read(|run| run.takes_hand_back(&task, seen).then_some(()))?;
                let scope = Scope { task: Some(task), ..Scope::default() };
                Some(Entry { scope, event: Event::TaskHandedBack { base, tree, by, left_out } })
            }
            // Whoever took the run up again after it was left had the last word.
            Letter::Cancel { .. } if self.log.is_old(number) => None,
            Letter::Cancel { by } => {
                self.cancel.stop();
                let is_new = !self.log.read(|run| run.is_cancelled);
                let event = Event::RunCancelled { by };
                is_new.then(|| Entry { scope: Scope::default(), event })
            }
        }
    }

    /// What a task left does not fit what stands before it: said once of each result, whoever finds it.
    async fn clash(
        &self,
        task: &TaskId,
        result: &TreeId,
        paths: Vec<String>,
    ) -> Result<(), Trouble> {
        let _alone = self.ground.write().await;
        let stands = self.log.read(|run| run.task(task).and_then(TaskRun::result) == Some(result));
        if !stands {
            return Ok(());
        }
        self.tell(task, Event::MergeConflicted { paths }).await?;
        self.withdrawn.notify_waiters();
        Ok(())
    }

    /// Durable. What would begin an attempt of a task whose needs are not done any more or whose turn it is no more, or with records
    /// of one that is begun anew, rests instead.
    async fn keep(&self, batch: Batch) -> Result<(), Halt> {
        let begins = batch.entries.first().filter(|entry| match &entry.event {
            Event::AttemptStarted(started) => started.parent.is_none(),
            _ => false,
        });
        let _ground = match begins {
            Some(_) => Some(self.ground.read().await),
            None => None,
        };
        let task = begins.and_then(|entry| entry.scope.task.as_ref());
        let number = begins.and_then(|entry| entry.scope.attempt).unwrap_or(0);
        let stands = |run: &RunState| {
            let known = task.and_then(|task| Some((task, run.task(task)?)));
            known.is_none_or(|(task, known)| {
                run.is_ready(known)
                    && !known.is_hand_back_unchecked()
                    && self.records.hold(run, task, number)
            })
        };
        let stands = self.log.read(stands);
        if let Some(task) = task {
            self.records.forget(task, number);
        }
        if !stands {
            return Err(Halt::Parked);
        }
        Ok(self.log.append(batch).await?)
    }

    async fn tell(&self, task: &TaskId, event: Event) -> Result<(), Trouble> {
        let scope = Scope { task: Some(task.clone()), ..Scope::default() };
        let entries = vec![Entry { scope, event }];
        Ok(self.log.append(Batch { entries, blobs: Vec::new() }).await?)
    }
}

enum Deed {
    Effect(Box<Effect>),
    TakeUp(TaskId, Box<Running>),
    /// What done tasks left for the project's notes is merged, one after the other.
    Notes,
}

/// What came to its end, by the task that it was for.
type Came = (Option<TaskId>, Result<(), Trouble>);

fn take(busy: &mut BusyTasks, (task, done): Came) -> Result<(), Trouble> {
    let Some(task) = task else { return done };
    busy.remove(&task);
    match done {
        Err(Trouble::Crew { message, hint }) => {
            busy.lose(task, message, hint);
            Ok(())
        }
        done => done,
    }
}

/// On a thread of its own.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Trouble> {
    let ended = |error| format!("A thread of the controller ended: {error}.");
    spawn_blocking(work).await.map_err(|error| Trouble::Thread { message: ended(error) })
}
