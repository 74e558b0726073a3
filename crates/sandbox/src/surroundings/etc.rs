//! What the system itself brings: programs, libraries, and the few files of `/etc` that those read.

use std::collections::VecDeque;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use sequester_core::secret::is_secret_name;

use super::What;
use super::credential;
use super::gathering::Gathering;

/// Folders of programs and libraries. Most systems have links to `/usr` for all but the last.
const FOLDERS: [&str; 10] = [
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/gnu/store",
    "/home/linuxbrew/.linuxbrew",
    "/nix/store",
    "/usr",
];

/// In `/etc`; those that tell people apart are written for the jail instead.
const FILES: [&str; 30] = [
    "R",
    "alpine-release",
    "alternatives",
    "arch-release",
    "crypto-policies",
    "debian_version",
    "dotnet",
    "fonts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "locale.conf",
    "localtime",
    "lsb-release",
    "magic",
    "magic.mime",
    "maven",
    "mime.types",
    "os-release",
    "perl",
    "php",
    "pki/ca-trust",
    "pki/tls/cert.pem",
    "pki/tls/certs",
    "pki/tls/openssl.cnf",
    "protocols",
    "redhat-release",
    "services",
    "terminfo",
    "timezone",
];

/// Not `/etc/ssl` whole: `private` is in it.
const CERTIFICATES: [&str; 3] = ["ssl/cert.pem", "ssl/certs", "ssl/openssl.cnf"];

/// Where the machine's people install programs for all.
const LOCAL: [&str; 2] = ["/home/linuxbrew/.linuxbrew", "/usr/local"];

/// Settings of one such place that are looked at.
const MOST_SETTINGS: usize = 1_000;

/// Names of one such place that are looked at, those next to its root first.
const MOST_NAMES: usize = 20_000;

const OTHERS_READ: u32 = 0o004;

/// How names start that carry a version.
const VERSIONED: [&str; 2] = ["java", "python"];

/// What people who install programs for all keep to themselves there.
pub(super) fn private_files() -> Vec<PathBuf> {
    LOCAL.into_iter().flat_map(|root| private_files_in(Path::new(root))).collect()
}

/// Files that others may not read, whoever owns the tree: jails run as the person. Root's jails do not, so that the kernel keeps these
/// from them. And what is secret by its name; certificates of packages (`.pem`) stay, since their programs need them.
fn private_files_in(root: &Path) -> Vec<PathBuf> {
    let is_root = rustix::process::getuid().is_root();
    let (mut open, mut left) = (VecDeque::from([root.to_owned()]), MOST_NAMES);
    let mut found = Vec::new();
    while let Some(folder) = open.pop_front() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Some(fewer) = left.checked_sub(1) else { return found };
            left = fewer;
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            let is_shut = || {
                let about = entry.metadata();
                about.is_ok_and(|about| about.permissions().mode() & OTHERS_READ == 0)
            };
            let is_certificate = path.extension().is_some_and(|end| end == "pem");
            let is_secret = !is_certificate && is_secret_name(&path.to_string_lossy()).is_some();
            if !kind.is_symlink() && (is_secret || !is_root && is_shut()) {
                found.push(path);
            } else if kind.is_dir() {
                open.push_back(path);
            }
        }
    }
    found
}

impl Gathering<'_> {
    pub(super) fn take_system(&mut self) {
        for folder in FOLDERS {
            self.take_as_it_is(Path::new(folder));
        }
        for root in LOCAL {
            self.hide_local(Path::new(root));
        }
        let etc = Path::new("/etc");
        for name in FILES.iter().chain(&CERTIFICATES) {
            self.take_as_it_is(&etc.join(name));
        }
        for entry in fs::read_dir(etc).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if VERSIONED.iter().any(|start| name.to_string_lossy().starts_with(start)) {
                self.take_as_it_is(&entry.path());
            }
        }
        self.cover_maven();
    }

    /// Programs that were installed for the whole machine by its people are shown, what services keep beside them is not.
    fn hide_local(&mut self, root: &Path) {
        let entries = |name: &str| fs::read_dir(root.join(name)).into_iter().flatten().flatten();
        if entries("var").next().is_some() {
            self.hide(root.join("var"));
        }
        let names: Vec<PathBuf> =
            entries("etc").take(MOST_SETTINGS).map(|entry| entry.path()).collect();
        let (certificates, others): (Vec<_>, Vec<_>) =
            names.into_iter().partition(|path| is_certificates(path));
        if certificates.is_empty() && !others.is_empty() {
            self.hide(root.join("etc"));
        } else {
            let private = certificates.into_iter().map(|path| path.join("private"));
            for path in others.into_iter().chain(private) {
                self.hide(path);
            }
        }
    }

    /// Maven fails on an empty file of settings, so it gets them without what opens a door.
    fn cover_maven(&mut self) {
        let settings = Path::new("/etc/maven/settings.xml");
        if let Some(text) = credential::cover_elements(settings) {
            self.put(settings, What::Text(text));
        }
        self.hide("/etc/maven/settings-security.xml".into());
    }

    /// A link stays one, if it leads to what is shown too.
    fn take_as_it_is(&mut self, path: &Path) {
        let Ok(found) = fs::symlink_metadata(path) else { return };
        if !found.is_symlink() {
            self.put(path, What::System(path.to_owned()));
            return;
        }
        let Some(to) = fs::read_link(path).ok().filter(|_| is_system(fs::canonicalize(path).ok()))
        else {
            return;
        };
        self.put(path, What::Link(to));
    }
}

/// What programs there check servers by.
fn is_certificates(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name == "ca-certificates" || name == "openssl" || name.starts_with("openssl@")
}

fn is_system(target: Option<PathBuf>) -> bool {
    target.is_some_and(|target| {
        let etc = FILES.iter().chain(&CERTIFICATES).map(|name| Path::new("/etc").join(name));
        FOLDERS.iter().map(PathBuf::from).chain(etc).any(|shown| target.starts_with(shown))
    })
}
