//! All roles that are known.

use std::fmt::Write as _;
use std::sync::LazyLock;

use crate::fault::{Code, Fault, FileFault, Place};
use crate::profile::Profiles;
use crate::source::{Origin, Source, of_file};
use crate::spelling;

use super::Role;

/// The built-in roles, then those of files; a later one takes the place of an earlier one of its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registry {
    roles: Vec<Role>,
    faults: Vec<FileFault>,
}

impl Registry {
    /// The built-in roles and those of the files, in the order of the files. A file that cannot be used hides no other.
    pub fn read(sources: &[Source], profiles: &Profiles) -> Self {
        let mut registry = Self { roles: built_in().to_vec(), faults: Vec::new() };
        for source in sources {
            match Role::read(source, profiles) {
                Ok(role) => registry.add(role),
                Err(faults) => registry.faults.extend(of_file(&source.origin, faults)),
            }
        }
        registry
    }

    fn add(&mut self, mut role: Role) {
        let Some(earlier) = self.roles.iter_mut().find(|earlier| earlier.name == role.name) else {
            return self.roles.push(role);
        };
        if folder(&earlier.origin) == folder(&role.origin) {
            let message = format!("The name `{}` is that of {} too.", role.name, earlier.origin);
            let place = Place { line: 1, column: 1 };
            let fault = Fault::new(Code::BadAgent, place, message, "Choose another name.");
            return self.faults.extend(of_file(&role.origin, [fault]));
        }
        let is_untrusted = matches!(role.origin, Origin::Repository(_));
        if is_untrusted && earlier.origin == Origin::BuiltIn && earlier.phase.judges() {
            // Else a repository would judge itself.
            let what = format!("the built-in agent `{}`, which judges work", role.name);
            return self.faults.extend(of_file(&role.origin, [Fault::replaces(&what)]));
        }
        role.replaces = Some(earlier.origin.clone());
        *earlier = role;
    }

    /// Has the built-in writer keep functions short, where a person wants that.
    pub fn limit_functions(&mut self, lines: u64) {
        let is_writer = |role: &&mut Role| role.name == "writer" && role.origin == Origin::BuiltIn;
        for role in self.roles.iter_mut().filter(is_writer) {
            let _ = writeln!(role.prompt, "- Keep functions under {lines} lines.");
        }
    }

    pub fn roles(&self) -> &[Role] {
        &self.roles
    }

    /// What is wrong with files that were left out.
    pub fn faults(&self) -> &[FileFault] {
        &self.faults
    }

    pub fn find(&self, name: &str) -> Option<&Role> {
        self.roles.iter().find(|role| role.name == name)
    }

    /// The fault of the file that was to give this agent, going by the file's name.
    pub fn fault_of(&self, name: &str) -> Option<&FileFault> {
        self.faults.iter().find(|fault| {
            let file = fault.file.rsplit('/').next().unwrap_or_default();
            file.strip_suffix(".md").is_some_and(|stem| stem == name)
        })
    }

    /// Whether an agent has this name, or would if its file could be used.
    pub fn knows(&self, name: &str) -> bool {
        self.find(name).is_some() || self.fault_of(name).is_some()
    }

    /// What to do about a name that no agent has.
    pub fn hint(&self, name: &str) -> String {
        let names = || self.roles.iter().map(|role| role.name.as_str());
        let known = || format!("Known agents are {}.", names().collect::<Vec<_>>().join(", "));
        spelling::perhaps(name, names()).unwrap_or_else(known)
    }
}

fn folder(origin: &Origin) -> Option<&str> {
    match origin {
        Origin::BuiltIn => None,
        Origin::User(path) | Origin::Repository(path) | Origin::Accepted(path) => {
            Some(path.rsplit_once('/').map_or("", |(folder, _)| folder))
        }
    }
}

/// The roles that come with the product, in the order they are listed.
pub fn built_in() -> &'static [Role] {
    static ROLES: LazyLock<Vec<Role>> = LazyLock::new(|| {
        let source = |text: &&str| Source { origin: Origin::BuiltIn, text: (*text).to_owned() };
        let roles = SOURCES.iter().map(|text| Role::read(&source(text), Profiles::built_in()));
        roles.filter_map(Result::ok).collect()
    });
    &ROLES
}

/// A built-in role.
pub fn find(name: &str) -> Option<&'static Role> {
    built_in().iter().find(|role| role.name == name)
}

const SOURCES: [&str; 17] = [
    include_str!("builtin/explore.md"),
    include_str!("builtin/plan.md"),
    include_str!("builtin/general-purpose.md"),
    include_str!("builtin/planner.md"),
    include_str!("builtin/reviewer.md"),
    include_str!("builtin/spec-reviewer.md"),
    include_str!("builtin/quality-reviewer.md"),
    include_str!("builtin/executor.md"),
    include_str!("builtin/verifier.md"),
    include_str!("builtin/researcher.md"),
    include_str!("builtin/writer.md"),
    include_str!("builtin/validator.md"),
    include_str!("builtin/analyzer.md"),
    include_str!("builtin/architect.md"),
    include_str!("builtin/quick-writer.md"),
    include_str!("builtin/drafter.md"),
    include_str!("builtin/orchestrator.md"),
];
