//! A made-up machine and what is asked of it, for tests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sequester_core::profile::Confinement;
use sequester_core::protected::Grants;

use crate::blueprint::Ids;
use crate::folder::{Folder, Git, Walked};
use crate::limits::Limits;
use crate::policy::{Layer, Layers, Policy, Workspace};
use crate::surroundings::{MountPoint, Place, Surroundings, What};

pub(crate) fn user() -> Surroundings {
    let at = |path: &str, what| Place { at: path.into(), what };
    let read = |path: &str| at(path, What::Read(path.into()));
    let system = |path: &str| at(path, What::System(path.into()));
    let layered = |path: &str| at(path, What::Layered(path.into()));
    Surroundings {
        owner: Ids { user: 1004, group: 1005 },
        stranger: None,
        home: "/home/dev".into(),
        shell: "/bin/bash".into(),
        places: vec![
            at("/bin", What::Link("usr/bin".into())),
            system("/etc/ld.so.cache"),
            system("/etc/ssl/certs"),
            read("/home/dev/.cargo/bin"),
            at("/home/dev/.cargo/config.toml", What::Text("[net]\nretry = 1\n".to_owned())),
            layered("/home/dev/.cargo/registry"),
            at("/home/dev/.npm/_cacache", What::Layered("/home/dev/disk/npm/_cacache".into())),
            read("/home/dev/shop/.venv"),
            layered("/home/dev/go/pkg/mod"),
            at("/home/dev/go/pkg/mod/cache/vcs", What::Hidden),
            at("/lib", What::Link("usr/lib".into())),
            system("/usr"),
            at("/usr/local/etc/npmrc", What::Text("fund=false\n".to_owned())),
        ],
        path: [
            "/home/dev/.cargo/bin",
            "/mnt/c/bin",
            "/home/dev/shop/.venv/bin",
            "/usr/bin",
            "/bin",
        ]
        .map(PathBuf::from)
        .into(),
        leads: [
            ("CARGO_HOME", "/home/dev/.cargo"),
            ("JAVA_HOME", "/absent/java"),
            ("SSL_CERT_FILE", "/etc/ssl/certs/ca.crt"),
        ]
        .map(|(name, path)| (name.to_owned(), PathBuf::from(path)))
        .into(),
        settings: [("RUSTFLAGS".to_owned(), "-Copt-level=1".to_owned())].into(),
        around: BTreeMap::new(),
        mounts: ["/", "/home", "/proc", "/usr/local"]
            .map(|at| MountPoint { at: at.into(), has_files: at != "/proc" })
            .into(),
    }
}

pub(crate) fn root() -> Surroundings {
    let owner = Ids { user: 0, group: 0 };
    Surroundings { owner, stranger: Some(Ids { user: 70_000, group: 70_000 }), ..user() }
}

/// With nothing to hide where rules cannot.
pub(crate) fn clean(mut surroundings: Surroundings) -> Surroundings {
    surroundings.places.retain(|place| place.at != Path::new("/usr/local/etc/npmrc"));
    surroundings
}

pub(crate) fn folder() -> Folder {
    let covers = vec![("/home/dev/shop/.git/config".into(), "[core]\n".to_owned())];
    Folder {
        git: Git::Here,
        hidden: vec!["/home/dev/shop/.env".into(), "/home/dev/shop/.sequester".into()],
        covers,
        parents: vec!["/home/dev/shop/.github".into()],
        ..clean_folder()
    }
}

pub(crate) fn clean_folder() -> Folder {
    Folder {
        path: "/home/dev/shop".into(),
        git: Git::Elsewhere("/home/dev/main/.git".into()),
        hidden: Vec::new(),
        covers: Vec::new(),
        links: Vec::new(),
        parents: Vec::new(),
        covered: Vec::new(),
        run_paths: Vec::new(),
        closer: None,
        walked: Walked::Whole,
    }
}

pub(crate) fn layers() -> Layers {
    let target = Layer {
        at: "/home/dev/shop/target".into(),
        lower: "/home/dev/shop/target".into(),
        store: "/state/1/target".into(),
    };
    Layers {
        at: "/home/dev/shop".into(),
        lower: vec!["/state/change".into(), "/state/base".into()],
        store: "/state/1/tree".into(),
        git: Some("/state/git".into()),
        protected: vec![".github/workflows".into(), ".mcp.json".into()],
        caches: vec![target],
        hidden: vec!["/home/dev/shop/target/.env".into()],
    }
}

pub(crate) fn policy(confinement: Confinement, workspace: Workspace) -> Policy {
    let hosts = if confinement.is_networked() {
        vec!["*.example.org".parse().unwrap()]
    } else {
        Vec::new()
    };
    Policy {
        confinement,
        hosts,
        workspace,
        limits: Limits::default(),
        grants: Grants::default(),
        store: "/state/1".into(),
    }
}
