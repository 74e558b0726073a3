//! A run while it goes on: one line per subagent in place, plain lines without a terminal, events as JSON lines.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use sequester_core::check::programs;
use sequester_core::id::TaskId;
use sequester_core::plan::Whereabouts;
use sequester_core::run::{
    About, AttemptEnded, Ended, Event, LITERAL, Open, Outcome, PersonDecision, Recorded, RunState,
    Said, Scope, Started, TaskEnded, TaskRun, TaskSpec, sentence,
};
use sequester_engine::{Feed, Watch};

use super::header::Header;
use super::inbox::details;
use super::progress::Progress;
use super::run::{Taken, cost};
use super::terminal::{clean, fold, note_width};
use crate::failure::Failure;
use crate::output::{self, warn};
use crate::wire::check_notices::missing_program_notice;

/// Somebody who watches a run from the shell.
pub(crate) struct Onlooker {
    json: bool,
    /// The only task is known to whoever looks on: its report tells the rest.
    alone: bool,
    titles: BTreeMap<TaskId, String>,
    bars: Option<(MultiProgress, ProgressBar)>,
    count: Mutex<Header>,
    last: Mutex<Last>,
    whereabouts: Whereabouts,
    /// Tasks that `literal` has.
    scripted: Mutex<BTreeSet<TaskId>>,
    /// Programs that checks lack.
    told_missing: Mutex<BTreeSet<String>>,
}

/// The attempt before: its model, and why there may be another one.
#[derive(Default)]
struct Last {
    model: String,
    why: Option<String>,
}

impl Onlooker {
    pub(crate) fn new(json: bool, started: &Started, whereabouts: Whereabouts) -> Arc<Self> {
        let all = started.tasks.iter().filter(|task| task.left_out.is_none()).count();
        Arc::new(Self { whereabouts, ..Self::of(json, &started.tasks, Header::new(all)) })
    }

    /// For a run of one task.
    pub(crate) fn alone(started: &Started) -> Arc<Self> {
        let onlooker = Self::of(false, &started.tasks, Header::default());
        Arc::new(Self { alone: true, bars: None, ..onlooker })
    }

    /// Of a run whose tasks in `again` are not done any more.
    pub(crate) fn taken_up(
        json: bool,
        state: &RunState,
        again: &[TaskId],
        whereabouts: Whereabouts,
    ) -> Arc<Self> {
        let count = Header::of(state, again);
        let onlooker = Self::of(json, state.tasks.iter().map(|task| &task.spec), count);
        Arc::new(Self { whereabouts, ..onlooker })
    }

