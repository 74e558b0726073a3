//! Other machines than this one: other users, and kernels that lack something.
#![allow(clippy::print_stderr, reason = "what could not be tried is told")]

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder on a disk, the same each time, that everybody can enter.
pub(crate) fn shared_folder() -> PathBuf {
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

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// What a command line begins with on a machine that lacks these.
pub(crate) fn without(lacking: &[&str]) -> Vec<String> {
    static WRAPPER: OnceLock<PathBuf> = OnceLock::new();
    let wrapper = WRAPPER.get_or_init(|| {
        shared("without.py", |draft| fs::write(draft, include_str!("without.py")).unwrap())
    });
    let mut words = vec!["/usr/bin/python3".to_owned(), wrapper.display().to_string()];
    words.extend(lacking.iter().map(|one| (*one).to_owned()));
    words.push("--".to_owned());
    words
}

/// What a command line begins with as another user, who has no account.
pub(crate) fn as_user(user: u32) -> Vec<String> {
    let user = user.to_string();
    let words = ["setpriv", "--reuid", &user, "--regid", &user, "--clear-groups", "--"];
    words.map(str::to_owned).into()
}

/// An id that nobody has, and nobody else in these tests.
pub(crate) fn unused_user() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    540_000 + std::process::id() % 1_000 * 100 + NEXT.fetch_add(1, Ordering::Relaxed)
}

/// What takes root, or something else that is not there, is counted, and is a fault where everything must be seen.
pub(crate) fn may_go(what: &str, obstacle: Option<&str>) -> bool {
    let Some(obstacle) = obstacle else { return true };
    eprintln!("skipped leg: {what}, because {obstacle}");
    assert!(std::env::var_os("CI").is_none(), "{what} was skipped: {obstacle}");
    false
}
