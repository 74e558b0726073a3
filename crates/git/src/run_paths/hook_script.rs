//! The files of a tree that a shell script starts.

use super::command_words::module_places;
use super::shell_words::{ShellWord, WordPart, split_script};
use super::spelling::{PathStart, ScriptVariables, SpelledPath, assignment};

/// How a script uses what it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScriptUse {
    /// A file counts if it looks like a program.
    Named,
    /// A file counts whatever it looks like, and in a folder every file.
    Run,
    /// As `Run`, but only the first of the words that names something.
    RunFirst,
    /// A file that is there counts.
    Imported,
    /// Commands are looked for in the folder.
    Searched,
}

/// Words of one use, in order.
#[derive(Clone, Debug)]
pub(super) struct ScriptTarget {
    /// For each word the paths that it may stand for.
    pub(super) words: Vec<Vec<SpelledPath>>,
    pub(super) used: ScriptUse,
    /// Where the script went by `cd` before.
    pub(super) directories: Vec<SpelledPath>,
}

/// Programs that run a file.
const SHELLS: [&str; 6] = ["sh", "bash", "zsh", "dash", "ksh", "busybox"];
const OTHER_INTERPRETERS: [&str; 9] =
    ["node", "nodejs", "perl", "php", "ruby", "deno", "bun", "lua", "tsx"];

/// Words of a shell before a command, and programs that start the one behind them.
const BEFORE: [&str; 27] = [
    "!", "{", "}", "do", "then", "else", "elif", "if", "while", "until", "time", "exec", "env",
    "command", "nohup", "sudo", "nice", "builtin", "xargs", "timeout", "export", "local",
    "readonly", "declare", "typeset", "setsid", "stdbuf",
];

/// Scripts within words of scripts that are read.
const DEEPEST: usize = 4;

/// What all hooks of a repository may name.
const MOST_TARGETS: usize = 2_000;

/// Reads scripts one after another, each with the variables of those before it.
#[derive(Default)]
pub(super) struct ScriptReader {
    variables: ScriptVariables,
    directories: Vec<SpelledPath>,
    modules: Vec<SpelledPath>,
    searches_root: bool,
    targets: Vec<ScriptTarget>,
}

impl ScriptReader {
    pub(super) fn finish(self) -> Vec<ScriptTarget> {
        self.targets
    }

    pub(super) fn read(&mut self, text: &str) {
        self.read_script(text, false, 0);
    }

    /// What is `run` as a whole runs every file that it names, as in `cat FILE | sh`.
    fn read_script(&mut self, text: &str, is_run: bool, depth: usize) {
        if depth > DEEPEST {
            return;
        }
        for pipeline in split_script(text) {
            let is_run =
                is_run || pipeline.len() > 1 && pipeline.iter().any(|one| reads_program(one));
            for (at, command) in pipeline.iter().enumerate() {
                let before = at.checked_sub(1).and_then(|before| pipeline.get(before));
                if let Some(before) = before {
                    self.read_names(command, before);
                }
                self.read_command(command, is_run, depth);
            }
        }
    }

    /// `find scripts | while read NAME`: the variable stands for what is listed.
    fn read_names(&mut self, command: &[ShellWord], before: &[ShellWord]) {
        let Some(at) = command.iter().position(|word| word.text() == Some("read")) else { return };
        let listed = before.iter().skip(1).flat_map(|word| self.variables.spell(word));
        let listed = listed.map(|path| match path {
            path if path.is_open => path,
            path => SpelledPath { text: format!("{}/", path.text), is_open: true, ..path },
        });
        let listed: Vec<SpelledPath> = listed.collect();
        for name in command[at + 1..].iter().filter_map(ShellWord::text) {
            self.variables.set(name, listed.clone());
        }
    }

