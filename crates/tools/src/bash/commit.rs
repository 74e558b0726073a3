//! Commands that only record a change in git: the runtime does that.

/// Subcommands of git that record or send a change.
const RECORDING: &[&str] =
    &["add", "am", "cherry-pick", "commit", "merge", "push", "rebase", "revert", "stage", "stash"];
/// Options of git itself that are followed by a value.
const VALUED: &[&str] = &["-C", "-c", "--git-dir", "--work-tree", "--namespace"];

/// Whether the command does nothing but record: each simple command of it is such a one, or a mere `cd`.
///
/// What is mixed with other work runs; `.git` is read-only in the jail, so git itself says no there.
pub(super) fn is_taken_over(command: &str) -> bool {
    let Some(commands) = split(command) else { return false };
    let records = |words: &Vec<String>| records(words);
    let moves = |words: &Vec<String>| words[0] == "cd";
    commands.iter().any(records) && commands.iter().all(|words| records(words) || moves(words))
}

fn records(words: &[String]) -> bool {
    let is_assignment = |word: &&String| {
        let name = word.split_once('=').map(|(name, _)| name);
        name.is_some_and(|name| name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric()))
    };
    let mut words = words.iter().skip_while(is_assignment);
    if words.next().is_none_or(|word| word != "git") {
        return false;
    }
    while let Some(word) = words.next() {
        if VALUED.contains(&word.as_str()) {
            words.next();
        } else if !word.starts_with('-') {
            let reads = word == "stash" && words.next().is_some_and(|w| w == "list" || w == "show");
            return RECORDING.contains(&word.as_str()) && !reads;
        }
    }
    false
}

/// The words of each simple command; nothing if it is no plain list of them. What stands in quotes or in `$(...)` is
/// part of a word.
fn split(command: &str) -> Option<Vec<Vec<String>>> {
    let mut scan =
        Scan { rest: command.chars().peekable(), commands: Vec::new(), words: Vec::new() };
    scan.list()?;
    let Scan { commands, .. } = scan;
    (!commands.is_empty()).then_some(commands)
}

struct Scan<'c> {
    rest: std::iter::Peekable<std::str::Chars<'c>>,
    commands: Vec<Vec<String>>,
    words: Vec<String>,
}

impl Scan<'_> {
    fn list(&mut self) -> Option<()> {
        let mut word: Option<String> = None;
        let mut heredocs: Vec<String> = Vec::new();
        while let Some(next) = self.rest.next() {
            match next {
                ' ' | '\t' => self.words.extend(word.take()),
                '\n' | ';' | '&' | '|' => {
                    self.words.extend(word.take());
                    self.end_command();
                    if next == '\n' {
                        for end in heredocs.drain(..) {
                            self.skip_heredoc(&end);
                        }
                    }
                }
                '#' if word.is_none() => while self.rest.next_if(|c| *c != '\n').is_some() {},
                // A subshell or a group is no plain list.
                '(' | ')' | '`' => return None,
                '<' if self.rest.peek() == Some(&'<') => {
                    self.words.extend(word.take());
                    heredocs.push(self.heredoc_end()?);
                }
                other => self.part(other, word.get_or_insert_default())?,
            }
        }
        self.words.extend(word.take());
        self.end_command();
        Some(())
    }

    fn end_command(&mut self) {
        let words = std::mem::take(&mut self.words);
        if !words.is_empty() {
            self.commands.push(words);
        }
    }

    /// Adds a character, or what is quoted from it on, to `word`.
    fn part(&mut self, first: char, word: &mut String) -> Option<()> {
        match first {
            '\\' => match self.rest.next()? {
                '\n' => {}
                other => word.push(other),
            },
            '\'' => loop {
                match self.rest.next()? {
                    '\'' => break,
                    other => word.push(other),
                }
            },
            '"' => loop {
                match self.rest.next()? {
                    '"' => break,
                    '\\' => word.push(self.rest.next()?),
                    '$' => self.substitution(word)?,
                    '`' => return None,
                    other => word.push(other),
                }
            },
            '$' => self.substitution(word)?,
            other => word.push(other),
        }
        Some(())
    }

    /// After a `$`: skips `(...)`, which may hold a heredoc with a message in it.
    fn substitution(&mut self, word: &mut String) -> Option<()> {
        word.push('$');
        if self.rest.next_if_eq(&'(').is_none() {
            return Some(());
        }
        let mut heredocs: Vec<String> = Vec::new();
        let mut quoted = String::new();
        loop {
            match self.rest.next()? {
                ')' => return Some(()),
                // Deeper nesting is not read.
                '(' | '`' | '$' => return None,
                '<' if self.rest.peek() == Some(&'<') => heredocs.push(self.heredoc_end()?),
                '\n' => heredocs.drain(..).for_each(|end| self.skip_heredoc(&end)),
                quote @ ('\'' | '"' | '\\') => self.part(quote, &mut quoted)?,
                _ => {}
            }
        }
    }

    /// After the first `<` of `<<`: the word that ends the heredoc.
    fn heredoc_end(&mut self) -> Option<String> {
        self.rest.next();
        self.rest.next_if_eq(&'-');
        while self.rest.next_if_eq(&' ').is_some() {}
        let mut end = String::new();
        while let Some(next) = self.rest.next_if(|c| c.is_alphanumeric() || "_'\"\\-".contains(*c))
        {
            if !"'\"\\".contains(next) {
                end.push(next);
            }
        }
        (!end.is_empty()).then_some(end)
    }

    fn skip_heredoc(&mut self, end: &str) {
        loop {
            let mut line = String::new();
            while let Some(next) = self.rest.next_if(|c| *c != '\n') {
                line.push(next);
            }
            let ended = self.rest.next().is_none();
            if ended || line.trim_start_matches('\t') == end {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_records_is_taken_over() {
        for command in [
            "git commit -m 'a; b && c'",
            "git add . && git commit -m \"x | y\"",
            "cd sub && git add -A; git commit -qm done; git push origin HEAD",
            "git -C sub -c user.name=x --no-pager commit --amend",
            "GIT_AUTHOR_NAME='A B' git commit -F - <<'EOF'\nit's (done)\ncargo test\nEOF\n",
            "git commit -m \"$(cat <<'EOF'\nfix: don't \"panic\" (now)\n\nBody $x\nEOF\n)\"",
            "git add a.rs \\\n  b.rs\n# and then\ngit commit -m x\n",
            "git stash",
        ] {
            assert!(is_taken_over(command), "{command}");
        }
    }

    #[test]
    fn what_does_other_work_runs() {
        for command in [
            "git status",
            "git log --grep 'git commit'",
            "echo git commit",
            "cargo test && git commit -m x",
            "git stash list",
            "git diff | head",
            "ls; git add .",
            "cd sub",
            "",
            "   ",
            "# git commit",
            "git",
            "(git commit -m x)",
            "git commit -m \"unclosed",
            "gitk add",
            "echo $(git add .)",
            "git checkout -- a",
        ] {
            assert!(!is_taken_over(command), "{command}");
        }
    }
}
