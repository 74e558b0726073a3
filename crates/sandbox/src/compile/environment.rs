//! The environment, from nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::PROXY_PORT;
use super::people::USER;
use crate::policy::Policy;
use crate::proxy::host::Peer;
use crate::surroundings::Surroundings;

const FIXED: [(&str, &str); 5] = [
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("LANG", "C.UTF-8"),
    ("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
    ("TERM", "dumb"),
];

/// Without a network: tools take what they have at once, instead of trying for minutes.
const OFFLINE: [(&str, &str); 6] = [
    ("CARGO_NET_OFFLINE", "true"),
    ("GOPROXY", "off"),
    ("GOTOOLCHAIN", "local"),
    ("UV_OFFLINE", "1"),
    ("YARN_ENABLE_NETWORK", "0"),
    ("npm_config_offline", "true"),
];

const PROXIED: [&str; 6] =
    ["ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "all_proxy", "http_proxy", "https_proxy"];

/// The loopback is the jail's own, unless the machine's is named.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// Where nobody has a search path.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// `home` and the folder for temporary files are given; `shows` says what is there inside.
pub(super) fn build(
    policy: &Policy,
    surroundings: &Surroundings,
    (home, temporary): &(PathBuf, PathBuf),
    shows: &dyn Fn(&Path) -> bool,
) -> BTreeMap<String, String> {
    let mut all = surroundings.settings.clone();
    let leads = surroundings.leads.iter().filter(|(_, path)| shows(path));
    all.extend(leads.map(|(name, path)| (name.clone(), path.display().to_string())));
    let path = surroundings.path.iter().filter(|folder| shows(folder));
    let path: Vec<String> = path.map(|folder| folder.display().to_string()).collect();
    let path = if path.is_empty() { PATH.to_owned() } else { path.join(":") };
    let own = [
        ("HOME", home.display().to_string()),
        ("LOGNAME", USER.to_owned()),
        ("PATH", path),
        ("SHELL", surroundings.shell.display().to_string()),
        ("TMPDIR", temporary.display().to_string()),
        ("USER", USER.to_owned()),
    ];
    all.extend(own.map(|(name, value)| (name.to_owned(), value)));
    all.extend(FIXED.map(owned));
    if policy.hosts.is_empty() {
        for (name, value) in OFFLINE.map(owned) {
            all.entry(name).or_insert(value);
        }
    } else {
        let proxy = format!("http://127.0.0.1:{PROXY_PORT}");
        all.extend(PROXIED.map(|name| (name.to_owned(), proxy.clone())));
        // Node looks at none of these by itself.
        all.insert("NODE_USE_ENV_PROXY".to_owned(), "1".to_owned());
        let named = |own: &str| {
            Peer::parse(own).is_some_and(|peer| policy.hosts.iter().any(|host| host.covers(&peer)))
        };
        let direct: Vec<&str> = LOOPBACK.into_iter().filter(|own| !named(own)).collect();
        for name in ["NO_PROXY", "no_proxy"] {
            all.insert(name.to_owned(), direct.join(","));
        }
    }
    all
}

fn owned((name, value): (&str, &str)) -> (String, String) {
    (name.to_owned(), value.to_owned())
}
