//! Secrets behind telling names: where such a name stands, what stands between, and where its value ends.

mod elsewhere;

use std::ops::Range;

use regex::Regex;

use super::MARK;
use super::assigned_value::{Syntax, is_identifier, is_random, is_secret};
use super::literal::{Line, back, bare, literal, next_line, skip_spaces, to_line_end};
use super::secret_name::{NameClass, classify};

/// Names and values are looked at no further than this, which keeps the search linear.
const NAME_BYTES: usize = 64;

/// Calls `hit` with every value behind a name of passwords, or of other secrets. `part` finds what such names are made of.
pub(super) fn find(text: &str, passwords: bool, part: &Regex, mut hit: impl FnMut(Range<usize>)) {
    let mut from = 0;
    while let Some(found) = part.find_at(text, from) {
        let name = name_around(text, found.range());
        from = name.end.max(found.end());
        let Some((class, is_last)) = classify(&text[name.clone()]) else { continue };
        if (class == NameClass::Password) != passwords || is_in_mark(text, &name) {
            continue;
        }
        let assignment = Assignment { text, name, class, is_last };
        for (syntax, value) in assignment.values() {
            if assignment.holds(syntax, &text[value.clone()]) {
                hit(value);
            }
        }
    }
}

/// The identifier that the bytes are part of, with dots and dashes inside.
fn name_around(text: &str, part: Range<usize>) -> Range<usize> {
    let bytes = text.as_bytes();
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let before = bytes[..part.start].iter().rev().take(NAME_BYTES).take_while(is_name).count();
    let after = bytes[part.end..].iter().take(NAME_BYTES).take_while(is_name).count();
    let (mut start, end) = (part.start - before, part.end + after);
    // A line break that is written as an escape is not part of the name.
    if before > 0 && bytes[..start].ends_with(b"\\") && matches!(bytes[start], b'n' | b'r' | b't') {
        start += 1;
    }
    let name = &text[start..end];
    let lead = name.len() - name.trim_start_matches(['_', '-', '.']).len();
    let tail = name.len() - name.trim_end_matches(['_', '-', '.']).len();
    start + lead..end - tail
}

/// Whether the name is that of a rule in a mark.
fn is_in_mark(text: &str, name: &Range<usize>) -> bool {
    text[..name.start].ends_with("[redacted: ")
}

struct Assignment<'t> {
    text: &'t str,
    name: Range<usize>,
    class: NameClass,
    /// Whether the word that tells stands at the end of the name.
    is_last: bool,
}

type Value = (Syntax, Range<usize>);

