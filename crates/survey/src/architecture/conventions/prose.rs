//! Rules out of AGENTS.md, CLAUDE.md, style guides and contributing guides: their list items first.

use std::collections::BTreeSet;

use sequester_core::architecture::Stated;

use crate::architecture::line::clean;
use crate::architecture::scan::{Prose, Scan, prose};

const MOST_FILES: usize = 12;
const MOST_LINE: usize = 220;

pub(super) fn state(scan: &Scan<'_>) -> Vec<Stated> {
    let mut files = scan.matching(|path| prose(path).is_some());
    files.sort_by_key(|(path, _)| (prose(path), path.matches('/').count(), *path));
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (path, text) in files.into_iter().take(MOST_FILES) {
        let kind = prose(path).unwrap_or(Prose::Contributing);
        let mut fresh = rules(text, kind);
        fresh.retain(|rule| seen.insert(rule.clone()));
        let most = match kind {
            Prose::Agents => 32,
            Prose::Style => 20,
            Prose::Contributing => 14,
        };
        let rest = fresh.len().saturating_sub(most);
        found.extend(fresh.into_iter().take(most).map(|rule| Stated::new(rule, path)));
        if rest > 0 {
            found.push(Stated::new(format!("and {rest} more rules in the file"), path));
        }
    }
    found
}

/// A list item or a paragraph, and whether the heading above it is about code.
struct Block {
    text: String,
    item: bool,
    about_code: bool,
}

/// Rules for agents are taken as they stand; other texts also talk to people about other things, so there only what
/// demands something counts, and what stands under a heading about code comes first.
fn rules(text: &str, kind: Prose) -> Vec<String> {
    let mut rules: Vec<(bool, String)> = Vec::new();
    for block in blocks(text) {
        if is_link(&block.text) || is_task(&block.text) {
            continue;
        }
        if block.item {
            if kind == Prose::Agents || demands(&block.text) {
                rules.push((!block.about_code, block.text));
            }
        } else {
            let sentences = block.text.split_inclusive(". ").map(str::trim);
            let strict = sentences.filter(|sentence| demands(sentence) && !sentence.ends_with(':'));
            rules.extend(strict.map(|sentence| (!block.about_code, sentence.to_owned())));
        }
    }
    if kind != Prose::Agents {
        rules.sort_by_key(|(elsewhere, _)| *elsewhere);
    }
    let says_something = |rule: &String| rule.chars().count() >= 8;
    rules
        .into_iter()
        .map(|(_, rule)| clean(&rule.replace("**", ""), MOST_LINE))
        .filter(says_something)
        .collect()
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let (mut fenced, mut open, mut about_code) = (false, false, false);
    let mut lines = without_front_matter(text).lines().peekable();
    while let Some(line) = lines.next() {
        let body = line.trim();
        if body.starts_with("```") || body.starts_with("~~~") {
            fenced = !fenced;
            open = false;
            continue;
        }
        let underlined = lines.peek().is_some_and(|next| is_rule(next)) && !body.is_empty();
        if body.starts_with('#') || underlined {
            about_code = is_about_code(body);
            open = false;
            continue;
        }
        if fenced || body.is_empty() || body.starts_with(['<', '>', '|', '!']) || is_rule(body) {
            open = false;
            continue;
        }
        match (item(body), blocks.last_mut().filter(|_| open)) {
            (None, Some(block)) => {
                block.text.push(' ');
                block.text.push_str(body);
            }
            (item, _) => blocks.push(Block {
                text: item.unwrap_or(body).to_owned(),
                item: item.is_some(),
                about_code,
            }),
        }
        open = true;
    }
    blocks
}

fn without_front_matter(text: &str) -> &str {
    let parts = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---"));
    parts.map_or(text, |(_, text)| text)
}

/// A line of one repeated mark: it underlines a heading or parts the text.
fn is_rule(line: &str) -> bool {
    let line = line.trim();
    let first = line.chars().next();
    line.len() >= 3
        && first.is_some_and(|first| "=-~*_^".contains(first) && line.chars().all(|c| c == first))
}

fn is_about_code(heading: &str) -> bool {
    const WORDS: [&str; 14] = [
        "style",
        "convention",
        "code",
        "coding",
        "test",
        "naming",
        "guideline",
        "format",
        "lint",
        "commit",
        "rule",
        "architecture",
        "dependenc",
        "develop",
    ];
    let lower = heading.to_lowercase();
    WORDS.iter().any(|word| lower.contains(word)) && !lower.contains("code of conduct")
}

fn item(body: &str) -> Option<&str> {
    let bullet = ["- ", "* ", "+ "].iter().find_map(|mark| body.strip_prefix(mark));
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    let numbered = (digits > 0).then(|| body[digits..].strip_prefix(". ")).flatten();
    bullet.or(numbered).map(str::trim).filter(|item| !item.is_empty())
}

/// An entry of a table of contents.
fn is_link(rule: &str) -> bool {
    rule.starts_with('[') && rule.ends_with(')') && rule.matches("](").count() == 1
}

/// An entry of a list of things to do, done or not.
fn is_task(rule: &str) -> bool {
    ["[ ]", "[x]", "[X]", "[-]", "[~]"].iter().any(|mark| rule.starts_with(mark))
}

fn demands(text: &str) -> bool {
    const ANYWHERE: [&str; 11] = [
        "must ",
        "should ",
        "never ",
        "always ",
        "do not ",
        "don't ",
        "avoid ",
        "prefer ",
        "make sure",
        "ensure ",
        "required ",
    ];
    const FIRST: [&str; 10] =
        ["use ", "run ", "keep ", "write ", "add ", "follow ", "name ", "put ", "place ", "no "];
    let lower = text.to_lowercase();
    ANYWHERE.iter().any(|word| lower.contains(word))
        || FIRST.iter().any(|word| lower.starts_with(word))
}
