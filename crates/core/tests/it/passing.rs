//! What passes from task to task: only along the edges, and the same whatever the order in which tasks end.

mod few;
mod room;
mod seed_examples;
mod times;
mod usage;

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use sequester_core::agent;
use sequester_core::budget::{Budget, Spent};
use sequester_core::change::{Action, Change, Entry as File, Mode, Refusals};
use sequester_core::context::Share;
use sequester_core::digest::Digest;
use sequester_core::id::{TaskId, TreeId};
use sequester_core::moment::Moment;
use sequester_core::plan;
use sequester_core::provider::Powers;
use sequester_core::recall::{Query, Relevance};
use sequester_core::record::{Catalogue, Handed, Kind, Record, Seeker, left};
use sequester_core::report::{Phase, Report};
use sequester_core::run::{
    AttemptEnded, AttemptStarted, Ended, Entry, Event, Purpose, Recorded, RunState, Said, Scope,
    Shown, Started, TaskEnded,
};
use sequester_core::store::Batch;
use sequester_testkit::{PlanText, TaskText, started};
use serde_json::json;

use crate::desk::options;

/// A run that is told event by event, with the bytes that the events name.
struct Told {
    events: Vec<Recorded>,
    blobs: BTreeMap<Digest, Vec<u8>>,
    /// Of what the next attempts are shown.
    manifest: serde_json::Value,
    /// Of what they leave beside their reports.
    kept: agent::Kept,
}

/// What one attempt says and does.
struct Deed<'a> {
    step: &'a str,
    phase: Phase,
    from: Option<&'a str>,
    tree: Option<&'a str>,
    touches: &'a [&'a str],
    report: serde_json::Value,
}

fn written(task: &str, summary: &str) -> serde_json::Value {
    json!({
        "task_id": task, "phase": "write", "status": "complete", "decision": "PROCEED",
        "findings": {"files_changed": ["claimed.rs"], "tests_written": ["it_works"]},
        "context_summary": summary,
        "self_review": [{"item": "All of it", "ok": true}],
    })
}

impl Told {
    fn new(started: Started) -> Self {
        let manifest = json!({"fragments": [], "withheld": []});
        let (events, blobs, kept) = (Vec::new(), BTreeMap::new(), agent::Kept::default());
        let mut told = Self { events, blobs, manifest, kept };
        told.tell(Scope::default(), Event::RunStarted(Box::new(started)));
        told
    }

    fn tell(&mut self, scope: Scope, event: Event) {
        let seq = self.events.len() as u64 + 1;
        let entry = Entry { scope, event };
        self.events.push(Recorded { seq, at: Moment(seq), run: "r1".into(), entry });
    }

    fn about(&mut self, task: &str, event: Event) {
        self.tell(Scope { task: Some(task.into()), ..Scope::default() }, event);
    }

    fn keep(&mut self, bytes: Vec<u8>) -> Digest {
        let digest = Digest::of(&bytes);
        self.blobs.insert(digest.clone(), bytes);
        digest
    }

    fn state(&self) -> RunState {
        RunState::replay(&self.events).unwrap()
    }

    fn left(&self, task: &str) -> Vec<Record> {
        let read = |digest: &Digest| self.blobs.get(digest).cloned();
        left(self.state().task(&task.into()).unwrap(), &read)
    }

    fn attempt(&mut self, task: &str, number: u32, deed: &Deed<'_>) {
        let scope = self.begin(task, number, deed);
        let report: Report = serde_json::from_value(deed.report.clone()).unwrap();
        let entries = deed.touches.iter().map(|path| file(path)).collect();
        let mut batch = Batch::default();
        let change = Change { entries, ..Change::default() }.pack(&mut batch);
        for blob in batch.blobs {
            self.keep(blob.to_vec());
        }
        let ended = AttemptEnded {
            outcome: agent::Outcome::Done,
            said: Some(Said::of(&report)),
            report: Some(self.keep(serde_json::to_vec(&report).unwrap())),
            claimed: Vec::new(),
            change: deed.tree.map(|_| change),
            tree: deed.tree.map(TreeId::from),
            trouble: None,
            refused: Refusals::default(),
            kept: self.keep(serde_json::to_vec(&self.kept).unwrap()),
            spent: Spent::default(),
        };
        self.tell(scope, Event::AttemptEnded(Box::new(ended)));
    }

