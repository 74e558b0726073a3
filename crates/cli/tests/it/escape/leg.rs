//! As whom, and on what kind of machine, the attempts are made.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use tempfile::TempDir;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leg {
    Root,
    User,
    /// A user on a machine without namespaces for users.
    Fallback,
}

pub(super) const ANYWHERE: &[Leg] = &[Leg::Root, Leg::User, Leg::Fallback];
/// Where a jail has namespaces.
pub(super) const APART: &[Leg] = &[Leg::Root, Leg::User];
pub(super) const AS_ROOT: &[Leg] = &[Leg::Root];
pub(super) const AS_USER: &[Leg] = &[Leg::User];
/// As whoever is not root: what would touch every process of root's.
pub(super) const UNPRIVILEGED: &[Leg] = &[Leg::User, Leg::Fallback];

/// The program, where everybody can run it.
pub(super) struct Copy {
    folder: TempDir,
}

impl Copy {
    pub(super) fn get() -> &'static Self {
        static COPY: OnceLock<Copy> = OnceLock::new();
        COPY.get_or_init(|| {
            let folder = shared_folder();
            fs::copy(env!("CARGO_BIN_EXE_sequester"), folder.path().join("sequester")).unwrap();
            fs::write(folder.path().join("wrapper.py"), include_str!("no_namespaces.py")).unwrap();
            Copy { folder }
        })
    }

    pub(super) fn program(&self) -> PathBuf {
        self.folder.path().join("sequester")
    }
}

/// A temporary folder that everybody can enter.
pub(super) fn shared_folder() -> TempDir {
    use std::os::unix::fs::PermissionsExt as _;
    let mut builder = tempfile::Builder::new();
    let folder = builder.permissions(fs::Permissions::from_mode(0o755)).prefix("escape-");
    // Not where temporary files of everybody lie: a jail has a folder of its own there anyway.
    folder.tempdir_in("/var/tmp").unwrap()
}

pub(super) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

impl Leg {
    /// Why it cannot be done here.
    pub(super) fn obstacle(self) -> Option<&'static str> {
        match self {
            Self::Root if !is_root() => Some("it takes root"),
            _ => None,
        }
    }

    /// A command as this leg's user, who is nobody's account and nobody else's in this suite.
    pub(super) fn command(self, user: Option<u32>, program: &Path) -> Command {
        let mut words: Vec<String> = Vec::new();
        if let Some(user) = user {
            let user = user.to_string();
            words.extend(["setpriv", "--reuid", &user, "--regid", &user].map(str::to_owned));
            words.extend(["--clear-groups", "--"].map(str::to_owned));
        }
        if self == Self::Fallback {
            let wrapper = Copy::get().folder.path().join("wrapper.py");
            words.extend(["/usr/bin/python3".to_owned(), wrapper.display().to_string()]);
        }
        words.push(program.display().to_string());
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        command
    }

    /// An id for one ground of this leg, where this process may choose.
    pub(super) fn user(self) -> Option<u32> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let unused =
            || 540_000 + std::process::id() % 1_000 * 100 + NEXT.fetch_add(1, Ordering::Relaxed);
        (self != Self::Root && is_root()).then(unused)
    }
}
