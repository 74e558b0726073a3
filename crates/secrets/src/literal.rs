//! Small steps through a text: literals, bare words, and the line before a name.

use std::ops::Range;

/// Values are looked at no further than this.
const VALUE_BYTES: usize = 512;
const LINE_BYTES: usize = 200;

/// The text before `at`, as far as anything is decided by it.
pub(super) fn back(text: &str, at: usize) -> &str {
    &text[text.floor_char_boundary(at.saturating_sub(LINE_BYTES))..at]
}

fn ahead(text: &str, at: usize) -> &str {
    &text[at..text.floor_char_boundary((at + VALUE_BYTES).min(text.len()))]
}

pub(super) fn skip_spaces(text: &str, at: usize) -> usize {
    at + text.as_bytes()[at..]
        .iter()
        .take(16)
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count()
}

/// From `at` to the end of its line, without white space at the end.
pub(super) fn to_line_end(text: &str, at: usize) -> Range<usize> {
    let line = ahead(text, at).split(['\n', '\r']).next().unwrap_or_default();
    at..at + line.trim_end().len()
}

/// Where the line after the one that ends at `at` begins; there may be a little white space before its end.
pub(super) fn next_line(text: &str, at: usize) -> Option<usize> {
    let found = text.as_bytes()[at..].iter().take(8).position(|byte| *byte == b'\n')?;
    Some(at + found + 1)
}

/// Up to white space, a line break that is written as an escape, or one of `stops`.
pub(super) fn bare(text: &str, at: usize, stops: &[char]) -> Range<usize> {
    let rest = ahead(text, at);
    let is_end = |one: char| one.is_whitespace() || stops.contains(&one);
    let end = rest.find(is_end).unwrap_or(rest.len());
    let escape =
        rest[..end].match_indices('\\').find(|(at, _)| rest[at + 1..].starts_with(['n', 'r', 't']));
    at..at + escape.map_or(end, |(escape, _)| escape)
}

/// The inside of the literal that begins at `at`, and where it is closed.
pub(super) fn literal(text: &str, at: usize) -> Option<(Range<usize>, usize)> {
    long_literal(text, at).or_else(|| quoted_literal(text, at))
}

/// `[[x]]` of Lua, `''x''` of Nix, and one word alone on the line below `"""`.
fn long_literal(text: &str, at: usize) -> Option<(Range<usize>, usize)> {
    let pairs = [("[[", "]]"), ("\"\"\"", "\"\"\""), ("'''", "'''"), ("''", "''")];
    let (open, close) = pairs.iter().find(|(open, _)| text[at..].starts_with(*open))?;
    let rest = ahead(text, at + open.len());
    let inside = rest.strip_prefix('\\').unwrap_or(rest);
    let blanks = inside.len() - inside.trim_start().len();
    let (start, is_below) = (at + open.len() + (rest.len() - inside.len()) + blanks, blanks > 0);
    let rest = ahead(text, start);
    let end = rest.find(|one: char| one.is_whitespace() || "\"'[],;".contains(one))?;
    let behind = &rest[end..];
    let behind = if is_below { behind.trim_start() } else { behind };
    let closed = start + rest.len() - behind.len();
    (end > 0 && behind.starts_with(close)).then(|| (start..start + end, closed + close.len()))
}

fn quoted_literal(text: &str, at: usize) -> Option<(Range<usize>, usize)> {
    let wrapper = WRAPPERS.iter().find(|start| text[at..].starts_with(**start));
    let at = at + wrapper.map_or(0, |start| start.len());
    let prefix = text.as_bytes()[at..]
        .iter()
        .take(2)
        .take_while(|byte| b"bBrRuUfFL@$N".contains(byte))
        .count();
    let rest = ahead(text, at + prefix);
    let (opening, rest) = match rest.strip_prefix('\\') {
        Some(rest) => (1, rest),
        None => (0, rest),
    };
    let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\'' | '`'))?;
    let triple =
        if rest.starts_with([quote; 3].iter().collect::<String>().as_str()) { 2 } else { 0 };
    let start = at + prefix + opening + 1 + triple;
    let inside = ahead(text, start);
    let mut is_escape = false;
    for (offset, one) in inside.char_indices() {
        if one == '\n' || one == '\r' {
            return None;
        }
        let is_end = one == quote && is_escape == (opening == 1);
        if is_end {
            let end = start + offset;
            return Some((start..end - opening, end + 1));
        }
        is_escape = one == '\\' && !is_escape;
    }
    None
}

/// Calls whose only argument is their value.
const WRAPPERS: &[&str] = &[
    "Some(",
    "String::from(",
    "new SecretString(",
    "SecretString::from(",
    "SecretString::new(",
    "str(",
];

/// The line that a name stands in, up to the name.
pub(super) struct Line<'t> {
    pub(super) before: &'t str,
    start: usize,
}