impl Assignment<'_> {
    fn holds(&self, syntax: Syntax, value: &str) -> bool {
        // A quote may close a text that ends with the name: what follows is code then.
        let is_behind =
            syntax == Syntax::Literal && value.starts_with([' ', ',', '.', ';', ')', '+', ':']);
        let is_folder = value.starts_with('/') && matches!(self.name(), "PWD" | "OLDPWD");
        !value.contains(MARK)
            && !is_behind
            && !is_folder
            && is_secret(self.class, syntax, value)
            && (self.is_last || is_random(value))
    }

    fn name(&self) -> &str {
        &self.text[self.name.clone()]
    }

    fn is_upper(&self) -> bool {
        !self.name().chars().any(char::is_lowercase)
    }

    /// `password` alone is often the key of a label; `db_password` is not.
    fn is_compound(&self) -> bool {
        self.is_upper()
            || self.name().contains(['_', '-', '.'])
            || self.name().bytes().skip(1).any(|byte| byte.is_ascii_uppercase())
    }

    fn values(&self) -> Vec<Value> {
        let (text, name) = (self.text, &self.name);
        let before = text[..name.start].chars().next_back();
        let rest = text[name.end..].strip_prefix('\\').unwrap_or(&text[name.end..]);
        let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\'' | '`'));
        if before == Some('<') || self.has_prefix() {
            return self.element().into_iter().collect();
        }
        if let Some(value) = self.elsewhere() {
            return vec![value];
        }
        if let Some(quote) = quote
            && (before == Some(quote) || before == Some(':'))
        {
            let end = text.len() - rest.len() + quote.len_utf8();
            return self.after_quoted_key(end).into_iter().collect();
        }
        let block = self.block();
        if !block.is_empty() {
            return block;
        }
        self.after_key().or_else(|| self.pair(name.end)).into_iter().collect()
    }

    /// `<db:password>`: a name of XML with a prefix.
    fn has_prefix(&self) -> bool {
        let before = back(self.text, self.name.start);
        before.strip_suffix(':').is_some_and(|before| {
            let start = before.trim_end_matches(|one: char| one.is_ascii_alphanumeric());
            start.ends_with('<') && start.len() < before.len()
        })
    }

    /// `<password a="b">value</password>`.
    fn element(&self) -> Option<Value> {
        let text = self.text;
        let open = to_line_end(text, self.name.end);
        let close = text[open.clone()].find('>')?;
        let attributes = &text[open.start..open.start + close];
        let is_tag = attributes.is_empty()
            || attributes.starts_with([' ', '\t']) && attributes.contains('=');
        if attributes.ends_with('/') || !is_tag {
            return self.after_key();
        }
        let value = content(text, open.start + close + 1)?;
        let rest = &text[to_line_end(text, value.end)];
        let closing = rest.trim_start_matches("]]>").strip_prefix("</")?.split('>').next()?;
        let is_same = closing.rsplit(':').next().is_some_and(|name| name.trim() == self.name());
        is_same.then_some((Syntax::Config, value))
    }

    /// `"password": "x"`, `["X_TOKEN"] = "x"`, `("password", "x")`, `name="password" value="x"`.
    fn after_quoted_key(&self, end: usize) -> Option<Value> {
        let text = self.text;
        let end = if text[end..].starts_with(']') { end + 1 } else { end };
        let at = skip_spaces(text, end);
        if let Some(after) = separator(text, at) {
            let at = skip_spaces(text, after);
            if let Some((value, _)) =
                text[at..].strip_prefix('[').and_then(|_| literal(text, at + 1))
            {
                return Some((Syntax::Literal, value));
            }
            if let Some((value, _)) = literal(text, at) {
                let syntax = if self.is_compound() { Syntax::Config } else { Syntax::Literal };
                return Some((syntax, value));
            }
            let line = Line::of(text, self.name.start);
            return line.is_start().then(|| self.yaml(at, &line)).flatten();
        }
        if text[at..].starts_with(',') {
            let at = skip_spaces(text, at + 1);
            let found = literal(text, at);
            // A pair of arguments: lists go on, and `"name", "value": ...` goes on with a key.
            let before = text[..self.name.start - 1].trim_end_matches([' ', '\\']);
            let is_item = |(_, closed): &(_, usize)| {
                before.ends_with('(') && separator(text, *closed).is_none()
            };
            let found = found.filter(|(value, _)| !is_identifier(&text[value.clone()]));
            if let Some((value, _)) = found.filter(is_item) {
                let is_config =
                    self.is_compound() && CONFIG_CALLS.iter().any(|call| before.ends_with(call));
                return Some((if is_config { Syntax::Config } else { Syntax::Literal }, value));
            }
        }
        if text[at..].starts_with(") {")
            && back(text, self.name.start - 1).ends_with("fetch(")
            && let Some((value, _)) = literal(text, skip_spaces(text, at + 3))
        {
            return Some((Syntax::Literal, value));
        }
        if text[at..].starts_with('>')
            && let Some(value) = content(text, at + 1)
        {
            return Some((Syntax::Literal, value));
        }
        self.pair(end)
    }

    /// `password: |` and the lines below it.
    fn block(&self) -> Vec<Value> {
        let text = self.text;
        let line = Line::of(text, self.name.start);
        let Some(rest) = text[self.name.end..].strip_prefix(':') else { return Vec::new() };
        let at = text.len() - rest.len();
        let head = to_line_end(text, at);
        let sign = text[head.clone()].trim();
        let is_block = sign.len() <= 3 && sign.starts_with(['|', '>']) && !sign.ends_with('=');
        if !is_block || !line.is_start() {
            return Vec::new();
        }
        let indent = line.indent();
        let mut values = Vec::new();
        let mut start = head.end;
        for _ in 0..20 {
            let Some(next) = next_line(text, start) else { break };
            let row = to_line_end(text, next);
            let depth = text[row.clone()].len() - text[row.clone()].trim_start().len();
            if depth <= indent || row.is_empty() {
                break;
            }
            values.push((Syntax::Config, row.start + depth..row.end));
            start = row.end;
        }
        values
    }

    fn after_key(&self) -> Option<Value> {
        let (text, end) = (self.text, self.name.end);
        let line = Line::of(text, self.name.start);
        if let Some(value) = self.shell_default() {
            return Some(value);
        }
        let at = skip_spaces(text, end);
        let Some(after) = separator(text, at) else { return self.without_separator(&line, at) };
        let value = skip_spaces(text, after);
        let sign = &text[at..after];
        if let Some((value, closed)) = literal(text, value) {
            let is_list = text[closed..].trim_start_matches([' ', '\t']).starts_with(',');
            let is_login =
                self.class == NameClass::Password && line.is_flow() && line.before.contains("user");
            let is_yaml =
                sign == ":" && line.is_start() && !is_list && self.class == NameClass::Password;
            let is_template = text[..value.start].ends_with('`');
            let is_config = !is_template
                && (self.is_upper() || line.is_docker() || line.is_tag() || is_yaml || is_login);
            return Some((if is_config { Syntax::Config } else { Syntax::Literal }, value));
        }
        if sign == ":"
            && let Some(value) = typed(text, after)
        {
            return Some((Syntax::Literal, value));
        }
        let has_spaces = at > end || value > after;
        match sign {
            ":" if value > after && (line.is_start() || line.is_flow()) => self.yaml(value, &line),
            ":" if value == after && self.name() == "pass" && line.ends_with(&[" "]) => {
                Some((Syntax::Config, bare(text, value, &['"', '\''])))
            }
            "=" if !has_spaces => Some(self.unspaced(value, &line)),
            "=" | ":=" | "?=" if line.is_start() || line.is_shell() => {
                let is_ini = sign == "=" && line.is_in_section(text);
                let syntax = if is_ini { Syntax::Config } else { Syntax::Bare };
                Some((syntax, before_comment(text, to_line_end(text, value))))
            }
            _ => None,
        }
    }

    /// `NAME=value` without spaces: environments, properties, arguments, queries, connection strings.
    fn unspaced(&self, at: usize, line: &Line<'_>) -> Value {
        let text = self.text;
        let code = || (Syntax::Bare, bare(text, at, &['"', '\'', '`', '&', ')', ',', ';']));
        if self.name().starts_with("self.") || self.name().starts_with("this.") {
            return code();
        }
        if line.ends_with(&["?", "&"]) {
            return (
                Syntax::Config,
                bare(text, at, &['"', '\'', '`', '&', '#', '<', '>', ')', ',', ';']),
            );
        }
        if line.ends_with(&[";", "; "]) {
            let value = bare(text, at, &['"', '\'', '`', ';', '<']);
            let is_code =
                self.class != NameClass::Password && text[value.clone()].contains([',', '(']);
            return if is_code { code() } else { (Syntax::Config, value) };
        }
        if line.ends_with(&["\"", "'", "`"]) {
            let quote = line.before.chars().next_back().unwrap_or('"');
            let value = before_next_field(text, bare(text, at, &[quote, ';']));
            return (Syntax::Config, trim_end(text, value));
        }
        let is_flag = line.ends_with(&["--", " -"]) || line.has_flag();
        let quotes: &[char] = if line.before.contains('"') { &['"'] } else { &[] };
        let word = bare(text, at, quotes);
        let is_config = self.is_upper() || line.is_docker() || line.is_shell() || is_flag;
        // An argument of a call goes on behind a comma, or ends with the call.
        if !(is_config || line.is_start()) || text[word.clone()].ends_with([',', ')']) {
            return code();
        }
        let is_property = !is_config && self.class == NameClass::Password;
        let value = if is_property { to_line_end(text, at) } else { word };
        (Syntax::Config, trim_end(text, value))
    }

    /// `--password x`, `ENV API_SECRET x`, `login u password x`, `PASSWORD 'x'`, `setPassword("x")`.
    fn without_separator(&self, line: &Line<'_>, at: usize) -> Option<Value> {
        let text = self.text;
        if let Some(rest) = text[at..].strip_prefix('(') {
            let inside = skip_spaces(text, text.len() - rest.len());
            let (value, closed) = literal(text, inside)?;
            let is_setter = at == self.name.end && (self.is_setter() || line.ends_with(&["."]));
            let is_last = text[skip_spaces(text, closed)..].starts_with(')');
            return (is_setter && is_last).then_some((Syntax::Literal, value));
        }
        for sign in ["||", "??", "or "] {
            if text[at..].starts_with(sign) {
                let (value, _) = literal(text, skip_spaces(text, at + sign.len()))?;
                return Some((Syntax::Literal, value));
            }
        }
        if at == self.name.end || text[at..].starts_with(['\r', '\n']) {
            return None;
        }
        if line.ends_with(&["--"]) {
            return self.argument(at);
        }
        let is_password = self.class == NameClass::Password;
        if is_password && line.ends_with(&[" -"]) {
            return self.argument(at).map(|(_, value)| (Syntax::Literal, value));
        }
        if line.is_docker()
            || line.is_setx()
            || line.is_login(text)
            || line.is_config_command()
            || matches!(self.name(), "requirepass" | "masterauth") && line.is_start()
        {
            let value = literal(text, at).map(|(value, _)| value);
            return Some((Syntax::Config, value.unwrap_or_else(|| bare(text, at, &[]))));
        }
        if let Some((value, _)) = literal(text, at).filter(|_| is_password) {
            return Some((Syntax::Literal, value));
        }
        // Properties, `msmtp`, Redis: a name, a blank and one word.
        let value = bare(text, at, &[]);
        let is_whole = line.is_start() && to_line_end(text, at) == value;
        is_whole.then_some((Syntax::Bare, value))
    }

    /// What follows a flag: an argument, unless it is a word of a sentence.
    fn argument(&self, at: usize) -> Option<Value> {
        let text = self.text;
        if let Some((value, _)) = literal(text, at) {
            return Some((Syntax::Config, value));
        }
        let value = trim_end(text, bare(text, at, &['"', '\'', '`', ';', '|', '>']));
        let word = &text[value.clone()];
        let is_word = word.bytes().all(|byte| byte.is_ascii_alphabetic());
        let follows = text[value.end..].trim_start_matches([' ', '\t']);
        let ends = follows.is_empty()
            || follows.starts_with(['\n', '\r', '\\', '-', '"', '\'', '`', '|', ';', '&', '>']);
        let is_name = word.starts_with('-')
            || is_word && (!ends || PROSE.contains(&word) || word == word.to_ascii_uppercase());
        (!is_name).then_some((Syntax::Config, value))
    }

    /// `${DB_PASS:-value}`, `${db.password:value}`.
    fn shell_default(&self) -> Option<Value> {
        if !self.text[..self.name.start].ends_with("${") {
            return None;
        }
        let rest = self.text[self.name.end..].strip_prefix(':')?;
        let (syntax, rest) = match rest.strip_prefix(['-', '=']) {
            Some(rest) => (Syntax::Config, rest),
            None => (Syntax::Literal, rest),
        };
        let is_other = rest.starts_with(['?', '+']);
        let value = bare(self.text, self.text.len() - rest.len(), &['}', '"', '\'']);
        (!is_other).then_some((syntax, value))
    }

    /// `setPassword`, `withToken`, `password`: functions that are given one.
    fn is_setter(&self) -> bool {
        let name = self.name().rsplit('.').next().unwrap_or_default();
        ["set", "with", "pass", "Pass"].iter().any(|start| name.starts_with(start))
    }

    /// A plain scalar of YAML, up to a comment or the end of a flow.
    fn yaml(&self, at: usize, line: &Line<'_>) -> Option<Value> {
        let text = self.text;
        let anchor = text[at..].strip_prefix('&').and_then(|rest| rest.find(' '));
        let at = anchor.map_or(at, |end| skip_spaces(text, at + 1 + end));
        let whole = to_line_end(text, at);
        let mut value = &text[whole.clone()];
        if line.is_flow() {
            value = value.split([',', '}']).next().unwrap_or_default();
        }
        if let Some((before, _)) = value.split_once(" #") {
            value = before;
        }
        let value = value.trim_end();
        let is_code = value.ends_with([',', ';', '{', '(', '['])
            || value.contains(['(', '<', '['])
            || value.starts_with(['&', '*', '[', '|', '>']);
        let is_plain =
            value.chars().all(|one| one.is_alphanumeric() || matches!(one, '_' | '.' | ' '));
        let is_typed = is_plain
            && (self.class != NameClass::Password || value.contains([' ', '.']))
            && !is_random(value);
        (!is_code && !is_typed).then(|| (Syntax::Config, at..at + value.len()))
    }
}

