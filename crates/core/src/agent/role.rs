//! A role: prompt, profile, phase and model of an agent.

use serde::Serialize;

use crate::fault::{Code, Fault};
use crate::plan::yaml::{self, Node, Value};
use crate::profile::{self, Confinement, Grant, Profile, Profiles};
use crate::report::{Label, Phase};
use crate::source::{Origin, Reader, Source};

use super::claude::{self, Tool};
use super::registry;

/// What an agent is told to be, and what it may do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Role {
    pub name: String,
    pub description: String,
    pub profile: String,
    /// Which of the profile's tools it has; nothing for all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Grant>>,
    pub phase: Phase,
    /// `strong`, `cheap`, `default`, or a `provider/model`.
    pub model: Option<String>,
    /// What it has to leave for others, where artifacts are passed on at all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Label>,
    pub origin: Origin,
    /// Where the role of that name stood which this one replaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaces: Option<Origin>,
    /// What the front matter says that means nothing here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
    /// The Markdown after the front matter.
    pub prompt: String,
}

const KEYS: [&str; 8] =
    ["name", "description", "profile", "phase", "model", "artifacts", "tools", "disallowedTools"];

impl Role {
    /// Reads front matter between `---` lines, then the prompt.
    pub fn read(source: &Source, profiles: &Profiles) -> Result<Self, Vec<Fault>> {
        let text = source.body();
        let (base, front, prompt) = split(text).map_err(|fault| vec![fault])?;
        // Places are those of the text that is read: quoting keeps its lines.
        let quoted = (source.origin.is_claude() && yaml::read(front).is_err())
            .then(|| format!("{}{}", &text[..base], claude::quote(front)));
        let (read, front) = match &quoted {
            Some(quoted) => (quoted.as_str(), &quoted[base..]),
            None => (text, front),
        };
        let mut reader = Reader::new(read, base, Code::BadAgent);
        let mut draft = Draft::default();
        let Some(entries) = reader.entries(front) else {
            return reader.finish(None);
        };
        for (at, key, node) in entries {
            draft.set(&mut reader, &source.origin, at, &key, node);
        }
        let role = draft.finish(&mut reader, source, profiles, prompt);
        reader.finish(role)
    }

    /// Its profile, with no other tools than its own.
    pub fn granted(&self, profiles: &Profiles) -> Result<Profile, profile::Error> {
        self.granted_of(profiles.get_for(&self.profile, &self.origin)?)
    }

    /// Another profile in the place of its own: still with no other tools than the role's.
    pub fn granted_of(&self, profile: &Profile) -> Result<Profile, profile::Error> {
        match &self.tools {
            Some(tools) => profile.only(&self.name, tools),
            None => Ok(profile.clone()),
        }
    }
}

/// Where the front matter begins, the front matter, and the prompt.
fn split(text: &str) -> Result<(usize, &str, &str), Fault> {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    let bad = |line: u32, message: &str| {
        let place = crate::fault::Place { line, column: 1 };
        let hint =
            "Begin the file with `---`, then `name: ...` and `description: ...`, then `---`.";
        Fault::new(Code::BadAgent, place, message, hint)
    };
    if first.trim_end() != "---" {
        return Err(bad(1, "An agent's file begins with front matter between `---` lines."));
    }
    let mut at = first.len();
    for line in lines {
        if line.trim_end() == "---" {
            return Ok((first.len(), &text[first.len()..at], &text[at + line.len()..]));
        }
        at += line.len();
    }
    Err(bad(1, "The front matter is not closed by `---`."))
}

/// What the front matter says, with the places that a later fault may need.
#[derive(Default)]
struct Draft {
    name: Option<String>,
    description: Option<String>,
    profile: Option<(usize, String)>,
    phase: Option<Phase>,
    model: Option<String>,
    artifacts: Vec<Label>,
    /// Nothing where all tools are inherited.
    tools: Option<(usize, Vec<Grant>)>,
    denied: Vec<Grant>,
    /// Claude Code's mode that only plans.
    plans_only: bool,
    ignored: Vec<String>,
}

