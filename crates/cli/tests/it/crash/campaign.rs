//! Runs that are killed and taken up again and again, and what must be true of them in the end.
#![allow(clippy::print_stdout, reason = "a table that a person asked for")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use sequester_testkit::model::Server;
use serde_json::Value;

use super::traces::{self, Traces};
use crate::command::{Answer, Bench};
use crate::scripted::{MODELS, program};
use crate::waves::{self, Place};

/// How much of it there is.
pub(crate) struct Campaign {
    pub(crate) seed: u64,
    pub(crate) tasks: usize,
    /// Those that hit a living controller.
    pub(crate) kills: usize,
    /// Controllers of one run: all but the last are to be killed.
    pub(crate) lives: usize,
}

/// What came of it.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) faults: Vec<String>,
    runs: usize,
    kills: usize,
    /// Before there was a run to take up.
    early: usize,
    /// By how many tenths of the run's events were durable.
    tenths: [usize; 10],
    requests: usize,
    in_flight: usize,
    asked_again: usize,
    lost: usize,
    paid_again: usize,
    calls_cut: usize,
    attempts: usize,
    commits: usize,
}

const JOBS: usize = 8;
/// Many times what a run takes.
const PATIENCE: Duration = Duration::from_mins(5);

/// How the run ends when nobody disturbs it.
struct Wanted {
    tree: String,
    contexts: BTreeMap<String, String>,
    length: Duration,
}

impl Campaign {
    pub(crate) fn carry_out(&self) -> Tally {
        let Self { seed, tasks, kills, .. } = *self;
        let mut dice = Dice(seed);
        let wanted = undisturbed(tasks);
        println!(
            "seed {seed}: {kills} kills, {tasks} tasks, {JOBS} at once; undisturbed {:.1} s",
            wanted.length.as_secs_f64()
        );
        let mut tally = Tally::default();
        // Who is killed does some of it again, and starting takes its time: as long as the last one took, and at first a guess.
        let mut length = wanted.length * 2;
        while tally.kills < kills && tally.faults.is_empty() {
            let lives = self.lives.min(kills - tally.kills + 1);
            let model = MODELS[tally.runs % MODELS.len()];
            let mut run = Disturbed::new(tasks, model);
            run.live(&mut dice, length, lives);
            length = run.lived;
            run.judge(&wanted, &mut tally);
            println!(
                "run {}: {} kills so far, {:.1} s lived",
                tally.runs,
                tally.kills,
                run.lived.as_secs_f64()
            );
        }
        tally.print(tasks);
        tally
    }
}

fn undisturbed(tasks: usize) -> Wanted {
    let mut run = Disturbed::new(tasks, MODELS[0]);
    let mut child = run.start();
    run.wait(&mut child, None);
    let id = run.find().unwrap();
    let log = waves::export(&run.bench, &run.server, &id);
    let ended = log.last().unwrap();
    assert_eq!((&ended["event"], &ended["outcome"]), (&"run_ended".into(), &"done".into()));
    Wanted {
        tree: waves::tree(&run.bench, &id),
        contexts: waves::contexts(&log),
        length: run.lived,
    }
}

/// One run, with all that was seen of it.
struct Disturbed {
    bench: Bench,
    server: Server,
    tasks: usize,
    model: &'static str,
    /// All controllers together.
    lived: Duration,
    kills: Vec<Kill>,
    supervisors: BTreeSet<u32>,
    before: Vec<(PathBuf, Vec<u8>)>,
}

/// What was durable when the controller died.
#[derive(Default)]
struct Kill {
    /// How many requests had come.
    requests: usize,
    replied: BTreeSet<Place>,
    /// Answers that had been handed over in full and were not durable: paid, and lost.
    lost: BTreeSet<Place>,
    in_flight: BTreeSet<Place>,
    calls_cut: usize,
    /// None where there was no run yet.
    events: usize,
}

impl Disturbed {
    fn new(tasks: usize, model: &'static str) -> Self {
        let (bench, server) = (waves::bench(tasks), waves::server());
        let before = traces::own_files(&bench);
        let (lived, kills, supervisors) = (Duration::ZERO, Vec::new(), BTreeSet::new());
        Self { bench, server, tasks, model, lived, kills, supervisors, before }
    }

    /// The run, or the same one taken up again.
    fn start(&self) -> Child {
        let jobs = JOBS.to_string();
        let mut command: Command = match self.find() {
            None => waves::run(&self.bench, &self.server, self.model, JOBS),
            Some(run) => {
                program(&self.bench, &self.server, &["resume", &run, "--jobs", &jobs, "--json"])
            }
        };
        let file = |name: &str| File::create(self.bench.path(name)).unwrap();
        command.stdout(file("printed")).stderr(file("told")).spawn().unwrap()
    }

    fn find(&self) -> Option<String> {
        let listed = program(&self.bench, &self.server, &["status", "--json"]).output().unwrap();
        let answer = Answer::of(&listed);
        assert_eq!(answer.code, Some(0), "{answer:?}");
        let runs = answer.json();
        assert!(runs.as_array().is_some_and(|runs| runs.len() < 2), "{runs}");
        runs[0]["run"].as_str().map(str::to_owned)
    }

