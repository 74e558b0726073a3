//! Sentences of a plan, with their code spans apart from their words.

/// Stands for a code span among the plain words.
pub(super) const CODE: char = '¤';
/// Paragraphs longer than this are not taken apart.
const PARAGRAPH: usize = 8 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sentence {
    /// As written, on one line.
    pub(super) raw: String,
    /// In lower case, without emphasis, each code span a [`CODE`].
    pub(super) plain: String,
    /// The same as written, of the same length.
    pub(super) cased: String,
    pub(super) codes: Vec<String>,
}

impl Sentence {
    pub(super) fn new(raw: &str) -> Self {
        let raw = raw.split_whitespace().collect::<Vec<_>>().join(" ");
        let (mut cased, mut codes) = (String::new(), Vec::new());
        for piece in pieces(&raw) {
            match piece {
                Piece::Words(words) => {
                    cased.push_str(&words.replace("**", "").replace("__", "").replace(CODE, " "));
                }
                Piece::Code(code) => {
                    cased.push(CODE);
                    codes.push(code.trim().to_owned());
                }
            }
        }
        let cased =
            cased.replace('\u{a0}', " ").replace('（', " (").replace('）', ")").trim().to_owned();
        let plain = cased.to_ascii_lowercase();
        Self { raw, plain, cased, codes }
    }

    /// What follows the first colon outside of code.
    pub(super) fn after_colon(&self) -> Option<Self> {
        let at = outside(&self.raw).find(|(_, c)| matches!(c, ':' | '：'))?;
        let rest = self.raw[at.0 + at.1.len_utf8()..].trim_start_matches(['*', '_', ' ']);
        Some(Self::new(rest))
    }
}

/// The sentences of a paragraph. Lines are joined unless the line before ends a sentence or the next one is labelled.
pub(super) fn split(paragraph: &str) -> Vec<Sentence> {
    if paragraph.len() > PARAGRAPH {
        return vec![Sentence::new("Carry out what a very long paragraph says.")];
    }
    let mut joined = String::new();
    for line in paragraph.lines() {
        let ended = joined.trim_end().ends_with(['.', ':', '!', '?', ')', '`', '*', '。', '：']);
        let apart = !joined.is_empty() && (ended || is_labelled(line));
        joined.push(if apart { '\n' } else { ' ' });
        joined.push_str(line.trim());
    }
    let mut cuts = vec![0];
    // A question may have several sentences.
    let mut is_question = is_question(&joined);
    for (at, c) in outside(&joined) {
        if c == '\n' {
            is_question = self::is_question(&joined[at + 1..]);
        } else if is_question {
            continue;
        }
        let before = joined[..at].chars().next_back().unwrap_or(' ');
        let next = joined[at + c.len_utf8()..].trim_start_matches(' ').chars().next();
        let opens = next.is_some_and(|c| !c.is_lowercase() && !"(,;-–—→".contains(c));
        let spaced = joined[at + c.len_utf8()..].starts_with(' ');
        let ends = matches!(c, '.' | '!' | '?') && !before.is_whitespace() && spaced && opens;
        if c == '\n' || c == '。' || ends {
            cuts.push(at + c.len_utf8());
        } else if c == 'E'
            && !before.is_alphanumeric()
            && joined[at..].starts_with("Expected")
            && has_label(&joined[at..])
        {
            cuts.push(at);
        }
    }
    cuts.push(joined.len());
    let parts = cuts.windows(2).map(|pair| joined[pair[0]..pair[1]].trim());
    let edge = |c: char| matches!(c, ' ' | '-' | '–' | '—' | '→' | '(');
    parts
        .map(|part| part.trim_end_matches(edge))
        .filter(|part| !part.trim_matches(['*', '_', ' ']).is_empty())
        .map(Sentence::new)
        .collect()
}

/// Whether a colon follows the word within a few words.
fn has_label(text: &str) -> bool {
    text.char_indices().take(32).any(|(_, c)| matches!(c, ':' | '：'))
}

fn is_question(line: &str) -> bool {
    let label = line.trim_start_matches([' ', '*', '_', '-']).get(..4);
    label.is_some_and(|label| label.eq_ignore_ascii_case("ask:"))
}

fn is_labelled(line: &str) -> bool {
    let line = line.trim_start_matches([' ', '*', '_', '-']).to_ascii_lowercase();
    ["expected", "run:", "run `", "ask:", "default:", "options:", "answer:", "verify:"]
        .iter()
        .any(|label| line.starts_with(label))
}

enum Piece<'a> {
    Words(&'a str),
    Code(&'a str),
}

/// A text as words and code spans, by the runs of backticks around them.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find('`') {
        let ticks = run(&rest[open..]);
        let inner = &rest[open + ticks..];
        let Some(close) = closing(inner, ticks) else { break };
        found.push(Piece::Words(&rest[..open]));
        found.push(Piece::Code(&inner[..close]));
        rest = &inner[close + ticks..];
    }
    found.push(Piece::Words(rest));
    found
}

fn run(text: &str) -> usize {
    text.bytes().take_while(|byte| *byte == b'`').count()
}

fn closing(text: &str, ticks: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = text[at..].find('`') {
        let length = run(&text[at + found..]);
        if length == ticks {
            return Some(at + found);
        }
        at += found + length;
    }
    None
}

/// The characters that are not in code spans, with their offsets.
fn outside(text: &str) -> impl Iterator<Item = (usize, char)> {
    let start = text.as_ptr() as usize;
    pieces(text).into_iter().flat_map(move |piece| {
        let words = if let Piece::Words(words) = piece { words } else { "" };
        let offset = if words.is_empty() { 0 } else { words.as_ptr() as usize - start };
        words.char_indices().map(move |(at, c)| (at + offset, c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paragraph_falls_into_sentences_and_code_is_never_cut() {
        let parts =
            split("Run: `cargo test a. B`\nExpected: FAIL with \"no such\nthing\". Then go\non.");
        let raw: Vec<&str> = parts.iter().map(|part| part.raw.as_str()).collect();
        assert_eq!(
            raw,
            ["Run: `cargo test a. B`", "Expected: FAIL with \"no such thing\".", "Then go on."]
        );
        assert_eq!(
            (parts[0].plain.as_str(), parts[0].codes.as_slice()),
            ("run: ¤", &["cargo test a. B".to_owned()][..])
        );
    }

    #[test]
    fn an_expectation_in_the_same_line_is_a_sentence_of_its_own() {
        let parts = split("Run `x` — Expected: PASS");
        let raw: Vec<&str> = parts.iter().map(|part| part.raw.as_str()).collect();
        assert_eq!(raw, ["Run `x`", "Expected: PASS"]);
    }
}
