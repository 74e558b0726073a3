//! A text as the words it is about.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Text past this is data.
const MOST_BYTES: usize = 64 << 10;
/// Longer names are data.
const LONGEST: usize = 80;
/// What a word counts; two that follow each other count half as much as a pair.
pub(super) const WORD: u32 = 2;
const PAIR: u32 = 1;

/// English that carries no subject, and what every task says whatever it is about.
static STOP_WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| LIST.split_whitespace().collect());
const LIST: &str = "about above add added adding adds after again all allow allowed allows also always am an and any are as at authored \
    avoid avoids back be because been before being below between both but by can cannot change changed changes changing \
    chore clean cleaned cleaning cleans cleanup close closed closes co correct corrected could did do does doing don done \
    down during each either else ensure ensures etc even ever every feat few fix fixed fixes fixing follow for from \
    further get gets give given gives had handle handled handles has have having he her here him his how however if \
    implement implemented implements improve improved improves in instead into introduce introduced introduces is it its \
    itself just let lets like made make makes making many may me might more most move moved moves moving much must my need \
    needed needs new no nor not now of off on once one only or other our out over own per please prevent previously prior \
    provide provides rather refactor refactored refactoring refactors remove removed removes removing rename renamed \
    renames renaming replace replaced replaces replacing revert reverted reverting reverts same see set she should signed \
    simplified simplifies simplify simplifying since so some still such support supported supports than thank thanks that \
    the their them then there these they thing things this those though through thus to too two under until up update \
    updated updates upon us use used uses using very via was way we well were what when where whether which while who why \
    will with within without work works would yes yet you your";

/// Kinds of changes, as prefixes of titles have them: they name no part of the code.
const CHANGES: [&str; 12] = [
    "build", "chore", "ci", "doc", "docs", "feat", "fix", "perf", "refactor", "style", "test",
    "tests",
];

/// One thing that a text is about.
pub(super) struct Word<'a> {
    /// As it is looked for.
    pub(super) text: &'a str,
    /// As the text has it; nothing for a pair.
    pub(super) written: &'a str,
    pub(super) count: u32,
}