    fn of<'a>(json: bool, tasks: impl IntoIterator<Item = &'a TaskSpec>, count: Header) -> Self {
        let bars = (!json && io::stderr().is_terminal()).then(|| {
            let bars = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
            let header = bars.add(ProgressBar::new_spinner());
            let style = ProgressStyle::with_template("{wide_msg}");
            header.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            (bars, header)
        });
        let mut titles = BTreeMap::new();
        let mut count = count;
        for task in tasks {
            titles.insert(task.id.clone(), task.title.clone());
            count.know(task);
        }
        let (count, last) = (Mutex::new(count), Mutex::default());
        let (whereabouts, scripted) = (Whereabouts::default(), Mutex::default());
        let told_missing = Mutex::default();
        Self { json, alone: false, titles, bars, count, last, whereabouts, scripted, told_missing }
    }

    fn count(&self) -> MutexGuard<'_, Header> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Before somebody is asked: nothing is drawn over the question.
    pub(crate) fn rest(&self) {
        if let Some((_, header)) = &self.bars {
            header.finish_and_clear();
        }
    }

    /// Something that is no part of the run.
    pub(crate) fn note_that(&self, what: &str) {
        if !self.json {
            self.say(what);
        }
    }

    /// A line that stays.
    fn say(&self, line: &str) {
        match &self.bars {
            Some((bars, _)) => drop(bars.println(fold(line, note_width()).trim_end())),
            None => warn(&format!("{line}\n")),
        }
    }

    fn name(&self, scope: &Scope) -> String {
        let Some(task) = &scope.task else { return String::new() };
        let title = self.titles.get(task).map(String::as_str).unwrap_or_default();
        if self.alone {
            return clean(title).into_owned();
        }
        clean(&format!("{task} {title}")).trim().to_owned()
    }

    fn draw(&self) {
        let Some((_, header)) = &self.bars else { return };
        header.set_message(self.count().text());
    }

    /// Why somebody else, or somebody again, will get the only task.
    fn note(&self, event: &Event) {
        let mut last = self.last();
        match event {
            Event::AttemptStarted(started) => last.model.clone_from(&started.model),
            Event::AttemptEnded(ended) => {
                let why = match (&ended.trouble, &ended.said, &ended.outcome) {
                    (Some(trouble), ..) => trouble.clone(),
                    (None, Some(Said::Stop { reason, .. }), _) => reason.clone(),
                    (None, None, outcome) => outcome.sentence(),
                    _ => return,
                };
                last.why = Some(format!("`{}` gave up: {}", last.model, clean(&why)));
            }
            Event::TaskVerified { failing: Some(_), .. } => {
                last.why = Some("The evidence speaks against it, and it is mended.".to_owned());
            }
            _ => {}
        }
    }

    fn last(&self) -> MutexGuard<'_, Last> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why a task ended, with the plan's lines where `literal` names some.
    fn placed(&self, task: Option<&TaskId>, why: &str) -> String {
        let scripted = self.scripted.lock().unwrap_or_else(PoisonError::into_inner);
        match task.filter(|task| scripted.contains(*task)) {
            Some(task) => self.whereabouts.place(task, why),
            None => why.to_owned(),
        }
    }

    fn note_model(&self, task: Option<&TaskId>, model: &str) {
        let mut scripted = self.scripted.lock().unwrap_or_else(PoisonError::into_inner);
        match task {
            Some(task) if model == LITERAL => drop(scripted.insert(task.clone())),
            Some(task) => drop(scripted.remove(task)),
            None => {}
        }
    }

    fn tell_end(&self, name: &str, task: Option<&TaskId>, ended: &TaskEnded) {
        let TaskEnded { state, reason, resolution, person, skipped_with, .. } = ended;
        let by_person = person.as_ref().map(PersonDecision::sentence);
        let by_person = by_person.filter(|_| reason.is_none());
        if *state != Ended::Skipped || person.is_some() || skipped_with.is_some() {
            // What would help one that is blocked was said of the one that it waits for.
            let helps = resolution.as_deref().filter(|_| *state != Ended::Blocked);
            let said: Vec<&str> =
                reason.as_deref().into_iter().chain(by_person.as_deref()).chain(helps).collect();
            // What ends with lines of a program's output is not gone on with.
            let is_long = reason.as_ref().is_some_and(|reason| reason.contains('\n'));
            let said = said.join(if is_long { "\n" } else { " " });
            let why = (!said.is_empty()).then(|| self.placed(task, &said));
            let why = why.map(|why| format!(": {}", clean(&why)));
            let state = state_name(*state);
            self.say(&format!("{name} - {state}{}", why.unwrap_or_default()));
        }
    }

    /// Once for each program, where the start of the run could not see that it is needed.
    fn tell_missing(&self, program: Option<&str>, command: &str) {
        let Some(program) = program.filter(|program| !programs(command).contains(program)) else {
            return;
        };
        let mut told = self.told_missing.lock().unwrap_or_else(PoisonError::into_inner);
        if told.insert(program.to_owned()) {
            self.say(&clean(&missing_program_notice(program, &[command])));
        }
    }

    /// What a person wants to know at once.
    fn tell(&self, recorded: &Recorded) {
        let (name, task) = (self.name(&recorded.entry.scope), recorded.entry.scope.task.as_ref());
        match &recorded.entry.event {
            Event::AttemptStarted(started) => self.note_model(task, &started.model),
            Event::TaskEnded(ended) => self.tell_end(&name, task, ended),
            Event::AttemptEnded(ended) if objections(ended).is_some() => {
                let phase = recorded.entry.scope.phase.map_or("it", |phase| phase.as_str());
                let told = objections(ended).unwrap_or_default();
                self.say(&clean(&format!("{name}: {phase} objects: {told}")));
            }
            Event::AttemptEnded(ended) if !ended.refused.is_empty() => {
                let names = ended.refused.names();
                self.say(&clean(&format!("{name}: not taken: {names}; `show` says why")));
            }
            Event::CheckEnded(ended) if ended.missing_program.is_some() => {
                self.tell_missing(ended.missing_program.as_deref(), &ended.check.command);
            }
            Event::CheckEnded(ended) => {
                let is = if ended.passed { "passes" } else { "fails" };
                let counts = ended
                    .counts
                    .map(|counts| format!(" ({} passed, {} failed)", counts.passed, counts.failed));
                let command = clean(&ended.check.command).into_owned();
                let place = if ended.is_base { " without the change" } else { "" };
                let counts = counts.unwrap_or_default();
                let told = match (ended.is_red, ended.passed) {
                    (false, _) => format!("`{command}` {is}{place}{counts}"),
                    (true, false) => format!(
                        "red: `{command}` fails with the new tests alone, as it should{counts}"
                    ),
                    (true, true) => format!(
                        "red: `{command}` passes with the new tests alone, and should fail{counts}"
                    ),
                };
                self.say(&format!("{name}: {told}"));
            }
            Event::StepSkipped { step, reason } => {
                self.say(&format!("{name}: {step} is skipped: {}", clean(reason)));
            }
            Event::NotesMerged { told, .. } => {
                for one in told {
                    self.say(&format!("{name}, notes: {}", clean(one)));
                }
            }
            Event::TaskHandedBack { .. } | Event::AcceptRefused { .. } => {
                self.say(&clean(&format!("{name}: {}", sentence(&recorded.entry.event))));
            }
            Event::QuestionAsked(asked) => {
                let (id, text) = (&asked.question, clean(&asked.text));
                let who = asker(&asked.about, &name);
                self.say(&format!("{who} asks ({id}): {text}"));
            }
            Event::QuestionAnswered { question, answer, by } => {
                self.say(&format!("{question} is answered by {}: {}", clean(by), clean(answer)));
            }
            Event::MergeConflicted { paths } => {
                let paths = clean(&paths.join("`, `")).into_owned();
                self.say(&format!(
                    "{name} does not fit what others changed in `{paths}`: it is done again, and what was built on it."
                ));
            }
            Event::TaskVerified { failing: Some(_), gist, .. } => {
                let told = gist.iter().flat_map(|gist| gist.lines());
                let mut told = told.filter_map(|line| line.strip_prefix("- "));
                // Of a check it was told when it ended.
                let first = told.find(|line| !line.contains(" does not pass: `"));
                let first = first.map(|first| format!(" {}", clean(first))).unwrap_or_default();
                self.say(&format!("{name}: the evidence speaks against it.{first}"));
            }
            _ => {}
        }
    }
}

