//! Where a jail is tried: a workspace, and around it what must be kept from it.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fd::OwnedFd;
use sequester_core::profile::{Confinement, Guarantee};
use sequester_core::protected::Grants;

use super::deed::{Look, Seen};
use super::ears::Ear;
use crate::compile::PROXY_PORT;
use crate::folder::Folder;
use crate::limits::Limits;
use crate::policy::{Layer, Layers, Policy, Workspace};
use crate::proxy::host::Host;

/// How the workspace of a trial comes into the jail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// As it is; nothing in it can be hidden.
    Open,
    /// As it is, with parts of it covered.
    Covered,
    /// Beneath layers, as in an attempt that writes.
    Layered,
}

/// Gone with this value.
pub(super) struct Ground {
    place: PathBuf,
    way: Way,
    /// What must not be seen, and in the workspace may be.
    canary: String,
    unnamed: Ear,
    named: Ear,
    stores: AtomicU32,
}

const BEFORE: &str = "before";

impl Ground {
    /// A secret is put into the workspace where a jail can hide one there.
    pub(super) fn make(place: &Path, way: Way) -> io::Result<Self> {
        let name = place.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let canary = format!("canary-{name}");
        fs::create_dir_all(place.join("workspace/folder"))?;
        fs::create_dir_all(place.join("outside"))?;
        let place = place.canonicalize()?;
        let ground = Self {
            canary,
            unnamed: Ear::open()?,
            named: Ear::open()?,
            stores: AtomicU32::new(0),
            place,
            way,
        };
        // Nothing but the jail stands in the way.
        fs::set_permissions(ground.outside(), Permissions::from_mode(0o777))?;
        fs::write(ground.outside().join("secret"), &ground.canary)?;
        let text = format!("{BEFORE} {}", ground.canary);
        fs::write(ground.workspace().join("file"), text)?;
        fs::write(ground.workspace().join("folder/file"), BEFORE)?;
        if way == Way::Layered {
            for folder in [ground.build_folder(), ground.workspace().join(".claude")] {
                fs::create_dir(folder)?;
            }
            for held in ground.protected() {
                fs::write(held, BEFORE)?;
            }
        }
        fs::write(ground.secret(), &ground.canary)?;
        Ok(ground)
    }

    fn secret(&self) -> PathBuf {
        let folder = match self.way {
            Way::Open => self.outside(),
            Way::Covered => self.workspace(),
            // The base of an attempt holds none.
            Way::Layered => self.build_folder(),
        };
        folder.join(".env")
    }

    fn build_folder(&self) -> PathBuf {
        self.workspace().join("target")
    }

    fn protected(&self) -> [PathBuf; 2] {
        [".claude/settings.json", ".mcp.json"].map(|name| self.workspace().join(name))
    }

    /// What the jail of a layered workspace writes is to be found there.
    fn layer(&self) -> PathBuf {
        self.place.join("layer")
    }

    fn layers(&self) -> Layers {
        let (at, target) = (self.workspace(), self.build_folder());
        Layers {
            lower: vec![at.clone()],
            at,
            store: self.layer(),
            git: None,
            protected: vec![".claude".into(), ".mcp.json".into()],
            caches: vec![Layer {
                at: target.clone(),
                lower: target,
                store: self.place.join("target-layer"),
            }],
            hidden: vec![self.secret()],
        }
    }

    pub(super) fn workspace(&self) -> PathBuf {
        self.place.join("workspace")
    }

    fn outside(&self) -> PathBuf {
        self.place.join("outside")
    }

    /// In the private folder for temporary files that a jail has.
    fn temporary(&self) -> PathBuf {
        Path::new("/tmp").join(&self.canary)
    }

    pub(super) fn policy(&self, confinement: Confinement) -> io::Result<Policy> {
        let workspace = match self.way {
            Way::Layered => Workspace::Layers(self.layers()),
            Way::Open | Way::Covered => {
                let folder = Folder::look(&self.workspace()).map_err(io::Error::other)?;
                Workspace::Folder(folder)
            }
        };
        let hosts = if confinement.is_networked() {
            let host: Result<Host, _> = format!("127.0.0.1:{}", self.named.port).parse();
            vec![host.map_err(io::Error::other)?]
        } else {
            Vec::new()
        };
        let number = self.stores.fetch_add(1, Ordering::Relaxed);
        Ok(Policy {
            confinement,
            hosts,
            workspace,
            limits: Limits::default(),
            grants: Grants::default(),
            store: self.place.join(format!("store-{number}")),
        })
    }

