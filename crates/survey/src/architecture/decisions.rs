//! Architecture decision records: title, status, and the decision in one sentence.

use sequester_core::architecture::Stated;

use super::line::clean;
use super::scan::{Scan, is_decision, name};

const MOST: usize = 80;
const MOST_TITLE: usize = 120;
const MOST_SUMMARY: usize = 220;

pub(super) fn state(scan: &Scan<'_>) -> Vec<Stated> {
    let mut records: Vec<(&str, &str)> = scan.matching(is_decision);
    records.retain(|(path, text)| !is_index(path) && !text.trim().is_empty());
    records.sort_unstable();
    // The newest hold: they are numbered or dated upwards. Those that no longer hold come last.
    let mut stated: Vec<(bool, Stated)> =
        records.iter().rev().map(|(path, text)| record(path, text)).collect();
    stated.sort_by_key(|(gone, _)| *gone);
    stated.into_iter().map(|(_, stated)| stated).take(MOST).collect()
}

fn is_index(path: &str) -> bool {
    let name = name(path).to_ascii_lowercase();
    ["readme.", "index.", "template.", "adr-template.", "0000-template"]
        .iter()
        .any(|start| name.starts_with(start))
}

fn record(path: &str, text: &str) -> (bool, Stated) {
    let (front, body) = front_matter(text);
    let field = |key: &str| {
        let start = format!("{key}:");
        front
            .lines()
            .find_map(|line| line.strip_prefix(&start))
            .map(|value| value.trim().trim_matches(['"', '\'']))
    };
    let heading =
        body.lines().find_map(|line| line.strip_prefix("# ").or_else(|| line.strip_prefix("= ")));
    let title = heading.or_else(|| field("title")).unwrap_or_else(|| name(path));
    let status = section(body, &["status"])
        .or_else(|| inline(body, "status"))
        .or_else(|| field("status").map(str::to_owned));
    let status = status.map(|status| clean(&plain(&status), 60)).unwrap_or_default();
    let lower = status.to_lowercase();
    let gone = ["supersede", "deprecat", "reject", "replaced", "obsolete"]
        .iter()
        .any(|word| lower.contains(word));
    let summary = section(body, &["decision outcome", "decision", "decisions", "solution"])
        .or_else(|| section(body, &["summary", "abstract"]))
        .or_else(|| section(body, &["context and problem statement", "context", "problem"]))
        .or_else(|| first_prose(body));
    let summary = summary.map(|summary| sentence(&plain(&summary))).unwrap_or_default();
    let status = if status.is_empty() { String::new() } else { format!(" [{status}]") };
    let summary = if summary.is_empty() { String::new() } else { format!(": {summary}") };
    (gone, Stated::new(format!("{}{status}{summary}", clean(&plain(title), MOST_TITLE)), path))
}

fn front_matter(text: &str) -> (&str, &str) {
    let parts = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---"));
    parts.unwrap_or(("", text))
}

/// The level of a Markdown or AsciiDoc heading and its words in lower case, without numbers.
fn heading(line: &str) -> Option<(usize, String)> {
    let mark = line.chars().next().filter(|mark| matches!(mark, '#' | '='))?;
    let level = line.chars().take_while(|c| *c == mark).count();
    let words = line[level..].trim().trim_matches(['*', ':']).to_lowercase();
    let words = words.trim_start_matches(|c: char| c.is_numeric() || c == '.').trim().to_owned();
    line[level..].starts_with(' ').then_some((level, words))
}

/// The first paragraph below the first of these headings that is there; below a heading of a lower level too.
fn section(body: &str, titles: &[&str]) -> Option<String> {
    titles.iter().find_map(|title| {
        let mut lines = body.lines().skip_while(|line| {
            heading(line).is_none_or(|(level, words)| level < 2 || words != *title)
        });
        let (level, _) = heading(lines.next()?)?;
        paragraph(lines.take_while(|line| heading(line).is_none_or(|(inner, _)| inner > level)))
    })
}

fn first_prose(body: &str) -> Option<String> {
    paragraph(body.lines().filter(|line| !line.starts_with("Date:") && !line.starts_with("* ")))
}

/// The first lines that are prose, up to an empty one.
fn paragraph<'a>(lines: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut text = String::new();
    let mut fenced = false;
    for line in lines.map(str::trim) {
        if line.starts_with("```") || line.starts_with("~~~") {
            fenced = !fenced;
        } else if !fenced
            && (line.is_empty() || line.starts_with("<!--") || heading(line).is_some())
        {
            if !text.is_empty() {
                break;
            }
        } else if !fenced {
            let item = line.starts_with("- ") || line.starts_with("* ");
            if item && !text.is_empty() {
                break;
            }
            text.push_str(line.trim_start_matches(['-', '*', '>', ' ']));
            text.push(' ');
        }
    }
    (!text.trim().is_empty()).then_some(text)
}

/// `Status: accepted`, `* Status: accepted`, `**Status**: accepted`.
fn inline(body: &str, key: &str) -> Option<String> {
    body.lines().take(30).find_map(|line| {
        let line = line.trim_start_matches(['*', '-', '|', ' ']);
        let (head, value) = line.split_once(':')?;
        let head = head.trim_matches(['*', '_', ' ']).to_lowercase();
        (head == key).then(|| value.trim_matches(['*', '_', ' ', '|']).to_owned())
    })
}

/// Links keep their words, emphasis goes.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("](") {
        out.push_str(before);
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    out.push_str(rest);
    out.replace("**", "").replace("__", "").replace(['[', ']'], "")
}

fn sentence(text: &str) -> String {
    let text = clean(text, 2_000);
    let end = text
        .char_indices()
        .filter(|(_, c)| matches!(c, '.' | '!' | '?' | '。' | '！' | '？'))
        .map(|(at, c)| at + c.len_utf8())
        .find(|end| {
            let after = &text[*end..];
            let wide = text[..*end].ends_with(['。', '！', '？']);
            let short = text[..*end].ends_with("e.g.")
                || text[..*end].ends_with("i.e.")
                || text[..*end].ends_with("etc.");
            wide || (!short && (after.is_empty() || after.starts_with(' ')))
        });
    clean(end.map_or(text.as_str(), |end| &text[..end]), MOST_SUMMARY)
}
