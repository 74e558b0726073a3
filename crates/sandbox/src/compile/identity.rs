//! Who the jailed program is.

use crate::blueprint::{Identity, Ids};
use crate::surroundings::Surroundings;

/// What root's jails are inside: an ordinary user of most systems.
const ORDINARY: Ids = Ids { user: 1000, group: 1000 };

/// As root: an ordinary user inside, a stranger to the machine, and the owner's files mapped. As a user: that user
/// throughout.
pub fn choose(surroundings: &Surroundings) -> Identity {
    let owner = surroundings.owner;
    let inside = if owner.user == 0 { ORDINARY } else { owner };
    Identity { inside, outside: surroundings.stranger.unwrap_or(owner), owner }
}
