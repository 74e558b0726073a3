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
        (NameClass::Password, Syntax::Config) => {
            let is_word = look.is_word(value, 6) && !look.names_itself(value);
            look.is_mixed(4) || look.is_short_mix() || is_word || is_phrase(value)
        }
        (NameClass::Password, Syntax::Literal) => look.is_mixed(6),
        (NameClass::Secret, Syntax::Config) => {
            (look.is_mixed(6) || look.is_word(value, 12)) && !look.names_itself(value)
        }
        (NameClass::Secret, Syntax::Literal) => look.is_mixed(8) && !look.is_words(value),
        (NameClass::Token, Syntax::Config) => {
            look.is_mixed(8) && look.bits >= 2.5 && !look.is_numbered(value)
        }
        (NameClass::Token, Syntax::Literal) => {
            let is_varied =
                look.turns >= 3 || look.marks >= 2 || look.turns == 2 && look.digits > 3;
            look.is_mixed(12) && look.bits >= 3.0 && is_varied && !look.is_numbered(value)
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

/// Whether a value is a name of code, such as `apr_md5_crypt`.
pub(super) fn is_identifier(value: &str) -> bool {
    value.contains('_') && Look::of(value).is_words(value)
}

/// Four words or more, none of which is usual in labels and messages.
fn is_phrase(value: &str) -> bool {
    let is_word =
        |word: &str| word.len() >= 3 && word.bytes().all(|byte| byte.is_ascii_lowercase());
    let words: Vec<&str> = value.split(' ').take(13).collect();
    (4..13).contains(&words.len()) && words.iter().all(|word| is_word(word) && !is_known(word))
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
        let (turns, bits) = (turns(value), entropy(value));
        let mut look = Self { length: 0, letters: 0, digits: 0, marks: 0, spaces: 0, turns, bits };
        for one in value.chars() {
            look.length += 1;
            match one {
                '0'..='9' => look.digits += 1,
                _ if one.is_alphabetic() => look.letters += 1,
                _ if one.is_whitespace() => look.spaces += 1,
                _ if MARKS.contains(one) => look.marks += 1,
                _ => {}
            }
        }
        look
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

    /// Names, perhaps with a number in them: `my-app-v2`, `sha256`, `V1SecretSource`.
    fn is_words(&self, value: &str) -> bool {
        let mut numbers = value.split(|one: char| !one.is_ascii_digit());
        self.marks == 0
            && self.turns <= 2
            && self.digits <= 6
            && numbers.all(|number| number.len() <= 4)
            && value.chars().all(|one| {
                one.is_alphanumeric() || matches!(one, '_' | '-' | '.' | '/' | ':' | ' ')
            })
    }

    /// Names with a short number. One word with a longer number is none.
    fn is_numbered(&self, value: &str) -> bool {
        let is_one = value.bytes().all(|byte| byte.is_ascii_alphanumeric());
        self.is_words(value) && !(is_one && self.digits > 3)
    }

    /// As short as `a&b`.
    fn is_short_mix(&self) -> bool {
        self.length >= 3
            && self.letters > 0
            && self.marks > 0
            && self.spaces == 0
            && self.bits >= 1.5
    }

    /// A name that says what it names: `couchbase-secret`, `conn_password`.
    fn names_itself(&self, value: &str) -> bool {
        let lower = value.to_ascii_lowercase();
        self.is_words(value) && OWN_NAMES.iter().any(|name| lower.contains(name))
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

const OWN_NAMES: &[&str] = &[
    "apikey",
    "api_key",
    "api-key",
    "credential",
    "passphrase",
    "passwd",
    "password",
    "secret",
    "token",
];

const MARKS: &str = "!@#$%^&*+?~|";

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
        || is_date(value)
        || is_expression(value)
}

/// `2016-09-24T16:18:07Z`.
fn is_date(value: &str) -> bool {
    let bytes = value.as_bytes();
    bytes.len() >= 10
        && bytes[..4].iter().all(u8::is_ascii_digit)
        && bytes[4] == b'-'
        && bytes[7] == b'-'
        && bytes[5..7].iter().all(u8::is_ascii_digit)
}

/// A call, a sum, a regular expression or a text that goes on.
fn is_expression(value: &str) -> bool {
    let is_call = value.split_once('(').is_some_and(|(name, _)| {
        let is_letter =
            |byte: u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'.' | b':' | b' ');
        let is_closed = value.ends_with(')');
        !name.is_empty()
            && name.bytes().all(|byte| is_letter(byte) || is_closed && byte.is_ascii_digit())
    });
    is_call && !value.contains("(!)") || EXPRESSIONS.iter().any(|sign| value.contains(sign))
}

const EXPRESSIONS: &[&str] = &[
    " || ", " && ", " + ", " % ", " = ", " == ", " ? ", " | ", "(?", "\\w", "\\d", "\\s", "[^",
    "[-1]", "[0]", "[]", ".*", ".+", "...", "]+", ")+",
];

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
    "\\x", "\\u", "arn:", "vault:", "ssm:", "env:", "env.", "file:", "secret:", "secrets.",
    "process.", "os.", "self.", "this.", "keyring:", "sha256:", "ENC(", "data:",
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
        || is_encoded(value)
        || lower.chars().all(|one| Some(one) == first)
        || super::value::has_placeholder_word(value)
        || is_known_words(&lower)
}

