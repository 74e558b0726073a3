//! The configuration that `init` writes. Prose stands after `# `, a default after `#` alone: taking that away sets it.

use std::fmt::Write as _;

use sequester_core::limits::{Limit, Unit};
use sequester_survey::FoundCheck;

use super::terminal::clean;
use crate::wire::checkup::Checkup;

const HEAD: &str = r#"# How `sequester` works on this repository. Everything has a default: what stands behind a `#` without a space.
# What is yours alone (keys, hosts, what writers may change beyond the usual) belongs into your own
# `config.toml`, in `~/.config/sequester`.

# Which model works: `provider/model`, several in order, `auto` for the first that can be had, or `literal`.
#model = "auto"
#models.strong = "auto"
#models.cheap = "auto"
#agents.reviewer.model = "strong"

# How a task is worked on: solo, chain, pipeline, build, parallel, adaptive, or one of `.sequester/workflows/`.
#workflow = "build"
# One reviewer with two verdicts, or one after the other: `two-stage`.
#review = "verdicts"
# Whether new tests must fail without the change and pass with it.
#tdd = false
# How far records travel: `needs`, `none` or `all-earlier`.
#share = "needs"
# By what they are chosen for a task: `words`, `seed` or `off`; and which kinds there are.
#relevance = "words"
#records.summaries = true
#records.notes = true
#records.artifacts = false
#records.backpack = false
# Tasks at once; without it the cores, at most 8.
#jobs = 2
"#;

/// A whole file.
pub(crate) fn file(checks: &[FoundCheck]) -> String {
    let mut text = HEAD.to_owned();
    text += "\n# What the runtime runs to check a change, in a jail without network.\n[checks]\n";
    for FoundCheck { kind, command, from } in checks {
        let kind = kind.as_str();
        let _ = match command {
            Some(command) => writeln!(text, "# {}\n{kind} = {}", one_line(from), quoted(command)),
            None => writeln!(text, "# {from}\n#{kind} = \"COMMAND\""),
        };
    }
    text += "\n# The most that one subagent may use; a repository can only lower them.\n[limits]\n";
    for limit in Limit::ALL {
        if let Some(value) = limit.default() {
            let _ = writeln!(text, "# {}\n#{} = {value}", counted(limit), limit.as_str());
        }
    }
    text
}

fn counted(limit: Limit) -> &'static str {
    match limit.unit() {
        Unit::Tokens => "tokens",
        Unit::Times => "times",
        Unit::Seconds => "seconds",
        Unit::Bytes => "bytes",
        Unit::Price => "millionths of a dollar",
    }
}

/// As TOML has it, whatever a repository's files hold.
fn quoted(text: &str) -> String {
    // JSON's strings are TOML's, but for one character.
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What was found, for a person.
pub(crate) fn found(checks: &[FoundCheck], checkup: &Checkup) -> String {
    let mut text = "Wrote `sequester.toml`.\n\n".to_owned();
    for FoundCheck { kind, command, from } in checks {
        let command = command.as_deref().map_or("not found".into(), clean);
        let _ = writeln!(text, "  {:<9} {command}  ({})", kind.as_str(), clean(from));
    }
    for model in checkup.models.iter().filter(|model| model.auto) {
        let _ = writeln!(text, "  {:<9} {}  ({})", "model", clean(&model.name), clean(&model.why));
    }
    let kept = |name: &&str| {
        checkup.guarantees.get(*name).is_some_and(|all| all.values().all(|is_kept| *is_kept))
    };
    let (whole, partly): (Vec<&str>, Vec<&str>) =
        checkup.guarantees.keys().copied().partition(kept);
    let _ = writeln!(text, "  {:<9} {}", "jails", list(&whole));
    if !partly.is_empty() {
        let _ = writeln!(text, "  {:<9} {}", "no jail", list(&partly));
    }
    for problem in &checkup.problems {
        let _ = writeln!(text, "\n{} {}", clean(&problem.message), clean(&problem.hint));
    }
    text += "\nNext: `sequester plan PLAN` shows what a plan would do; `sequester doctor` looks at this machine in full.\n";
    text
}

fn list(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