impl Draft {
    fn set(&mut self, reader: &mut Reader<'_>, origin: &Origin, at: usize, key: &str, node: Node) {
        match key {
            "name" => self.name = Some(read_name(reader, &node).unwrap_or_default()),
            "description" => self.description = reader.text(key, &node),
            "profile" => {
                self.profile = reader.text(key, &node).map(|profile| (node.at, profile));
            }
            "phase" => self.phase = read_phase(reader, &node),
            "model" => {
                self.model = reader.text(key, &node).and_then(|name| claude::model(&name));
            }
            "artifacts" => self.artifacts = read_labels(reader, node),
            "tools" => self.set_tools(reader, node),
            "disallowedTools" => self.set_denied(reader, node),
            _ if !origin.is_claude() => reader.unknown(at, key, &KEYS),
            "permissionMode" if matches!(&node.value, Value::Text(mode) if mode == "plan") => {
                self.plans_only = true;
            }
            _ => self.ignored.push(key.to_owned()),
        }
    }

    fn set_tools(&mut self, reader: &mut Reader<'_>, node: Node) {
        let place = node.at;
        let mut tools: Vec<Grant> = Vec::new();
        for (at, text) in reader.texts("tools", node) {
            let name = match claude::tool(&text) {
                Tool::Named(name) => name,
                Tool::All => return,
                Tool::Foreign => {
                    self.ignored.push(format!("tools: {text}"));
                    continue;
                }
                Tool::Restricted => {
                    let hint = "Name the tool without `(...)`: the jail decides what it may do.";
                    reader.bad(at, format!("`{text}` cannot be kept to."), hint);
                    continue;
                }
            };
            match Grant::parse(name) {
                Ok(grant) if tools.contains(&grant) => {}
                Ok(grant) => tools.push(grant),
                Err(message) => reader.bad(at, message, Grant::hint(name)),
            }
        }
        self.tools = Some((place, tools));
    }

    /// Words as in `tools`; what is denied in part is denied as a whole, since less could not be kept to.
    fn set_denied(&mut self, reader: &mut Reader<'_>, node: Node) {
        for (_, text) in reader.texts("disallowedTools", node) {
            let bare = text.split('(').next().unwrap_or_default().trim_end();
            let denied: Vec<Grant> = match claude::tool(bare) {
                Tool::All => {
                    profile::TOOLS.into_iter().chain(["mcp__*"]).flat_map(Grant::parse).collect()
                }
                Tool::Named(name) => Grant::parse(name).into_iter().collect(),
                Tool::Foreign | Tool::Restricted => Vec::new(),
            };
            if denied.is_empty() {
                self.ignored.push(format!("disallowedTools: {text}"));
            }
            self.denied.extend(denied);
        }
    }

    /// Also for a pattern of which a part is denied.
    fn denies(&self, tool: &Grant) -> bool {
        self.denied.iter().any(|denied| denied.covers(&tool.name) || tool.covers(&denied.name))
    }

    fn finish(
        mut self,
        reader: &mut Reader<'_>,
        source: &Source,
        profiles: &Profiles,
        prompt: &str,
    ) -> Option<Role> {
        for (key, value) in [("name", &self.name), ("description", &self.description)] {
            if value.is_none() {
                reader.bad(0, format!("An agent needs a {key}."), format!("Write `{key}: ...`."));
            }
        }
        let at = self.tools.as_ref().map(|(at, _)| *at);
        let at = self.profile.as_ref().map(|(at, _)| *at).or(at).unwrap_or(0);
        // Whoever asks for a built-in agent counts on what that does; an untrusted file must not make it do more.
        let named = self.name.as_deref().filter(|_| source.origin != Origin::BuiltIn);
        let namesake = named.and_then(registry::find);
        let replaced = namesake.filter(|_| !source.origin.is_trusted());
        let profile = self.choose_profile(namesake);
        let tools = self.remaining_tools(&profile, profiles);
        let mut role = Role {
            name: self.name?,
            description: self.description?,
            profile,
            tools,
            phase: Phase::Write,
            model: self.model,
            artifacts: self.artifacts,
            origin: source.origin.clone(),
            replaces: None,
            ignored: self.ignored,
            prompt: prompt.replace("\r\n", "\n").trim_start_matches('\n').to_owned(),
        };
        let granted = role.granted(profiles);
        // What was accepted must not change with a profile that was not.
        let doubted = profiles.get(&role.profile).is_ok_and(|one| !one.origin.is_trusted());
        let measure = replaced.or_else(|| doubted.then(|| registry::find(&role.name)).flatten());
        if let (Some(replaced), Ok(granted)) = (measure, &granted)
            && let Err(error) = within(granted, replaced)
        {
            let message =
                format!("This agent would do more than the built-in `{}`: {error}", role.name);
            let hint = "Choose another name, or a profile that narrows the built-in agent's.";
            reader.refuse(error.code(), at, message, hint);
            return None;
        }
        match granted {
            Ok(granted) => {
                let phase = self.phase.or(namesake.map(|namesake| namesake.phase));
                role.phase = phase.unwrap_or_else(|| usual_phase(granted.confinement));
                Some(role)
            }
            Err(error) => {
                let message = match &error {
                    profile::Error::FullAccess { .. } if self.profile.is_none() => {
                        TOGETHER.to_owned()
                    }
                    _ => error.to_string(),
                };
                reader.refuse(error.code(), at, message, error.hint());
                None
            }
        }
    }

