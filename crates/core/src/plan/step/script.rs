//! A shell script as its commands: words, and what ends each command.

use std::iter::Peekable;
use std::str::Chars;

use super::words::List;

/// Words that a command may follow as if it stood alone.
const LEADS: List = List(" then do else elif if while until ! { time builtin command exec env ");

/// What begins a here-document in double quotes, behind the dollar sign.
const HERE: &str = "(cat <<";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    /// It has quotation marks.
    pub(super) quoted: bool,
    /// Only the shell knows what it comes to, or it is for the shell: `$x`, `>a`.
    pub(super) open: bool,
}

/// What ends a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joint {
    Line,
    Semicolon,
    And,
    Or,
    Pipe,
    Background,
    Open,
    Close,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) words: Vec<Word>,
    pub(super) end: Joint,
}

impl Command {
    /// The program and what it is given, without what a command may follow and without `NAME=value`.
    pub(super) fn call(&self) -> &[Word] {
        let leads = |word: &Word| !word.quoted && LEADS.has(&word.text) || is_set(&word.text);
        let from = self.words.iter().position(|word| !leads(word)).unwrap_or(self.words.len());
        &self.words[from..]
    }

    /// The program, if there is one.
    pub(super) fn program(&self) -> &str {
        self.call().first().map_or("", |word| word.text.as_str())
    }

    /// What of it is git's: the flags before its command, the command, and what that is given.
    pub(super) fn git(&self) -> Option<Git<'_>> {
        let at = self.words.iter().position(|word| word.text == "git" && !word.quoted)?;
        let rest = &self.words[at + 1..];
        let mut verb = 0;
        while let Some(flag) = rest.get(verb).filter(|word| word.text.starts_with('-')) {
            verb += if matches!(flag.text.as_str(), "-C" | "-c" | "--git-dir" | "--work-tree") {
                2
            } else {
                1
            };
        }
        let found = rest.get(verb)?;
        Some(Git { is_plain: at == 0 && verb == 0, verb: &found.text, given: &rest[verb + 1..] })
    }

    /// Whether it leaves something behind in the shell for the commands after it.
    pub(super) fn sets(&self) -> bool {
        let state = " cd pushd popd export unset alias source . set shopt trap umask ulimit eval declare typeset readonly read ";
        let only_set = self.call().is_empty() && self.words.iter().any(|word| is_set(&word.text));
        only_set || List(state).has(self.program())
    }
}

/// A command of git.
pub(super) struct Git<'a> {
    /// Nothing stands before it, and no flag before its verb.
    pub(super) is_plain: bool,
    pub(super) verb: &'a str,
    pub(super) given: &'a [Word],
}

/// `NAME=value` before a command.
fn is_set(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    word.split_once('=').is_some_and(|(name, _)| !name.is_empty() && name.chars().all(plain))
}

/// The commands of a script; comments are left out.
pub(super) fn commands(script: &str) -> Vec<Command> {
    let mut found = Vec::new();
    let mut words = Vec::new();
    let mut rest = script.chars().peekable();
    while let Some(c) = rest.peek().copied() {
        let joint = match c {
            '#' => {
                while rest.next_if(|c| *c != '\n').is_some() {}
                continue;
            }
            '\\' if rest.clone().nth(1) == Some('\n') => {
                rest.nth(1);
                continue;
            }
            '\n' => Joint::Line,
            ';' => Joint::Semicolon,
            '&' => Joint::Background,
            '|' => Joint::Pipe,
            '(' => Joint::Open,
            ')' => Joint::Close,
            c if c.is_whitespace() => {
                rest.next();
                continue;
            }
            _ => {
                words.push(word(&mut rest));
                continue;
            }
        };
        rest.next();
        let end = match joint {
            Joint::Background if rest.next_if_eq(&'&').is_some() => Joint::And,
            Joint::Pipe if rest.next_if_eq(&'|').is_some() => Joint::Or,
            joint => joint,
        };
        found.push(Command { words: std::mem::take(&mut words), end });
    }
    found.push(Command { words, end: Joint::Line });
    found
}