impl Watch for Onlooker {
    fn recorded(&self, recorded: &Recorded) {
        if self.json {
            // Whoever read it may be gone; the run goes on.
            let _ = output::print_json(recorded);
            return;
        }
        if self.alone {
            return self.note(&recorded.entry.event);
        }
        self.count().take(&recorded.entry);
        self.tell(recorded);
        self.draw();
    }

    fn attempt(&self, scope: &Scope, agent: &str, title: Option<&str>) -> Box<dyn Feed> {
        if self.json {
            return Box::new(sequester_engine::Silent);
        }
        if let Some(why) = self.last().why.take() {
            output::tell(&why);
        }
        let bars = self.bars.as_ref().map(|(bars, _)| bars);
        let name = title.map_or_else(|| self.name(scope), |title| clean(title).into_owned());
        Box::new(Progress::start(bars, agent, &name))
    }
}

fn state_name(state: Ended) -> &'static str {
    match state {
        Ended::Done => "done",
        Ended::Failed => "failed",
        Ended::Blocked => "blocked",
        Ended::Skipped => "skipped",
        Ended::Cancelled => "cancelled",
    }
}

/// What came of it, and what to do next.
pub(crate) fn summary(state: &RunState, outcome: Outcome, taken: Taken) -> String {
    let run = &state.run;
    let count = |wanted: Ended| {
        let ended = state.tasks.iter().filter_map(|task| task.ended.as_ref());
        ended.filter(|ended| ended.state == wanted).count()
    };
    let (done, failed, blocked) = (count(Ended::Done), count(Ended::Failed), count(Ended::Blocked));
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write!(text, "run {run}: {}", outcome.as_str().replace('_', " "));
    let _ = write!(text, " ({done} done, {failed} failed, {blocked} blocked");
    let is_waiting = |task: &&TaskRun| task.ended.is_none() && !task.open.is_empty();
    let waiting = state.tasks.iter().filter(is_waiting).count();
    let _ = write!(text, ", {waiting} waiting");
    let is_left = |task: &&TaskRun| {
        task.ended.is_none() && task.open.is_empty() && task.spec.left_out.is_none()
    };
    let pending = state.tasks.iter().filter(is_left).count();
    for (count, word) in [(pending, "pending"), (count(Ended::Skipped), "skipped")] {
        if count > 0 {
            let _ = write!(text, ", {count} {word}");
        }
    }
    text.push_str(")\n");
    let cost = cost(&state.cost.bill());
    if !cost.is_empty() {
        let _ = writeln!(text, "cost: {cost}");
    }
    if state.tip.is_some() {
        if matches!(taken, Taken::ByApply) {
            let _ = writeln!(text, "branch: {}", state.started.branch);
        }
        let _ = writeln!(text, "  sequester diff {run}     what it changed");
        let _ = writeln!(text, "  {}    take it into your checkout", taken.command(run));
    }
    let again = match outcome {
        Outcome::Waiting => "once the questions of `sequester inbox` are answered",
        Outcome::Stopped => "where it stopped",
        Outcome::BudgetExhausted => {
            "`--budget BUDGET` goes on with a new one, `--retry TASK` with what is left"
        }
        Outcome::Failed => "`--retry TASK` tries a task again",
        Outcome::Done | Outcome::Cancelled => return text,
    };
    let _ = writeln!(text, "  sequester resume {run}   {again}");
    text
}

