//! What a task left, made from what was recorded of it and nothing else.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::iter;

use super::artifact::artifacts;
use super::backpack::Pack;
use super::lineage::{counted, kept};
use super::{Kind, Record, notes};
use crate::agent::Kept;
use crate::change::Change;
use crate::digest::Digest;
use crate::report::{Artifact, Findings, Label, Report, SUMMARY_TOKENS};
use crate::run::{PersonChoice, TaskRun};
use crate::secret::redact;
use crate::tokens;

/// The bytes of that name; nothing where they are gone.
pub type Read<'a> = &'a dyn Fn(&Digest) -> Option<Vec<u8>>;

/// How many paths a record names.
const PATHS: usize = 200;
/// What a cut summary ends with.
const CUT: &str = "\n(Cut: there was no room for more.)";
const CUT_TOKENS: usize = 20;

/// All that a done task left; nothing of one that is not done, or begins anew. What the plan says was done before the run left nothing.
pub fn left(task: &TaskRun, read: Read<'_>) -> Vec<Record> {
    left_with(task, &kept(task, read).0, read)
}

/// The same of a task of which it is known what its attempts kept.
pub(super) fn left_with(task: &TaskRun, kept: &[Kept], read: Read<'_>) -> Vec<Record> {
    if !task.is_done() {
        return Vec::new();
    }
    // Several parts are made of one report.
    let known: RefCell<HashMap<Digest, Option<Vec<u8>>>> = RefCell::default();
    let read = |digest: &Digest| {
        let found = known.borrow().get(digest).cloned();
        found.unwrap_or_else(|| {
            let bytes = read(digest);
            known.borrow_mut().insert(digest.clone(), bytes.clone());
            bytes
        })
    };
    let read: Read<'_> = &read;
    let paths = touched(task, read);
    if let Some(text) = by_person(task, PersonChoice::HandedBack) {
        return iter::once(record(task, Kind::Summary, "summary", text, &paths))
            .chain(interfaces(task, &paths))
            .collect();
    }
    let mut records: Vec<Record> = summary(task, &paths, read).into_iter().collect();
    records.extend(interfaces(task, &paths));
    let id = &task.spec.id;
    let (title, paths) = (redact(&task.spec.title).text, &paths[..paths.len().min(PATHS)]);
    records.extend(artifacts((id, &title), paths, kept));
    records.extend(Pack::default().after(id, kept, usize::MAX).records(id, &title, paths));
    records.extend(notes(task, read).into_iter().map(|note| {
        let name = format!("note/{}", note.section);
        record(task, Kind::Note, &name, &note.content, paths)
    }));
    records
}

/// What is said of a result that a person decided. Reports describe what an attempt left, which the person may have replaced.
fn by_person(task: &TaskRun, choice: PersonChoice) -> Option<&'static str> {
    let person = task.ended.as_ref()?.person.as_ref()?;
    match person.choice {
        _ if person.choice != choice => None,
        PersonChoice::HandedBack => Some(
            "A person made this change by hand, and the checks passed on it. No report describes it: read the files.",
        ),
        PersonChoice::Accepted => Some(
            "A person accepted this change as it is: checks or a review found faults in it, and this summary is not verified.",
        ),
        _ => None,
    }
}

/// Paths of the change that was accepted: of the attempt that left the result, and of those that it mended.
pub fn touched(task: &TaskRun, read: Read<'_>) -> Vec<String> {
    let mut tree = task.ended.as_ref().and_then(|ended| ended.tree.as_ref());
    let mut paths = BTreeSet::new();
    for tried in task.tried().rev().filter(|one| one.phase.changes_files()) {
        let Some(wanted) = tree else { break };
        let Some(change) = tried.change.as_ref().filter(|_| tried.tree.as_ref() == Some(wanted))
        else {
            continue;
        };
        paths.extend(read(change).and_then(|bytes| Change::paths(&bytes)).unwrap_or_default());
        tree = tried.from.as_ref();
    }
    paths.into_iter().collect()
}