/// Calls `each` with every word of a text that may tell what it is about. `parse_url`, `parseUrl` and `ParsedURLs` have the
/// same words. Words that follow each other are also found as a pair and names of several words as a whole, both written
/// together, so that `thread-safe` and `threadsafe` meet.
pub(super) fn words(text: &str, mut each: impl FnMut(Word<'_>)) {
    let mut rest = &text[..text.floor_char_boundary(MOST_BYTES)];
    let mut before = None;
    while let Some(start) = rest.find(is_name) {
        let joint = matches!(&rest[..start], " " | "\n" | "-" | "." | "/" | "::");
        let (name, after) = take_name(&rest[start..]);
        rest = after;
        if name.starts_with(is_unspaced) {
            pairs_of(name, &mut each);
            before = None;
        } else if name.len() > LONGEST {
            before = None;
        } else {
            let last = before.take().filter(|_| joint);
            before = name_words(name, last, &mut each);
        }
    }
}

/// The part of the code that a title's prefix names: `url: ...`, `fix(css): ...`.
pub(super) fn scope(title: &str) -> Option<String> {
    let (prefix, _) = title.split_once(": ")?;
    let prefix = prefix.trim_end_matches('!');
    let (kind, scope) = prefix.strip_suffix(')').and_then(|one| one.split_once('(')).unzip();
    let named = scope.or(kind).unwrap_or(prefix).to_lowercase();
    let is_scope = |c: char| is_name(c) || matches!(c, '.' | '/' | '-');
    let known = named.len() <= LONGEST && !named.is_empty() && named.chars().all(is_scope);
    (known && !CHANGES.contains(&named.as_str())).then(|| format!(":{named}"))
}

/// The words of one name, after `before` if only a joint is between; the last word is given back, for the next pair.
fn name_words(
    name: &str,
    before: Option<String>,
    each: &mut impl FnMut(Word<'_>),
) -> Option<String> {
    let parts: Vec<Part> = split(name).map(Part::of).collect();
    for Part { stem, written, stop } in &parts {
        if !stop && stem.chars().nth(1).is_some() {
            each(Word { text: stem, written, count: WORD });
        }
    }
    let mut pair = |one: &str, two: &Part| {
        let text = without_e(format!("{one}{}", two.stem));
        each(Word { text: &text, written: "", count: PAIR });
    };
    if let (Some(before), Some(first)) = (before, parts.first().filter(|part| !part.stop)) {
        pair(&before, first);
    }
    // The only pair of two words is the whole.
    for two in parts.windows(2).filter(|_| parts.len() > 2) {
        pair(&two[0].stem, &two[1]);
    }
    if parts.len() > 1 {
        let whole = without_e(parts.iter().map(|part| part.stem.as_str()).collect());
        each(Word { text: &whole, written: name, count: WORD });
    }
    parts.into_iter().next_back().filter(|part| !part.stop).map(|part| part.stem)
}

/// One word of a name.
struct Part {
    stem: String,
    written: String,
    stop: bool,
}

impl Part {
    fn of(written: String) -> Self {
        let stop = STOP_WORDS.contains(written.as_str());
        Self { stem: stem(written.clone()), written, stop }
    }
}

/// Scripts that set no spaces between words have pairs of characters instead.
fn pairs_of(run: &str, each: &mut impl FnMut(Word<'_>)) {
    let starts: Vec<usize> = run.char_indices().map(|(at, _)| at).chain([run.len()]).collect();
    let mut each = |text| each(Word { text, written: text, count: WORD });
    if starts.len() == 2 {
        each(run);
    }
    for three in starts.windows(3) {
        each(&run[three[0]..three[2]]);
    }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Thai, Lao, Burmese, Khmer, kana and Han.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3134f}')
}

/// The name that a text starts with, all of it in a script with spaces or all of it in one without, and what follows.
fn take_name(text: &str) -> (&str, &str) {
    let unspaced = text.starts_with(is_unspaced);
    let end = text.find(|c: char| !is_name(c) || is_unspaced(c) != unspaced);
    text.split_at(end.unwrap_or(text.len()))
}

/// The words of a name in lower case.
fn split(name: &str) -> impl Iterator<Item = String> {
    let chars: Vec<char> = name.chars().collect();
    let mut parts = vec![String::new()];
    for (at, &c) in chars.iter().enumerate() {
        if c == '_' || starts_word(&chars, at) {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut().filter(|_| c != '_') {
            part.extend(c.to_lowercase());
        }
    }
    parts.into_iter().filter(|part| !part.is_empty())
}

/// Whether a new word of a camel-case name starts here: `fooBar`, `HTTPServer`, but not the plural of `URLs`.
fn starts_word(name: &[char], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|before| name[before]) else { return false };
    if !name[at].is_uppercase() {
        return false;
    }
    if !before.is_uppercase() {
        return before.is_lowercase() || before.is_numeric();
    }
    let lower_at = |at: usize| name.get(at).is_some_and(|c| c.is_lowercase());
    let plural = name.get(at + 1) == Some(&'s') && !lower_at(at + 2);
    lower_at(at + 1) && !plural
}

/// Takes English endings off, so that `cache`, `caches`, `cached` and `caching` meet. What is left need not be a word.
fn stem(mut word: String) -> String {
    if word.len() < 4 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word;
    }
    let length = word.len();
    if length > 4 && (word.ends_with("ies") || word.ends_with("ie")) {
        // `queries` is of `query` and `cookies` of `cookie`: one form for both kinds.
        word.truncate(length - if word.ends_with('s') { 3 } else { 2 });
        word.push('y');
    } else if ["sses", "xes", "ches", "shes"].iter().any(|end| word.ends_with(end)) {
        word.truncate(length - 2);
    } else if word.ends_with('s') && !["ss", "us", "is"].iter().any(|end| word.ends_with(end)) {
        word.truncate(length - 1);
    }
    if let Some(end) = ["ing", "ed"].iter().find(|end| word.ends_with(**end))
        && word.len() > end.len() + 3
    {
        word.truncate(word.len() - end.len());
        undouble(&mut word);
    }
    without_e(word)
}

/// `cache` without its end is what `caching` is without its own.
fn without_e(mut word: String) -> String {
    if word.len() > 4 && word.ends_with('e') {
        word.pop();
    }
    word
}

/// `stopp`, of `stopped`, is `stop`; `pass` and `call` stay.
fn undouble(word: &mut String) {
    if let [.., one, two] = *word.as_bytes()
        && one == two
        && !b"lsz".contains(&two)
    {
        word.pop();
    }
}

#[cfg(test)]
mod tests;
