//! Can this text, which stands where a secret may stand, be one?

use super::secret_name::NameClass;
use super::value::{entropy, is_path, turns};

/// How sure the syntax is that a literal value stands there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    /// `DB_PASS=...`, `<password>...</password>`, `--password ...`: only a value can stand there.
    Config,
    /// A literal of code or JSON, which may be a label, the name of a field or a type.
    Literal,
    /// Without quotes where an expression of code may stand.
    Bare,
}

pub(super) fn is_secret(class: NameClass, syntax: Syntax, value: &str) -> bool {
    let look = Look::of(value);
    let is_likely = match (class, syntax) {
        (_, Syntax::Bare) => look.is_unlike_code(value),
        (NameClass::Password, Syntax::Config) => look.is_mixed(4) || look.is_word(value, 6),
        (NameClass::Password, Syntax::Literal) => look.is_mixed(6),
        (NameClass::Secret, Syntax::Config) => look.is_mixed(6) || look.is_word(value, 12),
        (NameClass::Secret, Syntax::Literal) => look.is_mixed(8) && !look.is_words(value),
        (NameClass::Token, Syntax::Config) => {
            look.is_mixed(8) && look.bits >= 2.5 && !look.is_words(value)
        }
        (NameClass::Token, Syntax::Literal) => {
            look.is_mixed(12)
                && look.bits >= 3.0
                && (look.turns >= 3 || look.marks >= 2)
                && !look.is_words(value)
        }
    };
    is_likely && !is_reference(value) && !is_placeholder(value)
}

/// Whether a value is random, whatever its name says besides.
pub(super) fn is_random(value: &str) -> bool {
    let look = Look::of(value);
    look.length >= 12
        && look.turns >= 3
        && look.bits >= 3.0
        && look.spaces == 0
        && !look.is_words(value)
}

/// What a value is made of.
struct Look {
    length: usize,
    letters: usize,
    digits: usize,
    /// Signs that hardly occur in names and sentences.
    marks: usize,
    spaces: usize,
    turns: usize,
    bits: f64,
}

impl Look {
    fn of(value: &str) -> Self {
        let count = |is: fn(char) -> bool| value.chars().filter(|one| is(*one)).count();
        Self {
            length: value.chars().count(),
            letters: count(char::is_alphabetic),
            digits: count(|one| one.is_ascii_digit()),
            marks: count(|one| MARKS.contains(one)),
            spaces: count(char::is_whitespace),
            turns: turns(value),
            bits: entropy(value),
        }
    }

    /// Letters with digits or marks, or many digits. A sentence is neither.
    fn is_mixed(&self, least: usize) -> bool {
        let is_sentence = self.spaces > 0 && (self.digits == 0 || self.marks == 0);
        let mixes = self.letters > 0 && (self.digits > 0 || self.marks > 0);
        self.length >= least && !is_sentence && (mixes || self.digits >= 6) && self.bits >= 1.5
    }

    /// One word that can be a password: not a label, which begins with a capital, and not a name with dots.
    fn is_word(&self, value: &str, least: usize) -> bool {
        self.length >= least
            && self.letters > 0
            && value.chars().all(|one| one.is_alphanumeric() || matches!(one, '-' | '_'))
            && !value.starts_with(|first: char| first.is_uppercase() && self.digits == 0)
            && self.bits >= 1.5
    }

    /// Names with a version or a number behind: `my-app-v2`, `sha256`, `user_id1`.
    fn is_words(&self, value: &str) -> bool {
        self.marks == 0
            && self.turns <= 2
            && value.split(|one: char| !one.is_ascii_alphanumeric()).all(|part| {
                let stem = part.trim_end_matches(|last: char| last.is_ascii_digit());
                stem.bytes().all(|byte| byte.is_ascii_alphabetic()) && part.len() - stem.len() <= 4
            })
    }

    /// Without quotes: no name, no number, no call and no sum.
    fn is_unlike_code(&self, value: &str) -> bool {
        let is_random = self.length >= 12 && self.turns >= 3 && self.bits >= 3.0;
        self.spaces == 0
            && self.length >= 6
            && self.letters > 0
            && self.digits > 0
            && !value
                .contains(['(', ')', '[', ']', '{', '}', '<', '>', '"', '\'', '`', ',', ';', '|'])
            && !value.starts_with(['&', '*', '!', '-', '+', '.', ':'])
            && ((self.marks > 0 && self.turns > 0)
                || (is_random && !value.contains([':', '.', '*', '&'])))
    }
}

const MARKS: &str = "!@#$%^&*+?~|=";

