//! What hooks lead to, and the files of the tree that they start.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::command_words::{self, CommandWord};
use super::hook_code::read_code;
use super::hook_script::{ScriptReader, ScriptTarget, ScriptUse};
use super::spelling::{PathStart, SpelledPath};
use super::{HOOK, MOST_ENTRIES, Search, folder_of, has_script_end, is_script_name};

/// Bytes of a hook that are looked at.
const MOST_HOOK: u64 = 64 << 10;

/// Programs, and words of a shell, that run the file that is named behind them.
const STARTERS: [&str; 16] = [
    ".", "source", "exec", "sh", "bash", "zsh", "dash", "env", "node", "perl", "php", "python",
    "python3", "ruby", "deno", "bun",
];

/// Programs whose scripts are not a shell's.
const CODE: [&str; 8] = ["python", "node", "ruby", "perl", "deno", "bun", "php", "lua"];

impl Search<'_> {
    /// Takes what hooks lead to, and the programs of the tree that they start.
    pub(super) fn take_hooks(&mut self, folder: &Path) {
        self.take_entries(folder, HOOK);
        let files = folder.read_dir().into_iter().flatten().flatten().take(MOST_ENTRIES);
        let files = files.map(|entry| entry.path());
        for file in files.filter(|file| file.extension().is_none_or(|end| end != "sample")) {
            let Ok(text) = read_start(&file) else { continue };
            let folder = file.canonicalize().ok().and_then(|file| Some(file.parent()?.to_owned()));
            let folder = folder.as_deref().unwrap_or(folder_of(&file));
            self.take_hook(&text, folder);
        }
    }

    fn take_hook(&mut self, text: &str, folder: &Path) {
        let mut reader = ScriptReader::default();
        let first = text.lines().next().filter(|line| line.starts_with("#!")).unwrap_or_default();
        if CODE.iter().any(|program| first.contains(program)) {
            for line in text.lines().filter(|line| !line.trim_start().starts_with('#')) {
                self.take_started(&command_words::read(line, None).0, folder);
            }
        } else {
            reader.read(text);
        }
        let code = read_code(text);
        code.scripts.iter().for_each(|script| reader.read(script));
        for target in reader.finish() {
            self.take_target(&target, folder);
        }
        let bases = [folder.to_owned(), self.root.clone()];
        let programs = self.joined(&bases, &code.files).into_iter();
        let programs = programs.filter(|path| looks_like_program(path));
        let modules = self.joined(&bases, &code.modules).into_iter();
        let modules = modules.chain(self.joined(&bases[..1], &code.own_modules));
        for path in programs.chain(modules.filter(|path| path.is_file())).collect::<Vec<_>>() {
            self.take(&path, HOOK);
        }
    }

    fn joined(&self, bases: &[PathBuf], texts: &[String]) -> Vec<PathBuf> {
        let paths = texts.iter().flat_map(|text| bases.iter().map(move |base| base.join(text)));
        paths.filter(|path| !self.is_installed(path)).collect()
    }

    fn take_target(&mut self, target: &ScriptTarget, folder: &Path) {
        for paths in &target.words {
            let mut is_found = false;
            for spelled in paths {
                is_found |= self.take_spelled(spelled, target, folder);
            }
            if is_found && target.used == ScriptUse::RunFirst {
                return;
            }
        }
    }

    /// Takes a path as far as its use asks for it. The answer is whether it names something.
    fn take_spelled(
        &mut self,
        spelled: &SpelledPath,
        target: &ScriptTarget,
        folder: &Path,
    ) -> bool {
        let end = if spelled.is_open { spelled.text.rfind('/') } else { Some(spelled.text.len()) };
        let Some(text) = end.map(|end| &spelled.text[..end]).filter(|text| !text.is_empty()) else {
            return false;
        };
        let is_run = matches!(target.used, ScriptUse::Run | ScriptUse::RunFirst);
        let mut is_found = false;
        for path in self.places(spelled.start, text, target, folder) {
            let is_folder = path.is_dir();
            let is_taken = match target.used {
                ScriptUse::Searched => is_folder,
                ScriptUse::Named => {
                    let is_told = text.contains('/') || has_script_end(text);
                    !spelled.is_open && is_told && looks_like_program(&path)
                }
                ScriptUse::Imported => path.is_file(),
                _ if spelled.is_open => is_folder,
                ScriptUse::Run => path.is_file() || is_folder,
                ScriptUse::RunFirst => path.is_file(),
            };
            is_found |= is_taken;
            if is_taken {
                self.take(&path, HOOK);
            }
        }
        if is_found || !is_run || spelled.is_open || !is_script_name(text) {
            return is_found;
        }
        // A place where the script may come to be.
        let absent = self.places(spelled.start, text, target, folder);
        let is_known = spelled.start != PathStart::Unknown && !text.starts_with('~');
        match absent.first().filter(|path| is_known && !path.exists()) {
            Some(path) => self.take(path, HOOK),
            None => return false,
        }
        true
    }

    /// Where a path may lie, the likeliest first. What a script does not tell is looked for everywhere.
    fn places(
        &self,
        start: PathStart,
        text: &str,
        target: &ScriptTarget,
        folder: &Path,
    ) -> Vec<PathBuf> {
        let base = |start: PathStart| match start {
            PathStart::Script(ups) => folder.ancestors().nth(ups).map(Path::to_owned),
            PathStart::Current | PathStart::Root | PathStart::Unknown => Some(self.root.clone()),
        };
        let relative = text.trim_start_matches('/');
        let mut paths = Vec::new();
        if start == PathStart::Current && (text.starts_with('/') || text.starts_with('~')) {
            paths.extend(self.resolved(&self.root, text));
        } else if matches!(start, PathStart::Root | PathStart::Script(_)) {
            paths.extend(base(start).map(|base| base.join(relative)));
        } else {
            let from = target.directories.iter().filter(|directory| !directory.is_open);
            let from = from.filter_map(|directory| {
                let within = directory.text.trim_start_matches('/');
                let whole = Path::new(&directory.text);
                let is_whole = directory.start == PathStart::Current && whole.is_absolute();
                if is_whole {
                    Some(whole.to_owned())
                } else {
                    Some(base(directory.start)?.join(within))
                }
            });
            let bases = from.chain([self.root.clone(), folder.to_owned()]);
            paths.extend(bases.map(|base| base.join(relative)));
        }
        paths.retain(|path| !self.is_installed(path) && super::plain(path) != self.root);
        paths
    }

    /// Takes the programs of a line of code: what can be run by itself, and what an interpreter is given.
    fn take_started(&mut self, words: &[CommandWord<'_>], folder: &Path) {
        for word in words {
            for path in self.candidates(word, &[folder]) {
                let is_program = is_executable(&path);
                let is_argument = STARTERS.contains(&word.before);
                // A shell looks for a bare name on PATH: `cargo test` does not run `./test`.
                let is_program = is_program && (is_argument || word.text.contains('/'));
                let is_given = is_argument && word.text.contains(['/', '.']);
                let is_there = path.is_file();
                let is_rest = word.text.starts_with('/') && is_there;
                let is_script = is_given && (is_there || is_script_name(word.text));
                if is_program || is_rest || is_script || word.is_module && is_there {
                    self.take(&path, HOOK);
                }
            }
        }
    }
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

fn looks_like_program(path: &Path) -> bool {
    let has_shebang = || {
        let mut start = [0; 2];
        File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && &start == b"#!"
    };
    path.is_file()
        && (path.to_str().is_some_and(has_script_end) || is_executable(path) || has_shebang())
}

fn read_start(file: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(file)?.take(MOST_HOOK).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