    fn read_command(&mut self, command: &[ShellWord], is_run: bool, depth: usize) {
        let (head, rest) = self.skip_before(command);
        let name = head.and_then(program_name).unwrap_or_default();
        match (name, rest) {
            ("for" | "select", [variable, _in, names @ ..]) => {
                let names: Vec<_> =
                    names.iter().flat_map(|name| self.variables.spell(name)).collect();
                self.variables.set(variable.text().unwrap_or_default(), names);
            }
            ("cd" | "pushd", [.., folder]) => self.directories = self.variables.spell(folder),
            ("run-parts", folders) => self.name_folders(folders),
            ("find", words) => self.read_find(words),
            ("." | "source", [script, ..]) => self.target(script, ScriptUse::Run),
            _ => self.read_interpreter(command),
        }
        let is_path = |word: &&ShellWord| word.parts.len() > 1 || word.start().contains('/');
        let is_variable = |word: &ShellWord| matches!(word.parts[..], [WordPart::Variable(_)]);
        if let Some(head) = head.filter(|head| {
            is_path(head) || is_variable(head) || self.searches_root && !name.is_empty()
        }) {
            self.target(head, ScriptUse::RunFirst);
        }
        let used = if is_run { ScriptUse::Run } else { ScriptUse::Named };
        let starts = name == "eval" || name == "." || name == "source" || has_interpreter(command);
        for word in command {
            self.target(word, used);
            self.read_within(word, is_run || starts, depth);
        }
    }

    /// Scripts that stand in a word: substitutions, and quoted text.
    fn read_within(&mut self, word: &ShellWord, is_run: bool, depth: usize) {
        for part in &word.parts {
            match part {
                WordPart::Substitution(text) => self.read_script(text, is_run, depth + 1),
                WordPart::Text(text) if text.contains(char::is_whitespace) => {
                    self.read_script(text, false, depth + 1);
                }
                _ => {}
            }
        }
    }

    /// The program of a command, and what stands behind it.
    fn skip_before<'w>(
        &mut self,
        command: &'w [ShellWord],
    ) -> (Option<&'w ShellWord>, &'w [ShellWord]) {
        let mut is_first = true;
        for (at, word) in command.iter().enumerate() {
            let text = word.start();
            if let Some((name, value)) = assignment(word) {
                self.assign(name, &value);
            } else if BEFORE.contains(&text) {
                is_first = false;
            } else if is_first || !is_option(word) {
                return (Some(word), &command[at + 1..]);
            }
        }
        (None, &[])
    }

    fn assign(&mut self, name: &str, value: &ShellWord) {
        let values = self.variables.spell(value);
        match name {
            "PATH" => {
                for folder in split_list(value) {
                    let paths = self.variables.spell(&folder);
                    let is_root = |path: &SpelledPath| {
                        let is_here = matches!(path.start, PathStart::Current | PathStart::Root);
                        is_here && matches!(path.text.trim_matches('/'), "" | ".") && !path.is_open
                    };
                    self.searches_root |= paths.iter().any(is_root);
                    self.push(vec![paths], ScriptUse::Searched);
                }
            }
            "PYTHONPATH" => {
                let folders = split_list(value);
                let paths = folders.iter().flat_map(|folder| self.variables.spell(folder));
                let paths: Vec<_> = paths.filter(|path| !path.is_open).collect();
                self.modules.extend(paths);
            }
            _ => {}
        }
        self.variables.set(name, values);
    }

    /// What an interpreter is given. Its options may have values, so it is the first word that names something.
    fn read_interpreter(&mut self, command: &[ShellWord]) {
        let Some((interpreter, arguments)) = interpreter(command) else { return };
        if let Some(at) = position(arguments, "-m").filter(|_| interpreter.starts_with("python")) {
            if let Some(module) = arguments.get(at + 1).and_then(ShellWord::text) {
                self.name_module(module);
            }
            return;
        }
        if arguments.iter().any(|word| only_checks(interpreter, word.start())) {
            return;
        }
        let mut words = Vec::new();
        for word in arguments.iter().filter(|word| !is_option(word)) {
            // `deno lint src` runs nothing of `src`.
            let is_task = word.text().is_some_and(|text| TASKS.contains(&text));
            if is_task && !SHELLS.contains(&interpreter) {
                break;
            }
            words.push(self.variables.spell(word));
        }
        self.push(words, ScriptUse::RunFirst);
    }

    fn name_module(&mut self, module: &str) {
        let here = SpelledPath { start: PathStart::Current, text: String::new(), is_open: false };
        let bases: Vec<SpelledPath> = self.modules.iter().cloned().chain([here]).collect();
        for place in module_places(module) {
            let join = |base: &SpelledPath| {
                let slash = if base.text.is_empty() { "" } else { "/" };
                let text = format!("{}{slash}{place}", base.text);
                SpelledPath { text, ..base.clone() }
            };
            self.push(vec![bases.iter().map(join).collect()], ScriptUse::Imported);
        }
    }

    fn read_find(&mut self, words: &[ShellWord]) {
        let is_exec = |word: &ShellWord| matches!(word.start(), "-exec" | "-execdir" | "-ok");
        let Some(at) = words.iter().position(is_exec) else { return };
        let started = &words[at + 1..];
        let is_name =
            started.first().is_some_and(|word| word.parts.first() == Some(&WordPart::Glob));
        if is_name || reads_program(started) {
            let folders = words.iter().take_while(|word| !is_option(word)).cloned();
            self.name_folders(&folders.collect::<Vec<_>>());
        }
    }

    fn name_folders(&mut self, words: &[ShellWord]) {
        for word in words.iter().filter(|word| !is_option(word)) {
            self.target(word, ScriptUse::Searched);
        }
    }

    fn target(&mut self, word: &ShellWord, used: ScriptUse) {
        let mut paths = self.variables.spell(word);
        // `--config=x` and `if=x`
        if let Some((_, value)) = word.text().and_then(|text| text.split_once('=')) {
            let text = value.to_owned();
            paths.push(SpelledPath { start: PathStart::Current, text, is_open: false });
        }
        self.push(vec![paths], used);
    }

    fn push(&mut self, words: Vec<Vec<SpelledPath>>, used: ScriptUse) {
        let directories = self.directories.clone();
        if self.targets.len() < MOST_TARGETS && !words.is_empty() {
            self.targets.push(ScriptTarget { words, used, directories });
        }
    }
}

