//! Landlock: which paths can be opened, on top of what is mounted.

use std::io;

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetStatus, Scope,
};

use crate::blueprint::{Access, PathRule};

/// The newest version whose rights are asked for. An older kernel gives what it has; what must be there was probed.
const VERSION: ABI = ABI::V7;

/// Restricts this thread and all that it starts. Cannot be undone. Says whether the kernel took any of it.
pub(crate) fn restrict(rules: &[PathRule]) -> io::Result<bool> {
    let ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(VERSION))
        .and_then(|ruleset| ruleset.scope(Scope::from_all(VERSION)))
        .and_then(Ruleset::create)
        .map_err(io::Error::other)?;
    let mut ruleset = ruleset;
    for rule in rules {
        // A path that is not there needs no rule.
        let Ok(path) = PathFd::new(&rule.path) else { continue };
        let rights = rights(rule.access, is_folder(&rule.path));
        ruleset = ruleset.add_rule(PathBeneath::new(path, rights)).map_err(io::Error::other)?;
    }
    let status = ruleset.restrict_self().map_err(io::Error::other)?;
    Ok(status.ruleset != RulesetStatus::NotEnforced)
}

fn rights(access: Access, folder: bool) -> BitFlags<AccessFs> {
    let wanted = match access {
        Access::Read => AccessFs::from_read(VERSION),
        Access::Write => AccessFs::from_all(VERSION),
    };
    if folder { wanted } else { wanted & AccessFs::from_file(VERSION) }
}

fn is_folder(path: &std::path::Path) -> bool {
    path.is_dir()
}
