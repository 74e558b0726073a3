//! The machine of one attempt: it decides what comes next and does nothing itself.

mod answer;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ending::{Ending, Fault, Outcome};
use super::inherited::Inherited;
use super::kept::Kept;
use super::own;
use super::tally::Tally;
use crate::budget::{Budget, Limit, Spent, backoff};
use crate::context::IsolatedContext;
use crate::excerpt::cap;
use crate::id::TaskId;
use crate::message::{Answered, Call, Message};
use crate::protected::Grants;
use crate::provider::{self, Answer, Kind, Powers, Request, Stop};
use crate::record::{RECALL, Switches, recalled_ids};
use crate::report::{Choice, FindingFields, Phase, Question, Report, ReportForm};
use crate::tool::{self, Effect, Invocation, Returned, Spec};
use crate::usage::Usage;

/// One attempt, from its context to its ending. It can be stored at any moment and taken up again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentRun {
    brief: Brief,
    budget: Budget,
    conversation: Vec<Message>,
    state: State,
    spent: Spent,
    kept: Kept,
    /// Files as the subagent last saw them: path and digest.
    seen: BTreeMap<String, String>,
    tally: Tally,
    trouble: Trouble,
    /// What the latest reply cost: the next one will hardly be cheaper.
    latest: Usage,
}

/// What went wrong so far, as far as it decides what comes next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Trouble {
    /// Reports that were sent back.
    rejections: u32,
    /// A report that goes on though its own review finds a fault was sent back.
    #[serde(default)]
    doubted: bool,
    /// Errors in a row.
    errors: u32,
    /// The limit that was reached: only a report is taken now.
    closing: Option<Limit>,
    /// It was told twice what is wrong and did not mend it: where the provider can hold it to this, it does.
    schema: Option<Value>,
}

/// What does not change during an attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Brief {
    pub task: TaskId,
    pub phase: Phase,
    pub model: String,
    pub powers: Powers,
    pub system: Arc<str>,
    pub prompt: Arc<str>,
    /// Where the task's own text stands in the prompt.
    pub text: Range<usize>,
    /// What is listed to the model, and nothing else can be called.
    pub tools: Vec<Spec>,
    /// Protected names that it may change.
    #[serde(default)]
    pub grants: Grants,
    /// What others left for it; records that it asks for join those that it was shown.
    #[serde(default)]
    pub inherited: Inherited,
    /// Files that its context shows whole, with their digests: it has read them.
    #[serde(default)]
    pub whole_files: BTreeMap<String, String>,
    /// What it has to find, where its workflow declares the phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fields: Option<FindingFields>,
    /// Spreads waits.
    pub seed: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum State {
    Asking,
    /// Some calls of a reply are answered, some are under way, the others come after them.
    Calling {
        answered: Vec<Answered>,
        under_way: Vec<Call>,
        open: Vec<Call>,
    },
    Waiting(Duration),
    Ended(Box<Ending>),
}

/// What the driver has to do next.
#[derive(Debug)]
pub enum Step<'a> {
    Ask(Request<'a>),
    /// All at once.
    Call(Vec<Invocation>),
    Wait(Duration),
    Done(&'a Ending),
}

impl State {
    fn calling() -> Self {
        Self::Calling { answered: Vec::new(), under_way: Vec::new(), open: Vec::new() }
    }
}

impl Brief {
    /// A subagent gets its context, the product's own tools and those of its profile. A tool whose name is taken is not listed.
    pub fn new<'f>(
        context: &IsolatedContext,
        form: impl Into<ReportForm<'f>>,
        (model, powers): (&str, Powers),
        tools: Vec<Spec>,
        switches: Switches,
    ) -> Self {
        let form = form.into();
        let mut listed = own::specs(&context.task, form, switches);
        listed.extend(tools.into_iter().filter(|spec| !own::OWN.contains(&spec.name.as_ref())));
        Self {
            task: context.task.clone(),
            phase: form.phase,
            model: model.to_owned(),
            powers,
            system: Arc::clone(&context.system),
            prompt: context.prompt.as_str().into(),
            text: context.task_text(),
            tools: listed,
            grants: Grants::default(),
            inherited: Inherited::default(),
            whole_files: context.manifest.whole_files(),
            fields: form.fields.cloned(),
            seed: seed_of(&context.digest),
        }
    }
}

