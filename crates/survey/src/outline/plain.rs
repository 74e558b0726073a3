//! Outlines by the look of lines, for languages without a grammar.

use sequester_core::outliner::Symbol;
use sequester_core::path::RepoPath;

use super::{Lines, MOST_SIGNATURE, collapse};

/// Indentation up to which a line may define something.
const DEEPEST: usize = 8;
const MOST_SYMBOLS: usize = 5_000;
/// Longer lines are data.
const LONGEST_LINE: usize = 2_000;

/// A line that defines something, and how deep it stands.
struct Found {
    row: usize,
    name: String,
    kind: &'static str,
    depth: u32,
}

pub(super) fn outline(path: &RepoPath, text: &str) -> Vec<Symbol> {
    let lines = Lines::of(text);
    let extension = path.extension().map(str::to_ascii_lowercase).unwrap_or_default();
    let found = match extension.as_str() {
        "md" | "markdown" | "mdx" => headings(text),
        "toml" | "ini" | "cfg" => each_line(text, table),
        "yaml" | "yml" => each_line(text, top_key),
        "sql" => each_line(text, creation),
        _ => each_line(text, keyword),
    };
    close(found, &lines)
}

/// A symbol ends where the next one of its depth or less starts.
fn close(found: Vec<Found>, lines: &Lines<'_>) -> Vec<Symbol> {
    let end = lines.text.lines().count().max(1) - 1;
    let mut symbols: Vec<Symbol> = Vec::with_capacity(found.len());
    let mut open: Vec<usize> = Vec::new();
    let finish = |symbols: &mut Vec<Symbol>, at: usize, last: usize| {
        if let Some(symbol) = symbols.get_mut(at) {
            symbol.lines.1 = (last as u32 + 1).max(symbol.lines.0);
            symbol.bytes = lines.span(symbol.lines.0 as usize - 1, symbol.lines.1 as usize - 1);
        }
    };
    for item in found {
        while let Some(&at) = open.last() {
            if symbols.get(at).is_some_and(|symbol| symbol.depth < item.depth) {
                break;
            }
            finish(&mut symbols, at, item.row.saturating_sub(1));
            open.pop();
        }
        let row = item.row;
        let line = lines.text.get(lines.span(row, row)).unwrap_or_default();
        let mut symbol = lines.symbol(item.name, item.kind, (row, row));
        symbol.signature = collapse(line, MOST_SIGNATURE);
        symbol.depth = item.depth;
        open.push(symbols.len());
        symbols.push(symbol);
    }
    for at in open {
        finish(&mut symbols, at, end);
    }
    // Indentation and heading levels leave gaps; nesting does not.
    nest(&mut symbols);
    symbols
}

fn nest(symbols: &mut [Symbol]) {
    let mut ends: Vec<u32> = Vec::new();
    for symbol in symbols {
        while ends.last().is_some_and(|end| *end < symbol.lines.0) {
            ends.pop();
        }
        symbol.depth = ends.len() as u32;
        ends.push(symbol.lines.1);
    }
}

fn each_line(text: &str, look: fn(&str) -> Option<(String, &'static str, u32)>) -> Vec<Found> {
    text.lines()
        .enumerate()
        .filter(|(_, line)| line.len() <= LONGEST_LINE)
        .filter_map(|(row, line)| {
            let (name, kind, depth) = look(line)?;
            Some(Found { row, name: collapse(&name, MOST_SIGNATURE), kind, depth })
        })
        .take(MOST_SYMBOLS)
        .collect()
}

/// `#` headings outside fences.
fn headings(text: &str) -> Vec<Found> {
    let mut fence: Option<&str> = None;
    let mut found = Vec::new();
    for (row, line) in text.lines().enumerate() {
        let start = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
        match (fence, mark) {
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, Some(mark)) => fence = Some(mark),
            _ => {}
        }
        let level = line.bytes().take_while(|byte| *byte == b'#').count();
        let title = line.get(level..).unwrap_or_default();
        if fence.is_none() && (1..=6).contains(&level) && title.starts_with([' ', '\t']) {
            let name = collapse(title.trim().trim_end_matches('#'), MOST_SIGNATURE);
            found.push(Found { row, name, kind: "heading", depth: level as u32 });
        }
        if found.len() == MOST_SYMBOLS {
            break;
        }
    }
    found
}

