//! Values that stand apart from their names: in pairs, tables, lists and the options of a command line.

use super::{Assignment, Syntax, Value, content, separator};
use crate::literal::{Line, back, bare, literal, skip_spaces, to_line_end};

/// A pair, or an option with its default, is no longer than this.
const PAIR_BYTES: usize = 160;

impl Assignment<'_> {
    /// Where the syntax around the name says that its value stands apart from it.
    pub(super) fn elsewhere(&self) -> Option<Value> {
        self.plist_entry()
            .or_else(|| self.marked_up())
            .or_else(|| self.option_default())
            .or_else(|| self.pair_before())
    }

    /// `<key>password</key> <string>x</string>`.
    fn plist_entry(&self) -> Option<Value> {
        let text = self.text;
        let rest = text[self.name.end..].strip_prefix("</key>")?;
        let blanks = rest.bytes().take(64).take_while(u8::is_ascii_whitespace).count();
        rest[blanks..].strip_prefix("<string>")?;
        let value = content(text, text.len() - rest.len() + blanks + "<string>".len())?;
        Some((self.named_syntax(), value))
    }

    /// `| password | x |`, `- **DB password**: x`, `**DB password:** x`.
    fn marked_up(&self) -> Option<Value> {
        let text = self.text;
        let line = Line::of(text, self.name.start);
        let (at, run) = run_of(text, self.name.end, &['*', '`', ' ', ':', '|']);
        let sign = run.replace(['*', '`', ' '], "");
        let is_cell = sign == "|" && line.before.trim_start().starts_with('|');
        let is_item = sign == ":" && run.contains("**") && line.before.contains("**");
        if !(is_cell || is_item) {
            return None;
        }
        let value = bare(text, at, &['`', '|']);
        let (_, behind) = run_of(text, value.end, &['`', ' ', '\t']);
        let end = value.end + behind.len();
        let is_whole = to_line_end(text, end).is_empty() || is_cell && text[end..].starts_with('|');
        is_whole.then_some((Syntax::Bare, value))
    }

    /// `("--password", default="x")`.
    fn option_default(&self) -> Option<Value> {
        let text = self.text;
        back(text, self.name.start).strip_suffix("--")?.strip_suffix(['"', '\''])?;
        let rest = text[self.name.end..].strip_prefix(['"', '\''])?;
        let end = rest.floor_char_boundary(PAIR_BYTES.min(rest.len()));
        // The next option has a default of its own.
        let window = rest[..end].split("--").next()?;
        let key = window.find("default")? + "default".len();
        let at = text.len() - rest.len() + key;
        let after = separator(text, skip_spaces(text, at))?;
        let (value, _) = literal(text, skip_spaces(text, after))?;
        Some((self.named_syntax(), value))
    }

    /// `value="x" key="password"`: the pair's other half stands first.
    fn pair_before(&self) -> Option<Value> {
        let text = self.text;
        let before = back(text, self.name.start);
        if !names_a_pair(before) {
            return None;
        }
        let start = self.name.start - before.len() + before.rfind(['{', '<'])?;
        let within = &text[start..self.name.start];
        if within.contains(['}', '>']) {
            return None;
        }
        let lower = within.to_ascii_lowercase();
        let key = ["value", "val"].iter().find_map(|word| Some(lower.rfind(word)? + word.len()))?;
        let at = start + key;
        let at = if text[at..].starts_with(['"', '\'']) { at + 1 } else { at };
        let after = separator(text, skip_spaces(text, at))?;
        let (value, closed) = literal(text, skip_spaces(text, after))?;
        (closed < self.name.start).then_some((Syntax::Config, value))
    }

    fn named_syntax(&self) -> Syntax {
        if self.is_compound() { Syntax::Config } else { Syntax::Literal }
    }

    /// `name: DB_PASS` with its `value:` beside or below, `variable "x" { default = ... }`, `<setting name="x"><value>`.
    pub(super) fn pair(&self, end: usize) -> Option<Value> {
        let text = self.text;
        if !names_a_pair(back(text, self.name.start)) {
            return None;
        }
        let window = &text[end..text.floor_char_boundary((end + PAIR_BYTES).min(text.len()))];
        let window = window.split("\n\n").next()?;
        let lower = window.to_ascii_lowercase();
        let mut from = 0;
        // Only a variable of Terraform has its value by this name.
        let is_variable = back(text, self.name.start).ends_with("variable \"");
        let word = if is_variable { "default" } else { "val" };
        while let Some(found) = lower[from..].find(word) {
            let at = from + found + word.len();
            let at = if lower[at..].starts_with("ue") { at + 2 } else { at };
            let key = end + at;
            from = at;
            let is_other = text[key..].starts_with(|next: char| next.is_ascii_alphanumeric());
            if is_other || text[end..key].contains('}') || lower[..at].contains("name") {
                return None;
            }
            if text[key..].starts_with('>') {
                let value = content(text, key + 1)?;
                return Some((Syntax::Config, value));
            }
            let key = if text[key..].starts_with(['"', '\'']) { key + 1 } else { key };
            let Some(after) = separator(text, skip_spaces(text, key)) else { continue };
            let at = skip_spaces(text, after);
            if let Some((value, _)) = literal(text, at) {
                return Some((Syntax::Config, value));
            }
            let value = bare(text, at, &['"', '\'', ',', '}']);
            return Some((Syntax::Config, value));
        }
        None
    }
}

/// Up to 16 signs of these, and where they end.
fn run_of<'t>(text: &'t str, at: usize, signs: &[char]) -> (usize, &'t str) {
    let is_sign = |one: &u8| signs.contains(&char::from(*one));
    let count = text.as_bytes()[at..].iter().take(16).take_while(|one| is_sign(one)).count();
    (at + count, &text[at..at + count])
}

/// Whether what stands before a name says that its value stands in a pair with it.
fn names_a_pair(before: &str) -> bool {
    let before = before.trim_end_matches(['"', '\'']).trim_end_matches([' ', '\t']);
    let before = before.trim_end_matches(['=', ':', '>']).trim_end_matches([' ', '\t', '"', '\'']);
    let word = before.rsplit(|one: char| !one.is_ascii_alphanumeric()).next().unwrap_or_default();
    ["name", "key", "parameterkey", "variable", "param"]
        .contains(&word.to_ascii_lowercase().as_str())
}