/// Of a context's digest: the same attempt waits the same, whenever it is taken up.
pub fn seed_of(digest: &str) -> u64 {
    let digest = blake3::hash(digest.as_bytes());
    let mut seed = [0; 8];
    seed.copy_from_slice(&digest.as_bytes()[..8]);
    u64::from_le_bytes(seed)
}

impl AgentRun {
    pub fn new(brief: Brief, budget: Budget) -> Self {
        Self {
            conversation: vec![Message::User(Arc::clone(&brief.prompt))],
            seen: brief.whole_files.clone(),
            brief,
            budget,
            state: State::Asking,
            spent: Spent::default(),
            kept: Kept::default(),
            tally: Tally::default(),
            trouble: Trouble::default(),
            latest: Usage::default(),
        }
    }

    /// What comes next, `elapsed` after the start.
    pub fn step(&mut self, elapsed: Duration) -> Step<'_> {
        self.tick(elapsed);
        if self.spent.elapsed >= self.budget.wall {
            self.end(Outcome::TimedOut);
        }
        if self.state == State::Asking && self.trouble.closing.is_none() {
            self.trouble.closing = self.budget.reached(&self.spent, self.latest);
            if self.trouble.closing.is_some() {
                self.tell(LAST_TURN);
            }
        }
        match &self.state {
            State::Asking => Step::Ask(self.request()),
            State::Calling { under_way, .. } => Step::Call(self.invocations(under_way)),
            State::Waiting(delay) => Step::Wait(*delay),
            State::Ended(ending) => Step::Done(ending),
        }
    }

    /// So much time has passed since the start, in this process and in those before.
    pub fn tick(&mut self, elapsed: Duration) {
        // Whole milliseconds: what is stored and taken up again is the same.
        let elapsed = Duration::from_millis(u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX));
        self.spent.elapsed = self.spent.elapsed.max(elapsed);
    }

    pub fn elapsed(&self) -> Duration {
        self.spent.elapsed
    }

    /// How long the attempt may still take.
    pub fn left(&self) -> Duration {
        self.budget.wall.saturating_sub(self.spent.elapsed)
    }

    pub fn brief(&self) -> &Brief {
        &self.brief
    }

    fn request(&self) -> Request<'_> {
        let (answer, tools) = if let Some(schema) = &self.trouble.schema {
            // Some servers take a schema or tools, not both; a conversation with calls in it must list them.
            let calls = self.conversation.iter().any(|one| matches!(one, Message::Results(_)));
            (Answer::Json(schema), if calls { &*self.brief.tools } else { &[] })
        } else if self.trouble.closing.is_some() {
            (Answer::Call(own::REPORT), &*self.brief.tools)
        } else {
            (Answer::Free, &*self.brief.tools)
        };
        Request {
            system: &self.brief.system,
            messages: &self.conversation,
            tools,
            answer,
            output_limit: self.budget.output,
            turns: self.budget.turns,
            task: self.brief.prompt.get(self.brief.text.clone()).unwrap_or_default(),
            grants: &self.brief.grants,
        }
    }

    fn invocations(&self, calls: &[Call]) -> Vec<Invocation> {
        let seen = |call: &Call| match self.effect(&call.name) {
            Some(Effect::Edits) => self.seen.clone(),
            _ => BTreeMap::new(),
        };
        calls.iter().map(|call| Invocation { call: call.clone(), seen: seen(call) }).collect()
    }

    fn effect(&self, name: &str) -> Option<Effect> {
        self.brief.tools.iter().find(|spec| spec.name == name).map(|spec| spec.effect)
    }

    /// The request brought an error: wait and ask again, or give up.
    pub fn failed(&mut self, error: provider::Error) {
        if self.state != State::Asking {
            return;
        }
        let errors = self.trouble.errors;
        let wait = backoff(error.retry_after, errors, self.brief.seed, self.budget.patience);
        // Where nobody answers at all, nobody will soon.
        let most = if error.kind == Kind::Network { NETWORK_RETRIES } else { u32::MAX };
        let again = error.kind.is_passing() && errors < self.budget.retries.min(most);
        match wait.filter(|wait| again && *wait < self.left()) {
            Some(wait) => {
                self.trouble.errors += 1;
                self.spent.retries += 1;
                self.state = State::Waiting(wait);
            }
            None => self.end(Outcome::Failed { fault: Fault::Provider { error } }),
        }
    }

    /// How long it waits before it asks again.
    pub fn waits(&self) -> Option<Duration> {
        if let State::Waiting(wait) = self.state { Some(wait) } else { None }
    }

    /// The wait is over.
    pub fn waited(&mut self) {
        if matches!(self.state, State::Waiting(_)) {
            self.state = State::Asking;
        }
    }

    /// The calls of the last step came back, in their order.
    pub fn returned(&mut self, results: Vec<Returned>) {
        let State::Calling { under_way, .. } = &mut self.state else { return };
        let calls = std::mem::take(under_way);
        let none = || tool::Outcome::Failed("The tool gave no result.".to_owned()).into();
        let results = results.into_iter().chain(std::iter::repeat_with(none));
        for (call, result) in calls.into_iter().zip(results) {
            self.result(call, result);
        }
        self.proceed();
    }

    /// The process ended while calls were under way, and the workspace is as it was before them. Calls that the task spells out
    /// are simply made again, and so is what was delegated, which goes on where it was; otherwise the model is told that they
    /// have not happened.
    pub fn interrupted(&mut self) {
        let delegates = |call: &Call| self.effect(&call.name) == Some(Effect::Delegates);
        if let State::Calling { under_way, .. } = &self.state
            && !self.brief.powers.scripted
            && !under_way.iter().all(delegates)
        {
            let told = || tool::Outcome::Failed(CUT_OFF.to_owned()).into();
            let results = under_way.iter().map(|_| told()).collect();
            self.returned(results);
        }
    }

    /// The conversation so far, as requests carry it.
    pub fn conversation(&self) -> &[Message] {
        &self.conversation
    }

    fn result(&mut self, call: Call, result: Returned) {
        let edits = self.effect(&call.name) == Some(Effect::Edits);
        let news = |(path, digest): (&String, &String)| self.seen.get(path) != Some(digest);
        if edits && result.seen.iter().any(news) {
            self.tally.clear();
        }
        self.seen.extend(result.seen);
        if let Some(used) = result.used {
            self.budget.pay(used.usage.total(), used.price);
        }
        let failed = !matches!(result.outcome, tool::Outcome::Output(_));
        let text = match result.outcome {
            tool::Outcome::Output(text) | tool::Outcome::Failed(text) => text,
            tool::Outcome::Refused(text) => format!("Refused: {text}"),
            tool::Outcome::NeedsApproval { question, files } => {
                return self.ask(vec![grant(question)], files);
            }
        };
        if call.name == RECALL && !failed {
            let ids = || recalled_ids(&text).into_iter().map(str::to_owned);
            self.brief.inherited.records.extend(ids());
            self.kept.recalled.extend(ids());
        }
        self.answer(call, text, failed);
    }

    /// Answers a call, unless it brings the same once too often.
    fn answer(&mut self, call: Call, text: String, failed: bool) {
        let times = self.tally.count(&call, &text);
        if times >= self.budget.identical && !self.brief.powers.scripted {
            return self.end(Outcome::Looped { call: short(&call.name), times });
        }
        if let State::Calling { answered, .. } = &mut self.state {
            answered.push(Answered { call: call.id, name: call.name, text, failed });
        }
    }

    /// Takes the next calls that may run side by side; when all are answered, the model is asked again.
    fn proceed(&mut self) {
        let State::Calling { answered, under_way, open } = &mut self.state else { return };
        if !under_way.is_empty() {
            return;
        }
        if open.is_empty() {
            let answered = std::mem::take(answered);
            let answered = self.in_order(answered);
            self.conversation.push(Message::Results(answered));
            self.state = State::Asking;
            return;
        }
        let effect = |call: &Call| {
            let spec = self.brief.tools.iter().find(|spec| spec.name == call.name);
            spec.map(|spec| spec.effect)
        };
        let first = open.first().and_then(effect);
        let alike = |call: &&Call| effect(call) == first;
        let together = match first {
            Some(Effect::Reads | Effect::Delegates) => open.iter().take_while(alike).count(),
            _ => 1,
        };
        under_way.extend(open.drain(..together));
    }

    /// Results stand in the order of their calls, whichever was answered first.
    fn in_order(&self, mut answered: Vec<Answered>) -> Vec<Answered> {
        if let Some(Message::Assistant(said)) = self.conversation.last() {
            let places: BTreeMap<&str, usize> = said
                .calls
                .iter()
                .enumerate()
                .map(|(place, call)| (call.id.as_str(), place))
                .collect();
            answered.sort_by_key(|one| places.get(one.call.as_str()).copied());
        }
        answered
    }

    /// Ends with a question; what the subagent did so far stays.
    fn ask(&mut self, questions: Vec<Question>, wants: Vec<String>) {
        let report = Report::asking(self.brief.task.clone(), self.brief.phase, questions);
        self.end_with(Outcome::Waiting, Some(report));
        if let State::Ended(ending) = &mut self.state {
            ending.wants = wants;
        }
    }

    /// A person or the controller wants it to end now.
    pub fn cancel(&mut self) {
        self.end(Outcome::Cancelled);
    }

    /// The step took longer than was left.
    pub fn time_out(&mut self) {
        self.spent.elapsed = self.budget.wall;
        self.end(Outcome::TimedOut);
    }

    fn end(&mut self, outcome: Outcome) {
        self.end_with(outcome, None);
    }

    fn end_with(&mut self, outcome: Outcome, report: Option<Report>) {
        if matches!(self.state, State::Ended(_)) {
            return;
        }
        let report =
            report.map(|report| Report { tokens_used: self.spent.usage.total(), ..report });
        let last = self.conversation.iter().rev().find_map(|message| match message {
            Message::Assistant(said) if !said.text.is_empty() => Some(said.text.as_str()),
            _ => None,
        });
        let last_words = cap(last.unwrap_or_default().to_owned(), LAST_WORDS);
        self.state = State::Ended(Box::new(Ending {
            outcome,
            report,
            spent: self.spent.clone(),
            kept: self.kept.clone(),
            last_words,
            wants: Vec::new(),
        }));
    }

    /// A word of the runtime to the model.
    fn tell(&mut self, text: &str) {
        self.conversation.push(Message::User(text.into()));
    }
}

/// What a model is told of calls that a crash cut off.
pub const CUT_OFF: &str = "\
This call was cut off before it ended, and whatever it had changed was undone: it has not happened. Call it again if it is still needed.";

const LAST_WORDS: usize = 2_000;
/// Within eight seconds.
const NETWORK_RETRIES: u32 = 4;

/// The answer to a question about files by which they may be seen.
pub const YES: &str = "Yes";

fn grant(question: String) -> Question {
    let choice = |label: &str, description: &str| Choice {
        label: label.to_owned(),
        description: Some(description.to_owned()),
    };
    let options = vec![
        choice(YES, "Subagents of this task see them as they are then."),
        choice("No", "It has to do without. Any other answer is told to it as well."),
    ];
    Question { question, options, ..Question::default() }
}

/// A name as it may be repeated in a sentence.
fn short(name: &str) -> String {
    name.chars().take(64).collect()
}

const LAST_TURN: &str = "\
This is your last turn: the limit of this attempt is reached. Call `report` now with what you have; \
say `partial` and STOP if work is left, and name what is left.";

#[cfg(test)]
mod tests;
