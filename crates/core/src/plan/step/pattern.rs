//! Patterns of whole sentences: `create [the] [new] file {f}`. A sentence matches from its first word to its last, or not.
//!
//! `a|b` is one of these words, `[...]` may be missing. `{p}` is a path, `{f}` a path after the word "file", `{c}` code,
//! `{q}` code or quoted text, `{n}` a number; `{p+}`, `{f+}` and `{c+}` are several in a row. `{*}` is a name in words that hold
//! no condition.

use super::sentence::{CODE, Sentence};
use super::{target, words};

/// Longer sentences are no instructions.
const TOKENS: usize = 32;
/// Most words of a name.
const NAME: usize = 10;
const AND: [&str; 8] = [",", "and", "then", "&&", ";", "&", "+", "plus"];

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'s> {
    /// In lower case, and as written.
    Word(&'s str, &'s str),
    Code(&'s str),
    Quote(&'s str),
}

/// What a pattern caught, in the order of the sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Caught {
    pub(super) paths: Vec<String>,
    pub(super) codes: Vec<String>,
    pub(super) number: Option<u32>,
}

/// A sentence in tokens; nothing for one that is too long to be an instruction.
pub(super) fn tokens(sentence: &Sentence) -> Option<Vec<Token<'_>>> {
    let mut found = Vec::new();
    let mut codes = sentence.codes.iter();
    let mut rest = sentence.plain.trim_end_matches(['.', '!', '。']);
    let mut written = sentence.cased.get(..rest.len())?;
    loop {
        let blanks = rest.len() - rest.trim_start().len();
        (rest, written) = (&rest[blanks..], written.get(blanks..)?);
        let Some(first) = rest.chars().next() else { break };
        let quoted = quote(written, first);
        let end = if first == CODE {
            found.push(Token::Code(codes.next()?));
            first.len_utf8()
        } else if let Some((inner, end)) = quoted.filter(|(inner, _)| !inner.contains(CODE)) {
            found.push(Token::Quote(inner));
            end
        } else {
            let end = if is_mark(first) {
                first.len_utf8()
            } else {
                rest.find(|c: char| c.is_whitespace() || is_mark(c) || c == CODE)
                    .unwrap_or(rest.len())
            };
            found.push(Token::Word(&rest[..end], &written[..end]));
            end
        };
        (rest, written) = (&rest[end..], written.get(end..)?);
        if found.len() > TOKENS {
            return None;
        }
    }
    Some(found)
}

fn is_mark(c: char) -> bool {
    ",:;()—–→：".contains(c)
}

/// What stands between quotation marks at the start of a text, and where it ends.
fn quote(text: &str, first: char) -> Option<(&str, usize)> {
    let close = match first {
        '"' => '"',
        '“' => '”',
        _ => return None,
    };
    let inner = &text[first.len_utf8()..];
    let end = inner.find(close)?;
    Some((&inner[..end], first.len_utf8() + end + close.len_utf8()))
}

/// Matches all of the tokens, or nothing.
pub(super) fn find(pattern: &str, tokens: &[Token<'_>]) -> Option<Caught> {
    let mut caught = Caught::default();
    follow(pattern, None, tokens, &mut caught).then_some(caught)
}

/// What follows a part of a pattern.
#[derive(Clone, Copy)]
struct Then<'p> {
    pattern: &'p str,
    then: Option<&'p Then<'p>>,
}

