//! The `git` program, started so that nothing but its own code runs.

use std::ffi::{OsStr, OsString};
use std::io::{BufReader, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use sequester_core::repository::{Error, ErrorKind};

/// Where `git` is, and which repository it is asked about.
///
/// A repository's own `.git/config` is untrusted, and much in it names programs to run. Nothing of that is reached,
/// because the commands of this crate are plumbing that reads objects, refs and the index:
///
/// - `rev-parse`, `symbolic-ref`, `for-each-ref`, `update-ref`, `ls-tree`, `rev-list`, `merge-base`, `merge-file`, `ls-files`
///   of the index or of names alone, `cat-file` without `--filters` or `--textconv`, `diff-tree` between two trees with
///   `--no-ext-diff` and `--no-textconv`, `config --get`. They run no
///   hook, no clean, smudge or process filter, no text conversion, no external diff or merge driver. Plumbing
///   ignores `log.showSignature`, which would have `git log` run `gpg.program`; an alias cannot replace a built-in.
/// - `core.fsmonitor` is the one program that reading an index may start, and `core.hooksPath` the one that could be
///   added unseen: both are overridden on the command line, which beats every file, an included one too.
/// - Fetching what a partial clone lacks would run ssh, credential helpers and remote helpers: lazy fetching is off
///   and, for versions that do not know the switch, no protocol is allowed.
/// - System and user configuration, attributes, replacement objects, grafts, pager and prompts are off; the
///   environment holds nothing but what is set here, so no `GIT_*` or `LD_*` of the caller counts.
///
/// - `worktree` adds one without a checkout, lists and removes them, and `read-tree` fills an index: neither runs a filter, and hooks are off.
/// - `update-index --index-info` reads files that are as young as the index, through their filters: it is asked with all of
///   these overridden ([`Program::without_filters`]).
///
/// What workspaces need is written to a repository of this crate's own making ([`Program::private`]), by `write-tree`,
/// `hash-object` without filters and `pack-objects`: the configuration that counts there is ours.
///
/// The repository is named by `--git-dir`, so git neither searches for another one nor asks who owns it. That check
/// guards against running what a stranger configured; here nothing of it can run, and without it a checkout that belongs
/// to another user, as in containers, works like any other.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    file: PathBuf,
    search_path: OsString,
    root: PathBuf,
    git: PathBuf,
    /// Where objects are found that the repository itself has not.
    borrowed: Option<PathBuf>,
    /// Settings of ours beside those that always hold.
    settings: Vec<(String, &'static str)>,
}

impl Program {
    /// Finds `git` in the folders of `search_path` that lie outside the repository: tools put `node_modules/.bin` and the
    /// like first, and a repository may bring a `git` of its own there.
    pub(crate) fn find(search_path: &OsStr, root: PathBuf) -> Result<Self, Error> {
        let git = root.join(".git");
        Self::over(search_path, root, git)
    }

    /// The same for a repository that lies elsewhere.
    pub(crate) fn over(search_path: &OsStr, root: PathBuf, git: PathBuf) -> Result<Self, Error> {
        let foreign = |folder: &PathBuf| {
            folder.is_absolute() && !folder.canonicalize().is_ok_and(|real| real.starts_with(&root))
        };
        let folders: Vec<PathBuf> = std::env::split_paths(search_path).filter(foreign).collect();
        let found = folders.iter().map(|folder| folder.join("git"));
        let file = found.into_iter().find(|file| file.is_file());
        let search_path = std::env::join_paths(&folders).unwrap_or_default();
        match file {
            Some(file) => {
                let settings = Vec::new();
                Ok(Self { file, search_path, git, root, borrowed: None, settings })
            }
            None => Err(Error::new(
                ErrorKind::Broken,
                "`git` was not found in the folders of PATH, and what this folder holds is kept by it. \
                 Install git, for example with `apt-get install git`.",
            )),
        }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn search_path(&self) -> &OsStr {
        &self.search_path
    }

    pub(crate) fn is_at(&self, git: &Path) -> bool {
        self.git == git
    }

    /// The same program on the repository `git`, which is ours and may borrow from the objects in `borrowed`.
    pub(crate) fn private(&self, root: &Path, git: &Path, borrowed: &Path) -> Self {
        let Self { file, search_path, .. } = self.clone();
        let (root, git, borrowed) = (root.to_owned(), git.to_owned(), Some(borrowed.to_owned()));
        Self { file, search_path, root, git, borrowed, settings: Vec::new() }
    }

    /// The same program, to which no filter is known that the repository configures: for a command that may look at a
    /// working file.
    pub(crate) fn without_filters(&self) -> Result<Self, Error> {
        let listed = self.run(&["config", "-z", "--name-only", "--get-regexp", r"^filter\."])?;
        let mut settings = Vec::new();
        for name in listed.text.split('\0').filter_map(|key| key.rsplit_once('.')) {
            for (key, value) in [("clean", ""), ("smudge", ""), ("process", ""), ("required", "0")]
            {
                settings.push((format!("{}.{key}", name.0), value));
            }
        }
        settings.sort();
        settings.dedup();
        Ok(Self { settings, ..self.clone() })
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.file);
        command.env_clear();
        if let Some(objects) = &self.borrowed {
            command.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", quote(objects));
        }
        for (at, (key, value)) in self.settings.iter().enumerate() {
            command.env("GIT_CONFIG_COUNT", (at + 1).to_string());
            command.env(format!("GIT_CONFIG_KEY_{at}"), key);
            command.env(format!("GIT_CONFIG_VALUE_{at}"), value);
        }
        command
            .env("PATH", &self.search_path)
            .env("LC_ALL", "C")
            .env("GIT_WORK_TREE", &self.root)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_ATTR_NOSYSTEM", "1")
            .env("GIT_GRAFT_FILE", "/dev/null")
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_ALLOW_PROTOCOL", "")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_TERMINAL_PROMPT", "0")
            .arg("--no-pager")
            .arg("--git-dir")
            .arg(&self.git)
            .args(["-c", "core.fsmonitor=false"])
            .args(["-c", "core.hooksPath=/dev/null"])
            .args(arguments)
            .current_dir(&self.root)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs a command whose answer is short.
    pub(crate) fn run(&self, arguments: &[&str]) -> Result<Answer, Error> {
        let output = self.command(arguments).output();
        let output = output.map_err(|error| self.not_started(&error))?;
        Ok(Answer {
            success: output.status.success(),
            text: String::from_utf8_lossy(&output.stdout).trim_end().to_owned(),
            complaint: String::from_utf8_lossy(&output.stderr).trim_end().to_owned(),
        })
    }

    /// What a command that only reads configuration prints, with the person's own configuration and the machine's. Nothing where it fails: the
    /// person's git then fails as well.
    pub(crate) fn run_as_person(&self, arguments: &[&str]) -> Result<Vec<u8>, Error> {
        let mut command = self.command(arguments);
        for ours in ["GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_GLOBAL"] {
            command.env_remove(ours);
        }
        for theirs in ["HOME", "XDG_CONFIG_HOME"] {
            if let Some(value) = std::env::var_os(theirs) {
                command.env(theirs, value);
            }
        }
        let output = command.output().map_err(|error| self.not_started(&error))?;
        Ok(if output.status.success() { output.stdout } else { Vec::new() })
    }

    /// Runs a command whose answer is short and that must succeed.
    pub(crate) fn ask(&self, arguments: &[&str]) -> Result<String, Error> {
        self.feed(arguments, &[])
    }

    /// The same for a command that reads its standard input to the end before it answers.
    pub(crate) fn feed(&self, arguments: &[&str], input: &[u8]) -> Result<String, Error> {
        let mut command = self.command(arguments);
        let child = command.stdin(Stdio::piped()).spawn();
        let mut child = child.map_err(|error| self.not_started(&error))?;
        // One that ends early says why on its standard error.
        let _ = child.stdin.take().map(|mut pipe| pipe.write_all(input));
        let output = child.wait_with_output().map_err(|error| self.not_started(&error))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned());
        }
        let (name, complaint) = (arguments.first(), String::from_utf8_lossy(&output.stderr));
        Err(broken(format!("`git {}` failed: {}", name.unwrap_or(&""), complaint.trim_end())))
    }

    /// Starts a command whose answer is read as it comes. What it complains about is not kept: an unread pipe would
    /// stop it.
    pub(crate) fn stream(&self, arguments: &[&str], stdin: Stdio) -> Result<Process, Error> {
        let mut command = self.command(arguments);
        let child = command.stdin(stdin).stderr(Stdio::null()).spawn();
        child.map(Process).map_err(|error| self.not_started(&error))
    }

    fn not_started(&self, error: &std::io::Error) -> Error {
        let file = self.file.display();
        Error::new(ErrorKind::Broken, format!("`{file}` could not be started: {error}."))
    }
}