impl<'t> Line<'t> {
    pub(super) fn of(text: &'t str, at: usize) -> Self {
        let before = back(text, at);
        let before = before.rsplit('\n').next().unwrap_or_default();
        Self { before, start: at - before.len() }
    }

    pub(super) fn ends_with(&self, ends: &[&str]) -> bool {
        ends.iter().any(|end| self.before.ends_with(end))
    }

    pub(super) fn indent(&self) -> usize {
        self.before.len() - self.before.trim_start_matches([' ', '\t']).len()
    }

    /// Whether only white space, the sign of a list, a comment or a change, or the number of the line stands before the name.
    pub(super) fn is_start(&self) -> bool {
        let before = self
            .before
            .trim_end_matches([' ', '\t', '-', '#', '*', '+', '>', '/', ';', '"', '\'', '`']);
        before.is_empty()
            || before
                .strip_suffix(':')
                .is_some_and(|before| before.ends_with(|last: char| last.is_ascii_digit()))
            || before.trim_start().bytes().all(|byte| byte.is_ascii_digit())
    }

    fn words(&self) -> impl DoubleEndedIterator<Item = &'t str> {
        self.before.split([' ', '\t']).filter(|word| !word.is_empty())
    }

    /// `ENV`, `ARG` and `LABEL` of a Dockerfile; `#define`.
    pub(super) fn is_docker(&self) -> bool {
        let is_sign = |word: &&str| word.bytes().any(|byte| byte.is_ascii_alphabetic());
        let first = self.words().find(is_sign).unwrap_or_default();
        matches!(
            first.trim_start_matches(['+', '"', '\'', '`']),
            "ENV" | "ARG" | "LABEL" | "#define"
        )
    }

    pub(super) fn is_shell(&self) -> bool {
        let last = self.words().next_back().unwrap_or_default().to_ascii_lowercase();
        matches!(
            &*last,
            "export"
                | "set"
                | "env"
                | "declare"
                | "-x"
                | "readonly"
                | "local"
                | "override"
                | "typeset"
        )
    }

    /// `setx NAME x`, `setenv NAME x`, `set -x NAME x`.
    pub(super) fn is_setx(&self) -> bool {
        self.words()
            .next_back()
            .is_some_and(|word| SETS.iter().any(|set| word.eq_ignore_ascii_case(set)))
    }

    /// `aws configure set NAME x`, `npm config set //host/:NAME x`.
    pub(super) fn is_config_command(&self) -> bool {
        let words: Vec<&str> = self.words().collect();
        let is_set = |pair: &[&str]| matches!(pair, ["config" | "configure", "set"]);
        let at = words.windows(2).position(is_set);
        at.is_some_and(|at| at > 0 && words.len() - at <= 5)
    }

    /// `-e NAME=`, `--set db.name=`.
    pub(super) fn has_flag(&self) -> bool {
        self.words().next_back().is_some_and(|word| word.starts_with('-') && word.len() > 1)
            && self.before.ends_with(' ')
    }

    /// Inside of an opening tag of XML.
    pub(super) fn is_tag(&self) -> bool {
        let open = self.before.rfind('<');
        open.is_some_and(|open| {
            !self.before[open..].contains('>') && self.before[open..].contains(' ')
        })
    }

    /// Inside of `{a: b, c: d}` on one line.
    pub(super) fn is_flow(&self) -> bool {
        let open = self.before.rfind('{');
        open.is_some_and(|open| {
            self.before[..open].trim_end().ends_with(':')
                && !self.before[open..].contains(['}', '('])
        })
    }

    /// `login name password` of a `.netrc`, on one line or two.
    pub(super) fn is_login(&self, text: &str) -> bool {
        let mut words = self.words().rev();
        let (_, login) = (words.next(), words.next());
        let above = || {
            let above = back(text, self.start).trim_end();
            let last = above.rsplit('\n').next().unwrap_or_default().trim_start();
            last.starts_with("login ") || last.starts_with("user ")
        };
        login == Some("login") || (self.before.trim().is_empty() && above())
    }

    /// Below the head of a section of an INI file, and no further than a few lines.
    pub(super) fn is_in_section(&self, text: &str) -> bool {
        let above = &text[text.floor_char_boundary(self.start.saturating_sub(600))..self.start];
        above.lines().rev().take(12).any(|line| {
            let inside = line.trim().strip_prefix('[').and_then(|line| line.strip_suffix(']'));
            inside.is_some_and(|inside| {
                !inside.is_empty() && !inside.contains(['"', '\'', ',', '[', '(', '#'])
            })
        })
    }
}

/// Words before a name whose value follows without a sign.
const SETS: [&str; 5] = ["setx", "setenv", "-x", "-gx", "-Ux"];