/// Calls that are given the name of a setting and its value, or its default.
const CONFIG_CALLS: &[&str] = &[
    "define(",
    "env(",
    "Getenv(",
    "getenv(",
    "environ.get(",
    "ENV.fetch(",
    "setdefault(",
    "System.getProperty(",
];

/// What stands between the tags of XML.
fn content(text: &str, at: usize) -> Option<Range<usize>> {
    let start = if text[at..].starts_with("<![CDATA[") { at + 9 } else { at };
    let line = to_line_end(text, start);
    let end = text[line.clone()].find("</").map(|end| start + end)?;
    let value = text[start..end].trim_end_matches("]]>");
    Some(start..start + value.len()).filter(|value| !value.is_empty())
}

/// Behind `=`, `:`, `=>` and their like.
fn separator(text: &str, at: usize) -> Option<usize> {
    let signs = ["===", "!==", "=>", ":=", "?=", "==", "!=", "<-", "=", ":"];
    let sign = signs.iter().find(|sign| text[at..].starts_with(**sign))?;
    let after = at + sign.len();
    (!text[after..].starts_with(':')).then_some(after)
}

/// `: Type = "x"`.
fn typed(text: &str, at: usize) -> Option<Range<usize>> {
    let line = to_line_end(text, at);
    let line = &text[line.start..text.floor_char_boundary(line.end.min(at + 48))];
    let equals = line.find('=')?;
    let is_type = |one: char| one.is_ascii_alphanumeric() || " &'<>?:[]|_.".contains(one);
    if !line[..equals].chars().all(is_type) {
        return None;
    }
    literal(text, skip_spaces(text, at + equals + 1)).map(|(value, _)| value)
}

