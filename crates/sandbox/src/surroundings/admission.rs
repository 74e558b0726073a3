//! Which files and folders may ever be shown, whoever names them.

use std::fs;
use std::path::{Component, Path, PathBuf};

/// Where nothing is taken from but what a table names.
const CLOSED: [&str; 15] = [
    "/boot",
    "/dev",
    "/etc",
    "/home",
    "/lost+found",
    "/media",
    "/mnt",
    "/proc",
    "/root",
    "/run",
    "/srv",
    "/sys",
    "/tmp",
    "/var",
    "/snap",
];

/// Folders in a home that are never shown, and nothing in them.
const PRIVATE: [&str; 25] = [
    ".ssh",
    ".aws",
    ".azure",
    ".config",
    ".gnupg",
    ".docker",
    ".kube",
    ".password-store",
    ".claude",
    ".codex",
    ".gemini",
    ".cursor",
    ".mozilla",
    ".thunderbird",
    ".pki",
    ".terraform.d",
    ".oci",
    ".dbus",
    ".vault-token",
    ".local/share/keyrings",
    ".local/state",
    ".cache/sequester",
    ".cache/huggingface",
    "Documents",
    "Downloads",
];

/// Folders in a home that hold too much to be shown whole.
const WIDE: [&str; 8] =
    [".local", ".local/share", ".cache", ".cargo", ".npm", ".m2", ".gradle", ".gem"];

/// The rule, for one person: the home that the environment names, and the one that the machine knows.
pub(super) struct Admission {
    homes: Vec<PathBuf>,
}

impl Admission {
    pub(super) fn new(home: &Path) -> Self {
        let mut homes = vec![home.to_owned()];
        homes.extend(known_home(rustix::process::geteuid().as_raw()));
        let real = homes.iter().filter_map(|home| fs::canonicalize(home).ok());
        homes.extend(real.collect::<Vec<_>>());
        Self { homes }
    }

    pub(super) fn home(&self) -> &Path {
        &self.homes[0]
    }

    pub(super) fn admits(&self, path: &Path) -> bool {
        let plain = |part| matches!(part, Component::RootDir | Component::Normal(_));
        if !path.is_absolute() || !path.components().all(plain) || path.parent().is_none() {
            return false;
        }
        if path.iter().any(|part| part == ".sequester") {
            return false;
        }
        if self.homes.iter().any(|home| home.starts_with(path)) {
            return false;
        }
        match self.homes.iter().find_map(|home| path.strip_prefix(home).ok()) {
            Some(inside) => {
                !WIDE.iter().any(|wide| inside == Path::new(wide))
                    && !PRIVATE.iter().any(|private| inside.starts_with(private))
            }
            None => !CLOSED.iter().any(|closed| path.starts_with(closed)),
        }
    }
}

/// By the machine's list of users.
fn known_home(user: u32) -> Option<PathBuf> {
    let list = fs::read_to_string("/etc/passwd").ok()?;
    let home = list.lines().find_map(|line| {
        let mut fields = line.split(':').skip(2);
        (fields.next()?.parse() == Ok(user)).then(|| fields.nth(2)).flatten()
    })?;
    Some(PathBuf::from(home)).filter(|home| is_home(home))
}

/// Whether an empty home can stand here without hiding anything that is needed.
pub(super) fn is_home(path: &Path) -> bool {
    const TAKEN: [&str; 9] =
        ["/bin", "/dev", "/etc", "/lib", "/proc", "/run", "/sbin", "/sys", "/usr"];
    const NONE: [&str; 5] = ["/", "/home", "/opt", "/tmp", "/var"];
    path.is_absolute()
        && path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)))
        && !NONE.iter().any(|none| path == Path::new(none))
        && !TAKEN.iter().any(|taken| path.starts_with(taken))
        && path.is_dir()
}