    fn begin(&mut self, task: &str, number: u32, deed: &Deed<'_>) -> Scope {
        let (phase, attempt) = (Some(deed.phase), Some(number));
        let scope = Scope { task: Some(task.into()), phase, attempt };
        let none = self.keep(b"{}".to_vec());
        let begun = AttemptStarted {
            step: deed.step.to_owned(),
            place: 0,
            agent: "writer".to_owned(),
            profile: "writer".to_owned(),
            model: "m".to_owned(),
            powers: Powers::default(),
            rung: 0,
            purpose: Purpose::First,
            base: "start".into(),
            from: deed.from.map(TreeId::from),
            findings: Vec::new(),
            handoff: None,
            context: Shown {
                digest: none.clone(),
                system: none.clone(),
                prompt: none.clone(),
                text: 0..0,
                manifest: self.keep(self.manifest.to_string().into_bytes()),
                tokens: 0,
            },
            tools: vec![],
            specs: none,
            budget: Budget::default(),
            parent: None,
            inherited: None,
            sources: None,
        };
        self.tell(scope.clone(), Event::AttemptStarted(Box::new(begun)));
        scope
    }

    fn end(&mut self, task: &str, state: Ended, tree: &str) {
        let ended = TaskEnded { tree: Some(tree.into()), ..TaskEnded::new(state, None) };
        self.about(task, Event::TaskEnded(Box::new(ended)));
    }

    /// Written at the first try.
    fn done(&mut self, task: &str, summary: &str) {
        let (tree, path) = (format!("tree of {task}"), format!("src/{task}.rs"));
        let deed = Deed {
            step: "write",
            phase: Phase::Write,
            from: None,
            tree: Some(&tree),
            touches: &[&path],
            report: written(task, summary),
        };
        self.attempt(task, 1, &deed);
        self.end(task, Ended::Done, &tree);
    }

    /// What the attempt of a task that is under way may recall, by who knows what `catalogue` does.
    fn recalled(&self, catalogue: &mut Catalogue, task: &str) -> Vec<(String, Option<f64>)> {
        let run = self.state();
        let seeker = Seeker::begun(&run, &task.into()).unwrap();
        let read = |digest: &Digest| self.blobs.get(digest).cloned().ok_or(());
        catalogue.fill(&catalogue.missing(&run, &seeker), read).unwrap();
        let chosen = catalogue.recall(&seeker, "who counts parcels?").into_iter();
        chosen.map(|one| (one.record.text.clone(), one.score)).collect()
    }

    /// What a task is handed, as a process would that knows nothing yet.
    fn handed(&self, task: &str, text: &str) -> Handed {
        let run = self.state();
        let mut catalogue = Catalogue::default();
        let seeker = Seeker::of(&run, &task.into()).unwrap();
        let read = |digest: &Digest| self.blobs.get(digest).cloned().ok_or(());
        catalogue.fill(&catalogue.missing(&run, &seeker), read).unwrap();
        catalogue.hand(&seeker, &Query { text, paths: &[] })
    }
}

fn file(path: &str) -> File {
    File {
        path: path.to_owned(),
        action: Action::Create,
        was: None,
        mode: Some(Mode::File),
        added: Some(1),
        removed: None,
        in_patch: true,
        size: 1,
        content: b"x".to_vec(),
    }
}

/// A plan by which earlier tasks each needs.
fn begun(needs: &[Vec<usize>], share: Share, relevance: Relevance) -> Started {
    let task = |(at, needs): (usize, &Vec<usize>)| TaskText {
        id: format!("t{at}"),
        title: format!("Build part {at}"),
        text: format!("Write the part number {at}, which counts parcels."),
        needs: needs.iter().map(|need| format!("t{need}")).collect(),
        ..TaskText::default()
    };
    planned(needs.iter().enumerate().map(task).collect(), share, relevance)
}

fn plan_of(tasks: Vec<TaskText>) -> PlanText {
    let (title, constraints) = ("Parts".to_owned(), Vec::new());
    PlanText { title, constraints, prose: String::new(), tasks }
}

fn planned(tasks: Vec<TaskText>, share: Share, relevance: Relevance) -> Started {
    let text = plan_of(tasks).write();
    let parsed = plan::parse(text.as_bytes(), &options());
    assert_eq!(parsed.faults, []);
    let plan = (&parsed.plan, Digest::of(text.as_bytes()));
    let mut started = started(plan, "start".into(), "solo", agent::built_in(), &["m".to_owned()]);
    (started.settings.share, started.settings.relevance) = (share, relevance);
    started
}

