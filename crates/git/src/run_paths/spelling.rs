//! The paths that a word of a script may stand for, by what the script says of its variables.

use std::collections::BTreeMap;

use super::shell_words::{ShellWord, WordPart};

/// Where a path begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PathStart {
    /// The directory that the script is in.
    Current,
    /// The root of the repository.
    Root,
    /// So many folders above the script's own.
    Script(usize),
    /// The script does not tell.
    Unknown,
}

/// One path that a word may stand for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SpelledPath {
    pub(super) start: PathStart,
    pub(super) text: String,
    /// The text ends where several names, or one that the script does not tell, may follow.
    pub(super) is_open: bool,
}

/// Values of one variable, and paths of one word, that are followed.
const MOST_VALUES: usize = 32;

/// What a script gives its variables.
#[derive(Default)]
pub(super) struct ScriptVariables(BTreeMap<String, Vec<SpelledPath>>);

impl ScriptVariables {
    pub(super) fn set(&mut self, name: &str, values: Vec<SpelledPath>) {
        let known = self.0.entry(name.to_owned()).or_default();
        known.extend(values);
        known.sort();
        known.dedup();
        known.truncate(MOST_VALUES);
    }

    /// Every path that a word may stand for.
    pub(super) fn spell(&self, word: &ShellWord) -> Vec<SpelledPath> {
        self.spell_parts(&word.parts)
    }

    fn spell_parts(&self, parts: &[WordPart]) -> Vec<SpelledPath> {
        let empty = SpelledPath { start: PathStart::Current, text: String::new(), is_open: false };
        let mut paths = vec![empty];
        for part in parts {
            let values = self.values(part);
            let joined = paths.iter().flat_map(|path| values.iter().map(|value| path.join(value)));
            paths = joined.take(MOST_VALUES).collect();
        }
        paths
    }

    fn values(&self, part: &WordPart) -> Vec<SpelledPath> {
        let path =
            |start, text: &str, is_open| SpelledPath { start, text: text.to_owned(), is_open };
        match part {
            WordPart::Text(text) => vec![path(PathStart::Current, text, false)],
            WordPart::Glob => vec![path(PathStart::Current, "", true)],
            WordPart::Variable(name) => match self.0.get(plain_name(name)) {
                Some(values) => values.clone(),
                None => vec![path(start_of_variable(name), "", false)],
            },
            WordPart::Substitution(text) => vec![path(start_of_command(text), "", false)],
        }
    }
}

/// The variable that a word gives a value, and the value.
pub(super) fn assignment(word: &ShellWord) -> Option<(&str, ShellWord)> {
    let (name, rest) = word.start().split_once('=')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || !name.chars().all(is_name) {
        return None;
    }
    let first = Some(rest).filter(|rest| !rest.is_empty());
    let first = first.map(|rest| WordPart::Text(rest.to_owned()));
    let parts = first.into_iter().chain(word.parts.iter().skip(1).cloned()).collect();
    Some((name, ShellWord { parts }))
}

impl SpelledPath {
    fn join(&self, other: &Self) -> Self {
        let is_first = self.text.is_empty() && self.start == PathStart::Current && !self.is_open;
        if is_first {
            return other.clone();
        }
        if self.is_open {
            return self.clone();
        }
        let is_open = other.is_open || other.start != PathStart::Current;
        let text = format!("{}{}", self.text, other.text);
        // A place that does not begin the word tells nothing of what stands there.
        let text = if other.start == PathStart::Current { text } else { self.text.clone() };
        Self { start: self.start, text, is_open }
    }
}

/// `${NAME:-default}` and `${NAME%/*}` are about the variable too.
fn plain_name(name: &str) -> &str {
    let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    &name[..end.unwrap_or(name.len())]
}

fn start_of_variable(name: &str) -> PathStart {
    match name {
        "PWD" | "GIT_WORK_TREE" => PathStart::Root,
        _ if name.starts_with("0%") => PathStart::Script(0),
        _ if name.starts_with("BASH_SOURCE") && name.contains('%') => PathStart::Script(0),
        _ => PathStart::Unknown,
    }
}

fn start_of_command(text: &str) -> PathStart {
    let names = text.matches("dirname").count();
    if text.contains("--show-toplevel") || text.trim() == "pwd" {
        PathStart::Root
    } else if text.contains("$0") || text.contains("BASH_SOURCE") {
        match names.checked_sub(1) {
            Some(ups) if !text.contains("cd ") => PathStart::Script(ups),
            _ => PathStart::Unknown,
        }
    } else {
        PathStart::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::super::shell_words::split_script;
    use super::*;

    fn spelled(text: &str, variables: &ScriptVariables) -> Vec<String> {
        let word = split_script(text)[0][0][0].clone();
        let shown = variables.spell(&word).into_iter().map(|path| {
            let end = if path.is_open { "..." } else { "" };
            format!("{:?} {}{end}", path.start, path.text)
        });
        shown.collect()
    }

    #[test]
    fn a_word_stands_for_every_value_of_its_variables() {
        let mut variables = ScriptVariables::default();
        for (name, word) in [("D", "scripts"), ("S", "x"), ("S", "y"), ("H", "hooks/*")] {
            let word = split_script(word)[0][0][0].clone();
            variables.set(name, variables.spell(&word));
        }
        for (word, wanted) in [
            ("$D/x.sh", &["Current scripts/x.sh"][..]),
            ("a/$S.sh", &["Current a/x.sh", "Current a/y.sh"]),
            ("\"$H\"", &["Current hooks/..."]),
            ("a/$N.sh", &["Current a/..."]),
            ("$N/a", &["Unknown /a"]),
            ("$(git rev-parse --show-toplevel)/a", &["Root /a"]),
            ("$(dirname \"$(dirname \"$0\")\")/a", &["Script(1) /a"]),
            ("${0%/*}/a", &["Script(0) /a"]),
            ("$(cd \"$(dirname \"$0\")/../..\" && pwd)/a", &["Unknown /a"]),
        ] {
            assert_eq!(spelled(word, &variables), wanted, "{word}");
        }
    }
}
