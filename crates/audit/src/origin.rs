//! Where each fragment comes from, looked up again.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::breach::Doubt;
use super::frame::{headed_type, is_frame};
use super::plans::Plans;
use super::records::{Lefts, packed, shown};
use super::{Archive, history};
use sequester_core::change::Change;
use sequester_core::companion::{Companion, Section};
use sequester_core::context::{
    FormKind, Kind, Provenance, Row, Rule, Share, artifact_heading, note_block, render_whole,
    spec_block, task_head, work_block,
};
use sequester_core::digest::Digest;
use sequester_core::evidence::{self, Evidence};
use sequester_core::notes::Notes;
use sequester_core::path::RepoPath;
use sequester_core::plan::Task;
use sequester_core::record::{self, Record};
use sequester_core::report::{self, Label};
use sequester_core::repository::{Snapshot, find};
use sequester_core::run::{Fact, Found, RunState, Running, Sources, TaskRun};
use sequester_core::secret::{self, is_less_of, redact};

pub(super) enum Verdict {
    Proved,
    Doubtful(Doubt),
    Wrong(String),
}

/// All that the context of one attempt may be made from.
pub(super) struct Origins<'a> {
    archive: &'a dyn Archive,
    lefts: &'a Lefts,
    run: &'a RunState,
    task: &'a TaskRun,
    running: &'a Running,
    plans: &'a Plans,
    planned: &'a Task,
    own: Vec<(Kind, String)>,
    snapshot: OnceCell<Option<Arc<dyn Snapshot>>>,
}