fn plans() -> impl Strategy<Value = Vec<Vec<usize>>> {
    prop::collection::vec(prop::collection::vec(0_usize..9, 0..3), 2..9).prop_map(|all| {
        let earlier = |(at, needs): (usize, Vec<usize>)| -> Vec<usize> {
            let needs: BTreeSet<usize> = needs.into_iter().filter(|need| *need < at).collect();
            needs.into_iter().collect()
        };
        all.into_iter().enumerate().map(earlier).collect()
    })
}

/// All that a task needs, near and far.
fn ancestors(needs: &[Vec<usize>], at: usize) -> BTreeSet<usize> {
    let below = needs[at].iter().flat_map(|need| ancestors(needs, *need));
    below.chain(needs[at].iter().copied()).collect()
}

fn wave(needs: &[Vec<usize>], at: usize) -> usize {
    needs[at].iter().map(|need| wave(needs, *need) + 1).max().unwrap_or(0)
}

/// Tasks end in some order that their needs allow, each handed what it may see when it begins: right before its end, or as soon
/// as it can.
fn play(
    needs: &[Vec<usize>],
    luck: &[usize],
    share: Share,
    by: Relevance,
) -> BTreeMap<usize, Handed> {
    let mut told = Told::new(begun(needs, share, by));
    let mut handed = BTreeMap::new();
    let mut ended = BTreeSet::new();
    let last = |at: usize, share: Share| match share {
        Share::AllEarlier => {
            (0..needs.len()).filter(|one| wave(needs, *one) < wave(needs, at)).collect()
        }
        _ => needs[at].clone(),
    };
    for turn in 0..needs.len() {
        let is_open = |at: &usize| {
            !ended.contains(at) && last(*at, share).iter().all(|one| ended.contains(one))
        };
        let open: Vec<usize> = (0..needs.len()).filter(is_open).collect();
        for at in &open {
            let text =
                format!("Build part {at}\n\nWrite the part number {at}, which counts parcels.");
            let now = told.handed(&format!("t{at}"), &text);
            // What was there when it could begin is there whenever it does.
            assert_eq!(*handed.entry(*at).or_insert_with(|| now.clone()), now, "task {at}");
        }
        let at = open[luck[turn % luck.len()] % open.len()];
        told.done(&format!("t{at}"), &format!("The part {at} counts parcels; mark-{at}."));
        ended.insert(at);
    }
    handed
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_record_crosses_an_edge_that_is_not_there_in_whatever_order_tasks_end(
        needs in plans(), one in prop::collection::vec(0_usize..9, 4), other in prop::collection::vec(0_usize..9, 4),
    ) {
        for by in Relevance::ALL {
            for share in [Share::Needs, Share::None, Share::AllEarlier] {
                let handed = play(&needs, &one, share, by);
                prop_assert_eq!(&handed, &play(&needs, &other, share, by));
                for (at, handed) in &handed {
                    let may = match share {
                        Share::None => BTreeSet::new(),
                        Share::Needs => ancestors(&needs, *at),
                        Share::AllEarlier => (0..needs.len()).filter(|one| wave(&needs, *one) < wave(&needs, *at)).collect(),
                    };
                    let may: BTreeSet<TaskId> = may.iter().map(|at| TaskId::new(format!("t{at}"))).collect();
                    for chosen in &handed.chosen {
                        prop_assert!(may.contains(&chosen.record.task), "{} of {at}", chosen.record.id);
                    }
                    let passed_over: usize = handed.passed_over.iter().map(|(_, count)| count).sum();
                    prop_assert!(handed.chosen.len() + passed_over == may.len(), "each left one summary");
                    if share == Share::None || by == Relevance::Seed {
                        continue;
                    }
                    for need in &needs[*at] {
                        let is_given = handed.chosen.iter().any(|one| one.record.task == format!("t{need}").as_str().into());
                        prop_assert!(is_given, "what it needs itself is given in any case");
                    }
                }
            }
        }
    }
}

