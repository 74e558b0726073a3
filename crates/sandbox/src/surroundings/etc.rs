//! What the system itself brings: programs, libraries, and the few files of `/etc` that those read.

use std::fs;
use std::path::{Path, PathBuf};

use super::What;
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

/// How names start that carry a version.
const VERSIONED: [&str; 2] = ["java", "python"];

impl Gathering<'_> {
    pub(super) fn take_system(&mut self) {
        for folder in FOLDERS {
            self.take_as_it_is(Path::new(folder));
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

fn is_system(target: Option<PathBuf>) -> bool {
    target.is_some_and(|target| {
        let etc = FILES.iter().chain(&CERTIFICATES).map(|name| Path::new("/etc").join(name));
        FOLDERS.iter().map(PathBuf::from).chain(etc).any(|shown| target.starts_with(shown))
    })
}