/// A question as it is put to the person at the terminal.
pub(crate) fn question(open: &Open) -> String {
    let task = open.task.as_ref().map(ToString::to_string).unwrap_or_default();
    let who = asker(&open.asked.about, &task);
    let mut text = format!("\n{} asks: {}\n", clean(who), clean(&open.asked.text));
    text += &clean(&details(open.asked.details.as_deref()));
    for (number, option) in (1..).zip(&open.asked.options) {
        let why = option.description.as_deref().map(|why| format!(" - {}", clean(why)));
        let _ = writeln!(text, "  {number}) {}{}", clean(&option.label), why.unwrap_or_default());
    }
    let default = open.asked.default.as_deref();
    let hint = default.map_or("empty leaves it for later".to_owned(), |default| {
        format!("empty takes: {}", clean(default))
    });
    text + &format!("answer ({hint}): ")
}

/// What is decided before anything starts, no task asks.
fn asker<'a>(about: &About, task: &'a str) -> &'a str {
    if matches!(about, About::Plan(_)) { "the plan" } else { task }
}

pub(crate) fn agree(what: &str) -> Result<bool, Failure> {
    let given = read_line(&format!("{what} [y/N] "))?;
    Ok(matches!(given.to_ascii_lowercase().as_str(), "y" | "yes"))
}

fn read_line(prompt: &str) -> Result<String, Failure> {
    // The answer is typed beside it.
    let prompt = fold(&clean(prompt), note_width());
    let _ = write!(io::stderr().lock(), "{} ", prompt.trim_end());
    let _ = io::stderr().flush();
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    read.map_err(|error| Failure::no_runtime(&error))?;
    Ok(line.trim().to_owned())
}

/// What a judging attempt holds against the work, on one line.
fn objections(ended: &AttemptEnded) -> Option<String> {
    match &ended.said {
        Some(Said::Proceed { passed: Some(false), against, .. }) => Some(against.join("; ")),
        _ => None,
    }
}