#[test]
fn a_summary_is_structured_bounded_and_names_what_the_change_touched_and_not_what_was_claimed() {
    let mut told = Told::new(begun(&[vec![]], Share::Needs, Relevance::Words));
    let mut report = written("t0", "Parcels are counted.");
    report["artifacts"] = json!([
        {"type": "FINDING", "content": "Counters overflow."},
        {"type": "DECISION", "content": "They are\n64 bits wide."},
        {"type": "RESOURCE", "content": "See `count`."},
        {"type": "TODO", "content": "Nobody does that."},
    ]);
    let deed = Deed {
        step: "write",
        phase: Phase::Write,
        from: None,
        tree: Some("one"),
        touches: &["src/b.rs", "src/a.rs"],
        report,
    };
    told.attempt("t0", 1, &deed);
    told.end("t0", Ended::Done, "one");
    let [summary] = &told.left("t0")[..] else { panic!("{:?}", told.left("t0")) };
    let text = "Parcels are counted.\n\nFindings:\n- Counters overflow.\n\nDecisions:\n- They are 64 bits wide.\n\n\
        Resources:\n- test: it_works\n- See `count`.";
    let wanted = Record {
        id: "t0/summary".into(),
        task: "t0".into(),
        kind: Kind::Summary,
        title: "Build part 0".to_owned(),
        text: text.to_owned(),
        paths: vec!["src/a.rs".to_owned(), "src/b.rs".to_owned()],
        refs: Vec::new(),
        label: String::new(),
    };
    assert_eq!(*summary, wanted);

    let mut told = Told::new(begun(&[vec![]], Share::Needs, Relevance::Words));
    let mut report = written("t0", "Parcels are counted.");
    let many: Vec<_> = (0..400)
        .map(|at| json!({"type": "FINDING", "content": format!("Finding {at}.")}))
        .collect();
    report["artifacts"] = json!(many);
    told.attempt("t0", 1, &Deed { report, ..deed });
    told.end("t0", Ended::Done, "one");
    let text = &told.left("t0")[0].text;
    assert!(sequester_core::tokens::count(text) <= 500, "{text}");
    assert!(text.ends_with("(Cut: there was no room for more.)"), "{text}");
}

#[test]
fn only_attempts_that_count_leave_anything() {
    let write = |summary: &str, from, tree, touches| Deed {
        step: "write",
        phase: Phase::Write,
        from,
        tree: Some(tree),
        touches,
        report: written("t0", summary),
    };
    let mut told = Told::new(begun(&[vec![]], Share::Needs, Relevance::Words));
    assert_eq!(told.left("t0"), []);
    told.attempt("t0", 1, &write("The first try.", None, "one", &["src/a.rs"]));
    assert_eq!(told.left("t0"), [], "it is not done");
    // It was mended on top of the first, so what that touched counts.
    told.attempt("t0", 2, &write("It was mended.", Some("one"), "two", &["src/b.rs"]));
    told.end("t0", Ended::Done, "two");
    let text = |told: &Told| -> Vec<(String, Vec<String>)> {
        told.left("t0").into_iter().map(|one| (one.text, one.paths)).collect()
    };
    let [(summary, paths)] = &text(&told)[..] else { panic!("{:?}", text(&told)) };
    assert!(summary.starts_with("It was mended."), "{summary}");
    assert_eq!(*paths, ["src/a.rs", "src/b.rs"]);
    // A person wants it again: nothing of before counts, from the clean base.
    told.tell(Scope::default(), Event::RunResumed { retry: vec!["t0".into()], budget: None });
    assert_eq!(told.left("t0"), []);
    told.attempt("t0", 3, &write("Once more.", None, "three", &["src/c.rs"]));
    told.end("t0", Ended::Done, "three");
    let [(summary, paths)] = &text(&told)[..] else { panic!("{:?}", text(&told)) };
    assert!(summary.starts_with("Once more."), "{summary}");
    assert_eq!(*paths, ["src/c.rs"]);
    told.tell(Scope::default(), Event::RunResumed { retry: vec!["t0".into()], budget: None });
    told.attempt("t0", 4, &write("Never done.", None, "four", &["src/d.rs"]));
    told.end("t0", Ended::Failed, "four");
    assert_eq!(told.left("t0"), [], "what failed leaves nothing");
}

