//! As whom, and on what kind of machine, the attempts are made.

use std::path::Path;
use std::process::Command;

use crate::machine::{self, is_root};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leg {
    Root,
    User,
    /// A user on a machine without namespaces for users.
    Fallback,
}

pub(super) const ANYWHERE: &[Leg] = &[Leg::Root, Leg::User, Leg::Fallback];
/// Where a jail has namespaces.
pub(super) const APART: &[Leg] = &[Leg::Root, Leg::User];
pub(super) const AS_ROOT: &[Leg] = &[Leg::Root];
pub(super) const AS_USER: &[Leg] = &[Leg::User];
/// As whoever is not root: what would touch every process of root's.
pub(super) const UNPRIVILEGED: &[Leg] = &[Leg::User, Leg::Fallback];

impl Leg {
    /// Why it cannot be done here.
    pub(crate) fn obstacle(self) -> Option<&'static str> {
        match self {
            Self::Root if !is_root() => Some("it takes root"),
            _ => None,
        }
    }

    /// A command as this leg's user, who is nobody's account and nobody else's in this suite.
    pub(crate) fn command(self, user: Option<u32>, program: &Path) -> Command {
        let mut words = user.map(machine::as_user).unwrap_or_default();
        if self == Self::Fallback {
            words.extend(machine::without(&["namespaces"]));
        }
        words.push(program.display().to_string());
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        command
    }

    /// An id for one ground of this leg, where this process may choose.
    pub(crate) fn user(self) -> Option<u32> {
        (self != Self::Root && is_root()).then(machine::unused_user)
    }
}