fn record(task: &TaskRun, kind: Kind, name: &str, text: &str, paths: &[String]) -> Record {
    let id = &task.spec.id;
    Record {
        id: format!("{id}/{name}").into(),
        task: id.clone(),
        kind,
        title: redact(&task.spec.title).text.into_owned(),
        text: redact(text).text.into_owned(),
        paths: paths.iter().take(PATHS).cloned().collect(),
        refs: Vec::new(),
        label: String::new(),
    }
}

/// Of the one who changed files last, else of who reported last.
fn summary(task: &TaskRun, paths: &[String], read: Read<'_>) -> Option<Record> {
    let counted = counted(task);
    let writer = counted.iter().rev().find(|tried| tried.phase.changes_files());
    let deciding = writer.or(counted.last())?;
    let report: Report = serde_json::from_slice(&read(deciding.report.as_ref()?)?).ok()?;
    let mut text = report.context_summary.trim().to_owned();
    if let Some(note) = by_person(task, PersonChoice::Accepted) {
        text = format!("{note}\n\n{text}");
    }
    // A summary that was taken is never cut.
    let most = SUMMARY_TOKENS.max(tokens::count(&text) + CUT_TOKENS);
    for (heading, items) in lists(&report) {
        if !items.is_empty() {
            let _ = write!(text, "\n\n{heading}:\n- {}", items.join("\n- "));
        }
    }
    if paths.len() > PATHS {
        let _ =
            write!(text, "\n\n{} files were touched; the first {PATHS} are named.", paths.len());
    }
    Some(record(task, Kind::Summary, "summary", &bounded(text.trim(), most), paths))
}

/// What was found, decided and can be used, as far as the report has it apart from its summary.
fn lists(report: &Report) -> [(&'static str, Vec<String>); 3] {
    let (mut found, mut decided, mut usable) = (Vec::new(), Vec::new(), Vec::new());
    match &report.findings {
        Findings::Research(research) => {
            let all = [&research.existing_implementations, &research.conflicts];
            found.extend(all.into_iter().chain([&research.patterns_found]).flatten().cloned());
            decided.extend(research.recommendations.iter().cloned());
        }
        Findings::Write(change) | Findings::Execute(change) => {
            usable.extend(change.tests_written.iter().map(|test| format!("test: {test}")));
        }
        Findings::Plan(plan) => decided.extend(plan.steps.iter().cloned()),
        Findings::Own(_) => {
            found.extend(report.findings.lists().into_iter().flat_map(|list| list.items));
        }
        // They say of another's work whether it may stand.
        Findings::Validate(_)
        | Findings::Analyze(_)
        | Findings::Review(_)
        | Findings::Verify(_)
        | Findings::Draft(_) => {}
    }
    for Artifact { label, content, .. } in &report.artifacts {
        match label {
            Label::Finding => found.push(content.clone()),
            Label::Decision => decided.push(content.clone()),
            Label::Resource => usable.push(content.clone()),
            Label::Error | Label::Todo => {}
        }
    }
    let lines = |items: Vec<String>| -> Vec<String> {
        let line = |item: &String| item.split_whitespace().collect::<Vec<_>>().join(" ");
        items.iter().map(line).filter(|item| !item.is_empty()).collect()
    };
    [("Findings", lines(found)), ("Decisions", lines(decided)), ("Resources", lines(usable))]
}

fn bounded(text: &str, most: usize) -> String {
    if tokens::count(text) <= most {
        return text.to_owned();
    }
    tokens::head(text, most - CUT_TOKENS).trim_end().to_owned() + CUT
}

/// What the plan says that it produces; that it is there was verified when it ended.
fn interfaces(task: &TaskRun, paths: &[String]) -> impl Iterator<Item = Record> {
    let numbered = task.spec.produces.iter().zip(1..);
    numbered.map(|(text, number)| {
        let text = tokens::head(text.trim(), SUMMARY_TOKENS);
        record(task, Kind::Interface, &format!("interface-{number}"), text, paths)
    })
}