#[test]
fn what_is_begun_anew_is_handed_to_nobody_by_who_knew_it_before() {
    let mut told =
        Told::new(begun(&[vec![], vec![], vec![0]], Share::AllEarlier, Relevance::Words));
    told.done("t0", "The part 0 counts parcels.");
    told.done("t1", "The part 1 counts parcels.");
    let mut catalogue = Catalogue::default();
    let mut hand = |told: &Told| -> Vec<String> {
        let run = told.state();
        let seeker = Seeker::of(&run, &"t2".into()).unwrap();
        let read = |digest: &Digest| told.blobs.get(digest).cloned().ok_or(());
        let missing = catalogue.missing(&run, &seeker);
        catalogue.fill(&missing, read).unwrap();
        catalogue.all(&seeker).iter().map(|one| one.record.text.clone()).collect()
    };
    assert_eq!(hand(&told).len(), 2);
    told.tell(Scope::default(), Event::RunResumed { retry: vec!["t1".into()], budget: None });
    assert_eq!(hand(&told).len(), 1, "it is not done");
    let deed = Deed {
        step: "write",
        phase: Phase::Write,
        from: None,
        tree: Some("again"),
        touches: &["src/other.rs"],
        report: written("t1", "Parcels are counted in another way."),
    };
    told.attempt("t1", 2, &deed);
    told.end("t1", Ended::Done, "again");
    let again = hand(&told);
    assert!(again.len() == 2 && again.iter().any(|text| text.contains("another way")), "{again:?}");
}

#[test]
fn what_an_attempt_may_recall_is_what_was_there_when_it_began() {
    for share in [Share::Needs, Share::AllEarlier] {
        let mut told = Told::new(begun(&[vec![], vec![], vec![0, 1]], share, Relevance::Words));
        told.done("t0", "The part 0 counts parcels.");
        told.done("t1", "The part 1 counts parcels.");
        let again = Deed {
            step: "write",
            phase: Phase::Write,
            from: None,
            tree: Some("again"),
            touches: &["src/t0.rs", "src/t1.rs"],
            report: written("t1", "All parcels, parcels and parcels are counted in another way."),
        };
        told.begin("t2", 1, &again);
        let mut known = Catalogue::default();
        let first = told.recalled(&mut known, "t2");
        assert_eq!(first.len(), 2);
        let mut same = |told: &Told| {
            assert_eq!(told.recalled(&mut known, "t2"), first);
            assert_eq!(told.recalled(&mut Catalogue::default(), "t2"), first, "another process");
            // Others may look at what is there now, in between.
            let run = told.state();
            let person = Seeker::person(&run);
            let read = |digest: &Digest| told.blobs.get(digest).cloned().ok_or(());
            known.fill(&known.missing(&run, &person), read).unwrap();
            assert_eq!(told.recalled(&mut known, "t2"), first);
        };
        told.about("t1", Event::MergeConflicted { paths: vec!["src/t1.rs".to_owned()] });
        same(&told);
        told.attempt("t1", 2, &again);
        told.end("t1", Ended::Done, "again");
        same(&told);
    }
}

#[test]
fn what_the_plan_says_was_done_before_leaves_nothing() {
    let mut started = begun(&[vec![], vec![0], vec![1]], Share::Needs, Relevance::Words);
    started.tasks[0].left_out = Some("It is done already.".to_owned());
    started.tasks[1].left_out = Some("It is optional; `--optional` takes it.".to_owned());
    for at in [0, 1] {
        started.tasks[at].produces = vec![format!("`fn count_{at}(parcels: u32)`")];
    }
    started.tasks[2].consumes = vec!["`count_0`".to_owned(), "`count_1`".to_owned()];
    let mut told = Told::new(started);
    told.end("t0", Ended::Skipped, "start");
    told.end("t1", Ended::Skipped, "start");
    let handed = told.handed("t2", "Write the part number 2.");
    assert!(handed.chosen.is_empty(), "{:?}", handed.chosen);
    assert!(told.left("t0").is_empty());
}

#[test]
fn what_is_to_be_shown_holds_until_one_of_those_it_is_of_is_begun_anew() {
    let mut told =
        Told::new(begun(&[vec![], vec![], vec![0]], Share::AllEarlier, Relevance::Words));
    told.done("t0", "The part 0 counts parcels.");
    told.done("t1", "The part 1 counts parcels.");
    let (run, task) = (told.state(), "t2".into());
    let seeker = Seeker::of(&run, &task).unwrap();
    assert!(seeker.holds(&run, &task));
    told.tell(Scope::default(), Event::RunResumed { retry: vec!["t1".into()], budget: None });
    assert!(!seeker.holds(&told.state(), &task), "it is not done");
    told.end("t1", Ended::Done, "again");
    let run = told.state();
    assert!(!seeker.holds(&run, &task) && Seeker::of(&run, &task).unwrap().holds(&run, &task));
}

