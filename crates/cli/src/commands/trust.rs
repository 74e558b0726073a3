//! `sequester trust`: what files of the repository ask for beyond what they may, and the person's word on it.

mod foreign_store;

use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::process::ExitCode;

use sequester_core::fault::{Code, FileFault};
use sequester_core::limits::Limits;

use self::foreign_store::ForeignStore;
use crate::Outcome;
use crate::args::{Args, Reading, TrustArgs};
use crate::failure::Failure;
use crate::output;
use crate::render::terminal;
use crate::render::trust::{self as view, Shown};
use crate::wire::runs;
use crate::wire::trust::{Asking, Trust, Untrusted};
use crate::wire::{Agents, PlanFile, config, find_root};

pub(crate) fn run(args: &Args, given: &TrustArgs) -> Outcome {
    let root = find_root(args)?;
    let trust = Trust::look();
    let agents = Agents::read(&root, config::folder().as_deref(), &trust);
    let found = find(&root, given, &agents)?;
    let store = runs::place(&root);
    let is_meant = given.file.is_empty() || given.file.iter().any(|file| is_same(file, &store));
    let mut foreign = if is_meant { ForeignStore::look(&root)? } else { None };
    let is_only_store = foreign.is_some() && found.is_empty();
    if !args.json && !is_only_store {
        output::print(&view::render(&shown(&root, &found, &trust), terminal::width()))?;
    }
    if let Some(foreign) = foreign.as_ref().filter(|_| !args.json) {
        output::print(&terminal::fold(&terminal::clean(&foreign.text()), terminal::width()))?;
    }
    let open = foreign.is_some() || shown(&root, &found, &trust).iter().any(Shown::is_open);
    if given.forget {
        forget(&root, &found, &trust)?;
    } else if given.yes || (!args.json && agrees(open)?) {
        accept(&root, &found, &trust)?;
        if let Some(foreign) = &mut foreign {
            foreign.accept(&root)?;
        }
    }
    let shown = shown(&root, &found, &trust);
    if args.json {
        let whole = serde_json::json!({ "root": root, "files": shown, "store": foreign });
        output::print_json(&whole)?;
    } else {
        if !is_only_store {
            output::print(&view::ended(&shown, terminal::width()))?;
        }
        if let Some(foreign) = &foreign {
            let said = if foreign.accepted {
                "The runs are signed as yours.\n"
            } else {
                "The runs are not accepted. `sequester trust --yes` accepts them without asking.\n"
            };
            output::print(said)?;
        }
    }
    let unread = if given.file.is_empty() { tell_unread(&agents) } else { 0 };
    let of_store = foreign.map(|foreign| if foreign.accepted { 0 } else { 5 });
    let exits = shown.iter().map(Shown::exit).chain((unread > 0).then_some(2)).chain(of_store);
    let exit = exits.min_by_key(|exit| (*exit == 0, *exit)).unwrap_or(0);
    Ok(ExitCode::from(if given.forget { 0 } else { exit }))
}

fn is_same(file: &Path, other: &Path) -> bool {
    file.canonicalize().is_ok_and(|file| other.canonicalize().is_ok_and(|other| file == other))
}

fn shown<'a>(root: &Path, found: &'a [Asking], trust: &Trust) -> Vec<Shown<'a>> {
    let show = |asking: &'a Asking| {
        Shown::of(asking, trust.standing(&file(root, asking), content(asking)))
    };
    found.iter().map(show).collect()
}

/// How many files nobody could read: what they ask for is not shown, and does not count.
fn tell_unread(agents: &Agents) -> usize {
    agents
        .unread()
        .inspect(|one| {
            let FileFault { file, fault } = one;
            output::tell(&format!("`{file}` does not count: {} {}", fault.message, fault.hint));
        })
        .count()
}

/// The files that were named, or all that ask for something.
fn find(root: &Path, given: &TrustArgs, agents: &Agents) -> Result<Vec<Asking>, Failure> {
    let mut known = agents.asked();
    known.extend(config::asked(root, agents.registry())?);
    known.sort_by(|one, two| one.source.origin.cmp(&two.source.origin));
    if given.file.is_empty() {
        return Ok(known);
    }
    let mut found = Vec::new();
    for named in &given.file {
        let path = named.canonicalize().map_err(|error| {
            let message = format!("The file cannot be opened: {error}.");
            let hint = "Name a file of the repository, or a plan.";
            Failure::input(Code::Unreadable, named.display(), message, hint)
        })?;
        let own = known.iter().position(|asking| file(root, asking).place() == path);
        match own {
            Some(at) => found.push(known.remove(at)),
            None if is_own(root, &path) => {}
            None => found.extend(read_plan(&path, named)?.asked(agents)),
        }
    }
    Ok(found)
}

/// Whether it is a file that a repository configures with, which then asks for nothing.
fn is_own(root: &Path, path: &Path) -> bool {
    let inside = path.strip_prefix(root).unwrap_or(Path::new(""));
    inside == Path::new("sequester.toml")
        || inside.starts_with(".sequester")
        || inside.starts_with(".claude")
}

fn read_plan(path: &Path, named: &Path) -> Result<PlanFile, Failure> {
    let reading = Reading { plan: path.to_owned(), ..Reading::default() };
    let file = PlanFile::read(&reading, &Limits::default())?;
    if file.plan.tasks.is_empty() {
        let message = "This is neither a plan nor a file that a repository configures with.";
        let hint = "Name a plan, `sequester.toml`, or a file of `.sequester` or `.claude`.";
        return Err(Failure::input(Code::EmptyPlan, named.display(), message, hint));
    }
    Ok(file)
}

/// Asks, where somebody is there to answer and something to be answered.
fn agrees(open: bool) -> Result<bool, Failure> {
    if !open || !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Ok(false);
    }
    output::print("Accept what is listed as it stands? [y/N] ")?;
    let mut answer = String::new();
    let read = io::stdin().read_line(&mut answer);
    Ok(read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// What is accepted is what was read and shown, whatever lies there by now.
fn accept(root: &Path, found: &[Asking], trust: &Trust) -> Result<(), Failure> {
    found.iter().filter(|asking| asking.faults.is_empty()).try_for_each(|asking| {
        trust.accept(&file(root, asking), content(asking)).map_err(|error| unwritten(&error))
    })
}

fn forget(root: &Path, found: &[Asking], trust: &Trust) -> Result<(), Failure> {
    found.iter().try_for_each(|asking| {
        trust.forget(&file(root, asking)).map(drop).map_err(|error| unwritten(&error))
    })
}

fn file<'a>(root: &'a Path, asking: &'a Asking) -> Untrusted<'a> {
    Untrusted { root, path: asking.source.origin.in_repository().unwrap_or_default() }
}

fn content(asking: &Asking) -> &[u8] {
    asking.source.text.as_bytes()
}

fn unwritten(error: &io::Error) -> Failure {
    let message = format!("Your trust could not be noted: {error}.");
    let hint = "Check the folder that `XDG_STATE_HOME` or `HOME` names.";
    Failure::work(Code::Unwritable, "", message, hint)
}
