//! A role: prompt, profile, phase and model of an agent.

use std::fmt;
use std::sync::LazyLock;

use serde::Deserialize;

/// What an agent is told to be, and what it may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    pub name: String,
    pub description: String,
    pub profile: String,
    pub phase: String,
    /// `strong`, `cheap`, or a `provider/model`.
    pub model: Option<String>,
    /// The Markdown after the front matter.
    pub prompt: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

#[derive(Deserialize)]
struct FrontMatter {
    name: String,
    description: String,
    profile: String,
    phase: String,
    model: Option<String>,
}

impl Role {
    /// Reads front matter between `---` lines, then the prompt.
    pub fn parse(source: &str) -> Result<Self, Error> {
        let fault = |message: String| Error { message };
        let rest = source.strip_prefix("---\n").ok_or_else(|| {
            fault("An agent's file begins with front matter between `---` lines.".to_owned())
        })?;
        let (front, prompt) = rest
            .split_once("\n---\n")
            .ok_or_else(|| fault("The front matter is not closed by `---`.".to_owned()))?;
        let front: FrontMatter = serde_saphyr::from_str(front)
            .map_err(|error| fault(format!("The front matter cannot be read: {error}.")))?;
        Ok(Self {
            name: front.name,
            description: front.description,
            profile: front.profile,
            phase: front.phase,
            model: front.model,
            prompt: prompt.trim_start_matches('\n').to_owned(),
        })
    }
}

/// The roles that come with the product, in the order they are listed.
pub fn built_in() -> &'static [Role] {
    static ROLES: LazyLock<Vec<Role>> =
        LazyLock::new(|| SOURCES.iter().filter_map(|source| Role::parse(source).ok()).collect());
    &ROLES
}

pub fn find(name: &str) -> Option<&'static Role> {
    built_in().iter().find(|role| role.name == name)
}

/// The names of all roles, for a message.
pub fn names() -> String {
    let names: Vec<&str> = built_in().iter().map(|role| role.name.as_str()).collect();
    names.join(", ")
}

const SOURCES: [&str; 13] = [
    include_str!("builtin/explore.md"),
    include_str!("builtin/plan.md"),
    include_str!("builtin/general-purpose.md"),
    include_str!("builtin/planner.md"),
    include_str!("builtin/reviewer.md"),
    include_str!("builtin/executor.md"),
    include_str!("builtin/verifier.md"),
    include_str!("builtin/researcher.md"),
    include_str!("builtin/writer.md"),
    include_str!("builtin/validator.md"),
    include_str!("builtin/analyzer.md"),
    include_str!("builtin/architect.md"),
    include_str!("builtin/quick-writer.md"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_role_can_be_read() {
        let parsed: Result<Vec<_>, _> = SOURCES.iter().map(|source| Role::parse(source)).collect();
        let roles = parsed.unwrap();
        let names: Vec<_> = roles.iter().map(|role| role.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "Explore",
                "Plan",
                "general-purpose",
                "planner",
                "reviewer",
                "executor",
                "verifier",
                "researcher",
                "writer",
                "validator",
                "analyzer",
                "architect",
                "quick-writer",
            ]
        );
    }

    #[test]
    fn built_in_prompts_say_nothing_of_more_than_one_task() {
        for role in built_in() {
            let prompt = role.prompt.to_lowercase();
            for word in ["other task", "total tasks", "sibling", "next task", "the plan's tasks"] {
                assert!(!prompt.contains(word), "{} says {word:?}", role.name);
            }
        }
    }

    #[test]
    fn a_file_without_front_matter_is_refused_with_the_reason() {
        let error = Role::parse("You are an agent.").unwrap_err();
        assert_eq!(error.message, "An agent's file begins with front matter between `---` lines.");
    }
}
