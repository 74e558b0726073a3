//! What an attempt leaves for later work: notes, artifacts and the backpack. Bounded, and refused when full.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::backpack::Item;
use super::inherited::Inherited;
use crate::id::TaskId;
use crate::path::RepoPath;
use crate::report::{Artifact, Label, Note, Report};
use crate::tokens;

const NOTE_TOKENS: usize = 1_000;
const NOTES: usize = 32;
const ARTIFACT_TOKENS: usize = 500;
const ARTIFACTS: usize = 64;
/// Names in one sentence.
const LISTED: usize = 20;

/// In the order in which it was left.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    pub notes: Vec<Note>,
    /// Also those of the report, and those that were read out of its findings.
    pub artifacts: Vec<Left>,
    pub backpack: Vec<Item>,
    /// Ids of what it took out of the backpack that it was handed.
    pub removed: Vec<String>,
    /// Ids of the records that `recall` gave it: no manifest names them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub recalled: BTreeSet<String>,
}

/// An artifact with the id by which others refer to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Left {
    /// Within its task, such as `finding-1`.
    #[serde(default)]
    pub id: String,
    #[serde(flatten)]
    pub artifact: Artifact,
}

impl Kept {
    /// A section is replaced as a whole.
    pub(super) fn note(&mut self, note: Note) -> Result<String, String> {
        brief("The name of a section", &note.section)?;
        let size = within("A section of the notes", &[&note.content], NOTE_TOKENS)?;
        let section = note.section.clone();
        let full = self.notes.len() == NOTES;
        let same = |one: &&mut Note| one.section.to_lowercase() == section.to_lowercase();
        match self.notes.iter_mut().find(same) {
            Some(old) if *old != note => {
                *old = note;
                return Ok(format!(
                    "Kept {size} tokens under `{section}`, in place of what you wrote there before."
                ));
            }
            Some(_) => {}
            None if full => {
                return Err(format!("There are {NOTES} sections already; use one of them."));
            }
            None => self.notes.push(note),
        }
        Ok(format!("Kept {size} tokens under `{section}`."))
    }

    /// It gets its id at once, so that others can refer to it.
    pub(super) fn artifact(
        &mut self,
        mut artifact: Artifact,
        (task, inherited): (&TaskId, &Inherited),
    ) -> Result<String, String> {
        let mut parts = vec![artifact.content.as_str()];
        parts.extend(artifact.relevance.as_deref());
        parts.extend(artifact.refs.iter().map(String::as_str));
        let size = within("An artifact", &parts, ARTIFACT_TOKENS)?;
        let alike = |one: &&Left| {
            one.artifact.label == artifact.label && one.artifact.content == artifact.content
        };
        if let Some(same) = self.artifacts.iter().find(alike) {
            return Ok(format!("It is kept already, as `{}`.", same.id));
        }
        if self.artifacts.len() == ARTIFACTS {
            return Err(format!(
                "There are {ARTIFACTS} artifacts already, and no more are kept: go on without."
            ));
        }
        let refs = artifact.refs.iter().map(|one| self.refer(one, task, inherited));
        artifact.refs = refs.collect::<Result<_, _>>()?;
        let id = self.next(artifact.label, inherited);
        let told = format!("Kept as `{id}`, {size} tokens.");
        self.artifacts.push(Left { id, artifact });
        Ok(told)
    }

    fn next(&self, label: Label, inherited: &Inherited) -> String {
        let stem = match &inherited.step {
            Some(step) => format!("{}-{step}-", label.word()),
            None => format!("{}-", label.word()),
        };
        let number = |id: &str| -> Option<usize> { id.strip_prefix(&stem)?.parse().ok() };
        let last = self.ids(inherited).filter_map(number).max().unwrap_or(0);
        format!("{stem}{}", last.saturating_add(1))
    }

    /// Of the artifacts of its task.
    fn ids<'a>(&'a self, inherited: &'a Inherited) -> impl Iterator<Item = &'a str> {
        let own = self.artifacts.iter().map(|left| left.id.as_str());
        inherited.artifacts.iter().map(String::as_str).chain(own)
    }

    /// What a ref names, as everybody calls it: the whole id of a record, or a path.
    fn refer(&self, name: &str, task: &TaskId, inherited: &Inherited) -> Result<String, String> {
        let name = name.trim();
        let bare = name.strip_prefix(task.as_str()).and_then(|rest| rest.strip_prefix('/'));
        if self.ids(inherited).any(|id| id == name || Some(id) == bare) {
            return Ok(format!("{task}/{}", bare.unwrap_or(name)));
        }
        if inherited.records.contains(name) {
            return Ok(name.to_owned());
        }
        // An address is no file, and neither is a remark.
        let is_remark = name.contains(' ') && !name.contains(['/', '.']);
        let is_path = !looks_like_id(name) && !name.contains("://") && !is_remark;
        match RepoPath::parse(name) {
            Ok(path) if is_path => Ok(path.to_string()),
            _ => {
                let shown: String = name.chars().take(NAME).collect();
                Err(format!("The ref `{shown}` names nothing. {}", self.names(inherited)))
            }
        }
    }

