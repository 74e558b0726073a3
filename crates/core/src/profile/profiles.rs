//! All profiles that are known.

use std::sync::LazyLock;

use serde::Serialize;

use crate::fault::{Code, Fault, FileFault};
use crate::source::{Origin, Source, of_file};

use super::file::Draft;
use super::{Confinement, Error, Excess, Grant, Profile, TASK, excesses, narrow};

/// The built-in ones first, then those of files in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Profiles {
    list: Vec<Profile>,
}

impl Profiles {
    pub fn built_in() -> &'static Self {
        static BUILT_IN: LazyLock<Profiles> = LazyLock::new(|| {
            let source = |text: &&str| Source { origin: Origin::BuiltIn, text: (*text).to_owned() };
            let sources: Vec<Source> = SOURCES.iter().map(source).collect();
            Profiles::default().extended(&sources).0
        });
        &BUILT_IN
    }

    /// The built-in profiles and those of the files. A file that cannot be used hides no other.
    pub fn read(sources: &[Source]) -> (Self, Vec<FileFault>) {
        Self::built_in().clone().extended(sources)
    }

    fn extended(mut self, sources: &[Source]) -> (Self, Vec<FileFault>) {
        let mut faults = Vec::new();
        let mut open: Vec<(&Source, Draft)> = Vec::new();
        for source in sources {
            match Draft::read(source) {
                Ok(draft) => open.push((source, draft)),
                Err(found) => faults.extend(of_file(&source.origin, found)),
            }
        }
        // Nobody takes a name from those who are trusted. A profile may stand before the one it extends.
        open.sort_by_key(|(source, _)| !source.origin.is_trusted());
        while let Some(at) = open.iter().position(|(source, draft)| self.is_ready(source, draft)) {
            let (source, draft) = open.remove(at);
            match self.finish(&source.origin, &draft) {
                Ok(profile) => {
                    self.list.retain(|known| known.name != profile.name);
                    self.list.push(profile);
                }
                Err(found) => faults.extend(of_file(&source.origin, found)),
            }
        }
        faults.extend(open.iter().flat_map(|(source, draft)| {
            of_file(&source.origin, [unfinished(draft, &open, &self)])
        }));
        faults.sort_by(|one, two| (&one.file, one.fault.place).cmp(&(&two.file, two.fault.place)));
        (self, faults)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Profile> {
        self.list.iter()
    }

    pub fn get(&self, name: &str) -> Result<&Profile, Error> {
        self.list.iter().find(|profile| profile.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.list.iter().map(|profile| profile.name.as_str()).collect();
            Error::Unknown { name: name.to_owned(), known: names.join(", ") }
        })
    }

    /// The profile, if somebody of that origin may ask for it: the repository gets nothing that goes beyond what is
    /// built in, and never `full-access`.
    pub fn get_for(&self, name: &str, origin: &Origin) -> Result<&Profile, Error> {
        // No file changes what the built-in agents can do.
        if let Ok(built_in) = Self::built_in().get(name)
            && *origin == Origin::BuiltIn
        {
            return Ok(built_in);
        }
        let profile = self.get(name)?;
        if !origin.is_trusted() {
            within_built_in(profile)?;
        }
        Ok(profile)
    }

    /// The narrowest built-in profile that has all these tools.
    pub fn covering(tools: &[Grant]) -> Option<&'static Profile> {
        let built_in = Self::built_in().list.iter();
        let mut built_in = built_in.filter(|one| one.confinement != Confinement::Validate);
        built_in.find(|profile| tools.iter().all(|tool| profile.grants(&tool.name)))
    }

    fn is_ready(&self, source: &Source, draft: &Draft) -> bool {
        let parent = draft.extends.as_deref();
        source.origin == Origin::BuiltIn || parent.is_none_or(|name| self.get(name).is_ok())
    }

    fn finish(&self, origin: &Origin, draft: &Draft) -> Result<Profile, Vec<Fault>> {
        let bad = |message: String, hint: &str| {
            Err(vec![Fault::new(Code::BadProfile, draft.name_place(), message, hint)])
        };
        let built_in = Confinement::parse(&draft.name).filter(|_| *origin == Origin::BuiltIn);
        let extended = draft.extends.as_deref().and_then(|name| self.get(name).ok());
        // The built-in ones are being read when they come here: they have no parent.
        let is_own = *origin != Origin::BuiltIn;
        let parent = extended.or_else(|| if is_own { draft.smallest() } else { None });
        if let Ok(taken) = self.get(&draft.name)
            && !is_narrowing(taken, parent)
        {
            let message = format!("The name `{}` is taken ({}).", draft.name, taken.origin);
            return bad(message, "Choose another name.");
        }
        let Some(confinement) = built_in.or(parent.map(|parent| parent.confinement)) else {
            let hint = "Write `extends: read-only` or another profile, or name its `tools`: the jail comes from them.";
            return bad(format!("The profile `{}` extends none.", draft.name), hint);
        };
        let inherit = |take: fn(&Profile) -> &Vec<String>| parent.map(take).cloned();
        let mut limits = parent.map(|parent| parent.limits.clone()).unwrap_or_default();
        limits.extend(draft.limits.iter().copied());
        let profile = Profile {
            name: draft.name.clone(),
            description: draft
                .description
                .clone()
                .or_else(|| parent.map(|parent| parent.description.clone()))
                .unwrap_or_default(),
            origin: origin.clone(),
            extends: parent.map(|parent| parent.name.clone()),
            confinement,
            tools: if draft.extends.is_some() {
                None
            } else {
                parent.and_then(|one| draft.narrowed(one))
            }
            .or_else(|| draft.tools.clone())
            .or_else(|| parent.map(|parent| parent.tools.clone()))
            .unwrap_or_default(),
            hosts: draft.hosts.clone().or_else(|| inherit(|one| &one.hosts)).unwrap_or_default(),
            names_hosts: draft.hosts.is_some() || parent.is_some_and(|one| one.names_hosts),
            limits,
            use_cases: draft
                .use_cases
                .clone()
                .or_else(|| inherit(|one| &one.use_cases))
                .unwrap_or_default(),
        };
        let refused = parent.map(|parent| refusals(&profile, parent)).unwrap_or_default();
        let faults: Vec<Fault> = refused
            .iter()
            .map(|error| {
                let place = match error {
                    Error::Wider { excess, .. } => draft.place_of(excess),
                    _ => draft.extends_place(),
                };
                Fault::new(error.code(), place, error.to_string(), error.hint())
            })
            .collect();
        if faults.is_empty() { Ok(profile) } else { Err(faults) }
    }
}