#[test]
fn every_prefix_of_a_log_gives_the_same_records_of_what_is_done() {
    let needs = vec![vec![], vec![0], vec![0], vec![1, 2]];
    let mut told = Told::new(begun(&needs, Share::Needs, Relevance::Words));
    for at in 0..needs.len() {
        told.done(&format!("t{at}"), &format!("The part {at} counts parcels."));
    }
    let whole: Vec<Vec<Record>> = (0..4).map(|at| told.left(&format!("t{at}"))).collect();
    let mut seen = 0;
    for length in 1..=told.events.len() {
        let (events, blobs) = (told.events[..length].to_vec(), told.blobs.clone());
        let (manifest, kept) = (told.manifest.clone(), told.kept.clone());
        let cut = Told { events, blobs, manifest, kept };
        for (at, whole) in whole.iter().enumerate() {
            let id = format!("t{at}");
            let is_done = cut.state().task(&id.as_str().into()).unwrap().is_done();
            let wanted: &[Record] = if is_done { whole } else { &[] };
            assert_eq!(cut.left(&id), wanted, "{id} after {length} events");
            seen += usize::from(is_done);
        }
    }
    assert!(seen > 10, "{seen}");
}

#[test]
fn a_chain_reads_what_each_task_left_once() {
    const LENGTH: usize = 60;
    let needs: Vec<Vec<usize>> =
        (0..LENGTH).map(|at: usize| at.checked_sub(1).into_iter().collect()).collect();
    let mut told = Told::new(begun(&needs, Share::Needs, Relevance::Words));
    let (mut catalogue, reads) = (Catalogue::default(), std::cell::Cell::new(0));
    for at in 0..LENGTH {
        let run = told.state();
        let seeker = Seeker::of(&run, &format!("t{at}").as_str().into()).unwrap();
        let missing = catalogue.missing(&run, &seeker);
        assert_eq!(missing.len(), at.min(1), "only the task before is new");
        let read = |digest: &Digest| {
            reads.set(reads.get() + 1);
            told.blobs.get(digest).cloned().ok_or(())
        };
        catalogue.fill(&missing, read).unwrap();
        let handed = catalogue.hand(&seeker, &Query { text: "parcels", paths: &[] });
        assert!(handed.chosen.len() <= 3, "{handed:?}");
        told.done(&format!("t{at}"), &format!("The part {at} counts parcels."));
    }
    assert!(reads.get() <= 4 * LENGTH, "{} reads", reads.get());
}
#[test]
fn uses_are_looked_up_anew_also_where_another_task_cannot_be_read() {
    let needs = [vec![], vec![0], vec![], vec![0, 1, 2]];
    let mut told = Told::new(begun(&needs, Share::Needs, Relevance::Words));
    told.done("t0", "The lantern is lit.");
    let nothing = told.manifest.clone();
    told.manifest = json!({"withheld": [], "fragments": [{
        "part": "prompt", "start": 0, "end": 0, "kind": "record", "source": "record t0/summary of task t0",
        "rule": "need", "tokens": 0, "form": "whole", "source_hash": "", "redacted": [], "why": "",
    }]});
    told.done("t1", "Built as t0/summary says.");
    told.manifest = nothing;
    let mut catalogue = Catalogue::default();
    let mut fill = |told: &Told, is_broken: bool| {
        let run = told.state();
        let seeker = Seeker::of(&run, &"t3".into()).unwrap();
        let read = |digest: &Digest| {
            let bytes = told.blobs.get(digest).cloned().ok_or(())?;
            if is_broken && bytes.windows(5).any(|five| five == b"Sheep") {
                Err(())
            } else {
                Ok(bytes)
            }
        };
        let filled = catalogue.fill(&catalogue.missing(&run, &seeker), read);
        let all = catalogue.all(&seeker);
        (filled, all.into_iter().map(|one| (one.record.id.to_string(), one.uses)).collect())
    };
    let wanted: Vec<(String, u32)> =
        vec![("t0/summary".to_owned(), 1), ("t1/summary".to_owned(), 0)];
    assert_eq!(fill(&told, false), (Ok(()), wanted.clone()));
    told.tell(Scope::default(), Event::RunResumed { retry: vec!["t0".into()], budget: None });
    told.done("t0", "The lantern is lit once more.");
    told.done("t2", "Sheep are counted.");
    assert_eq!(fill(&told, true), (Err(()), wanted), "what was done again is used as before");
    assert_eq!(fill(&told, false).1[2], ("t2/summary".to_owned(), 0));
}
