//! `sequester verify`: whether a bundle of a run is what was recorded, on any machine and without a repository.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::process::ExitCode;
use std::sync::Arc;

use sequester_audit::{Archive, Rule, audit};
use sequester_core::change::Change;
use sequester_core::digest::Digest;
use sequester_core::fault::Code;
use sequester_core::id::TreeId;
use sequester_core::repository::Snapshot;
use sequester_core::run::Event;
use sequester_git::commit_id;
use sequester_store::{Bundle, PublicKey};
use serde_json::json;

use crate::Outcome;
use crate::args::{Args, VerifyArgs};
use crate::failure::Failure;
use crate::output;
use crate::render::audit::AcceptedShown;
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
    // What is not as it was written would break every rule for what was recorded.
    if faults.is_empty() {
        faults.extend(check_records(&bundle));
    }
    let is_consistent = faults.is_empty();
    let wrong_signer = wanted.and_then(|wanted| refuse_signer(&bundle, wanted));
    let is_accepted = is_consistent && wrong_signer.is_none();
    faults.extend(wrong_signer);
    if args.json {
        output::print_json(&json!({
            "run": bundle.run,
            "consistent": is_consistent,
            "signer": bundle.signer.map(|signer| signer.to_string()),
            "signer_known": wanted.is_some() && wanted == bundle.signer,
            "accepted": bundle.accepted.map(AcceptedShown::of),
            "events": bundle.events.len(),
            "blobs": bundle.blobs.len(),
            "commits": bundle.commits.len(),
            "faults": faults,
        }))?;
    } else {
        output::print(&tell(&bundle, wanted, (is_consistent, &faults)))?;
    }
    Ok(if is_accepted { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn refuse_signer(bundle: &Bundle, wanted: PublicKey) -> Option<String> {
    match bundle.signer {
        Some(signer) if signer == wanted => None,
        Some(signer) => Some(format!("It is signed by `{signer}`, not by `{wanted}`.")),
        None => Some(format!("It has no valid signature of `{wanted}`.")),
    }
}

/// A key as it is written, or the file that holds it.
fn find_key(named: &str) -> Result<PublicKey, Failure> {
    let refuse = |message: String| {
        let hint = "`sequester doctor` prints the key of whoever runs it: ask the person who made the bundle.";
        Failure::input(Code::BadArguments, "--signer", message, hint)
    };
    let text = match fs::read_to_string(named) {
        Ok(text) => text,
        Err(error) if named.parse::<PublicKey>().is_err() => {
            return Err(refuse(format!("`{named}` is no public key and no file: {error}.")));
        }
        Err(_) => named.to_owned(),
    };
    text.parse().map_err(refuse)
}

/// Commits are named by what they hold, and each one that events name is there.
fn check_commits(bundle: &Bundle) -> Vec<String> {
    let mut faults = Vec::new();
    for one in &bundle.commits {
        if commit_id(&one.commit, one.object.as_bytes()).as_deref() != Some(one.commit.as_str()) {
            faults.push(format!("The commit `{}` is not what its name says.", one.commit));
        }
    }
    let named = bundle.events.iter().filter_map(|event| match &event.entry.event {
        Event::TaskCommitted { commit, .. } => Some(commit.as_str()),
        _ => None,
    });
    let mut named: BTreeSet<&str> = named.collect();
    for one in &bundle.commits {
        if !named.remove(one.commit.as_str()) {
            faults
                .push(format!("No event names the commit `{}`, or it is there twice.", one.commit));
        }
    }
    faults.extend(named.into_iter().map(|commit| format!("The commit `{commit}` is missing.")));
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

fn tell(
    bundle: &Bundle,
    wanted: Option<PublicKey>,
    (is_consistent, faults): (bool, &[String]),
) -> String {
    let Bundle { run, events, blobs, commits, signer, .. } = bundle;
    let mut out = format!(
        "Run {run}: {}, {}, {}.\n",
        plural(events.len(), "event"),
        plural(blobs.len(), "blob"),
        plural(commits.len(), "commit")
    );
    let said = match (is_consistent, signer, wanted) {
        (false, ..) => "Not consistent:".to_owned(),
        (true, ..) if !faults.is_empty() => "Consistent, but not by that signer:".to_owned(),
        (true, Some(signer), Some(_)) => format!("Consistent, signed by `{signer}`."),
        (true, Some(signer), None) => {
            format!("Consistent, signer unknown: `{signer}`. `--signer PUB` checks whose it is.")
        }
        (true, None, _) => "Consistent, signer unknown: it is not signed.".to_owned(),
    };
    let accepted = bundle.accepted.map(|one| AcceptedShown::of(one).sentence());
    let _ = writeln!(out, "{said}{}", accepted.unwrap_or_default());
    for fault in faults {
        let _ = writeln!(out, "  {fault}");
    }
    out.push_str("Not looked at: what files of the repository held. `sequester audit` does so where the repository is.\n");
    terminal::fold(&terminal::clean(&out), terminal::width())
}