    /// What can be referred to.
    fn names(&self, inherited: &Inherited) -> String {
        let list = |names: Vec<&str>| match names.len() {
            0 => "none".to_owned(),
            count if count > LISTED => {
                format!("{} and {} more", names[..LISTED].join(", "), count - LISTED)
            }
            _ => names.join(", "),
        };
        format!(
            "There are the artifacts: {}; the records: {}; and files by their path in the repository.",
            list(self.ids(inherited).collect()),
            list(inherited.records.iter().map(String::as_str).collect())
        )
    }

    /// What a report leaves: its artifacts, those that its agent owes, and what else its findings hold. Else what is wrong with
    /// them.
    pub(super) fn take(
        &mut self,
        report: &Report,
        (task, inherited): (&TaskId, &Inherited),
    ) -> Result<(), Vec<String>> {
        let mut faults = Vec::new();
        for (place, one) in report.artifacts.iter().enumerate() {
            // That there are many is no reason to lose the work.
            if self.artifacts.len() == ARTIFACTS {
                break;
            }
            if let Err(fault) = self.artifact(one.clone(), (task, inherited)) {
                faults.push(format!("`/artifacts/{place}`: {fault}"));
            }
        }
        for label in &inherited.owes {
            if !self.settle(report, *label, (task, inherited)) {
                faults.push(owed(*label));
            }
        }
        for one in report.extract_all() {
            let words = one.words();
            let is_kept = |left: &Left| left.artifact.words() == words;
            if !inherited.words.contains(&words) && !self.artifacts.iter().any(is_kept) {
                // The work is not lost over an artifact that cannot be kept.
                let _ = self.artifact(one, (task, inherited));
            }
        }
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    /// Whether there is an artifact of a type that is owed: recorded, in the findings, or that nothing was found.
    fn settle(&mut self, report: &Report, label: Label, of: (&TaskId, &Inherited)) -> bool {
        if self.artifacts.iter().any(|left| left.artifact.label == label) {
            return true;
        }
        let nothing = report.nothing_found().filter(|_| label == Label::Finding);
        let found = report.extract(label).into_iter().chain(nothing);
        found.flat_map(|one| self.artifact(one, of)).count() > 0
    }
}

fn owed(label: Label) -> String {
    let told = format!(
        "You owe a {} and left none: put it into `findings` or `artifacts`, or call `record_artifact`.",
        label.as_str()
    );
    match label {
        Label::Finding => format!(
            "{told} If there is nothing to find, leave all lists in `findings` empty and say in `context_summary` where you looked."
        ),
        _ => told,
    }
}

/// Whether somebody meant an artifact or another record: its last part is a kind, mostly with a number.
fn looks_like_id(name: &str) -> bool {
    let last = name.rsplit('/').next().unwrap_or(name);
    if last == "summary" || name.contains("/note/") {
        return true;
    }
    let Some((word, number)) = last.rsplit_once('-') else { return false };
    let words = Label::ALL.map(Label::word);
    let is_word =
        words.iter().chain(&["pack", "interface"]).any(|one| one.eq_ignore_ascii_case(word));
    is_word && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// A name, not a text.
fn brief(what: &str, name: &str) -> Result<(), String> {
    if name.trim().is_empty() || name.chars().count() > NAME {
        return Err(format!("{what} has 1 to {NAME} characters."));
    }
    Ok(())
}

const NAME: usize = 100;

/// The first part is what it is about.
pub(super) fn within(what: &str, parts: &[&str], limit: usize) -> Result<usize, String> {
    // A token has at least a byte and hardly more than some: what is far too long is not counted.
    let bytes: usize = parts.iter().map(|part| part.len()).sum();
    if bytes > limit * 64 {
        return Err(format!(
            "{what} holds at most {limit} tokens; this has {bytes} bytes. Shorten it."
        ));
    }
    let size = parts.iter().map(|part| tokens::count(part)).sum();
    if parts.first().is_none_or(|text| text.trim().is_empty()) {
        return Err(format!("{what} cannot be empty."));
    }
    if size > limit {
        return Err(format!("{what} holds at most {limit} tokens; this has {size}. Shorten it."));
    }
    Ok(size)
}