/// What a short command answered.
pub(crate) struct Answer {
    pub(crate) success: bool,
    pub(crate) text: String,
    pub(crate) complaint: String,
}

/// A running `git`; it ends with this value.
pub(crate) struct Process(pub(crate) Child);

impl Process {
    /// Its output, of which no more than `most` bytes are taken.
    pub(crate) fn output(
        &mut self,
        most: u64,
    ) -> Result<BufReader<std::io::Take<impl Read + use<>>>, Error> {
        let pipe = self.0.stdout.take();
        let pipe = pipe.ok_or_else(|| broken("the output of `git` was already taken."))?;
        Ok(BufReader::with_capacity(1 << 16, pipe.take(most)))
    }

    /// Waits for its end; to be called when all output was read.
    pub(crate) fn succeeded(&mut self) -> bool {
        self.0.wait().is_ok_and(|status| status.success())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail only if it has ended, which is what is wanted.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A path as one element of a list that is separated by colons.
fn quote(path: &Path) -> OsString {
    let mut quoted = b"\"".to_vec();
    for &byte in path.as_os_str().as_bytes() {
        if matches!(byte, b'"' | b'\\') {
            quoted.push(b'\\');
        }
        quoted.push(byte);
    }
    quoted.push(b'"');
    OsString::from_vec(quoted)
}

pub(crate) fn broken(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Broken, message)
}