/// Whether a built-in profile gives its name to one that is narrowed from it.
fn is_narrowing(taken: &Profile, parent: Option<&Profile>) -> bool {
    taken.origin == Origin::BuiltIn && parent.is_some_and(|parent| parent.name == taken.name)
}

/// Why a profile of its origin may not be what it is. `Task` is in the profile that can spawn, whoever asks.
fn refusals(profile: &Profile, parent: &Profile) -> Vec<Error> {
    if !profile.origin.is_trusted() {
        let Ok(built_in) = built_in_for(profile) else {
            return vec![Error::FullAccess { profile: profile.name.clone() }];
        };
        let mut refused = excesses(profile, built_in);
        let of = |error: &Error| match error {
            Error::Wider { excess, .. } => Some(excess.clone()),
            _ => None,
        };
        let further = excesses(profile, parent);
        let told: Vec<_> = refused.iter().filter_map(of).collect();
        refused.extend(
            further.into_iter().filter(|error| of(error).is_none_or(|one| !told.contains(&one))),
        );
        return refused;
    }
    let mut refused = Vec::new();
    // What was accepted must not change with a file that was not.
    if !parent.origin.is_trusted() {
        let file = parent.origin.to_string();
        let (profile, parent) = (profile.name.clone(), parent.name.clone());
        refused.push(Error::Unaccepted { profile, parent, file });
    }
    if profile.grants(TASK) && profile.confinement != Confinement::FullAccess {
        let (profile, parent) = (profile.name.clone(), parent.name.clone());
        refused.push(Error::Wider { profile, parent, excess: Excess::Tool(TASK.to_owned()) });
    }
    refused
}

/// The built-in profile whose jail it has.
fn built_in_for(profile: &Profile) -> Result<&'static Profile, Error> {
    if profile.confinement == Confinement::FullAccess {
        return Err(Error::FullAccess { profile: profile.name.clone() });
    }
    Profiles::built_in().get(profile.confinement.as_str())
}

fn within_built_in(profile: &Profile) -> Result<(), Error> {
    narrow(profile, built_in_for(profile)?).map(|_| ())
}

/// Why what a file extends was never found.
fn unfinished(draft: &Draft, open: &[(&Source, Draft)], known: &Profiles) -> Fault {
    let place = draft.extends_place();
    let mut next = draft;
    for _ in 0..open.len() {
        let parent = next.extends.as_deref().unwrap_or_default();
        let Some((_, other)) = open.iter().find(|(_, other)| other.name == parent) else {
            let names: Vec<&str> = known.iter().map(|one| one.name.as_str()).collect();
            let name = &next.name;
            let message =
                format!("`{name}` extends `{parent}`, which is no profile that can be used.");
            let hint = format!("Profiles that can be used are {}.", names.join(", "));
            return Fault::new(Code::UnknownProfile, place, message, hint);
        };
        next = other;
    }
    let message = format!("The profile `{}` extends itself in a circle.", draft.name);
    Fault::new(Code::BadProfile, place, message, "Let one of them extend a built-in profile.")
}

pub(super) const SOURCES: [&str; 5] = [
    include_str!("builtin/read-only.yaml"),
    include_str!("builtin/research.yaml"),
    include_str!("builtin/validate.yaml"),
    include_str!("builtin/writer.yaml"),
    include_str!("builtin/full-access.yaml"),
];
