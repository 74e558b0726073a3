//! Why there is no jail.

use std::fmt;
use std::path::PathBuf;

use sequester_core::profile::{Confinement, Guarantee};

use crate::capabilities::Capability;

#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// This machine cannot give what the profile needs: exit code 5.
    Missing { profile: Confinement, missing: Vec<Missing> },
    /// No jail can be made around this workspace: exit code 2.
    Around { workspace: PathBuf },
    /// A protected name is a link, which nothing can hold in place: exit code 2.
    Link { path: PathBuf },
}

/// One guarantee that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    pub guarantee: Guarantee,
    pub reason: Reason,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// These would give it.
    Lacking(Vec<Capability>),
    /// A jail that was tried here did not keep to it.
    Broken,
    /// The workspace has too many files to be looked through.
    Unsearched,
}

impl Refusal {
    /// What a person can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Missing { .. } => {
                "`sequester doctor` says what to do about it; or take another profile. Nothing runs without the jail."
                    .to_owned()
            }
            Self::Around { .. } => "Name a folder that holds one project.".to_owned(),
            Self::Link { .. } => {
                "Replace the link by the file itself, grant its path with `./` before it in `protected.grant`, or use the profile `validate`.".to_owned()
            }
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { profile, missing } => {
                write!(
                    formatter,
                    "The profile `{}` needs what this machine cannot give: ",
                    profile.as_str()
                )?;
                for (at, one) in missing.iter().enumerate() {
                    formatter.write_str(if at > 0 { "; " } else { "" })?;
                    write!(formatter, "{one}")?;
                }
                formatter.write_str(".")
            }
            Self::Around { workspace } => write!(
                formatter,
                "The workspace `{}` is or holds a folder that every jail has of its own.",
                workspace.display()
            ),
            Self::Link { path } => {
                write!(formatter, "`{}` is protected and a symbolic link.", path.display())
            }
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}` (", self.guarantee.as_str())?;
        match &self.reason {
            Reason::Lacking(capabilities) => {
                let names: Vec<String> = capabilities.iter().map(ToString::to_string).collect();
                write!(formatter, "it takes {}", names.join(" and "))?;
            }
            Reason::Broken => formatter.write_str("a jail that was tried did not keep to it")?,
            Reason::Unsearched => {
                formatter.write_str("the workspace has too many files to look for secrets")?;
            }
        }
        formatter.write_str(")")
    }
}

impl std::error::Error for Refusal {}