impl<'a> Origins<'a> {
    pub(super) fn new(
        (archive, lefts): (&'a dyn Archive, &'a Lefts),
        (run, task, running): (&'a RunState, &'a TaskRun, &'a Running),
        plans: &'a Plans,
        planned: &'a Task,
        own: Vec<(Kind, String)>,
    ) -> Self {
        let snapshot = OnceCell::new();
        Self { archive, lefts, run, task, running, plans, planned, own, snapshot }
    }

    pub(super) fn judge(&self, row: &Row, bytes: &str) -> Verdict {
        let share = self.run.started.settings.share;
        let delegated = self.running.started.parent.is_some();
        if !may_admit(row.rule, row.kind, share, delegated) {
            let (kind, rule) = (row.kind.as_str(), row.rule);
            return Verdict::Wrong(format!("No rule admits a {kind} fragment as \"{rule}\"."));
        }
        match row.kind {
            Kind::Frame => of_source(row, is_frame(bytes)),
            Kind::Task if delegated => of_source(row, self.is_asked_for(bytes)),
            Kind::Feature | Kind::Constraint | Kind::Task | Kind::Interface | Kind::Parent => {
                let own = self.own.iter().filter(|(kind, _)| *kind == row.kind);
                of_source(row, own.into_iter().any(|(_, text)| is_shown(text, bytes)))
            }
            Kind::Clarification => of_source(row, self.is_answer(row, bytes)),
            Kind::Work => of_source(row, self.is_work(row, bytes)),
            Kind::File => self.file(row, bytes),
            Kind::Note => of_source(row, self.is_note(row, bytes)),
            Kind::Record => self.record(row, bytes),
            Kind::Spec => self.companion(row, bytes),
            Kind::Agent | Kind::Architecture => {
                Verdict::Wrong(format!("`{}` stands in the task's own part.", row.source))
            }
        }
    }

    /// Word for word what another subagent of the task said when it delegated this.
    fn is_asked_for(&self, bytes: &str) -> bool {
        let asked = history::delegation(self.archive, self.task, self.running);
        asked.is_some_and(|asked| {
            let head = task_head(&self.task.spec.id, self.running.phase, &asked.title());
            [head.as_str(), asked.prompt.as_str()].iter().any(|text| is_shown(text, bytes))
        })
    }

    /// A section of a document that lay beside the plan, and no list of tasks.
    fn companion(&self, row: &Row, bytes: &str) -> Verdict {
        let Some(sources) = &self.running.started.sources else {
            return Verdict::Doubtful(Doubt::Companion);
        };
        let is_it = |section: &Section| {
            redact(&section.provenance().source()).text == row.source
                && is_shown(&spec_block(section), bytes)
        };
        of_source(row, sections(self.archive, sources).iter().any(is_it))
    }

    fn is_answer(&self, row: &Row, bytes: &str) -> bool {
        let given = self.task.clarifications.iter();
        let mut given = given.filter(|one| row.source == format!("answer {}", one.id));
        given.any(|one| is_shown(&format!("- {}\n  {}\n", one.question, one.answer), bytes))
    }

    /// Left by this very task: a report, what spoke against it, the change that it starts from.
    fn is_work(&self, row: &Row, bytes: &str) -> bool {
        let Some(title) = row.source.strip_prefix("this task: ") else { return false };
        let is = |text: &str| is_shown(&work_block(title, text), bytes);
        let left = self.task.facts.iter().filter_map(|fact| match fact {
            Fact::Tried(tried) => {
                let report = serde_json::from_slice(&self.blob(tried.report.as_ref()?)?).ok()?;
                Some(vec![report::excerpt(&report), report::objection(&report)])
            }
            Fact::Verified { evidence, failing, .. } => {
                let failing = failing.as_ref().and_then(|failing| self.blob(failing));
                let failing = failing.map(|text| String::from_utf8_lossy(&text).into_owned());
                let results = evidence.as_ref().and_then(|evidence| self.check_results(evidence));
                Some(failing.into_iter().chain(results).collect())
            }
            _ => None,
        });
        let started = &self.running.started;
        let change = || {
            let from = started.from.as_ref()?;
            self.archive.between(&started.base, from)
        };
        let is_named = |path: &str| self.task.spec.files.iter().any(|file| file.path == path);
        let is_change = |change: Change| is(&change.show()) || is(&change.show_beside(is_named));
        left.flatten().any(|text| is(&text)) || change().is_some_and(is_change)
    }

    /// As an attempt that judges a change is told of them.
    fn check_results(&self, evidence: &Digest) -> Option<String> {
        let evidence: Evidence = serde_json::from_slice(&self.blob(evidence)?).ok()?;
        let outputs = evidence.checks.iter().filter_map(|check| check.output.clone());
        let outputs = outputs.filter_map(|output| {
            let text = String::from_utf8_lossy(&self.blob(&output)?).into_owned();
            Some((output, text))
        });
        Some(evidence::check_results(&evidence, &outputs.collect()))
    }

    fn blob(&self, digest: &Digest) -> Option<Vec<u8>> {
        self.archive.blob(digest).filter(|bytes| Digest::of(bytes) == *digest)
    }

    fn snapshot(&self) -> Option<&dyn Snapshot> {
        let started = &self.running.started;
        let tree = started.from.as_ref().unwrap_or(&started.base);
        self.snapshot.get_or_init(|| self.archive.tree(tree)).as_deref()
    }

    fn file(&self, row: &Row, bytes: &str) -> Verdict {
        let path = row.source.as_str();
        let wrong = |why: &str| Verdict::Wrong(format!("The file `{path}` {why}."));
        let Ok(parsed) = RepoPath::parse(path) else { return wrong("has no name of a file") };
        let planned = self.planned;
        let named = planned.files.iter().any(|file| file.path == parsed)
            || planned.hints.iter().any(|hint| hint.fits(&parsed));
        if row.rule == Rule::NamedFile && !named {
            return wrong("is not named for this task");
        }
        let granted = self.task.granted.get(path).and_then(Option::as_ref);
        if row.rule == Rule::GrantedFile && granted.is_none() {
            return wrong("was not granted to this task");
        }
        let heading = format!("### `{path}`");
        let told = bytes.split_once("\n\n").filter(|(head, _)| is_less_of(head, &heading));
        let told = told.and_then(|(_, rest)| rest.strip_suffix("\n\n"));
        if matches!(row.form, FormKind::Path | FormKind::NotThereYet) {
            let says = ["Too large to show here (", "Not shown: ", "Not there yet."];
            let known = told.is_some_and(|told| {
                !told.contains('\n') && says.iter().any(|say| told.starts_with(say))
            });
            return if known {
                Verdict::Proved
            } else {
                wrong("is said to be only named, and is not")
            };
        }
        if self.plans.is_plan(path)
            || path.starts_with(".sequester/")
            || secret::is_secret_name(path).is_some()
        {
            return wrong("is never shown to a subagent");
        }
        let content = if row.rule == Rule::GrantedFile {
            let Some(Found::Blob(blob)) = granted else { return wrong("could not be read then") };
            self.blob(blob)
        } else {
            let Some(snapshot) = self.snapshot() else { return Verdict::Doubtful(Doubt::Tree) };
            find(snapshot, path).and_then(|_| snapshot.read(&parsed, LARGEST).ok())
        };
        let Some(content) = content else {
            return wrong("is not in the tree that the attempt began with");
        };
        if Digest::of(&content).as_str() != row.source_hash {
            return wrong("has other content in the tree that the attempt began with");
        }
        let content = String::from_utf8_lossy(&content);
        match row.form {
            FormKind::Whole
                if is_less_of(bytes, &render_whole(&parsed, &redact(&content).text)) =>
            {
                Verdict::Proved
            }
            FormKind::Whole => wrong("was not shown as it is"),
            _ if is_excerpt(bytes, &redact(&content).text) => Verdict::Doubtful(Doubt::Excerpt),
            _ => wrong("was shown with lines that it does not have"),
        }
    }

    /// Word for word what a task that it may see left, of a kind that passes.
    fn record(&self, row: &Row, bytes: &str) -> Verdict {
        let named = record::named(&row.source);
        let owner =
            named.and_then(|(_, task)| self.visible().find(|one| one.spec.id.as_str() == task));
        let Some((owner, (id, _))) = owner.zip(named) else {
            return Verdict::Wrong(format!(
                "The {} is of a task that this one does not need.",
                row.source
            ));
        };
        let left = self.lefts.of(self.archive, &owner);
        let switches = self.run.started.settings.records;
        let is_it = |one: &Record| {
            redact(&one.id).text == id
                && switches.has(one.kind)
                && (is_less_of(bytes, &shown(one))
                    || packed(one).is_some_and(|line| is_less_of(bytes, &line)))
        };
        of_source(row, left.iter().any(is_it))
    }

    /// Artifacts stand under the heading of their type, and nothing else does. Contexts of earlier versions have no such headings.
    pub(super) fn groups(&self, rows: &[(&Row, &str)]) -> Vec<Verdict> {
        let mut wrong = Vec::new();
        // The type of the last heading, and whether an artifact stands below it.
        let mut group: Option<(Label, bool)> = None;
        for (row, bytes) in rows {
            match (row.kind, &mut group) {
                (Kind::Frame, _) => {
                    let is_empty = group.is_some_and(|(_, has_one)| !has_one);
                    let next = headed_type(bytes);
                    let is_late = group.zip(next).is_some_and(|((last, _), next)| next <= last);
                    if is_empty || is_late {
                        wrong.push("A heading of artifacts stands where none is to be.".to_owned());
                    }
                    group = next.map(|label| (label, false));
                }
                (Kind::Record, Some((label, has_one))) => {
                    *has_one = true;
                    if self.artifact_type(row) != Some(*label) {
                        let heading = artifact_heading(*label).trim_end();
                        wrong.push(format!("The {} stands under `{heading}`.", row.source));
                    }
                }
                _ => {}
            }
        }
        wrong.into_iter().map(Verdict::Wrong).collect()
    }

    fn artifact_type(&self, row: &Row) -> Option<Label> {
        let (id, task) = record::named(&row.source)?;
        let owner = self.visible().find(|one| one.spec.id.as_str() == task)?;
        let left = self.lefts.of(self.archive, &owner);
        left.iter().find(|one| redact(&one.id).text == id)?.artifact_type()
    }

    /// A section that a person wrote or pinned, as the notes stood when the run began.
    fn is_note(&self, row: &Row, bytes: &str) -> bool {
        let notes = self.run.started.notes.as_ref().and_then(|digest| self.blob(digest));
        let notes = Notes::parse(&String::from_utf8_lossy(&notes.unwrap_or_default()));
        notes.standing().iter().any(|note| {
            let source = Provenance::Note { section: note.section.clone() }.source();
            redact(&source).text == row.source && is_shown(&note_block(note), bytes)
        })
    }

    fn visible(&self) -> impl Iterator<Item = Cow<'_, TaskRun>> {
        history::visible(self.run, &self.task.spec.id)
    }
}

