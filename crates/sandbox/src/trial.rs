//! Whether a jail that is started here keeps to its word: each profile's is really made, tried from inside and looked at from
//! outside.

mod attempt;
pub(crate) mod deed;
mod ears;
mod ground;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use sequester_core::profile::{Confinement, Guarantee};

use crate::capabilities::{Capabilities, Capability};
use crate::compile::{Missing, Refusal, compile, guarantees, is_rooted};
use crate::surroundings::Surroundings;
use attempt::Trial;
use ground::{Ground, Way};

/// What came of one profile's jail.
#[derive(Debug)]
pub struct Tried {
    /// All that the profile needs, and whether it is kept here.
    pub guarantees: BTreeMap<Guarantee, bool>,
    /// What this machine cannot give, so that there is no jail.
    pub missing: Vec<Missing>,
    /// What a jail was seen not to keep.
    pub broken: BTreeMap<Guarantee, &'static str>,
    /// What could not be tried, so that nobody knows.
    pub untried: BTreeMap<Guarantee, String>,
    /// Why there is no jail although nothing is missing.
    pub trouble: Option<String>,
    /// Whether a folder of a layer beneath could be renamed; nothing where there are no layers.
    pub renames: Option<bool>,
}

/// Tries the jail of a profile in `place`, a folder that nobody has made yet; it is gone afterwards.
pub fn try_out(
    confinement: Confinement,
    surroundings: &Surroundings,
    capabilities: &Capabilities,
    place: &Path,
) -> io::Result<Tried> {
    let keeps = matches!(confinement, Confinement::Writer | Confinement::FullAccess);
    let (way, other) = match (is_rooted(surroundings, capabilities), keeps) {
        (false, _) => (Way::Open, None),
        // A subagent works on layers, `sandbox` on the person's folder.
        (true, true) if capabilities.has(Capability::Overlay) => (Way::Layered, Some(Way::Covered)),
        (true, _) => (Way::Covered, None),
    };
    let on = |way| try_on(way, confinement, surroundings, capabilities, place);
    let tried = on(way)?;
    Ok(match other {
        Some(other) => tried.and(on(other)?),
        None => tried,
    })
}

fn try_on(
    way: Way,
    confinement: Confinement,
    surroundings: &Surroundings,
    capabilities: &Capabilities,
    place: &Path,
) -> io::Result<Tried> {
    let ground = Ground::make(place, way)?;
    let policy = ground.policy(confinement)?;
    let needed = policy.guarantees();
    let held = guarantees(&policy, surroundings, capabilities);
    let mut tried = Tried {
        guarantees: needed.iter().map(|one| (*one, held.contains(one))).collect(),
        missing: Vec::new(),
        broken: BTreeMap::new(),
        untried: BTreeMap::new(),
        trouble: None,
        renames: None,
    };
    if let Err(Refusal::Missing { missing, .. }) = compile(&policy, surroundings, capabilities) {
        return Ok(Tried { missing, ..tried });
    }
    let trial = Trial { surroundings, capabilities, ground, confinement };
    if let Err(error) = trial.run(&mut tried) {
        tried.trouble = Some(error.to_string());
        tried.guarantees.values_mut().for_each(|kept| *kept = false);
    }
    tried.broken.retain(|one, _| needed.contains(one));
    for one in tried.broken.keys().chain(tried.untried.keys()) {
        tried.guarantees.insert(*one, false);
    }
    Ok(tried)
}

impl Tried {
    /// Kept is what is kept both ways.
    fn and(mut self, other: Self) -> Self {
        for (one, kept) in other.guarantees {
            self.guarantees.entry(one).and_modify(|both| *both &= kept).or_insert(kept);
        }
        if self.missing.is_empty() {
            self.missing = other.missing;
        }
        self.broken.extend(other.broken);
        self.untried.extend(other.untried);
        self.trouble = self.trouble.or(other.trouble);
        self.renames = self.renames.or(other.renames);
        self
    }
}