    /// Until it ends or is killed at `end`, counted over all that lived.
    fn wait(&mut self, child: &mut Child, end: Option<Duration>) -> ExitStatus {
        let (born, before) = (Instant::now(), self.lived);
        let ended = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            let left = end.unwrap_or(PATIENCE).saturating_sub(before + born.elapsed());
            if left.is_zero() {
                self.supervisors.extend(traces::supervisors_of(child.id()));
                child.kill().unwrap();
                break child.wait().unwrap();
            }
            thread::sleep(left.min(Duration::from_millis(2)));
        };
        self.lived = before + born.elapsed();
        ended
    }

    /// Kills at instants drawn from the whole length of a run, then lets the last one live.
    fn live(&mut self, dice: &mut Dice, length: Duration, lives: usize) {
        let mut instants: Vec<Duration> = (1..lives).map(|_| dice.within(length)).collect();
        instants.sort_unstable();
        for instant in instants {
            let mut child = self.start();
            let status = self.wait(&mut child, Some(instant));
            if status.signal() != Some(9) {
                return;
            }
            self.look();
        }
        let mut child = self.start();
        self.wait(&mut child, None);
    }

    fn look(&mut self) {
        let mut kill = Kill::default();
        if let Some(run) = self.find() {
            let log = waves::export(&self.bench, &self.server, &run);
            kill.events = log.len();
            for attempt in attempts(&log) {
                kill.replied.extend((0..attempt.replies).map(|at| attempt.place(at)));
                if attempt.is_asking {
                    kill.in_flight.insert(attempt.place(attempt.replies));
                }
                kill.calls_cut += usize::from(attempt.is_calling);
            }
        }
        let delivered = waves::delivered(&self.server).into_keys();
        kill.lost = delivered.filter(|place| !kill.replied.contains(place)).collect();
        // Whatever comes from now on was asked by another one, or its reply was never read.
        kill.requests = waves::asked(&self.server).len();
        self.kills.push(kill);
    }

    fn judge(&self, wanted: &Wanted, tally: &mut Tally) {
        tally.runs += 1;
        tally.kills += self.kills.len();
        let Some(run) = self.find() else {
            tally.faults.push("there is no run".to_owned());
            return;
        };
        let log = waves::export(&self.bench, &self.server, &run);
        let mut faults = self.ending(&run, &log, wanted, tally);
        faults.extend(self.payments(tally));
        let traces = Traces { bench: &self.bench, supervisors: &self.supervisors };
        faults.extend(traces.found(&self.before));
        for kill in &self.kills {
            match kill.events {
                0 => tally.early += 1,
                events => tally.tenths[(events - 1) * 10 / log.len()] += 1,
            }
            tally.in_flight += kill.in_flight.len();
            tally.lost += kill.lost.len();
            tally.calls_cut += kill.calls_cut;
        }
        let run = tally.runs;
        tally.faults.extend(faults.into_iter().map(|fault| format!("run {run}: {fault}")));
        if !tally.faults.is_empty() {
            self.keep(run);
        }
    }

    /// The same tree and the same contexts; every task committed once, every attempt ended once.
    fn ending(&self, run: &str, log: &[Value], wanted: &Wanted, tally: &mut Tally) -> Vec<String> {
        let mut faults = Vec::new();
        let last = log.iter().rfind(|event| event["event"] != "run_resumed").unwrap();
        if (&last["event"], &last["outcome"]) != (&"run_ended".into(), &"done".into()) {
            let told = fs::read_to_string(self.bench.path("told")).unwrap_or_default();
            return vec![format!("it ended with {last}, and said {told}")];
        }
        let mut check = |holds: bool, fault: &str| {
            if !holds {
                faults.push(fault.to_owned());
            }
        };
        check(waves::tree(&self.bench, run) == wanted.tree, "another tree");
        check(waves::contexts(log) == wanted.contexts, "other contexts");
        let branch = format!("main..sequester/{run}");
        let subjects = waves::git(
            &self.bench,
            &["log", "--format=%s", "--reverse", "--first-parent", &branch],
        );
        check(subjects.lines().eq(waves::titles(self.tasks)), "other commits");
        let count = |name: &str, key: fn(&Value) -> String| {
            let all: Vec<String> =
                log.iter().filter(|event| event["event"] == name).map(key).collect();
            (all.len(), all.into_iter().collect::<BTreeSet<_>>().len())
        };
        let task = |event: &Value| event["task"].to_string();
        let attempt = |event: &Value| format!("{} {}", event["task"], event["attempt"]);
        let commits = count("task_committed", task);
        check(commits == (self.tasks, self.tasks), "a task that was not committed exactly once");
        let all = wanted.contexts.len();
        check(count("attempt_started", attempt) == (all, all), "an attempt that began twice");
        check(count("attempt_ended", attempt) == (all, all), "an attempt that ended twice");
        tally.attempts += all;
        tally.commits += commits.0;
        faults
    }

    /// Nothing whose reply was durable is asked again; what was in flight may be, once for each kill that cut it. A reply that was
    /// handed over in full can be lost between that and its append: of each attempt that waits for one, by each kill.
    fn payments(&self, tally: &mut Tally) -> Vec<String> {
        let mut faults = Vec::new();
        let mut times: BTreeMap<Place, usize> = BTreeMap::new();
        let mut bodies: BTreeMap<Place, Vec<u8>> = BTreeMap::new();
        for (at, request) in waves::asked(&self.server).iter().enumerate() {
            tally.requests += 1;
            let place = Place::of(request);
            let before = self.kills.iter().filter(|kill| kill.requests <= at);
            if before.into_iter().any(|kill| kill.replied.contains(&place)) {
                tally.paid_again += 1;
                faults.push(format!("request {at} was answered before, and that was kept"));
            }
            *times.entry(place.clone()).or_default() += 1;
            let body = bodies.entry(place).or_insert_with(|| request.body.to_vec());
            if *body != request.body {
                faults.push(format!("request {at} was asked in other words before"));
            }
        }
        let replied = self.kills.iter().flat_map(|kill| &kill.replied);
        if replied.into_iter().any(|place| !times.contains_key(place)) {
            faults.push("a reply to something that was never asked".to_owned());
        }
        for (place, times) in times {
            let cut = self.kills.iter().filter(|kill| kill.in_flight.contains(&place)).count();
            tally.asked_again += times - 1;
            if times > 1 + cut {
                faults.push(format!("{place:?} was asked {times} times, and cut {cut} times"));
            }
        }
        for kill in &self.kills {
            let mut late = kill.lost.iter().filter(|place| !kill.in_flight.contains(place));
            if let Some(place) = late.next() {
                faults.push(format!("{place:?} was answered, and its attempt waited for nothing"));
            }
        }
        for (place, times) in waves::delivered(&self.server) {
            let lost = self.kills.iter().filter(|kill| kill.lost.contains(&place)).count();
            if times > 1 + lost {
                faults.push(format!("{place:?} was answered {times} times, and lost {lost} times"));
            }
        }
        faults.extend(self.server.rejected());
        faults
    }

    /// For who looks into it.
    fn keep(&self, run: usize) {
        let folder =
            std::env::temp_dir().join(format!("sequester-crash-{}-{run}", std::process::id()));
        let from = self.bench.path("");
        let copied = Command::new("cp").arg("-a").arg(&from).arg(&folder).status();
        println!("run {run} is kept in {}: {copied:?}", folder.display());
    }
}