    /// The one that is named, else the narrowest that has the tools, else that of the built-in agent which it replaces,
    /// else what a task needs.
    fn choose_profile(&mut self, replaced: Option<&Role>) -> String {
        if let Some((place, mut tools)) = self.tools.take() {
            let writes = |name: &str| matches!(name, "Write" | "Edit");
            tools.retain(|tool| !(self.denies(tool) || self.plans_only && writes(&tool.name)));
            self.tools = Some((place, tools));
        }
        let covering = self.tools.as_ref().and_then(|(_, tools)| Profiles::covering(tools));
        let inherited = match replaced {
            _ if self.plans_only => Confinement::ReadOnly.as_str(),
            Some(replaced) => &replaced.profile,
            None => Confinement::Writer.as_str(),
        };
        match (&self.profile, covering) {
            (Some((_, named)), _) => named.clone(),
            (None, Some(profile)) => profile.name.clone(),
            (None, None) => inherited.to_owned(),
        }
    }

    /// Nothing where the role has all tools of its profile.
    fn remaining_tools(&self, profile: &str, profiles: &Profiles) -> Option<Vec<Grant>> {
        if let Some((_, tools)) = &self.tools {
            return Some(tools.clone());
        }
        let all = &profiles.get(profile).ok()?.tools;
        let left: Vec<Grant> = all.iter().filter(|tool| !self.denies(tool)).cloned().collect();
        (left.len() < all.len()).then_some(left)
    }
}

fn within(granted: &Profile, replaced: &Role) -> Result<(), profile::Error> {
    let theirs = replaced.granted(Profiles::built_in())?;
    profile::narrow(granted, &theirs).map(|_| ())
}

const TOGETHER: &str =
    "Its tools are found together only in `full-access`, which a repository cannot ask for.";

/// What a person can type as an argument, also before `=`.
fn read_name(reader: &mut Reader<'_>, node: &Node) -> Option<String> {
    let name = reader.text("name", node)?;
    let fits = |c: char| !c.is_control() && !matches!(c, '=' | ',' | '`' | '/');
    if name.chars().count() > 64 || !name.chars().all(fits) {
        let hint = "Choose a name of at most 64 letters, digits and hyphens.";
        reader.bad(node.at, "This cannot be an agent's name.", hint);
        return None;
    }
    Some(name)
}

fn read_phase(reader: &mut Reader<'_>, node: &Node) -> Option<Phase> {
    let name = reader.text("phase", node)?;
    let phase = Phase::parse(&name);
    if phase.is_none() {
        let hint = format!("The phases are {}.", Phase::ALL.map(Phase::as_str).join(", "));
        reader.bad(node.at, format!("There is no phase `{name}`."), hint);
    }
    phase
}

fn read_labels(reader: &mut Reader<'_>, node: Node) -> Vec<Label> {
    let mut labels = Vec::new();
    for (at, name) in reader.texts("artifacts", node) {
        match Label::parse(&name) {
            Some(label) if labels.contains(&label) => {}
            Some(label) => labels.push(label),
            None => {
                let hint = format!("The kinds are {}.", Label::ALL.map(Label::as_str).join(", "));
                let name: String = name.chars().take(64).collect();
                reader.bad(at, format!("There is no kind of artifact `{name}`."), hint);
            }
        }
    }
    labels
}

fn usual_phase(confinement: Confinement) -> Phase {
    match confinement {
        Confinement::ReadOnly | Confinement::Research => Phase::Research,
        Confinement::Validate => Phase::Validate,
        Confinement::Writer | Confinement::FullAccess => Phase::Write,
    }
}
