//! A text as the words it is about.

/// Text past this is data.
const MOST_BYTES: usize = 64 << 10;
/// Longer runs are data, not names.
const LONGEST: usize = 80;

/// English that carries no subject, and what every task says whatever it is about; plurals taken back.
const STOP_WORDS: &[&str] = &[
    "about",
    "add",
    "added",
    "adding",
    "after",
    "again",
    "all",
    "allow",
    "also",
    "alway",
    "am",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "avoid",
    "be",
    "because",
    "been",
    "before",
    "being",
    "both",
    "but",
    "by",
    "can",
    "cannot",
    "change",
    "changed",
    "could",
    "did",
    "do",
    "doe",
    "done",
    "each",
    "else",
    "ensure",
    "etc",
    "even",
    "every",
    "feat",
    "fix",
    "fixed",
    "follow",
    "for",
    "from",
    "get",
    "had",
    "handle",
    "has",
    "have",
    "he",
    "her",
    "here",
    "his",
    "how",
    "however",
    "if",
    "implement",
    "improve",
    "in",
    "instead",
    "into",
    "is",
    "it",
    "its",
    "just",
    "let",
    "like",
    "made",
    "make",
    "may",
    "me",
    "might",
    "more",
    "most",
    "must",
    "my",
    "need",
    "new",
    "no",
    "nor",
    "not",
    "now",
    "of",
    "off",
    "on",
    "once",
    "one",
    "only",
    "or",
    "other",
    "our",
    "out",
    "over",
    "own",
    "per",
    "please",
    "rather",
    "remove",
    "removed",
    "same",
    "see",
    "should",
    "since",
    "so",
    "some",
    "still",
    "such",
    "support",
    "supported",
    "than",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "thi",
    "this",
    "those",
    "though",
    "through",
    "to",
    "too",
    "under",
    "until",
    "up",
    "update",
    "updated",
    "us",
    "use",
    "used",
    "using",
    "very",
    "via",
    "wa",
    "was",
    "way",
    "we",
    "well",
    "were",
    "what",
    "when",
    "where",
    "whether",
    "which",
    "while",
    "who",
    "why",
    "will",
    "with",
    "within",
    "without",
    "would",
    "yet",
    "you",
    "your",
];

/// As much of a text as is read, ending where a character does.
pub(super) fn bounded(text: &str) -> &str {
    &text[..text.floor_char_boundary(MOST_BYTES)]
}

/// Calls `each` with every word of a text that may tell what it is about: the words of identifiers, lower case and with plurals
/// taken back, and identifiers of several words as a whole.
pub(super) fn words(text: &str, mut each: impl FnMut(&str)) {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    for name in bounded(text).split(|c: char| !is_name(c)) {
        if name.is_empty() || name.len() > LONGEST {
            continue;
        }
        let parts = split(name);
        for part in &parts {
            let word = singular(part);
            if word.chars().nth(1).is_some() && STOP_WORDS.binary_search(&word.as_str()).is_err() {
                each(&word);
            }
        }
        if parts.len() > 1 {
            each(&name.trim_matches('_').to_lowercase());
        }
    }
}

/// The words of an identifier in lower case: `parse_url`, `parseUrl` and `ParseURL` have the same two. Scripts that set no
/// spaces have pairs of characters instead.
fn split(name: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut part = String::new();
    let chars: Vec<char> = name.chars().collect();
    for (at, &c) in chars.iter().enumerate() {
        if c == '_' || starts_word(&chars, at) {
            parts.extend(Some(std::mem::take(&mut part)).filter(|part| !part.is_empty()));
        }
        if c != '_' {
            part.extend(c.to_lowercase());
        }
    }
    parts.extend(Some(part).filter(|part| !part.is_empty()));
    parts
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

/// Takes an English plural back.
fn singular(word: &str) -> String {
    if word.len() < 4 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word.to_owned();
    }
    let ends = |end: &str| word.ends_with(end);
    let without = |count: usize| word[..word.len() - count].to_owned();
    if word.len() > 4 && ends("ies") {
        without(3) + "y"
    } else if word.len() > 4 && ends("ie") {
        without(2) + "y"
    } else if ends("sses") || ends("xes") || ends("ches") || ends("shes") {
        without(2)
    } else if ends("s") && !ends("ss") && !ends("us") && !ends("is") {
        without(1)
    } else {
        word.to_owned()
    }
}
