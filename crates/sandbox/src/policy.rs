//! What is asked for: whose jail, over which workspace, with which hosts and limits.

use std::path::PathBuf;

use sequester_core::profile::{Confinement, Guarantee};
use sequester_core::protected::Grants;

use crate::capabilities::{Capabilities, Capability};
use crate::folder::{self, Folder};
use crate::limits::Limits;
use crate::proxy::host::Host;

#[derive(Clone, Debug)]
pub struct Policy {
    pub confinement: Confinement,
    pub hosts: Vec<Host>,
    pub workspace: Workspace,
    pub limits: Limits,
    /// Protected names that the person lets it write.
    pub grants: Grants,
    /// An empty folder on a disk, this jail's own, for layers that are thrown away with it.
    pub store: PathBuf,
}

/// What stands at the folder where a program starts.
#[derive(Clone, Debug)]
pub enum Workspace {
    /// The person's own folder, at its own path.
    Folder(Folder),
    /// An attempt's own, at the repository's path.
    Layers(Layers),
    /// Nothing but an empty folder that is thrown away.
    None,
}

/// A private workspace, by the places of its parts. The lowest tree holds an empty folder for `.git`, the store one for each cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layers {
    /// The repository's own path, where the workspace stands inside.
    pub at: PathBuf,
    /// The trees beneath, the highest first. None holds a `.git`, a secret-named file or `.sequester`.
    pub lower: Vec<PathBuf>,
    /// Takes what is written; harvested afterwards.
    pub store: PathBuf,
    /// The git folder that is shown as `.git`, read-only.
    pub git: Option<PathBuf>,
    /// Names among [`sequester_core::protected::NAMES`] that the trees hold. New ones are refused when the change is harvested.
    pub protected: Vec<PathBuf>,
    /// The project's ignored build folders.
    pub caches: Vec<Layer>,
    /// What in the caches is secret by its name.
    pub hidden: Vec<PathBuf>,
}

/// A folder of the person's that is shown, and written to beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    pub at: PathBuf,
    pub lower: PathBuf,
    pub store: PathBuf,
}

impl Policy {
    /// What must hold before anything starts.
    pub fn guarantees(&self) -> Vec<Guarantee> {
        let mut needed = self.confinement.guarantees(&self.hosts);
        let stacked =
            matches!(&self.workspace, Workspace::Layers(layers) if layers.lower.len() > 1);
        if stacked && !needed.contains(&Guarantee::PrivateWorkspace) {
            needed.push(Guarantee::PrivateWorkspace);
        }
        needed
    }

    /// With a look at a folder of the person's as close as its jail needs one.
    #[must_use]
    pub fn look_closer(self, capabilities: &Capabilities) -> Self {
        let is_layered = capabilities.has(Capability::Overlay) && !self.is_keeping();
        match self.workspace {
            Workspace::Folder(folder) if !is_layered => {
                Self { workspace: Workspace::Folder(folder.look_closer()), ..self }
            }
            _ => self,
        }
    }

    /// With another look at a folder of the person's, where something moved.
    pub fn look_again(self) -> Result<Self, folder::Error> {
        match self.workspace {
            Workspace::Folder(folder) => {
                let run_paths = folder.run_paths;
                let folder = Folder { run_paths, ..Folder::look(&folder.path)? };
                Ok(Self { workspace: Workspace::Folder(folder), ..self })
            }
            _ => Ok(self),
        }
    }

    /// Whether the workspace is written to, be it kept or not.
    pub(crate) fn is_writing(&self) -> bool {
        !matches!(self.confinement, Confinement::ReadOnly | Confinement::Research)
    }

    /// Whether what is written to the workspace stays.
    pub fn is_keeping(&self) -> bool {
        matches!(self.confinement, Confinement::Writer | Confinement::FullAccess)
    }

    /// Whether a protected name is open. Where the change is harvested, which refuses the rest of it, a part is enough.
    pub(crate) fn is_granted(&self, name: &str) -> bool {
        match self.workspace {
            Workspace::Layers(_) => self.grants.touch(name),
            _ => self.grants.open(name),
        }
    }
}