/// An attempt as a log has it.
#[derive(Default)]
struct Attempt {
    system: String,
    prompt: String,
    replies: usize,
    is_asking: bool,
    is_calling: bool,
}

impl Attempt {
    fn place(&self, replies: usize) -> Place {
        Place { system: self.system.clone(), prompt: self.prompt.clone(), replies }
    }
}

fn attempts(log: &[Value]) -> Vec<Attempt> {
    let mut found: BTreeMap<String, Attempt> = BTreeMap::new();
    for event in log {
        let key = format!("{} {}", event["task"], event["attempt"]);
        let attempt = found.entry(key).or_default();
        match event["event"].as_str().unwrap() {
            "attempt_started" => {
                let digest = |name: &str| event["context"][name].as_str().unwrap().to_owned();
                (attempt.system, attempt.prompt) = (digest("system"), digest("prompt"));
            }
            "turn_started" => (attempt.is_asking, attempt.is_calling) = (true, false),
            "turn_ended" => {
                attempt.is_asking = false;
                attempt.replies += 1;
            }
            "turn_failed" => attempt.is_asking = false,
            "calls_started" => attempt.is_calling = true,
            "calls_ended" | "attempt_ended" => attempt.is_calling = false,
            _ => {}
        }
    }
    found.into_values().filter(|attempt| !attempt.prompt.is_empty()).collect()
}

impl Tally {
    fn print(&self, tasks: usize) {
        let row = |name: &str, value: usize| println!("| {name} | {value} |");
        println!("\n| of {tasks} tasks, {JOBS} at once | |\n|---|---|");
        row("kills that hit a living controller", self.kills);
        row("... before there was a run", self.early);
        let tenths = self.tenths.map(|kills| kills.to_string()).join(", ");
        println!("| ... by the tenths of the run's events that were durable | {tenths} |");
        row("runs, each killed several times and taken up to its end", self.runs);
        row("attempts, each begun once and ended once", self.attempts);
        row("commits, one for each task", self.commits);
        row("requests for a reply", self.requests);
        row("turns in flight at a kill", self.in_flight);
        row("turns asked for again", self.asked_again);
        row("replies handed over in full and lost before their append", self.lost);
        row("turns whose reply was durable and that were paid again", self.paid_again);
        row("attempts whose calls were cut off", self.calls_cut);
        row("faults", self.faults.len());
        for fault in &self.faults {
            println!("{fault}");
        }
    }
}

/// What is drawn can be drawn again.
struct Dice(u64);

impl Dice {
    /// SplitMix64.
    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn within(&mut self, length: Duration) -> Duration {
        let micros = u64::try_from(length.as_micros()).unwrap().max(1);
        Duration::from_micros(self.draw() % micros)
    }
}