/// Without the fields of a form that follow: `token=x&user=y`.
fn before_next_field(text: &str, value: Range<usize>) -> Range<usize> {
    let whole = &text[value.clone()];
    let is_field = |rest: &str| {
        let name = rest.split('=').next().unwrap_or_default();
        name.len() < rest.len()
            && name.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_')
    };
    let next = whole.match_indices('&').find(|(at, _)| is_field(&whole[at + 1..]));
    value.start..value.start + next.map_or(whole.len(), |(at, _)| at)
}

/// Without a comment behind white space.
fn before_comment(text: &str, value: Range<usize>) -> Range<usize> {
    let whole = &text[value.clone()];
    let end = [" #", " ;"].iter().filter_map(|sign| whole.find(sign)).min().unwrap_or(whole.len());
    value.start..value.start + whole[..end].trim_end().len()
}

/// Without what ends a command or an item of a list.
fn trim_end(text: &str, value: Range<usize>) -> Range<usize> {
    let kept = text[value.clone()].trim_end_matches([';', ',', ')', '"', '\'', '`']);
    value.start..value.start + kept.len()
}

/// What follows the name of a flag in a sentence.
#[rustfmt::skip]
const PROSE: &[&str] = &["and", "argument", "before", "command", "environment", "field", "flag", "flags", "for", "from", "instead", "option", "options", "parameter", "prompt", "setting", "stdin", "switch", "value", "values", "when", "with"];