/// It names a secret that stands elsewhere.
fn is_reference(value: &str) -> bool {
    let inner = |open: char| value.strip_prefix(open).map(|rest| rest.trim_end_matches(open));
    let is_name = |name: &str| {
        name.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b':'))
    };
    let is_variable =
        inner('$').or_else(|| inner('%')).or_else(|| inner('@')).is_some_and(|name| {
            is_name(name)
                && (value.ends_with(['%', '@'])
                    || name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
                        && is_upper_or_word(name))
        });
    is_variable
        || value.starts_with(['<', '`', '{', '['])
        || value.contains("://")
        || is_path(value)
        || REFERENCES.iter().any(|start| value.starts_with(start))
        || FILES.iter().any(|end| value.ends_with(end))
        || starts_with_tag(value)
}

/// `$DB_PASS` and `$password` are variables, `$k4Lx2` is not.
fn is_upper_or_word(name: &str) -> bool {
    let has_lower = name.bytes().any(|byte| byte.is_ascii_lowercase());
    let has_upper = name.bytes().any(|byte| byte.is_ascii_uppercase());
    !(has_lower && has_upper && turns(name) > 1)
}

/// `!vault |`, `!Ref Name`.
fn starts_with_tag(value: &str) -> bool {
    let Some(tag) = value.strip_prefix('!') else { return false };
    tag.split_once(' ').is_some_and(|(tag, _)| {
        tag.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b':')
    })
}

const REFERENCES: &[&str] = &[
    "arn:", "vault:", "ssm:", "env:", "env.", "file:", "secret:", "secrets.", "process.", "os.",
    "self.", "this.", "keyring:", "sha256:", "ENC(", "data:",
];

const FILES: &[&str] = &[
    ".txt", ".json", ".yml", ".yaml", ".pem", ".key", ".py", ".js", ".ts", ".rs", ".md", ".html",
    ".xml", ".env", ".php", ".java",
];

/// What people write where a secret has to stand and none matters.
fn is_placeholder(value: &str) -> bool {
    let lower = value.to_lowercase();
    let first = lower.chars().next();
    value.is_empty()
        || lower.chars().all(|one| Some(one) == first)
        || super::value::has_placeholder_word(value)
        || is_known_words(&lower)
}

/// Only words of the list below, with numbers between: `your_db_password`, `password123`, `test-secret`.
fn is_known_words(lower: &str) -> bool {
    let words = lower.split(|one: char| !one.is_alphabetic()).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.take(9).collect();
    words.len() < 9 && words.iter().all(|word| is_known(word) || is_compound(word))
}

fn is_known(word: &str) -> bool {
    KNOWN.binary_search(&word).is_ok()
}

/// Two or three words of the list without a mark between: `mypassword`.
fn is_compound(word: &str) -> bool {
    word.len() <= 32 && rests(word).any(|rest| is_known(rest) || rests(rest).any(is_known))
}

/// What is left of a word behind each word of the list that it begins with.
fn rests(word: &str) -> impl Iterator<Item = &str> {
    KNOWN.iter().filter_map(|known| word.strip_prefix(known))
}

/// In order.
#[rustfmt::skip]
const KNOWN: &[&str] = &[
    "a", "abc", "abcd", "abcdef", "access", "admin", "administrator", "an", "any", "api", "app", "auth", "bar",
    "basic", "baz", "bearer", "bool", "boolean", "bytes", "change", "changed", "changeit", "changeme", "char",
    "client", "confirm", "confirmed", "correct", "cred", "credential", "credentials", "current", "data", "database",
    "db", "default", "demo", "digest", "disabled", "dummy", "empty", "enabled", "enter", "env", "example", "fake",
    "false", "field", "file", "foo", "foobar", "for", "github", "goes", "good", "guest", "hello", "here", "hidden",
    "hunter", "id", "in", "incorrect", "input", "insert", "int", "integer", "invalid", "is", "it", "json", "jwt",
    "key", "length", "letmein", "local", "login", "masked", "max", "me", "min", "missing", "mock", "my", "mysql",
    "name", "new", "nil", "no", "nobody", "none", "not", "null", "nullable", "number", "object", "of", "off", "old",
    "on", "optional", "or", "other", "pass", "passphrase", "passw", "passwd", "password", "passwort", "placeholder",
    "plain", "plaintext", "please", "postgres", "postgresql", "private", "prompt", "public", "put", "pw", "pwd",
    "qwerty", "random", "rd", "read", "redacted", "refresh", "replace", "required", "root", "sample", "secret",
    "secrets", "secure", "session", "set", "smtp", "some", "something", "sometimes", "staging", "str", "string",
    "super", "test", "tester", "testing", "text", "that", "the", "this", "to", "todo", "token", "tokens", "true",
    "type", "undefined", "unknown", "unset", "unused", "user", "username", "valid", "value", "var", "varchar",
    "variable", "very", "welcome", "with", "word", "wrong", "x", "xx", "xxx", "xxxx", "xyz", "yes", "you", "your",
    "yours",
];
