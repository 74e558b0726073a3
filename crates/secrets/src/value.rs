//! Is it a secret, or does it only look like one?

use super::rule::Rule;

/// Whether `value`, which has the rule's shape, is random enough and no placeholder.
pub(super) fn is_plausible(rule: &Rule, value: &str) -> bool {
    turns(value) >= rule.turns && entropy(value) >= rule.entropy && !is_placeholder(value)
}

/// Whether the secret is one wherever it stands. A plain word, a number and what is shorter than six characters are not, since
/// they stand for other things too; up to seven characters take more than one number behind a word.
pub(super) fn is_distinct(secret: &str) -> bool {
    let has = |is: fn(char) -> bool| secret.chars().any(is);
    let is_mixed = turns(secret) > 0 || has(|one| one.is_ascii_digit()) && has(char::is_alphabetic);
    let has_mark = has(|one| "!@#$%^&*+?~|".contains(one)) && has(char::is_alphanumeric);
    match secret.chars().count() {
        _ if secret.contains(['\n', '\r']) => false,
        0..6 => false,
        6..8 => turns(secret) > 1 || has_mark && has(|one| one.is_ascii_digit()),
        _ => is_mixed || has_mark && !secret.contains(' '),
    }
}

/// Shannon entropy in bits per byte.
pub(super) fn entropy(value: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in value.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let total = value.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / total)
        .map(|share| -share * share.log2())
        .sum()
}

/// How often a letter follows a digit or a digit a letter.
pub(super) fn turns(value: &str) -> usize {
    let bytes = value.as_bytes();
    bytes
        .windows(2)
        .filter(|pair| {
            (pair[0].is_ascii_digit() && pair[1].is_ascii_alphabetic())
                || (pair[0].is_ascii_alphabetic() && pair[1].is_ascii_digit())
        })
        .count()
}

fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let stem = lower.trim_end_matches(|last: char| !last.is_ascii_alphabetic());
    COMMON.contains(&stem)
        || stem.ends_with("pass")
        || stem.ends_with("password")
        || value.contains('<')
        || has_placeholder_word(value)
        || is_path(value)
}

/// Whether it says of itself that it stands for another one, or counts up.
pub(super) fn has_placeholder_word(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    WORDS.iter().any(|word| lower.contains(word)) || counts_up(value.as_bytes())
}

/// Where a secret is kept, not what it is. Random text hardly ever begins like this.
pub(super) fn is_path(value: &str) -> bool {
    let beneath = |start: &&str| value.starts_with(start);
    let here = ["./", "../", "~/"].iter().any(beneath);
    let first = value.strip_prefix('/').and_then(|rest| rest.split_once('/'));
    here || first.is_some_and(|(first, _)| FOLDERS.contains(&first))
}

/// What stands at the root of a file system, or is put there in containers.
#[rustfmt::skip]
const FOLDERS: &[&str] = &[
    "Applications", "Library", "Users", "Volumes", "app", "apps", "bin", "boot", "builds", "code", "config", "data", "dev",
    "etc", "home", "lib", "lib64", "media", "mnt", "nix", "opt", "private", "proc", "project", "projects", "repo", "root", "run",
    "sbin", "secrets", "snap", "src", "srv", "sys", "tmp", "usr", "var", "vault", "work", "workdir", "workspace", "workspaces",
];

/// `abcdefgh`, `12345678`: eight characters, each the one after the last.
fn counts_up(value: &[u8]) -> bool {
    let mut run = 1;
    value.windows(2).any(|pair| {
        run = if pair[0].checked_add(1) == Some(pair[1]) { run + 1 } else { 1 };
        run >= 8
    })
}

/// At least five characters where they are letters, or chance would find them in real tokens.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "example", "sample", "placeholder", "changeme", "change-me", "change_me", "dummy", "xxxxx", "your-", "your_",
    "yourkey", "yourtoken", "yourapi", "yoursecret", "insert", "replace", "redacted", "notasecret", "not-a-secret",
    "not_a_secret", "not-real", "foobar", "deadbeef", "*****", ".....", "-----", "${", "{{",
    "#{", "$(", "%(", "%s", "{}", "\u{2026}",
];

/// What people write where a password has to stand and none matters, with or without a number behind it.
#[rustfmt::skip]
const COMMON: &[&str] = &[
    "", "admin", "default", "guest", "hello", "letmein", "mysecret", "mysql", "none", "null", "passw0rd", "passwd", "postgres",
    "postgresql", "pwd", "qwerty", "root", "secret", "super_secret", "supersecret", "test", "testsecret", "token", "user",
    "welcome", "x-oauth-basic",
];