/// The commands of the last pipeline; none behind a parenthesis or in the background.
pub(super) fn last_pipeline(script: &str) -> Vec<Command> {
    let mut all = commands(script);
    while all
        .pop_if(|last| last.words.is_empty() && matches!(last.end, Joint::Line | Joint::Semicolon))
        .is_some()
    {}
    if !all.last().is_some_and(|last| matches!(last.end, Joint::Line | Joint::Semicolon)) {
        return Vec::new();
    }
    let first = all.iter().rev().skip(1).take_while(|one| one.end == Joint::Pipe).count() + 1;
    all.split_off(all.len() - first)
}

fn word(rest: &mut Peekable<Chars<'_>>) -> Word {
    let mut word = Word::default();
    while let Some(c) = rest.next_if(|c| !c.is_whitespace() && !";&|()".contains(*c)) {
        match c {
            '\'' => {
                word.quoted = true;
                word.text.extend(std::iter::from_fn(|| rest.next().filter(|inner| *inner != '\'')));
            }
            '"' => {
                word.quoted = true;
                double(rest, &mut word);
            }
            '\\' => word.text.extend(rest.next().filter(|c| *c != '\n')),
            c => {
                word.open |= "$`<>".contains(c);
                word.text.push(c);
            }
        }
    }
    word
}

/// A string in double quotes. A message as a here-document is its text; what else is put in leaves the word open.
fn double(rest: &mut Peekable<Chars<'_>>, word: &mut Word) {
    while let Some(c) = rest.next() {
        match c {
            '"' => return,
            '\\' => match rest.next() {
                Some(c @ ('"' | '\\' | '$' | '`')) => word.text.push(c),
                next => word.text.extend(['\\'].into_iter().chain(next)),
            },
            '$' if rest.clone().take(HERE.len()).eq(HERE.chars()) => match here(rest) {
                Some(text) => word.text.push_str(&text),
                None => word.open = true,
            },
            c => {
                word.open |= c == '`' || c == '$' && rest.peek() == Some(&'(');
                word.text.push(c);
            }
        }
    }
}

/// `(cat <<'EOF'`, lines, `EOF`, `)`.
fn here(rest: &mut Peekable<Chars<'_>>) -> Option<String> {
    let mut line = || {
        let line: String = std::iter::from_fn(|| rest.next_if(|c| *c != '\n')).collect();
        rest.next().map(|_| line)
    };
    let open = line()?;
    let mark = open.strip_prefix(HERE)?.trim_start_matches('-').trim().trim_matches(['\'', '"']);
    let mut text = String::new();
    loop {
        match line()? {
            end if end.trim() == mark => break,
            inner => text.extend([inner.as_str(), "\n"]),
        }
    }
    while rest.next_if(|c| c.is_whitespace()).is_some() {}
    (rest.next()? == ')').then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(script: &str) -> Vec<String> {
        let words =
            |one: &Command| one.words.iter().map(|word| word.text.clone()).collect::<Vec<_>>();
        commands(script)
            .iter()
            .map(|one| format!("{} {:?}", words(one).join("_"), one.end))
            .collect()
    }

    #[test]
    fn a_script_falls_into_commands() {
        assert_eq!(
            told("A=1 a 'b c' && d;e|f"),
            ["A=1_a_b c And", "d Semicolon", "e Pipe", "f Line"]
        );
        assert_eq!(told("(a \\\n b) # c && d\n"), [" Open", "a_b Close", " Line", " Line"]);
        assert_eq!(told("m \"$(cat <<'EOF'\na\"b\nEOF\n)\" x"), ["m_a\"b\n_x Line"]);
    }

    #[test]
    fn the_command_of_git_is_found_behind_its_flags() {
        let verb = |script: &str| {
            let all = commands(script);
            all[0].git().map(|git| (git.verb.to_owned(), git.is_plain))
        };
        assert_eq!(verb("git rm a"), Some(("rm".to_owned(), true)));
        assert_eq!(verb("git -C a -c b=c push"), Some(("push".to_owned(), false)));
        assert_eq!(verb("A=1 git push"), Some(("push".to_owned(), false)));
        assert_eq!(verb("echo 'git push'"), None);
        assert!(commands("export A=1")[0].sets() && commands("A=1")[0].sets());
        assert!(!commands("A=1 make")[0].sets());
    }
}
