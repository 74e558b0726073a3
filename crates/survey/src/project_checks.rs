//! Which commands check a project: those that are configured, then those that the project itself names or makes certain.

pub(crate) mod ci;
mod language;
mod node;
mod project;
mod python;
pub(crate) mod recipe;
mod security;
mod toolchain;

use std::collections::BTreeMap;

use sequester_core::check::Kind;
use sequester_core::repository::Snapshot;
use serde::Serialize;

use project::{Folder, Project};
use recipe::{JUSTFILES, MAKEFILES, Recipe};

pub(crate) use node::package_manager;
pub(crate) use python::pytest_settings;
pub(crate) use toolchain::toolchains;

/// A kind of check, with its command if there is one. Without one it is not found, and has never passed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoundCheck {
    pub kind: Kind,
    pub command: Option<String>,
    /// Where it was found: a file with a line or a key.
    pub from: String,
}

/// A command with the place that it was found at.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sign {
    /// Whose it is: what a tool checks from the root, it does not check again in a folder.
    tool: String,
    kind: Kind,
    command: String,
    from: String,
}

impl Sign {
    fn new(tool: &str, kind: Kind, command: impl Into<String>, from: impl Into<String>) -> Self {
        Self { tool: tool.to_owned(), kind, command: command.into(), from: from.into() }
    }
}

const CONFIGURED: &str = "configuration";
const SWITCHED_OFF: &str = "switched off in the configuration";
const NOT_FOUND: &str = "not configured, and not named by the project";

/// One of each kind of a project's checks, in the order of [`Kind::PROJECT`]. An empty command switches a kind off. Whether a
/// program is `installed` is asked of those that a project need not have. What several folders or tools need is one
/// command, each part in its folder.
pub fn detect_checks(
    snapshot: &dyn Snapshot,
    configured: &BTreeMap<Kind, String>,
    installed: &dyn Fn(&str) -> bool,
) -> Vec<FoundCheck> {
    let all_set = Kind::PROJECT.iter().all(|kind| configured.contains_key(kind));
    let project = (!all_set).then(|| Project::look(snapshot));
    let signs = project.as_ref().map_or_else(Vec::new, |project| signs(project, installed));
    let found = |kind: Kind| {
        if let Some(command) = configured.get(&kind) {
            let is_on = !command.is_empty();
            let from = if is_on { CONFIGURED } else { SWITCHED_OFF }.to_owned();
            return FoundCheck { kind, command: is_on.then(|| command.clone()), from };
        }
        join(kind, &signs)
    };
    Kind::PROJECT.into_iter().map(found).collect()
}

fn join(kind: Kind, signs: &[Sign]) -> FoundCheck {
    let mut commands: Vec<&str> = Vec::new();
    let mut places: Vec<&str> = Vec::new();
    for sign in signs.iter().filter(|sign| sign.kind == kind) {
        if !commands.contains(&sign.command.as_str()) {
            commands.push(&sign.command);
            places.push(&sign.from);
        }
    }
    if commands.is_empty() {
        return FoundCheck { kind, command: None, from: NOT_FOUND.to_owned() };
    }
    FoundCheck { kind, command: Some(commands.join(" && ")), from: places.join(", ") }
}

/// All of them: those of the root, then of folders below for what the root's tools do not cover.
fn signs(project: &Project<'_>, installed: &dyn Fn(&str) -> bool) -> Vec<Sign> {
    let tools = [language::signs, node::signs, python::signs];
    let look = |folder: &Folder<'_>| tools.iter().flat_map(|tool| tool(folder)).collect::<Vec<_>>();
    let root = project.root();
    let mut signs = look(&root);
    // A recipe at the root is the project's own word for all of it; it stands in where no tool is sure.
    let mut recipes = recipes(&root);
    recipes.retain(|recipe| !signs.iter().any(|sign| sign.kind == recipe.kind));
    let has_recipe = |kind: Kind| recipes.iter().any(|recipe| recipe.kind == kind);
    let covered = |sign: &Sign| {
        let same = |own: &Sign| (own.kind, &own.tool) == (sign.kind, &sign.tool);
        has_recipe(sign.kind) || signs.iter().any(same)
    };
    let mut below = Vec::new();
    for folder in project.folders() {
        let fresh = look(&folder).into_iter().filter(|sign| !covered(sign));
        below.extend(fresh.map(|sign| Sign {
            command: format!("(cd {} && {})", folder.path(), sign.command),
            ..sign
        }));
    }
    signs.extend(below);
    signs.extend(recipes);
    if signs.iter().all(|sign| sign.kind != Kind::Security) {
        signs.extend(security::signs(&root, installed));
    }
    signs
}

/// By the names that people give to such recipes, the likeliest first.
const NAMES: [(Kind, &[&str]); 4] = [
    (Kind::Types, &["typecheck", "type-check", "types", "check-types"]),
    (Kind::Lint, &["lint"]),
    (Kind::Tests, &["test", "tests", "check"]),
    (Kind::Security, &["security", "audit"]),
];

fn recipes(folder: &Folder<'_>) -> Vec<Sign> {
    let made =
        |names: &[&'static str]| names.iter().find_map(|name| Some((*name, folder.text(name)?)));
    let mut signs = Vec::new();
    for (tool, file) in [("make", made(&MAKEFILES)), ("just", made(&JUSTFILES))] {
        let Some((path, text)) = file else { continue };
        let recipes = if tool == "make" { recipe::targets(text) } else { recipe::recipes(text) };
        for (kind, names) in NAMES {
            let named = |name: &&str| recipes.iter().find(|recipe| recipe.name == *name);
            if let Some(Recipe { name, line, .. }) = names.iter().find_map(named) {
                signs.push(Sign::new(
                    tool,
                    kind,
                    format!("{tool} {name}"),
                    format!("{path}:{line}"),
                ));
            }
        }
    }
    signs
}