/// Words behind an interpreter's name that say what it does with files, which are not its program then.
const TASKS: [&str; 7] = ["test", "lint", "fmt", "check", "install", "add", "build"];

/// The path's last part, if the word is spelled out.
fn program_name(word: &ShellWord) -> Option<&str> {
    word.text()?.rsplit('/').next()
}

fn is_option(word: &ShellWord) -> bool {
    let text = word.start();
    let is_number = !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == '.');
    let is_place = word.parts.first() == Some(&WordPart::Glob) && word.parts.len() <= 2;
    text.starts_with(['-', '+', '(', '!']) || is_number && text != "." || is_place
}

fn position(words: &[ShellWord], text: &str) -> Option<usize> {
    words.iter().position(|word| word.text() == Some(text))
}

/// The interpreter that a command starts, wherever it stands, and its arguments.
fn interpreter(command: &[ShellWord]) -> Option<(&str, &[ShellWord])> {
    command.iter().enumerate().find_map(|(at, word)| {
        let name = program_name(word)?;
        let is_one = SHELLS.contains(&name)
            || OTHER_INTERPRETERS.contains(&name)
            || name.strip_prefix("python").is_some_and(is_version)
            || name.strip_prefix("pypy").is_some_and(is_version);
        is_one.then(|| (name, &command[at + 1..]))
    })
}

fn is_version(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_digit() || c == '.')
}

fn has_interpreter(command: &[ShellWord]) -> bool {
    interpreter(command).is_some()
}

/// Whether an option says that files are looked at, or that the program stands in the option.
fn only_checks(interpreter: &str, option: &str) -> bool {
    let is_shell = SHELLS.contains(&interpreter);
    let is_short = option.starts_with('-') && !option.starts_with("--");
    match option {
        "--check" | "--test" | "--eval" | "--print" => !is_shell,
        _ if is_short && is_shell => option.ends_with('c'),
        "-c" | "-e" | "-p" | "-E" | "-pe" | "-ne" => true,
        _ => false,
    }
}

/// Whether a command runs what it reads: an interpreter without a program.
fn reads_program(command: &[ShellWord]) -> bool {
    let Some((name, arguments)) = interpreter(command) else { return false };
    let is_given = |word: &ShellWord| {
        let is_end = matches!(word.start(), ";" | "+" | "\\;");
        only_checks(name, word.start()) || word.start() == "-m" || !is_option(word) && !is_end
    };
    !arguments.iter().any(is_given)
}

/// The entries of a list with colons.
fn split_list(word: &ShellWord) -> Vec<ShellWord> {
    let mut entries = vec![ShellWord::default()];
    for part in &word.parts {
        let WordPart::Text(text) = part else {
            if let Some(entry) = entries.last_mut() {
                entry.parts.push(part.clone());
            }
            continue;
        };
        for (at, text) in text.split(':').enumerate() {
            if at > 0 {
                entries.push(ShellWord::default());
            }
            if let Some(entry) = entries.last_mut().filter(|_| !text.is_empty()) {
                entry.parts.push(WordPart::Text(text.to_owned()));
            }
        }
    }
    entries.retain(|entry| !entry.parts.is_empty());
    entries
}