fn follow(
    pattern: &str,
    then: Option<&Then<'_>>,
    tokens: &[Token<'_>],
    caught: &mut Caught,
) -> bool {
    let pattern = pattern.trim_start();
    if pattern.is_empty() {
        return match then {
            Some(next) => follow(next.pattern, next.then, tokens, caught),
            None => tokens.is_empty(),
        };
    }
    let mark = caught.mark();
    if pattern.starts_with('[') {
        let (inner, rest) = group(pattern);
        let with = follow(inner, Some(&Then { pattern: rest, then }), tokens, caught);
        return with || {
            caught.reset(mark);
            follow(rest, then, tokens, caught)
        };
    }
    let (item, rest) = pattern.split_once(' ').unwrap_or((pattern, ""));
    if item == "{*}" {
        return follow_name(rest, then, tokens, caught);
    }
    let Some((token, others)) = tokens.split_first() else { return false };
    if !take(item, *token, caught) {
        return false;
    }
    if item.ends_with("+}") {
        // A further one behind `and`, or what follows.
        let ties = others.iter().take_while(|token| is_one_of(&AND, token)).count();
        let mark = caught.mark();
        if ties > 0 && follow(item, Some(&Then { pattern: rest, then }), &others[ties..], caught) {
            return true;
        }
        caught.reset(mark);
    }
    follow(rest, then, others, caught)
}

impl Caught {
    fn mark(&self) -> (usize, usize, Option<u32>) {
        (self.paths.len(), self.codes.len(), self.number)
    }

    /// Forgets what was caught since.
    fn reset(&mut self, (paths, codes, number): (usize, usize, Option<u32>)) {
        self.paths.truncate(paths);
        self.codes.truncate(codes);
        self.number = number;
    }
}

/// What stands in the brackets that a pattern begins with, and what follows them.
fn group(pattern: &str) -> (&str, &str) {
    let mut depth = 0;
    let close = pattern.char_indices().find(|(_, c)| {
        depth += i32::from(*c == '[') - i32::from(*c == ']');
        depth == 0
    });
    let close = close.map_or(pattern.len(), |(at, _)| at);
    (&pattern[1..close], pattern.get(close + 1..).unwrap_or_default())
}

/// As many words as needed, none of which may hold the sentence back.
fn follow_name(
    rest: &str,
    then: Option<&Then<'_>>,
    tokens: &[Token<'_>],
    caught: &mut Caught,
) -> bool {
    let plain = |token: &&Token<'_>| match token {
        Token::Word(word, _) => {
            !words::is_condition(word) && !is_one_of(&AND, token) && !words::CHANGES.has(word)
        }
        Token::Code(code) => !target::is_path(code),
        Token::Quote(_) => true,
    };
    let most = tokens.iter().take(NAME).take_while(plain).count();
    let mark = caught.mark();
    (1..=most).any(|length| {
        caught.reset(mark);
        follow(rest, then, &tokens[length..], caught)
    })
}

fn is_one_of(list: &[&str], token: &Token<'_>) -> bool {
    matches!(token, Token::Word(word, _) if list.contains(word))
}

/// Whether one token is what an item of a pattern asks for.
fn take(item: &str, token: Token<'_>, caught: &mut Caught) -> bool {
    let path = |is_path: fn(&str) -> bool| match token {
        Token::Code(code) => is_path(code).then_some(code),
        Token::Word(_, word) => target::is_plain_path(word).then_some(word),
        Token::Quote(_) => None,
    };
    let found = match (item, token) {
        ("{p}" | "{p+}", _) => path(target::is_path),
        ("{f}" | "{f+}", _) => path(target::may_be_path),
        ("{c}" | "{c+}", Token::Code(code)) if !code.is_empty() => {
            caught.codes.push(code.to_owned());
            return true;
        }
        ("{q}", Token::Code(text) | Token::Quote(text)) if !text.is_empty() => {
            caught.codes.push(text.to_owned());
            return true;
        }
        ("{n}", Token::Word(word, _)) => {
            caught.number = word.parse().ok();
            return caught.number.is_some();
        }
        (words, Token::Word(word, _)) if !words.starts_with('{') => {
            return words.split('|').any(|one| one == word);
        }
        _ => return false,
    };
    caught.paths.extend(found.map(str::to_owned));
    found.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caught(pattern: &str, said: &str) -> Option<Caught> {
        let sentence = Sentence::new(said);
        find(pattern, &tokens(&sentence).unwrap())
    }

    #[test]
    fn a_pattern_is_the_whole_sentence_or_nothing() {
        let delete = "delete [the] [file] {p+}";
        let paths = |said| caught(delete, said).map(|caught| caught.paths.join(" "));
        assert_eq!(paths("Delete `a.rs`, `b.rs` and `c.rs`"), Some("a.rs b.rs c.rs".to_owned()));
        assert_eq!(paths("delete the file `a.rs`"), Some("a.rs".to_owned()));
        for other in
            ["Delete `a.rs` now", "Do delete `a.rs`", "Delete", "Delete `a.rs` and", "Delete `f()`"]
        {
            assert_eq!(paths(other), None, "{other}");
        }
    }

    #[test]
    fn a_name_holds_no_condition_and_no_second_order() {
        let name = "write tests [for {*}]";
        for yes in ["Write tests", "Write tests for the new parser", "Write tests for `parse()`"] {
            assert!(caught(name, yes).is_some(), "{yes}");
        }
        for no in
            ["Write tests for it if needed", "Write tests for it and go", "Write tests for `a.rs`"]
        {
            assert!(caught(name, no).is_none(), "{no}");
        }
    }
}
