//! A folder to work in, and the program to run there.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A temporary folder with a repository in `repo` and a home of its own.
pub(crate) struct Bench {
    folder: TempDir,
}

/// What an invocation printed and how it ended.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Answer {
    pub(crate) fn of(output: &Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Bench {
    /// A folder without git.
    pub(crate) fn plain() -> Self {
        let bench = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir_all(bench.repo()).unwrap();
        fs::create_dir_all(bench.path("home")).unwrap();
        bench
    }

    /// A git repository whose HEAD holds `files`.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let bench = Self::plain();
        bench.git(&["init", "--quiet", "--initial-branch=main"]);
        for (path, text) in files {
            bench.write(path, text);
        }
        bench.commit("first");
        bench
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Where the key lies that signs what is recorded.
    pub(crate) fn keys(&self) -> PathBuf {
        self.path("home/.local/state/sequester/keys")
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.path("repo")
    }

    /// Writes a file of the repository's folder.
    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.repo().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
    }

    pub(crate) fn git(&self, arguments: &[&str]) {
        // Nothing of the caller's: a hook's variables would point git at another repository.
        let output = Command::new("git")
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .args(["-c", "user.name=Tester", "-c", "user.email=tester@example.com"])
            .args(arguments)
            .current_dir(self.repo())
            .env("HOME", self.path("home"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
    }

    /// Runs the program in the repository's folder.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Answer {
        self.run_in(&self.repo(), arguments, &[])
    }

    pub(crate) fn run_in<S: AsRef<OsStr>>(
        &self,
        folder: &Path,
        arguments: &[S],
        environment: &[(&str, &str)],
    ) -> Answer {
        let output = self
            .command(arguments)
            .current_dir(folder)
            .envs(environment.iter().copied())
            .output()
            .unwrap();
        Answer::of(&output)
    }

    /// The program in the repository's folder, to be started.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sequester"));
        command
            .args(arguments)
            .current_dir(self.repo())
            .env("HOME", self.path("home"))
            .env_remove("XDG_CACHE_HOME")
            .env_remove("XDG_CONFIG_HOME")
            .stdin(Stdio::null());
        command
    }

    /// Runs the program with something to read on its standard input.
    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &[u8]) -> Answer {
        let path = self.path("input");
        fs::write(&path, input).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_sequester"))
            .args(arguments)
            .current_dir(self.repo())
            .env("HOME", self.path("home"))
            .stdin(fs::File::open(path).unwrap())
            .output()
            .unwrap();
        Answer::of(&output)
    }

    /// Every file under the repository with its bytes, to see that nothing was written.
    pub(crate) fn listing(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        let mut open = vec![self.repo()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                if entry.file_type().unwrap().is_dir() {
                    open.push(entry.path());
                } else {
                    found.push((entry.path(), fs::read(entry.path()).unwrap_or_default()));
                }
            }
        }
        found.sort();
        found
    }

    /// What is the person's of that, whatever runs leave: not the objects and the refs of runs, nor what `.sequester` keeps
    /// beside what a team shares.
    pub(crate) fn tree(&self) -> Vec<(PathBuf, Vec<u8>)> {
        const RUNS: [&str; 4] = [
            ".git/objects",
            ".git/refs/sequester",
            ".git/refs/heads/sequester",
            ".git/logs/refs/heads/sequester",
        ];
        const SHARED: [&str; 4] = ["agents", "profiles", "workflows", "NOTES.md"];
        let repo = self.repo();
        let is_persons = |path: &Path| {
            let path = path.strip_prefix(&repo).unwrap();
            let own = path.strip_prefix(".sequester");
            let shared = |path: &Path| SHARED.iter().any(|name| path.starts_with(name));
            own.map_or(!RUNS.iter().any(|runs| path.starts_with(runs)), shared)
        };
        self.listing().into_iter().filter(|(path, _)| is_persons(path)).collect()
    }

    pub(crate) fn forbid(&self, path: &str) {
        fs::set_permissions(self.repo().join(path), fs::Permissions::from_mode(0o000)).unwrap();
    }
}

/// The tool chain that runs this test comes first: a home of its own knows no other.
pub(crate) fn search_path() -> String {
    let cargo = Path::new(env!("CARGO")).parent().unwrap_or(Path::new("/usr/bin"));
    format!("{}:{}", cargo.display(), std::env::var("PATH").unwrap_or_default())
}

/// A native plan of three tasks: b needs a, c stands alone.
pub(crate) const PLAN: &str = "\
---
sequester: 1
constraints: [\"no new dependencies\"]
---
# Password reset

Prose between us: PROSE-CANARY.

## [a] Store the tokens

```task
files: {create: [src/token.rs], modify: [src/lib.rs]}
produces: [\"`fn issue(user: &str) -> Token`\"]
```

Tokens expire after an hour. A-CANARY.

## [b] Send the mail

```task
needs: [a]
files: {modify: [src/mail.rs]}
consumes: [\"`fn issue(user: &str) -> Token`\"]
```

Send the token by mail. B-CANARY.

## [c] Say so in the readme

```task
files: {modify: [README.md]}
```

One paragraph on resets. C-CANARY.
";

pub(crate) const FILES: [(&str, &str); 4] = [
    ("src/lib.rs", "pub mod mail;\n\npub fn hash(text: &str) -> u64 {\n    text.len() as u64\n}\n"),
    (
        "src/mail.rs",
        "/// Sends one mail.\npub fn send(to: &str, body: &str) {\n    drop((to, body));\n}\n",
    ),
    ("README.md", "# Shop\n\nA small shop.\n"),
    ("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
];

/// The repository of [`FILES`] with [`PLAN`] beside it, outside the repository.
pub(crate) fn shop() -> (Bench, String) {
    let bench = Bench::with(&FILES);
    let plan = bench.path("plan.md");
    fs::write(&plan, PLAN).unwrap();
    (bench, plan.display().to_string())
}
