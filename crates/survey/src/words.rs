//! Text as words: identifiers, their parts, and whether a place defines them.

use memchr::memchr;

/// Longer runs are data, not names.
const LONGEST_IDENTIFIER: usize = 80;
const LONGEST_WORD: usize = 40;

/// Words after which a name is being defined, in the common languages.
#[inline]
fn is_defining(word: &[u8]) -> bool {
    matches!(
        word,
        b"class"
            | b"const"
            | b"def"
            | b"define"
            | b"enum"
            | b"fn"
            | b"func"
            | b"function"
            | b"interface"
            | b"let"
            | b"macro_rules"
            | b"mod"
            | b"module"
            | b"namespace"
            | b"struct"
            | b"trait"
            | b"type"
            | b"typedef"
            | b"union"
            | b"var"
    )
}

const fn identifier_bytes() -> [bool; 256] {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let is = (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_' || byte >= 0x80;
        table[byte] = is;
        byte += 1;
    }
    table
}

static IDENTIFIER: [bool; 256] = identifier_bytes();

fn is_identifier(byte: u8) -> bool {
    IDENTIFIER[usize::from(byte)]
}

/// Calls `each` with every identifier of `text`, and whether it looks defined there. Linear in the text.
pub(crate) fn identifiers<'a>(text: &'a [u8], mut each: impl FnMut(&'a [u8], bool)) {
    let mut start = 0;
    while start < text.len() {
        let end = memchr(b'\n', &text[start..]).map_or(text.len(), |at| start + at);
        line_identifiers(&text[start..end], &mut each);
        start = end + 1;
    }
}

fn line_identifiers<'a>(line: &'a [u8], each: &mut impl FnMut(&'a [u8], bool)) {
    let at_margin = line.first().is_some_and(|&byte| is_identifier(byte));
    let mut calls_or_declares = None;
    let mut assigns = false;
    let mut before: &[u8] = b"";
    let mut at = 0;
    while at < line.len() {
        if !is_identifier(line[at]) {
            assigns |= line[at] == b'=';
            at += 1;
            continue;
        }
        let start = at;
        while at < line.len() && is_identifier(line[at]) {
            at += 1;
        }
        let name = &line[start..at];
        let mut defines = is_defining(before);
        if !defines && start > 0 && line.get(at) == Some(&b'(') {
            defines = if at_margin {
                // A C function: its line starts at the margin and is no statement.
                !assigns && !*calls_or_declares.get_or_insert_with(|| line.contains(&b';'))
            } else {
                // A method: the line's first name, and a body opens at its end.
                before.is_empty() && line.trim_ascii_end().ends_with(b"{")
            };
        }
        // One letter is no word.
        if (2..=LONGEST_IDENTIFIER).contains(&name.len()) {
            each(name, defines);
        }
        before = name;
    }
}

/// What a word is to the identifier it was found in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// One word of it, or all of it where it is a single word.
    Word,
    /// All of an identifier of several words.
    Whole,
}

/// Calls `each` with the lower-case words of an identifier, plurals taken back, and with the whole of it where it has
/// several. `scratch` is only kept to be reused.
pub(crate) fn words(name: &[u8], scratch: &mut Vec<u8>, mut each: impl FnMut(&[u8], Part)) {
    if name.iter().all(|byte| byte.is_ascii_digit() || *byte == b'_') {
        if (3..8).contains(&name.len()) {
            each(name, Part::Word);
        }
        return;
    }
    let (mut first, mut last, mut count) = (0, 0, 0);
    let mut at = 0;
    while at < name.len() {
        if name[at] == b'_' {
            at += 1;
            continue;
        }
        let start = at;
        at += 1;
        while at < name.len() && name[at] != b'_' && !starts_word(name, at) {
            at += 1;
        }
        if count == 0 {
            first = start;
        }
        last = at;
        count += 1;
        if (2..=LONGEST_WORD).contains(&(at - start)) {
            lower(&name[start..at], scratch);
            singular(scratch);
            each(scratch, Part::Word);
        }
    }
    if count > 1 {
        lower(&name[first..last], scratch);
        each(scratch, Part::Whole);
    }
}

/// Whether a new word of a camel-case name starts at `at`: `fooBar`, `HTTPServer`, but not the plural of `URLs`.
fn starts_word(name: &[u8], at: usize) -> bool {
    let (before, here) = (name[at - 1], name[at]);
    if !here.is_ascii_uppercase() {
        return false;
    }
    if !before.is_ascii_uppercase() {
        return before.is_ascii_lowercase() || before.is_ascii_digit();
    }
    let lower_at = |at: usize| name.get(at).is_some_and(u8::is_ascii_lowercase);
    let plural = name.get(at + 1) == Some(&b's') && !lower_at(at + 2);
    lower_at(at + 1) && !plural
}

pub(crate) fn lower(name: &[u8], into: &mut Vec<u8>) {
    into.clear();
    into.extend(name.iter().map(u8::to_ascii_lowercase));
}

/// Takes an English plural back. Stronger stemming was measured and did not help.
pub(crate) fn singular(word: &mut Vec<u8>) {
    let length = word.len();
    if length < 4 || !word.iter().all(u8::is_ascii_lowercase) {
        return;
    }
    let ends = |end: &[u8]| word.ends_with(end);
    if length > 4 && (ends(b"ies") || ends(b"ie")) {
        // `queries` is of `query` and `cookies` of `cookie`: one form for both kinds.
        let kept = if ends(b"s") { length - 3 } else { length - 2 };
        word.truncate(kept);
        word.push(b'y');
    } else if ends(b"sses") || ends(b"xes") || ends(b"ches") || ends(b"shes") {
        word.truncate(length - 2);
    } else if ends(b"s") && !ends(b"ss") && !ends(b"us") && !ends(b"is") {
        word.truncate(length - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(name: &str) -> Vec<String> {
        let mut found = Vec::new();
        words(name.as_bytes(), &mut Vec::new(), |word, _| {
            found.push(String::from_utf8_lossy(word).into_owned());
        });
        found
    }

    #[test]
    fn identifiers_are_split_where_people_see_words() {
        for (name, expected) in [
            ("parse_url", vec!["parse", "url", "parse_url"]),
            ("HTTPServer", vec!["http", "server", "httpserver"]),
            ("fooBars", vec!["foo", "bar", "foobars"]),
            ("URLs", vec!["url"]),
            ("__init__", vec!["init"]),
            ("sha512_256", vec!["sha512", "256", "sha512_256"]),
            ("cookies", vec!["cooky"]),
            ("cookie", vec!["cooky"]),
            ("queries", vec!["query"]),
            ("x", vec![]),
            ("12", vec![]),
            ("größen", vec!["größen"]),
        ] {
            assert_eq!(split(name), expected, "{name}");
        }
    }

    #[test]
    fn definitions_are_told_from_uses() {
        let text = "def load(a):\n  store(a)\nint parse_url(char *u)\nparse_url(x);\n  render() {\nstruct Jar {\n#define MAX 3\n";
        let mut defined = Vec::new();
        identifiers(text.as_bytes(), |name, defines| {
            if defines {
                defined.push(String::from_utf8_lossy(name).into_owned());
            }
        });
        assert_eq!(defined, ["load", "parse_url", "render", "Jar", "MAX"]);
    }
}