fn table(line: &str) -> Option<(String, &'static str, u32)> {
    let name = line.trim_end().strip_prefix('[')?.trim_end_matches(']').trim_start_matches('[');
    (!name.is_empty() && !name.contains(',')).then(|| (name.to_owned(), "table", 0))
}

fn top_key(line: &str) -> Option<(String, &'static str, u32)> {
    let (key, rest) = line.split_once(':')?;
    let plain = key.chars().all(|c| c.is_alphanumeric() || "_-./\"'".contains(c));
    (plain
        && !key.is_empty()
        && !key.starts_with('-')
        && (rest.is_empty() || rest.starts_with(' ')))
    .then(|| (key.trim_matches(['"', '\'']).to_owned(), "key", 0))
}

fn creation(line: &str) -> Option<(String, &'static str, u32)> {
    const KINDS: [&str; 8] =
        ["table", "view", "index", "function", "procedure", "trigger", "type", "schema"];
    const BETWEEN: [&str; 10] = [
        "or",
        "replace",
        "unique",
        "temporary",
        "temp",
        "materialized",
        "if",
        "not",
        "exists",
        "concurrently",
    ];
    let mut words = line.split_whitespace();
    words.next().filter(|word| word.eq_ignore_ascii_case("create"))?;
    let mut kind = None;
    for word in words {
        let lower = word.to_ascii_lowercase();
        if BETWEEN.contains(&lower.as_str()) {
            continue;
        }
        match kind {
            None => kind = Some(*KINDS.iter().find(|kind| **kind == lower)?),
            Some(kind) => {
                let name =
                    word.split('(').next().unwrap_or(word).trim_matches(['"', '`', '[', ']', ';']);
                return (!name.is_empty()).then(|| (name.to_owned(), kind, 0));
            }
        }
    }
    None
}

/// `def name`, `function name`, `name() {` and their like, at low indentation.
fn keyword(line: &str) -> Option<(String, &'static str, u32)> {
    const MODIFIERS: [&str; 17] = [
        "pub",
        "export",
        "default",
        "public",
        "private",
        "protected",
        "internal",
        "static",
        "final",
        "abstract",
        "async",
        "local",
        "open",
        "override",
        "sealed",
        "const",
        "inline",
    ];
    let indent = line
        .chars()
        .take_while(|c| c.is_whitespace())
        .map(|c| if c == '\t' { 4 } else { 1 })
        .sum::<usize>();
    if indent > DEEPEST {
        return None;
    }
    let body = line.trim();
    if let Some(name) = body.strip_suffix("() {").or_else(|| body.strip_suffix("(){")) {
        let plain = name.chars().all(|c| c.is_alphanumeric() || "_-:".contains(c));
        return (plain && !name.is_empty()).then(|| (name.to_owned(), "function", indent as u32));
    }
    let mut words = body.split_whitespace().skip_while(|word| MODIFIERS.contains(word));
    let kind = match words.next()? {
        "def" | "defp" | "fn" | "func" | "fun" | "function" | "sub" | "proc" => "function",
        "class" => "class",
        "struct" => "struct",
        "interface" => "interface",
        "protocol" => "protocol",
        "trait" => "trait",
        "enum" => "enum",
        "module" | "defmodule" | "namespace" => "module",
        "object" => "object",
        "extension" => "extension",
        "type" => "type",
        "message" => "message",
        "service" => "service",
        "macro" | "defmacro" => "macro",
        "resource" => "resource",
        _ => return None,
    };
    let rest = words.next()?;
    let name: String =
        rest.chars().take_while(|c| c.is_alphanumeric() || "_.:$!?\"".contains(*c)).collect();
    let name = name.trim_end_matches([':', '.']).trim_matches('"');
    (name.starts_with(|c: char| c.is_alphabetic() || c == '_'))
        .then(|| (name.to_owned(), kind, indent as u32))
}