/// Hardly anything but percent-encoded signs: a test of URLs.
fn is_encoded(value: &str) -> bool {
    let is_code = |rest: &str| {
        rest.as_bytes().get(..2).is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit))
    };
    let codes = value.match_indices('%').filter(|(at, _)| is_code(&value[at + 1..])).count();
    codes > 0 && value.len() < codes * 3 + 4
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
    "a", "abc", "access", "admin", "administrator", "aes", "an", "any", "api", "app", "ascii",
    "auth", "bar", "base", "basic", "baz", "bcrypt", "bearer", "bool", "boolean", "bytes", "change", "changed",
    "changeit", "changeme", "char", "client", "confirm", "confirmed", "cred", "credential", "credentials",
    "current", "data", "database", "db", "default", "demo", "digest", "disabled", "dummy", "empty", "enabled",
    "enter", "env", "example", "fake", "false", "field", "file", "foo", "foobar", "for", "github", "goes", "good",
    "guest", "hello", "here", "hex", "hidden", "hmac", "http", "https", "id", "in", "incorrect", "input",
    "insert", "int", "integer", "invalid", "is", "it", "json", "jwt", "key", "latin", "length", "letmein", "local",
    "login", "mariadb", "masked", "max", "md", "me", "min", "missing", "mock", "mongo", "mongodb", "mssql", "my",
    "mysql", "name", "new", "nil", "no", "nobody", "none", "not", "null", "nullable", "number", "oauth", "object",
    "of", "off", "old", "on", "optional", "or", "oracle", "other", "pass", "passphrase", "passw", "passwd",
    "password", "passwort", "placeholder", "plain", "plaintext", "please", "postgres", "postgresql", "private",
    "prompt", "public", "put", "pw", "pwd", "qwerty", "rabbitmq", "random", "rd", "read", "redacted", "redis",
    "refresh", "replace", "required", "root", "rsa", "sa", "sample", "secret", "secrets", "secure", "session", "set",
    "sha", "smtp", "some", "something", "sometimes", "staging", "str", "string", "super", "test", "tester", "testing",
    "text", "that", "the", "this", "to", "todo", "token", "tokens", "true", "type", "undefined", "unknown", "unset",
    "unused", "user", "username", "utf", "v", "valid", "value", "var", "varchar", "variable", "verify", "very",
    "welcome", "with", "word", "wrong", "x", "xx", "xxx", "xxxx", "xyz", "yes", "you", "your", "yours",
];
