//! A profile's file, before what it extends is known.

use crate::fault::{Code, Fault, Place};
use crate::limits::Limit;
use crate::plan::yaml::{Node, Value};
use crate::source::{Reader, Source};

use super::{Confinement, Excess, Grant, Profile, Profiles};

const KEYS: [&str; 7] = ["name", "description", "extends", "tools", "hosts", "limits", "use_cases"];

/// What a file says; what it leaves out it takes from the profile it extends.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) extends: Option<String>,
    pub(super) tools: Option<Vec<Grant>>,
    /// Whether it asks for all tools there are.
    all_tools: bool,
    pub(super) hosts: Option<Vec<String>>,
    pub(super) limits: Vec<(Limit, u64)>,
    pub(super) use_cases: Option<Vec<String>>,
    places: Places,
}

#[derive(Default)]
struct Places {
    name: Place,
    extends: Option<Place>,
    tools: Vec<Place>,
    hosts: Vec<Place>,
    limits: Vec<Place>,
}

impl Draft {
    pub(super) fn read(source: &Source) -> Result<Self, Vec<Fault>> {
        let text = source.body();
        let mut reader = Reader::new(text, 0, Code::BadProfile);
        let mut draft = Self::default();
        let Some(entries) = reader.entries(text) else {
            return reader.finish(None);
        };
        for (at, key, node) in entries {
            draft.set(&mut reader, at, &key, node);
        }
        if draft.name.is_empty() {
            reader.bad(0, "A profile needs a name.", "Write `name: ...`.");
        }
        reader.finish(Some(draft))
    }

    fn set(&mut self, reader: &mut Reader<'_>, at: usize, key: &str, node: Node) {
        match key {
            "name" => {
                self.places.name = reader.place(node.at);
                self.name = reader.text(key, &node).unwrap_or_default();
            }
            "description" => self.description = reader.text(key, &node),
            "extends" => {
                self.places.extends = Some(reader.place(node.at));
                self.extends = reader.text(key, &node);
            }
            "tools" => self.set_tools(reader, node),
            "hosts" => self.set_hosts(reader, node),
            "limits" => self.set_limits(reader, node),
            "use_cases" => {
                let cases = reader.texts(key, node);
                self.use_cases = Some(cases.into_iter().map(|(_, case)| case).collect());
            }
            _ => reader.unknown(at, key, &KEYS),
        }
    }

    fn set_tools(&mut self, reader: &mut Reader<'_>, node: Node) {
        let mut tools = Vec::new();
        for (at, text) in reader.texts("tools", node) {
            if matches!(text.as_str(), "All tools" | "*") {
                self.all_tools = true;
                continue;
            }
            match Grant::parse(&text) {
                Ok(grant) => {
                    self.places.tools.push(reader.place(at));
                    tools.push(grant);
                }
                Err(message) => reader.bad(at, message, Grant::hint(&text)),
            }
        }
        self.tools = (!self.all_tools).then_some(tools);
    }

    /// The built-in profile that a file without `extends` is narrowed from: the smallest that has its tools. What an MCP server
    /// would bring decides nothing.
    pub(super) fn smallest(&self) -> Option<&'static Profile> {
        if self.all_tools {
            return Profiles::built_in().get(Confinement::FullAccess.as_str()).ok();
        }
        let tools = self.tools.as_ref()?.iter().filter(|tool| !tool.is_of_server());
        Profiles::covering(&tools.cloned().collect::<Vec<_>>())
    }

    /// Its tools as that profile can grant them: tools of servers that it does not grant are left out, and what may be absent
    /// there may be absent here.
    pub(super) fn narrowed(&self, parent: &Profile) -> Option<Vec<Grant>> {
        let own = self
            .tools
            .as_ref()?
            .iter()
            .filter(|tool| !tool.is_of_server() || parent.grants(&tool.name));
        let grant = |tool: &Grant| {
            let of_parent = parent.tools.iter().find(|one| one.covers(&tool.name));
            let optional = tool.optional || of_parent.is_some_and(|one| one.optional);
            Grant { name: tool.name.clone(), optional }
        };
        Some(own.map(grant).collect())
    }

    fn set_hosts(&mut self, reader: &mut Reader<'_>, node: Node) {
        let mut hosts = Vec::new();
        for (at, host) in reader.texts("hosts", node) {
            if is_host(&host) {
                self.places.hosts.push(reader.place(at));
                hosts.push(host);
            } else {
                reader.bad(at, format!("`{host}` is no host."), HOST_HINT);
            }
        }
        self.hosts = Some(hosts);
    }

    fn set_limits(&mut self, reader: &mut Reader<'_>, node: Node) {
        let Value::Map(entries) = node.value else {
            let hint = "Write `limits: {turns: 20}`.";
            return reader.bad(node.at, "`limits` must be a mapping.", hint);
        };
        for (at, key, node) in entries {
            let Some(limit) = Limit::parse(&key) else {
                reader.unknown(at, &key, &Limit::ALL.map(Limit::as_str));
                continue;
            };
            match reader.text(&key, &node).map(|text| limit.read(&text)) {
                Some(Ok(value)) => {
                    self.places.limits.push(reader.place(at));
                    self.limits.push((limit, value));
                }
                Some(Err(expected)) => {
                    let hint = format!("Write {expected}.");
                    reader.bad(node.at, format!("`{key}` cannot be read as a limit."), hint);
                }
                None => {}
            }
        }
    }

    pub(super) fn name_place(&self) -> Place {
        self.places.name
    }

    /// Where the file says what it is narrowed from. Without `extends` the first tool decides, and without tools the name is left.
    pub(super) fn extends_place(&self) -> Place {
        let Places { name, extends, tools, .. } = &self.places;
        extends.or(tools.first().copied()).unwrap_or(*name)
    }

    /// Where the file grants what it may not.
    pub(super) fn place_of(&self, excess: &Excess) -> Place {
        let nth = |at: Option<usize>, places: &[Place]| {
            at.and_then(|at| places.get(at)).copied().unwrap_or_else(|| self.extends_place())
        };
        match excess {
            Excess::Tool(tool) => nth(
                self.tools.iter().flatten().position(|grant| grant.name == *tool),
                &self.places.tools,
            ),
            Excess::Host(host) => {
                nth(self.hosts.iter().flatten().position(|known| known == host), &self.places.hosts)
            }
            Excess::Limit(limit) => {
                nth(self.limits.iter().position(|(known, _)| known == limit), &self.places.limits)
            }
            Excess::Jail(_) => self.extends_place(),
        }
    }
}

pub const HOST_HINT: &str = "Write a name such as `crates.io`, `*.crates.io` or `localhost:8080`.";

/// A name with perhaps a port, and `*.` in front for all below it.
pub fn is_host(text: &str) -> bool {
    let name = text.strip_prefix("*.").unwrap_or(text);
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | ':' | '[' | ']');
    !name.is_empty() && !name.starts_with('.') && text.len() <= 255 && name.chars().all(fits)
}
