//! The commands of a shell script, with the words as the shell joins them.

/// A part of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WordPart {
    Text(String),
    /// `*`, `?` or `{`: the word stands for several names.
    Glob,
    Variable(String),
    /// `$(...)`, backticks or `<(...)`, as it is written.
    Substitution(String),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ShellWord {
    pub(super) parts: Vec<WordPart>,
}

/// Commands that are joined by `|`, each a list of words.
pub(super) type Pipeline = Vec<Vec<ShellWord>>;

impl ShellWord {
    /// The word, if the script spells it out.
    pub(super) fn text(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [WordPart::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// What the word begins with, as far as the script spells it out.
    pub(super) fn start(&self) -> &str {
        match self.parts.first() {
            Some(WordPart::Text(text)) => text,
            _ => "",
        }
    }

    fn push(&mut self, letter: char) {
        if let Some(WordPart::Text(text)) = self.parts.last_mut() {
            text.push(letter);
        } else {
            self.parts.push(WordPart::Text(letter.to_string()));
        }
    }
}

/// Splits a script. It is read line by line as a shell would, but forgives what no shell takes.
pub(super) fn split_script(text: &str) -> Vec<Pipeline> {
    let mut lexer = Lexer { letters: text.chars().collect(), ..Lexer::default() };
    while let Some(letter) = lexer.take() {
        lexer.read(letter);
    }
    lexer.end_pipeline();
    lexer.pipelines
}

#[derive(Default)]
struct Lexer {
    letters: Vec<char>,
    at: usize,
    is_quoted: bool,
    word: Option<ShellWord>,
    command: Vec<ShellWord>,
    pipeline: Pipeline,
    pipelines: Vec<Pipeline>,
}

impl Lexer {
    fn take(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.at += 1;
        Some(letter)
    }

    fn peek(&self) -> Option<char> {
        self.letters.get(self.at).copied()
    }

    fn word(&mut self) -> &mut ShellWord {
        self.word.get_or_insert_default()
    }

    fn part(&mut self, part: WordPart) {
        self.word().parts.push(part);
    }

    fn read(&mut self, letter: char) {
        match letter {
            '\\' => match self.take() {
                Some('\n') | None => {}
                Some(next) => self.word().push(next),
            },
            '"' => {
                self.is_quoted = !self.is_quoted;
                self.word();
            }
            '$' => self.read_dollar(),
            '`' => {
                let text = self.take_until('`');
                self.part(WordPart::Substitution(text));
            }
            letter if self.is_quoted => self.word().push(letter),
            '\'' => {
                let text = self.take_until('\'');
                self.word();
                text.chars().for_each(|letter| self.word().push(letter));
            }
            '#' if self.word.is_none() => {
                while self.peek().is_some_and(|next| next != '\n') {
                    self.at += 1;
                }
            }
            '<' | '>' if self.peek() == Some('(') => {
                self.at += 1;
                let text = self.take_balanced();
                self.part(WordPart::Substitution(text));
                self.end_word();
            }
            // A block of commands, or a list of names.
            '{' if self.word.is_none() && self.peek().is_none_or(char::is_whitespace) => {}
            '*' | '?' | '{' => self.part(WordPart::Glob),
            '|' if self.peek() != Some('|') => self.end_command(),
            ';' | '&' | '|' | '\n' | '(' | ')' => self.end_pipeline(),
            '<' | '>' => self.end_word(),
            letter if letter.is_whitespace() => self.end_word(),
            letter => self.word().push(letter),
        }
    }

    fn read_dollar(&mut self) {
        match self.peek() {
            Some('(') => {
                self.at += 1;
                let text = self.take_balanced();
                self.part(WordPart::Substitution(text));
            }
            Some('{') => {
                self.at += 1;
                let name = self.take_until('}');
                self.part(WordPart::Variable(name));
            }
            Some(first) if is_name(first) || "@*#?!-$".contains(first) => {
                self.at += 1;
                let mut name = first.to_string();
                while first.is_alphabetic() || first == '_' {
                    let Some(next) = self.peek().filter(|next| is_name(*next)) else { break };
                    name.push(next);
                    self.at += 1;
                }
                self.part(WordPart::Variable(name));
            }
            // `$'...'` and `$"..."` are quoted texts.
            Some('\'' | '"') if !self.is_quoted => {}
            _ => self.word().push('$'),
        }
    }

    fn take_until(&mut self, end: char) -> String {
        let mut text = String::new();
        while let Some(letter) = self.take().filter(|letter| *letter != end) {
            text.push(letter);
        }
        text
    }

    /// Up to the bracket that closes, which is left out.
    fn take_balanced(&mut self) -> String {
        let (mut text, mut depth) = (String::new(), 1);
        while let Some(letter) = self.take() {
            match letter {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
            text.push(letter);
        }
        text
    }

    fn end_word(&mut self) {
        self.command.extend(self.word.take());
    }

    fn end_command(&mut self) {
        self.end_word();
        if !self.command.is_empty() {
            self.pipeline.push(std::mem::take(&mut self.command));
        }
    }

    fn end_pipeline(&mut self) {
        self.end_command();
        if !self.pipeline.is_empty() {
            self.pipelines.push(std::mem::take(&mut self.pipeline));
        }
    }
}

fn is_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(word: &ShellWord) -> String {
        let shown = word.parts.iter().map(|part| match part {
            WordPart::Text(text) => text.clone(),
            WordPart::Glob => "<glob>".to_owned(),
            WordPart::Variable(name) => format!("<{name}>"),
            WordPart::Substitution(text) => format!("<({text})>"),
        });
        shown.collect()
    }

    fn shown_all(text: &str) -> Vec<String> {
        let shown = split_script(text).into_iter().map(|pipeline| {
            let commands = pipeline.iter().map(|command| {
                let words: Vec<String> = command.iter().map(shown).collect();
                words.join(" ")
            });
            commands.collect::<Vec<_>>().join(" | ")
        });
        shown.collect()
    }

    #[test]
    fn words_are_joined_as_a_shell_joins_them() {
        for (text, wanted) in [
            ("sh \"scripts\"/x.sh", "sh scripts/x.sh"),
            ("sh \\\n  x", "sh x"),
            ("s'h' sc\\ripts/x", "sh scripts/x"),
            ("\"$R/a b\"", "<R>/a b"),
            ("${D}/x $1", "<D>/x <1>"),
            ("\"$(git rev-parse \"--x\")/y\"", "<(git rev-parse \"--x\")>/y"),
            ("`cat x` # sh y", "<(cat x)>"),
            ("cat x | sh", "cat x | sh"),
            (". <(cat x)", ". <(cat x)>"),
            ("for h in a/*", "for h in a/<glob>"),
            ("sh < x", "sh x"),
            ("find . -exec sh {} +", "find . -exec sh <glob>} +"),
        ] {
            assert_eq!(shown_all(text), [wanted], "{text}");
        }
        assert_eq!(shown_all("a && b || { c; }\nd"), ["a", "b", "c", "}", "d"]);
    }
}
