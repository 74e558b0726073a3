//! Configuration without its credentials: what a build needs to know, and nothing that opens a door.

#[cfg(test)]
mod tests;

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use sequester_core::secret;

/// A configuration file that is larger is not brought in.
const LARGEST: u64 = 256 << 10;

/// Words in a key whose value is a credential, or leads to one.
const TELLING: [&str; 10] = [
    "auth",
    "token",
    "password",
    "passwd",
    "passphrase",
    "secret",
    "username",
    "credential",
    "extraheader",
    "cookie",
];

/// Whole keys of that kind, too short to be sought in others.
const KEYS: [&str; 3] = ["key", "login", "sslkey"];

/// The text without lines that set credentials, without users in addresses, and redacted. Other lines stay as they are.
pub(crate) fn strip(text: &str) -> String {
    let kept: String =
        text.split_inclusive('\n').filter(|line| !is_telling(line)).map(anonymous).collect();
    if !may_hold_secret(&kept) {
        return kept;
    }
    secret::redact(&kept).text.into_owned()
}

/// Whether a word in it has letters and digits enough for a secret. Most configuration has none, and the first redaction
/// of a process builds its rules, which takes longer than the start of a jail.
fn may_hold_secret(text: &str) -> bool {
    let mixed = |word: &str| {
        word.len() >= 8
            && word.bytes().any(|byte| byte.is_ascii_digit())
            && word.bytes().any(|byte| byte.is_ascii_alphabetic())
    };
    text.contains("PRIVATE KEY") || text.split(|c: char| !c.is_ascii_alphanumeric()).any(mixed)
}

fn is_telling(line: &str) -> bool {
    let end = line.find(['=', '"', '\'']).or_else(|| line.find(": ")).unwrap_or(0);
    let path = line[..end].trim().to_ascii_lowercase();
    let key = path.rsplit(['.', ':', '/']).next().unwrap_or(&path);
    TELLING.iter().any(|word| key.contains(word)) || KEYS.contains(&key)
}

/// The line with `scheme://user:password@host` as `scheme://host`.
fn anonymous(line: &str) -> String {
    let mut clean = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find("://") {
        let (front, address) = rest.split_at(at + 3);
        clean.push_str(front);
        let end = address
            .find(|c: char| c.is_whitespace() || matches!(c, '/' | '"' | '\'' | '?' | '#' | ','))
            .unwrap_or(address.len());
        let host = address[..end].rfind('@').map_or(0, |at| at + 1);
        clean.push_str(&address[host..end]);
        rest = &address[end..];
    }
    clean.push_str(rest);
    clean
}

/// What a file says without its credentials; nothing where it cannot be read or is no configuration by its size.
pub(crate) fn read_stripped(path: &Path) -> Option<String> {
    read(path).map(|text| strip(&text))
}

/// The text that should stand in a file's place, if the file as it is would give something away.
pub(crate) fn cover(path: &Path) -> Option<String> {
    if !fs::symlink_metadata(path).is_ok_and(|found| found.is_file()) {
        return None;
    }
    // What cannot be judged is shown empty.
    let Some(text) = read(path) else { return Some(String::new()) };
    Some(strip(&text)).filter(|clean| *clean != text)
}

/// Elements of XML settings that open a door. `value` is that of an HTTP header, such as a private token. Every start of a jail reads
/// these files, and compiling the rules of secrets would triple its time.
const ELEMENTS: [&str; 10] = [
    "username",
    "password",
    "passphrase",
    "privateKey",
    "master",
    "value",
    "token",
    "secret",
    "apiKey",
    "secretKey",
];

/// The same for settings in XML.
pub(crate) fn cover_elements(path: &Path) -> Option<String> {
    let text = read(path)?;
    let clean = ELEMENTS.iter().fold(text.clone(), |text, element| emptied(&text, element));
    Some(clean).filter(|clean| *clean != text)
}

/// Without the text of an element, wherever it stands and whatever its attributes.
fn emptied(text: &str, element: &str) -> String {
    let (begin, end) = (format!("<{element}"), format!("</{element}"));
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(&begin) {
        let (front, inside) = rest.split_at(at + begin.len());
        clean.push_str(front);
        rest = inside;
        let is_whole = inside.starts_with(|c: char| c == '>' || c.is_whitespace());
        if let Some(open) = inside.find('>').filter(|_| is_whole) {
            let (attributes, value) = inside.split_at(open + 1);
            clean.push_str(attributes);
            let is_closed = attributes.ends_with("/>");
            let length = if is_closed { 0 } else { value.find(&end).unwrap_or(value.len()) };
            rest = &value[length..];
        }
    }
    clean.push_str(rest);
    clean
}

/// The text that should stand in the place of a log of git's: addresses without users.
pub(crate) fn cover_log(path: &Path) -> Option<String> {
    if !fs::symlink_metadata(path).is_ok_and(|found| found.is_file()) {
        return None;
    }
    let Some(text) = read(path) else { return Some(String::new()) };
    let clean: String = text.split_inclusive('\n').map(anonymous).collect();
    let clean =
        if may_hold_secret(&clean) { secret::redact(&clean).text.into_owned() } else { clean };
    Some(clean).filter(|clean| *clean != text)
}

fn read(path: &Path) -> Option<String> {
    if !fs::metadata(path).is_ok_and(|found| found.is_file()) {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(LARGEST + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= LARGEST).then(|| String::from_utf8_lossy(&bytes).into_owned())
}
