//! Branches, and what keeps objects from being cleaned away.

use std::fs;
use std::path::{Path, PathBuf};

use sequester_core::repository::{Error, ErrorKind};

use crate::name::{Format, Name};
use crate::objects::Objects;
use crate::program::{Program, broken};

/// Where a ref stands.
pub(crate) fn find(program: &Program, format: Format, name: &str) -> Result<Option<Name>, Error> {
    let told = program.run(&["for-each-ref", "--format=%(objectname) %(refname)", name])?;
    if !told.success || !told.complaint.is_empty() {
        return Err(broken(format!("`{name}` cannot be read: {}", told.complaint)));
    }
    let lines = told.text.lines().filter_map(|line| line.split_once(' '));
    let found = lines.into_iter().find(|(_, refname)| *refname == name);
    found.map(|(id, _)| format.read(id)).transpose()
}

/// Moves a ref, if it stands at `from`; nothing for one that is not there.
pub(crate) fn set(
    program: &Program,
    format: Format,
    name: &str,
    [from, to]: [Option<&Name>; 2],
) -> Result<(), Error> {
    let id =
        |name: Option<&Name>| name.map_or_else(|| "0".repeat(format.length() * 2), Name::to_string);
    // On disk before anybody is told.
    let durable = ["-c", "core.fsync=reference", "update-ref"];
    let arguments = match to {
        Some(_) => vec!["--no-deref", "-m", "sequester", name],
        None => vec!["--no-deref", "-d", name],
    };
    let values = [to.map(|to| id(Some(to))), Some(id(from))];
    let values = values.iter().flatten().map(String::as_str);
    let told = program.run(&[&durable[..], &arguments, &values.collect::<Vec<_>>()].concat())?;
    if told.success {
        return Ok(());
    }
    let now = find(program, format, name)?;
    if now.as_ref() != from {
        let now = now.map_or("not there".to_owned(), |now| format!("at `{now}`"));
        let message = format!("`{name}` is not where it was last seen; it is {now}.");
        return Err(Error::new(ErrorKind::Denied, message));
    }
    Err(broken(format!("`{name}` cannot be moved: {}", told.complaint)))
}

/// Whether a commit is the other one or comes after it.
pub(super) fn is_forward(
    program: &Program,
    objects: &Objects,
    from: &Name,
    to: &Name,
) -> Result<bool, Error> {
    let bytes = objects.commit(to)?;
    let mut lines = bytes.split(|byte| *byte == b'\n').take_while(|line| !line.is_empty());
    let parent = format!("parent {from}");
    // Mostly one step.
    if from == to || lines.any(|line| line == parent.as_bytes()) {
        return Ok(true);
    }
    let (from, to) = (from.to_string(), to.to_string());
    let told = program.run(&["merge-base", &from, &to])?;
    Ok(told.success && told.text == from)
}

/// All refs below a folder of refs.
pub(super) fn list(program: &Program, folder: &str) -> Result<Vec<String>, Error> {
    let listed = program.ask(&["for-each-ref", "--format=%(refname)", folder])?;
    Ok(listed.lines().map(str::to_owned).collect())
}

/// Git's rules, and no more of them than are needed for a name to be one argument and no pattern.
pub(super) fn check(name: &str) -> Result<(), Error> {
    let odd = |c: char| c.is_control() || " ~^:?*[\\".contains(c);
    let bad_part = |part: &str| {
        let is_lock = Path::new(part).extension().is_some_and(|end| end == "lock");
        part.is_empty() || part.starts_with('.') || part.ends_with('.') || is_lock
    };
    let is_bad = name.chars().any(odd)
        || name.split('/').any(bad_part)
        || name.starts_with('-')
        || ["..", "@{"].iter().any(|bad| name.contains(bad));
    if is_bad || name == "@" {
        let message = format!("`{}` is no name that git takes.", name.escape_debug());
        return Err(Error::new(ErrorKind::Denied, message));
    }
    Ok(())
}

/// The folder of a worktree that has this ref checked out, or works on it in a rebase or bisection.
pub(super) fn checked_out(
    program: &Program,
    objects: &Objects,
    name: &str,
) -> Result<Option<PathBuf>, Error> {
    let Some(common) = objects.folder().parent() else { return Ok(None) };
    if common.join("reftable").is_dir() {
        return ask_checked_out(program, name);
    }
    let mut places = vec![common.to_owned()];
    if let Ok(worktrees) = fs::read_dir(common.join("worktrees")) {
        places.extend(worktrees.filter_map(|entry| entry.ok().map(|entry| entry.path())));
    }
    places.sort();
    let names = |file: PathBuf, start: &str| {
        fs::read_to_string(file).is_ok_and(|text| text.trim_end().strip_prefix(start) == Some(name))
    };
    let short = name.strip_prefix("refs/heads/").unwrap_or(name);
    let bisected =
        |file: PathBuf| fs::read_to_string(file).is_ok_and(|text| text.trim_end() == short);
    Ok(places.into_iter().find(|place| {
        names(place.join("HEAD"), "ref: ")
            || names(place.join("rebase-merge/head-name"), "")
            || names(place.join("rebase-apply/head-name"), "")
            || bisected(place.join("BISECT_START"))
    }))
}

/// The same where refs lie in tables that only git reads.
fn ask_checked_out(program: &Program, name: &str) -> Result<Option<PathBuf>, Error> {
    let listed = program.ask(&["worktree", "list", "--porcelain"])?;
    let mut place = None;
    for line in listed.lines() {
        if let Some(path) = line.strip_prefix("worktree ") {
            place = Some(PathBuf::from(path));
        } else if line.strip_prefix("branch ") == Some(name) {
            return Ok(place);
        }
    }
    Ok(None)
}
