//! The files that tell who there is and which machines: written for the jail, so that they tell nothing of this one.

use std::path::{Path, PathBuf};

use crate::blueprint::{Entry, Identity};
use crate::surroundings::Surroundings;

/// What the jail calls itself.
pub const HOSTNAME: &str = "jail";

/// The one user's name.
pub(super) const USER: &str = "agent";

pub(super) fn entries(surroundings: &Surroundings, identity: Identity) -> Vec<Entry> {
    let (user, group) = (identity.inside.user, identity.inside.group);
    let (home, shell) = (surroundings.home.display(), surroundings.shell.display());
    // Files of people who are not there belong to the last one.
    let passwd = format!(
        "{USER}:x:{user}:{group}::{home}:{shell}\nnobody:x:65534:65534::/nonexistent:/bin/false\n"
    );
    let group = format!("{USER}:x:{group}:\nnogroup:x:65534:\n");
    let hosts = format!("127.0.0.1 localhost {HOSTNAME}\n::1 localhost {HOSTNAME}\n");
    let lookups = "passwd: files\ngroup: files\nshadow: files\nhosts: files\nnetworks: files\n\
                   protocols: files\nservices: files\n";
    let texts = [
        ("group", group),
        ("hostname", format!("{HOSTNAME}\n")),
        ("hosts", hosts),
        ("nsswitch.conf", lookups.to_owned()),
        ("passwd", passwd),
        ("resolv.conf", String::new()),
    ];
    let texts =
        texts.map(|(name, content)| Entry::Text { at: Path::new("/etc").join(name), content });
    let mounts = Entry::Link { at: "/etc/mtab".into(), to: PathBuf::from("/proc/self/mounts") };
    texts.into_iter().chain([mounts]).collect()
}
