//! As whom, and on what kind of machine, the attempts are made.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leg {
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

/// A folder on a disk, the same each time, that everybody can enter.
pub(super) fn shared_folder() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let open = |folder: &Path| {
        fs::metadata(folder).is_ok_and(|about| about.permissions().mode() & 0o001 != 0)
    };
    let own = rustix::process::geteuid().as_raw();
    let folder = if target.ancestors().all(open) {
        target.join("escape")
    } else {
        Path::new("/var/tmp").join(format!("sequester-escape-{own}"))
    };
    fs::create_dir_all(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(fs::metadata(&folder).unwrap().uid(), own, "{}", folder.display());
    folder
}

/// A copy of a file of ours there.
fn shared(name: &str, make: impl FnOnce(&Path)) -> PathBuf {
    let folder = shared_folder();
    let (draft, path) = (folder.join(format!("{name}-{}", std::process::id())), folder.join(name));
    make(&draft);
    // Others may be running it.
    fs::rename(draft, &path).unwrap();
    path
}

/// The program, where everybody can run it.
pub(crate) fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        shared("sequester", |draft| {
            fs::copy(env!("CARGO_BIN_EXE_sequester"), draft).unwrap();
        })
    })
}

/// What makes a machine one without namespaces.
fn wrapper() -> &'static Path {
    static WRAPPER: OnceLock<PathBuf> = OnceLock::new();
    WRAPPER.get_or_init(|| {
        shared("no_namespaces.py", |draft| {
            fs::write(draft, include_str!("no_namespaces.py")).unwrap();
        })
    })
}

pub(super) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

impl Leg {
    /// Why it cannot be done here.
    pub(crate) fn obstacle(self) -> Option<&'static str> {
        match self {
            Self::Root if !is_root() => Some("it takes root"),
            _ => None,
        }
    }

    /// A command as this leg's user, who is nobody's account and nobody else's in this suite.
    pub(crate) fn command(self, user: Option<u32>, program: &Path) -> Command {
        let mut words: Vec<String> = Vec::new();
        if let Some(user) = user {
            let user = user.to_string();
            words.extend(["setpriv", "--reuid", &user, "--regid", &user].map(str::to_owned));
            words.extend(["--clear-groups", "--"].map(str::to_owned));
        }
        if self == Self::Fallback {
            words.extend(["/usr/bin/python3".to_owned(), wrapper().display().to_string()]);
        }
        words.push(program.display().to_string());
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        command
    }

    /// An id for one ground of this leg, where this process may choose.
    pub(crate) fn user(self) -> Option<u32> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let unused =
            || 540_000 + std::process::id() % 1_000 * 100 + NEXT.fetch_add(1, Ordering::Relaxed);
        (self != Self::Root && is_root()).then(unused)
    }
}
