//! The names that are protected, and the files that instruct agents.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use sequester_core::protected::{Grantor, INSTRUCTIONS, Kind, NAMES, ProtectedName};

use super::Page;

pub(super) fn page(_: &Path) -> Result<Page> {
    let mut text = "<!-- Made by `cargo xtask reference`. -->\n\n# Protected names\n\n\
        No change of a subagent may hold one of these, unless it is granted. A folder ends with a slash. A name without another \
        slash is protected wherever it lies, one with a slash only at that path (`/.travis.yml` at the root alone). [The jail](../jail.md) says how they are \
        kept, and how they are granted. A held name cannot be made while a writer works in a folder of your own; another one \
        that it makes at the top of that folder is renamed when it ends.\n\n\
        | name | granted by | held | reason |\n|---|---|---|---|\n"
        .to_owned();
    for ProtectedName { name, is_at_path, kind, grantor, is_held, reason } in NAMES.iter() {
        let root = if *is_at_path && !name.contains('/') { "/" } else { "" };
        let slash = if *kind == Kind::Folder { "/" } else { "" };
        let grantor = match grantor {
            Grantor::Nobody => "nobody",
            Grantor::Person => "you",
            Grantor::Task => "you, or a task that names the file",
        };
        let held = if *is_held { "yes" } else { "" };
        writeln!(text, "| `{root}{name}{slash}` | {grantor} | {held} | {reason} |")?;
    }
    text += "\n# Files that instruct agents\n\n\
        A change may hold these. `show`, `diff` and `apply` name them, so that you read them first.\n\n\
        | name | gives orders to |\n|---|---|\n";
    for (name, program) in INSTRUCTIONS.iter() {
        writeln!(text, "| `{name}` | {program} |")?;
    }
    Ok(Page("protected-names.md", text))
}
