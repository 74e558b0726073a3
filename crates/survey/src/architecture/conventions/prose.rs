//! Rules out of AGENTS.md, CLAUDE.md and CONTRIBUTING: their list items first.

use sequester_core::architecture::Stated;

use crate::architecture::line::clean;
use crate::architecture::scan::{Scan, name};

const MOST_FILES: usize = 12;
/// Rules of one file, and of a contributing guide, which is mostly about people's manners.
const MOST_RULES: usize = 32;
const MOST_OF_GUIDE: usize = 16;
const MOST_LINE: usize = 220;

pub(super) fn state(scan: &Scan<'_>) -> Vec<Stated> {
    let rank = |path: &str| match name(path) {
        "AGENTS.md" => Some(0),
        "CLAUDE.md" => Some(1),
        name if name.to_ascii_uppercase().starts_with("CONTRIBUTING") => Some(2),
        _ => None,
    };
    let mut files = scan.matching(|path| rank(path).is_some());
    files.sort_by_key(|(path, _)| (rank(path), path.matches('/').count(), *path));
    let mut seen = std::collections::BTreeSet::new();
    let mut found = Vec::new();
    for (path, text) in files.into_iter().take(MOST_FILES) {
        let guide = rank(path) == Some(2);
        let all = rules(text, guide);
        let most = if guide { MOST_OF_GUIDE } else { MOST_RULES };
        let fresh: Vec<String> = all
            .into_iter()
            .filter(|rule| seen.insert(rule.clone()))
            .collect();
        let rest = fresh.len().saturating_sub(most);
        found.extend(
            fresh
                .into_iter()
                .take(most)
                .map(|rule| Stated::new(rule, path)),
        );
        if rest > 0 {
            found.push(Stated::new(
                format!("and {rest} more rules in the file"),
                path,
            ));
        }
    }
    found
}

/// List items and lines that demand something, in the order of the file; a guide's items must demand something too.
fn rules(text: &str, guide: bool) -> Vec<String> {
    let mut rules = Vec::new();
    let mut fenced = false;
    let mut open = false;
    for line in text.lines() {
        let body = line.trim();
        if body.starts_with("```") || body.starts_with("~~~") {
            fenced = !fenced;
            continue;
        }
        if fenced || body.starts_with(['#', '<', '|', '!']) {
            open = false;
            continue;
        }
        let item = item(body);
        match (item, rules.last_mut()) {
            (Some(item), _) => {
                rules.push(item.to_owned());
                open = true;
            }
            // An item goes on over the next indented lines.
            (None, Some(rule)) if open && !body.is_empty() && line.starts_with([' ', '\t']) => {
                rule.push(' ');
                rule.push_str(body);
            }
            _ => {
                open = false;
                if demands(body) {
                    rules.push(body.to_owned());
                }
            }
        }
    }
    let words = |rule: &str| rule.split_whitespace().count() > 2 || rule.contains('`');
    let fits = |rule: &String| {
        words(rule) && !is_link(rule) && !rule.starts_with("[ ]") && (!guide || demands(rule))
    };
    rules
        .into_iter()
        .filter(fits)
        .map(|rule| clean(&rule.replace("**", ""), MOST_LINE))
        .collect()
}

fn item(body: &str) -> Option<&str> {
    let bullet = ["- ", "* ", "+ "]
        .iter()
        .find_map(|mark| body.strip_prefix(mark));
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    let numbered = (digits > 0)
        .then(|| body[digits..].strip_prefix(". "))
        .flatten();
    bullet
        .or(numbered)
        .map(str::trim)
        .filter(|item| !item.is_empty())
}

/// An entry of a table of contents.
fn is_link(rule: &str) -> bool {
    rule.starts_with('[') && rule.ends_with(')') && rule.matches("](").count() == 1
}

fn demands(text: &str) -> bool {
    const WORDS: [&str; 22] = [
        "must",
        "should",
        "never",
        "always",
        "don't",
        "do not",
        "please use",
        "prefer",
        "avoid",
        "use ",
        "run ",
        "make sure",
        "ensure",
        "required",
        "follow",
        "keep ",
        "write ",
        "name ",
        "add ",
        "format",
        "lint",
        "test",
    ];
    let lower = text.to_lowercase();
    WORDS.iter().any(|word| lower.contains(word)) && text.len() > 12 && !lower.starts_with("http")
}