/// What of the documents beside the plan may be shown, as they were recorded.
pub(super) fn sections(archive: &dyn Archive, sources: &Sources) -> Vec<Section> {
    let read = |(path, digest): (&String, &Digest)| {
        let bytes = archive.blob(digest).filter(|bytes| Digest::of(bytes) == *digest)?;
        Some(Companion::parse(path, None, &String::from_utf8_lossy(&bytes)).sections)
    };
    sources.companions.iter().filter_map(read).flatten().collect()
}

/// Whether a fragment is a text without its secrets, and without those that other fragments tell of.
fn is_shown(text: &str, bytes: &str) -> bool {
    is_less_of(bytes, &redact(text).text)
}

/// Whether it is what its source says.
fn of_source(row: &Row, known: bool) -> Verdict {
    if known {
        return Verdict::Proved;
    }
    let (kind, source) = (row.kind.as_str(), &row.source);
    Verdict::Wrong(format!("The {kind} fragment of `{source}` is not what its source says."))
}

/// More than is ever shown.
const LARGEST: u64 = 64 << 20;

/// Whether every line with a body is one of the file; an outline's lines name theirs.
fn is_excerpt(bytes: &str, content: &str) -> bool {
    let known: BTreeSet<&str> = content.lines().collect();
    let mut inside = false;
    bytes.lines().all(|line| {
        let mark = line == "---" || line.starts_with("--- lines ");
        if mark {
            inside = line != "---";
        }
        mark || !inside || known.contains(line) || known.iter().any(|known| is_less_of(line, known))
    })
}

fn may_admit(rule: Rule, kind: Kind, share: Share, delegated: bool) -> bool {
    match kind {
        Kind::Frame => rule == Rule::BuiltIn,
        Kind::Agent | Kind::Architecture => rule == Rule::SharedByAll,
        Kind::Feature => rule == Rule::PlanHeader,
        Kind::Constraint => matches!(rule, Rule::PlanHeader | Rule::OwnTask),
        // What is delegated says so, and has nothing of the plan's own text.
        Kind::Task if delegated => rule == Rule::Delegated,
        Kind::Task | Kind::Interface => rule == Rule::OwnTask,
        Kind::Parent => rule == Rule::ParentItem,
        Kind::Spec => rule == Rule::Companion,
        Kind::Clarification => rule == Rule::OwnAnswer,
        Kind::Work => rule == Rule::OwnWork,
        Kind::File => matches!(rule, Rule::NamedFile | Rule::RankedFile | Rule::GrantedFile),
        Kind::Note => rule == Rule::PersonsNote,
        Kind::Record => match share {
            Share::None => false,
            Share::Needs => rule == Rule::Need,
            Share::AllEarlier => rule == Rule::EarlierWave,
        },
    }
}
