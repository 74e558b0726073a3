//! An attempt's beginning: its context, its tools, its profile.

use super::breach::{Doubt, Rule};
use super::leak::Place;
use super::manifest::cover;
use super::origin::{Origins, Verdict, sections};
use super::{Archive, Auditor, history, texts};
use sequester_core::agent::OWN;
use sequester_core::context::{IsolatedContext, Kind, Manifest, Part, Row, Work};
use sequester_core::digest::Digest;
use sequester_core::handoff::{Handoff, joined_findings};
use sequester_core::id::TaskId;
use sequester_core::notes::Notes;
use sequester_core::profile::Granted;
use sequester_core::repository::{Snapshot, find};
use sequester_core::run::{Found, RunState, Running, TaskRun};
use sequester_core::secret::{Hider, is_less_of, redact};
use sequester_core::tool::Spec;

/// Tools that every subagent may have, whatever its profile, beside those that are steps of its machine.
const ALWAYS: [&str; 2] = ["request_files", "recall"];

/// The parts of a context as they were sent.
struct Sent {
    system: String,
    prompt: String,
    manifest: Manifest,
}

/// Rows with their bytes.
type Rows<'t> = Vec<(&'t Row, &'t str)>;

impl Auditor<'_> {
    pub(super) fn attempt(&mut self, run: &RunState, task: &TaskRun, running: &Running) {
        let (id, number) = (&task.spec.id, Some(running.number));
        self.tools(task, running);
        let Some(sent) = self.sent(id, running) else { return };
        self.ledger.count(sent.manifest.fragments.len());
        let shown = &running.started.context;
        if IsolatedContext::digest_of(&sent.system, &sent.prompt) != shown.digest.as_str() {
            let detail = "The digest of its context is not that of the bytes that were sent.";
            self.ledger.attempt(id, number, Rule::Digest, detail);
        }
        let system = cover(&sent.manifest, Part::System, &sent.system);
        let prompt = cover(&sent.manifest, Part::Prompt, &sent.prompt);
        for wrong in [&system, &prompt].into_iter().filter_map(|part| part.as_ref().err()) {
            self.ledger.attempt(id, number, Rule::Manifest, wrong);
        }
        let (system, prompt) = (system.unwrap_or_default(), prompt.unwrap_or_default());
        self.prefix(run, id, running, &system);
        self.same(id, running, &sent.manifest);
        self.fragments(run, task, running, &prompt);
        self.inherited(run, task, running);
        self.handoff(run, (task, running), &sent.manifest, &prompt);
        let beside = self.beside(run, task, running);
        self.leaks.begin(task, running, &self.plans, &beside);
        for (text, place) in [(&sent.system, Place::System), (&sent.prompt, Place::Prompt)] {
            self.search(run, id, running.number, text, place);
        }
    }

    /// What it may be shown that comes from neither plan nor repository, from where that was recorded: never from what it was
    /// shown.
    fn beside(&self, run: &RunState, task: &TaskRun, running: &Running) -> Vec<String> {
        let read = |digest: &Digest| {
            let bytes = self.archive.blob(digest).filter(|bytes| Digest::of(bytes) == *digest)?;
            Some(utf8(bytes))
        };
        let granted = task.granted.values().filter_map(|found| match found {
            Some(Found::Blob(blob)) => read(blob),
            _ => None,
        });
        let sources = running.started.sources.as_ref();
        let agent = sources.and_then(|sources| read(&sources.agent));
        let spec = sources.map(|sources| sections(self.archive, sources)).unwrap_or_default();
        let spec = spec.into_iter().map(|section| section.text);
        let notes = run.started.notes.as_ref().and_then(read);
        let notes = Notes::parse(&notes.unwrap_or_default()).standing();
        let notes = notes.into_iter().map(|note| note.text);
        granted.chain(agent).chain(spec).chain(notes).collect()
    }

    fn sent(&mut self, id: &TaskId, running: &Running) -> Option<Sent> {
        let shown = &running.started.context;
        let system = self.blob(id, running, &shown.system, "system part");
        let prompt = self.blob(id, running, &shown.prompt, "prompt");
        let manifest = self.blob(id, running, &shown.manifest, "manifest");
        let (system, prompt) = (utf8(system?), utf8(prompt?));
        match serde_json::from_slice(&manifest?) {
            Ok(manifest) => Some(Sent { system, prompt, manifest }),
            Err(error) => {
                let detail = format!("Its manifest cannot be read: {error}.");
                self.ledger.attempt(id, Some(running.number), Rule::Manifest, detail);
                None
            }
        }
    }

    /// The typed request is what plan, recorded work and context make of it.
    fn handoff(
        &mut self,
        run: &RunState,
        (task, running): (&TaskRun, &Running),
        manifest: &Manifest,
        rows: &Rows<'_>,
    ) {
        let id = &task.spec.id;
        let Some(digest) = &running.started.handoff else { return };
        let Some(bytes) = self.blob(id, running, digest, "handoff") else { return };
        let Ok(handoff) = serde_json::from_slice::<Handoff>(&bytes) else {
            let detail = "Its handoff cannot be read.";
            return self.ledger.attempt(id, Some(running.number), Rule::Manifest, detail);
        };
        let expected = self.expected_handoff(run, (task, running), rows);
        // A plan that cannot be read is told of elsewhere.
        let is_it = |expected: Handoff| {
            handoff.is_less_of(&expected.completed(manifest, &Hider::default()))
        };
        if expected.is_some_and(|expected| !is_it(expected)) {
            let detail = "Its handoff is not what its prompt says.";
            self.ledger.attempt(id, Some(running.number), Rule::Manifest, detail);
        }
    }

    /// Without what the manifest says. Work is taken from the prompt, whose fragments are proved on their own.
    fn expected_handoff(
        &self,
        run: &RunState,
        (task, running): (&TaskRun, &Running),
        rows: &Rows<'_>,
    ) -> Option<Handoff> {
        let reading = self.plans.now()?;
        let planned = reading.task(&task.spec.id)?;
        let is_delegated = running.started.parent.is_some();
        let asked = history::delegation(self.archive, task, running);
        let asked = asked.map(|asked| asked.as_part_of(planned));
        let asked = if is_delegated { asked.as_ref()? } else { planned };
        let judges = run.is_judging(&task.spec.id, running.phase);
        let mut expected = Handoff::new(&reading.plan, asked, (running.phase, judges), &[]);
        if is_delegated {
            expected.context.feature.clear();
        }
        let change = format!("this task: {}", Work::CHANGE_TITLE);
        let found = rows.iter().filter(|(row, _)| row.kind == Kind::Work && row.source != change);
        expected.context.previous_findings =
            joined_findings(found.map(|(_, bytes)| (*bytes).to_owned()));
        let answers = rows.iter().filter(|(row, _)| row.kind == Kind::Clarification);
        expected.context.clarifications =
            answers.map(|(_, bytes)| bytes.trim_end().to_owned()).collect();
        Some(expected)
    }

    /// Bytes that an event of an attempt names.
    pub(super) fn blob(
        &mut self,
        id: &TaskId,
        running: &Running,
        digest: &Digest,
        what: &str,
    ) -> Option<Vec<u8>> {
        let bytes = self.archive.blob(digest).filter(|bytes| Digest::of(bytes) == *digest);
        if bytes.is_none() {
            let detail = format!("Its {what} is not there, or not what its name says.");
            self.ledger.attempt(id, Some(running.number), Rule::Blob, detail);
        }
        bytes
    }

    /// Agent and architecture are the same bytes for all.
    fn prefix(&mut self, run: &RunState, id: &TaskId, running: &Running, rows: &Rows<'_>) {
        let started = &running.started;
        let system = &started.context.system;
        let mut differs = |what: &str| {
            let detail = format!("Its system part is not that of {what} before it.");
            self.ledger.attempt(id, Some(running.number), Rule::Prefix, detail);
        };
        let agent = started.sources.as_ref().map(|sources| sources.agent.clone());
        let key = (started.agent.clone(), agent.clone());
        match self.prefixes.get(&key) {
            Some(known) if known == system || are_same_but_marks(self.archive, known, system) => {
                return;
            }
            Some(_) => return differs("the same agent"),
            None => {}
        }
        self.prefixes.insert(key, system.clone());
        let shared = rows.iter().filter(|(row, _)| row.kind != Kind::Agent);
        let shared: String = shared.map(|(_, bytes)| *bytes).collect();
        let known = self.architecture.get_or_insert_with(|| shared.clone());
        if !is_same_but_marks(known, &shared) {
            differs("another agent, after the agent's own words,");
        }
        let words = agent.and_then(|agent| self.archive.blob(&agent)).map(utf8);
        for (row, bytes) in rows.iter().filter(|(row, _)| row.kind == Kind::Agent) {
            if words.as_ref().is_some_and(|words| !is_less_of(bytes, &redact(words).text)) {
                let detail = format!("The words of `{}` are not those of its agent.", row.source);
                self.ledger.attempt(id, Some(running.number), Rule::Fragment, detail);
            }
        }
        let start = self.archive.tree(&run.started.base.tree);
        let lines = rows.iter().filter(|(row, _)| row.kind == Kind::Architecture);
        for (row, _) in lines {
            if !start.as_ref().is_some_and(|start| names_file(start.as_ref(), &row.source)) {
                self.ledger.doubt(Doubt::Architecture);
            }
        }
        let admitted = [Kind::Agent, Kind::Architecture, Kind::Frame];
        for (row, _) in rows.iter().filter(|(row, _)| !admitted.contains(&row.kind)) {
            let detail = format!("`{}` stands in the part that all share.", row.source);
            self.ledger.attempt(id, Some(running.number), Rule::Fragment, detail);
        }
    }

    /// What was made from the same sources is the same.
    fn same(&mut self, id: &TaskId, running: &Running, manifest: &Manifest) {
        let started = &running.started;
        let mut sources = String::new();
        for row in &manifest.fragments {
            let kind = row.kind.as_str();
            sources.extend([kind, "\0", &row.source, "\0", &row.source_hash, row.form.as_str()]);
            sources.push('\n');
        }
        let key = (id.clone(), started.agent.clone(), Digest::of(sources.as_bytes()));
        let digest = &started.context.digest;
        if self.contexts.entry(key).or_insert_with(|| digest.clone()) != digest {
            let detail = "Another attempt got other bytes from the same sources.";
            self.ledger.attempt(id, Some(running.number), Rule::Determinism, detail);
        }
    }

    fn fragments(&mut self, run: &RunState, task: &TaskRun, running: &Running, rows: &Rows<'_>) {
        let (id, number) = (&task.spec.id, Some(running.number));
        let Some(reading) = self.plans.now() else { return };
        let Some(planned) = reading.task(id) else {
            return self.ledger.attempt(id, number, Rule::Plan, "The plan has no such task.");
        };
        let own = texts::own(&reading.plan, planned, running.phase);
        let origins = Origins::new(
            (self.archive, &self.lefts),
            (run, task, running),
            &self.plans,
            planned,
            own,
        );
        let each = rows.iter().map(|(row, bytes)| origins.judge(row, bytes));
        let verdicts: Vec<Verdict> = each.chain(origins.groups(rows)).collect();
        for verdict in verdicts {
            match verdict {
                Verdict::Proved => {}
                Verdict::Doubtful(doubt) => self.ledger.doubt(doubt),
                Verdict::Wrong(detail) => {
                    self.ledger.attempt(id, number, Rule::Fragment, detail);
                }
            }
        }
    }

    /// What is listed is what the profile grants.
    fn tools(&mut self, task: &TaskRun, running: &Running) {
        let (id, number) = (&task.spec.id, Some(running.number));
        let started = &running.started;
        if let Some(specs) = self.blob(id, running, &started.specs, "list of tools") {
            let specs: Vec<Spec> = serde_json::from_slice(&specs).unwrap_or_default();
            if !specs.iter().map(|spec| spec.name.as_ref()).eq(started.tools.iter()) {
                let detail = "The tools that it was shown are not those that the log lists.";
                self.ledger.attempt(id, number, Rule::Tool, detail);
            }
        }
        let Some(granted) = self.granted(running) else { return };
        let own = |name: &str| OWN.contains(&name) || ALWAYS.contains(&name);
        let above = started.parent.as_ref().and_then(|parent| task.running.get(&parent.attempt));
        let above = above.and_then(|parent| Some((&parent.started.profile, self.granted(parent)?)));
        let all: Vec<_> = [(&started.profile, granted)].into_iter().chain(above).collect();
        for name in started.tools.iter().filter(|name| !own(name)) {
            // Who delegates can give no more than it has.
            if let Some((profile, _)) = all.iter().find(|(_, granted)| !granted.grants(name)) {
                let detail = format!("`{name}` was listed, which `{profile}` did not grant.");
                self.ledger.attempt(id, number, Rule::Tool, detail);
            }
        }
    }

    /// What its profile granted then.
    fn granted(&mut self, running: &Running) -> Option<Granted> {
        let sources = running.started.sources.as_ref();
        if sources.is_none() {
            self.ledger.doubt(Doubt::Sources);
        }
        sources.map(|sources| sources.granted.clone())
    }

    /// A host that was reached.
    pub(super) fn host(&mut self, id: &TaskId, running: &Running, (host, port): (&str, u16)) {
        let Some(granted) = self.granted(running) else { return };
        if !granted.reaches(host, port) {
            let profile = &running.started.profile;
            let detail = format!("`{host}:{port}` was reached, which `{profile}` did not grant.");
            self.ledger.attempt(id, Some(running.number), Rule::Host, detail);
        }
    }

    /// Looks for what other tasks say.
    pub(super) fn search(
        &mut self,
        run: &RunState,
        id: &TaskId,
        number: u32,
        text: &str,
        place: Place,
    ) {
        let Some(found) =
            self.leaks.search(run, id, text, place, (&self.plans, &self.lefts, self.archive))
        else {
            return;
        };
        let detail = format!(
            "{} holds words of task `{}`: \"{}\".",
            place.as_str(),
            found.task,
            found.words
        );
        self.ledger.attempt(id, Some(number), Rule::Leak, detail);
    }
}

