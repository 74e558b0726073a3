//! Text as words: identifiers, their parts, and whether a place defines them.

use memchr::memchr;

/// Longer runs are data, not names.
const LONGEST_IDENTIFIER: usize = 80;
const LONGEST_WORD: usize = 40;

/// Words after which a name is being defined, in the common languages.
const DEFINING: [&[u8]; 20] = [
    b"class",
    b"const",
    b"def",
    b"define",
    b"enum",
    b"fn",
    b"func",
    b"function",
    b"interface",
    b"let",
    b"macro_rules",
    b"mod",
    b"module",
    b"namespace",
    b"struct",
    b"trait",
    b"type",
    b"typedef",
    b"union",
    b"var",
];

/// Each word that defines in a slot of its own, so that a word is compared with one of them at most.
static DEFINING_SLOTS: [&[u8]; 64] = {
    let mut slots: [&[u8]; 64] = [b""; 64];
    let mut at = 0;
    while at < DEFINING.len() {
        let slot = defining_slot(DEFINING[at]);
        assert!(slots[slot].is_empty(), "two words in one slot: choose other factors");
        slots[slot] = DEFINING[at];
        at += 1;
    }
    slots
};

#[inline]
const fn defining_slot(word: &[u8]) -> usize {
    let (first, last) = (word[0] as usize, word[word.len() - 1] as usize);
    (2 * first + 4 * last + word.len()) % 64
}

#[inline]
fn is_defining(word: &[u8]) -> bool {
    !word.is_empty() && DEFINING_SLOTS[defining_slot(word)] == word
}

#[inline]
fn is_identifier(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// The identifier that `text` starts with.
pub(crate) fn first_identifier(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|byte| !is_identifier(*byte));
    &text[..end.unwrap_or(text.len())]
}

const BLOCK: usize = 64;

/// One bit for each byte of a block: whether it belongs to an identifier.
fn identifier_bits(block: &[u8; BLOCK]) -> u64 {
    let flags = block.map(|byte| u8::from(is_identifier(byte)));
    let (eights, _) = flags.as_chunks::<8>();
    eights.iter().rev().fold(0, |bits, eight| {
        // Moves the last bit of each of eight bytes into the first byte.
        let gathered = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        bits << 8 | gathered
    })
}

/// Calls `each` with where every run of identifier bytes starts and ends.
fn runs(text: &[u8], mut each: impl FnMut(usize, usize)) {
    let mut run = None;
    let (blocks, tail) = text.as_chunks::<BLOCK>();
    let mut last = [0; BLOCK];
    last[..tail.len()].copy_from_slice(tail);
    for (number, block) in blocks.iter().chain([&last]).enumerate() {
        let bits = identifier_bits(block);
        let mut edges = bits ^ (bits << 1 | u64::from(run.is_some()));
        while edges != 0 {
            let at = number * BLOCK + edges.trailing_zeros() as usize;
            edges &= edges - 1;
            match run.take() {
                Some(start) => each(start, at),
                None => run = Some(at),
            }
        }
    }
}

/// An identifier where it stands.
pub(crate) struct Identifier<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) start: usize,
    /// Whether this looks like the place that defines it.
    pub(crate) defined: bool,
}

/// Calls `each` with every identifier of `text`. Linear in the text.
pub(crate) fn identifiers<'a>(text: &'a [u8], mut each: impl FnMut(Identifier<'a>)) {
    let mut line = Line::at(text, 0);
    let mut before: &[u8] = b"";
    runs(text, |start, end| {
        while line.end < start {
            line = Line::at(text, line.end + 1);
            before = b"";
        }
        let name = &text[start..end];
        let called = || start > line.start && text.get(end) == Some(&b'(');
        let defined =
            is_defining(before) || called() && line.opens_body(text, start, before.is_empty());
        // One letter is no word.
        if (2..=LONGEST_IDENTIFIER).contains(&name.len()) {
            each(Identifier { name, start, defined });
        }
        before = name;
    });
}

/// The line at hand, and what was found out about it; nothing in it is looked at twice.
struct Line {
    start: usize,
    end: usize,
    /// It has an assignment before this place.
    assigns: bool,
    seen: usize,
    has_semicolon: Option<bool>,
}

impl Line {
    fn at(text: &[u8], start: usize) -> Self {
        let end = memchr(b'\n', &text[start..]).map_or(text.len(), |at| start + at);
        Self { start, end, assigns: false, seen: start, has_semicolon: None }
    }

    /// Whether a name at `at` with a parenthesis after it looks like a function that is written here, not called.
    fn opens_body(&mut self, text: &[u8], at: usize, is_first: bool) -> bool {
        let line = &text[self.start..self.end];
        if !is_identifier(line[0]) {
            // A method: the line's first name, and a body opens at its end.
            return is_first && line.trim_ascii_end().ends_with(b"{");
        }
        // A C function: its line starts at the margin and is no statement.
        self.assigns |= memchr(b'=', &text[self.seen..at]).is_some();
        self.seen = at;
        !self.assigns && !*self.has_semicolon.get_or_insert_with(|| memchr(b';', line).is_some())
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
    fn identifiers_are_found_wherever_they_start_and_end() {
        let line = "\u{fc}ber _a @[`{ab9/:zZ ".to_owned() + &"long".repeat(17) + "\n(x) done";
        for shift in 0..140 {
            let text = " ".repeat(shift) + &line;
            let mut found = Vec::new();
            identifiers(text.as_bytes(), |each| found.push((each.start, each.name)));
            let names = ["\u{fc}ber", "_a", "ab9", "zZ", &"long".repeat(17), "done"];
            let expected = names.map(|name| (text.find(name).unwrap(), name.as_bytes()));
            assert_eq!(found, expected, "{shift}");
        }
    }

    #[test]
    fn definitions_are_told_from_uses() {
        let text = "def load(a):\n  store(a)\nint parse_url(char *u)\nparse_url(x);\n  render() {\nstruct Jar {\n#define MAX 3\n";
        let mut defined = Vec::new();
        identifiers(text.as_bytes(), |found| {
            if found.defined {
                defined.push(String::from_utf8_lossy(found.name).into_owned());
            }
        });
        assert_eq!(defined, ["load", "parse_url", "render", "Jar", "MAX"]);
    }
}