    /// A descriptor that programs started now would inherit.
    pub(super) fn held(&self) -> io::Result<OwnedFd> {
        Ok(rustix::io::dup(fs::File::open(self.outside().join("secret"))?)?)
    }

    pub(super) fn questions(&self, confinement: Confinement, held: &OwnedFd) -> io::Result<Look> {
        let about = fs::File::from(held.try_clone()?).metadata()?;
        let (workspace, outside) = (self.workspace(), self.outside());
        let networked = confinement.is_networked();
        let layered = confinement == Confinement::Validate || self.way == Way::Layered;
        let [settings, servers] = self.protected();
        Ok(Look {
            canary: self.canary.clone(),
            read: vec![workspace.join("file"), outside.join("secret"), self.secret()],
            write: vec![
                workspace.join("written"),
                workspace.join("file"),
                outside.join("written"),
                self.temporary(),
                settings,
                servers,
            ],
            held: (about.dev(), about.ino()),
            ports: (self.unnamed.port, networked.then_some(self.named.port)),
            proxy: networked.then_some(PROXY_PORT),
            rename: layered.then(|| workspace.join("folder")),
        })
    }

    /// What is not kept, by what was seen inside and what is to be seen here.
    pub(super) fn judge(
        &self,
        confinement: Confinement,
        seen: &Seen,
    ) -> BTreeMap<Guarantee, &'static str> {
        let read = |at: usize| seen.read.get(at).copied().unwrap_or(true);
        let wrote = |at: usize| seen.wrote.get(at).copied().unwrap_or(true);
        let there = |path: PathBuf| fs::symlink_metadata(path).is_ok();
        let outside = there(self.outside().join("written"));
        let text = fs::read_to_string(self.workspace().join("file")).unwrap_or_default();
        let written = there(self.workspace().join("written"));
        let changed = written || !text.starts_with(BEFORE);
        let layered = self.way == Way::Layered;
        let added = if layered { there(self.layer().join("upper/written")) } else { written };
        // What others work over too stays as it is.
        let keeps =
            !layered && matches!(confinement, Confinement::Writer | Confinement::FullAccess);
        let stays = outside || there(self.temporary()) || (changed && !keeps);
        let works = wrote(0) && wrote(1);
        let network = seen.connected || seen.reached_unnamed;
        [
            (Guarantee::NoWriteOutlives, stays, "what it wrote is still there"),
            (Guarantee::ReadsConfined, read(1), "it read a file outside"),
            (Guarantee::ReadsConfined, !read(0), "it cannot read its workspace"),
            (Guarantee::SecretsHidden, read(2), "it read a secret file"),
            (Guarantee::CleanEnvironment, seen.variables > 0, "it inherited variables"),
            (Guarantee::DescriptorsClosed, seen.holds, "it inherited an open file"),
            (Guarantee::NoNewPrivileges, seen.privileged, "it has rights, or a way to some"),
            (Guarantee::NoNetwork, network, "it reached the machine's network"),
            (Guarantee::NamedHosts, network, "it reached a host that is not named"),
            (Guarantee::NamedHosts, !seen.reached_named, "it cannot reach a host that is named"),
            (Guarantee::PrivateWorkspace, outside, "it wrote outside of its workspace"),
            (Guarantee::PrivateWorkspace, !(works && added), "it cannot write in its workspace"),
            (Guarantee::ProtectedNames, wrote(4) || wrote(5), "it wrote a protected name"),
            (Guarantee::CopyOnWrite, !works, "it cannot write in its workspace"),
            (Guarantee::CopyOnWrite, changed, "what it wrote is still there"),
        ]
        .into_iter()
        .filter(|(_, is_broken, _)| *is_broken)
        .map(|(guarantee, _, what)| (guarantee, what))
        .collect()
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        // Left behind, it is taken away at the next start.
        let _ = crate::discard::discard(&self.place);
        let _ = fs::remove_file(self.temporary());
    }
}
