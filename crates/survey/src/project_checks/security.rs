//! Programs that look for weaknesses without a network, where they are installed and have what they need.

use super::Sign;
use super::project::Folder;
use sequester_core::check::Kind;

/// Folders that bandit has nothing to say about.
const BANDIT: &str = "bandit -q -r . -ll -x ./tests,./test,./.venv,./venv,./node_modules";
const SEMGREP: &str = "semgrep scan --metrics off --disable-version-check --error --quiet --config";
/// Advisories need a network; what the project allows does not.
const CARGO_DENY: &str = "cargo deny --offline check bans licenses sources";

/// `npm audit` is not among them: without a network it finds nothing, whatever is installed.
pub(super) fn signs(folder: &Folder<'_>, installed: &dyn Fn(&str) -> bool) -> Vec<Sign> {
    let mut signs = Vec::new();
    let mut add = |tool: &str, command: String, from: &str| {
        signs.push(Sign::new(tool, Kind::Security, command, folder.whole(from)));
    };
    if folder.has("Cargo.toml") && folder.has("deny.toml") && installed("cargo-deny") {
        add("cargo deny", CARGO_DENY.to_owned(), "deny.toml");
    }
    let python = folder.first(&["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"]);
    if let Some(from) = python.filter(|_| installed("bandit")) {
        add("bandit", BANDIT.to_owned(), from);
    }
    let rules = folder.first(&[".semgrep.yml", ".semgrep.yaml"]);
    if let Some(from) = rules.filter(|_| installed("semgrep")) {
        add("semgrep", format!("{SEMGREP} {from}"), from);
    }
    signs
}