/// A secret that only one of two contexts knows is hidden in the system part of that one only.
fn are_same_but_marks(archive: &dyn Archive, one: &Digest, other: &Digest) -> bool {
    let read = |digest: &Digest| {
        let bytes = archive.blob(digest).filter(|bytes| Digest::of(bytes) == *digest);
        bytes.map(utf8)
    };
    read(one).zip(read(other)).is_some_and(|(one, other)| is_same_but_marks(&one, &other))
}

fn is_same_but_marks(one: &str, other: &str) -> bool {
    let lines = one.split('\n').zip(other.split('\n'));
    let count = |text: &str| text.split('\n').count();
    count(one) == count(other)
        && lines.into_iter().all(|(one, other)| is_less_of(one, other) || is_less_of(other, one))
}

fn utf8(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Whether a source, perhaps with a line, is a file or folder of a tree.
fn names_file(tree: &dyn Snapshot, source: &str) -> bool {
    let (path, line) = source.rsplit_once(':').unwrap_or((source, ""));
    let is_line = line.bytes().all(|byte| byte.is_ascii_digit());
    let path = if is_line { path } else { source }.trim_end_matches('/');
    let below = format!("{path}/");
    let entries = tree.entries();
    let at = entries.partition_point(|entry| entry.path.as_str() < below.as_str());
    let is_folder = entries.get(at).is_some_and(|entry| entry.path.as_str().starts_with(&below));
    is_folder || matches!(path, "" | ".") || find(tree, path).is_some()
}
