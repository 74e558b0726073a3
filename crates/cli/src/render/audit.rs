//! What an audit found, as people read it.

use std::fmt::Write as _;

use sequester_core::audit::{Audit, Breach};
use sequester_core::id::RunId;
use serde::Serialize;

use super::terminal::{clean, fold, plural};

/// The JSON shape of an audit.
#[derive(Serialize)]
pub(crate) struct Shown<'a> {
    run: &'a RunId,
    ok: bool,
    #[serde(flatten)]
    audit: &'a Audit,
}

impl<'a> Shown<'a> {
    pub(crate) fn of(run: &'a RunId, audit: &'a Audit) -> Self {
        Self { run, ok: audit.is_ok(), audit }
    }
}

/// The proof or the breaches, then what is neither.
pub(crate) fn render(run: &RunId, audit: &Audit, width: usize) -> String {
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
    use sequester_core::audit::Rule;

    fn audit(breaches: Vec<Breach>) -> Audit {
        let unproved = vec!["Some things.".to_owned()];
        Audit { contexts: 2, fragments: 40, requests: 1, breaches, unproved }
    }

    #[test]
    fn a_breach_names_its_place_and_rule() {
        let detail = "Its first message is not its prompt.".to_owned();
        let breach =
            Breach { task: Some("a".into()), attempt: Some(2), rule: Rule::Request, detail };
        let shown = render(&"r1".into(), &audit(vec![breach]), 200);
        assert!(shown.contains("  request      task a, attempt 2: Its first message"), "{shown}");
        assert!(shown.contains("1 breach:\n"), "{shown}");
    }

    #[test]
    fn the_json_has_the_promised_shape() {
        let run = RunId::from("r1");
        let shown = serde_json::to_value(Shown::of(&run, &audit(Vec::new()))).unwrap();
        let promised = serde_json::json!({
            "run": "r1", "ok": true, "contexts": 2, "fragments": 40, "requests": 1,
            "breaches": [], "unproved": ["Some things."],
        });
        assert_eq!(shown, promised);
    }
}
