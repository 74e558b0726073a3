//! What an audit found, as people read it.

use std::fmt::Write as _;

use sequester_audit::{Audit, Breach};
use sequester_core::id::RunId;
use sequester_store::{Acceptance, HeadState, PublicKey};
use serde::Serialize;

use super::terminal::{clean, fold, plural};

/// The JSON shape of an audit.
#[derive(Serialize)]
pub(crate) struct Shown<'a> {
    run: &'a RunId,
    ok: bool,
    #[serde(flatten)]
    audit: &'a Audit,
    signature: &'a SignatureShown,
}

/// Who vouches for the events.
#[derive(Serialize)]
pub(crate) struct SignatureShown {
    /// `signed`, `unsigned` or `broken`.
    state: &'static str,
    signer: Option<String>,
    /// Whether it is this user's, in this place.
    own: bool,
    /// The first event that is not vouched for.
    since: Option<u64>,
    /// What of it the signer did not record.
    #[serde(skip_serializing_if = "Option::is_none")]
    accepted: Option<AcceptedShown>,
}

/// The first events of a run that somebody else recorded.
#[derive(Serialize)]
pub(crate) struct AcceptedShown {
    events: u64,
    /// The key that they were signed with.
    recorded_by: Option<String>,
}

impl AcceptedShown {
    pub(crate) fn of(accepted: Acceptance) -> Self {
        let recorded_by = accepted.recorded_by.map(|key| key.to_string());
        Self { events: accepted.events, recorded_by }
    }

    pub(crate) fn sentence(&self) -> String {
        let events = plural(usize::try_from(self.events).unwrap_or(usize::MAX), "event");
        match &self.recorded_by {
            Some(key) => {
                format!(" The first {events} had been signed by `{key}`, and were accepted.")
            }
            None => format!(" The first {events} had no signature, and were accepted."),
        }
    }
}

impl SignatureShown {
    pub(crate) fn of(
        head: HeadState,
        own: Option<PublicKey>,
        accepted: Option<Acceptance>,
    ) -> Self {
        let accepted = accepted.map(AcceptedShown::of);
        let unsigned =
            Self { state: "unsigned", signer: None, own: false, since: None, accepted: None };
        match head {
            HeadState::Unsigned => unsigned,
            HeadState::Broken { since } => Self { state: "broken", since: Some(since), ..unsigned },
            HeadState::Signed { by, here } => {
                let is_own = here && own == Some(by);
                let signer = Some(by.to_string());
                Self { state: "signed", signer, own: is_own, since: None, accepted }
            }
        }
    }

    fn sentence(&self) -> String {
        let accepted = self.accepted.as_ref().map(AcceptedShown::sentence).unwrap_or_default();
        let signature = match (&self.signer, self.since) {
            (Some(signer), _) if self.own => format!("Signed by you, `{signer}`."),
            (Some(signer), _) => format!("Signed by `{signer}`, not by you in this place."),
            (None, Some(since)) => {
                format!("Broken since event {since}: from there on this is not what was signed.")
            }
            (None, None) => {
                "Unsigned: whoever could write to the store may have changed it.".to_owned()
            }
        };
        signature + &accepted
    }
}

impl<'a> Shown<'a> {
    pub(crate) fn of(run: &'a RunId, audit: &'a Audit, signature: &'a SignatureShown) -> Self {
        Self { run, ok: audit.is_ok() && signature.state != "broken", audit, signature }
    }
}

/// The proof or the breaches, then what is neither.
pub(crate) fn render(
    run: &RunId,
    audit: &Audit,
    signature: &SignatureShown,
    width: usize,
) -> String {
    let mut out = format!(
        "Run {run}: {}, {}, {}.\n",
        plural(audit.contexts, "context"),
        plural(audit.fragments, "fragment"),
        plural(audit.requests, "request")
    );
    if audit.is_ok() {
        out.push_str("Every promise that records can show was kept.\n");
    } else {
        let _ = writeln!(out, "{}:", plural_breaches(audit.breaches.len()));
    }
    for breach in &audit.breaches {
        let _ = writeln!(out, "  {:12} {}{}", breach.rule.as_str(), place(breach), breach.detail);
    }
    for row in &audit.persons {
        let how = if row.verified { " The checks found nothing against it." } else { "" };
        let _ = writeln!(out, "task {}: {}{how}", row.task, row.decision.sentence());
    }
    let _ = writeln!(out, "{}", signature.sentence());
    out.push_str("Not shown:\n");
    for sentence in &audit.unproved {
        let _ = writeln!(out, "  {sentence}");
    }
    fold(&clean(&out), width)
}

fn plural_breaches(count: usize) -> String {
    if count == 1 { "1 breach".to_owned() } else { format!("{count} breaches") }
}

fn place(breach: &Breach) -> String {
    match (&breach.task, breach.attempt) {
        (Some(task), Some(attempt)) => format!("task {task}, attempt {attempt}: "),
        (Some(task), None) => format!("task {task}: "),
        (None, _) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sequester_audit::Rule;

    fn audit(breaches: Vec<Breach>) -> Audit {
        let unproved = vec!["Some things.".to_owned()];
        Audit { contexts: 2, fragments: 40, requests: 1, breaches, persons: Vec::new(), unproved }
    }

    #[test]
    fn a_breach_names_its_place_and_rule() {
        let detail = "Its first message is not its prompt.".to_owned();
        let breach =
            Breach { task: Some("a".into()), attempt: Some(2), rule: Rule::Request, detail };
        let signature = SignatureShown::of(HeadState::Unsigned, None, None);
        let shown = render(&"r1".into(), &audit(vec![breach]), &signature, 200);
        assert!(shown.contains("  request      task a, attempt 2: Its first message"), "{shown}");
        assert!(shown.contains("1 breach:\n"), "{shown}");
    }

    #[test]
    fn the_json_has_the_promised_shape() {
        let run = RunId::from("r1");
        let signature = SignatureShown::of(HeadState::Broken { since: 3 }, None, None);
        let shown = serde_json::to_value(Shown::of(&run, &audit(Vec::new()), &signature)).unwrap();
        let promised = serde_json::json!({
            "run": "r1", "ok": false, "contexts": 2, "fragments": 40, "requests": 1,
            "breaches": [], "unproved": ["Some things."],
            "signature": {"state": "broken", "signer": null, "own": false, "since": 3},
        });
        assert_eq!(shown, promised);
    }
}
