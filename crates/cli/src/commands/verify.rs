//! `sequester verify`: whether a bundle of a run is what was recorded, on any machine and without a repository.

use std::fmt::Write as _;
use std::fs;
use std::process::ExitCode;
use std::sync::Arc;

use sequester_core::audit::{Archive, Rule, audit};
use sequester_core::change::Change;
use sequester_core::digest::Digest;
use sequester_core::fault::Code;
use sequester_core::id::{CommitId, TreeId};
use sequester_core::repository::Snapshot;
use sequester_core::run::Event;
use sequester_git::commit_id;
use sequester_store::{Bundle, PublicKey};
use serde_json::json;

use crate::Outcome;
use crate::args::{Args, VerifyArgs};
use crate::failure::Failure;
use crate::output;
use crate::render::terminal::{self, plural};

pub(crate) fn run(args: &Args, given: &VerifyArgs) -> Outcome {
    let bytes = fs::read(&given.file).map_err(|error| {
        let message = format!("The bundle cannot be read: {error}.");
        let hint = "Name a file that `sequester audit RUN --bundle FILE` wrote.";
        Failure::input(Code::Unreadable, given.file.display(), message, hint)
    })?;
    let bundle = Bundle::read(&bytes).map_err(|error| {
        Failure::input(Code::StoreDamaged, given.file.display(), error.message, error.hint)
    })?;
    let wanted = given.signer.as_deref().map(find_key).transpose()?;
    let mut faults = bundle.faults.clone();
    faults.extend(check_commits(&bundle));
    faults.extend(check_records(&bundle));
    if let Some(wanted) = wanted {
        match bundle.signer {
            Some(signer) if signer == wanted => {}
            Some(signer) => faults.push(format!("It is signed by `{signer}`, not by `{wanted}`.")),
            None => faults.push(format!("It has no valid signature of `{wanted}`.")),
        }
    }
    let is_consistent = faults.is_empty();
    if args.json {
        output::print_json(&json!({
            "run": bundle.run,
            "consistent": is_consistent,
            "signer": bundle.signer.map(|signer| signer.to_string()),
            "signer_known": wanted.is_some() && wanted == bundle.signer,
            "events": bundle.events.len(),
            "blobs": bundle.blobs.len(),
            "commits": bundle.commits.len(),
            "faults": faults,
        }))?;
    } else {
        output::print(&tell(&bundle, wanted, &faults))?;
    }
    Ok(if is_consistent { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A key as it is written, or the file that holds it.
fn find_key(named: &str) -> Result<PublicKey, Failure> {
    let text = fs::read_to_string(named).unwrap_or_else(|_| named.to_owned());
    text.parse().map_err(|message: String| {
        let hint = "`sequester audit` and `sequester doctor` print yours.";
        Failure::input(Code::BadArguments, "--signer", message, hint)
    })
}

/// Commits are named by what they hold, and each one that events name is there.
fn check_commits(bundle: &Bundle) -> Vec<String> {
    let mut faults = Vec::new();
    for one in &bundle.commits {
        if commit_id(&one.commit, one.object.as_bytes()).as_deref() != Some(one.commit.as_str()) {
            faults.push(format!("The commit `{}` is not what its name says.", one.commit));
        }
    }
    let is_there =
        |commit: &CommitId| bundle.commits.iter().any(|one| one.commit == commit.as_str());
    for event in &bundle.events {
        if let Event::TaskCommitted { commit, .. } = &event.entry.event
            && !is_there(commit)
        {
            faults.push(format!("The commit `{commit}` is missing."));
        }
    }
    faults
}

/// What needs no tree: files in contexts and leaks are judged in the repository, by `sequester audit`.
fn check_records(bundle: &Bundle) -> Vec<String> {
    let needs_tree = |rule: Rule| matches!(rule, Rule::Fragment | Rule::Leak | Rule::Base);
    let found = audit(&bundle.events, &Bundled(bundle));
    let breaches = found.breaches.into_iter().filter(|breach| !needs_tree(breach.rule));
    breaches.map(|breach| format!("{}: {}", breach.rule.as_str(), breach.detail)).collect()
}

/// A bundle in the place of a store and a repository.
struct Bundled<'a>(&'a Bundle);

impl Archive for Bundled<'_> {
    fn blob(&self, digest: &Digest) -> Option<Vec<u8>> {
        self.0.blobs.get(digest).cloned()
    }

    fn damaged(&self) -> Vec<Option<Digest>> {
        Vec::new()
    }

    fn tree(&self, _: &TreeId) -> Option<Arc<dyn Snapshot>> {
        None
    }

    fn between(&self, _: &TreeId, _: &TreeId) -> Option<Change> {
        None
    }
}

fn tell(bundle: &Bundle, wanted: Option<PublicKey>, faults: &[String]) -> String {
    let Bundle { run, events, blobs, commits, signer, .. } = bundle;
    let mut out = format!(
        "Run {run}: {}, {}, {}.\n",
        plural(events.len(), "event"),
        plural(blobs.len(), "blob"),
        plural(commits.len(), "commit")
    );
    let said = match (faults.is_empty(), signer, wanted) {
        (false, ..) => "Not consistent:".to_owned(),
        (true, Some(signer), Some(_)) => format!("Consistent, signed by `{signer}`."),
        (true, Some(signer), None) => {
            format!("Consistent, signer unknown: `{signer}`. `--signer PUB` checks whose it is.")
        }
        (true, None, _) => "Consistent, signer unknown: it is not signed.".to_owned(),
    };
    let _ = writeln!(out, "{said}");
    for fault in faults {
        let _ = writeln!(out, "  {fault}");
    }
    out.push_str("Not looked at: what files of the repository held. `sequester audit` does so where the repository is.\n");
    terminal::fold(&terminal::clean(&out), terminal::width())
}
